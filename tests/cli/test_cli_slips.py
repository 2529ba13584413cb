"""Slips of the first hour: each gets a message that says what was meant, or what to type instead."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Espalier

import espalier as es
from espalier import installation as doctor_module
from espalier.cli.app import COMMANDS, GROUPS

REFERENCE = "Smith AB, Jones CD. Soil salts and the rooting of quince. Acta Hortic. 2004;12(4):33-9."
TEXT_ITSELF = "; to parse text itself: echo '...' | espalier parse -\n"


@pytest.fixture
def refs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("refs.txt").write_text(REFERENCE + "\n", encoding="utf-8")
    return Path("refs.txt")


def test_help_is_a_word_too(espalier: Espalier) -> None:
    assert espalier("help") == espalier("--help")
    assert espalier("help", "parse") == espalier("parse", "--help")
    assert espalier("help", "rules") == espalier("rules", "--help")


@pytest.mark.parametrize("command", [(name,) for name in COMMANDS] + [("rules", part) for part in GROUPS["rules"]])
def test_help_shows_no_types_of_python(espalier: Espalier, command: tuple[str, ...]) -> None:
    assert re.findall(r"<(?:bool|str|int|float|path|Path|text|list\[.*?)>", espalier(*command, "--help").out) == []


@pytest.mark.parametrize(("target", "options"), [("x.bib", ""), ("x.ris", ""), ("-", " -f ris"), ("x.csv", " -f CSV")])
def test_convert_sends_running_text_to_parse(espalier: Espalier, refs: Path, target: str, options: str) -> None:
    code, out, err = espalier("convert", refs, target, *options.replace("-f", "--to").split())
    assert (code, out) == (2, "")
    assert err.startswith("espalier: refs.txt is no bibliography, and only these are turned into ")
    assert err.endswith(f"; references in running text are read by: espalier parse refs.txt -o {target}{options}\n")
    assert not Path(target).exists()


def test_convert_to_a_format_of_data_is_as_before(espalier: Espalier, refs: Path) -> None:
    assert espalier("convert", refs, "x.jsonl").code == 0
    assert espalier("convert", refs, "x.xml", "--to", "tei", "--lossy").code == 0


@pytest.mark.parametrize("text", [REFERENCE, 3 * REFERENCE, "[3] Smith AB. Soil salts? Acta 2004."])
@pytest.mark.parametrize("more", [[], ["-o", "x.bib"]])
def test_a_reference_is_no_file(parse: Any, refs: Path, text: str, more: list[str]) -> None:
    code, out, err = parse(text, *more)
    assert (code, out) == (2, "")
    assert err.startswith(f"espalier: {text}: ")
    assert err.endswith(TEXT_ITSELF)
    assert parse("missing.txt").err == "espalier: missing.txt: No such file or directory\n"
    assert parse("*.none").err == "espalier: *.none: no file fits this pattern\n"


def test_a_reference_among_files_does_not_keep_the_files_from_being_read(parse: Any, refs: Path) -> None:
    code, out, err = parse(3 * REFERENCE, refs)
    assert (code, out.count("\n")) == (1, 1)
    assert f"File name too long{TEXT_ITSELF}" in err


@pytest.mark.parametrize(("given", "hint"), [("80", "; did you mean 0.8?"), ("-1", ""), ("1000", ""), ("nan", "")])
def test_confidences_are_no_percentages(parse: Any, refs: Path, given: str, hint: str) -> None:
    code, out, err = parse(refs, "--min-confidence", given)
    assert (code, out) == (2, "")
    said = " ".join(re.sub(r"[│\s]+", " ", err).split())
    assert f"'--min-confidence': {given}: a confidence is a number from 0 to 1{hint}" in said


@pytest.mark.parametrize("given", [["--min-confidence", "0,8"], ["-k", "two"], ["-k2,5"], ["--jobs", "x"], ["-k", "0"]])
def test_what_is_no_number(parse: Any, refs: Path, given: list[str]) -> None:
    code, out, err = parse(refs, *given)
    assert (code, out) == (2, "")
    assert "Invalid value for" in err


def test_a_model_that_there_is_not(espalier: Espalier) -> None:
    err = espalier("train", "-l", "x", "-m", "foo").err
    assert "--model foo: unknown; expected crf, hmm" in err
    assert "Value error" not in err


def test_a_name_that_is_a_little_wrong(espalier: Espalier, parse: Any, refs: Path) -> None:
    told = "espalier: ref.txt: No such file or directory; did you mean 'refs.txt'?\n"
    assert parse("ref.txt") == (2, "", told)
    assert espalier("find", "ref.txt").err == told
    assert espalier("convert", "ref.txt", "x.bib").err == told
    assert espalier("convert", "ref.txt", "x.jsonl").err == told
    assert espalier("evaluate", "-m", "citations", "-d", "ref.txt").err == told
    assert espalier("label", "ref.txt", "-m", "citations").err.startswith(told)


def test_a_folder_that_there_is_not(espalier: Espalier, parse: Any, refs: Path) -> None:
    assert parse(refs, "-o", "no/x.bib") == (2, "", "espalier: no/x.bib: the folder no does not exist\n")
    assert parse("no/x.txt") == (2, "", "espalier: no/x.txt: the folder no does not exist\n")
    assert espalier("find", refs, "-o", "no/x.json").err == "espalier: no/x.json: the folder no does not exist\n"


def test_spreadsheets_open_csv(espalier: Espalier, parse: Any, refs: Path) -> None:
    told = "the name does not say which format to write; write out.csv, which Excel and LibreOffice open\n"
    assert parse(refs, "-o", "out.xlsx").err == f"espalier: out.xlsx: {told}"
    assert espalier("label", refs, "-m", "citations", "-o", "out.ods").err == f"espalier: out.ods: {told}"
    assert parse(refs, "-f", "xlsx").err.endswith("; write csv, which Excel and LibreOffice open\n")
    assert "; pass --to: jsonl" in espalier("convert", refs, "out.xlsx").err  # data have no csv


def test_a_model_of_ready_attributes_labels_no_text(espalier: Espalier, refs: Path) -> None:
    es.CRF().fit([[["a", "b"], ["c"]]], [["x", "y"]]).save("ready.espalier")
    told = "ready.espalier: this model learned from attributes that a program made, and a text has none"
    for command in (["label", refs], ["evaluate", "-d", refs], ["calibrate", "-d", refs, "-o", "x.espalier"]):
        code, out, err = espalier(*command, "-m", "ready.espalier")
        assert (code, out) == (2, "")
        assert err.startswith(f"espalier: {told}; use it in Python, or ")


def test_formats_in_any_case_and_by_their_short_names(espalier: Espalier, parse: Any, refs: Path, corpus: Path) -> None:
    assert parse(refs, "-f", "BibTeX") == parse(refs, "-f", "bib") == parse(refs, "-f", "bibtex")
    assert espalier("convert", corpus, "-", "--to", "CoNLL") == espalier("convert", corpus, "-", "--to", "conll")
    listed = "bibtex (bib), csl (json), csv, endnote, jsonl, ris, tei (xml)"
    assert parse(refs, "-f", "qqq").err == f"espalier: unknown format 'qqq'; there are {listed}, table\n"
    names = "bibtex, csl, csv, endnote, jsonl, ris, tei, the end of a file's name (bib), or table"
    assert names in " ".join(re.sub(r"[│\s]+", " ", espalier("parse", "--help").out).split())


def test_a_folder_is_no_file_to_write(espalier: Espalier, parse: Any, refs: Path, corpus: Path) -> None:
    Path("out").mkdir()
    expected = (2, "", "espalier: out is a folder; name a file to write, such as out/out.jsonl\n")
    assert parse(refs, "-o", "out") == parse(refs, "-o", "out", "-f", "bibtex") == expected
    assert espalier("convert", corpus, "out") == expected
    assert espalier("label", corpus, "-m", "citations", "-o", "out") == expected


def test_a_file_that_is_no_text(espalier: Espalier, parse: Any, refs: Path) -> None:
    no_text = "this is no text file; save what it holds as text"
    for seed in range(5):
        Path("x.bin").write_bytes(random.Random(seed).randbytes(3000))
        found = parse("x.bin")
        assert (found[0], found[1]) == (2, "")
        assert re.fullmatch(rf"espalier: x\.bin:\d+: {no_text}\n", found[2])
    assert f": {no_text}" in espalier("label", "x.bin", "-m", "citations", "--from", "plain").err
    Path("latin.txt").write_bytes(b"M\xfcller, K. A title\x02 that came from a PDF. Acta. 2001;3(2):101-8.\n")
    assert parse("latin.txt").err.endswith("pass --encoding latin-1 or --encoding cp1252\n")


def test_what_is_not_installed_has_no_check_mark(espalier: Espalier, monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor_module.find_spec
    monkeypatch.setattr(doctor_module, "find_spec", lambda name: None if name == "pypdfium2" else real(name))
    code, out, _ = espalier("doctor")
    assert code == 0
    assert "\n– [documents]" in out
    assert "\n✓ numpy" in out


def test_examples_a_second_time(espalier: Espalier, refs: Path) -> None:
    written = espalier("examples").out.splitlines()[0]
    count = int(written.split()[0])
    assert written == f"{count} files written to examples"
    assert espalier("examples").out.splitlines()[0] == f"all {count} files are in examples already"
    Path("examples/references.txt").write_text("mine\n", encoding="utf-8")
    expected = f"{count - 1} files are in examples already; 1 of yours differ, and stay"
    assert espalier("examples").out.splitlines()[0] == expected
    assert Path("examples/references.txt").read_text(encoding="utf-8") == "mine\n"
