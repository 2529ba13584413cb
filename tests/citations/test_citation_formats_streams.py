"""The table of formats: names, errors, streaming, and any record of any text in every one of them."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

import bibtexparser
import pytest
import rispy
from citation_works import record_of, records
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations import formats
from espalier.citations.formats import FORMATS, KEEPS, Keys, format_of_file, write
from espalier.citations.record import Record
from espalier.cli import main
from espalier.decoders.base import Violated
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
    "endnote": lambda text: len(ET.fromstring(text.encode("utf-8")).findall("records/record")),
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


@pytest.mark.parametrize("name", [name for name, row in FORMATS.items() if row.keyed])
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
    assert "".join(write([record], "ris")) == record.to("ris")
    assert json.loads("".join(write([record], "csl"))) == [record.to_csl()]
    assert json.loads("".join(write([record], "jsonl"))) == record.to_dict()
    assert count_tei(f"<listBibl>{record.to_tei()}</listBibl>") == 1
    for name, row in FORMATS.items():
        assert "".join(write([record], name)) == "".join(row.join([record.to(name)]))


@pytest.mark.parametrize("name", FORMATS)
def test_a_row_says_what_its_format_is(name: str) -> None:
    row = FORMATS[name]
    assert row.name == name
    assert row.summary
    assert "/" in row.media_type
    assert row.keeps <= set(KEEPS)
    known = list(signature(row.entry).parameters)[2:]
    assert row.options == set(known)
    assert ("source" in row.keeps) == ("source" in known)


def test_no_two_formats_have_an_extension() -> None:
    found = [end for row in FORMATS.values() for end in row.extensions]
    assert len(found) == len(set(found))
    assert all(end.startswith(".") and end == end.lower() for end in found)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("refs.bib", "bibtex"),
        ("REFS.RIS", "ris"),
        ("refs.json", "csl"),
        ("refs.jsonl", "jsonl"),
        ("refs.xml", "tei"),
        ("refs.tei.xml", "tei"),
        ("refs.endnote.xml", "endnote"),
        ("refs.pdf", None),
        ("bib", None),
    ],
)
def test_the_format_of_a_file(file: str, name: str | None) -> None:
    found = format_of_file(file)
    assert (found and found.name) == name


def test_what_jsonl_keeps() -> None:
    record = record_of(("title", "One"))
    other = replace(record, violations=(Violated("Start", 0, 1, math.inf),))
    row = json.loads("".join(write([replace(record, alternatives=(other,))], "jsonl", source={"line": 3})))
    assert row["source"] == {"line": 3}
    assert [reading["violations"][0]["price"] for reading in row["alternatives"]] == [None]


def test_an_option_that_a_format_does_not_have() -> None:
    with pytest.raises(InputError, match="'csv' has no option 'save'; did you mean 'safe'"):
        write([], "csv", save=True)
    with pytest.raises(InputError, match="'ris' has no option 'safe'; it has none"):
        write([], "ris", safe=True)


def test_a_format_is_one_new_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any) -> None:
    """Nothing else has to be told of it: not Python, not the command line."""
    (tmp_path / "orchard.py").write_text(
        "from espalier.citations.formats import OutputFormat\n"
        "FORMAT = OutputFormat('orchard', 'titles', ('.orchard',), 'text/plain', lambda record, key:"
        " f'{record.work.title}\\n', head='Titles\\n', keyed=False)\n"
    )
    monkeypatch.setattr(formats, "__path__", [*formats.__path__, str(tmp_path)])
    formats._names.cache_clear()
    before = sys.modules.get("espalier.cli.parse")
    try:
        assert "orchard" in FORMATS
        records = [record_of(("title", title)) for title in ("Fig", "Plum")]
        assert "".join(write(records, "orchard")) == "Titles\nFig\nPlum\n"
        assert records[0].to("orchard") == "Fig\n"
        source, target = tmp_path / "refs.txt", tmp_path / "refs.orchard"
        source.write_text("L. O. Andersen. Program analysis. PhD thesis, DIKU, 1994.\n")
        assert main(["parse", str(source), "-o", str(target)]) == 0
        assert target.read_text() == "Titles\nProgram analysis\n"
    finally:
        sys.modules.pop("espalier.citations.formats.orchard", None)
        formats._names.cache_clear()
        if before is None:  # its help names the formats that there were when it was imported
            sys.modules.pop("espalier.cli.parse", None)


def test_a_server_knows_a_new_format(tmp_path: Path) -> None:
    """The server reads the rows, too: by name, by type, as an export."""
    (tmp_path / "orchard.py").write_text(
        "from espalier.citations.formats import OutputFormat\n"
        "FORMAT = OutputFormat('orchard', 'titles', ('.orchard',), 'text/x-orchard', lambda record, key: 'Fig')\n"
    )
    told = (
        "import sys; from espalier.citations import formats; formats.__path__.append(sys.argv[1])\n"
        "from espalier.workbench.exporting import ALL_FORMATS\n"
        "from espalier.server.references import chosen_format\n"
        "from espalier.server.routes.parsing import ReferenceFormat\n"
        "print('orchard' in ALL_FORMATS, chosen_format('text/x-orchard'), ReferenceFormat('orchard').value)"
    )
    done = subprocess.run([sys.executable, "-c", told, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "orchard", "orchard"]


def test_no_two_formats_are_asked_for_by_one_type() -> None:
    asked = [kind for row in FORMATS.values() for kind in row.asked_as()]
    assert len(asked) == len(set(asked))
    assert "application/json" not in asked  # the server's own answer
