from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from espalier.documents.cutting.finding import findings_of
from espalier.documents.deciding.features import seen
from espalier.documents.deciding.model import LABELS, LineReading, bundled
from espalier.documents.deciding.regions import COVER, holes, outside, running_heads
from espalier.documents.deciding.units import units_of
from espalier.documents.lines import Box, PrintedText, TextLine

ENTRY = "Smith, J. (1990). Wires and walls. Journal of Orchards, 12, 4-9."

BODY = "The results show that attitudes have hardly changed over time, as we have seen above."
NAMES = list(enumerate(("Abel", "Baker", "Carter", "Dunn", "Evans", "Foster", "Grant"), 1))


def placed(rows: list[tuple[str, bool]]) -> list[TextLine]:
    """Return lines one below the other; those that are bold have white space above."""
    found, y = [], 50.0
    for text, bold in rows:
        y += 30.0 if bold else 12.0
        found.append(TextLine(text, 1, Box(50.0, y, 400.0, y + 10), 10.0, bold, False, 0))
    return found


def outside_of(rows: list[tuple[str, bool]], likely: float = 1.0) -> list[bool]:
    page = seen(units_of(placed(rows)))
    starts = np.array([likely * (unit.text == ENTRY) for unit in page.units])
    return [bool(one) for one in outside(page, starts)]


@pytest.mark.parametrize(
    "heading", ["Appendix", "Anhang: Fragebogen", "Anmerkungen", "Discussion Papers of the Institute"]
)
def test_a_heading_ends_a_list_until_the_next_one(heading: str) -> None:
    entries = [(ENTRY, False)] * 4
    found = outside_of([*entries, *entries, (heading, True), *entries, ("References", True), *entries])
    assert found == [False] * 8 + [True] * 5 + [False] * 5


def test_a_running_head_is_no_heading_and_no_reference() -> None:
    """It may name the list on each of its pages, and hold names, a year and pages."""
    entries = [f"{name}, J. ({1980 + n}). Wires and walls. Journal of Orchards, {n}, 4-9." for n, name in NAMES]
    rows = [("References", True), *((entry, False) for entry in entries), ("Appendix", True)]
    lines = placed(rows)
    heads = ["References", "Keller, A. & Novak, T.: Zeitschrift für Obstbau 12 (2004), S. 33-45"]
    lines[5:5] = [replace(lines[5], text=head, hint="page") for head in heads]
    lines += [replace(line, page=2) for line in [replace(lines[0], hint="page", bold=False), *lines[1:5]]]
    found = findings_of(PrintedText.of(lines), bundled().read(lines), bundled())
    assert [one.text for one in found.references] == entries
    page = seen(units_of(lines))
    starts = np.array([float(unit.text in entries) for unit in page.units])
    assert outside(page, starts).tolist() == [False] * 10 + [True] * 6


@pytest.mark.parametrize("text", ["—, 1998, A&A, 329, 551", "———. 2003. 589: 677"])
def test_a_dash_for_names_and_figures_are_a_reference(text: str) -> None:
    lines = [TextLine(ENTRY), TextLine(text)]
    labels = ["ref", "ref"]
    p = np.array([[float(name == label) for name in LABELS] for label in labels])
    found = findings_of(PrintedText.of(lines), LineReading(units_of(lines), labels, p, [None, None]), bundled())
    assert [one.filled for one in found.references] == ["", "Smith, J."]


@pytest.mark.parametrize(
    ("rows", "likely"),
    [
        ([(ENTRY, False)] * 4 + [("Working Papers of the bank. Basel: BIS.", False)] + [(ENTRY, False)] * 4, 1.0),
        ([("The text begins here.", False)] * 4 + [("Notes", True)] + [(ENTRY, False)] * 4, 0.0),
    ],
)
def test_lines_of_a_list_and_headings_above_it_end_nothing(rows: list[tuple[str, bool]], likely: float) -> None:
    assert not any(outside_of(rows, likely))


def test_a_suggested_citation_is_no_list() -> None:
    rows = [("Title", True), ("Suggested Citation:", False), (ENTRY, False), *[("Terms of use.", False)] * COVER]
    found = outside_of(rows)
    assert found[:3] == [False, True, True]
    assert not found[-1]


@pytest.mark.parametrize(
    "text", ["1991 60.9 68.9 18.3 67.8 69.2", "7 Appendix .................. 19", "3 Vgl. Beck und Weber 1997, S. 35."]
)
def test_what_is_no_reference_anywhere(text: str) -> None:
    printed = PrintedText.of(TextLine(line) for line in (ENTRY, text))
    units = units_of(printed.lines)
    reading = LineReading(units, ["ref"] * len(units), np.ones((len(units), len(LABELS))), [None] * len(units))
    found = findings_of(printed, reading, bundled())
    assert [one.text for one in found.references] == [ENTRY]
    assert [one.text for one in found.dropped] == [text]


@pytest.mark.parametrize(
    "text", ["2003 43.8 45.4 70.7 79.1", "Quelle: Statistisches Bundesamt 2004", "Source: OECD (2004)"]
)
def test_a_row_of_figures_is_no_reference(text: str) -> None:
    assert outside_of([(ENTRY, False), (text, False), (ENTRY, False)]) == [False, True, False]


@pytest.mark.parametrize("text", ["2003, 12(4), 33-39.", "1.2 (2004), 3.4", ENTRY])
def test_figures_of_a_reference_are_no_table(text: str) -> None:
    assert outside_of([(text, False)]) == [False]


def test_what_stands_between_references_is_more_of_them_unless_it_is_prose() -> None:
    prose = "It is shown that these results are not what they were when we began in 1990."
    rows = [(ENTRY, False), ("Orchard Board 2015, The total amount of fruit", False), (prose, False), (ENTRY, False)]
    page, closed = seen(units_of(placed(rows))), np.zeros(4, bool)
    assert holes(page, ["ref", "text", "ref", "ref"], closed) == [1]
    assert holes(page, ["ref", "text", "heading", "ref"], closed) == []
    assert holes(page, ["ref", "ref", "text", "ref"], closed) == []
    assert holes(page, ["text", "text", "ref", "ref"], closed) == []
    assert holes(page, ["ref", "text", "ref", "ref"], np.array([False, True, False, False])) == []


def test_a_line_that_comes_again_outside_of_lists_is_a_running_head() -> None:
    head = "How true are orchards? An analysis"
    rows = [(head, False), (BODY, False), (head, False), (ENTRY, False), (head, False), (ENTRY, False), (ENTRY, False)]
    page = seen(units_of(placed(rows)))
    inside = np.array([0.0, 0.0, 0.0, 1.0, 0.9, 1.0, 1.0])
    assert running_heads(page, inside) == [0, 2, 4]  # the entries come again, too, but inside of a list
    assert running_heads(page, np.ones(7)) == []


def test_a_list_that_breaks_off_with_a_page_goes_on_with_the_next() -> None:
    """Lines behind its last reference are more of it on the page that follows, and not on the same page or later."""
    rows = [
        (ENTRY, False),
        ("Orchard Board 2015, The total amount of fruit", False),
        ("Orchard Board 2016, Pears", False),
    ]
    closed = np.zeros(3, bool)
    for pages, more in (((1, 2, 2), [1, 2]), ((1, 2, 3), [1]), ((1, 1, 2), []), ((1, 3, 3), [])):
        lines = [replace(line, page=number) for line, number in zip(placed(rows), pages, strict=True)]
        page = seen(units_of(lines))
        assert holes(page, ["ref", "text", "text"], closed) == more
        assert holes(page, ["ref", "heading", "text"], closed) == []
        assert holes(page, ["text", "text", "text"], closed) == []
