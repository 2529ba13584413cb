"""A small task of the tests: adverts of three words, fruit, price and place."""

from __future__ import annotations

import re

import httpx
from browser_desk import Desk, Server

LABELS = ["fruit", "price", "place"]
ADVERTS = [
    "Plum £35 Ludlow",
    "Pear £20 Ely",
    "Fig £12 Wells",
    "Quince £18 Ripon",
    "Apple £90 Truro",
    "Medlar £31 Hexham",
    "Cherry £44 Whitby",
    "Damson £27 Kendal",
]


def truth(text: str) -> list[dict[str, object]]:
    """The right fields of an advert: its three words."""
    words = re.finditer(r"\S+", text)
    return [{"label": label, "start": m.start(), "end": m.end()} for label, m in zip(LABELS, words, strict=True)]


def shown(text: str) -> list[tuple[str, str]]:
    """The right fields as a card shows them."""
    return list(zip(LABELS, text.split(), strict=True))


def make(server: Server, name: str, rules: str = "", texts: list[str] = ADVERTS) -> list[int]:
    """A task with these records, made without the page; returns their numbers."""
    server.ask("POST", "/tasks", {"name": name, "labels": LABELS, "rules": rules, "outside": True})
    if not texts:
        return []
    return server.ask("POST", f"/tasks/{name}/records", {"text": "\n".join(texts), "layout": "lines"})["added"]


def correct(server: Server, name: str, record: int, text: str) -> None:
    server.ask("PUT", f"/tasks/{name}/records/{record}/fields", {"fields": truth(text)})


def give_model(server: Server, name: str, file: bytes) -> None:
    """Put a model file in use, which is much quicker than to train one."""
    url = f"{server.url}/api/v1/tasks/{name}/models"
    httpx.post(url, content=file, headers={"X-Espalier": "1"}, timeout=60).raise_for_status()


def strip_text(desk: Desk) -> str:
    return desk.page.get_by_role("listbox").inner_text().strip()


def label_by_keys(desk: Desk) -> str:
    """Label the advert on the desk with the keyboard alone; returns its text. £ and the number are two tokens."""
    strip = desk.page.get_by_role("listbox")
    text = strip.inner_text().strip()
    for key in ("Home", "f", "ArrowRight", "Shift+ArrowRight", "p", "ArrowRight", "l"):
        strip.press(key)
    return text


def train(desk: Desk, versions: int = 1) -> None:
    """Train, wait until there are so many models, and take the newest, even if it is worse."""
    desk.page.get_by_role("button", name="Train", exact=True).click()
    desk.page.locator(f".versions b >> nth={versions - 1}").wait_for()
    desk.page.locator(".verdict").wait_for()
    insist = desk.page.get_by_role("button", name="Use the new one all the same")
    if insist.count():
        insist.click()
    desk.page.locator(".versions li:first-child .chip", has_text="in use").wait_for()
