"""Where a document has no list of references, and where a list has a hole.

What follows a list (an appendix, a form, tables, works of the same series, notes) often looks like it, line by line. A
heading says that it is something else, if it stands like one and a list stands above it; the next heading of references
takes that back. A cover sheet names the document itself, a few lines under the words that ask to cite it. Rows of
figures, and the line that says where they are from, are a table wherever they stand.

A line that comes again and again, and outside of any list, is a running head inside one, too. And what stands between
two references of a list, or on the page behind its last one, without a heading and unlike prose, is most likely more of
them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from espalier.documents.line_features import Seen
from espalier.documents.line_words import pattern

__all__ = ["holes", "outside", "running_heads"]

LEAST_LIST, SHARE = 3.0, 0.4
"""Lines that begin a reference, above a heading that ends a list: so many, and so much of all."""
COVER = 8
"""Lines under the words for a suggested citation that may belong to it."""

LONGEST_HOLE = 60
"""Lines of text between two references of one list that may be references, too."""
PROSE, DATED = 0.05, 450
"""Words of prose among all words there, at most; characters for each year, at most."""
OFTEN = 3
"""Times that a running head is printed, at least."""

_SERIES = pattern("<SERIES>", re.IGNORECASE)
_FIGURES = re.compile(r"[\d.,%()\s/*+−–-]*\Z")
_FIGURE = re.compile(r"\d[.,]\d")
_SOURCE = re.compile(r"(?:Quellen?|Sources?|Datenquelle|Data)\s?: ")
_DIGITS = re.compile(r"\d+")

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
        found[i] = closed or (0 <= i - cover <= COVER and cover >= 0 and unit.page == cited) or _is_table(unit.text)
    return found


def _is_table(text: str) -> bool:
    """Is a line a row of figures, or does it say where those are from?"""
    if _SOURCE.match(text):
        return True
    return len(text.split()) > 2 and len(_FIGURE.findall(text)) > 2 and _FIGURES.match(text) is not None


def running_heads(page: Seen, inside: Float) -> list[int]:
    """Return the units that are printed again and again, most often outside of lists. inside : how likely one is in."""
    places: dict[str, list[int]] = defaultdict(list)
    for i, (unit, one) in enumerate(zip(page.units, page.looks, strict=True)):
        if one.words > 2 and not unit.inner and len(unit.text) > 15:
            places[_DIGITS.sub("0", unit.text.lower())].append(i)
    often = [which for which in places.values() if len(which) >= OFTEN]
    return [i for which in often if 2 * sum(inside[i] < 0.2 for i in which) >= len(which) for i in which]


def holes(page: Seen, labels: Sequence[str], closed: NDArray[np.bool_]) -> list[int]:
    """Return the units that were read as text between references of one list, or on the page that a list goes on to.

    closed : no list is there.
    """
    found: list[int] = []
    hole: list[int] = []
    last = -1  # the reference above, if there is one
    for i, label in enumerate((*labels, "heading")):
        if label in ("ref", "ref-cont"):
            found += hole if last >= 0 and _may_be_list(page, hole) else []
            hole, last = [], i
        elif label == "heading" or closed[i]:
            found += _next_page(page, last, hole) if last >= 0 else []
            hole, last = [], -1
        elif label in ("text", "note"):
            hole.append(i)
    return found


def _next_page(page: Seen, last: int, behind: Sequence[int]) -> list[int]:
    """Return what stands on the page behind the last reference of a list, if the list may go on there."""
    number = page.units[last].page + 1
    if not behind or page.units[behind[0]].page != number:
        return []
    rest = [i for i in behind if page.units[i].page == number]
    return rest if _may_be_list(page, rest) else []


def _may_be_list(page: Seen, hole: Sequence[int]) -> bool:
    """Are these lines few, and unlike prose?"""
    if not 0 < len(hole) <= LONGEST_HOLE:
        return False
    looks = [page.looks[i] for i in hole]
    prose, words = sum(one.prose for one in looks), sum(one.words for one in looks)
    length, years = sum(len(page.units[i].text) for i in hole), sum(one.years for one in looks)
    return prose <= PROSE * words and length <= DATED * years


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
