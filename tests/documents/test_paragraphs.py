"""A paragraph of Word or of a page is a unit: it is not joined to the one before unless it surely goes on."""

from __future__ import annotations

import pytest
from test_readers import docx, paragraph

from espalier.documents.cutting.filling import fill_in
from espalier.documents.cutting.finding import FoundReference, find_references
from espalier.documents.lines import PrintedText
from espalier.documents.reading import read_document

BODY = (
    "Orchards are old (Casson 2001). As Medlar says, they are dark at night, and nobody has seen the walls by day.",
    "Bibliography",
)
WORKS = (
    "Eiche, Uta. Come si pota un melo. Milano: Bompiani, 1977.",
    "Plum, S. (2014). Walls of quality. Retrieved from https://etheses.orchard.ac.uk/7000/",
    "Battles, Matt. Orchard: An Unquiet History. W. W. Norton, 2003.",
    "Coyle, K. (2016, January 15). Catalogs of pears [Blog post]. https://kcoyle.example.com/2016/01/of-pears.html",
    "Medlar, Albert. The Orchard at Night. Yale UP, 2008.",
    "———. A History of Pruning. Viking, 1996.",
    "Quince, Robert. The Case for Plums. PublicAffairs, 2009.",
)


def word(texts: tuple[str, ...]) -> PrintedText:
    return read_document(docx("".join(map(paragraph, texts))), "paper.docx")


def page(texts: tuple[str, ...]) -> PrintedText:
    return read_document(("<html><body>" + "".join(f"<p>{text}</p>" for text in texts)).encode(), "page.html")


@pytest.mark.parametrize("read", [word, page])
def test_a_paragraph_is_one_reference(read: object) -> None:
    assert callable(read)
    found = find_references(read((*BODY, *WORKS))).references
    assert [one.text for one in found] == [*WORKS[:5], WORKS[5].replace("———", "Medlar, Albert"), WORKS[6]]
    assert found[5].filled == "Medlar, Albert"
    assert all(one.confidence > 0.9 for one in found)


def test_a_paragraph_that_goes_on_is_joined() -> None:
    first, second = WORKS[1].split("from ")
    found = find_references(word((*BODY, WORKS[0], f"{first}from", second, *WORKS[2:]))).references
    assert found[1].text == WORKS[1]


def test_paragraphs_that_are_printed_lines_begin_nothing() -> None:
    lines = (
        "Plum, Anna. Wires and walls in old orchards, an account of", "twelve winters and of their frosts. Ely: Medlar",
        "Press, 1990.", "Quince, Bernd. A frame for fruit, and what was to be", "seen in the north. London: Apple",
        "House, 1991.", "Rowan, Dora. On the pruning of old trees, with notes on", "the use of the saw. Ely: Medlar",
        "Press, 1992.", "Sloe, Emil. Hedges and what they keep out of gardens", "in winter. Bath: Hedgerow, 1993.",
    )  # fmt: skip
    found = find_references(word((*BODY, *lines))).references
    assert [one.text[:4] for one in found] == ["Plum", "Quin", "Rowa", "Sloe"]


def test_what_begins_a_paragraph() -> None:
    read = page(("One<br>two", "three", "<b>four</b>"))
    assert [(line.text, line.paragraph) for line in read.lines] == [
        ("One", True), ("two", False), ("three", True), ("four", True)
    ]  # fmt: skip
    listed = read_document(b"<html><ul><li><p>One</p><p>two</p></li></ul><p>three</p></html>")
    assert [line.paragraph for line in listed.lines] == [False, False, True]
    cells = "".join(f"<w:tc>{paragraph(text)}</w:tc>" for text in ("[1]", "Plum"))
    table = read_document(docx(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>{paragraph('behind')}"))
    assert [line.paragraph for line in table.lines] == [False, False, True]
    rows = read_document(b"<html><table><tr><td><p>[1]</p><td><p>Plum</p></tr></table><p>behind</p></html>")
    assert [line.paragraph for line in rows.lines] == [False, False, True]


def reference(text: str, sure: float) -> FoundReference:
    return FoundReference(text, confidence=sure, end=len(text), lines=(1,))


@pytest.mark.parametrize(
    "names", ["A. Berg", "A. B. Berg and C. Moss", "A. Berg, B. Holt", "A.-M. Berg et al", "Berg, Anna", "Ann Berg"]
)
def test_a_dash_stands_for_names_with_their_initials(names: str) -> None:
    before, dash = f"{names}. On hedges. J. Fen 3 (2001) 4-9.", "———. The soils of Kent. Leeds: Arbor, 2003."
    assert [one.filled for one in fill_in([reference(before, 0.9), reference(dash, 0.9)])] == ["", names]


def test_a_dash_does_not_stand_for_a_title_behind_a_comma() -> None:
    before, dash = "A. B. Berg and C. Moss, On hedges. J. Fen 3 (2001) 4-9.", "———, The soils of Kent. Arbor, 2003."
    assert [one.filled for one in fill_in([reference(before, 0.9), reference(dash, 0.9)])][
        1
    ] == "A. B. Berg and C. Moss"


def test_a_dash_behind_a_doubtful_cut_is_not_filled_in() -> None:
    dash = reference(WORKS[5], 0.9)
    assert [one.filled for one in fill_in([reference(WORKS[4], 0.9), dash])] == ["", "Medlar, Albert"]
    assert [one.filled for one in fill_in([reference(WORKS[4], 0.4), dash])] == ["", ""]
    assert [one.filled for one in fill_in([dash, dash])] == ["", ""]


@pytest.mark.parametrize(
    ("foot", "kept"),
    [
        ("<footer>© 2020 Albert Medlar. All rights reserved.</footer>", False),
        ("<footer><p>Orchard Letters, 12 Wall Street, Ely, 2020.</p></footer>", False),
        ("<p>© 2020 Albert Medlar. All rights reserved.</p>", False),
        ("<div role='contentinfo'>Orchard Letters, 12 Wall Street, Ely, 2020.</div>", False),
        ("<ol><li>Thorn, F. (1994). Mulch and soil. Ely: Medlar Press.</ol>", True),
    ],
)
def test_the_foot_of_a_page_is_no_reference(foot: str, kept: bool) -> None:
    items = "".join(f"<li>{text}</li>" for text in WORKS[:5])
    html = f"<html><body><h1>On walls</h1><p>{BODY[0]}</p><h2>References</h2><ol>{items}</ol>{foot}</body></html>"
    found = find_references(read_document(html.encode())).references
    assert len(found) == 5 + kept


def test_a_list_in_the_foot_of_a_page_is_found() -> None:
    items = "".join(f"<li>{text}</li>" for text in WORKS[:5])
    html = f"<html><body><p>{BODY[0]}</p><footer><h2>References</h2><ol>{items}</ol></footer></body></html>"
    assert [one.text for one in find_references(read_document(html.encode())).references] == list(WORKS[:5])
