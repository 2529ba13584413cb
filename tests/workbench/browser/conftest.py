"""A real server and a real browser. Every page is watched: no errors in its console, no request to anywhere else."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from browser_desk import WAIT, Desk, Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser


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
    made = Server(tmp_path_factory.mktemp("workbench") / "project")
    made.start()
    yield made
    made.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = chromium()
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT * 1000)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path)
        yield opened
        opened.close()


@pytest.fixture
def desk(browser: Browser, server: Server) -> Iterator[Desk]:
    opened = Desk(browser, server)
    yield opened
    opened.close()
