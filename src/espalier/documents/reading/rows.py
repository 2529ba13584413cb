"""Lines as rows of plain values, to be sent as JSON, and back; what a confined reader sends is checked, not believed.

A row is the values of a `TextLine` without its start, which follows from the lines before.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from espalier.documents.lines import HINTS, Box, PageSize, PrintedText, TextLine
from espalier.documents.pace import look

__all__ = ["from_rows", "to_rows"]


def to_rows(printed: PrintedText) -> bytes:
    """Return the lines, pages, kind and warnings of a file as JSON."""
    rows = [(x.text, x.page, x.box, x.size, x.bold, x.italic, x.column, x.hint, x.paragraph) for x in printed.lines]
    found = {"kind": printed.kind, "pages": printed.pages, "warnings": printed.warnings, "lines": rows}
    return json.dumps(found, separators=(",", ":")).encode()


def from_rows(found: Any, name: str) -> PrintedText:
    """Return the lines of a file whose rows were read as JSON; raises ValueError or TypeError for anything else."""
    kind, pages, warnings = found["kind"], found["pages"], found["warnings"]
    lines = [_line(row) for row in found["lines"]]
    if not all(isinstance(text, str) for text in (kind, *warnings)):
        raise TypeError("texts are not text")
    return PrintedText.of(
        lines, pages=[PageSize(*_numbers(page, 2)) for page in pages], name=name, kind=kind, warnings=warnings
    )


_PAGES = 1 << 24  # each stands in the text as a character
_TRUTH = (None, True, False)


def _line(row: Any) -> TextLine:
    look()
    text, page, box, size, bold, italic, column, hint, paragraph = row
    if not (isinstance(text, str) and type(page) is int and 0 < page < _PAGES and hint in HINTS):
        raise TypeError("this is no line")
    if (
        bold not in _TRUTH
        or italic not in _TRUTH
        or not isinstance(paragraph, bool)
        or not (column is None or type(column) is int)
    ):
        raise TypeError("this is no line")
    placed = None if box is None else Box(*_numbers(box, 4))
    return TextLine(text, page, placed, None if size is None else _numbers([size], 1)[0], bold, italic, column, 0,
                    hint, paragraph)  # fmt: skip


def _numbers(values: Any, count: int) -> list[float]:
    if len(values) != count or not all(type(x) in (int, float) and isfinite(x) for x in values):
        raise TypeError("these are no numbers")
    return list(values)
