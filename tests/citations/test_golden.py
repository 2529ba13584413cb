"""200 records in every format, as they were written: whatever changes a character of a file shows here, and is news.

`golden/records.jsonl` has the records (text, fields), of references that were made up for the purpose; beside it is the
file of each format. After a change that is meant: `python tests/citations/test_golden.py` writes the files anew; read
the difference, and name it in the changelog.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from espalier.citations.formats import write
from espalier.citations.record import Field, Record

HERE = Path(__file__).parent / "golden"
FILES = {
    "records.bib": ("bibtex", {}),
    "records.biblatex.bib": ("bibtex", {"dialect": "biblatex"}),
    "records.csl.json": ("csl", {}),
    "records.csv": ("csv", {}),
    "records.endnote.xml": ("endnote", {}),
    "records.ris": ("ris", {}),
    "records.tei.xml": ("tei", {}),
}


def records() -> list[Record]:
    """Return the records as they were parsed once, whatever a parser would say today."""
    rows = map(json.loads, (HERE / "records.jsonl").read_text(encoding="utf-8").splitlines())
    return [
        Record(row["text"], tuple(Field(*field, 1.0) for field in row["fields"]), 1.0, certificate=None) for row in rows
    ]


def written(name: str) -> str:
    """Return a file of all records."""
    format, options = FILES[name]
    return "".join(write(records(), format, **options))


@pytest.mark.parametrize("name", FILES)
def test_files_are_as_they_were(name: str) -> None:
    assert written(name) == (HERE / name).read_text(encoding="utf-8")


def test_there_are_two_hundred() -> None:
    assert len(records()) == 200


if __name__ == "__main__":
    for name in FILES:
        (HERE / name).write_text(written(name), encoding="utf-8")
