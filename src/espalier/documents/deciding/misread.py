"""What was misread in a list, by what stands around it: a hole between references, a number, a running head.

A line that comes again and again, and outside of any list, is a running head inside one, too. What stands between
two references of a list, or on the page behind its last one, without a heading and unlike prose, is most likely more
of them. And a number that counts up among others that begin references begins one.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from espalier.documents.deciding.features import Seen

__all__ = ["counted", "holes", "running_heads"]

LONGEST_HOLE = 60
"""Lines of text between two references of one list that may be references, too."""
APART = 12
"""Lines from one number of a list to the next, at most."""
COUNTING = ("[n]", "(n)", "n.")
LEAST_COUNTED, MISREAD = 6, 0.4
"""Numbers of a list that is told by them, at least; how many of its entries may have been missed."""
PROSE, DATED = 0.05, 450
"""Words of prose among all words there, at most; characters for each year, at most."""
OFTEN = 3
"""Times that a running head is printed, at least."""

_DIGITS = re.compile(r"\d+")

Float = NDArray[np.float64]


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
