"""Self-contained HTML pages: text, tables and drawings in one file that needs no network and no scripts."""

from espalier.pages.charts import Bars, Drawing, Line, draw_bars, draw_heat, draw_lines
from espalier.pages.page import heat_table, page, paragraph, section, table

__all__ = [
    "Bars", "Drawing", "Line", "draw_bars", "draw_heat", "draw_lines", "heat_table", "page",
    "paragraph", "section", "table",
]  # fmt: skip
