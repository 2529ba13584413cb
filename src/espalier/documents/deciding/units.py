"""`Unit`: what the model of lines labels: a line, or the part of one at whose beginning another reference may begin.

A line is cut where it has the number after the last one seen (`[4]`, `4.`), a letter that counts works (`; b)`), names
behind a semicolon, and, if it is longer than a printed line, names behind the end of a sentence. Cutting too often does
no harm here: the model decides which parts belong together. Places are what a printed line has, else made up from the
spaces that a line begins with, so that everything below knows one kind of line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from espalier.documents import pace
from espalier.documents.line_words import look, mark_of, pattern
from espalier.documents.lines import TextLine

__all__ = ["Unit", "units_of"]

_LONG = 160  # characters: no printed line is longer
_EM = 0.5  # width of a character, in its size
LINEWISE = 0.1
"""The share of paragraphs that go on with the one above, from which each printed line was made a paragraph."""

_BRACKETED = re.compile(r"(?<=\s)\[\s?(\d{1,4})\s?\]")
_NUMBERED = re.compile(r"(?<=[.!?)\]”\"»\d;/]\s)(?:\((\d{1,4})\)|(\d{1,4})[.)]|(\d{1,3}))(?=\s+[\"“„«'‘(]?[^\W\d_a-z])")
_COUNTED = re.compile(r"(?<=[\w—–]\s)(\d{1,3})\.(?=\s+[^\W\d_a-z])")  # behind a word: only the next number
_NUMBERS = (_BRACKETED, _NUMBERED, _COUNTED)
_PERSON = (
    r"(?:<P><W>(?:[ -]<W>)?, ?<C>|(?:<C>\.[ -]?){1,3}<P><W>|<P><W> <U>{1,3}[,.:]|(?!<MONTH>)<P><W>,? \(?<YEAR>"
    r"|<W>(?: (?:<W>|<C>\.)){0,2} <P><W>(?:[,:]| u\. ?a\.| et al| \((?:Hg|Hrsg|[Ee]d))|[„“«][^;]{20})"
)
_AFTER_SEMICOLON = pattern(rf"(?<=[;])\s+(?=(?:\(?[a-h]\s?\)\s?|<LEAD>{{0,2}}(?:and |und )?){_PERSON})")
_LETTERED = re.compile(r"(?<=[;.])\s+(?=\(?[b-h]\)\s?\S)")
_LINKS = r"(?:CrossRef|Medline|PubMed|Google Scholar|MathSciNet|View Article|PMC|PDF)"  # behind references on the web
_BARE = r"<P><W> <U>(?:[ -]?<U>){0,3}(?:;|, <C>| and <C>| et al| \(?<YEAR>)"  # Smith J K 1994
_AFTER_LINKS = pattern(rf"(?<=\s){_LINKS}\s+(?={_PERSON}|{_BARE})(?!{_LINKS})")
_DATED = r"<P><W>,? (?:<C>\.[ -]?){1,3}(?:,? (?:and |& )?<P><W>,? (?:<C>\.[ -]?){1,3}|,? et al\.?){0,9},? \(?<YEAR>"
_AFTER_WORD = pattern(rf"(?<=[\w—–])\s+(?={_DATED})")  # no stop ends a reference, but names and a year begin one
_AFTER_ADDRESS = pattern(rf"(?<=\s)(?:doi: ?|https?://|10\.\d{{4}})\S*\w\s+(?={_PERSON}|{_BARE})")
_AFTER_STOP = pattern(
    rf"(?<=[.)\]\d/”\"])(?<!<U> \d\d\d\d)\s+(?!{_LINKS})(?={_PERSON}|{_BARE}|[—–]{{1,6}}[.,]|-{{2,6}}[.,])"
)
_REST = re.compile(r"https?:|www\.|doi\b|[\[(<]|URL|ISBN", re.IGNORECASE)
_INSIDE = (_AFTER_STOP, _AFTER_LINKS, _AFTER_WORD, _AFTER_ADDRESS)


class Unit(NamedTuple):
    """A line or a part of one.

    line : its number; start, end : of the part in the text of the line; inner : it does not begin the line; x0, x1, y0,
    y1, size : the place of the line, in points or in characters; page, column; blank : empty lines above it; placed :
    the place is printed, not made up; paragraph : it begins a paragraph of the file, and
    goes on with none."""

    line: int
    start: int
    end: int
    text: str
    inner: bool
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    page: int
    column: int
    blank: int
    placed: bool
    bold: bool
    hint: str
    paragraph: bool = False


def units_of(lines: Sequence[TextLine], *, inside: bool = True) -> list[Unit]:
    """Return the units of lines, in order; empty lines are none. inside : look for beginnings inside lines.

    Where the file itself says that a line is an item of a list, it begins there and not inside.
    """
    found: list[Unit] = []
    blank, last = 0, None
    for i, line in enumerate(lines):
        pace.look()
        body = line.text.strip()
        if not body:
            blank += 1
            continue
        start = line.text.index(body[0])
        cuts = list(_cuts(body, last)) if inside and line.hint != "item" else []
        for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True):
            part = body[a:b]
            found.append(_unit(i, line, start + a, part, inner=a > 0, blank=blank))
            mark, _ = mark_of(part)
            if mark is not None and mark[1] >= 0:
                last = mark[1]
            blank = 0
    return _whole_paragraphs(found) if any(unit.paragraph for unit in found) else found


def _whole_paragraphs(units: list[Unit]) -> list[Unit]:
    """Return the units without the beginnings of paragraphs that go on with the one above.

    Those begin with a small letter or an address, or stand under an open line. Where there are many, each printed line
    was made a paragraph, and none of them begins anything.
    """
    rests = [unit.paragraph and _REST.match(unit.text) is not None for unit in units]
    on: list[bool] = []
    above = False  # is the line above open?
    for unit in units:
        pace.look()
        seen = look(unit.text)
        on.append(unit.paragraph and (above or seen.begin in ("lower", "in")))
        above = seen.end in ("hyphen", "comma", "open")
    linewise = sum(on) > max(LINEWISE * sum(unit.paragraph for unit in units), 2)
    return [
        unit._replace(paragraph=unit.paragraph and not (linewise or rests[i] or on[i])) for i, unit in enumerate(units)
    ]


def _unit(i: int, line: TextLine, start: int, text: str, *, inner: bool, blank: int) -> Unit:
    trimmed = text.rstrip()
    end = start + len(trimmed)
    box, column = line.box, 0
    if box is not None:
        place = (box.x0, box.x1, box.y0, box.y1, line.size or max(box.y1 - box.y0, 1.0))
        column = -1 if line.column is None else line.column
    else:
        x0 = 0.0 if inner else len(line.text[:start].expandtabs(4)) * _EM
        place = (x0, x0 + len(trimmed) * _EM, 0.0, 0.0, 1.0)
    placed, paragraph = box is not None, box is None and line.paragraph and not inner
    known = (placed, bool(line.bold), line.hint, paragraph)
    return Unit(i, start, end, trimmed, inner, *place, line.page, column, blank, *known)


def _cuts(text: str, last: int | None) -> Iterator[int]:
    """Yield where another reference may begin inside a line; last : the number of the last mark above it."""
    if len(text) < 25:
        return
    places = {found.end() for found in _AFTER_SEMICOLON.finditer(text)}
    places.update(found.end() for found in _LETTERED.finditer(text))
    places.update(_next_numbers(text, last))
    if len(text) > _LONG:
        places.update(found.end() for pattern_ in _INSIDE for found in pattern_.finditer(text))
    previous = 0
    for place in sorted(places):
        if place - previous >= 12 and len(text) - place >= 8:
            yield place
            previous = place


def _next_numbers(text: str, last: int | None) -> Iterator[int]:
    mark, _ = mark_of(text)
    number = mark[1] if mark is not None and mark[1] >= 0 else last
    if number is None:
        return
    found = sorted(
        ((m.start(), int(m[m.lastindex or 1]), p) for p in _NUMBERS for m in p.finditer(text)), key=itemgetter(0, 1)
    )
    for place, value, pattern_ in found:
        if number < value <= number + (1 if pattern_ is _COUNTED else 2):
            yield place
            number = value
