"""A second look at references: those that are two works are cut, and parts of one are put together.

The model of lines says which lines belong together. What it leaves open, the model of references answers (`recutting`):
here, its answers become groups of lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from espalier.documents import pace
from espalier.documents.cutting.joining import JoinedText, join_lines
from espalier.documents.cutting.recutting import (
    ends_of_rests,
    is_address,
    is_rest,
    is_work_of,
    may_be_names,
    may_be_rest,
    may_be_two,
    read_fields,
    second_works,
    semicolon_pieces,
    works_behind_semicolons,
)
from espalier.documents.deciding.units import Unit
from espalier.documents.line_words import mark_of, pattern
from espalier.documents.lines import PrintedText, TextLine

__all__ = ["Group", "joined_units", "second_look", "without_lead"]

FULL = 1.5  # what a line that is full leaves free at its right edge, at most, in its size
SURE_OF_SECOND = 0.9  # where names were read inside a reference, and it was cut there

_LEAD = pattern(r"<LEAD>(?:<LEAD>)?(?=[^\W_a-z]|[\"“„«]|(?:(?:<particles>) ){1,2}<C>|https?:|www\.)")
_PHRASE = pattern(r"<PHRASE>(?=<P><W>[ ,.:]|<C>\.|[\"“„«‘'])")


class Group(NamedTuple):
    """The units of a reference, and how sure it is that they are one and whole."""

    units: tuple[Unit, ...]
    sure: float


def second_look(printed: PrintedText, groups: list[Group], words: frozenset[str]) -> list[Group]:
    """Cut groups that hold two works, and put together what was cut inside a line and is no reference."""
    groups = _at_semicolons(printed, _without_semicolons(groups), words)
    joined = [joined_units(printed, group.units, words) for group in groups]
    starts = [_line_starts(printed, group, one) for group, one in zip(groups, joined, strict=True)]
    doubtful = [k for k, one in enumerate(joined) if may_be_two(one.text, starts[k])]
    fields = dict(zip(doubtful, read_fields([joined[k].text for k in doubtful]), strict=True))
    found: list[Group] = []
    for k, group in enumerate(groups):
        pace.look()
        places = second_works(joined[k].text, fields[k], starts[k]) if k in fields else []
        found += _cut_at(printed, group, [joined[k].offset(place) for place in places])
    run_together = sum(group.units[0].inner for group in found)
    return _put_together(printed, found, words, everywhere=2 * run_together > len(found))


def _at_semicolons(printed: PrintedText, groups: Sequence[Group], words: frozenset[str]) -> list[Group]:
    """Cut groups at semicolons between works that are whole, each read by itself."""
    joined = [joined_units(printed, group.units, words) for group in groups]
    spans = [semicolon_pieces(one.text) for one in joined]
    alone = [without_lead(one.text[a:b])[1] for one, some in zip(joined, spans, strict=True) for a, b in some]
    fields = iter(read_fields(alone))
    found: list[Group] = []
    for group, one, some in zip(groups, joined, spans, strict=True):
        pace.look()
        places = works_behind_semicolons(one.text, some, [next(fields) for _ in some])
        found += _cut_at(printed, group, [one.offset(place) for place in places]) if places else [group]
    return found


def _without_semicolons(groups: Sequence[Group]) -> list[Group]:
    """Join what was cut behind a semicolon and has no figure before it: names have semicolons, too."""
    found: list[Group] = []
    for group in groups:
        if found and _are_names(found[-1]) and _follows(found[-1], group):
            found[-1] = Group((*found[-1].units, *group.units), min(found[-1].sure, group.sure))
        else:
            found.append(group)
    return found


def _are_names(group: Group) -> bool:
    """Does a group end with a semicolon, and is there no figure in it but its mark?"""
    if not group.units[-1].text.endswith(";"):
        return False
    first, *rest = (unit.text for unit in group.units)
    return not any(c.isdigit() for text in (_unmarked(first), *rest) for c in text)


def _line_starts(printed: PrintedText, group: Group, joined: JoinedText) -> frozenset[int]:
    """Return where lines begin in the text of a group, but for the first."""
    starts = {printed.lines[unit.line].start + unit.start for unit in group.units[1:] if not unit.inner}
    return frozenset(here for here, there in joined.pieces if there in starts)


def _cut_at(printed: PrintedText, group: Group, places: Sequence[int]) -> list[Group]:
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
    return [group] if len(kept) == 1 else [Group(part, min(group.sure, SURE_OF_SECOND)) for part in kept]


def _halves(unit: Unit, at: int) -> tuple[Unit, Unit]:
    """Return the two parts of a unit. at : in the text of its line."""
    text = unit.text[: at - unit.start].rstrip()
    before = unit._replace(text=text, end=unit.start + len(text))
    return before, unit._replace(text=unit.text[at - unit.start :], start=at, inner=at > unit.start or unit.inner)


def _put_together(printed: PrintedText, groups: list[Group], words: frozenset[str], *, everywhere: bool) -> list[Group]:
    """Join names that were cut off their work, and ends of references that were cut off theirs.

    everywhere : all stands in one line, and every part may be one; else only what has no year.
    """
    texts = [joined_units(printed, group.units, words).text for group in groups]
    behind, before = (set[int](), set[int]()) if everywhere else _parted(groups, texts)
    rests = {k for k, text in enumerate(texts) if everywhere or may_be_rest(text)}
    chosen = sorted({*rests, *behind, *before, *(k + 1 for k in before)})
    fields = dict(zip(chosen, read_fields([texts[k] for k in chosen]), strict=True))
    ends = ends_of_rests(texts) if everywhere else []
    found: list[Group] = []
    waiting: Group | None = None
    for k, group in enumerate(groups):
        near = k + 1 < len(groups) and groups[k + 1].units[0].inner
        marked = mark_of(group.units[0].text)[0] is not None  # a number belongs to what follows it
        if everywhere and found and waiting is None and group.units[0].inner and not marked:
            end = ends[k]
            joined = joined_units(printed, group.units, words)
            head, *rest = _cut_at(printed, group, [joined.offset(end)]) if end else [group]
            if rest:
                found[-1] = Group((*found[-1].units, *head.units), min(found[-1].sure, head.sure))
                group = rest[0]
        if waiting is not None:
            group, waiting = Group((*waiting.units, *group.units), min(waiting.sure, group.sure)), None
        elif (k in rests and near and is_rest(fields[k], of_next=True)) or (
            k in before and is_work_of(fields[k], fields[k + 1])
        ):
            waiting = group
            continue
        elif (
            (k in rests or k in behind) and found and _follows(found[-1], group)
            and is_rest(fields[k], of_next=False) and not is_address(texts[k - 1])
        ):  # fmt: skip
            found[-1] = Group((*found[-1].units, *group.units), min(found[-1].sure, group.sure))
            continue
        found.append(group)
    return found


def _parted(groups: Sequence[Group], texts: Sequence[str]) -> tuple[set[int], set[int]]:
    """Return the numbers of groups behind a semicolon, and of names whose work may stand on the next line."""
    pairs = [k for k in range(1, len(texts)) if _follows(groups[k - 1], groups[k])]
    behind = {k for k in pairs if texts[k - 1].endswith(";")}
    return behind, {k - 1 for k in pairs if may_be_names(_unmarked(texts[k - 1]))}


def _follows(before: Group, group: Group) -> bool:
    """Does a group go on where another ends, or on the next line? A paragraph goes on with none."""
    first = group.units[0]
    return first.line - before.units[-1].line <= 1 and mark_of(first.text)[0] is None and not first.paragraph


def joined_units(printed: PrintedText, units: Sequence[Unit], words: frozenset[str]) -> JoinedText:
    """Return the text of units, which knows where it stands in the document."""
    pace.look()
    found: list[TextLine] = []
    last = -1
    full: set[int] = set()
    for unit in units:
        line = printed.lines[unit.line]
        if last == unit.line:  # parts of one line are one again
            found[-1] = replace(found[-1], text=f"{found[-1].text} {unit.text}")
        else:
            found.append(TextLine(unit.text, start=line.start + unit.start))
        last = unit.line
        edge = printed.right_edges.get((line.page, line.column))
        if line.box is not None and edge is not None and edge - line.box.x1 < FULL * unit.size:
            full.add(len(found) - 1)
    return join_lines(found, words, full)


def _unmarked(text: str) -> str:
    """Return a text without the mark that it begins with."""
    return text[mark_of(text)[1] :].lstrip()


def without_lead(text: str, *, note: bool = False) -> tuple[str, str]:
    """Return the words that lead to a work in a note (`Vgl. auch`), and the rest.

    note : the text is a note, which may have longer ones (`For an overview see`).
    """
    lead = _LEAD.match(text) or (_PHRASE.match(text) if note else None)
    return (lead[0].strip(), text[lead.end() :]) if lead else ("", text)
