"""Line charts: axes, a few round ticks, one coloured line a series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from espalier.pages.drawing import COLOURS, MARKS, WIDTH, Drawing, Scale, Sign, check_finite, round_ticks, short

__all__ = ["Line", "draw_lines", "line_chart"]

_HEIGHT = 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 16, 34, 44


@dataclass(frozen=True, slots=True)
class Line:
    """A series: its name and its points, (x, y); `dashed` for a figure that is given rather than measured.

    like : the number of the series whose colour it has, None for the next one.
    """

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    like: int | None = None


def line_chart(title: str, lines: Sequence[Line], *, x: str = "", y: str = "", evenly: bool = False) -> str:
    """Return the chart of `draw_lines` as a figure for a page."""
    return draw_lines(title, lines, x=x, y=y, evenly=evenly).figure()


def draw_lines(title: str, lines: Sequence[Line], *, x: str = "", y: str = "", evenly: bool = False) -> Drawing:
    """Draw series over common axes; x and y name the axes.

    evenly : put the values of x at equal distances, as for sizes that grow tenfold.
    """
    xs = sorted(set(check_finite(title, (px for line in lines for px, _ in line.points))))
    ys = check_finite(title, (py for line in lines for _, py in line.points))
    places = {px: float(k) for k, px in enumerate(xs)} if evenly else {px: px for px in xs}
    across = Scale(min(places.values()), max(places.values()), _LEFT, WIDTH - _RIGHT)
    ticks = round_ticks(min(ys), max(ys))
    up = Scale(ticks[0], ticks[-1], _HEIGHT - _BOTTOM, _TOP)
    shown = xs if evenly or len(xs) <= 8 else round_ticks(xs[0], xs[-1])
    parts = [f'<text x="{_LEFT}" y="18" class="title">{escape(title)}</text>']
    for tick in ticks:
        at = up(tick)
        parts.append(f'<line x1="{_LEFT}" x2="{WIDTH - _RIGHT}" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>')
        parts.append(f'<text x="{_LEFT - 8}" y="{at + 4:.1f}" class="end">{short(tick)}</text>')
    for value in shown:
        at = across(places.get(value, value))
        if _LEFT - 1 <= at <= WIDTH - _RIGHT + 1:
            parts.append(f'<text x="{at:.1f}" y="{_HEIGHT - _BOTTOM + 16}" class="middle">{short(value)}</text>')
    middle = (_LEFT + WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 8}" class="middle axis">{escape(x)}</text>')
    turned = f'transform="rotate(-90 14 {_HEIGHT / 2})"'
    parts.append(f'<text x="14" y="{_HEIGHT / 2}" class="middle axis" {turned}>{escape(y)}</text>')
    legend = []
    for k, line in enumerate(lines):
        look = k if line.like is None else line.like
        sign = Sign(COLOURS[look % len(COLOURS)], MARKS[look % len(MARKS)], line.name)
        parts += _drawn(line, [(across(places[px]), up(py)) for px, py in sorted(line.points)], sign)
        legend.append(sign)
    return Drawing(title, "".join(parts), tuple(legend), _HEIGHT)


def _drawn(line: Line, points: Sequence[tuple[float, float]], sign: Sign) -> list[str]:
    """Return a series as a line with a mark at each point."""
    path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    dashes = ' stroke-dasharray="6 4"' if line.dashed else ""
    marks = [
        f'<text x="{px:.1f}" y="{py + 4:.1f}" class="middle" fill="{sign.colour}">{sign.mark}</text>'
        for px, py in points
    ]
    return [f'<polyline points="{path}" fill="none" stroke="{sign.colour}" stroke-width="2"{dashes}/>', *marks]
