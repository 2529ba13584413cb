"""Rules on the page: what a switch, a slider and a line of text change, at once."""

from __future__ import annotations

import pytest
from browser_desk import Desk
from playwright.sync_api import expect
from stalls import ADVERTS, correct, make

# Without a model all scores are zero, so these decide alone: being in a field costs 1, and two words are worth it.
RULES = """\
Sign:  token ~ /£/ -> price                       [penalty 5]
Plain: token ~ /.*/ -> not fruit, price, place    [penalty 1]
Place: token in "Ely" -> place                    [penalty 3]
"""


@pytest.fixture(scope="module")
def priced(server) -> None:
    records = make(server, "priced", RULES)
    for record, text in zip(records[:2], ADVERTS, strict=False):
        correct(server, "priced", record, text)


def labels(desk: Desk, record: int) -> list[str]:
    marks = desk.page.locator(".record").nth(record).locator("p").last.locator(".field")
    return marks.evaluate_all("all => all.map(x => x.dataset.label)")


def settled(desk: Desk, text: str) -> None:
    expect(desk.page.locator("#decoded")).to_have_text(text)


@pytest.mark.usefixtures("priced")
def test_a_switch_changes_the_records_at_once(desk: Desk) -> None:
    page = desk.go("priced", "rules")
    settled(desk, "8 records")
    expect(page.locator(".record.changed")).to_have_count(0)
    page.get_by_role("switch", name="Apply Sign").click()
    # Every advert has one £, and nothing else says price.
    settled(desk, "8 of 8 records changed")
    expect(page.locator(".record.changed")).to_have_count(8)
    assert "price" not in labels(desk, 2)
    expect(page.locator("[data-rule=Sign] .count")).to_have_text("broken 0 → 8 (8 records)")
    page.get_by_role("switch", name="Apply Sign").click()
    settled(desk, "8 records")
    expect(page.locator(".record.changed")).to_have_count(0)
    # The place is named in one advert only.
    page.get_by_role("switch", name="Apply Place").click()
    settled(desk, "1 of 8 records changed")
    page.get_by_label("Only changed").check()
    expect(page.locator(".record:visible")).to_have_count(1)
    sides = page.locator(".record.changed .versus p").all_inner_texts()
    assert sides == ["Pear £20 Ely"] * 2
    page.get_by_role("button", name="Discard changes").click()
    settled(desk, "8 records")


@pytest.mark.usefixtures("priced")
def test_a_slider_crosses_the_price_of_the_other_rule(desk: Desk) -> None:
    page = desk.go("priced", "rules")
    settled(desk, "8 records")
    slider = page.get_by_role("slider", name="Penalty of Place")
    slider.fill("0.9")  # below the 1 that a field costs
    settled(desk, "1 of 8 records changed")
    slider.fill("1.1")
    settled(desk, "0 of 8 records changed")
    page.get_by_label("Plain is hard").check()  # now no field may be
    settled(desk, "8 of 8 records changed")
    page.reload()  # not saved, and not lost
    settled(desk, "8 of 8 records changed")
    page.get_by_role("button", name="Reset the penalty of Plain").click()
    settled(desk, "0 of 8 records changed")
    page.get_by_role("button", name="Save").click()
    desk.said("The rules are saved")
    assert desk.server.ask("GET", "/tasks/priced/rules")["penalties"] == {"Place": 1.1}
    page.get_by_role("button", name="Reset the penalty of Place").click()
    page.get_by_role("button", name="Save").click()
    desk.said("The rules are saved")


@pytest.mark.usefixtures("priced")
def test_mistakes_are_shown_where_they_are(desk: Desk) -> None:
    page = desk.go("priced", "rules")
    settled(desk, "8 records")
    text = page.get_by_label("The rules as text")
    text.fill(RULES.replace("-> place", "-> palce"))
    expect(page.locator(".gutter .wrong")).to_have_text("3")
    expect(page.get_by_text("unknown field 'palce'")).to_be_visible()
    expect(page.get_by_text("did you mean 'place'?")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_role("button", name="line 3, column").click()
    expect(text).to_be_focused()
    text.fill(RULES + 'Fig: token in "Fig" -> fruit [penalty 2]\n')
    expect(page.locator(".gutter .wrong")).to_have_count(0)
    settled(desk, "1 of 8 records changed")
    assert labels(desk, 2) == ["fruit", "price"]
    page.get_by_role("button", name="Discard changes").click()
    settled(desk, "8 records")


@pytest.mark.usefixtures("priced")
def test_suggested_rules_can_be_added(desk: Desk) -> None:
    page = desk.go("priced", "rules")
    settled(desk, "8 records")
    page.get_by_role("button", name="Suggest rules").click()
    add = page.get_by_role("button", name="Add the rule").first
    add.click()
    name = (add.get_attribute("aria-label") or "").removeprefix("Add the rule ")
    expect(page.get_by_role("switch", name=f"Apply {name}", exact=True)).to_be_visible()
    page.get_by_role("button", name="Discard changes").click()
    expect(page.get_by_role("switch", name=f"Apply {name}", exact=True)).to_have_count(0)
