"""Phone and desk, light and dark, keyboard and screen reader."""

from __future__ import annotations

import pytest
from browser_desk import Desk, Server
from playwright.sync_api import expect
from stalls import ADVERTS, correct, make

VIEWS = ["parse", "rules", "teach", "measure"]
LONG = "Supercalifragilistic" * 12 + " £3 Ely"
NAMELESS = """() => {
  const all = [...document.querySelectorAll('button, a, input, select, textarea, [tabindex="0"]')];
  const named = (node) => [node.getAttribute('aria-label'), node.textContent, node.title,
    ...[...(node.labels ?? [])].map((label) => label.textContent)].some((name) => name?.trim());
  return all.filter((node) => node.checkVisibility() && !named(node)).map((node) => node.outerHTML);
}"""


@pytest.fixture(scope="module")
def polite(server: Server) -> None:
    records = make(server, "polite", "Once: each field once [penalty 2]\n", [*ADVERTS, LONG])
    for record, text in zip(records[:2], ADVERTS, strict=False):
        correct(server, "polite", record, text)


@pytest.mark.usefixtures("polite")
@pytest.mark.parametrize("task", ["polite", "citations"])
def test_no_view_scrolls_sideways_on_a_phone(browser, server: Server, task: str) -> None:
    desk = Desk(browser, server, viewport={"width": 360, "height": 740}, has_touch=True)
    for view in VIEWS:
        page = desk.go(task, view)
        desk.settled()
        if task == "citations" and view == "measure":
            expect(page.get_by_role("button", name="Score", exact=True)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == 360, view
    desk.close()


def luminance(colour: str) -> float:
    """Relative luminance of `rgb(r, g, b)`, as WCAG defines it."""
    parts = [float(part) / 255 for part in colour.removeprefix("rgb(").rstrip(")").split(",")]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


# A canvas says what a colour is in sRGB, whatever way it was written.
COLOURS = """() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  const rgb = (colour, under) => {
    for (const layer of [under, colour]) {
      pen.fillStyle = layer;
      pen.fillRect(0, 0, 1, 1);
    }
    return `rgb(${[...pen.getImageData(0, 0, 1, 1).data].slice(0, 3)})`;
  };
  return [...document.querySelectorAll('.record .field')].map((node) => {
    const card = getComputedStyle(node.closest('.record')).backgroundColor;
    const [own, caption] = [getComputedStyle(node), getComputedStyle(node, '::after')];
    return [rgb(own.color, card), rgb(own.backgroundColor, card), rgb(caption.color, card), rgb(card, card)];
  });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_label_is_readable(browser, server: Server, scheme: str) -> None:
    desk = Desk(browser, server, color_scheme=scheme)
    page = desk.go("citations", "parse")
    page.get_by_role("button", name="Examples").click()
    expect(page.get_by_label("Text to parse")).not_to_have_value("")
    page.get_by_role("button", name="Parse", exact=True).click()
    page.locator(".record .field").nth(20).wait_for(state="attached")  # the first may be there before the others
    found = page.evaluate(COLOURS)
    assert min(contrast(ink, tint) for ink, tint, _, _ in found) > 7
    assert min(contrast(caption, card) for _, _, caption, card in found) > 4.5
    ground = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (luminance(ground) < 0.1) is (scheme == "dark")
    page.get_by_role("button", name="Light or dark").click()
    other = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert (luminance(other) < 0.1) is (scheme == "light")
    page.reload()
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == other
    desk.close()


@pytest.mark.usefixtures("polite")
def test_every_control_has_a_name_and_a_visible_focus(desk: Desk) -> None:
    for view in VIEWS:
        page = desk.go("polite", view)
        desk.settled()
        assert page.evaluate(NAMELESS) == []
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"


@pytest.mark.usefixtures("polite")
def test_views_can_be_linked_to(desk: Desk) -> None:
    page = desk.go("polite", "parse", "?order=uncertainty")
    expect(page.get_by_label("Order")).to_have_value("uncertainty")
    page.locator(".record").first.wait_for()
    sure = [
        float(text.split()[0]) for text in page.locator(".record .chip:first-of-type").all_inner_texts() if "%" in text
    ]
    assert sure == sorted(sure)
    [first, *_] = desk.server.ask("GET", "/tasks/polite/records")["records"]
    page = desk.go("polite", "teach", f"/{first['id']}")
    expect(page.get_by_role("heading", name=f"Record {first['id']}", exact=True)).to_be_visible()
    page.goto(f"{desk.server.url}/#/nobody/parse")
    expect(page.get_by_text("There is no task 'nobody'")).to_be_visible()


@pytest.mark.usefixtures("polite")
def test_the_legend_lights_a_label_up(desk: Desk) -> None:
    page = desk.go("polite", "parse")
    page.locator(".record").first.wait_for()
    legend = page.get_by_role("list", name="Labels")
    # Two records are corrected, with one price each.
    price = legend.get_by_role("button", name="price")
    count = int(price.inner_text().split()[-1])
    assert count >= 2
    price.click()
    expect(page.locator(".field.lit")).to_have_count(count)
