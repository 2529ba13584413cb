"""`find_references`: the references of a document, each as one text with its place, and what was left out.

The model of lines says where each begins and ends. Its lines are joined: words broken by a hyphen become whole, running
heads between them are left out. A dash for the author of the entry before is filled in, and said so. How sure a cut is
stands beside it, calibrated on documents that the model has not seen; a list that was not found is an empty result.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from espalier.citations.splitting import Reference
from espalier.documents import pace
from espalier.documents.cutting.filling import fill_in
from espalier.documents.cutting.joining import known_words
from espalier.documents.cutting.regrouping import Group, joined_units, second_look, without_lead
from espalier.documents.deciding.marks import Mark, list_marks
from espalier.documents.deciding.model import LineModel, LineReading, bundled
from espalier.documents.line_words import mark_of, pattern
from espalier.documents.lines import Box, PrintedText, TextLine

__all__ = ["Dropped", "Findings", "FoundReference", "find_references", "findings_of", "without_lead"]

LONGEST_FOUND = 6000  # characters; what is longer is no reference
SHORTEST_FOUND = 12
LONG = 20  # lines of a document that is more than its list, at least

_LEAD_BEHIND = pattern(r"(?<=;)\s+(?:(?:and|und)\s|<LEAD>){1,2}\Z")  # to a work on the next line, or to the next one
_DIGITS = re.compile(r"\d+")
_NOTES = ("n", "n^")  # marks of notes


@dataclass(frozen=True, slots=True)
class FoundReference(Reference):
    """One reference of a document, with its place in the document's text.

    text : its lines joined, without its mark if the model of lines found it; mark : what stood before it (`[3]`, a
    bullet); page : where it begins, from 1; box : around it, on that page; start, end : its first character, and the
    one behind its last, in the text of the document; lines : the numbers of its lines, from 1.
    """

    page: int = 1
    box: Box | None = None
    start: int = 0
    end: int = 0
    lines: tuple[int, ...] = ()
    mark: str = ""

    @property
    def where(self) -> str:
        """Where it begins, in words."""
        return f"page {self.page}"

    def place(self) -> dict[str, Any]:
        """Return where it was found, as JSON values.

        page, line : from 1; start, end : in the text of the document; box : left, top, right and bottom edge in points,
        of files that have places; confidence : that it is one whole reference; mark : what stood before it, such as
        `[3]`; filled : the names that a dash at its beginning stands for. What there is not is left out.
        """
        place: dict[str, Any] = {"page": self.page, "line": self.line, "start": self.start, "end": self.end}
        if self.box is not None:
            place["box"] = [round(edge, 1) for edge in self.box]
        place["confidence"] = round(self.confidence, 4)
        return place | {name: value for name in ("mark", "filled") if (value := getattr(self, name))}


@dataclass(frozen=True, slots=True)
class Dropped:
    """A part of the text that is no reference.

    kind : "heading", "page", "note" or "text"; line, page : from 1; start, end : in the text.
    """

    kind: str
    text: str
    line: int
    start: int
    end: int
    page: int = 1


@dataclass(frozen=True)
class Findings:
    """The references of a document, and the rest. confidence : that all of them are right; 1 if there are none."""

    references: tuple[FoundReference, ...] = ()
    dropped: tuple[Dropped, ...] = field(default=())

    @property
    def confidence(self) -> float:
        """The mean confidence of the references."""
        return sum(one.confidence for one in self.references) / len(self.references) if self.references else 1.0

    @property
    def doubtful(self) -> tuple[FoundReference, ...]:
        """The references whose cut is unsure."""
        return tuple(one for one in self.references if one.confidence < 0.5)

    @property
    def left_out(self) -> tuple[Dropped, ...]:
        """The parts of a list that are no references, but for headings, page numbers and heads that come again.

        A document that is much more than its list has none: most of it was never meant to be a reference.
        """
        parts = sorted((part for part in self.dropped if part.kind != "heading"), key=lambda part: part.start)
        length = sum(len(part.text) for part in parts)
        if len(parts) > LONG and length > sum(one.end - one.start for one in self.references):
            return ()
        faces = [_DIGITS.sub("0", part.text) if part.kind == "page" else "" for part in parts]
        times = Counter(faces)
        return tuple(
            part for part, face in zip(parts, faces, strict=True) if not face or (times[face] == 1 and face != "0")
        )


def find_references(source: PrintedText | Sequence[TextLine], model: LineModel | None = None) -> Findings:
    """Return the references of a document.

    Parameters
    ----------
    source : the lines of a document, as `read_document` gives them.
    model : of lines; None takes the bundled one.

    Returns
    -------
    Findings : empty if there is no list.
    """
    printed = source if isinstance(source, PrintedText) else PrintedText.of(source)
    model = bundled() if model is None else model
    reading = model.read(printed.lines)
    return findings_of(printed, reading, model)


def findings_of(
    printed: PrintedText, reading: LineReading, model: LineModel, entries: frozenset[int] = frozenset()
) -> Findings:
    """Return what labels of lines say, as references and as parts that are none.

    entries : units that begin entries of a list by their marks, whatever they say; see `entries`.
    """
    groups: list[Group] = []
    dropped: list[Dropped] = []
    i, n = 0, len(reading.units)
    while i < n:
        pace.look()
        if reading.labels[i] != "ref":
            dropped.append(_dropped(printed, reading, i))
            i += 1
            continue
        members, j = _members(reading, i)
        units = tuple(reading.units[k] for k in members)
        length = sum(len(unit.text) + 1 for unit in units)
        if (i in entries or length >= SHORTEST_FOUND) and length <= LONGEST_FOUND:
            groups.append(Group(units, model.calibrated(reading.sure(members[0], j))))
            dropped += [_dropped(printed, reading, k) for k in range(i, j) if k not in set(members)]
        else:
            dropped += [_dropped(printed, reading, k, "text") for k in range(i, j)]
        i = j
    words = known_words(printed.lines) if groups else frozenset()
    groups = second_look(printed, groups, words)
    marks = list_marks([group.units[0].text for group in groups])
    found = [_found(printed, group, words, mark) for group, mark in zip(groups, marks, strict=True)]
    return Findings(tuple(fill_in(found)), tuple(dropped))


def _members(reading: LineReading, i: int) -> tuple[list[int], int]:
    """Return the units of the reference that begins at i, without running heads, and where the next thing begins."""
    members, j = [i], i + 1
    for k in range(i + 1, len(reading.labels)):
        label = reading.labels[k]
        if label == "ref-cont":
            members.append(k)
            j = k + 1
        elif label not in ("page", "note"):
            break
    return members, j


def _place(printed: PrintedText, reading: LineReading, k: int) -> tuple[int, int]:
    unit = reading.units[k]
    start = printed.lines[unit.line].start
    return start + unit.start, start + unit.end


def _dropped(printed: PrintedText, reading: LineReading, k: int, kind: str = "") -> Dropped:
    start, end = _place(printed, reading, k)
    unit, label = reading.units[k], reading.labels[k]
    kind = kind or ("text" if label == "ref-cont" else label)
    return Dropped(kind, unit.text, unit.line + 1, start, end, unit.page)


def _found(
    printed: PrintedText, group: Group, words: frozenset[str], marked: tuple[Mark | None, int]
) -> FoundReference:
    joined = joined_units(printed, group.units, words)
    first, last = group.units[0], group.units[-1]
    start, end = printed.lines[first.line].start + first.start, printed.lines[last.line].start + last.end
    text = _LEAD_BEHIND.sub("", f"{joined.text} ").rstrip()
    if len(text) < len(joined.text):
        end = joined.span(0, len(text))[1]
    mark, after = mark_of(text) if first.hint == "note" else marked
    lines = tuple(dict.fromkeys(unit.line + 1 for unit in group.units))
    page = printed.lines[first.line].page
    box = _around([printed.lines[k - 1] for k in lines], page)
    written = text[:after].strip() if mark else ""
    lead, whole = without_lead(text[after:].strip(), note=mark is not None and mark[0] in _NOTES)
    return FoundReference(
        whole, line=first.line + 1, offset=first.start, confidence=group.sure, lead=lead, page=page, box=box,
        start=start, end=end, lines=lines, mark=written,
    )  # fmt: skip


def _around(lines: Sequence[TextLine], page: int) -> Box | None:
    boxes = [line.box for line in lines if line.box is not None and line.page == page]
    if not boxes:
        return None
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return Box(min(x0), min(y0), max(x1), max(y1))
