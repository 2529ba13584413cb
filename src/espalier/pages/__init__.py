"""Self-contained HTML pages: text, tables and drawings in one file that needs no network and no scripts."""

from espalier.pages.page import heat_table, page, paragraph, section, table
from espalier.pages.svg import Line, line_chart

__all__ = ["Line", "heat_table", "line_chart", "page", "paragraph", "section", "table"]
