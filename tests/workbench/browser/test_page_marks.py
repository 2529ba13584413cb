"""Finding records on the page; flags, comments, splitting, merging, the skipped ones; confirming many after a look."""

from __future__ import annotations

from browser_desk import Desk
from playwright.sync_api import expect
from stalls import ADVERTS, correct, give_model, make


def test_find_and_link_to_it(desk: Desk) -> None:
    records = make(desk.server, "sought", "Sign: token ~ /£/ -> price\n")
    correct(desk.server, "sought", records[0], ADVERTS[0])
    page = desk.go("sought", "parse")
    page.locator(".record").first.wait_for()
    page.get_by_text("Find records").click()
    page.get_by_label("Text to find").fill("pe")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.locator("#count")).to_have_text("1 of 8 records, 1 corrected")
    expect(page.locator(".record .text")).to_have_text(ADVERTS[1])
    page.reload()  # the address keeps it
    expect(page.locator(".record")).to_have_count(1)
    page.get_by_label("Text to find").fill("")
    page.get_by_label("State").select_option("corrected")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.locator(".record .text")).to_have_text(ADVERTS[0])
    page.get_by_role("button", name="Show all").click()
    expect(page.locator(".record")).to_have_count(8)


def test_flag_comment_split_and_merge(desk: Desk) -> None:
    make(desk.server, "marked", texts=["Plum £35 Ludlow Pear £20 Ely", "Fig £12", "Wells"])
    page = desk.go("marked", "parse")
    first = page.locator(".record").first
    first.get_by_role("button", name="More …").click()
    page.get_by_label("Flag", exact=True).fill("two adverts")
    page.get_by_role("button", name="Flag it").click()
    desk.said("The record is flagged")
    expect(page.locator(".record").first.locator(".chip", has_text="flag: two adverts")).to_be_visible()
    page.locator(".record").first.get_by_role("button", name="More …").click()
    page.get_by_label("Say something").fill("cut it before the pear")
    page.get_by_role("button", name="Add the comment").click()
    expect(page.get_by_role("list", name="Comments")).to_contain_text("somebody: cut it before the pear")
    page.get_by_label("The text; put the cursor").evaluate("node => node.setSelectionRange(16, 16)")
    page.get_by_role("button", name="Split at the cursor").click()
    desk.said("split in two")
    expect(page.locator(".record")).to_have_count(4)
    page.locator(".record", has_text="Fig £12").get_by_role("button", name="More …").click()
    page.get_by_role("button", name="Merge with record").click()
    desk.said("one record now")
    texts = [record["text"] for record in desk.server.ask("GET", "/tasks/marked/records")["records"]]
    assert sorted(texts) == ["Fig £12 Wells", "Pear £20 Ely", "Plum £35 Ludlow"]


def test_the_skipped_are_a_list(desk: Desk) -> None:
    make(desk.server, "skipped", texts=ADVERTS[:2])
    page = desk.go("skipped", "teach")
    for _ in range(2):
        page.get_by_role("listbox").wait_for()
        page.get_by_role("button", name="Skip", exact=True).click()
        desk.said("is put off")
        page.wait_for_timeout(100)
    page.get_by_role("link", name="Show the skipped ones").click()
    expect(page.locator(".record .chip", has_text="skipped")).to_have_count(2)
    page.locator(".record").first.get_by_role("button", name="More …").click()
    page.get_by_role("button", name="Back into the queue").click()
    expect(page.locator(".record")).to_have_count(1)
    assert desk.server.ask("GET", "/tasks/skipped/queue")["left"] == 1


def test_confirm_what_is_sure_after_a_look(desk: Desk, model_file: bytes) -> None:
    records = make(desk.server, "surely")
    for record, text in zip(records[:5], ADVERTS, strict=False):
        correct(desk.server, "surely", record, text)
    give_model(desk.server, "surely", model_file)
    page = desk.go("surely", "teach")
    page.get_by_role("button", name="Confirm what is sure …").click()
    box = page.get_by_role("dialog", name="Confirm what is sure")
    box.get_by_label("Confidence in %").fill("50")
    expect(box.get_by_role("button", name="Confirm them")).to_be_disabled()  # not before a look
    box.get_by_role("button", name="Show some of them").click()
    expect(box.locator(".record")).to_have_count(3)
    box.get_by_role("button", name="Confirm 3 records").click()
    desk.said("3 records confirmed")
    assert desk.server.ask("GET", "/tasks/surely")["corrected"] == 8


def test_labels_are_changed_after_a_look(desk: Desk) -> None:
    records = make(desk.server, "growing", "Sign: token ~ /£/ -> price\n", ADVERTS[:2])
    correct(desk.server, "growing", records[0], ADVERTS[0])
    page = desk.go("growing", "parse")
    page.get_by_text("Tasks").click()
    page.get_by_role("button", name="Labels of this task …").click()
    box = page.get_by_role("dialog", name="Labels")
    box.get_by_label("Name of price").fill("cost")
    box.get_by_label("New labels").fill("colour")
    expect(box.get_by_role("button", name="Change the labels")).to_be_disabled()
    box.get_by_role("button", name="Show what happens").click()
    expect(box.get_by_text("1 corrected record change")).to_be_visible()
    expect(box.locator("pre")).to_contain_text("+ Sign: token ~ /£/ -> cost")
    box.get_by_role("button", name="Change the labels").click()
    desk.said("The labels are changed")
    assert desk.server.ask("GET", "/tasks/growing")["labels"] == ["fruit", "cost", "place", "colour"]
    expect(page.locator(".record").first.locator(".field[data-label=cost]")).to_be_visible()


def test_labels_are_merged_and_removed_after_a_look(desk: Desk) -> None:
    records = make(desk.server, "shrinking", "Sign: token ~ /£/ -> price\nTown: place once\n", ADVERTS[:1])
    correct(desk.server, "shrinking", records[0], ADVERTS[0])
    page = desk.go("shrinking", "parse")
    page.get_by_text("Tasks").click()
    page.get_by_role("button", name="Labels of this task …").click()
    box = page.get_by_role("dialog", name="Labels")
    box.get_by_label("Name of price").fill("fruit")
    box.get_by_label("Remove place").check()
    box.get_by_role("button", name="Show what happens").click()
    expect(box.locator("pre")).to_contain_text("+ Sign: token ~ /£/ -> fruit")
    expect(box.locator("pre")).to_contain_text("- Town: place once")
    desk.server.ask("PUT", "/tasks/shrinking/rules", {"text": "", "penalties": {}, "off": []})
    box.get_by_role("button", name="Change the labels").click()
    desk.said("The labels are changed")
    assert desk.server.ask("GET", "/tasks/shrinking")["labels"] == ["fruit"]
    marks = page.locator(".record").first.locator(".field")
    expect(marks).to_have_count(2)  # the two stood side by side, and stay two
    assert set(marks.evaluate_all("all => all.map(x => x.dataset.label)")) == {"fruit"}
