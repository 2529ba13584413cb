"""Running heads inside a list, and dashes that stand for names, in documents that are made here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from espalier.documents.cutting.finding import findings_of
from espalier.documents.deciding.model import LABELS, LineReading, bundled
from espalier.documents.deciding.units import units_of
from espalier.documents.lines import Box, PrintedText, TextLine

ENTRY = "Smith, J. (1990). Wires and walls. Journal of Orchards, 12, 4-9."

NAMES = list(enumerate(("Abel", "Baker", "Carter", "Dunn", "Evans", "Foster", "Grant"), 1))


def placed(rows: list[tuple[str, bool]]) -> list[TextLine]:
    """Return lines one below the other; those that are bold have white space above."""
    found, y = [], 50.0
    for text, bold in rows:
        y += 30.0 if bold else 12.0
        found.append(TextLine(text, 1, Box(50.0, y, 400.0, y + 10), 10.0, bold, False, 0))
    return found


def test_a_running_head_is_no_heading_and_no_reference() -> None:
    """It may name the list on each of its pages, and hold names, a year and pages."""
    entries = [f"{name}, J. ({1980 + n}). Wires and walls. Journal of Orchards, {n}, 4-9." for n, name in NAMES]
    rows = [("References", True), *((entry, False) for entry in entries), ("Appendix", True)]
    lines = placed(rows)
    heads = ["References", "Keller, A. & Novak, T.: Zeitschrift für Obstbau 12 (2004), S. 33-45"]
    lines[5:5] = [replace(lines[5], text=head, hint="page") for head in heads]
    lines += [replace(lines[0], hint="page", bold=False, page=2)]
    found = findings_of(PrintedText.of(lines), bundled().read(lines), bundled())
    assert [one.text for one in found.references] == entries


@pytest.mark.parametrize("text", ["—, 1998, A&A, 329, 551", "———. 2003. 589: 677"])
def test_a_dash_for_names_and_figures_are_a_reference(text: str) -> None:
    lines = [TextLine(ENTRY), TextLine(text)]
    labels = ["ref", "ref"]
    p = np.array([[float(name == label) for name in LABELS] for label in labels])
    found = findings_of(PrintedText.of(lines), LineReading(units_of(lines), labels, p, [None, None]), bundled())
    assert [one.filled for one in found.references] == ["", "Smith, J."]
