"""Reading order: the words of a page to pieces, pieces to columns, columns to lines.

A piece is a line of words on one baseline without a wide gap. A gutter is a strip that runs down between pieces
on its left and on its right, side by side; pieces that cross it (a title, a wide table) cut the page into bands, and
in each band the left column is read before the right one, which may have gutters of its own. So the order in which the
file draws its words does not matter.

What looks like a gutter and is none: the gap after the numbers of a list (the left side is too narrow for a column),
the columns of a table whose cells are short (few lines fill their column).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from espalier.documents.lines import Box
from espalier.documents.pdf_words import PlacedWord

__all__ = ["ColumnLine", "Gutter", "LinePiece", "find_gutter", "pieces", "reading_order"]

_WIDE = 0.62  # a gap between words, in type sizes, that ends a piece
_NARROWEST = 0.13  # the width of a column, as a share of the region's
_EMS = 10  # the same, in type sizes
_FULL = 0.3  # the share of a column's pieces that fill most of it
_LEAST = 5  # lines on each side of a gutter that nothing else vouches for
_SHORTEST = 3  # lines on each side of a band between lines across


class LinePiece(NamedTuple):
    """Words on one baseline, left to right, without a wide gap."""

    words: tuple[PlacedWord, ...]
    x0: float
    x1: float
    base: float
    size: float

    @property
    def box(self) -> Box:
        """Where it stands."""
        return Box(self.x0, self.base - 0.75 * self.size, self.x1, self.base + 0.25 * self.size)

    @property
    def text(self) -> str:
        """Its words with a blank between any two."""
        return " ".join(word.text for word in self.words)


class Gutter(NamedTuple):
    """A strip between two columns: its left and its right edge, and how many pieces stand beside it."""

    left: float
    right: float
    support: int

    @property
    def weight(self) -> float:
        """What makes one of two better: much beside it, and width (a list's numbers do not fill their column)."""
        return self.support * float(np.sqrt(min(max(self.right - self.left, 2.0), 12.0)))


class ColumnLine(NamedTuple):
    """Pieces of one line of a column; column : its number on the page, None if the line spans columns."""

    pieces: tuple[LinePiece, ...]
    column: int | None


def pieces(words: Sequence[PlacedWord]) -> list[LinePiece]:
    """Return the pieces of a page, from top to bottom and left to right."""
    rows: list[list[PlacedWord]] = []
    for word in sorted(words, key=lambda word: (word.base, word.x0)):
        if rows and abs(word.base - rows[-1][-1].base) <= 0.08 * min(word.size, rows[-1][-1].size):
            rows[-1].append(word)
        else:
            rows.append([word])
    found = []
    for row in rows:
        row.sort(key=lambda word: word.x0)
        run = [row[0]]
        for before, word in pairwise(row):
            if word.x0 - before.x1 > _WIDE * max(word.size, before.size):
                found.append(_piece(run))
                run = []
            run.append(word)
        found.append(_piece(run))
    return found


def _piece(words: list[PlacedWord]) -> LinePiece:
    letters = sum(len(word.text) for word in words)
    size = sum(word.size * len(word.text) for word in words) / letters
    return LinePiece(tuple(words), words[0].x0, max(word.x1 for word in words), words[0].base, size)


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
    left, right, across = _sides(parts, gutter)
    cuts = sorted(part.base for part in across)
    found: list[ColumnLine] = []
    widest = 1
    for number, band in enumerate(_bands(left, right, cuts)):
        if number and across:
            spanning = [part for part in across if part.base in band.cut]
            found += [ColumnLine(line, None) for line in _lines(spanning)]
        first, columns = _ordered(band.left, known, column) if band.left else ([], 1)
        second, more = _ordered(band.right, known, column + columns) if band.right else ([], 1)
        found += first + second
        widest = max(widest, columns + more)
    return found, widest


class _Band(NamedTuple):
    """What stands between two groups of pieces that span columns; cut : the baselines of the group above."""

    cut: frozenset[float]
    left: list[LinePiece]
    right: list[LinePiece]


def _bands(left: list[LinePiece], right: list[LinePiece], cuts: list[float]) -> list[_Band]:
    """Return the bands of a region from top to bottom; groups of spanning lines with nothing beside go together."""
    sides = sorted({part.base for part in left + right})
    groups: list[list[float]] = []
    for cut in cuts:
        if groups and not any(groups[-1][-1] < base < cut for base in sides):
            groups[-1].append(cut)
        else:
            groups.append([cut])
    edges = [-np.inf, *(group[0] for group in groups), np.inf]
    bands = []
    for number, (above, below) in enumerate(pairwise(edges)):
        inside = [[part for part in side if above <= part.base < below] for side in (left, right)]
        bands.append(_Band(frozenset(groups[number - 1] if number else ()), *inside))
    return bands


def _sides(parts: list[LinePiece], gutter: Gutter) -> tuple[list[LinePiece], list[LinePiece], list[LinePiece]]:
    """Return the pieces on the left of a gutter, on its right, and across it."""
    left, right, across = [], [], []
    starts = [(part.base, part.x0) for part in parts if part.x0 >= gutter.right - 1]
    for part in parts:
        collides = any(abs(base - part.base) < 0.7 * part.size and x0 < part.x1 for base, x0 in starts)
        if part.x1 <= gutter.right - 1 or (part.x0 < gutter.left and collides):
            left.append(part)
        elif part.x0 >= gutter.left + 1:
            right.append(part)
        else:
            across.append(part)
    for part in _lonely(across, left + right):
        cut = _cut(part, gutter)
        if cut is not None:
            across.remove(part)
            left.append(cut[0])
            right.append(cut[1])
    return left, right, across


def _lonely(across: list[LinePiece], beside: list[LinePiece]) -> list[LinePiece]:
    """Return spanning pieces amid lines of columns in the same type: two lines that almost touch, taken for one."""
    found = []
    for part in across:
        far = 2.2 * part.size
        others = [other.base - part.base for other in across if other is not part]
        columns = [side.base - part.base for side in beside if abs(side.size - part.size) < 0.05 * part.size]
        amid = any(-far < step < 0 for step in columns) and any(0 < step < far for step in columns)
        found += [part] if amid and not any(abs(step) < far for step in others) else []
    return found


def _cut(part: LinePiece, gutter: Gutter) -> tuple[LinePiece, LinePiece] | None:
    """Return a piece cut in two where a word begins at the gutter's right edge, None if none does."""
    for number in range(1, len(part.words)):
        before, word = part.words[number - 1], part.words[number]
        if abs(word.x0 - gutter.right) < 2.5 and word.x0 - before.x1 > 0.3 * part.size:
            return _piece(list(part.words[:number])), _piece(list(part.words[number:]))
    return None


def find_gutter(parts: Sequence[LinePiece], known: Iterable[Gutter] = ()) -> Gutter | None:
    """Return the gutter of a region with most beside it, or None."""
    if len(parts) < 2:
        return None
    table = np.array([(*part.box, part.size) for part in parts])
    x0, y0, x1, y1, size = table.T
    width = x1.max() - x0.min()
    best: Gutter | None = None
    least = max(5.0, 0.5 * float(np.median(size)))
    for edge, familiar in _edges(x0, x0.min() + _NARROWEST * width, tuple(known)):
        found = _gutter_at(edge, x0, y0, x1, y1, least, familiar)
        if found is not None and (best is None or found.weight > best.weight):
            best = found
    return best


def _edges(x0: npt.NDArray[np.float64], beyond: float, known: Sequence[Gutter]) -> Iterator[tuple[float, bool]]:
    """Yield where two or more pieces begin, right of the region's left edge, and whether a gutter is known there."""
    starts = np.sort(x0[x0 > beyond])
    if not len(starts):
        return
    first = np.concatenate([[0], np.flatnonzero(np.diff(starts) > 1) + 1])
    for edge, count in zip(starts[first].tolist(), np.diff([*first, len(starts)]).tolist(), strict=True):
        familiar = any(abs(edge - other.right) < 4 for other in known)
        if count > 1 or familiar:
            yield edge, familiar


def _gutter_at(
    edge: float,
    x0: npt.NDArray[np.float64],
    y0: npt.NDArray[np.float64],
    x1: npt.NDArray[np.float64],
    y1: npt.NDArray[np.float64],
    least: float,
    familiar: bool,
) -> Gutter | None:
    """Return the gutter whose right edge this is, if columns stand on both sides of it.

    Lines across it may come before and after columns, not at every second line: only bands of some lines count.
    """
    right = x0 >= edge - 1
    left = ~right & (x1 <= edge - least)
    if not left.any() or not right.any():
        return None
    # A line that is too long for the left column may reach into the gutter, or over a line of the right column.
    rest = ~right & ~left
    level = np.abs(y1[rest][:, None] - y1[right]) < 0.7 * (y1 - y0)[rest][:, None]
    over = rest.copy()
    over[rest] = np.any(level & (x1[rest][:, None] > x0[right]), axis=1)
    inside = rest & ~over & (x1 < edge - 1)
    if inside.sum() <= 0.15 * left.sum():
        over |= inside
    left |= over
    across = ~right & ~left
    middle = (y0 + y1) / 2
    # Beside means: at the same height, with nothing across between.
    meet = (y0[left][:, None] < y1[right]) & (y1[left][:, None] > y0[right])
    crossed = np.any((y0[across][:, None] < middle) & (y1[across][:, None] > middle), axis=0)
    meet &= ~crossed[left][:, None] & ~crossed[right]
    beside_left, beside_right = meet.any(axis=1), meet.any(axis=0)
    if not beside_left.any():
        return None
    narrowest = max(_NARROWEST * float(x1.max() - x0.min()), _EMS * float(np.median(y1 - y0)))
    if not _is_aligned(x0[right][beside_right], middle[right][beside_right], edge):
        return None
    cuts = np.sort(middle[across])
    rows = []
    for side, beside in ((left, beside_left), (right, beside_right)):
        if not _is_column(x0[side][beside], x1[side][beside], middle[side][beside], narrowest):
            return None
        bands = np.searchsorted(cuts, np.unique(np.round(middle[side][beside])))
        rows.append(np.bincount(bands, minlength=len(cuts) + 1))
    # Lines on the right count, which are the same whether or not a list's numbers are taken for the left side.
    support = int(rows[1][np.minimum(*rows) >= (1 if familiar else _SHORTEST)].sum())
    if support < (1 if familiar else _LEAST):
        return None
    ends = x1[left][beside_left & ~over[left]]
    return Gutter(float(ends.max()) if len(ends) else edge - least, edge, support)


def _is_aligned(x0: npt.NDArray[np.float64], base: npt.NDArray[np.float64], edge: float) -> bool:
    """Whether most lines on the right of a gutter begin at two or three places, one of them its edge."""
    order = np.argsort(base, kind="stable")
    first = np.concatenate([[0], np.flatnonzero(np.diff(base[order]) > 2) + 1])
    starts = np.minimum.reduceat(x0[order], first) - edge
    _, counts = np.unique(np.round(starts), return_counts=True)
    common = np.sort(counts)[::-1] / len(starts)
    few = common[:2].sum() >= 0.6 or (common[:4].sum() >= 0.75 and len(starts) > 15)
    return bool(few and (np.abs(starts) < 2).mean() >= 0.08)


def _is_column(
    x0: npt.NDArray[np.float64], x1: npt.NDArray[np.float64], base: npt.NDArray[np.float64], narrowest: float
) -> bool:
    """Whether these pieces look like lines of a column: wide enough, and many lines fill it."""
    width = x1.max() - x0.min()
    if width < narrowest:
        return False
    # The side may have columns of its own, whose lines do not align: lines less than half a step apart are one row.
    edge = np.round(x0 / 2)
    values, counts = np.unique(edge, return_counts=True)
    steps = np.diff(np.unique(np.round(base[edge == values[counts.argmax()]])))
    near = 0.6 * float(np.median(steps)) if len(steps) else 2.0
    order = np.argsort(base, kind="stable")
    rows: list[list[float]] = []  # where a row begins, and its left and right end
    for middle, left, right in zip(base[order].tolist(), x0[order].tolist(), x1[order].tolist(), strict=True):
        if rows and middle - rows[-1][0] < near:
            rows[-1][1:] = min(left, rows[-1][1]), max(right, rows[-1][2])
        else:
            rows.append([middle, left, right])
    full = sum(right - left > 0.6 * width for _, left, right in rows) >= _FULL * len(rows)
    return bool(full)


def _lines(parts: list[LinePiece]) -> list[tuple[LinePiece, ...]]:
    """Return the pieces of a column as lines from top to bottom: raised and lowered ones go with their line."""
    if not parts:
        return []
    main: list[LinePiece] = []
    raised: list[tuple[LinePiece, LinePiece]] = []
    ordered = sorted(parts, key=lambda part: part.base)
    for number, part in enumerate(ordered):
        around = [*_within(ordered, number, -1, 0.5 * part.size), *_within(ordered, number, 1, 1.2 * part.size)]
        host = min((o for o in around if _beside(part, o)), key=lambda o: abs(o.base - part.base), default=None)
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


def _beside(small: LinePiece, main: LinePiece) -> bool:
    """Whether a piece of small type stands in or next to one, a little above its baseline or below it."""
    lift = main.base - small.base
    if not 0.42 * main.size < small.size < 0.92 * main.size or small.x1 - small.x0 > 6 * main.size:
        return False
    if not -0.4 * main.size < lift < 0.75 * main.size or abs(lift) < 0.08 * main.size:
        return False
    near = 0.8 * main.size
    return small.x0 < main.x1 + near and small.x1 > main.x0 - near


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
