"""Formats that other tools read: each writer takes records one at a time and yields pieces of text.

    from espalier.citations.formats import FORMATS

    with open("refs.bib", "w", encoding="utf-8") as file:
        file.writelines(FORMATS["bibtex"](parser.parse_many(lines)))

| format | what | keeps |
|---|---|---|
| bibtex | entries for LaTeX | the normal form |
| csl | a JSON array of CSL items | the normal form |
| ris | tagged lines for reference managers | the normal form |
| tei | a TEI document, a `biblStruct` a record | the normal form and the text |
| jsonl | an object a line, `Record.to_dict` | everything but alternatives, every character |
| csv | a row a record | text, fields without their places, and the normal form |

Every piece but the first and last is one record, so memory does not grow with the file, but for the keys given so
far (`keys.Keys`). Text is to be written as UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from espalier.citations.formats import bibtex, csl, ris, table, tei
from espalier.citations.record import Record
from espalier.errors import InputError, did_you_mean

__all__ = ["FORMATS", "Writer", "write"]

Writer = Callable[..., Iterator[str]]
"""Takes an iterable of records and the format's own options by name; yields the text in pieces."""

FORMATS: Mapping[str, Writer] = MappingProxyType(
    {
        "bibtex": bibtex.write,
        "csl": csl.write,
        "ris": ris.write,
        "tei": tei.write,
        "jsonl": table.write_jsonl,
        "csv": table.write_csv,
    }
)


def write(records: Iterable[Record], format: str, **options: Any) -> Iterator[str]:
    """Return the records in the named format, piece by piece; options are the format's own (`keys`, `safe`, `newline`).

    A name that is no format is an `InputError`, raised here and not when the first piece is asked for.
    """
    if isinstance(records, Record):
        raise InputError("write takes an iterable of records; wrap a single one in [ ]")
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise InputError(f"{format!r} is no format of references{did_you_mean(format, FORMATS)} (there are: {known})")
    return FORMATS[format](records, **options)
