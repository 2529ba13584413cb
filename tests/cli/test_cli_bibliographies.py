"""`parse` and `convert` of what already is a bibliography: read as it is, or refused in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Espalier

from citation_models import reference
from espalier.citations.formats import FORMATS

BIB = "@article{DBLP:k/84,\n  author = {Knuth, Donald E.},\n  title = {Wires},\n  year = 1984,\n}\n"


@pytest.mark.parametrize("format", [*FORMATS, "table"])
def test_entries_are_written_and_not_parsed(parse: Any, tmp_path: Path, format: str) -> None:
    path = tmp_path / "anything"
    path.write_text(BIB, encoding="utf-8")
    done = parse(path, "-f", format, "--min-confidence", "0.99")
    assert (done.code, done.err) == (0, "")
    assert "Wires" in done.out
    assert "Knuth" in done.out


def test_the_record_says_where_it_is_from_and_that_nothing_was_guessed(parse: Any) -> None:
    (row,) = map(json.loads, parse("-", stdin=BIB).out.splitlines())
    assert row["source"] == {"file": "<stdin>", "line": 1, "format": "bibtex", "key": "DBLP:k/84"}
    assert (row["confidence"], row["certificate"], row["fields"]) == (None, None, [])
    assert row["csl"]["id"] == "DBLP:k/84"


def test_bibliographies_and_text_go_together(parse: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{reference(51)}\n{reference(52)}\n", encoding="utf-8")
    (tmp_path / "b.bib.gz").write_bytes(gzip.compress(BIB.encode()))
    (tmp_path / "c.txt").write_text(f"{reference(53)}\n", encoding="utf-8")
    done = parse(tmp_path / "a.txt", tmp_path / "b.bib.gz", tmp_path / "c.txt", "-f", "bibtex")
    assert done.code == 0
    entries = done.out.split("\n\n")
    assert len(entries) == 4
    assert entries[2].startswith("@article{DBLP:k/84,")


def test_a_folder_and_a_pattern(parse: Any, tmp_path: Path) -> None:
    inner = tmp_path / "papers" / "more"
    inner.mkdir(parents=True)
    (inner / "a.bib").write_text(BIB, encoding="utf-8")
    (inner / ".hidden.bib").write_text(BIB, encoding="utf-8")
    (tmp_path / "papers" / "b.txt").write_text(reference(51), encoding="utf-8")
    (tmp_path / "papers" / "picture.png").write_bytes(b"\x89PNG")
    for named in (tmp_path / "papers", tmp_path / "papers" / "**" / "*.*[bt]"):
        sources = [json.loads(line)["source"] for line in parse(named).out.splitlines()]
        assert [Path(source["file"]).name for source in sources] == ["b.txt", "a.bib"], named
    assert "no file fits" in parse(tmp_path / "*.nothing").err
    (tmp_path / "empty").mkdir()
    done = parse(tmp_path / "empty")
    assert (done.code, "no file in this folder" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1}\n', "this is JSON, but not CSL-JSON, which is not read; save the references as text, a line each"),
        ("<TEI>\n", "this is TEI, which is not read; export it as"),
    ],
)
def test_others_are_refused_in_one_line(parse: Any, tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "refs.txt"
    path.write_text(text, encoding="utf-8")
    done = parse(path)
    assert (done.code, done.out) == (2, "")
    assert f"{path}: {says}" in done.err
    assert done.err.count("\n") == 1


def test_convert_says_the_same_of_them(espalier: Espalier, tmp_path: Path) -> None:
    path = tmp_path / "refs.xml"
    path.write_text("<TEI>\n", encoding="utf-8")
    done = espalier("convert", path, tmp_path / "refs.bib")
    assert done.code == 2
    assert f"{path}: this is TEI, which is not read; export it as" in done.err


def test_convert_turns_bibliographies(espalier: Espalier, tmp_path: Path) -> None:
    bib, ris, again = tmp_path / "refs.bib", tmp_path / "refs.ris", tmp_path / "again.bib"
    bib.write_text(BIB, encoding="utf-8")
    assert espalier("convert", bib, ris).code == 0
    assert ris.read_text("utf-8").startswith("TY  - JOUR\nID  - DBLP:k/84\n")
    assert espalier("convert", ris, again).code == 0
    assert "author = {Knuth, Donald E.}" in again.read_text("utf-8")
    done = espalier("convert", "-", "-", "--to", "csl", stdin=BIB)
    assert json.loads(done.out)[0]["title"] == "Wires"
    done = espalier("convert", bib, "-", "--to", "nonsense")
    assert (done.code, "unknown format 'nonsense'" in done.err) == (2, True)


def test_convert_names_what_it_left_out(espalier: Espalier, tmp_path: Path) -> None:
    bib = tmp_path / "refs.bib"
    bib.write_text(BIB + "@book{broken, title = {x\n", encoding="utf-8")
    done = espalier("convert", bib, tmp_path / "refs.ris")
    assert done.code == 1
    assert f"{bib}:6: this entry cannot be read" in done.err
    assert "entries written: 1; entries left out: 1" in done.err
