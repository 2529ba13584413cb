"""Reading order: pieces of lines to columns, columns to lines.

Pieces that cross a gutter (a title, a wide table) cut the page into bands, and in each band the left column is read
before the right one, which may have gutters of its own (`gutters`). So the order in which the file draws its words
does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np

from espalier.documents.layout.gutters import (
    ADJOINING,
    INDENT,
    LEAST,
    SHORTEST,
    Gutter,
    find_gutter,
    is_mark,
    is_text,
    sides,
)
from espalier.documents.layout.pieces import LinePiece, stands_beside

__all__ = ["ColumnLine", "reading_order"]


class ColumnLine(NamedTuple):
    """Pieces of one line of a column; column : its number on the page, None if the line spans columns."""

    pieces: tuple[LinePiece, ...]
    column: int | None


def reading_order(parts: Sequence[LinePiece], known: Iterable[Gutter] = ()) -> list[ColumnLine]:
    """Return the lines of a page in the order in which they are read.

    known : gutters of other pages; one that is at the same place here needs less to stand beside it.
    """
    return _ordered(list(parts), tuple(known), 0)[0]


def _ordered(parts: list[LinePiece], known: tuple[Gutter, ...], column: int) -> tuple[list[ColumnLine], int]:
    """Return the lines of a region, and how many columns it has."""
    gutter = find_gutter(parts, known)
    if gutter is None:
        return [ColumnLine(line, column) for line in _lines(parts)], 1
    left, right, across = sides(parts, gutter)
    bands = _loosened(_without_headings(_bands(left, right, across)), _starts(right, gutter))
    if not any(band.left and band.right for band in bands):
        return [ColumnLine(line, column) for line in _lines(parts)], 1
    elsewhere = tuple(one for one in known if abs(one.right - gutter.right) >= 4)
    spanning = {id(part) for part in across}
    found: list[ColumnLine] = []
    widest = 1
    for band in bands:
        if all(id(part) in spanning for part in band.above):
            found += [ColumnLine(line, None) for line in _lines(band.above)]
        else:  # lines across with gaps in them: they may have columns of their own, elsewhere
            found += _ordered(band.above, elsewhere, column)[0]
        first, columns = _ordered(band.left, known, column) if band.left else ([], 1)
        second, more = _ordered(band.right, known, column + columns) if band.right else ([], 1)
        found += first + second
        widest = max(widest, columns + more)
    return found, widest


def _starts(right: list[LinePiece], gutter: Gutter) -> list[float]:
    """Return where lines right of a gutter begin: at its edge, and at indents that are usual there."""
    counts = Counter(round(part.x0) for part in right)
    return [gutter.right, *(x for x, times in counts.items() if times >= max(SHORTEST, 0.1 * len(right)))]


class _Band(NamedTuple):
    """Columns side by side; above : what spans them, between this band and the one before."""

    above: list[LinePiece]
    left: list[LinePiece]
    right: list[LinePiece]


def _bands(left: list[LinePiece], right: list[LinePiece], across: list[LinePiece]) -> list[_Band]:
    """Return the bands of a region from top to bottom; groups of spanning lines with nothing beside go together."""
    sides = sorted({part.base for part in left + right})
    groups: list[list[float]] = []
    for cut in sorted(part.base for part in across):
        if groups and not any(groups[-1][-1] < base < cut for base in sides):
            groups[-1].append(cut)
        else:
            groups.append([cut])
    edges = [-np.inf, *(group[0] for group in groups), np.inf]
    bands = []
    for number, (above, below) in enumerate(pairwise(edges)):
        inside = [[part for part in side if above <= part.base < below] for side in (left, right)]
        bands.append(_Band([part for part in across if number and part.base in groups[number - 1]], *inside))
    return bands


def _without_headings(bands: list[_Band]) -> list[_Band]:
    """Return bands in which a heading below both columns goes with what spans them beneath it."""
    found = list(bands)
    for number, (band, below) in enumerate(pairwise(bands)):
        if not (band.left and band.right and below.above):
            continue
        end, usual = max(part.base for part in band.right), median(part.size for part in band.left + band.right)
        tail = [part for part in band.left if part.base > end + part.size and part.size > 1.07 * usual]
        rest = [part for part in band.left if part not in tail]
        if tail and rest and min(part.base for part in tail) > max(part.base for part in rest):
            found[number] = found[number]._replace(left=rest)
            found[number + 1] = below._replace(above=tail + below.above)
    return found


def _loosened(bands: list[_Band], starts: list[float]) -> list[_Band]:
    """Return bands of columns only: lines across with wide gaps between words are no columns, and go between bands.

    A gutter that a table has is none of the text above and below it: there, what is right of it begins anywhere. Nor is
    a line across a column that happens to end left of it.
    """
    found: list[_Band] = []
    loose: list[LinePiece] = []
    for number, band in enumerate(bands):
        loose = loose + band.above
        first, last = _extent(band, starts)
        across = band.above + (bands[number + 1].above if number + 1 < len(bands) else [])
        short = 0 < number < len(bands) - 1 and not band.right and len({round(p.base) for p in band.left}) < SHORTEST
        if first > last or short or _is_stretched(band, across):
            loose = loose + band.left + band.right
            continue
        sides = [[p for p in side if first <= p.base <= last] for side in (band.left, band.right)]
        head = [p for p in band.left + band.right if p.base < first]
        found.append(_Band(loose + head, *sides))
        loose = [p for p in band.left + band.right if p.base > last]
    if not any(band.left and band.right for band in found):
        return bands
    return [*found, _Band(loose, [], [])]


def _is_stretched(band: _Band, across: list[LinePiece]) -> bool:
    """Whether a band is a few lines with gaps, right above lines of text across or below them."""
    left, right = ({round(part.base) for part in side} for side in (band.left, band.right))
    lines = [part for part in across if is_text(part)]
    if not lines or not 0 < len(left & right) < LEAST:
        return False
    return any(abs(part.base - line.base) < ADJOINING * line.size for part in band.left for line in lines)


def _extent(band: _Band, starts: list[float]) -> tuple[float, float]:
    """Return the first and the last baseline of what stands in columns: beyond are rows with gaps anywhere.

    Equations begin anywhere, too, and say nothing.
    """
    firsts = {round(part.base): part for part in sorted(band.right, key=lambda part: -part.x0)}
    beside = {round(part.base) for part in band.left}
    indent = INDENT * max((part.size for part in band.right), default=0.0)
    rows = []
    for row, part in sorted(firsts.items()):
        aligned = -1.5 < part.x0 - starts[0] < indent or any(abs(part.x0 - x) < 1.5 for x in starts)
        worded = is_mark(part) or any(len(word.text) > 2 and word.text[:3].isalpha() for word in part.words)
        rows.append((part.base, aligned, row in beside and (worded or aligned)))
    told = [aligned for _, aligned, both in rows if both]
    if not told or all(told):
        return (-np.inf, np.inf)
    if 2 * sum(told) < len(told) or (len(told) < SHORTEST and not all(told)):
        return (np.inf, -np.inf)
    good = [base for base, aligned, both in rows if aligned or not both]
    top = next(aligned for _, aligned, both in rows if both)
    bottom = next(aligned for _, aligned, both in reversed(rows) if both)
    return (-np.inf if top else good[0] - 1, np.inf if bottom else good[-1] + 1)


def _lines(parts: list[LinePiece]) -> list[tuple[LinePiece, ...]]:
    """Return the pieces of a column as lines from top to bottom: raised and lowered ones go with their line."""
    if not parts:
        return []
    main: list[LinePiece] = []
    raised: list[tuple[LinePiece, LinePiece]] = []
    ordered = sorted(parts, key=lambda part: part.base)
    for number, part in enumerate(ordered):
        around = [*_within(ordered, number, -1, 0.5 * part.size), *_within(ordered, number, 1, 1.2 * part.size)]
        host = min((o for o in around if stands_beside(part, o)), key=lambda o: abs(o.base - part.base), default=None)
        if host is None:
            main.append(part)
        else:
            raised.append((part, host))
    rows: list[list[LinePiece]] = []
    row_of: dict[int, list[LinePiece]] = {}
    for part in main:
        if not (rows and abs(part.base - rows[-1][0].base) < 0.3 * min(part.size, rows[-1][0].size)):
            rows.append([])
        rows[-1].append(part)
        row_of[id(part)] = rows[-1]
    _place_initials(rows, median(part.size for part in main))
    for part, host in raised:
        row_of.get(id(host), rows[-1]).append(part)
    return [tuple(sorted(row, key=lambda part: part.x0)) for row in rows if row]


def _within(parts: list[LinePiece], number: int, step: int, distance: float) -> Iterator[LinePiece]:
    """Yield the pieces before or after one, as far as their baselines are near."""
    place = number + step
    while 0 <= place < len(parts) and abs(parts[place].base - parts[number].base) <= distance:
        yield parts[place]
        place += step


def _place_initials(rows: list[list[LinePiece]], usual: float) -> None:
    """Move a large initial, whose baseline is that of its second or third line, to the first of them."""
    for row in list(rows):
        for part in list(row):
            if part.size > 1.7 * usual and len(part.text) <= 2 and part.text.isalpha():
                top = part.base - 0.7 * part.size
                others = [r for r in rows if any(p is not part for p in r) and r[-1].x1 > part.x1]
                first = min(others, key=lambda r: abs(r[-1].base - 0.7 * r[-1].size - top), default=None)
                if first is not None and first is not row and abs(first[-1].base - 0.7 * first[-1].size - top) < usual:
                    row.remove(part)
                    first.insert(1, part)
    rows[:] = [row for row in rows if row]
