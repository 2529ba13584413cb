"""A drawing: SVG parts and a legend, as a figure inside a page or as a file of its own.

Colours tell series apart for most kinds of colour blindness (Okabe & Ito 2008), and markers do for the others. Inside a
page text takes the colour of the page, so that light and dark ones both work; a file has its own light background, and
can stand on any page.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from espalier.errors import InputError

__all__ = ["COLOURS", "MARKS", "WIDTH", "Drawing", "Scale", "Sign", "check_finite", "round_ticks", "short"]

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
    """Parts : SVG elements inside width x height; legend : what the colours and marks mean."""

    title: str
    parts: str
    legend: tuple[Sign, ...]
    height: float
    width: float = WIDTH

    def figure(self) -> str:
        """Return the drawing as HTML, to be put into a page."""
        drawing = (
            f'<svg viewBox="0 0 {self.width} {self.height}" role="img" aria-label="{self._named()}">{self.parts}</svg>'
        )
        legend = " &nbsp; ".join(
            f'<span style="color:{sign.colour}">{sign.mark}</span> {escape(sign.name)}' for sign in self.legend
        )
        return f"<figure>{drawing}<figcaption>{legend}</figcaption></figure>"

    def file(self) -> str:
        """Return the drawing as the text of an SVG file, with its legend below."""
        legend, lines = self._laid_out()
        height = self.height + _LINE * lines + _MARGIN
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" '
            f'height="{height}" role="img" aria-label="{self._named()}" font-family="system-ui, sans-serif" '
            f'font-size="12" fill="#222"><style>{_STYLE}</style>'
            f'<rect width="{self.width}" height="{height}" rx="6" fill="#fff"/>{self.parts}{legend}</svg>\n'
        )

    def _named(self) -> str:
        return escape(f"{self.title}: {', '.join(sign.name for sign in self.legend)}")

    def _laid_out(self) -> tuple[str, int]:
        """Return the legend as SVG, and the number of lines that it takes."""
        x, line, parts = float(_MARGIN), 0, []
        for sign in self.legend:
            wide = _CHARACTER * (len(sign.name) + 5)
            if x > _MARGIN and x + wide > self.width:
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
