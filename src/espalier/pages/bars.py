"""Bar charts: a group of horizontal bars for each name, one bar a series, and marks for figures that are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from espalier.errors import InputError
from espalier.pages.drawing import COLOURS, WIDTH, Drawing, Scale, Sign, check_finite, round_ticks, short

__all__ = ["Bars", "draw_bars"]

_TOP, _BOTTOM, _RIGHT = 34, 44, 20
_THICK, _GAP = 9, 8  # of a bar, and between groups
_CHARACTER = 7.2  # width of a character, roughly
_GIVEN = "◇"


@dataclass(frozen=True, slots=True)
class Bars:
    """A series: its name, a value for each group, and a figure that is given beside it; None where there is none."""

    name: str
    values: Sequence[float | None]
    given: Sequence[float | None] = ()


def draw_bars(title: str, groups: Sequence[str], series: Sequence[Bars], *, x: str = "", given: str = "") -> Drawing:
    """Draw the values of every group from 0 to the left and to the right; x names the axis, `given` the marks."""
    for bars in series:
        if len(bars.values) != len(groups) or len(bars.given) not in (0, len(groups)):
            raise InputError(f"the chart {title!r} has {len(groups)} groups; {bars.name!r} has another number of bars")
    every = [value for bars in series for value in (*bars.values, *bars.given) if value is not None]
    ticks = round_ticks(min(0.0, *check_finite(title, every)), max(0.0, *every))
    left = 16 + _CHARACTER * max(map(len, groups))
    across = Scale(ticks[0], ticks[-1], left, WIDTH - _RIGHT)
    pitch = _THICK * len(series) + _GAP
    bottom = _TOP + pitch * len(groups)
    parts = [f'<text x="12" y="18" class="title">{escape(title)}</text>']
    for tick in ticks:
        at, kind = across(tick), "grid" if tick else "zero"
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{bottom}" class="{kind}"/>')
        parts.append(f'<text x="{at:.1f}" y="{bottom + 16}" class="middle">{short(tick)}</text>')
    middle = (left + WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{bottom + 36}" class="middle axis">{escape(x)}</text>')
    for g, name in enumerate(groups):
        y = _TOP + pitch * g + _GAP / 2
        parts.append(f'<text x="{left - 8:.1f}" y="{y + (pitch - _GAP) / 2 + 4:.1f}" class="end">{escape(name)}</text>')
        for k, bars in enumerate(series):
            parts += _bar(bars, g, across, y + _THICK * k, COLOURS[k % len(COLOURS)])
    legend = [Sign(COLOURS[k % len(COLOURS)], "■", bars.name) for k, bars in enumerate(series)]
    if any(value is not None for bars in series for value in bars.given):
        legend.append(Sign(COLOURS[-1], _GIVEN, given))
    return Drawing(title, "".join(parts), tuple(legend), bottom + _BOTTOM)


def _bar(bars: Bars, g: int, across: Scale, y: float, colour: str) -> list[str]:
    """Return the bar of one group, and the mark of what is given."""
    value, given = bars.values[g], bars.given[g] if bars.given else None
    parts = []
    if value is not None:
        a, b = sorted((across(0.0), across(value)))
        parts.append(
            f'<rect x="{a:.1f}" y="{y:.1f}" width="{b - a:.1f}" height="{_THICK - 1}" fill="{colour}">'
            f"<title>{value:+.2f}</title></rect>"
        )
    if given is not None:
        parts.append(
            f'<text x="{across(given):.1f}" y="{y + _THICK:.1f}" class="middle" fill="{COLOURS[-1]}">{_GIVEN}</text>'
        )
    return parts
