"""Self-contained HTML pages: text, tables and drawings in one file that needs no network and no scripts."""

from espalier.pages.bars import Bars, draw_bars
from espalier.pages.drawing import Drawing
from espalier.pages.heat import draw_heat
from espalier.pages.page import heat_table, page, paragraph, section, table
from espalier.pages.svg import Line, draw_lines, line_chart

__all__ = [
    "Bars", "Drawing", "Line", "draw_bars", "draw_heat", "draw_lines", "heat_table", "line_chart", "page",
    "paragraph", "section", "table",
]  # fmt: skip
