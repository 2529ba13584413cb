"""A document on the page: printed by the browser itself, dropped on the page, and shown with its places."""

from __future__ import annotations

import base64

from browser_desk import Desk
from playwright.sync_api import expect

REFERENCES = [
    "Jones, C. (1999). Water works of the old gardens. Berlin: Springer.",
    "Müller, K. (2001). On espaliers and their pruning. Journal of Orchards, 3(2), 101-108.",
    "Smith, A. B., & Jones, C. (2004). Soil salts and the growth of wall fruit. Acta Horticulturae, 12(4), 33-39.",
]
PAPER = f"""<style>.r p {{ padding-left: 2em; text-indent: -2em; margin: 0 }}</style>
<h1>On walls</h1><p>{"Walls are warm in the evening, as others have found. " * 60}</p>
<h2>References</h2><div class="r">{"".join(f"<p>{text}</p>" for text in REFERENCES)}</div>"""
DROP = """([data, name]) => {
  const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name, { type: "application/pdf" }));
  document.querySelector("#input").dispatchEvent(
    new DragEvent("drop", { dataTransfer: transfer, bubbles: true, cancelable: true }));
}"""


def test_a_dropped_pdf_becomes_records_with_pages(desk: Desk) -> None:
    printer = desk.context.new_page()
    printer.set_content(PAPER)
    pdf = base64.b64encode(printer.pdf(format="A5")).decode()
    printer.close()
    page = desk.go("citations", "parse")
    page.locator("#input").wait_for()
    page.evaluate(DROP, [pdf, "walls.pdf"])
    desk.said("3 records added")
    # Other tests leave records in this task, of pasted text and of other documents.
    cards = page.locator(".records .record", has=page.locator(".place", has_text="walls.pdf"))
    for place, text in enumerate(REFERENCES):
        expect(cards.nth(place).locator(".text")).to_contain_text(text[:15])
        expect(cards.nth(place).locator(".place")).to_contain_text("walls.pdf, page ")
    records = desk.server.ask("GET", "/tasks/citations/records")["records"]
    kept = [one for one in records if (one.get("source") or {}).get("file") == "walls.pdf"]
    assert [record["text"] for record in kept] == REFERENCES
    assert all(len(record["source"]["box"]) == 4 for record in kept)


def test_a_document_without_a_list_is_told(desk: Desk) -> None:
    desk.watch.expected = "400"
    page = desk.go("citations", "parse")
    page.locator("#input").wait_for()
    page.evaluate(DROP, [base64.b64encode(b"<html><p>There is no list.</p></html>").decode(), "walls.html"])
    expect(page.get_by_text("no list of references was found")).to_be_visible()
