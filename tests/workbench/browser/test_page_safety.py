"""Texts stay texts, nothing that was confirmed is lost, and nobody else is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_desk import Desk, Server
from playwright.sync_api import expect
from stalls import ADVERTS, LABELS, label_by_keys, make, truth

EVIL = [
    "Plum <script>alert(1)</script> £3 Ely",
    '<img src=x onerror=alert(2)> "><svg onload=alert(3)> £4 Bath',
    "javascript:alert(4) {{7*7}} ${alert(5)} &lt;b&gt; 𝒜🍐 £5 Ripon",
]


def test_markup_in_a_record_is_text(desk: Desk) -> None:
    records = make(
        desk.server,
        "evil",
        "Sign: token ~ /[£🍐]/ -> price [penalty 5]\nPlain: token ~ /.*/ -> not fruit, price, place [penalty 1]",
        EVIL,
    )
    views = ["parse", "rules", "measure", *(f"teach/{record}" for record in records)]
    for view in views:
        name, _, detail = view.partition("/")
        page = desk.go("evil", name, f"/{detail}" if detail else "")
        desk.settled()
        assert page.locator("main script, main img, main svg:not(.chart), main b[onclick]").count() == 0
    page = desk.go("evil", "parse")
    texts = page.locator(".record .text")
    expect(texts).to_have_count(3)
    assert texts.all_text_contents() == EVIL
    # Characters beyond U+FFFF are one for the server and two for the browser.
    assert desk.fields(2) == [("price", "🍐 £")]
    page.locator(".record .field").first.hover()
    expect(page.get_by_role("tooltip")).to_be_visible()


def test_labels_and_refusals_are_text_too(desk: Desk) -> None:
    page = desk.go("citations", "parse")
    page.get_by_text("Tasks").click()
    page.get_by_role("button", name="New task …").click()
    page.get_by_label("Name (a-z").fill("citations")
    page.get_by_label("Labels, with commas").fill("price, <img src=x onerror=alert(6)>")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("'<img src=x onerror=alert(6)>' cannot be a label")).to_be_visible()
    page.get_by_label("Labels, with commas").fill("price")
    desk.watch.expected = "status of 409"
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert").filter(has_text="there is a task 'citations' already")).to_be_visible()
    expect(page.get_by_role("alert").filter(has_text="choose another name")).to_be_visible()


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "project") as made:
        yield made


GONE = "ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED"


def test_a_killed_server_loses_nothing_that_was_confirmed(browser, mortal: Server) -> None:
    desk, other = Desk(browser, mortal), Desk(browser, mortal)
    desk.watch.expected = other.watch.expected = GONE
    make(mortal, "mortal", texts=ADVERTS[:3])
    page = desk.go("mortal", "teach")
    page.get_by_role("listbox").wait_for()
    other.go("citations", "parse")
    text = label_by_keys(desk)
    page.keyboard.press("Enter")
    page.get_by_text("2 records in the queue").wait_for()
    mortal.kill()

    second = label_by_keys(desk)
    page.keyboard.press("Enter")
    banner = page.get_by_text("The server does not answer. What you confirmed is safe")
    expect(banner).to_be_visible()
    # What is not confirmed is not lost either.
    assert page.locator(".strip .field").evaluate_all("all => all.map(x => x.dataset.label)") == LABELS
    page.get_by_role("button", name="Try again").click()
    expect(banner).to_be_visible()
    other.turn_to("Measure")
    expect(other.page.get_by_role("alert").first).to_be_visible()
    mortal.start()
    expect(banner).to_be_hidden()
    page.get_by_role("listbox").press("Enter")
    page.get_by_text("1 record in the queue").wait_for()
    expect(other.page.get_by_role("button", name="Score", exact=True)).to_be_visible()  # without a click

    page.reload()
    page.get_by_role("listbox").wait_for()
    known = {record["text"]: record["corrected"] for record in mortal.ask("GET", "/tasks/mortal/records")["records"]}
    assert known[text] == truth(text)
    assert known[second] == truth(second)
    desk.turn_to("Parse")
    expect(page.locator(".record .chip", has_text="corrected")).to_have_count(2)
    desk.close()
    other.close()
