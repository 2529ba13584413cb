"""Drawings: lines, bars and squares of counts, as a figure inside a page or as a file of its own.

A drawing is SVG parts and a legend. Colours tell series apart for most kinds of colour blindness (Okabe & Ito 2008),
and markers do for the others. Inside a page text takes the colour of the page, so that light and dark ones both work; a
file has its own light background, and can stand on any page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from espalier.errors import InputError

__all__ = [
    "COLOURS",
    "MARKS",
    "WIDTH",
    "Bars",
    "Drawing",
    "Line",
    "Scale",
    "Sign",
    "check_finite",
    "draw_bars",
    "draw_heat",
    "draw_lines",
    "round_ticks",
    "short",
]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888")
MARKS = ("●", "■", "▲", "◆", "▼", "○", "□")
WIDTH = 560
_CHARACTER = 7.2  # width of a character, roughly
_LINE = 18
_MARGIN = 12
_STYLE = (
    ".title{font-weight:600;font-size:14px}.end{text-anchor:end}.middle{text-anchor:middle}.grid{stroke:#ddd}"
    ".zero{stroke:#888}"
)


@dataclass(frozen=True, slots=True)
class Sign:
    """An entry of a legend."""

    colour: str
    mark: str
    name: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """Parts : SVG elements inside WIDTH x height; legend : what the colours and marks mean."""

    title: str
    parts: str
    legend: tuple[Sign, ...]
    height: float

    def figure(self) -> str:
        """Return the drawing as HTML, to be put into a page."""
        drawing = f'<svg viewBox="0 0 {WIDTH} {self.height}" role="img" aria-label="{self._named()}">{self.parts}</svg>'
        legend = " &nbsp; ".join(
            f'<span style="color:{sign.colour}">{sign.mark}</span> {escape(sign.name)}' for sign in self.legend
        )
        return f"<figure>{drawing}<figcaption>{legend}</figcaption></figure>"

    def file(self) -> str:
        """Return the drawing as the text of an SVG file, with its legend below."""
        legend, lines = self._laid_out()
        height = self.height + _LINE * lines + _MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" aria-label="{self._named()}" font-family="system-ui, sans-serif" '
            f'font-size="12" fill="#222"><style>{_STYLE}</style>'
            f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#fff"/>{self.parts}{legend}</svg>\n'
        )

    def _named(self) -> str:
        return escape(f"{self.title}: {', '.join(sign.name for sign in self.legend)}")

    def _laid_out(self) -> tuple[str, int]:
        """Return the legend as SVG, and the number of lines that it takes."""
        x, line, parts = float(_MARGIN), 0, []
        for sign in self.legend:
            wide = _CHARACTER * (len(sign.name) + 5)
            if x > _MARGIN and x + wide > WIDTH:
                x, line = float(_MARGIN), line + 1
            y = self.height + _LINE * line + _MARGIN
            parts.append(
                f'<text x="{x:.0f}" y="{y:.0f}"><tspan fill="{sign.colour}">{sign.mark}</tspan> '
                f"{escape(sign.name)}</text>"
            )
            x += wide
        return "".join(parts), line + 1 if parts else 0


@dataclass(frozen=True, slots=True)
class Scale:
    """A straight map from low..high to first..last; a single value goes to the middle."""

    low: float
    high: float
    first: float
    last: float

    def __call__(self, value: float) -> float:
        """Return where a value lies."""
        if self.high == self.low:
            return (self.first + self.last) / 2
        return self.first + (self.last - self.first) * (value - self.low) / (self.high - self.low)


def round_ticks(low: float, high: float) -> list[float]:
    """Return 3 to 8 round numbers in equal steps that enclose low..high."""
    if high <= low:
        low, high = low - 1.0, high + 1.0
    rough = (high - low) / 5
    step = 10.0 ** math.floor(math.log10(rough))
    step = next((step * m for m in (1, 2, 5) if step * m >= rough), 10 * step)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [k * step for k in range(first, last + 1)]


def short(value: float) -> str:
    """Write a tick."""
    return f"{value:.6g}"


def check_finite(title: str, values: Iterable[float]) -> Sequence[float]:
    """Return the values of a chart; refuse none at all, and what is not finite."""
    found = list(values)
    if not found:
        raise InputError(f"the chart {title!r} has no points to draw")
    if not all(map(math.isfinite, found)):
        raise InputError(f"the chart {title!r} has a point that is not finite")
    return found


_TOP, _BOTTOM, _RIGHT = 34, 84, 16  # margins; below are the names of the axis
_HEIGHT, _LEFT = 320, 56  # of a chart of lines


@dataclass(frozen=True, slots=True)
class Line:
    """A series: its name and its points, (x, y); `dashed` for a figure that is given rather than measured.

    like : the number of the series whose colour it has, None for the next one.
    """

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    like: int | None = None


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


_THICK, _GAP = 9, 8  # of a bar, and between groups
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
            raise InputError(
                f"the chart {title!r} has {len(groups)} groups", hint=f"{bars.name!r} has another number of bars"
            )
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


_ROW = 24  # of a chart of counts


def draw_heat(
    title: str, rows: Sequence[str], columns: Sequence[str], counts: Sequence[Sequence[float]], *, x: str = ""
) -> Drawing:
    """Draw a count for each row and column, with the names of the columns slanted below; x says what they are."""
    if not rows or not columns or [len(row) for row in counts] != [len(columns)] * len(rows):
        raise InputError(f"the chart {title!r} needs a count for each of {len(rows)} rows and {len(columns)} columns")
    left = 16 + _CHARACTER * max(map(len, rows))
    wide, bottom = (WIDTH - _RIGHT - left) / len(columns), _TOP + _ROW * len(rows)
    parts = [f'<text x="12" y="18" class="title">{escape(title)}</text>']
    for r, (name, row) in enumerate(zip(rows, counts, strict=True)):
        y, total = _TOP + _ROW * r, max(sum(row), 1.0)
        parts.append(f'<text x="{left - 8:.1f}" y="{y + 16}" class="end">{escape(name)}</text>')
        for c, count in enumerate(row):
            at = left + wide * c
            parts.append(
                f'<rect x="{at:.1f}" y="{y}" width="{wide - 1:.1f}" height="{_ROW - 1}" fill="{COLOURS[0]}" '
                f'fill-opacity="{0.03 + 0.57 * count / total:.3f}"/>'
            )
            if count:
                parts.append(f'<text x="{at + wide / 2:.1f}" y="{y + 16}" class="middle">{count:.6g}</text>')
    for c, name in enumerate(columns):
        below = f"{left + wide * (c + 0.6):.1f}"
        turned = f'transform="rotate(-35 {below} {bottom + 14})"'
        parts.append(f'<text x="{below}" y="{bottom + 14}" class="end" {turned}>{escape(name)}</text>')
    parts.append(f'<text x="12" y="{bottom + _BOTTOM - 8}" class="axis">{escape(x)}</text>')
    return Drawing(title, "".join(parts), (), bottom + _BOTTOM)
