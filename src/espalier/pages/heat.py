"""Squares of counts as a drawing: the darker a field, the larger its share of the row."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from espalier.errors import InputError
from espalier.pages.drawing import COLOURS, WIDTH, Drawing

__all__ = ["draw_heat"]

_TOP, _BOTTOM, _RIGHT, _ROW = 34, 84, 16, 24
_CHARACTER = 7.2  # width of a character, roughly


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
