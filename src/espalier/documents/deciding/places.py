"""Where a line stands, in terms that do not depend on the page: against its column, and against the line above it.

Everything is in units of the type's size (ems) and in classes. Where lines have no places and no spaces before them,
only their lengths are left, and the rest says nothing."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.documents.deciding.units import Unit

__all__ = ["LinePlace", "layouts"]

WINDOW = 15  # lines above and below that the width of a column is taken from, where there are no places

Float = NDArray[np.float64]


class LinePlace(NamedTuple):
    """The place of a unit, in classes.

    indent : against the column's left edge; step : against the line above; gap : white space above; short : how much of
    the column's width the line leaves free; size : of its type against the document's; top : where on the page; turn :
    whether a page or column begins here.
    """

    indent: str
    step: str
    gap: str
    short: str
    size: str
    top: str
    turn: str


def layouts(units: Sequence[Unit]) -> list[LinePlace]:
    """Return the layout of each unit."""
    if not units:
        return []
    x0, x1 = (np.array([unit[k] for unit in units], float) for k in (5, 6))
    y0, size = (np.array([unit[k] for unit in units], float) for k in (7, 9))
    groups = _columns(units)
    left, right = _edges(units, x0, x1, groups)
    pitch = _pitch(units, y0, groups)
    body = float(np.median(size))
    plain = not any(unit.placed for unit in units)
    flat = plain and len({unit.x0 for unit in units}) == 1 and not any(unit.blank for unit in units)
    height = max(float(max(unit.y1 for unit in units)), 1.0)
    found, above = [], -1  # above : the unit that begins the line above
    for i, unit in enumerate(units):
        if unit.inner:
            free = _free(float(right[i] - left[i]), float(right[i] - x1[i]))
            found.append(LinePlace("inner", "inner", "inner", free, "", "", ""))
            continue
        same = above >= 0 and groups[i] == groups[above]
        em = max(float(size[i]), 0.1)
        indent = "" if flat else _indent(float(x0[i] - left[i]) / em)
        step = "" if flat or not same else _step(float(x0[i] - x0[above]) / em)
        gap = _gap_of(unit, units[above] if same else None, float(pitch[i]), flat)
        free = _free(float(right[i] - left[i]), float(right[i] - x1[i]))
        ratio = float(size[i]) / body if unit.placed else 1.0
        scale = "small" if ratio < 0.93 else "large" if ratio > 1.07 else "" if plain else "body"
        place = float(y0[i]) / height if unit.placed else 0.5
        top = "top" if place < 0.08 else "bottom" if place > 0.92 else ""
        turn = "" if same or above < 0 else "page" if unit.page != units[above].page else "column"
        found.append(LinePlace(indent, step, gap, free, scale, top, turn))
        above = i
    return found


def _columns(units: Sequence[Unit]) -> list[tuple[int, int]]:
    return [(unit.page, unit.column) if unit.placed else (0, 0) for unit in units]


def _edges(units: Sequence[Unit], x0: Float, x1: Float, groups: Sequence[tuple[int, int]]) -> tuple[Float, Float]:
    """Return the left and the right edge of the column around each unit."""
    left, right = np.empty(len(units)), np.empty(len(units))
    if units[0].placed:
        members: dict[tuple[int, int], list[int]] = {}
        for i, group in enumerate(groups):
            members.setdefault(group, []).append(i)
        for which in members.values():
            left[which], right[which] = np.quantile(x0[which], 0.05), np.quantile(x1[which], 0.93)
        return left, right
    return _windows(x0).min(1), np.sort(_windows(x1), 1)[:, int(0.85 * (2 * WINDOW + 1))]


def _windows(values: Float) -> Float:
    """Return the values around each place, a row each; beyond the ends the values near them are repeated."""
    padded = np.pad(values, WINDOW, mode="symmetric") if len(values) > 1 else np.repeat(values, 2 * WINDOW + 1)
    found: Float = np.lib.stride_tricks.sliding_window_view(padded, 2 * WINDOW + 1)
    return found


def _pitch(units: Sequence[Unit], y0: Float, groups: Sequence[tuple[int, int]]) -> Float:
    """Return the usual distance of two lines around each unit; 0 where nothing is placed."""
    if not units[0].placed:
        return np.zeros(len(units))
    steps = np.full(len(units), np.nan)
    for i in range(1, len(units)):
        if groups[i] == groups[i - 1] and not units[i].inner and y0[i] > y0[i - 1]:
            steps[i] = y0[i] - y0[i - 1]
    usual = float(np.nanmedian(steps)) if np.isfinite(steps).any() else 1.0
    near = np.sort(_windows(np.where(np.isfinite(steps), steps, usual)), 1)
    return near[:, int(0.3 * (2 * WINDOW + 1))]


def _indent(ems: float) -> str:
    return "0" if ems < 0.4 else "1" if ems < 1.6 else "2" if ems < 4 else "3" if ems < 9 else "4"


def _step(ems: float) -> str:
    return "out" if ems < -0.4 else "in" if ems > 0.4 else "same"


_GAPS = ("up", "0", "1", "1+", "2", "3")
_GAP_STEPS = (0.0, 0.6, 1.12, 1.35, 2.1)  # times the usual distance of two lines, from which the next gap begins


def _gap_of(unit: Unit, above: Unit | None, pitch: float, flat: bool) -> str:
    if not unit.placed:
        return "" if flat else "2" if unit.blank else "1"
    if above is None or pitch <= 0:
        return ""
    return _GAPS[bisect_right(_GAP_STEPS, (unit.y0 - above.y0) / pitch)]


def _free(width: float, free: float) -> str:
    share = free / width if width > 0 else 0.0
    return "0" if share < 0.04 else "1" if share < 0.12 else "2" if share < 0.3 else "3" if share < 0.6 else "4"
