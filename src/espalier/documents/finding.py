"""`find_references`: the references of a document, each as one text with its place, and what was left out.

The model of lines says where each begins and ends. Its lines are joined: words broken by a hyphen become whole, running
heads between them are left out. A dash for the author of the entry before is filled in, and said so. How sure a cut is
stands beside it, calibrated on documents that the model has not seen; a list that was not found is an empty result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from espalier.documents.joining import join_lines, known_words
from espalier.documents.line_model import LineModel, LineReading, bundled
from espalier.documents.line_units import Unit
from espalier.documents.line_words import mark_of, pattern
from espalier.documents.lines import Box, PrintedText, TextLine

__all__ = ["Dropped", "Findings", "FoundReference", "fill_in", "find_references", "findings_of", "without_lead"]

LONGEST_FOUND = 6000  # characters; what is longer is no reference
SHORTEST_FOUND = 12

_LEAD = pattern(r"<LEAD>(?:<LEAD>)?(?=[^\W_a-z]|[\"“„«])")
_DASH = re.compile(r"(?:[—–―]{1,6}|[-_−]{2,12}|[-–—](?:\s[-–—]){1,3})(?=[\s.,:;(])")
_AUTHOR_END = re.compile(r"\s*[(:]?\s*(?<!\d)(?:1[5-9]|20)\d\d|[.:]\s|\s\(|,\s(?=[\"“„«])")


@dataclass(frozen=True, slots=True)
class FoundReference:
    """One reference of a document.

    text : its lines joined, without its mark; mark : what stood before it (`[3]`, a bullet);
    lead : words of a note before the work (`Vgl. auch`); filled : what a dash at
    its beginning stands for, else nothing; line, page : where it begins, from 1; box : around it, on the page where it
    begins; start, end : its first character, and the one behind its last, in the text of the document; lines : the
    numbers of its lines, from 1; confidence : that it is one reference and whole."""

    text: str
    line: int
    page: int
    box: Box | None
    start: int
    end: int
    lines: tuple[int, ...]
    confidence: float
    mark: str = ""
    lead: str = ""
    filled: str = ""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A part of the text that is no reference. kind : "heading", "page", "note" or "text"; start, end : in the text."""

    kind: str
    text: str
    line: int
    start: int
    end: int


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


def findings_of(printed: PrintedText, reading: LineReading, model: LineModel) -> Findings:
    """Return what labels of lines say, as references and as parts that are none."""
    found: list[FoundReference] = []
    dropped: list[Dropped] = []
    words = known_words(printed.lines) if "ref" in reading.labels else frozenset()
    i, n = 0, len(reading.units)
    while i < n:
        if reading.labels[i] != "ref":
            dropped.append(_dropped(printed, reading, i))
            i += 1
            continue
        members, j = _members(reading, i)
        one = _found(printed, reading, members, j, model, words)
        if one is None:
            dropped += [_dropped(printed, reading, k, "text") for k in range(i, j)]
        else:
            found.append(one)
            dropped += [_dropped(printed, reading, k) for k in range(i, j) if k not in set(members)]
        i = j
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
    label = reading.labels[k]
    return Dropped(
        kind or ("text" if label == "ref-cont" else label), reading.units[k].text, reading.units[k].line + 1, start, end
    )


def _found(
    printed: PrintedText, reading: LineReading, members: Sequence[int], j: int, model: LineModel, words: frozenset[str]
) -> FoundReference | None:
    units = [reading.units[k] for k in members]
    text = join_lines(_whole_lines(units), words).text
    if not SHORTEST_FOUND <= len(text) <= LONGEST_FOUND:
        return None
    mark, after = mark_of(text)
    p = reading.sure(members[0], j)
    first = printed.lines[units[0].line]
    start, end = _place(printed, reading, members[0])[0], _place(printed, reading, members[-1])[1]
    lines = tuple(dict.fromkeys(unit.line + 1 for unit in units))
    box = _around([printed.lines[k - 1] for k in lines], first.page)
    sure, written = model.calibrated(p), text[:after].strip() if mark else ""
    whole, line = text[after:].strip(), units[0].line + 1
    lead, whole = without_lead(whole)
    return FoundReference(whole, line, first.page, box, start, end, lines, sure, written, lead)


def without_lead(text: str) -> tuple[str, str]:
    """Return the words that lead to a work in a note (`Vgl. auch`), and the rest."""
    lead = _LEAD.match(text)
    return (lead[0].strip(), text[lead.end() :]) if lead else ("", text)


def _whole_lines(units: Sequence[Unit]) -> list[TextLine]:
    """Return the lines of units; parts of one line are one again."""
    found: list[TextLine] = []
    for before, unit in zip([None, *units[:-1]], units, strict=True):
        if before is not None and before.line == unit.line:
            found[-1] = TextLine(f"{found[-1].text} {unit.text}")
        else:
            found.append(TextLine(unit.text))
    return found


def _around(lines: Sequence[TextLine], page: int) -> Box | None:
    boxes = [line.box for line in lines if line.box is not None and line.page == page]
    if not boxes:
        return None
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return Box(min(x0), min(y0), max(x1), max(y1))


def fill_in(found: Sequence[FoundReference]) -> list[FoundReference]:
    """Fill in the authors of the entry before where there is a dash for them."""
    filled: list[FoundReference] = []
    names = ""
    for one in found:
        dash = _DASH.match(one.text)
        if dash and names:
            rest = one.text[dash.end() :]
            rest = rest[1:] if names.endswith(".") and rest.startswith(".") else rest
            one = replace(one, text=names + rest, filled=names)
        else:
            end = _AUTHOR_END.search(one.text)
            names = one.text[: end.start()].rstrip(" ,.") if end and end.start() < 120 else ""
            names += "." if names and re.search(r"(?<!\w)\w$", names) else ""
        filled.append(one)
    return filled
