"""Tag schemes of column files: IOB1, IOB2, IOBES, BILOU and plain labels, turned into segments.

    IOB1    B- only where a segment touches another of the same label; I- otherwise
    IOB2    B- at every start, I- inside
    IOBES   IOB2, with E- at the last token and S- for single tokens
    BILOU   the same, with L- for the last and U- for single tokens
    plain   labels without marks; a run of one label is one segment

Detection looks at all sequences together: no marks at all is plain; L- or U- is BILOU; E- or S- is IOBES;
B- and I- alone are IOB2 if they obey it, else IOB1. Whatever the marks, the tags must then obey the scheme.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from espalier.errors import InputError, did_you_mean
from espalier.tags import OUTSIDE, Segment

__all__ = ["SCHEMES", "Fault", "detect", "parse"]

SCHEMES = ("iob1", "iob2", "iobes", "bilou", "plain")

_MARKED = re.compile(r"([BIESLU])-(.+)", re.DOTALL)
_MARKS = {"iob1": "BI", "iob2": "BI", "iobes": "BIES", "bilou": "BILU"}
_LAST = {"E": "E", "L": "E", "S": "S", "U": "S"}

Tags = Sequence[str | None]


class Fault(NamedTuple):
    """Token t does not obey the scheme."""

    t: int
    what: str


def parse(tags: Tags, scheme: str) -> tuple[list[Segment], list[Fault]]:
    """Return the segments of one sequence and every place where it does not obey the scheme.

    A faulty sequence still has segments, as most tools read them: an inner mark with nothing to continue
    opens a segment, and a segment that is not closed ends where the next one starts. None is unknown.
    """
    if scheme not in SCHEMES:
        raise InputError(f"unknown scheme {scheme!r}{did_you_mean(scheme, SCHEMES)}; known: {', '.join(SCHEMES)}")
    return _runs(tags) if scheme == "plain" else _marked(tags, scheme)


def _runs(tags: Tags) -> tuple[list[Segment], list[Fault]]:
    found: list[Segment] = []
    for t, tag in enumerate(tags):
        if tag is None or tag == OUTSIDE:
            continue
        if found and found[-1].end == t and found[-1].label == tag:
            found[-1] = found[-1]._replace(end=t + 1)
        else:
            found.append(Segment(t, t + 1, tag))
    return found, []


def _marked(tags: Tags, scheme: str) -> tuple[list[Segment], list[Fault]]:
    found: list[Segment] = []
    faults: list[Fault] = []
    closes = scheme in ("iobes", "bilou")  # does the scheme mark last tokens?
    start, label = -1, ""  # the open segment; start -1 if there is none

    def close(end: int) -> None:
        nonlocal start
        if start >= 0:
            found.append(Segment(start, end, label))
            if closes:
                last = "E-" if scheme == "iobes" else "L-"
                faults.append(Fault(end - 1, f"{tags[end - 1]!r} should end the segment, with {last}{label}"))
        start = -1

    for t, tag in enumerate(tags):
        match = _MARKED.fullmatch(tag) if tag is not None else None
        if match is None or match[1] not in _MARKS[scheme]:
            close(t)
            if tag is not None and tag != OUTSIDE:
                faults.append(Fault(t, f"{tag!r} is not a tag of {scheme.upper()}"))
            continue
        mark, name = _LAST.get(match[1], match[1]), match[2]
        goes_on = start >= 0 and name == label and mark in "IE"
        if not goes_on:
            touches = start >= 0 and name == label
            close(t)
            if mark in "IE" and scheme != "iob1":
                faults.append(Fault(t, f"{tag!r} continues nothing"))
            if mark == "B" and scheme == "iob1" and not touches:
                faults.append(Fault(t, f"{tag!r} starts a segment that touches no other {name!r}, which IOB1 marks I-"))
            start, label = t, name
        if mark in "ES":
            found.append(Segment(start, t + 1, label))
            start = -1
    close(len(tags))
    return found, sorted(faults)


def detect(sequences: Sequence[Tags]) -> str:
    """Return the scheme of all sequences together; only the marks decide, `parse` then finds the faults."""
    seen = {tag for tags in sequences for tag in tags if tag is not None and tag != OUTSIDE}
    matches = [_MARKED.fullmatch(tag) for tag in seen]
    marks = {match[1] for match in matches if match is not None}
    if not marks:
        return "plain"
    if marks & {"L", "U"}:
        return "bilou"
    if marks & {"E", "S"}:
        return "iobes"
    faults = {scheme: sum(len(parse(tags, scheme)[1]) for tags in sequences) for scheme in ("iob2", "iob1")}
    return min(faults, key=lambda scheme: faults[scheme])
