"""What looks like a reference and is none, by what stands around it: a list has years, a beginning and an end.

Output of programs, names in figures, verses and forms have short lines that begin alike. What tells them from a list is
seen in all of them together, and not in one: hardly any has a year or an address (`undated`).

The first page of a paper says where it was printed (`Annals of Fruit 7 (2012), pp. 1-11`) and where its authors work, a
number before each. And a list in which every entry has a number ends with the last of them: a form, a declaration or
the same abstract in another language may follow without a heading (`stray`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

__all__ = ["Listed", "stray", "undated"]

LEAST_DATED = 1 / 3
"""The share of references with a year or an address, below which a run of them is no list."""
UNSURE = 0.6
"""A first or last reference that has neither goes, if it is less sure than this."""
DOUBTFUL = 0.5
"""The same for the last ones under a heading."""

_DATE = re.compile(
    r"(?<!\d)(?:1[4-9]|20)\d\d(?!\d)|\bforthcoming|\bin press|\bim Erscheinen|\bim Druck|\bn\. ?d\.|\bo\. ?J\."
    r"|\barXiv\b|https?:|www\.|\bdoi\b|\b[a-z]{2,6}(?:-[a-z]{2,4})?/\d{7}",
    re.IGNORECASE,
)


class Listed(NamedTuple):
    """What may be a reference: its first unit and the one behind its last, its text, is it a note, how sure is it?

    style : of its mark, or nothing; page : where it begins.
    """

    first: int
    behind: int
    text: str
    noted: bool
    sure: float
    style: str = ""
    page: int = 1


def undated(labels: Sequence[str], listed: Sequence[Listed]) -> set[int]:
    """Return the numbers of those that are no references, by what stands around them.

    labels : of all units. What is more than half of a text is a list whatever it says, and so is what stands under a
    heading, but for what is doubtful at its end. A note may name a work that was dated before.
    """
    dated = [_is_dated(one.text) for one in listed]
    found: set[int] = set()
    for run in _runs_of(labels, listed):
        first, behind = listed[run[0]].first, listed[run[-1]].behind
        if 2 * (behind - first) > len(labels) or 2 * sum(listed[k].noted for k in run) > len(run):
            continue
        few = sum(dated[k] for k in run) < LEAST_DATED * len(run)
        if _headed(labels, listed[run[0]]):
            end = takewhile(lambda k: not dated[k] and listed[k].sure < DOUBTFUL, run[::-1])
            found.update(() if few else end)
            continue
        if few:
            found.update(run)
            continue
        for side in (run, run[::-1]):
            found.update(takewhile(lambda k: not dated[k] and listed[k].sure < UNSURE, side))
    return found


def _is_dated(text: str) -> bool:
    """Has a text a year, or an address?"""
    return _DATE.search(text) is not None


def _headed(labels: Sequence[str], one: Listed) -> bool:
    """Does a heading stand right above?"""
    return one.first > 0 and labels[one.first - 1] == "heading"


def _runs_of(labels: Sequence[str], listed: Sequence[Listed]) -> Iterator[list[int]]:
    """Yield the numbers of those that follow each other, with running heads between at most."""
    run: list[int] = []
    for k, one in enumerate(listed):
        if run and any(label != "page" for label in labels[listed[k - 1].behind : one.first]):
            yield run
            run = []
        run.append(k)
    if run:
        yield run


# Before a list, and behind its last number.

LEAST_LIST, LONG_LIST = 5, 10
"""References of a list that others are before: under a heading, and without one."""
APART, COVER = 2, 2
"""References that stand by themselves before it, at most, and the last page on which they are none."""
EACH_DOUBTFUL = 0.6
"""References before a list are none if each of them is less sure than this."""
MARKED = 0.8
"""The share of a list's entries that have marks of one kind, if such a mark begins every one."""
UNSURE_BEHIND, UNLIKE = 0.5, 0.7
"""What follows the last of them goes, if it is less sure than this; or than that, on another page or without a year."""

_PAGES = re.compile(
    r"\b(?:S|pp?|Rn|Bd|[Vv]ol|[Nn]o|[Nn]r)\. ?\d|\d[-–]\d|\b(?:ebd|ibid|op\. ?cit|a\. ?a\. ?O)", re.IGNORECASE
)


def stray(labels: Sequence[str], listed: Sequence[Listed]) -> set[int]:
    """Return the numbers of those that are no references. labels : of all units."""
    runs = list(_runs_of(labels, listed))
    found: set[int] = set()
    for run in runs[: _main(labels, listed, runs)]:
        some = [listed[k] for k in run]
        if not _headed(labels, some[0]) and (_is_apart(some) or _are_addresses(some)):
            found.update(run)
    for run in runs:
        found.update(_behind_marks(run, listed))
    return found


def _main(labels: Sequence[str], listed: Sequence[Listed], runs: Sequence[Sequence[int]]) -> int:
    """Return the number of the first run that is surely a list, 0 if there is none."""
    for number, run in enumerate(runs):
        if len(run) >= (LEAST_LIST if _headed(labels, listed[run[0]]) else LONG_LIST):
            return number
    return 0


def _is_apart(run: Sequence[Listed]) -> bool:
    """Is none of these marked as a note or an entry, and are they few, on the first pages, or doubtful, anywhere?"""
    if any(one.style for one in run):
        return False
    return (len(run) <= APART and run[-1].page <= COVER) or all(one.sure < EACH_DOUBTFUL for one in run)


def _are_addresses(run: Sequence[Listed]) -> bool:
    """Are these notes that cite nothing: no year, no address, no page in any of them?"""
    return all(one.noted and not _is_dated(one.text) and _PAGES.search(one.text) is None for one in run)


def _behind_marks(run: Sequence[int], listed: Sequence[Listed]) -> list[int]:
    """Return what follows the last entry with a mark, in a list where nearly all have one of its kind."""
    styles = Counter(listed[k].style for k in run)
    style, times = styles.most_common(1)[0]
    last = max(k for k in run if listed[k].style == style)
    if not style or times < LEAST_LIST or times < MARKED * (last - run[0] + 1):
        return []
    behind = [(k, listed[k]) for k in run if k > last]
    unlike = [k for k, one in behind if one.page > listed[last].page or not _is_dated(one.text)]
    return [k for k, one in behind if one.sure < (UNLIKE if k in unlike else UNSURE_BEHIND)]
