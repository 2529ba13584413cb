"""What the eye sees: 23 labels that differ, for colour-blind eyes too; sentences, skip links, addresses, a phone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from browser_desk import Desk, Server
from playwright.sync_api import expect
from stalls import ADVERTS, make

# Line, tint and kind of line of every label's swatch; a canvas says what a colour is in sRGB.
LOOKS = """() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  const rgb = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  return [...document.querySelectorAll('.labels button[data-label]:not([data-label=""])')].map((node) => {
    const style = getComputedStyle(node.querySelector('.swatch'));
    return [node.dataset.label, rgb(style.borderBottomColor), style.borderBottomStyle];
  });
}"""

# How colours look without one kind of cones, in linear RGB: Machado, Oliveira & Fernandes (2009), severity 1.
EYES = {
    "all": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
# Oklab (Ottosson 2020): linear sRGB to cone responses, their cube roots to lightness and two colour axes.
CONES = [
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
]
AXES = [
    [0.2104542553, 0.7936177850, -0.0040720468],
    [1.9779984951, -2.4285922050, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.8086757660],
]


def seen(colour: list[int], eye: str) -> np.ndarray:
    """A colour in Oklab, as such eyes see it."""
    parts = np.array(colour) / 255
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return np.array(AXES) @ np.cbrt(np.array(CONES) @ np.clip(np.array(EYES[eye]) @ linear, 0, 1))


def test_23_labels_differ_for_all_eyes(desk: Desk) -> None:
    labels = [f"label{chr(97 + k)}" for k in range(23)]
    desk.server.ask("POST", "/tasks", {"name": "many", "labels": labels, "rules": "", "outside": True})
    desk.server.ask("POST", "/tasks/many/records", {"text": "some text", "layout": "lines"})
    page = desk.go("many", "teach")
    page.get_by_role("listbox").wait_for()
    inks = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        looks = page.evaluate(LOOKS)
        assert [label for label, _, _ in looks] == labels
        for (one, ink, line), (other, ink_2, line_2) in itertools.combinations(looks, 2):
            if line == line_2:
                for eye in EYES:
                    apart = float(np.linalg.norm(seen(ink, eye) - seen(ink_2, eye)))
                    assert apart > (0.13 if eye == "all" else 0.08), (scheme, one, other, eye, apart)
        inks.append({(tuple(ink), line) for _, ink, line in looks})
        assert len(inks[-1]) == 23
    assert inks[0] != inks[1]


def test_the_measure_of_colours_knows_red_from_green() -> None:
    """A check of the check: red and green of one lightness differ for all cones and hardly without the middle ones."""
    red, green = [178, 60, 60], [60, 120, 60]
    far = np.linalg.norm(seen(red, "all") - seen(green, "all"))
    near = np.linalg.norm(seen(red, "deuteranopia") - seen(green, "deuteranopia"))
    assert far > 3 * near
    np.testing.assert_allclose(seen([255, 255, 255], "all"), [1, 0, 0], atol=1e-3)


def test_confirm_is_in_reach_on_a_phone(browser, server: Server) -> None:
    text = " ".join(f"{fruit} £{k} Ely" for k, fruit in enumerate(["Plum", "Pear", "Fig", "Quince"] * 20))
    make(server, "tall", texts=[text])
    desk = Desk(browser, server, viewport={"width": 360, "height": 640}, has_touch=True)
    page = desk.go("tall", "teach")
    page.get_by_role("listbox").wait_for()
    box = page.get_by_role("button", name="Confirm").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 640
    assert box["height"] >= 38
    desk.close()


def test_skip_links_headings_and_a_first_sentence(desk: Desk) -> None:
    make(desk.server, "skips", texts=ADVERTS[:3])
    for view in ("parse", "rules", "teach", "measure"):
        page = desk.go("skips", view)
        desk.settled()
        expect(page.locator("main h1")).to_have_count(1)
        expect(page.locator("main .lead")).to_be_visible()
    page = desk.go("skips", "parse")
    page.locator(".record").first.wait_for()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".record").first).to_be_focused()
    assert page.url.endswith("#/skips/parse")


def test_without_a_model_nothing_is_proven(desk: Desk) -> None:
    make(desk.server, "modelless", texts=ADVERTS[:2])
    page = desk.go("modelless", "parse")
    expect(page.locator(".record .chip", has_text="no model yet")).to_have_count(2)
    expect(page.locator(".record .chip", has_text="%")).to_have_count(0)
    expect(page.locator(".record .chip", has_text="proven")).to_have_count(0)


@pytest.mark.parametrize("address", ["#/citations/nonsense", "#/%/parse", "#/nobody/teach", "#/citations/constructor"])
def test_no_address_is_blank(desk: Desk, address: str) -> None:
    desk.page.goto(f"{desk.server.url}/{address}")
    expect(desk.page.get_by_role("heading", name="There is nothing at this address")).to_be_visible()
    expect(desk.page.locator("nav a")).to_have_count(4)
    desk.page.get_by_role("link", name="Parse, with the task").click()
    expect(desk.page.get_by_label("Text to parse")).to_be_visible()


def test_a_record_that_is_not_there_says_so(desk: Desk) -> None:
    make(desk.server, "absent", texts=ADVERTS[:1])
    desk.watch.expected = "status of 4"
    for detail in ("/999999", "/nonsense"):
        desk.go("absent", "teach", detail)
        expect(desk.page.get_by_role("alert").filter(has_text="Try again")).to_be_visible()


def test_unfamiliar_texts_are_marked(desk: Desk) -> None:
    desk.server.ask("POST", "/tasks/citations/records", {"text": "zzz qqq " * 60, "layout": "lines"})
    [strange, *_] = [
        one for one in desk.server.ask("GET", "/tasks/citations/records?limit=500")["records"] if "zzz" in one["text"]
    ]
    assert strange["unfamiliar"]
    page = desk.go("citations", "teach", f"/{strange['id']}")
    expect(page.locator(".chip", has_text=f"unfamiliar: {strange['unfamiliar']}")).to_be_visible()
