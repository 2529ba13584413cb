"""Labels and texts of the fields of a reference, and how mends change, join and cut them.

A mend is asked for where the labels give an occasion; texts are looked at only then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

__all__ = ["YEAR", "Labels", "Mend", "Mends", "Pairs", "all_of", "changed", "cut", "joined", "row_at", "row_of"]

Pairs = list[tuple[str, str]]
"""Labels and texts of fields, in order."""
Labels = tuple[str, ...]
Mend = Callable[[Pairs, Labels], "Pairs | None"]
"""Returns better pairs; None if there is nothing to mend."""
Mends = tuple[tuple[Callable[[Labels], bool], Mend], ...]
"""What the labels must be for each mend; texts are looked at only then."""

YEAR = r"(?:1[5-9]|20)[0-9]{2}[a-z]?"


def changed(pairs: Pairs, k: int, pair: tuple[str, str]) -> Pairs:
    """Return the pairs with another one in the place of k."""
    return [*pairs[:k], pair, *pairs[k + 1 :]]


def joined(pairs: Pairs, k: int, label: str) -> Pairs:
    """Return the pairs with k and the next as one."""
    return [*pairs[:k], (label, f"{pairs[k][1]} {pairs[k + 1][1]}"), *pairs[k + 2 :]]


def cut(pairs: Pairs, k: int, found: re.Match[str] | None, first: str, second: str) -> Pairs | None:
    """Return the pairs with k cut in two where something was found."""
    return [*pairs[:k], (first, found[1]), (second, found[2]), *pairs[k + 1 :]] if found else None


@lru_cache(maxsize=8192)  # a few sequences of labels make up nearly all references
def row_at(labels: Labels, *row: str) -> int:
    """Return where these labels stand one after the other, -1 if they do not."""
    n = len(row)
    return next((k for k in range(len(labels) - n + 1) if labels[k : k + n] == row), -1)


def row_of(*row: str, without: tuple[str, ...] = ()) -> Callable[[Labels], bool]:
    """Return whether labels have these, one after the other, and none of others."""
    return lambda labels: row_at(labels, *row) >= 0 and not any(label in labels for label in without)


def all_of(*needed: str, without: tuple[str, ...] = ()) -> Callable[[Labels], bool]:
    """Return whether labels have all of these and none of others."""
    return lambda labels: all(label in labels for label in needed) and not any(label in labels for label in without)
