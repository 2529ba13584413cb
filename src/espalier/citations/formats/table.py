"""Tables: JSONL with everything a record holds, CSV with one column a label and one a normalised value.

JSONL is one object a line, `Record.to_dict()` character for character: text, fields (label, text, start, end,
confidence), csl (whose id is unique within the run), confidence, certificate, violations. The price of a hard rule,
which is infinite, is null: JSON has no infinity.

CSV has a header line and these columns: key, text, confidence, certificate, violations; then each label of a
reference, with the values of its fields joined by ' | '; then 'work.' and each part of the normal form, names as
'van der Berg, Jan; Smith, A.', dates as EDTF ('1994-05', '1994/1996', '1850~'). Cells are cleaned (`text.clean`), so
every record is one line; lines end in LF. A spreadsheet takes a cell that starts with = + - or @ for a formula, and
references come from strangers: `safe=True` puts an apostrophe before such cells. Without it every cell is the value.
Excel takes a file for UTF-8 if it is written with the encoding 'utf-8-sig'.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from espalier.citations.formats.keys import Keys
from espalier.citations.formats.text import clean, edtf, inverted, page_range, to_json
from espalier.citations.record import LABELS
from espalier.citations.work import Work

if TYPE_CHECKING:
    from espalier.citations.record import Record

__all__ = ["COLUMNS", "write_csv", "write_jsonl"]

_ROLES = {"authors": "author", "editors": "editor", "translators": "translator"}
_PARTS = tuple(field.name for field in fields(Work) if field.name != "others")

COLUMNS = (
    *("key", "text", "confidence", "certificate", "violations"),
    *LABELS,
    *(f"work.{part}" for part in _PARTS),
)
"""The columns of the CSV, in order."""

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")


def write_jsonl(records: Iterable[Record], *, keys: Keys | None = None) -> Iterator[str]:
    """Yield one line of JSON a record; `keys` goes on from an earlier run."""
    keys = keys or Keys()
    for record in records:
        row = record.to_dict()
        row["csl"]["id"] = keys(record.work)
        row["violations"] = [_finite(violated) for violated in row["violations"]]
        yield to_json(row) + "\n"


def write_csv(records: Iterable[Record], *, safe: bool = False, keys: Keys | None = None) -> Iterator[str]:
    """Yield a header and one line a record; `safe` disarms formulas, `keys` goes on from an earlier run."""
    keys = keys or Keys()
    yield _line(COLUMNS)
    for record in records:
        cells = map(clean, _cells(record, keys(record.work)))
        yield _line([f"'{cell}" if safe and cell.startswith(_FORMULA) else cell for cell in cells])


def _finite(violated: dict[str, Any]) -> dict[str, Any]:
    return {name: None if value == math.inf else value for name, value in violated.items()}


def _cells(record: Record, key: str) -> Iterator[str]:
    """Yield the cells of a record in the order of `COLUMNS`."""
    yield from (key, record.text, f"{record.confidence:.6g}", record.certificate)
    yield "; ".join(
        violated.name if violated.position is None else f"{violated.name} at token {violated.position}"
        for violated in record.violations
    )
    values: dict[str, list[str]] = {label: [] for label in LABELS}
    for field in record.fields:
        values[field.label].append(field.value)
    yield from map(" | ".join, values.values())
    yield from (_part(record.work, part) for part in _PARTS)


def _part(work: Work, part: str) -> str:
    value = getattr(work, part)
    if part in _ROLES:
        return "; ".join([*map(inverted, value), *(["et al."] if _ROLES[part] in work.others else [])])
    if part in ("issued", "accessed"):
        return edtf(value)
    if part == "pages":
        return page_range(value, "-") if value else ""
    return "; ".join(f"{label}: {text}" for label, text in value) if part == "unread" else str(value)


def _line(cells: Iterable[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
