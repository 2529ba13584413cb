"""What is printed on every page and is no text: running heads, page numbers, the numbers of lines.

A running head stands in one of the outermost rows of a page, and almost the same at the same height on the next page or
the one after it (left and right pages differ). A page number grows as the pages do. The numbers of lines stand in a
column of their own beside the text, and grow by one, or by five, from row to row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from itertools import pairwise
from statistics import median

from espalier.documents.layout.pieces import LinePiece
from espalier.documents.lines import PageSize

__all__ = ["PageRows", "find_heads", "without_line_numbers"]

_OUTERMOST = 3  # rows at the top and at the bottom that may be heads
_ZONE = 0.2  # the share of a page's height that they stand in, at either end
_SCALE = 20  # numbers of lines that are told by their steps alone
_RIM = "-–—|.()[]"
_ROMAN = re.compile(r"[ivxlc]+", re.IGNORECASE)
_NUMBERED = re.compile(r"\d+")


@dataclass(slots=True)
class PageRows:
    """The pieces of a page, and which of them are heads: `top` and `bottom` are taken out of `parts`."""

    parts: list[LinePiece]
    size: PageSize
    top: list[LinePiece] = field(default_factory=list)
    bottom: list[LinePiece] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    """Pieces at one height.

    key : its text with every number as #; body : its text without numbers at its ends; numbers : those, for page
    numbers; alone : apart from the text; outermost : nothing is beyond it; large : set larger than the text; plain :
    in the type of the text, and no farther from it than paragraphs are from each other.
    """

    parts: list[LinePiece]
    base: float
    key: str
    body: str
    numbers: tuple[int, ...]
    upper: bool
    alone: bool
    outermost: bool
    large: bool
    plain: bool


def find_heads(pages: Sequence[PageRows]) -> None:
    """Move running heads and page numbers out of the pieces of their pages."""
    rows = [list(_outer_rows(page)) for page in pages]
    for number, page in enumerate(pages):
        near = [other for other in (number - 2, number - 1, number + 1, number + 2) if 0 <= other < len(pages)]
        for row in rows[number]:
            others = [other for n in near for other in rows[n] if other.upper == row.upper]
            if any(_same(row, o) or _alike(row, o) for o in others) or _counts_pages(row, number, near, rows):
                (page.top if row.upper else page.bottom).extend(row.parts)
    for page in pages:
        heads = {id(part) for part in page.top + page.bottom}
        if heads:
            page.parts = [part for part in page.parts if id(part) not in heads]


def _outer_rows(page: PageRows) -> Iterator[_Row]:
    """Yield the rows of a page that may be heads."""
    rows: list[list[LinePiece]] = []
    for part in page.parts:  # which come from top to bottom
        if rows and part.base - rows[-1][0].base < 0.4 * part.size:
            rows[-1].append(part)
        else:
            rows.append([part])
    steps = sorted(b[0].base - a[0].base for a, b in pairwise(rows))
    usual, wide = (median(steps), steps[9 * len(steps) // 10]) if steps else (0.0, 0.0)
    height = page.size.height
    body = median(part.size for part in page.parts) if page.parts else 0.0
    for number, row in enumerate(rows):
        base = row[0].base
        upper, lower = number < _OUTERMOST, number >= len(rows) - _OUTERMOST
        if (upper and base < _ZONE * height) or (lower and base > (1 - _ZONE) * height):
            is_upper = base < height / 2
            beyond = number + 1 if is_upper else number - 1
            step = abs(rows[beyond][0].base - base) if 0 <= beyond < len(rows) else math.inf
            far = step > 1.4 * usual
            words = " ".join(part.text for part in sorted(row, key=lambda p: p.x0)).split()
            text = " ".join(words)
            ends = {word.strip(_RIM) for word in (words[0], words[-1])}
            numbers = tuple(int(end) for end in ends if end.isdecimal() and len(end) < 6)
            yield _Row(
                row,
                base,
                _NUMBERED.sub("#", text).casefold(),
                " ".join(words[words[0].strip(_RIM).isdecimal() : len(words) - words[-1].strip(_RIM).isdecimal()]),
                numbers,
                is_upper,
                far,
                number in (0, len(rows) - 1),
                row[0].size > 1.05 * body,
                step < 1.2 * wide and not numbers and all(_is_plain(part, body) for part in row),
            )


def _is_plain(part: LinePiece, body: float) -> bool:
    """Whether a piece is set as the text is: in its size, upright, in small letters."""
    slanted = sum(word.italic or word.bold for word in part.words)
    return abs(part.size - body) < 0.03 * body and 2 * slanted < len(part.words) and not part.text.isupper()


def _same(row: _Row, other: _Row) -> bool:
    """Whether two rows of two pages are the same running head."""
    if row.upper != other.upper or abs(row.base - other.base) > 6:
        return False
    letters = sum(character.isalpha() for character in row.key)
    if letters < 3:
        return False
    apart = all(one.alone and one.outermost for one in (row, other))
    if not row.upper and not apart:
        return row.body == other.body  # else two notes at the foot that cite one journal would be the same
    if row.key == other.key:
        return True
    close = SequenceMatcher(None, row.key, other.key, autojunk=False)
    return letters >= 8 and close.quick_ratio() > 0.85 and close.ratio() > 0.85


def _alike(row: _Row, other: _Row) -> bool:
    """Whether two rows at one height stand apart from the text, in one small type: heads that name a part of a text."""
    if not (row.alone and other.alone and row.outermost and other.outermost) or abs(row.base - other.base) > 1:
        return False
    size = row.parts[0].size
    if row.plain and other.plain:
        return False
    return not row.large and abs(size - other.parts[0].size) < 0.2 and len(row.key) < 100


def _counts_pages(row: _Row, number: int, near: list[int], rows: list[list[_Row]]) -> bool:
    """Whether a row has a number at one end that grows with the pages."""
    agreeing = 0
    for other in near:
        found = (o for o in rows[other] if o.upper == row.upper and abs(o.base - row.base) < 6)
        agreeing += any(b - a == other - number for o in found for a in row.numbers for b in o.numbers)
    bare = re.fullmatch(r"[\W#]*", row.key) is not None or (_ROMAN.fullmatch(row.key) is not None and row.alone)
    if bare and not agreeing:
        # One page by itself: a number that stands alone, apart from the text and near the edge.
        return row.alone and not near and len(row.parts) == 1
    return agreeing >= (1 if row.alone else 2) and (bare or row.alone)


def without_line_numbers(pages: Sequence[PageRows]) -> int:
    """Take the numbers of lines out of the pieces; returns on how many pages there were some."""
    columns = [_number_columns(page.parts) for page in pages]
    textual = [page for page in pages if len(page.parts) > 10]
    having = sum(bool(column) for column in columns)
    if not having or having < 0.5 * len(textual):
        return 0
    if having < 3 and not any(_smaller(column, page.parts) for column, page in zip(columns, pages, strict=True)):
        return 0  # perhaps a list of short numbered items
    for page, column in zip(pages, columns, strict=True):
        drop = {id(part) for part in column}
        page.parts = [part for part in page.parts if id(part) not in drop]
    return having


def _smaller(column: list[LinePiece], parts: list[LinePiece]) -> bool:
    """Whether the numbers are set smaller than the text."""
    return bool(column) and column[0].size < 0.93 * median(part.size for part in parts)


def _number_columns(parts: list[LinePiece]) -> list[LinePiece]:
    """Return the pieces that are numbers of lines, beside each column of text."""
    found: list[LinePiece] = []
    while column := _number_column(parts):
        found += column
        drop = {id(part) for part in column}
        parts = [part for part in parts if id(part) not in drop]
    return found


def _is_scale(numbers: list[LinePiece], others: list[LinePiece]) -> bool:
    """Whether numbers stand at equal steps all along the text, however many rows that has: equations have many."""
    if len(numbers) < _SCALE or not others:
        return False
    steps = [below.base - above.base for above, below in pairwise(numbers)]
    usual = median(steps)
    even = sum(abs(step - usual) < 0.15 * usual for step in steps) >= 0.9 * len(steps)
    height = max(part.base for part in others) - min(part.base for part in others)
    return even and numbers[-1].base - numbers[0].base > 0.75 * height


def _number_column(parts: list[LinePiece]) -> list[LinePiece]:
    """Return the longest column of numbers of lines."""
    numbers = [part for part in parts if len(part.words) == 1 and part.text.isdecimal() and len(part.text) < 5]
    found: list[LinePiece] = []
    if len(numbers) < 4:
        return found
    aligned: dict[tuple[str, int], list[LinePiece]] = {}
    for part in numbers:
        for side, x in (("left", part.x0), ("right", part.x1)):
            for place in {round(x / 3), round(x / 3 + 0.5)}:
                aligned.setdefault((side, place), []).append(part)
    best = max(aligned.values(), key=len)
    best.sort(key=lambda part: part.base)
    steps = [int(b.text) - int(a.text) for a, b in pairwise(best)]
    if not steps:
        return found
    step = max(set(steps), key=steps.count)
    regular = steps.count(step) >= 0.9 * len(steps)
    others = [part for part in parts if not (len(part.words) == 1 and part.text.isdecimal())]
    outside = sum(any(abs(o.base - n.base) < 0.4 * o.size and o.x0 < n.x0 < o.x1 for o in others) for n in best)
    rows = {round(part.base) for part in others}
    enough = len(best) >= (8 if step < 5 else 4) and len(best) * step >= 0.8 * len(rows) - step
    enough = enough or _is_scale(best, others)
    return best if regular and step in (1, 2, 5, 10) and enough and not outside else found
