"""Where a document has no list of references, and where a list has a hole.

What follows a list (an appendix, a form, tables, works of the same series, notes) often looks like it, line by line. A
heading says that it is something else, if it stands like one and a list stands above it; the next heading of references
takes that back. A cover sheet names the document itself, a few lines under the words that ask to cite it. Tables,
captions behind a list and addresses of authors are none wherever they stand (`floats`).

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

from espalier.documents.deciding.features import Seen
from espalier.documents.deciding.floats import addresses, captions, tables
from espalier.documents.line_words import pattern

__all__ = ["amid_lists", "continued", "counted", "holes", "outside", "rights", "running_heads"]

LEAST_LIST, SHARE = 3.0, 0.4
"""Lines that begin a reference, above a heading that ends a list: so many, and so much of all."""
COVER = 8
"""Lines under the words for a suggested citation that may belong to it."""

LONGEST_HOLE = 60
"""Lines of text between two references of one list that may be references, too."""
APART = 12
"""Lines from one number of a list to the next, at most."""
COUNTING = ("[n]", "(n)", "n.")
LEAST_COUNTED, MISREAD = 6, 0.4
"""Numbers of a list that is told by them, at least; how many of its entries may have been missed."""
PROSE, DATED = 0.05, 450
"""Words of prose among all words there, at most; characters for each year, at most."""
AROUND = 12
"""Lines above and below a caption in which references begin, if it stands amid a list."""
OFTEN = 3
"""Times that a running head is printed, at least."""

RIGHTS = re.compile(r"(?:Copyright )?©")
_SERIES = pattern("<SERIES>", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")

Float = NDArray[np.float64]


def outside(page: Seen, starts: Float) -> NDArray[np.bool_]:
    """Return which units are outside of any list. starts : how likely each begins a reference."""
    above = np.concatenate([[0.0], np.cumsum(starts)])
    found = np.zeros(len(page.units), bool)
    found[tables(page)] = True
    found[addresses(page, starts.tolist())] = True
    least = max(LEAST_LIST, SHARE * above[-1])
    closed, cover, cited = False, -1, 0
    for i, (one, unit) in enumerate(zip(page.looks, page.units, strict=True)):
        if one.heading.startswith("references"):
            closed, cover = False, -1
        elif above[i] >= least and _ends_list(page, i):
            closed = True
        if "suggested" in one.flags and unit.page <= 2:
            cover, cited = i, unit.page
        found[i] |= closed or (0 <= i - cover <= COVER and cover >= 0 and unit.page == cited)
    for block in captions(page):
        if not _is_amid(starts, block):
            found[block] = True
    return found


def amid_lists(page: Seen, starts: Float) -> list[int]:
    """Return the units of captions and their figures that stand amid a list, perhaps amid a reference."""
    return [i for block in captions(page) if _is_amid(starts, block) for i in block]


def _is_amid(starts: Float, block: Sequence[int]) -> bool:
    """Do references begin above a block and below it? starts : how likely each unit begins one."""
    above, below = starts[max(block[0] - AROUND, 0) : block[0]], starts[block[-1] + 1 : block[-1] + 1 + AROUND]
    return bool(above.sum() > 1 and below.sum() > 1)


def running_heads(page: Seen, inside: Float) -> list[int]:
    """Return the units that are printed again and again, most often outside of lists. inside : how likely one is in."""
    places: dict[str, list[int]] = defaultdict(list)
    for i, (unit, one) in enumerate(zip(page.units, page.looks, strict=True)):
        if one.words > 2 and not unit.inner and len(unit.text) > 15:
            places[_DIGITS.sub("0", unit.text.lower())].append(i)
    often = [which for which in places.values() if len(which) >= OFTEN]
    return [i for which in often if 2 * sum(inside[i] < 0.2 for i in which) >= len(which) for i in which]


def rights(page: Seen) -> list[int]:
    """Return the units that say who has the rights in the page, and are no part of what is printed on it."""
    return [i for i, unit in enumerate(page.units) if not unit.inner and RIGHTS.match(unit.text)]


def holes(page: Seen, labels: Sequence[str], closed: NDArray[np.bool_]) -> list[int]:
    """Return the units that were read as text between references of one list, or on the page that a list goes on to.

    closed : no list is there.
    """
    found: list[int] = []
    hole: list[int] = []
    last = -1  # the reference above, if there is one
    for i, label in enumerate((*labels, "heading")):
        if label in ("ref", "ref-cont"):
            found += hole if last >= 0 and (_may_be_list(page, hole) or _is_counted(page, last, hole, i)) else []
            hole, last = [], i
        elif label == "heading" or closed[i]:
            found += _next_page(page, last, hole) if last >= 0 else []
            hole, last = [], -1
        elif label in ("text", "note"):
            hole.append(i)
    return found


def _is_counted(page: Seen, last: int, hole: Sequence[int], behind: int) -> bool:
    """Do the numbers of a list go on right behind a hole? Then the entry above has not ended before it."""
    one, chain = page.looks[behind], page.chains[behind]
    if chain is None or one.mark is None or one.mark[0] not in COUNTING or chain.up < 2:
        return False
    small = any(page.units[k].size < page.units[last].size - 0.3 for k in hole)  # a note at the foot
    return 0 < len(hole) < chain.gap <= APART and behind - chain.gap <= last and not small


def counted(page: Seen, labels: Sequence[str], closed: NDArray[np.bool_]) -> list[int]:
    """Return the units that have a number of a list, and were not read as the first line of a reference.

    Most lines with its numbers were. closed : no list is there.
    """
    root: list[int] = []
    members: dict[int, list[int]] = defaultdict(list)
    for i, (one, chain) in enumerate(zip(page.looks, page.chains, strict=True)):
        root.append(root[i - chain.gap] if chain is not None and 0 < chain.gap <= APART else i)
        if chain is not None and one.mark is not None and one.mark[0] in COUNTING and not closed[i]:
            members[root[i]].append(i)
    found: list[int] = []
    for which in members.values():
        others = [i for i in which if labels[i] != "ref"]
        if len(which) >= LEAST_COUNTED and len(others) <= MISREAD * len(which):
            found += others
    return found


def continued(page: Seen, between: Sequence[int]) -> list[int]:
    """Return the units that go on with a line above a break: a new page or column, or what stands between.

    They begin with a small letter, or the line above ends with a hyphen, a comma or an open word. between : units that
    belong to no list.
    """
    found, above, broken, skipped = [], -1, False, frozenset(between)
    for i, (unit, one, place) in enumerate(zip(page.units, page.looks, page.layouts, strict=True)):
        broken = broken or place.turn != ""
        if unit.hint == "page" or i in skipped:
            broken = True
            continue
        chain = page.chains[i]
        free = chain is None or chain.up + chain.down < 2
        if above >= 0 and broken and free and not unit.inner:
            end = page.looks[above].end
            small = (
                one.begin in ("lower", "in") and one.mark is None and not page.units[above].text.endswith((".", ":"))
            )
            found += [i] if end == "hyphen" or small or (end in ("comma", "open") and one.mark is None) else []
        above, broken = i, False
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
