"""The table of formats: names, errors, streaming, and any record of any text in every one of them."""

from __future__ import annotations

import csv
import io
import json
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

import bibtexparser
import pytest
import rispy
from citation_works import record_of, records
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.formats import FORMATS, write
from espalier.citations.formats.keys import Keys
from espalier.citations.record import Record
from espalier.errors import InputError


def count_bibtex(text: str) -> int:
    library = bibtexparser.parse_string(text)
    assert not library.failed_blocks
    assert not library.comments
    return len(library.entries)


def count_tei(text: str) -> int:
    root = ET.fromstring(text.encode("utf-8"))
    return len(root.findall(".//{http://www.tei-c.org/ns/1.0}biblStruct"))


COUNTERS: dict[str, Callable[[str], int]] = {
    "bibtex": count_bibtex,
    "csl": lambda text: len(json.loads(text)),
    "ris": lambda text: len(rispy.loads(text)),
    "tei": count_tei,
    "jsonl": lambda text: len([json.loads(line) for line in text.splitlines()]),
    "csv": lambda text: len(list(csv.reader(io.StringIO(text, newline="")))) - 1,
}


def test_every_format_has_a_reader_here() -> None:
    assert set(FORMATS) == set(COUNTERS)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.lists(records(), max_size=3))
def test_any_records_are_readable_in_every_format(found: list[Record]) -> None:
    for name, count in COUNTERS.items():
        text = "".join(write(iter(found), name))
        text.encode("utf-8")
        assert count(text) == len(found), name


@pytest.mark.parametrize("name", FORMATS)
def test_writers_take_one_record_at_a_time(name: str) -> None:
    taken = []

    def source() -> Iterator[Record]:
        for title in ("One", "Two", "Three"):
            taken.append(title)
            yield record_of(("title", title))

    pieces = write(source(), name)
    assert taken == []
    while "One" not in next(pieces):
        pass
    assert taken == ["One"]
    while "Two" not in next(pieces):
        pass
    assert taken == ["One", "Two"]


@pytest.mark.parametrize("name", FORMATS)
def test_keys_go_on_from_an_earlier_run(name: str) -> None:
    keys = Keys()
    texts = ["".join(write([record_of(("title", "One"))], name, keys=keys)) for _ in range(2)]
    assert "onea" not in texts[0]
    assert "onea" in texts[1]


def test_a_wrong_name_is_an_error_at_once() -> None:
    with pytest.raises(InputError, match="'bibtx' is no format of references; did you mean 'bibtex'"):
        write([], "bibtx")


def test_a_single_record_is_an_error_at_once() -> None:
    with pytest.raises(InputError, match=r"wrap a single one in \[ \]"):
        write(record_of(("title", "One")), "csl")  # type: ignore[arg-type]


def test_the_methods_of_a_record_write_one() -> None:
    record = record_of(("title", "One"))
    assert record.to_csl()["id"] == "one"
    assert "".join(write([record], "bibtex")) == record.to_bibtex()
    assert "".join(write([record], "ris")) == record.to_ris()
    assert json.loads("".join(write([record], "csl"))) == [record.to_csl()]
    assert json.loads("".join(write([record], "jsonl"))) == record.to_dict()
    assert count_tei(f"<listBibl>{record.to_tei()}</listBibl>") == 1
