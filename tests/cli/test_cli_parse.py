"""`espalier parse`: formats, places, review, several readings, bad files, exit codes."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Espalier, Outcome

from citation_models import pieces, reference
from espalier.citations.batches import Order
from espalier.citations.formats import FORMATS
from espalier.citations.parse_job import ParseJob
from espalier.citations.parser import Parser
from espalier.citations.record import LABELS
from espalier.cli.files import reference_files
from espalier.cli.show import _REFERENCE_COLOURS, _percent
from espalier.extract.extractor import BATCH


def rows(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_jsonl_keeps_everything_and_the_place(parse: Any, tmp_path: Path) -> None:
    path = tmp_path / "refs.txt"
    path.write_text(f"\n{reference(51)}\n{reference(52)}\n", encoding="utf-8")
    done = parse(path)
    assert (done.code, done.err) == (0, "")
    first, second = rows(done.out)
    assert [(field["label"], field["text"]) for field in first["fields"]] == pieces(51)
    assert first["source"] == {"file": str(path), "line": 2, "offset": 0, "confidence": 1.0}
    assert second["source"]["line"] == 3
    assert first["certificate"]["status"] == "optimal"
    assert set(first["certificate"]) == {"status", "bound", "gap", "method"}
    assert first["csl"]["title"]
    assert "alternatives" not in first


def test_every_format(parse: Any, tmp_path: Path) -> None:
    text = f"{reference(51)}\n{reference(52)}\n"
    starts = {"bibtex": "@", "csl": "[", "ris": "TY  - ", "tei": "<?xml", "jsonl": '{"text"', "csv": "key,"}
    starts |= {"endnote": "<?xml", "table": "   1  "}
    assert set(starts) == {*FORMATS, "table"}
    for name, start in starts.items():
        done = parse("-", "--format", name, stdin=text)
        assert (done.code, done.err) == (0, "")
        assert done.out.startswith(start)
    by_name = {"a.bib": "@", "a.json": "[", "a.ris": "TY", "a.xml": "<?xml", "a.jsonl": "{", "a.csv": "key"}
    by_name["a.txt"] = "   1"
    for name, start in by_name.items():
        assert parse("-", "-o", tmp_path / name, stdin=text) == Outcome(0, "", "")
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(start)
    table = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text(encoding="utf-8"))))
    assert [row["text"] for row in table] == [reference(51), reference(52)]


def test_table_for_people(parse: Any) -> None:
    done = parse("-", "-f", "table", "-k", 2, "--explain", stdin=f"{reference(52)} pp pp\n")
    assert "% sure   <stdin>:1" in done.out
    assert "container-title" in done.out
    assert "      or  " in done.out
    assert "(optimal)." in done.out
    assert done.code == 0


def test_an_explanation_begins_with_what_the_rules_did(espalier: Espalier) -> None:
    done = espalier("parse", "-", "-f", "table", "--explain", stdin=f"{reference(52)}\n")
    said = [line.strip() for line in done.out.splitlines() if re.match(r" +(The rule|expert|scores)", line)]
    assert list(dict.fromkeys(line.split()[0] for line in said)) == ["The", "expert", "scores:"]


@pytest.mark.parametrize(
    ("p", "shown"), [(0.0, "<1%"), (0.0049, "<1%"), (0.006, "1%"), (0.5, "50%"), (0.994, "99%"), (0.996, ">99%")]
)
def test_nothing_is_certain_and_nothing_impossible(p: float, shown: str) -> None:
    assert _percent(p) == shown


def test_other_readings_in_jsonl(parse: Any) -> None:
    (row,) = rows(parse("-", "-k", 3, stdin=reference(52)).out)
    assert len(row["alternatives"]) == 2
    for other in row["alternatives"]:
        assert "".join(field["text"] for field in other["fields"]).replace(" ", "") == row["text"].replace(" ", "")


def test_review(parse: Any, tmp_path: Path) -> None:
    review = tmp_path / "review.jsonl"
    text = f"{reference(51)}\nAda (1950) pp 7, 8 pp\n"
    done = parse("-", "--min-confidence", 0.5, "--review", review, stdin=text)
    assert (done.code, done.err) == (0, "")
    assert [row["text"] for row in rows(done.out)] == [reference(51)]
    (doubtful,) = rows(review.read_text(encoding="utf-8"))
    assert doubtful["text"] == "Ada (1950) pp 7, 8 pp"
    assert doubtful["source"]["line"] == 2
    assert list(tmp_path.iterdir()) == [review]
    done = parse("-", "--min-confidence", 0.5, stdin=text)
    assert done.code == 0
    assert "records below --min-confidence left out: 1 of 2; --review FILE keeps them" in done.err


def test_the_review_on_stdout(parse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = f"{reference(51)}\nAda (1950) pp 7, 8 pp\n"
    done = parse("-", "--min-confidence", 0.5, "--review", "-", "-o", "a.jsonl", stdin=text)
    assert (done.code, done.err) == (0, "")
    assert [row["text"] for row in rows(done.out)] == ["Ada (1950) pp 7, 8 pp"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]
    assert [row["text"] for row in rows(Path("a.jsonl").read_text(encoding="utf-8"))] == [reference(51)]


def test_the_review_of_a_link_and_of_a_device(parse: Any, tmp_path: Path) -> None:
    """A link stays one, and a device is written to, not replaced by a file."""
    review, link = tmp_path / "review.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(review)
    for target in (link, os.devnull):
        assert parse("-", "--min-confidence", 1, "--review", target, stdin="Ada pp\n") == Outcome(0, "", "")
    assert link.is_symlink()
    assert [row["text"] for row in rows(review.read_text(encoding="utf-8"))] == ["Ada pp"]
    assert not Path(os.devnull).is_file()


def test_a_review_that_fails_leaves_the_file_as_it_was(parse: Any, tmp_path: Path) -> None:
    review = tmp_path / "review.jsonl"
    review.write_text("before", encoding="utf-8")
    assert parse(tmp_path / "none.txt", "--min-confidence", 1, "--review", review).code == 2
    assert (list(tmp_path.iterdir()), review.read_text(encoding="utf-8")) == ([review], "before")


@pytest.mark.parametrize(("count", "words"), [(0, "0 records"), (1, "1 record"), (2, "2 records")])
def test_one_record_and_two_records(
    parse: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, words: str
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    text = f"{reference(51)}\n" + "Ada (1950) pp 7, 8 pp\n" * count
    done = parse("-", "--min-confidence", 0.5, "--review", tmp_path / "r.jsonl", "-o", tmp_path / "a.bib", stdin=text)
    assert f"{words} to review" in done.err
    assert "1 record as bibtex" in done.err


FORMULAS = ("=1+1", "@SUM(A1)", "+1", "-1", "\t=1+1", "\r=1+1", "＝1")


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_is_a_formula_unless_asked_for(parse: Any, formula: str) -> None:
    text = f"{formula} {reference(51)}\n"
    shown = " ".join(text.split())
    (row,) = csv.DictReader(io.StringIO(parse("-", "--input", "lines", "-f", "csv", stdin=text).out))
    assert row["text"] == f"'{shown}"
    assert all(cell[:1] not in ("=", "+", "-", "@", "\t", "\r", "＝") for cell in row.values())
    (raw,) = csv.DictReader(io.StringIO(parse("-", "--input", "lines", "-f", "csv", "--raw-cells", stdin=text).out))
    assert raw["text"] == shown
    assert {name: cell.removeprefix("'") for name, cell in row.items()} == raw


def test_the_cut_counts_for_the_review(parse: Any) -> None:
    text = f"1. {reference(50)} 2. {reference(52)}"
    assert len(rows(parse("-", stdin=text).out)) == 2
    assert parse("-", "--min-confidence", 0.81, stdin=text).out == ""
    assert len(rows(parse("-", "--input", "lines", stdin=text).out)) == 1


def test_layouts(parse: Any) -> None:
    text = reference(50).replace(" ", "\n", 3)
    assert len(rows(parse("-", "--input", "lines", stdin=text).out)) == 4
    assert len(rows(parse("-", "--input", "blocks", stdin=text).out)) == 1
    done = parse("-", "--input", "block", stdin=text)
    assert done.code == 2
    assert "did you mean 'blocks'?" in done.err


def test_bad_files_are_named_and_the_others_read(parse: Any, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text(reference(50), encoding="utf-8")
    bad.write_bytes(f"{reference(51)}\n".encode() + b"Pr\xfcn, 1990\n")
    done = parse(tmp_path / "none.txt", bad, good)
    assert done.code == 1
    assert [row["text"] for row in rows(done.out)] == [reference(51), reference(50)]
    assert f"{tmp_path / 'none.txt'}: No such file" in done.err
    assert f"{bad}:2: byte 0xfc" in done.err
    assert "--encoding latin-1" in done.err
    assert "the rest of" in done.err
    assert parse(bad, "--encoding", "latin-1").code == 0


def test_a_line_that_is_too_long(parse: Any) -> None:
    done = parse("-", stdin=f"{reference(50)}\n{'x ' * 500_000}\n{reference(51)}\n")
    assert done.code == 1
    assert [row["text"] for row in rows(done.out)] == [reference(50), reference(51)]
    assert "<stdin>:2: 999,999 characters in a row; at most 20,000" in done.err


def test_nothing_to_read_leaves_the_output_as_it_was(parse: Any, tmp_path: Path) -> None:
    out = tmp_path / "out.bib"
    out.write_text("before", encoding="utf-8")
    done = parse(tmp_path / "none.txt", "-o", out)
    assert done.code == 2
    assert "none.txt: No such file" in done.err
    assert out.read_text(encoding="utf-8") == "before"
    assert parse("-", stdin="") == Outcome(2, "", "espalier: <stdin>: there is no reference in it\n")


def test_a_file_that_holds_nothing_is_named_by_every_command(espalier: Espalier, model: Path, tmp_path: Path) -> None:
    empty, some, out = tmp_path / "empty.txt", tmp_path / "some.txt", tmp_path / "out.jsonl"
    empty.write_text(" \n\n", encoding="utf-8")
    some.write_text("plum at £ 3 in Ely\n", encoding="utf-8")
    out.write_text("before", encoding="utf-8")
    for command in (["parse", empty, "-o", out], ["find", empty, "-o", out], ["label", empty, "-m", model, "-o", out],
                    ["convert", empty, out]):  # fmt: skip
        done = espalier(*command)
        assert (done.code, out.read_text(encoding="utf-8")) == (2, "before"), command
        assert f"{empty}: there is no re" in done.err
    for command in (["find", some, empty, "-o", out], ["label", some, empty, "-m", model, "-o", out]):
        done = espalier(*command)
        assert done.code == 1, command
        assert f"{empty}: there is no re" in done.err
        assert "plum" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        (("-f", "bibtx"), "did you mean 'bibtex'?"),
        (("-o", "refs.odt"), "does not say which format"),
        (("-f", "bibtex", "-k", "2"), "no place for other readings"),
        (("-f", "bibtex", "--explain"), "goes with --format table"),
        (("--review", "r.jsonl"), "needs --min-confidence"),
        (("-f", "bibtex", "--raw-cells"), "--raw-cells is for --format csv; bibtex has no cells"),
        (("--min-confidence", "1.5"), "min-confidence"),
        (("-k", "0"), "-k"),
    ],
)
def test_wrong_use(parse: Any, options: tuple[str, ...], what: str) -> None:
    done = parse("-", *options, stdin=reference(1))
    assert done.code == 2
    assert what in done.err
    assert done.out == ""


def test_a_model_of_something_else(espalier: Espalier, model: Path) -> None:
    done = espalier("parse", "-", "--model", model, stdin="plum at £ 3")
    assert done.code == 2
    assert f"{model}: the model has the label" in done.err


def test_references_wait_for_their_records_only(references: Path, tmp_path: Path) -> None:
    path = tmp_path / "refs.txt"
    path.write_text("\n".join(reference(n) for n in range(BATCH + 9)), encoding="utf-8")
    inputs, heard = reference_files([path]), []
    job = ParseJob.here(Parser.from_file(references), Order("table"))
    batches = job.batches(inputs.references(), heard.append)
    assert all(pair[0].text == pair[1].text for batch in batches for pair in batch.pairs)
    assert inputs.read == BATCH + 9
    assert heard == [BATCH, BATCH + 9]


@pytest.mark.parametrize(
    ("head", "what"),
    [(b"%PDF-1.7\n", "is damaged"), (b"PK\x03\x04\x14", "it is not PDF or DOCX"), (b"\x89PNG", "this is a picture")],
)
def test_files_that_are_no_text(parse: Any, tmp_path: Path, head: bytes, what: str) -> None:
    path, good = tmp_path / "paper", tmp_path / "refs.txt"
    path.write_bytes(head + b"\xe2\xe3")
    good.write_text(reference(51), encoding="utf-8")
    done = parse(path)
    assert done.code == 2
    assert what in done.err
    assert done.err.count("\n") == 1
    both = parse(path, good)
    assert both.code == 1
    assert len(rows(both.out)) == 1


def test_a_format_nearly_right(parse: Any) -> None:
    assert parse("-", "-f", "bibtx").err == "espalier: unknown format 'bibtx'; did you mean 'bibtex'?\n"
    assert "there are bibtex (bib), csl (json)" in parse("-", "-f", "word").err


def test_no_name_runs_over_the_edge(parse: Any) -> None:
    """A field that begins with a short word at the end of a line takes its name along to the next."""
    text = "\n".join(
        f"Ada Plum. {'On the pruning of trees ' * 3}{'x' * n}. Journal of Espaliers, 4." for n in range(1, 24)
    )
    done = parse("-", "-f", "table", stdin=text)
    assert max(map(len, done.out.splitlines())) <= 100


def test_fields_side_by_side_have_colours_of_their_own() -> None:
    assert set(_REFERENCE_COLOURS) == set(LABELS) - {"other"}
    usual = ("author", "date", "title", "container-title", "volume", "issue", "pages", "url")
    book = ("author", "title", "edition", "location", "publisher", "date")
    for fields in (usual, book):
        assert all(_REFERENCE_COLOURS[a] != _REFERENCE_COLOURS[b] for a, b in pairwise(fields))


def test_a_model_of_other_fields_is_refused_in_words_of_the_command_line(espalier: Espalier, model: Path) -> None:
    code, _, err = espalier("parse", "-", "--model", model, stdin="plum at £ 3\n")
    assert code == 2
    assert err.endswith("which is no field of a reference; label texts with it (espalier label)\n")
