"""The frame of a page: a title, sections, tables; light and dark, readable on a phone; all text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

__all__ = ["heat_table", "page", "paragraph", "section", "table"]

_STYLE = """
:root { color-scheme: light dark; --grid: #8883; --soft: #888; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 64rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .75rem; text-align: right; border-bottom: 1px solid var(--grid); }
th:first-child, td:first-child { text-align: left; } th { font-weight: 600; color: var(--soft); }
.wide { overflow-x: auto; } .good { color: #009e73; } .bad { color: #d55e00; }
figure { margin: 1rem 0; max-width: 40rem; } svg { width: 100%; height: auto; }
svg text { fill: currentColor; font-size: 12px; } svg text[fill] { fill: revert-layer; }
svg .title { font-weight: 600; font-size: 14px; } svg .end { text-anchor: end; } svg .middle { text-anchor: middle; }
svg .grid { stroke: var(--grid); } svg .zero { stroke: var(--soft); } figcaption, .note { color: var(--soft); }
"""


def page(title: str, body: Sequence[str]) -> str:
    """Return a whole page; `body` is HTML, as the other functions here make it."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
        f"<body><h1>{escape(title)}</h1>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def section(title: str, body: Sequence[str], note: str = "") -> str:
    """Return a heading, a line of explanation, and what follows."""
    said = f'<p class="note">{escape(note)}</p>' if note else ""
    return f"<section><h2>{escape(title)}</h2>{said}\n" + "\n".join(body) + "</section>"


def paragraph(text: str) -> str:
    """Return a paragraph of running text."""
    return f"<p>{escape(text)}</p>"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], classes: Sequence[Sequence[str]] = ()) -> str:
    """Return a table of texts; classes : for each row, a style for each cell ("good", "bad" or "")."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in headers)
    lines = []
    for r, row in enumerate(rows):
        styles = classes[r] if classes else [""] * len(row)
        cells = (
            f'<td class="{s}">{escape(t)}</td>' if s else f"<td>{escape(t)}</td>"
            for t, s in zip(row, styles, strict=True)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def heat_table(names: Sequence[str], counts: Sequence[Sequence[int]], corner: str = "") -> str:
    """Return a square table of counts; the darker a cell, the larger its share of the row."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in [corner, *names])
    lines = []
    for name, row in zip(names, counts, strict=True):
        total = max(sum(row), 1)
        cells = (f'<td style="background:rgba(0,114,178,{0.6 * n / total:.3f})">{n or ""}</td>' for n in row)
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
