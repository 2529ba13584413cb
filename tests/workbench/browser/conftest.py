"""A real server and a real browser. Every page is watched: no errors in its console, no request to anywhere else."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest
from browser_desk import WAIT, Desk, Guarded, Server, new_context
from stalls import ADVERTS, correct, make

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext


def chromium() -> str:
    """The browser; where there is none the tests are skipped, but not in continuous integration."""
    found = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if found is None:
        give_up = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        give_up("needs chromium (on the path, or named by $CHROMIUM)")
    return found


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all; every test has tasks of its own."""
    with Server(tmp_path_factory.mktemp("workbench") / "project") as made:
        yield made


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that asks for a token."""
    with Guarded(tmp_path_factory.mktemp("guarded") / "project") as made:
        yield made


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT * 1000)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path)
        yield opened
        opened.close()


@pytest.fixture(scope="session")
def plain_context(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """What most tests look with: the page comes from its cache, and each test forgets what the page has stored."""
    context = new_context(browser, server)
    yield context
    context.close()


@pytest.fixture(scope="session")
def trained(server: Server) -> str:
    """A task whose model has learned from five adverts."""
    for record, text in list(zip(make(server, "trained"), ADVERTS, strict=True))[:5]:
        correct(server, "trained", record, text)
    job = server.ask("POST", "/tasks/trained/jobs", {"method": "supervised", "name": "first"})
    while server.ask("GET", f"/jobs/{job['id']}")["state"] in ("queued", "running"):
        time.sleep(0.1)
    return "trained"


@pytest.fixture(scope="session")
def model_file(server: Server, trained: str) -> bytes:
    """The file of that model, for all tests that need any."""
    first = server.ask("GET", f"/tasks/{trained}/models")["models"][-1]["id"]
    return httpx.get(f"{server.url}/api/v1/tasks/{trained}/models/{first}/file").raise_for_status().content


@pytest.fixture
def desk(browser: Browser, server: Server, plain_context: BrowserContext) -> Iterator[Desk]:
    opened = Desk(browser, server, plain_context)
    yield opened
    opened.close()
