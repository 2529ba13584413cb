"""`find_references`: the references of a document, each as one text with its place, and what was left out.

The model of lines says where each begins and ends. Its lines are joined: words broken by a hyphen become whole, running
heads between them are left out. A dash for the author of the entry before is filled in, and said so. How sure a cut is
stands beside it, calibrated on documents that the model has not seen; a list that was not found is an empty result.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from espalier.documents.filling import DASH, fill_in
from espalier.documents.joining import JoinedText, join_lines, known_words
from espalier.documents.line_model import LineModel, LineReading, bundled
from espalier.documents.line_units import Unit
from espalier.documents.line_words import mark_of, pattern
from espalier.documents.lines import Box, PrintedText, TextLine
from espalier.documents.recutting import (
    ends_of_rests,
    is_address,
    is_rest,
    may_be_rest,
    may_be_two,
    read_fields,
    second_works,
    semicolon_pieces,
    works_behind_semicolons,
)
from espalier.documents.undated import Listed, undated

__all__ = ["Dropped", "Findings", "FoundReference", "find_references", "findings_of", "without_lead"]

LONGEST_FOUND = 6000  # characters; what is longer is no reference
SHORTEST_FOUND = 12
LONGEST_LIFE = 200  # characters at the beginning of a life of an author that say so
SURE_OF_SECOND = 0.9  # where names were read inside a reference, and it was cut there

_LEAD = pattern(r"<LEAD>(?:<LEAD>)?(?=[^\W_a-z]|[\"“„«]|(?:(?:<particles>) ){1,2}<C>)")
_LEAD_BEHIND = pattern(r"(?<=;)\s+<LEAD>{1,2}\Z")  # to a work on the next line
_PHRASE = pattern(r"<PHRASE>(?=<P><W>[ ,.:]|<C>\.|[\"“„«‘'])")
_LIFE = re.compile(
    r"\breceived (?:the|his|her|an?) .{0,60}\bdegrees?\b|\b(?:was born|wurde .{0,40}geboren)\b"
    r"|\bis (?:currently |now )?(?:an? |the )?(?:\w+ )?(?:professor|lecturer|researcher|fellow)\b"
)
_LEADERS = re.compile(r"\.{6,}|(?:\s\.){5,}")
_SHORT_CITE = pattern(
    r"(?:\d{1,3}\s?)?(?:<LEAD>){0,2}<P><W>(?:(?:,| (?:and|und|&)|/) ?<P><W>){0,2}(?: et al\.?| u\. ?a\.)?,? "
    r"\(?<YEAR>[a-z]?\)?"
    r"(?:[:,] ?(?:S\.|pp?\.)? ?\d{1,4}(?:[-–]\d{1,4})?(?: ff?\.)?)?[.)]{0,2}\Z"
)
_NOTES = ("n", "n^")  # marks of notes


@dataclass(frozen=True, slots=True)
class FoundReference:
    """One reference of a document.

    text : its lines joined, without its mark; mark : what stood before it (`[3]`, a bullet); lead : words of a note
    before the work (`Vgl. auch`); filled : what a dash at its beginning stands for, else nothing; line, page : where it
    begins, from 1; box : around it, on the page where it begins; start, end : its first character, and the one behind
    its last, in the text of the document; lines : the numbers of its lines, from 1; confidence : that it is one
    reference and whole.
    """

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
    groups: list[_Group] = []
    listed: list[Listed] = []
    dropped: list[Dropped] = []
    noted = _has_notes(reading)
    i, n = 0, len(reading.units)
    while i < n:
        if reading.labels[i] != "ref":
            dropped.append(_dropped(printed, reading, i))
            i += 1
            continue
        members, j = _members(reading, i)
        units = tuple(reading.units[k] for k in members)
        length = sum(len(unit.text) + 1 for unit in units)
        if SHORTEST_FOUND <= length <= LONGEST_FOUND and not _is_remark(units, noted) and not _is_none(units):
            groups.append(_Group(units, model.calibrated(reading.sure(members[0], j))))
            listed.append(Listed(i, j, " ".join(unit.text for unit in units), _is_note(units), groups[-1].sure))
            dropped += [_dropped(printed, reading, k) for k in range(i, j) if k not in set(members)]
        else:
            dropped += [_dropped(printed, reading, k, "text") for k in range(i, j)]
        i = j
    none = undated(reading.labels, listed)
    for one in sorted(none):
        dropped += [_dropped(printed, reading, k, "text") for k in range(listed[one].first, listed[one].behind)]
    groups = [group for k, group in enumerate(groups) if k not in none]
    words = known_words(printed.lines) if groups else frozenset()
    found = [_found(printed, group, words) for group in _second_look(printed, groups, words)]
    return Findings(tuple(fill_in(found)), tuple(dropped))


class _Group(NamedTuple):
    """The units of a reference, and how sure it is that they are one and whole."""

    units: tuple[Unit, ...]
    sure: float


def _has_notes(reading: LineReading) -> bool:
    """Does text stand between references again and again, as in a document with notes?"""
    told = [label for label in reading.labels if label in ("text", "ref")]
    return sum(pair == ("text", "ref") for pair in pairwise(told)) > 1


def _is_remark(units: Sequence[Unit], noted: bool) -> bool:
    """Is this a note without any work: no figure stands in it but its number?

    noted : the document has notes; without any, only words that lead to a work tell a note from an entry of a list.
    """
    _, after = mark_of(units[0].text)
    first = units[0].text[after:].lstrip()
    told = _is_note(units) and (noted or _LEAD.match(first) is not None)
    return told and not any(c.isdigit() for text in (first, *(unit.text for unit in units[1:])) for c in text)


def _is_note(units: Sequence[Unit]) -> bool:
    """Does this begin with the mark of a note?"""
    mark, _ = mark_of(units[0].text)
    return mark is not None and mark[0] in _NOTES


def _is_none(units: Sequence[Unit]) -> bool:
    """Is this no reference whatever its place says: figures, a line of contents, a short citation, a life?"""
    text = " ".join(unit.text for unit in units)
    letters = sum(c.isalpha() for c in text)
    figures = 4 * letters < len(text.replace(" ", "")) and not DASH.match(text)  # a dash stands for letters
    return figures or bool(_LEADERS.search(text) or _SHORT_CITE.match(text) or _LIFE.search(text[:LONGEST_LIFE]))


def _second_look(printed: PrintedText, groups: list[_Group], words: frozenset[str]) -> list[_Group]:
    """Cut groups that hold two works, and put together what was cut inside a line and is no reference."""
    groups = _at_semicolons(printed, _without_semicolons(groups), words)
    joined = [_joined(printed, group.units, words) for group in groups]
    starts = [_line_starts(printed, group, one) for group, one in zip(groups, joined, strict=True)]
    doubtful = [k for k, one in enumerate(joined) if may_be_two(one.text, starts[k])]
    fields = dict(zip(doubtful, read_fields([joined[k].text for k in doubtful]), strict=True))
    found: list[_Group] = []
    for k, group in enumerate(groups):
        places = second_works(joined[k].text, fields[k], starts[k]) if k in fields else []
        found += _cut_at(printed, group, [joined[k].offset(place) for place in places])
    run_together = sum(group.units[0].inner for group in found)
    return _put_together(printed, found, words, everywhere=2 * run_together > len(found))


def _at_semicolons(printed: PrintedText, groups: Sequence[_Group], words: frozenset[str]) -> list[_Group]:
    """Cut groups at semicolons between works that are whole, each read by itself."""
    joined = [_joined(printed, group.units, words) for group in groups]
    spans = [semicolon_pieces(one.text) for one in joined]
    alone = [without_lead(one.text[a:b])[1] for one, some in zip(joined, spans, strict=True) for a, b in some]
    fields = iter(read_fields(alone))
    found: list[_Group] = []
    for group, one, some in zip(groups, joined, spans, strict=True):
        places = works_behind_semicolons(one.text, some, [next(fields) for _ in some])
        found += _cut_at(printed, group, [one.offset(place) for place in places]) if places else [group]
    return found


def _without_semicolons(groups: Sequence[_Group]) -> list[_Group]:
    """Join what was cut behind a semicolon and has no figure before it: names have semicolons, too."""
    found: list[_Group] = []
    for group in groups:
        if found and _are_names(found[-1]) and _follows(found[-1], group):
            found[-1] = _Group((*found[-1].units, *group.units), min(found[-1].sure, group.sure))
        else:
            found.append(group)
    return found


def _are_names(group: _Group) -> bool:
    """Does a group end with a semicolon, and is there no figure in it but its mark?"""
    if not group.units[-1].text.endswith(";"):
        return False
    first, *rest = (unit.text for unit in group.units)
    return not any(c.isdigit() for text in (first[mark_of(first)[1] :], *rest) for c in text)


def _line_starts(printed: PrintedText, group: _Group, joined: JoinedText) -> frozenset[int]:
    """Return where lines begin in the text of a group, but for the first."""
    starts = {printed.lines[unit.line].start + unit.start for unit in group.units[1:] if not unit.inner}
    return frozenset(here for here, there in joined.pieces if there in starts)


def _cut_at(printed: PrintedText, group: _Group, places: Sequence[int]) -> list[_Group]:
    """Return a group cut where further works begin, at characters of the document."""
    parts: list[list[Unit]] = [[]]
    waiting = list(places)
    for unit in group.units:
        start = printed.lines[unit.line].start
        while waiting and waiting[0] < start + unit.end:
            at = max(waiting.pop(0) - start, unit.start)
            before, unit = _halves(unit, at)
            parts[-1] += [before] if before.text else []
            parts.append([])
        parts[-1].append(unit)
    kept = [tuple(part) for part in parts if part]
    return [group] if len(kept) == 1 else [_Group(part, min(group.sure, SURE_OF_SECOND)) for part in kept]


def _halves(unit: Unit, at: int) -> tuple[Unit, Unit]:
    """Return the two parts of a unit. at : in the text of its line."""
    text = unit.text[: at - unit.start].rstrip()
    before = unit._replace(text=text, end=unit.start + len(text))
    return before, unit._replace(text=unit.text[at - unit.start :], start=at, inner=at > unit.start or unit.inner)


def _put_together(
    printed: PrintedText, groups: list[_Group], words: frozenset[str], *, everywhere: bool
) -> list[_Group]:
    """Join names that were cut off their work, and ends of references that were cut off theirs.

    everywhere : all stands in one line, and every part may be one; else only what has no year.
    """
    texts = [_joined(printed, group.units, words).text for group in groups]
    chosen = [k for k, text in enumerate(texts) if everywhere or may_be_rest(text)]
    fields = dict(zip(chosen, read_fields([texts[k] for k in chosen]), strict=True))
    ends = ends_of_rests(texts) if everywhere else []
    found: list[_Group] = []
    waiting: _Group | None = None
    for k, group in enumerate(groups):
        near = k + 1 < len(groups) and groups[k + 1].units[0].inner
        marked = mark_of(group.units[0].text)[0] is not None  # a number belongs to what follows it
        if everywhere and found and waiting is None and group.units[0].inner and not marked:
            end = ends[k]
            joined = _joined(printed, group.units, words)
            head, *rest = _cut_at(printed, group, [joined.offset(end)]) if end else [group]
            if rest:
                found[-1] = _Group((*found[-1].units, *head.units), min(found[-1].sure, head.sure))
                group = rest[0]
        if waiting is not None:
            group, waiting = _Group((*waiting.units, *group.units), min(waiting.sure, group.sure)), None
        elif k in fields and near and is_rest(fields[k], of_next=True):
            waiting = group
            continue
        elif (
            k in fields and found and _follows(found[-1], group) and is_rest(fields[k], of_next=False)
            and not is_address(texts[k - 1])
        ):  # fmt: skip
            found[-1] = _Group((*found[-1].units, *group.units), min(found[-1].sure, group.sure))
            continue
        found.append(group)
    return found


def _follows(before: _Group, group: _Group) -> bool:
    """Does a group go on where another ends, or on the next line?"""
    return group.units[0].line - before.units[-1].line <= 1 and mark_of(group.units[0].text)[0] is None


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


def _joined(printed: PrintedText, units: Sequence[Unit], words: frozenset[str]) -> JoinedText:
    """Return the text of units, which knows where it stands in the document."""
    found: list[TextLine] = []
    last = -1
    for unit in units:
        if last == unit.line:  # parts of one line are one again
            found[-1] = replace(found[-1], text=f"{found[-1].text} {unit.text}")
        else:
            found.append(TextLine(unit.text, start=printed.lines[unit.line].start + unit.start))
        last = unit.line
    return join_lines(found, words)


def _found(printed: PrintedText, group: _Group, words: frozenset[str]) -> FoundReference:
    joined = _joined(printed, group.units, words)
    first, last = group.units[0], group.units[-1]
    start, end = printed.lines[first.line].start + first.start, printed.lines[last.line].start + last.end
    text = _LEAD_BEHIND.sub("", f"{joined.text} ").rstrip()
    if len(text) < len(joined.text):
        end = joined.span(0, len(text))[1]
    mark, after = mark_of(text)
    lines = tuple(dict.fromkeys(unit.line + 1 for unit in group.units))
    page = printed.lines[first.line].page
    box = _around([printed.lines[k - 1] for k in lines], page)
    written = text[:after].strip() if mark else ""
    lead, whole = without_lead(text[after:].strip(), note=mark is not None and mark[0] in _NOTES)
    return FoundReference(whole, first.line + 1, page, box, start, end, lines, group.sure, written, lead)


def without_lead(text: str, *, note: bool = False) -> tuple[str, str]:
    """Return the words that lead to a work in a note (`Vgl. auch`), and the rest.

    note : the text is a note, which may have longer ones (`For an overview see`).
    """
    lead = _LEAD.match(text) or (_PHRASE.match(text) if note else None)
    return (lead[0].strip(), text[lead.end() :]) if lead else ("", text)


def _around(lines: Sequence[TextLine], page: int) -> Box | None:
    boxes = [line.box for line in lines if line.box is not None and line.page == page]
    if not boxes:
        return None
    x0, y0, x1, y1 = zip(*boxes, strict=True)
    return Box(min(x0), min(y0), max(x1), max(y1))
