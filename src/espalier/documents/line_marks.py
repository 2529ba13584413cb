"""Numbers that count up through a document: which marks belong to a list, and how long it is.

A list of references has its numbers near each other; headings of sections count up, too, but far from each other. So a
mark goes on with the latest mark of its style that has the number before it (or the one before that: numbers get lost)
and stands at most `REACH` units above.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["MarkChain", "chains"]

REACH = 40


class MarkChain(NamedTuple):
    """The place of a mark in the list it belongs to. up, down : marks before and after it; gap : units to the last."""

    up: int
    down: int
    gap: int


def chains(marks: Sequence[tuple[str, int] | None]) -> list[MarkChain | None]:
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


def _counted(marks: Sequence[tuple[str, int] | None], before: list[int], after: list[int]) -> list[MarkChain | None]:
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
