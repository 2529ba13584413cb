"""Two people, two browsers: conflicts with both texts, names, history, undo; the login form; Enter and drafts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser_desk import TOKEN, Desk, Server
from playwright.sync_api import expect
from stalls import ADVERTS, label_by_keys, make, strip_text, truth

WRONG = [{"label": "place", "start": 0, "end": len(ADVERTS[0])}]


@pytest.fixture(scope="module")
def two(browser, server: Server) -> Iterator[tuple[Desk, Desk]]:
    """Two people, each with a browser and a name."""
    desks = []
    for name in ("Ann", "Bo"):
        kept = {"origin": server.url, "localStorage": [{"name": "espalier-name", "value": name}]}
        desks.append(Desk(browser, server, storage_state={"cookies": [], "origins": [kept]}))
    yield desks[0], desks[1]
    for desk in desks:
        desk.close()


@pytest.fixture
def pair(two: tuple[Desk, Desk]) -> Iterator[tuple[Desk, Desk]]:
    """The two, who have done nothing yet that a page may complain about."""
    yield two
    for desk in two:
        desk.page.goto("about:blank")
        desk.watch.settle(desk.server.url)
        desk.watch.complaints.clear()
        desk.watch.expected = None


def confirm_first(ann: Desk, record: int) -> None:
    """Ann labels the record, and is faster."""
    label_by_keys(ann)
    ann.page.keyboard.press("Enter")
    ann.said(f"Record {record} is confirmed")


def test_the_second_one_sees_both_and_chooses(pair: tuple[Desk, Desk]) -> None:
    ann, bo = pair
    [id] = make(ann.server, "shared", texts=ADVERTS[:1])
    for desk in pair:
        desk.go("shared", "teach", f"/{id}").get_by_role("listbox").wait_for()
    confirm_first(ann, id)
    bo.watch.expected = "status of 409"
    bo.page.get_by_role("listbox").press("l")  # one token is a place
    bo.page.get_by_role("listbox").press("Enter")
    box = bo.page.get_by_role("dialog", name="Somebody was faster")
    expect(box).to_contain_text("Ann has changed record")
    sides = box.locator(".versus p").evaluate_all("all => all.map(x => [...x.children].map(y => y.dataset.label))")
    assert sides[0] == ["fruit", "price", "place"]
    assert sides[1] != sides[0]
    box.get_by_role("button", name="Decide later").click()
    assert ann.server.ask("GET", f"/tasks/shared/records/{id}")["corrected"] == truth(ADVERTS[0])
    expect(bo.page.locator(".desk .chip.warn", has_text="change")).to_be_visible()  # still on the desk
    bo.page.get_by_role("listbox").press("Enter")
    box.get_by_role("button", name="Use mine instead").click()
    bo.said(f"Record {id} is confirmed")
    kept = ann.server.ask("GET", f"/tasks/shared/records/{id}")
    assert (kept["corrected_by"], kept["corrected"] != truth(ADVERTS[0])) == ("Bo", True)

    # Ann takes Bo's change back; then her own is there again, and the history has all of it.
    page = ann.go("shared", "teach", f"/{id}")
    page.get_by_text("History").click()
    expect(page.locator(".history li")).to_have_count(2)
    expect(page.locator(".history li").first).to_contain_text("Bo confirmed")
    page.get_by_role("button", name="Take back", exact=True).click()
    ann.said("It is taken back")
    assert ann.server.ask("GET", f"/tasks/shared/records/{id}")["corrected"] == truth(ADVERTS[0])
    changes = ann.server.ask("GET", f"/tasks/shared/history?record={id}")["changes"]
    assert [row["who"] for row in changes] == ["Ann", "Bo", "Ann"]
    expect(ann.go("shared", "parse").locator(".record .chip", has_text="corrected by Ann")).to_be_visible()


def test_theirs_can_be_kept_and_undo_does_not_take_it_away(pair: tuple[Desk, Desk]) -> None:
    ann, bo = pair
    ids = make(ann.server, "theirs", texts=ADVERTS[:2])
    for desk in pair:
        desk.go("theirs", "teach", f"/{ids[0]}").get_by_role("listbox").wait_for()
    confirm_first(ann, ids[0])
    bo.watch.expected = "status of 409"
    bo.page.get_by_role("listbox").press("l")
    bo.page.get_by_role("listbox").press("Enter")
    bo.page.get_by_role("button", name="Keep theirs").click()
    expect(bo.page.locator(".desk .chip", has_text="corrected by Ann")).to_be_visible()
    ann.server.ask("PUT", f"/tasks/theirs/records/{ids[0]}/fields", {"fields": WRONG})  # a third one
    ann.page.get_by_role("listbox").press("u")
    ann.said("has changed record")
    assert ann.server.ask("GET", f"/tasks/theirs/records/{ids[0]}")["corrected"] == WRONG


def test_rules_of_two(pair: tuple[Desk, Desk]) -> None:
    ann, bo = pair
    make(ann.server, "lawyers", "A: fruit once\n", ADVERTS[:1])
    for desk, rule in ((ann, "B: price once\n"), (bo, "C: place once\n")):
        page = desk.go("lawyers", "rules")
        expect(page.locator("#decoded")).to_have_text("1 record")
        page.get_by_label("The rules as text").fill("A: fruit once\n" + rule)
        expect(page.get_by_role("switch")).to_have_count(2)
    ann.page.get_by_role("button", name="Save").click()
    ann.said("The rules are saved")
    bo.watch.expected = "status of 409"
    bo.page.get_by_role("button", name="Save").click()
    box = bo.page.get_by_role("dialog", name="Somebody was faster")
    expect(box.get_by_label("Theirs").locator("mark")).to_have_text("B: price once\n")
    expect(box.get_by_label("Mine").locator("mark")).to_have_text("C: place once\n")
    box.get_by_role("button", name="Keep theirs").click()
    expect(bo.page.get_by_label("The rules as text")).to_have_value("A: fruit once\nB: price once\n")
    bo.page.get_by_text("History").click()
    expect(bo.page.locator(".history li").first).to_contain_text("Ann saved the rules")
    bo.page.get_by_role("button", name="Take back").click()
    expect(bo.page.get_by_label("The rules as text")).to_have_value("A: fruit once\n")
    assert ann.server.ask("GET", "/tasks/lawyers/rules")["text"] == "A: fruit once\n"


def test_labels_of_two(pair: tuple[Desk, Desk]) -> None:
    ann, bo = pair
    make(ann.server, "growers", texts=ADVERTS[:1])
    for desk, label in ((ann, "colour"), (bo, "size")):
        page = desk.go("growers", "parse")
        page.get_by_text("Tasks").click()
        page.get_by_role("button", name="Labels of this task …").click()
        page.get_by_label("New labels").fill(label)
        page.get_by_role("button", name="Show what happens").click()
        expect(page.get_by_text("No corrected record changes")).to_be_visible()
    ann.page.get_by_role("button", name="Change the labels").click()
    ann.said("The labels are changed")
    bo.watch.expected = "status of 409"
    bo.page.get_by_role("button", name="Change the labels").click()
    expect(bo.page.get_by_role("alert").filter(has_text="changed")).to_be_visible()
    assert ann.server.ask("GET", "/tasks/growers")["labels"] == ["fruit", "price", "place", "colour"]


def test_a_held_enter_confirms_one_record(desk: Desk) -> None:
    make(desk.server, "held", texts=ADVERTS[:4])
    page = desk.go("held", "teach")
    strip = page.get_by_role("listbox")
    strip.wait_for()
    page.wait_for_timeout(400)
    strip.evaluate("""node => { for (let k = 0; k < 20; k += 1) node.dispatchEvent(
        new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, repeat: k > 0 })); }""")
    page.get_by_text("3 records in the queue").wait_for()
    page.keyboard.press("Enter")  # before anybody can have read the next one
    page.wait_for_timeout(300)
    assert desk.server.ask("GET", "/tasks/held")["corrected"] == 1
    page.keyboard.press("Enter")
    page.get_by_text("2 records in the queue").wait_for()


def test_unconfirmed_changes_survive_leaving_the_view(desk: Desk) -> None:
    ids = make(desk.server, "kept", texts=ADVERTS[:2])
    page = desk.go("kept", "teach", f"/{ids[0]}")
    page.get_by_role("listbox").wait_for()
    label_by_keys(desk)
    desk.turn_to("Measure")
    desk.turn_to("Teach")
    page.get_by_role("listbox").wait_for()
    page = desk.go("kept", "teach", f"/{ids[0]}")
    desk.said("Your unconfirmed changes are back")
    marks = "all => all.map(x => x.dataset.label)"
    assert page.locator(".strip .field").evaluate_all(marks) == ["fruit", "price", "place"]
    assert strip_text(desk) == ADVERTS[0]
    page.get_by_role("listbox").press("Enter")
    desk.said("is confirmed")
    assert desk.server.ask("GET", f"/tasks/kept/records/{ids[0]}")["corrected"] == truth(ADVERTS[0])
    desk.go("kept", "teach", f"/{ids[0]}").get_by_role("listbox").wait_for()
    expect(page.locator(".desk .chip", has_text="corrected")).to_be_visible()


def test_log_in_say_who_you_are_log_out(browser, guarded: Server) -> None:
    desk, other = Desk(browser, guarded), Desk(browser, guarded)
    for each in (desk, other):
        each.watch.expected = "status of 401"
    page = desk.page
    page.goto(guarded.url)
    page.get_by_label("Token, as").fill("wrong-token-altogether")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("this is not the token")
    for each in (desk, other):
        each.page.goto(f"{guarded.url}/login")
        each.page.get_by_label("Token, as").fill(TOKEN)
        each.page.get_by_role("button", name="Log in").click()
        each.page.get_by_role("textbox", name="Your name").fill("Ann")
        each.page.get_by_role("button", name="Keep it").click()
        expect(each.page.locator("#person")).to_have_text("Ann")
    page.reload()
    page.locator("nav a[aria-current=page]").wait_for()
    expect(page.get_by_role("dialog")).to_have_count(0)  # asked once
    page.locator("#person").click()
    page.get_by_role("button", name="Log out everywhere").click()
    expect(page.get_by_label("Token, as")).to_be_visible()
    other.page.get_by_role("link", name="Teach").click()  # that session is over, too
    expect(other.page.get_by_label("Token, as")).to_be_visible()
    desk.close()
    other.close()
