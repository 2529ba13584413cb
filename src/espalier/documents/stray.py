"""What looks like a reference and is none, by its place among the others: before a list, or behind its last number.

The first page of a paper says where it was printed (`Annals of Fruit 7 (2012), pp. 1-11`) and where its authors work, a
number before each. And a list in which every entry has a number ends with the last of them: a form, a declaration or
the same abstract in another language may follow without a heading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from espalier.documents.undated import Listed, headed, is_dated, runs_of

__all__ = ["stray"]

LEAST_LIST, LONG_LIST = 5, 10
"""References of a list that others are before: under a heading, and without one."""
APART, COVER = 2, 2
"""References that stand by themselves before it, at most, and the last page on which they are none."""
DOUBTFUL = 0.6
"""References before a list are none if each of them is less sure than this."""
MARKED = 0.8
"""The share of a list's entries that have marks of one kind, if such a mark begins every one."""
UNSURE, UNLIKE = 0.5, 0.7
"""What follows the last of them goes, if it is less sure than this; or than that, on another page or without a year."""

_PAGES = re.compile(
    r"\b(?:S|pp?|Rn|Bd|[Vv]ol|[Nn]o|[Nn]r)\. ?\d|\d[-–]\d|\b(?:ebd|ibid|op\. ?cit|a\. ?a\. ?O)", re.IGNORECASE
)


def stray(labels: Sequence[str], listed: Sequence[Listed]) -> set[int]:
    """Return the numbers of those that are no references. labels : of all units."""
    runs = list(runs_of(labels, listed))
    found: set[int] = set()
    for run in runs[: _main(labels, listed, runs)]:
        some = [listed[k] for k in run]
        if not headed(labels, some[0]) and (_is_apart(some) or _are_addresses(some)):
            found.update(run)
    for run in runs:
        found.update(_behind_marks(run, listed))
    return found


def _main(labels: Sequence[str], listed: Sequence[Listed], runs: Sequence[Sequence[int]]) -> int:
    """Return the number of the first run that is surely a list, 0 if there is none."""
    for number, run in enumerate(runs):
        if len(run) >= (LEAST_LIST if headed(labels, listed[run[0]]) else LONG_LIST):
            return number
    return 0


def _is_apart(run: Sequence[Listed]) -> bool:
    """Is none of these marked as a note or an entry, and are they few, on the first pages, or doubtful, anywhere?"""
    if any(one.style for one in run):
        return False
    return (len(run) <= APART and run[-1].page <= COVER) or all(one.sure < DOUBTFUL for one in run)


def _are_addresses(run: Sequence[Listed]) -> bool:
    """Are these notes that cite nothing: no year, no address, no page in any of them?"""
    return all(one.noted and not is_dated(one.text) and _PAGES.search(one.text) is None for one in run)


def _behind_marks(run: Sequence[int], listed: Sequence[Listed]) -> list[int]:
    """Return what follows the last entry with a mark, in a list where nearly all have one of its kind."""
    styles = Counter(listed[k].style for k in run)
    style, times = styles.most_common(1)[0]
    last = max(k for k in run if listed[k].style == style)
    if not style or times < LEAST_LIST or times < MARKED * (last - run[0] + 1):
        return []
    behind = [(k, listed[k]) for k in run if k > last]
    unlike = [k for k, one in behind if one.page > listed[last].page or not is_dated(one.text)]
    return [k for k, one in behind if one.sure < (UNLIKE if k in unlike else UNSURE)]
