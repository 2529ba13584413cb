"""What a server refuses, for a while or for good, as the page says it: starting, wrong tokens, too large, full disk."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from browser_desk import TOKEN, Desk
from playwright.sync_api import expect

from espalier.server import failures
from espalier.server.core import Limits
from espalier.server.security import Gate
from workbench_server import Running


class Place:
    """Where a server is, for a page."""

    def __init__(self, url: str) -> None:
        self.url = url


class Starting(Place):
    """A server in this process that is still starting."""

    def __init__(self, running: Running) -> None:
        super().__init__(running.origin)
        self.go = threading.Event()
        self.thread = running.app.state.core.start.begin(lambda: self.go.wait(60), patience=0)


def _at(browser, running: Running, expected: str) -> Desk:
    """A page at a new task of a server."""
    running.client.post("/tasks", json={"name": "wares", "labels": ["item"], "rules": "", "outside": True})
    desk = Desk(browser, Place(running.origin))
    desk.watch.expected = expected
    desk.go("wares", "parse")
    return desk


def test_the_page_waits_for_a_server_that_starts(
    browser, start: Callable[..., Running], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "_AGAIN", 1)
    running = start()
    running.client.post("/tasks", json={"name": "wares", "labels": ["item"], "rules": "", "outside": True})
    server = Starting(running)
    desk = Desk(browser, server)
    desk.watch.expected = "status of 503"
    page = desk.page
    page.goto(f"{server.url}/#/wares/parse")
    banner = page.locator("#banner")
    expect(banner).to_contain_text("Please wait: the server is starting")
    expect(banner.get_by_role("button", name="Try again")).to_be_hidden()
    server.go.set()
    expect(page.get_by_label("Text to parse")).to_be_visible()
    expect(banner).to_be_hidden()
    server = Starting(running)  # once more, in the middle of a write
    page.get_by_label("Text to parse").fill("oak table")
    page.get_by_role("button", name="Parse", exact=True).click()
    expect(banner).to_contain_text("The page asks again by itself")
    server.go.set()
    expect(page.locator(".record .text")).to_have_text("oak table")
    expect(banner).to_be_hidden()
    [record] = running.client.get("/tasks/wares/records").json()["records"]
    page.goto(f"{server.url}/#/wares/teach/{record['id']}")
    strip = page.get_by_role("listbox")
    strip.press("Home")
    strip.press("i")
    server = Starting(running)
    page.wait_for_timeout(400)  # Enter is guarded right after a record is shown
    strip.press("Enter")
    expect(banner).to_be_visible()
    assert running.client.get("/tasks/wares").json()["corrected"] == 0  # who is told to come again has written nothing
    server.go.set()
    desk.said(f"Record {record['id']} is confirmed")
    assert running.client.get("/tasks/wares/history").json()["changes"][0]["record"] == record["id"]
    desk.close()


def test_too_many_wrong_tokens(browser, start: Callable[..., Running]) -> None:
    server = Place(start(gate=Gate.of("0.0.0.0", TOKEN)).origin)
    inside, outside = Desk(browser, server), Desk(browser, server)
    for each in (inside, outside):
        each.watch.expected = "status of (401|429)"
    inside.page.goto(f"{server.url}/login?token={TOKEN}")
    inside.page.get_by_role("button", name="Log in").click()
    inside.page.get_by_role("button", name="Keep it").click()
    page = outside.page
    page.goto(server.url)
    for _ in range(5):
        page.get_by_label("Token, as").fill("wrong-token-altogether")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_contain_text("this is not the token")
    page.get_by_label("Token, as").fill(TOKEN)  # even the right one, for a while
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("too many wrong tokens came from this address")
    expect(page.get_by_role("alert")).to_contain_text("wait")
    inside.turn_to("Teach")  # who is inside stays inside
    expect(inside.page.locator("nav a[aria-current=page]")).to_have_text("Teach")
    inside.close()
    outside.close()


def test_what_is_too_large_says_what_to_do(browser, start: Callable[..., Running]) -> None:
    running = start(limits=Limits(length=40, body=1000))
    desk = _at(browser, running, "status of 413")
    page = desk.page
    text = "an oak table that is described at much greater length than anybody reads"
    desk.paste(text)
    expect(page.get_by_text("it has 72 characters, and a record has at most 40; it is left out")).to_be_visible()
    expect(page.get_by_label("Text to parse")).to_have_value(text)  # to be split
    page.get_by_label("Text to parse").fill("a lamp\n" * 300)
    page.get_by_role("button", name="Parse", exact=True).click()
    said = page.get_by_role("alert").filter(has_text="the request has more than 1,000 bytes")
    expect(said).to_contain_text("send it in parts")
    assert len(page.get_by_label("Text to parse").input_value()) == 2100
    desk.close()


def test_a_full_disk_loses_nothing(browser, start: Callable[..., Running]) -> None:
    running = start()
    desk = _at(browser, running, "status of 507")
    database = running.app.state.core.database
    database.row(f"PRAGMA max_page_count = {database.row('PRAGMA page_count')[0]}")
    text = "\n".join(f"{i} " + "x" * 5000 for i in range(8))
    desk.paste(text)
    expect(desk.page.get_by_role("alert").filter(has_text="the disk is full")).to_contain_text("make room")
    expect(desk.page.get_by_label("Text to parse")).to_have_value(text)
    database.row("PRAGMA max_page_count = 1000000")
    desk.page.get_by_role("button", name="Parse", exact=True).click()
    expect(desk.page.locator(".record")).to_have_count(8)
    desk.close()


def test_the_page_of_the_api(browser, start: Callable[..., Running]) -> None:
    desk = Desk(browser, Place(start().origin))
    desk.page.goto(f"{desk.server.url}/api")
    expect(desk.page.get_by_role("heading", level=1)).to_have_text("The workbench's API")
    expect(desk.page.get_by_role("heading", name="POST /api/processCitation", exact=True)).to_be_visible()
    desk.close()
