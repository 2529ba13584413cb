"""Lists of references have years: lines that look like a list and have none are something else.

Output of programs, names in figures, verses and forms have short lines that begin alike. What tells them from a list is
seen in all of them together, and not in one: hardly any has a year or an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

__all__ = ["Listed", "headed", "is_dated", "runs_of", "undated"]

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
    dated = [is_dated(one.text) for one in listed]
    found: set[int] = set()
    for run in runs_of(labels, listed):
        first, behind = listed[run[0]].first, listed[run[-1]].behind
        if 2 * (behind - first) > len(labels) or 2 * sum(listed[k].noted for k in run) > len(run):
            continue
        few = sum(dated[k] for k in run) < LEAST_DATED * len(run)
        if headed(labels, listed[run[0]]):
            end = takewhile(lambda k: not dated[k] and listed[k].sure < DOUBTFUL, run[::-1])
            found.update(() if few else end)
            continue
        if few:
            found.update(run)
            continue
        for side in (run, run[::-1]):
            found.update(takewhile(lambda k: not dated[k] and listed[k].sure < UNSURE, side))
    return found


def is_dated(text: str) -> bool:
    """Has a text a year, or an address?"""
    return _DATE.search(text) is not None


def headed(labels: Sequence[str], one: Listed) -> bool:
    """Does a heading stand right above?"""
    return one.first > 0 and labels[one.first - 1] == "heading"


def runs_of(labels: Sequence[str], listed: Sequence[Listed]) -> Iterator[list[int]]:
    """Yield the numbers of those that follow each other, with running heads between at most."""
    run: list[int] = []
    for k, one in enumerate(listed):
        if run and any(label != "page" for label in labels[listed[k - 1].behind : one.first]):
            yield run
            run = []
        run.append(k)
    if run:
        yield run
