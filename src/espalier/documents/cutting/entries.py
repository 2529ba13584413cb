"""Entries of a list that has marks: every line with a mark of the list begins one, unless it is surely prose.

The model of lines judges a line by its words. In a pasted list that is not enough: `2 Ebd., S. 52.` or `• 17 U.S.C.
§ 108` look like nothing, and are entries, because a bullet or the next number stands before them, as before all others.
In a paper with text around it nothing of this holds, and nothing is done.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from espalier.documents.deciding.marks import Mark, list_marks
from espalier.documents.deciding.model import LABELS, LineReading
from espalier.documents.deciding.units import Unit
from espalier.documents.line_words import NAMED, look, mark_of

__all__ = ["is_listed", "with_entries"]

LISTED = 0.5
"""The share of the units of a text that are no text, if it is a list."""
LEAST, MARKED = 3, 0.6
"""References with marks of one kind: so many, and so much of all, if such a mark begins every one."""
SURE = 0.7
"""The probability of an entry that only its mark tells."""
MOST_PROSE = 2
"""Words of prose in an entry, at most, unless it begins with names."""

_ADDRESSES = ("http", "www.", "doi:")


def is_listed(reading: LineReading) -> bool:
    """Is a text the list alone, and not a document with a list in it?"""
    told = sum(label in ("text", "note") for label in reading.labels)
    return told <= (1 - LISTED) * len(reading.labels)


def with_entries(reading: LineReading) -> tuple[LineReading, frozenset[int]]:
    """Return a reading of a list in which every mark of the list begins an entry, and the numbers of these units.

    Without such marks, and of a document that is more than a list, it is what it was.
    """
    marked = _marked(reading) if is_listed(reading) else []
    if not marked:
        return reading, frozenset()
    labels, entries = list(reading.labels), set[int]()
    marginals, pairs = reading.marginals.copy(), list(reading.pairs)
    for k in marked:
        if labels[k] != "ref":
            if labels[k] != "ref-cont" and _is_prose(reading.units[k]):
                continue
            for i, label in zip((k, *_behind(reading, k)), ("ref", *["ref-cont"] * len(labels)), strict=False):
                labels[i] = label
                marginals[i] *= (1 - SURE) / max(1 - float(marginals[i, LABELS.index(label)]), 1e-12)
                marginals[i, LABELS.index(label)] = SURE
                pairs[i : i + 2] = [None] * len(pairs[i : i + 2])
        entries.add(k)
    return LineReading(reading.units, labels, np.asarray(marginals), pairs), frozenset(entries)


def _marked(reading: LineReading) -> list[int]:
    """Return the units that begin a line with a mark of the list; nothing if its entries have none."""
    outer = [k for k, unit in enumerate(reading.units) if not unit.inner]
    marks = list_marks([reading.units[k].text for k in outer])
    faces = {k: _face(reading.units[k], mark) for k, (mark, _) in zip(outer, marks, strict=True)}
    first = [faces.get(k, "") for k in outer if reading.labels[k] == "ref"]
    face, times = Counter(first).most_common(1)[0] if first else ("", 0)
    if not face or times < LEAST or times < MARKED * len(first):
        return []
    return [k for k in outer if faces.get(k) == face]


def _face(unit: Unit, mark: Mark | None) -> str:
    """Return the style of a mark; a bullet is what it is."""
    return "" if mark is None else unit.text.lstrip()[0] if mark[0] == "•" else mark[0]


def _is_prose(unit: Unit) -> bool:
    """Is an entry surely prose: by many words, or by one where there is no figure but its number, and no address?"""
    one = look(unit.text)
    if one.begin in NAMED or one.begin == "dash":
        return False
    body = unit.text[mark_of(unit.text)[1] :]
    figures = any(map(str.isdigit, body)) or any(word in body for word in _ADDRESSES)
    return one.prose > (MOST_PROSE if figures else 0)


def _behind(reading: LineReading, k: int) -> Iterator[int]:
    """Yield the units that go on with the entry at k: lines without a mark that were read as text, right below it."""
    for i in range(k + 1, len(reading.units)):
        unit, above = reading.units[i], reading.units[i - 1]
        if reading.labels[i] not in ("text", "note") or unit.blank or mark_of(unit.text)[0] is not None:
            return
        if above.text.endswith(".") and not unit.text[0].islower() and look(unit.text).prose > 1:  # a sentence
            return
        yield i
