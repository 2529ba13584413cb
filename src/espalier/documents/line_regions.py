"""Where a document has no list of references: behind a heading that ends the list, and under a suggested citation.

What follows a list (an appendix, a form, tables, works of the same series, notes) often looks like it, line by line. A
heading says that it is something else, if it stands like one and a list stands above it; the next heading of references
takes that back. A cover sheet names the document itself, a few lines under the words that ask to cite it.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from espalier.documents.line_features import Seen
from espalier.documents.line_words import pattern

__all__ = ["outside"]

LEAST_LIST, SHARE = 3.0, 0.4
"""Lines that begin a reference, above a heading that ends a list: so many, and so much of all."""
COVER = 8
"""Lines under the words for a suggested citation that may belong to it."""

_SERIES = pattern("<SERIES>", re.IGNORECASE)

Float = NDArray[np.float64]


def outside(page: Seen, starts: Float) -> NDArray[np.bool_]:
    """Return which units are outside of any list. starts : how likely each begins a reference."""
    above = np.concatenate([[0.0], np.cumsum(starts)])
    found = np.zeros(len(page.units), bool)
    least = max(LEAST_LIST, SHARE * above[-1])
    closed, cover, cited = False, -1, 0
    for i, (one, unit) in enumerate(zip(page.looks, page.units, strict=True)):
        if one.heading.startswith("references"):
            closed, cover = False, -1
        elif above[i] >= least and _ends_list(page, i):
            closed = True
        if "suggested" in one.flags and unit.page <= 2:
            cover, cited = i, unit.page
        found[i] = closed or (0 <= i - cover <= COVER and cover >= 0 and unit.page == cited)
    return found


def _ends_list(page: Seen, i: int) -> bool:
    """Is a line a heading of something else, and does it stand as headings do: bold, large, or under white space?"""
    unit, place, one = page.units[i], page.layouts[i], page.looks[i]
    if unit.inner or one.words > 9:
        return False
    striking = unit.bold or place.size == "large"
    if one.heading in ("other", "other of"):
        if not striking and ("," in unit.text or one.years):
            return False
        return striking or place.gap in ("2", "3") or (not unit.placed and place.gap == "" and one.heading == "other")
    return striking and _SERIES.match(unit.text) is not None
