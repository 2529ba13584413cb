"""JSON Lines: an object on each line, with everything that a record holds, character for character.

The object is `Record.to_dict()`: text, fields (label, text, start, end, confidence), csl (whose id is unique within the
run), confidence, certificate, violations. A record with other readings has them as `alternatives`, and one that was
read from a file has its place there as `source`. The price of a hard rule, which is infinite, is null: JSON has no
infinity.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from espalier.citations.formats import KEEPS, OutputFormat, to_json

if TYPE_CHECKING:
    from espalier.citations.record import Record

__all__ = ["FORMAT", "entry"]

_READING = ("fields", "confidence", "certificate", "violations")


def entry(record: Record, key: str = "", source: Mapping[str, Any] | None = None) -> str:
    """Return the line of a record; `source` says where its text was read."""
    row = record.to_dict()
    if key:
        row["csl"]["id"] = key
    if source is not None:
        row["source"] = source
    if record.alternatives:
        others = (other.to_dict() for other in record.alternatives)
        row["alternatives"] = [{name: other[name] for name in _READING} for other in others]
    return to_json(row) + "\n"


FORMAT = OutputFormat(
    name="jsonl",
    summary="a JSON object on each line: text, fields, normal form, confidences",
    extensions=(".records.jsonl", ".jsonl"),
    media_type="application/x-ndjson",
    entry=entry,
    keeps=frozenset(KEEPS),
    options=frozenset({"source"}),
)
