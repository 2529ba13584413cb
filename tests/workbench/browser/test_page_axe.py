"""axe-core looks at every view and dialog, in the light and in the dark, for barriers; it may find nothing serious."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser_desk import Desk, Server
from playwright.sync_api import expect
from stalls import ADVERTS, correct, give_model, make

if TYPE_CHECKING:
    from playwright.sync_api import Browser

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
def stall(server: Server, model_file: bytes) -> list[int]:
    """The task `axed`: records, whose numbers it returns, corrections, a broken rule, a history, two models."""
    records = make(server, "axed", "Once: each field once [penalty 2]\nSign: token ~ /£/ -> price\n")
    for record, text in zip(records[:2], ADVERTS, strict=False):
        correct(server, "axed", record, text)
    give_model(server, "axed", model_file)
    give_model(server, "axed", model_file)
    return records


def complaints(desk: Desk, source: str) -> list[object]:
    """What axe-core finds, in the light and in the dark."""
    desk.settled().evaluate(source)
    found: list[object] = []
    for scheme in ("light", "dark"):
        desk.page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found += [[scheme, *one] for one in desk.page.evaluate(RUN)]
    return found


@pytest.mark.usefixtures("stall")
def test_nothing_serious_on_any_view(desk: Desk, source: str) -> None:
    for view in ("parse", "rules", "teach", "measure"):
        desk.go("axed", view)
        assert complaints(desk, source) == [], view
    page = desk.go("citations", "measure")
    page.get_by_role("button", name="Score", exact=True).wait_for()
    assert complaints(desk, source) == []
    page.goto(f"{desk.server.url}/#/nobody/parse")
    page.get_by_role("heading", name="There is nothing at this address").wait_for()
    assert complaints(desk, source) == []


def test_nothing_serious_on_the_way_in(browser: Browser, guarded: Server, source: str) -> None:
    desk = Desk(browser, guarded)
    desk.watch.expected = "status of 401"
    desk.page.goto(f"{guarded.url}/login")
    assert complaints(desk, source) == []
    desk.page.get_by_label("Token, as").fill("wrong")
    desk.page.get_by_role("button", name="Log in").click()
    desk.page.get_by_role("alert").wait_for()
    assert complaints(desk, source) == []
    desk.close()


def test_nothing_serious_in_any_dialog(desk: Desk, source: str, stall: list[int]) -> None:
    """Every `openDialog` of the page."""

    def look(name: str) -> None:
        box = desk.page.get_by_role("dialog", name=name)
        box.wait_for()
        assert complaints(desk, source) == [], name
        desk.page.keyboard.press("Escape")
        box.wait_for(state="detached")

    page = desk.go("axed", "teach", f"/{stall[3]}")
    page.get_by_role("listbox").wait_for()
    page.get_by_text("History").click()
    page.locator(".history li").first.wait_for()
    page.locator("#person").click()
    page.get_by_role("button", name="Your name …").click()
    look("Your name")
    page.get_by_role("button", name="Rename #").first.click()
    look("Rename the model")
    page.get_by_role("button", name="Delete #").first.click()
    look("Delete the model")
    page.get_by_role("button", name="Confirm what is sure …").click()
    page.get_by_label("Confidence in %").fill("50")
    page.get_by_role("button", name="Show some of them").click()
    page.locator("dialog .record").first.wait_for()
    look("Confirm what is sure")
    for name in ("New task", "Labels of this task"):
        page.get_by_text("Tasks").click()
        page.get_by_role("button", name=f"{name} …").click()
        look(name.split(" of")[0])
    desk.watch.expected = "status of 409"
    correct(desk.server, "axed", stall[3], ADVERTS[3])  # somebody is faster
    page.get_by_role("listbox").press("l")
    page.get_by_role("listbox").press("Enter")
    look("Somebody was faster")


def test_nothing_serious_in_the_dialogs_of_records_and_rules(desk: Desk, source: str, stall: list[int]) -> None:
    page = desk.go("axed", "parse")
    page.locator(".record").first.get_by_role("button", name="More …").click()
    page.get_by_label("Say something").fill("a comment")
    page.get_by_role("button", name="Add the comment").click()
    page.get_by_role("list", name="Comments").get_by_text("a comment").wait_for()
    box = page.get_by_role("dialog", name=f"Record {stall[0]}")
    assert complaints(desk, source) == []
    box.get_by_role("button", name="Close").click()
    desk.server.ask("POST", "/tasks/citations/records", {"text": "A. Berg. On oak. Tree Letters, 1999."})
    page = desk.go("citations", "parse")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.locator(".record").first.get_by_role("button", name="Copy").click()
    page.get_by_role("dialog", name="Copy this").wait_for()
    assert complaints(desk, source) == []
    page = desk.go("axed", "rules")
    text = page.get_by_label("The rules as text")
    expect(text).to_have_value(re.compile("Once"))
    text.fill("Once: each field once [penalty 3]\n")
    rules = desk.server.ask("GET", "/tasks/axed/rules")
    desk.server.ask("PUT", "/tasks/axed/rules", {"text": "Sign: token ~ /£/ -> price\n", "version": rules["version"]})
    desk.watch.expected = "status of 409"
    page.get_by_role("button", name="Save").click()
    page.get_by_role("dialog", name="Somebody was faster").wait_for()
    assert complaints(desk, source) == []


@pytest.mark.usefixtures("stall")
def test_axe_finds_something_where_there_is_something(desk: Desk, source: str) -> None:
    """A check of the check, in both modes."""
    page = desk.go("axed", "parse")
    page.locator(".record").first.wait_for()
    page.evaluate("document.querySelector('main').append(document.createElement('button'))")
    assert [one[:2] for one in complaints(desk, source)] == [["light", "button-name"], ["dark", "button-name"]]
