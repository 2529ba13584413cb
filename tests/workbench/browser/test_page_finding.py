"""Finding records on the page by each thing that one can ask for, and by several at once."""

from __future__ import annotations

from urllib.parse import quote

import httpx
import pytest
from browser_desk import Desk, Server
from playwright.sync_api import Page, expect
from stalls import ADVERTS, give_model, make, truth

RULES = "Short: tokens <= 4 [penalty 0.1]\n"
LONG = "Pear £20 Ely Ely Ely"
TEXTS = [*ADVERTS[:4], "Ripon", LONG]


def _as(server: Server, who: str, method: str, path: str, value: object) -> None:
    """Do something in the name of somebody."""
    headers = {"X-Espalier": "1", "X-Espalier-Name": quote(who)}
    url = f"{server.url}/api/v1/tasks/seek/records/{path}"
    httpx.request(method, url, json=value, headers=headers, timeout=60).raise_for_status()


@pytest.fixture(scope="module")
def seek(server: Server, model_file: bytes) -> list[dict]:
    """A task whose records differ in all that one can ask for; what the server says about each, in their order."""
    ids = make(server, "seek", RULES, TEXTS)
    give_model(server, "seek", model_file)
    _as(server, "Ann", "PUT", f"{ids[0]}/fields", {"fields": truth(TEXTS[0])})
    _as(server, "Bo", "PUT", f"{ids[1]}/fields", {"fields": [{"label": "place", "start": 0, "end": len(TEXTS[1])}]})
    _as(server, "Ann", "PATCH", str(ids[2]), {"flag": "odd"})
    _as(server, "Bo", "PATCH", str(ids[3]), {"skipped": True})
    _as(server, "Bo", "POST", f"{ids[4]}/comments", {"text": "a town"})
    return server.ask("GET", "/tasks/seek/records?limit=100")["records"]


def _asked(desk: Desk) -> Page:
    page = desk.go("seek", "parse")
    page.get_by_text("Find records").click()
    return page


def _finds(page: Page, expected: list[str]) -> None:
    """Press Find, and see these texts, in this order, and their number."""
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.locator("#count")).to_have_text(f"{len(expected)} of 6 records, 2 corrected")
    expect(page.locator(".record .text")).to_have_text(expected)


@pytest.mark.parametrize("label", ["fruit", "price"])
def test_by_label_where_what_was_confirmed_has_the_last_word(desk: Desk, seek: list[dict], label: str) -> None:
    has = [label in [field["label"] for field in one["corrected"] or one["fields"]] for one in seek]
    assert has[:2] == [True, False]  # what Ann and Bo said
    page = _asked(desk)
    page.get_by_label("Label", exact=True).select_option(label)
    _finds(page, [one["text"] for one, it in zip(seek, has, strict=True) if it])
    assert page.locator(f".record:not(:has(.field[data-label={label}]))").count() == 0


def test_by_broken_rule(desk: Desk, seek: list[dict]) -> None:
    page = _asked(desk)
    page.get_by_label("Broken rule").select_option("Short")
    _finds(page, [LONG])
    expect(page.locator(".record .chip", has_text="Short")).to_be_visible()


@pytest.mark.parametrize(("range", "low", "high"), [("below 90 %", 0.0, 0.9), ("90 % and more", 0.9, 1.0)])
def test_by_confidence(desk: Desk, seek: list[dict], range: str, low: float, high: float) -> None:
    sure = [one["text"] for one in seek if low <= one["confidence"] <= high]
    assert 0 < len(sure) < 6
    page = _asked(desk)
    page.get_by_label("Confidence").select_option(range)
    _finds(page, sure)


def test_by_person_and_by_several_things(desk: Desk, seek: list[dict]) -> None:
    page = _asked(desk)
    page.get_by_label("Person").select_option("Bo")
    _finds(page, [TEXTS[1]])
    page.get_by_label("Person").select_option("Ann")
    _finds(page, [TEXTS[0]])
    page.get_by_label("Label", exact=True).select_option("price")
    page.get_by_label("Text to find").fill("LUDLOW")
    _finds(page, [TEXTS[0]])
    page.reload()  # the address keeps all of it
    expect(page.locator(".record .text")).to_have_text([TEXTS[0]])
    expect(page.get_by_label("Person")).to_have_value("Ann")
    page.get_by_label("State").select_option("open")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.get_by_text("No record fits.")).to_be_visible()


def test_by_state(desk: Desk, seek: list[dict]) -> None:
    states = {
        "corrected": TEXTS[:2], "flagged": [TEXTS[2]], "skipped": [TEXTS[3]], "commented": ["Ripon"],
        "open": [TEXTS[2], *TEXTS[4:]],
    }  # fmt: skip
    page = _asked(desk)
    for state, expected in states.items():
        page.get_by_label("State").select_option(state)
        _finds(page, expected)
