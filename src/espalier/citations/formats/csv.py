"""CSV: a header and a line for each record, with a column for each label and one for each normalised value.

The columns are key, text, confidence, certificate, violations; then each label of a reference, with the values of its
fields joined by ' | '; then 'work.' and each part of the normal form, names as 'van der Berg, Jan; Smith, A.', dates as
EDTF ('1994-05', '1994/1996', '1850~'). Cells are cleaned (`formats.clean`), so every record is one line. Lines
end in LF. A spreadsheet takes a cell that starts with = + - or @ for a formula, and references come from strangers:
`safe=True` puts an apostrophe before such cells. Without it every cell is the value. Excel takes a file for UTF-8 if it
is written with the encoding 'utf-8-sig'.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING

from espalier.citations.formats import Keys, OutputFormat, clean, edtf, inverted, page_range
from espalier.citations.normalise.text import trim
from espalier.citations.record import LABELS
from espalier.citations.work import Work

if TYPE_CHECKING:
    from espalier.citations.record import Record

__all__ = ["COLUMNS", "FORMAT", "entry", "line_of", "parts_of"]

_ROLES = {"authors": "author", "editors": "editor", "translators": "translator"}
_PARTS = tuple(field.name for field in fields(Work) if field.name != "others")

COLUMNS = (
    *("key", "text", "confidence", "certificate", "violations"),
    *LABELS,
    *(f"work.{part}" for part in _PARTS),
)
"""The columns of the CSV, in order."""

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def entry(record: Record, key: str = "", safe: bool = False) -> str:
    """Return the line of a record; `safe` disarms formulas."""
    return line_of(_cells(record, key or Keys()(record.work)), safe)


def line_of(cells: Iterable[str], safe: bool = False) -> str:
    """Return cells, cleaned, as a line; `safe` disarms formulas."""
    cleaned = map(clean, cells)
    return _line([f"'{cell}" if safe and cell.startswith(_FORMULA) else cell for cell in cleaned])


def _cells(record: Record, key: str) -> Iterator[str]:
    """Yield the cells of a record in the order of `COLUMNS`."""
    status = "" if record.certificate is None else str(record.certificate.status)
    sure = "" if record.confidence is None else f"{record.confidence:.6g}"  # an entry of a bibliography has none
    yield from (key, record.text, sure, status)
    yield "; ".join(
        violated.name if violated.position is None else f"{violated.name} at token {violated.position}"
        for violated in record.violations
    )
    values: dict[str, list[str]] = {label: [] for label in LABELS}
    for field in record.fields:
        values[field.label].append(trim(field.text))
    yield from map(" | ".join, values.values())
    yield from (_part(record.work, part) for part in _PARTS)


def parts_of(work: Work) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each part that a work has."""
    yield from ((part, clean(value)) for part in _PARTS if (value := _part(work, part)))


def _part(work: Work, part: str) -> str:
    value = getattr(work, part)
    if part in _ROLES:
        return "; ".join([*map(inverted, value), *(["et al."] if _ROLES[part] in work.others else [])])
    if part in ("issued", "accessed", "original_date"):
        return edtf(value)
    if part == "pages":
        return page_range(value, "-") if value else ""
    return "; ".join(f"{label}: {text}" for label, text in value) if part == "unread" else str(value)


def _line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


FORMAT = OutputFormat(
    name="csv",
    summary="a line of cells for each record, for spreadsheets",
    extensions=(".csv",),
    media_type="text/csv",
    entry=entry,
    head=_line(COLUMNS),
    keeps=frozenset({"text"}),
    options=frozenset({"safe"}),
)
