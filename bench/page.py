"""How long the page takes from a change of a rule to the painted answer, with 500 references on the screen.

The clock runs in the browser (headless Chromium), from the input event of a slider to the painted frame; it includes
the request, the decoding and the page. Every step of the slider is a penalty that was never asked for before, so no
answer is known already. Records out of sight are brought up to date after that frame, a few at a time. The peer is the
300 ms that a change may take until it no longer feels immediate.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import httpx
from playwright.sync_api import Page, sync_playwright

from common import Row, arguments, compare, parsed, write_json

TASK = "citations"
RECORDS = 500
ROUNDS = 8
TARGET = 300.0
EXTRA = "Spread: token is punctuation -> note [penalty 20]\n"
SLIDE = """async ([name, value]) => {
  const node = document.querySelector(`[data-rule="${name}"] input[type=range]`);
  const told = document.getElementById("decoded");
  const turn = told.dataset.turn;
  const answered = new Promise((resolve) => {
    new MutationObserver((_, watch) => {
      if (told.dataset.turn === turn) return;
      watch.disconnect();
      resolve();
    }).observe(told, { attributes: true });
  });
  const start = performance.now();
  node.value = value;
  node.dispatchEvent(new Event("input"));
  await answered;
  // A message sent from a frame's callback arrives when that frame has been painted.
  await new Promise((resolve) => requestAnimationFrame(() => {
    const channel = new MessageChannel();
    channel.port1.onmessage = resolve;
    channel.port2.postMessage(null);
  }));
  return [performance.now() - start, document.querySelectorAll(".record.changed").length];
}"""


def references(client: httpx.Client, n: int) -> list[str]:
    """The bundled examples with other digits and initials, until there are enough."""
    texts = client.get(f"/tasks/{TASK}/examples").json()["texts"]
    made: dict[str, None] = {}
    turn = 0
    while len(made) < n:
        shift = {str(d): str((d + turn) % 10) for d in range(10)}
        shift |= {chr(65 + c): chr(65 + (c + turn // 10) % 26) for c in range(26)}
        made.update(dict.fromkeys("".join(shift.get(sign, sign) for sign in text) for text in texts))
        turn += 1
    return list(made)[:n]


def start(project: Path) -> tuple[subprocess.Popen[bytes], httpx.Client]:
    """Start a server, and wait for it."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "espalier", "serve", "--port", str(port), "--project", str(project)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", headers={"X-Espalier": "1"}, timeout=60)
    for _ in range(600):
        try:
            client.get("/status").raise_for_status()
            return process, client
        except httpx.TransportError:
            if process.poll() is not None:
                sys.exit("the server ended; run 'espalier serve' to see why")
            time.sleep(0.1)
    sys.exit("the server does not answer")


def slide(page: Page, rule: str, values: list[float]) -> tuple[list[float], int]:
    """Move a slider; milliseconds of each step, and the most records that changed."""
    runs = [page.evaluate(SLIDE, [rule, value]) for value in values]
    return [run[0] for run in runs], max(run[1] for run in runs)


def measure(page: Page, base: str, n: int, rounds: int) -> list[Row]:
    """Open the rules of the task, and move sliders: of a rule that matters to few, and of one that matters to all."""
    page.goto(f"{base}/#/{TASK}/rules")
    page.locator("#decoded[data-turn]").wait_for()
    text = page.get_by_label("The rules as text")
    text.fill(EXTRA + text.input_value())
    page.locator(".record.changed").first.wait_for()
    rows = []
    steps = {"OneDate": [0.1 * step for step in range(rounds)], "Spread": [9.9 - 0.1 * step for step in range(rounds)]}
    page.get_by_role("slider", name="Penalty of Spread").fill("0")
    for rule, values in steps.items():
        times, changed = slide(page, rule, values)
        print(f"{rule}: up to {changed} records change; median {median(times):.0f} ms, worst {max(times):.0f} ms")
        rows.append(compare(f"slider to painted frame, {n} records, {rule}", "ms", min(times), TARGET, "limit"))
    return rows


def main() -> None:
    """Measure, print, and write what was asked for."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--records", type=int, default=RECORDS, help="references on the screen")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="steps of each slider")
    options = parsed(parser, records=40, rounds=2)
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        sys.exit("needs chromium (on the path, or named by $CHROMIUM)")
    with tempfile.TemporaryDirectory() as directory:
        process, client = start(Path(directory) / "project")
        try:
            client.post(
                f"/tasks/{TASK}/records",
                json={"text": "\n".join(references(client, options.records)), "layout": "lines"},
            )
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=path)
                page = browser.new_page(viewport={"width": 1360, "height": 900})
                rows = measure(page, str(client.base_url).removesuffix("/api/v1/"), options.records, options.rounds)
                browser.close()
        finally:
            process.terminate()
            process.wait()
    write_json(options.json, rows)


if __name__ == "__main__":
    main()
