"""Numbers that count up through a document: which marks belong to a list, and how long it is.

A list of references has its numbers near each other; headings of sections count up, too, but far from each other. So a
mark goes on with the latest mark of its style that has the number before it (or the one before that: numbers get lost)
and stands at most `REACH` units above.

A bare number may also be the first word of a title (`100 Years of Gardens`): it is a mark if it counts (`counting`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from espalier.documents.line_words import mark_of

__all__ = ["Mark", "MarkChain", "chains", "counting", "list_marks"]

REACH = 40
BARE = ("n", "n.")
"""Marks that may be words of a title."""
STEP = 10
"""From one bare number to the next, at most: some notes cite nothing."""
LEAST_COUNTED = 3
"""Bare numbers that count up, at least, unless they are half of a list."""

_NUMBER = re.compile(r"\s*(\d{1,3})(?=[ \t]{1,6}\S)")

Mark = tuple[str, int]


class MarkChain(NamedTuple):
    """The place of a mark in the list it belongs to. up, down : marks before and after it; gap : units to the last."""

    up: int
    down: int
    gap: int


def chains(marks: Sequence[Mark | None]) -> list[MarkChain | None]:
    """Return for each unit the chain of its mark, or None for units without a number."""
    n = len(marks)
    before, after = [-1] * n, [-1] * n
    latest: dict[tuple[str, int], int] = {}
    for i, mark in enumerate(marks):
        if mark is None or mark[1] < 0:
            continue
        style, number = mark
        for step in (1, 2):
            j = latest.get((style, number - step), -1)
            if 0 <= i - j <= REACH and j >= 0 and (after[j] < 0 or step == 1):
                if after[j] >= 0:
                    before[after[j]] = -1 if before[after[j]] == j else before[after[j]]
                before[i], after[j] = j, i
                break
        latest[style, number] = i
    return _counted(marks, before, after)


def _counted(marks: Sequence[Mark | None], before: list[int], after: list[int]) -> list[MarkChain | None]:
    n = len(marks)
    up, down = [0] * n, [0] * n
    for i in range(n):
        if before[i] >= 0:
            up[i] = up[before[i]] + 1
    for i in reversed(range(n)):
        if after[i] >= 0:
            down[i] = down[after[i]] + 1
    return [
        None if mark is None or mark[1] < 0 else MarkChain(up[i], down[i], i - before[i] if before[i] >= 0 else 0)
        for i, mark in enumerate(marks)
    ]


def counting(marks: Sequence[Mark | None]) -> list[bool]:
    """Return which of these are marks of a list; bare numbers are only if they count up, one after the other.

    marks : of all references, or of all lines that may begin one.
    """
    up = _longest(marks, 1)
    down = _longest(list(reversed(marks)), -1)[::-1]
    return [
        mark is not None and (mark[0] not in BARE or a + b - 1 >= LEAST_COUNTED or 2 * (a + b - 1) >= len(marks))
        for mark, a, b in zip(marks, up, down, strict=True)
    ]


def _longest(marks: Sequence[Mark | None], way: int) -> list[int]:
    """Return how many bare numbers count up to each, or down to it, the longest way."""
    best: dict[tuple[str, int], int] = {}
    found: list[int] = []
    for mark in marks:
        if mark is None or mark[0] not in BARE:
            found.append(0)
            continue
        style, number = mark
        found.append(1 + max(best.get((style, number - way * step), 0) for step in range(1, STEP + 1)))
        best[mark] = max(best.get(mark, 0), found[-1])
    return found


def list_marks(texts: Sequence[str]) -> list[tuple[Mark | None, int]]:
    """Return the mark of each text, and where it ends, by what the others say.

    Bare numbers that do not count are none, and one that is missing between two that do is a mark whatever follows it
    (`3 17 U.S.C. § 108`). texts : of all references, or of all lines that may begin one.
    """
    own = [mark_of(text) for text in texts]
    real = counting([mark for mark, _ in own])
    found = [one if counts else (None, 0) for one, counts in zip(own, real, strict=True)]
    following = [mark[1] if mark is not None and mark[0] == "n" else -1 for mark, _ in found]
    for i in reversed(range(len(found) - 1)):
        following[i] = following[i] if following[i] >= 0 else following[i + 1]
    last = -1
    for i, (mark, _) in enumerate(found):
        number = _NUMBER.match(texts[i]) if mark is None and last >= 0 else None
        if number and int(number[1]) == last + 1 and following[i] in (-1, last + 2):
            mark = ("n", last + 1)
            found[i] = mark, number.end()
        last = mark[1] if mark is not None and mark[0] == "n" else last
    return found
