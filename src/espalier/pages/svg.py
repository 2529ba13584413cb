"""Line charts as SVG text: axes, a few round ticks, one coloured line a series, and a legend.

Colours tell series apart for most kinds of colour blindness (Okabe & Ito 2008), and markers do for the others; text
takes the colour of the page, so that light and dark pages both work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from espalier.errors import InputError

__all__ = ["COLOURS", "Line", "line_chart"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888")
_MARKS = ("●", "■", "▲", "◆", "▼", "○", "□")
_WIDTH, _HEIGHT = 560, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 34, 44


@dataclass(frozen=True, slots=True)
class Line:
    """A series: its name and its points, (x, y); `dashed` for a figure that is given rather than measured."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False


def line_chart(title: str, lines: Sequence[Line], *, x: str = "", y: str = "", evenly: bool = False) -> str:
    """Draw series over common axes; x and y name the axes.

    evenly : put the values of x at equal distances, as for sizes that grow tenfold.
    """
    points = [point for line in lines for point in line.points]
    if not points:
        raise InputError(f"the chart {title!r} has no points to draw")
    if not all(math.isfinite(value) for point in points for value in point):
        raise InputError(f"the chart {title!r} has a point that is not finite")
    xs = sorted({px for px, _ in points})
    places = {px: float(k) for k, px in enumerate(xs)} if evenly else {px: px for px in xs}
    across = _Scale(min(places.values()), max(places.values()), _LEFT, _WIDTH - _RIGHT)
    ticks = _round_ticks(min(py for _, py in points), max(py for _, py in points))
    up = _Scale(ticks[0], ticks[-1], _HEIGHT - _BOTTOM, _TOP)
    shown = xs if evenly or len(xs) <= 8 else _round_ticks(xs[0], xs[-1])
    parts = [f'<text x="{_LEFT}" y="18" class="title">{escape(title)}</text>']
    for tick in ticks:
        at = up(tick)
        parts.append(f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" class="end">{_short(tick)}</text>')
    for value in shown:
        at = across(places.get(value, value))
        if _LEFT - 1 <= at <= _WIDTH - _RIGHT + 1:
            parts.append(f'<text x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 16}" class="middle">{_short(value)}</text>')
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 8}" class="middle axis">{escape(x)}</text>')
    turned = f'transform="rotate(-90 14 {_HEIGHT / 2})"'
    parts.append(f'<text x="14" y="{_HEIGHT / 2}" class="middle axis" {turned}>{escape(y)}</text>')
    legend = []
    for k, line in enumerate(lines):
        colour, mark = COLOURS[k % len(COLOURS)], _MARKS[k % len(_MARKS)]
        drawn = [(across(places[px]), up(py)) for px, py in sorted(line.points)]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in drawn)
        dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dashes}/>')
        parts += [
            f'<text x="{px:.1f}" y="{py + 4:.1f}" class="middle" fill="{colour}">{mark}</text>' for px, py in drawn
        ]
        legend.append(f'<span style="color:{colour}">{mark}</span> {escape(line.name)}')
    named = escape(f"{title}: {', '.join(line.name for line in lines)}")
    drawing = f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{named}">{"".join(parts)}</svg>'
    return f"<figure>{drawing}<figcaption>{' &nbsp; '.join(legend)}</figcaption></figure>"


@dataclass(frozen=True, slots=True)
class _Scale:
    """A straight map from low..high to first..last; a single value goes to the middle."""

    low: float
    high: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        if self.high == self.low:
            return (self.first + self.last) / 2
        return self.first + (self.last - self.first) * (value - self.low) / (self.high - self.low)


def _round_ticks(low: float, high: float) -> list[float]:
    """Return 3 to 8 round numbers in equal steps that enclose low..high."""
    if high <= low:
        low, high = low - 1.0, high + 1.0
    rough = (high - low) / 5
    step = 10.0 ** math.floor(math.log10(rough))
    step = next((step * m for m in (1, 2, 5) if step * m >= rough), 10 * step)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [k * step for k in range(first, last + 1)]


def _short(value: float) -> str:
    return f"{value:.6g}"
