"""Take the pictures of the workbench in docs/images/workbench, with the bundled examples.

    python scripts/shoot_workbench.py [OUT] [--quick]

Starts a server on a project that is thrown away, pastes the examples of the task of references, confirms a few of
them, trains, and photographs the four views, and two of them in the dark and on a phone. Needs chromium (on the path,
or named by $CHROMIUM). `--quick` does not train, and photographs the four views alone.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from playwright.sync_api import Browser, Page, sync_playwright

TASK = "citations"
RULES = """\
Subtitle: token exactly "Beiträge" -> title       [penalty 30]
Reprint:  token in "reprinted" -> note            [penalty 30]
Essays:   token exactly "Editor" -> container-title [penalty 30]

"""
WIDE = {"width": 1360, "height": 880}
PHONE = {"width": 360, "height": 720}
IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images" / "workbench"


@contextmanager
def serving(project: Path) -> Iterator[httpx.Client]:
    """Run a server as long as needed, and yield a client of its API."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "espalier", "serve", "--port", str(port), "--project", str(project)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(base_url=f"{url}/api/v1", headers={"X-Espalier": "1"}, timeout=60) as client:
            wait_for(lambda: answers(client), "the server does not answer")
            yield client
    finally:
        process.terminate()
        process.wait()


def wait_for(condition: Any, otherwise: str, seconds: float = 120) -> None:
    """Wait until a condition holds, or end with a message."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            sys.exit(otherwise)
        time.sleep(0.2)


def answers(client: httpx.Client) -> bool:
    """Is the server there?"""
    try:
        return client.get("/status").is_success
    except httpx.TransportError:
        return False


def prepare(client: httpx.Client, *, quick: bool) -> None:
    """Add the examples, confirm every second, with report numbers put right, and train on those."""
    texts = client.get(f"/tasks/{TASK}/examples").json()["texts"]
    client.post(f"/tasks/{TASK}/records", json={"text": "\n\n".join(texts)}).raise_for_status()
    records = client.get(f"/tasks/{TASK}/records").json()["records"]
    for record in records[::2]:
        fields = [{name: field[name] for name in ("label", "start", "end")} for field in record["fields"]]
        for field in fields:
            if record["text"][field["start"] :].startswith("Tech. Rep."):
                field["label"] = "genre"
        client.put(f"/tasks/{TASK}/records/{record['id']}/fields", json={"fields": fields}).raise_for_status()
    if quick:
        return
    asked = {"method": "supervised", "name": f"after {len(records[::2])} records"}
    job = client.post(f"/tasks/{TASK}/jobs", json=asked).raise_for_status().json()
    wait_for(
        lambda: client.get(f"/jobs/{job['id']}").json()["state"] not in ("queued", "running"), "training hangs", 400
    )


def open_view(page: Page, base: str, view: str) -> None:
    """Go to a view, and do there what makes it worth a picture."""
    page.goto("about:blank")
    page.goto(f"{base}/#/{TASK}/{view}")
    page.wait_for_load_state("networkidle")
    if view == "rules":
        page.locator("#decoded[data-turn]").wait_for()
        text = page.get_by_label("The rules as text")
        text.fill(RULES + text.input_value())
        page.locator(".record.changed").first.wait_for()
        text.evaluate("area => { area.blur(); area.scrollTop = 0; }")
        page.get_by_label("Only changed").check()
    elif view == "teach":
        page.get_by_role("listbox").press("Control+ArrowRight")
    elif view == "measure":
        page.get_by_label("Model").select_option("0")
        page.get_by_role("button", name="Score", exact=True).click()
        page.get_by_role("img", name="Reliability").wait_for()
    page.wait_for_timeout(500)


def shoot(browser: Browser, base: str, out: Path, quick: bool) -> None:
    """Write all pictures, or those of the four views."""
    shots = [(view, view, WIDE, "light") for view in ("parse", "rules", "teach", "measure")]
    if not quick:
        shots += [("parse-dark", "parse", WIDE, "dark"), ("teach-phone", "teach", PHONE, "light")]
    for name, view, size, scheme in shots:
        context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
        page = context.new_page()
        open_view(page, base, view)
        page.screenshot(path=out / f"{name}.png")
        context.close()


def main() -> None:
    """Prepare a project, and take the pictures."""
    quick, given = "--quick" in sys.argv, [argument for argument in sys.argv[1:] if argument != "--quick"]
    out = Path(given[0]) if given else IMAGES
    out.mkdir(parents=True, exist_ok=True)
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        sys.exit("needs chromium (on the path, or named by $CHROMIUM)")
    with tempfile.TemporaryDirectory() as directory, serving(Path(directory) / "project") as client:
        prepare(client, quick=quick)
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path)
            shoot(browser, str(client.base_url).removesuffix("/api/v1/"), out, quick)
            browser.close()


if __name__ == "__main__":
    main()
