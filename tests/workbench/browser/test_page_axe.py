"""axe-core looks at every view, in the light and in the dark, for barriers; it may find nothing serious."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_desk import Desk, Server
from stalls import ADVERTS, correct, make

AXE = Path(__file__).parents[3] / "build" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
RUN = """async () => (await axe.run(document, { resultTypes: ['violations'] })).violations
  .filter(({ impact }) => ['serious', 'critical'].includes(impact))
  .map(({ id, nodes }) => [id, nodes.slice(0, 3).map((node) => node.html.slice(0, 200))])"""


@pytest.fixture(scope="module")
def source() -> str:
    """The text of axe-core; where it is not installed the tests are skipped, but not in continuous integration."""
    if not AXE.exists():
        give_up = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        give_up("needs axe-core (npm install --no-save --prefix build/axe axe-core)")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def stall(server: Server) -> str:
    """A task with records, corrections, a rule that is broken, and a history."""
    records = make(server, "axed", "Once: each field once [penalty 2]\nSign: token ~ /£/ -> price\n")
    for record, text in zip(records[:2], ADVERTS, strict=False):
        correct(server, "axed", record, text)
    return "axed"


@pytest.fixture(params=["light", "dark"])
def eyes(request: pytest.FixtureRequest, browser, server: Server) -> Iterator[Desk]:
    desk = Desk(browser, server, color_scheme=request.param)
    yield desk
    desk.close()


def complaints(desk: Desk, source: str) -> list[object]:
    desk.page.wait_for_load_state("networkidle")
    desk.page.evaluate(source)
    found: list[object] = desk.page.evaluate(RUN)
    return found


def test_nothing_serious_on_any_view(eyes: Desk, source: str, stall: str) -> None:
    for view in ("parse", "rules", "teach", "measure"):
        eyes.go(stall, view)
        assert complaints(eyes, source) == [], view
    page = eyes.go("citations", "measure")
    page.get_by_role("button", name="Score", exact=True).wait_for()
    assert complaints(eyes, source) == []


def test_nothing_serious_in_what_opens(eyes: Desk, source: str, stall: str) -> None:
    page = eyes.go(stall, "teach")
    page.get_by_role("listbox").wait_for()
    page.get_by_text("History").click()
    page.locator(".history li").first.wait_for()
    page.locator("#person").click()
    page.get_by_role("button", name="Your name …").click()
    assert complaints(eyes, source) == []
    page.get_by_role("button", name="Keep it").click()
    page.get_by_text("Tasks").click()
    page.get_by_role("button", name="New task …").click()
    assert complaints(eyes, source) == []
    eyes.page.goto(f"{eyes.server.url}/#/nobody/parse")
    page.get_by_role("heading", name="There is nothing at this address").wait_for()
    assert complaints(eyes, source) == []


def test_axe_finds_something_where_there_is_something(eyes: Desk, source: str, stall: str) -> None:
    """A check of the check."""
    page = eyes.go(stall, "parse")
    page.locator(".record").first.wait_for()
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [name for name, _ in complaints(eyes, source)] == ["button-name"]  # type: ignore[misc]
