"""JSON Lines keep every character of a record; CSV reads back as cleaned cells and can be safe for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import replace

import pytest
from citation_works import ARTICLE, CHAPTER, THESIS, one_line, record_of, records
from hypothesis import given, settings

from espalier.citations.formats import write
from espalier.citations.formats.csv import COLUMNS
from espalier.citations.normalise.text import trim
from espalier.citations.record import LABELS, Record
from espalier.citations.work import Date, Work
from espalier.decoders.base import Violated
from espalier.decoders.certify import prove


class Known(Record):
    """A record that says what its work is."""

    def __init__(self, work: Work, record: Record) -> None:
        super().__init__(record.text, record.fields, record.confidence, record.certificate, record.violations)
        self.__dict__["work"] = work


def rows(found: list[Record], **options: bool) -> list[dict[str, str]]:
    text = "".join(write(found, "csv", **options))
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_jsonl_is_the_dictionary_of_the_record() -> None:
    record = record_of(("author", "A. Smith."), ("title", "One\u2028two \ud800"))
    (line,) = write([record], "jsonl")
    assert len(line.splitlines()) == 1
    assert line.endswith("\n")
    found = json.loads(line.encode("utf-8"))
    assert found == record.to_dict()
    assert list(found) == ["text", "fields", "csl", "confidence", "certificate", "violations"]
    assert [field["text"] for field in found["fields"]] == ["A. Smith.", "One\u2028two \ud800"]


def test_jsonl_keys_are_unique_within_a_run() -> None:
    lines = write([record_of(("title", "One"))] * 3, "jsonl")
    assert [json.loads(line)["csl"]["id"] for line in lines] == ["one", "onea", "oneb"]


def test_the_price_of_a_hard_rule_is_null_in_json() -> None:
    violations = (Violated("Start", 0, 1, math.inf), Violated("Once", None, 2, 1.5))
    record = replace(record_of(("title", "One")), certificate=prove(1.0, math.inf, "beam"), violations=violations)
    (line,) = write([record], "jsonl")
    assert json.loads(line)["violations"] == [
        {"name": "Start", "position": 0, "amount": 1, "price": None},
        {"name": "Once", "position": None, "amount": 2, "price": 1.5},
    ]
    (row,) = rows([record])
    assert row["violations"] == "Start at token 0; Once"
    assert row["certificate"] == "heuristic"


def test_csv_columns() -> None:
    assert COLUMNS[:5] == ("key", "text", "confidence", "certificate", "violations")
    assert set(LABELS) <= set(COLUMNS)
    assert len(set(COLUMNS)) == len(COLUMNS)
    assert next(write([], "csv")) == ",".join(COLUMNS) + "\n"


def test_csv_cells() -> None:
    record = record_of(("author", "A. Smith,"), ("title", "“One”."), ("note", "x"), ("note", "y"), confidence=0.25)
    (row,) = rows([Known(ARTICLE, record)])
    assert row["text"] == "A. Smith, “One”. x y"
    assert row["confidence"] == "0.25"
    assert row["title"] == "One"
    assert row["note"] == "x | y"
    assert row["work.type"] == "article-journal"
    assert row["work.authors"] == "van der Berg, Jan, Jr.; The ACME & Sons Group; Müller, K.-H.; et al."
    assert row["work.pages"] == "101-108"
    assert row["work.issued"] == "2003-03-12"
    assert row["work.doi"] == "10.1000/a_b(1)"
    assert row["work.editors"] == row["work.accessed"] == row["work.unread"] == ""


@pytest.mark.parametrize(
    ("date", "text"),
    [
        (Date(((1994, 5),)), "1994-05"),
        (Date(((1994,), (1996,))), "1994/1996"),
        (Date(((1850,),), circa=True), "1850~"),
        (Date(((1999,),), season=1), "1999-21"),
        (Date(literal="in press"), "in press"),
    ],
)
def test_csv_dates_are_edtf(date: Date, text: str) -> None:
    (row,) = rows([Known(replace(THESIS, issued=date), record_of(("title", "One")))])
    assert row["work.issued"] == text


def test_unread_text_is_a_cell() -> None:
    (row,) = rows([Known(replace(CHAPTER, unread=(("pages", "?"), ("other", "#"))), record_of(("title", "One")))])
    assert row["work.unread"] == "pages: ?; other: #"


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "＝"])
def test_formulas_can_be_disarmed(sign: str) -> None:
    record = Known(replace(THESIS, title=f"{sign}1+1"), record_of(("title", f"\t{sign}1+1")))
    (row,), (safe,) = rows([record]), rows([record], safe=True)
    assert row["work.title"] == row["text"] == f"{sign}1+1"
    assert safe["work.title"] == safe["text"] == f"'{sign}1+1"
    assert all(not cell.startswith(sign) for cell in safe.values())
    assert safe["work.type"] == "thesis"


@settings(deadline=None, derandomize=True, max_examples=40)
@given(records())
def test_any_record_reads_back(record: Record) -> None:
    (line,) = write([record], "jsonl")
    found = json.loads(line.encode("utf-8"))
    assert "".join(found["text"]) == json.loads(json.dumps(record.text))
    for field, written in zip(record.fields, found["fields"], strict=True):
        assert (written["label"], written["start"], written["end"]) == (field.label, field.start, field.end)
    _, cells = "".join(write([record], "csv")).encode().splitlines(keepends=True)
    assert cells.endswith(b"\n")
    (row,) = rows([record])
    assert set(row) == set(COLUMNS)
    assert row["text"] == one_line(record.text)
    for label in LABELS:
        assert row[label] == one_line(" | ".join(trim(field.text) for field in record.get(label)))
    (safe,) = rows([record], safe=True)
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in safe.values())
