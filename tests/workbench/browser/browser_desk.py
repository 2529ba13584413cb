"""A server that can be killed, and a page that is watched, in the words of the tests."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, ViewportSize

WAIT = 30.0


class Server:
    """`espalier serve` on a project of its own; it can be killed and started again on the same port."""

    def __init__(self, project: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.project = project
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = [sys.executable, "-m", "espalier", "serve", "--port", str(self.port), "--project", str(self.project)]
        log = (self.project.parent / f"{self.project.name}.log").open("ab")
        self.process = subprocess.Popen(command, stdout=log, stderr=log)
        log.close()
        deadline = time.monotonic() + 3 * WAIT  # a busy machine takes its time to load everything
        while time.monotonic() < deadline:
            try:
                httpx.get(f"{self.url}/api/v1/status").raise_for_status()
                return
            except httpx.TransportError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.1)
        pytest.fail(f"the server did not start: {Path(log.name).read_text()[-2000:]}")

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def kill(self) -> None:
        """As if the power had failed."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(WAIT)

    def ask(self, method: str, path: str, value: object = None) -> dict:
        """Speak to the server without the page, to prepare something or to see what it knows."""
        answer = httpx.request(
            method, f"{self.url}/api/v1{path}", json=value, headers={"X-Espalier": "1"}, timeout=WAIT
        )
        answer.raise_for_status()
        return answer.json() if answer.content else {}


TOKEN = "a-token-of-some-length"


class Guarded(Server):
    """A server that asks for a token, as on an address that others can reach."""

    def start(self) -> None:
        command = [sys.executable, "-m", "espalier", "serve", "--port", str(self.port), "--project", str(self.project)]
        self.process = subprocess.Popen([*command, "--token", TOKEN], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self.process.stdout is not None
        assert b"token=" in self.process.stdout.readline()

    def stop(self) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.communicate(timeout=WAIT)


@dataclass
class Watch:
    """What a page complained about, and where it sent requests. `expected` are complaints that a test provokes."""

    complaints: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    expected: str | None = None
    open: int = 0

    def on(self, page: Page) -> None:
        page.on("request", lambda _: self.count(1))
        page.on("requestfinished", lambda _: self.count(-1))
        page.on("requestfailed", lambda _: self.count(-1))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", self.hear)
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def count(self, more: int) -> None:
        self.open += more

    def hear(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            self.complaints.append(said.text)

    def settle(self, origin: str) -> None:
        unexpected = [text for text in self.complaints if not (self.expected and re.search(self.expected, text))]
        assert unexpected == []
        elsewhere = [url for url in self.requests if not url.startswith((f"{origin}/", f"blob:{origin}/"))]
        assert elsewhere == []


def new_context(browser: Browser, server: Server, **settings: object) -> BrowserContext:
    """Return a browser as if nobody had used it."""
    size: ViewportSize = {"width": 1280, "height": 900}
    context = browser.new_context(**{"viewport": size, "accept_downloads": True, **settings})
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.url)
    return context


class Desk:
    """A page at the workbench, with the words of the tests for what a user does."""

    def __init__(
        self, browser: Browser, server: Server, context: BrowserContext | None = None, **settings: object
    ) -> None:
        """context : one that others use, too; by default one of its own, with settings."""
        self.server = server
        self.watch, self.shared = Watch(), context is not None
        self.context = context or new_context(browser, server, **settings)
        self.page = self.context.new_page()
        self.page.set_default_timeout(WAIT * 1000)
        self.watch.on(self.page)

    def go(self, task: str, view: str, detail: str = "") -> Page:
        self.page.goto("about:blank")
        self.page.goto(f"{self.server.url}/#/{task}/{view}{detail}")
        self.page.locator("nav a[aria-current=page]", has_text=view.capitalize()).wait_for()
        return self.page

    def settled(self) -> Page:
        """Wait until the page has asked for nothing for a moment."""
        calm, end = 0, time.monotonic() + WAIT
        while calm < 3:
            assert time.monotonic() < end, f"{self.watch.open} requests have no answer"
            self.page.wait_for_timeout(30)
            calm = calm + 1 if self.watch.open == 0 else 0
        return self.page

    def turn_to(self, view: str) -> None:
        """Click on a view; other links may have its name, too."""
        self.page.locator("nav").get_by_role("link", name=view).click()

    def paste(self, text: str) -> None:
        self.page.get_by_label("Text to parse").fill(text)
        self.page.get_by_role("button", name="Parse", exact=True).click()

    def said(self, text: str) -> None:
        """Wait until the page says this in its live region."""
        self.page.locator("#toast", has_text=text).wait_for()

    def fields(self, record: int = 0) -> list[tuple[str, str]]:
        """The fields that a card shows: labels and texts, from the page alone."""
        marks = self.page.locator(".records .record").nth(record).locator(".field")
        return [tuple(pair) for pair in marks.evaluate_all("all => all.map(x => [x.dataset.label, x.textContent])")]

    def close(self) -> None:
        if self.shared:
            if self.page.url.startswith(self.server.url):
                self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
            self.page.close()
        else:
            self.context.close()
        self.watch.settle(self.server.url)
