"""Gutters: strips that run down a page between pieces on their left and on their right, side by side.

What looks like a gutter and is none: the gap after the numbers of a list (the left side is too narrow for a column, or
its pieces next to the gap are numbers), the columns of a table whose cells are short (few lines fill their column) or
hold figures, gaps in a few stretched lines amid lines of text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from espalier.documents.layout.pieces import LinePiece, is_figure, piece_of, stands_beside

__all__ = [
    "ADJOINING",
    "INDENT",
    "LEAST",
    "SHORTEST",
    "Gutter",
    "find_gutter",
    "find_gutters",
    "is_mark",
    "is_text",
    "sides",
]

INDENT = 2.6
"""How far a line may begin right of the left edge of its column, in type sizes."""
SHORTEST = 3
"""Lines on each side of a band between lines across."""
LEAST = 5
"""Lines on each side of a gutter that nothing else vouches for."""
ADJOINING = 1.45
"""The step from line to line that lines of one text have, in type sizes, at most."""
_NARROWEST = 0.13  # the width of a column, as a share of the region's
_EMS = 10  # the same, in type sizes
_FULL = 0.3  # the share of a column's pieces that fill most of it
_PIECES = 3  # of a line in each of two columns together, most often
_TEXT = 4  # words of a line of text, at least
_SUPPORT = 12  # lines beside a gutter that is found without what stands in equations
_MARK = re.compile(r"[\[(]\w{1,8}[\])]|\d{1,3}[.)]")  # of an entry of a list


Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]


class Gutter(NamedTuple):
    """A strip between two columns: its left and its right edge, and how many pieces stand beside it."""

    left: float
    right: float
    support: int

    @property
    def weight(self) -> float:
        """What makes one of two better: much beside it, and width (a list's numbers do not fill their column)."""
        return self.support * float(np.sqrt(min(max(self.right - self.left, 2.0), 12.0)))


def find_gutters(parts: Sequence[LinePiece]) -> list[Gutter]:
    """Return the gutters of a page: the best one, and that of its wider side if there may be a third column."""
    first = find_gutter(parts)
    if first is None:
        return []
    left, right, _ = sides(list(parts), first)
    widths = [max((p.x1 for p in side), default=0.0) - min((p.x0 for p in side), default=0.0) for side in (left, right)]
    if max(widths) < 1.6 * min(widths):
        return [first]
    second = find_gutter(left if widths[0] > widths[1] else right)
    return [first] if second is None else [first, second]


def find_gutter(parts: Sequence[LinePiece], known: Iterable[Gutter] = ()) -> Gutter | None:
    """Return the gutter of a region with most beside it, or None.

    Equations are many small pieces at any place: where they hide a gutter, lines of text alone may tell it.
    """
    known = tuple(known)
    found = _best_gutter(parts, known)
    if found is not None:
        return found
    text = [part for part in parts if is_text(part) or is_mark(part)]
    if not 2 * SHORTEST <= len(text) < len(parts):
        return None
    found = _best_gutter(text, known)
    if found is None:
        return None
    indent = INDENT * max(part.size for part in text)
    near = [one.right for one in known if found.left < one.right and -4 < found.right - one.right < indent]
    if found.support < (SHORTEST if near else _SUPPORT):
        return None
    return found._replace(right=min(found.right, *near)) if near else found


def _best_gutter(parts: Sequence[LinePiece], known: tuple[Gutter, ...]) -> Gutter | None:
    """Return the gutter of pieces with most beside it, or None."""
    if len(parts) < 2:
        return None
    table = np.array([(*part.box, part.size) for part in parts])
    x0, y0, x1, y1, size = table.T
    width = x1.max() - x0.min()
    best: Gutter | None = None
    least = max(5.0, 0.5 * float(np.median(size)))
    # Figures have no words, a line of text has four and more.
    worded = np.array([0 if is_figure(part) else len(part.words) for part in parts])
    marked = np.array([is_mark(part) for part in parts])
    indent = INDENT * float(np.median(size))
    for edge, familiar in _edges(x0, x0.min() + _NARROWEST * width, known, indent):
        if _cuts_marks(edge, x0, y1, x1, marked, least):
            continue
        found = _gutter_at(edge, x0, y0, x1, y1, worded, least, familiar)
        if found is not None and (best is None or found.weight > best.weight):
            best = found
    return best


def _edges(x0: Float, beyond: float, known: Sequence[Gutter], indent: float) -> Iterator[tuple[float, bool]]:
    """Yield where two or more pieces begin, right of the region's left edge, and whether a gutter is known there.

    indent : how far lines of a column may begin right of its edge: the few lines of a last page perhaps all do.
    """
    starts = np.sort(x0[x0 > beyond])
    if not len(starts):
        return
    first = np.concatenate([[0], np.flatnonzero(np.diff(starts) > 1) + 1])
    for edge, count in zip(starts[first].tolist(), np.diff([*first, len(starts)]).tolist(), strict=True):
        familiar = any(-4 < edge - other.right < indent for other in known)
        if count > 1 or familiar:
            yield edge, familiar


def _cuts_marks(edge: float, x0: Float, y1: Float, x1: Float, marked: Bool, least: float) -> bool:
    """Whether numbers of a list stand left of an edge, each before a piece that begins there: they go with it."""
    marks = marked & (x1 <= edge - 1) & (x1 > edge - 5 * least)
    if marks.sum() < SHORTEST:
        return False
    begins = np.abs(x0 - edge) < 2
    level = np.abs(y1[marks][:, None] - y1[begins]) < 1
    return bool(level.any(axis=1).sum() >= SHORTEST)


def _gutter_at(
    edge: float, x0: Float, y0: Float, x1: Float, y1: Float, worded: Int, least: float, familiar: bool
) -> Gutter | None:
    """Return the gutter whose right edge this is, if columns stand on both sides of it.

    Lines across it may come before and after columns, not at every second line: only bands of some lines count, and
    among them only lines with words, or beside a line of text: the figures of a table make no column.
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
    reaching = rest & ~over & (x1 < edge - 1)
    if reaching.sum() <= 0.15 * left.sum():
        over |= reaching
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
    told = right.copy()
    beside_text = np.any(meet & (worded[left] > 3)[:, None], axis=0)
    told[right] = beside_right & ((worded[right] > 0) | beside_text)
    if not told.any() or not _is_aligned(x0[told], middle[told], edge):
        return None
    cuts = np.sort(middle[across])
    rows, places = [], []
    for side, beside in ((left, beside_left), (right, beside_right)):
        # A table may fill most of a column, and be narrower than it.
        text: Bool = beside & (worded[side] > 0)
        if text.sum() < SHORTEST:
            text = np.asarray(beside)
        if not _is_column(x0[side][text], x1[side][text], middle[side][text], narrowest):
            return None
        inside = middle[told] if side is right else middle[side][beside]
        heights = np.unique(np.round(inside))
        bands = np.searchsorted(cuts, heights)
        rows.append(np.bincount(bands, minlength=len(cuts) + 1))
        places.append(heights)
    lines = np.sort(middle[across & (worded >= _TEXT)])
    support = _support(rows, np.concatenate(places), cuts, lines, float(np.median(y1 - y0)), familiar)
    # Amid text, where most lines have gaps all over, they are stretched.
    if not support or (support < LEAST and len(lines) and _is_loose(middle, np.unique(np.round(middle[told])))):
        return None
    ends = x1[left][beside_left & ~over[left]]
    return Gutter(float(ends.max()) if len(ends) else edge - least, edge, support)


def _support(rows: Sequence[Int], heights: Float, cuts: Float, lines: Float, size: float, familiar: bool) -> int:
    """Return how many lines stand right of a gutter, 0 if they are too few.

    rows : lines in each band, left and right; heights : of all of them; cuts : of what is across, between bands;
    lines : of text, among those; size : of the type. Lines on the right count, which are the same whether or not a
    list's numbers are taken for the left side.
    """
    fewer = np.minimum(*rows)
    fewer[(fewer < LEAST) & _adjoin(heights, cuts, lines, size)] = 0
    support = int(rows[1][fewer >= (1 if familiar else SHORTEST)].sum())
    if support >= LEAST or not support:
        return support
    inside = heights[fewer[np.searchsorted(cuts, heights)] > 0]
    amid = len(lines) > 0 and lines[0] < inside.min() and lines[-1] > inside.max()
    return support if familiar and not amid else 0


def _is_loose(middle: Float, heights: Float) -> bool:
    """Whether most lines at given heights have more pieces than two columns have."""
    pieces = (np.abs(middle - heights[:, None]) < 1).sum(axis=1)
    return bool(2 * (pieces > _PIECES).sum() > len(pieces))


def _adjoin(heights: Float, cuts: Float, lines: Float, size: float) -> Bool:
    """Return for each band whether lines of text across stand right above it or below it, as lines of one text do.

    heights : of the rows beside the gutter; cuts : of what is across, between bands; lines : of text, among those.
    """
    found = np.zeros(len(cuts) + 1, bool)
    if not len(lines):
        return found
    steps = np.diff(lines)
    near = max(ADJOINING * size, 1.2 * min(float(np.median(steps)), 3 * size) if len(steps) else 0.0)
    distance = np.abs(heights[:, None] - lines).min(axis=1)
    found[np.searchsorted(cuts, heights[distance < near])] = True
    return found


def _is_aligned(x0: Float, base: Float, edge: float) -> bool:
    """Whether most lines on the right of a gutter begin at two or three places, one of them its edge."""
    order = np.argsort(base, kind="stable")
    first = np.concatenate([[0], np.flatnonzero(np.diff(base[order]) > 2) + 1])
    starts = np.minimum.reduceat(x0[order], first) - edge
    _, counts = np.unique(np.round(starts), return_counts=True)
    common = np.sort(counts)[::-1] / len(starts)
    few = common[:2].sum() >= 0.6 or (common[:4].sum() >= 0.75 and len(starts) > 15)
    return bool(few and (np.abs(starts) < 2).mean() >= 0.08)


def _is_column(x0: Float, x1: Float, base: Float, narrowest: float) -> bool:
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


def sides(parts: list[LinePiece], gutter: Gutter) -> tuple[list[LinePiece], list[LinePiece], list[LinePiece]]:
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
    spanning = _table_rows(left, right) + _level(left + right, across)
    if not spanning:
        return left, right, across
    inside = {id(part) for part in spanning}
    return [p for p in left if id(p) not in inside], [p for p in right if id(p) not in inside], across + spanning


def is_text(part: LinePiece) -> bool:
    """Whether a piece has several words of letters, and is no part of an equation."""
    return sum(word.text[:2].isalpha() and len(word.text) > 1 for word in part.words) >= _TEXT


def is_mark(part: LinePiece) -> bool:
    """Whether a piece is what stands before an entry of a list, as `[3]` or `3.`."""
    return _MARK.fullmatch(part.text) is not None


def _level(beside: list[LinePiece], across: list[LinePiece]) -> list[LinePiece]:
    """Return the pieces that stand on one line with words across: the number of an entry or a note, a loose end."""
    lines = [part for part in across if len(part.words) > 1]
    return [part for part in beside if any(_is_level(part, line) or stands_beside(part, line) for line in lines)]


def _is_level(part: LinePiece, line: LinePiece) -> bool:
    return abs(line.base - part.base) < 0.1 * line.size and abs(line.size - part.size) < 1


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
            return piece_of(list(part.words[:number])), piece_of(list(part.words[number:]))
    return None


def _table_rows(left: list[LinePiece], right: list[LinePiece]) -> list[LinePiece]:
    """Return the rows of a table that spans the columns: figures on both sides of the gutter, and no line of text."""
    rows: dict[int, tuple[list[LinePiece], list[LinePiece]]] = {}
    for number, side in enumerate((left, right)):
        for part in side:
            rows.setdefault(round(part.base), ([], []))[number].append(part)
    found = []
    for both in rows.values():
        cells = sum(map(is_figure, both[0])), sum(map(is_figure, both[1]))
        if min(cells) > 0 and sum(cells) > 2 and sum(cells) >= len(both[0]) + len(both[1]) - 1:
            found += both[0] + both[1]
    return found
