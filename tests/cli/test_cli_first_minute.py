"""What helps in the first minute: `doctor`, `warm`, completion, and formats by the end of a file's name."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from cli_runs import Espalier

import espalier as es
from espalier import installation as doctor_module
from espalier.warming import STEPS, compile_for

REFERENCE = "Smith AB, Jones CD. Soil salts and the rooting of quince. Acta Hortic. 2004;12(4):33-9.\n"


def test_doctor_says_what_there_is(espalier: Espalier) -> None:
    code, out, err = espalier("doctor")
    assert (code, err) == (0, "")
    for word in (es.__version__, "numba", "compiled code", "threads", "bundled model", "[cluster]"):
        assert word in out
    findings = json.loads(espalier("doctor", "--json")[1])
    assert {finding["what"] for finding in findings} >= {"python", "numpy", "[serve]"}
    assert all(finding["ok"] for finding in findings)


def test_doctor_says_what_is_missing(espalier: Espalier, monkeypatch: pytest.MonkeyPatch) -> None:
    real = doctor_module.find_spec
    monkeypatch.setattr(doctor_module, "find_spec", lambda name: None if name == "pypdfium2" else real(name))
    code, out, _ = espalier("doctor")
    assert code == 0
    assert "pip install 'espalier-nlp[documents]'" in out
    monkeypatch.setattr(doctor_module, "_NEEDED", ("numpy", "no-such-package"))
    code, out, _ = espalier("doctor")
    assert code == 1
    assert "✗ no-such-package" in out


def test_doctor_says_where_nothing_can_be_kept(
    espalier: Espalier, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "no" / "such"))
    assert "set NUMBA_CACHE_DIR" in espalier("doctor")[1]


@pytest.mark.parametrize("step", STEPS)
def test_every_step_of_warm_runs(step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ESPALIER_QUIET", "1")
    compile_for(step)


def test_warm_names_what_it_did(espalier: Espalier, monkeypatch: pytest.MonkeyPatch) -> None:
    from espalier import warming

    done: list[str] = []
    monkeypatch.setattr(warming, "compile_for", done.append)
    code, out, err = espalier("warm", "-j", "1")
    assert (code, out) == (0, f"compiled: {', '.join(STEPS)}\n")
    told = [f"espalier: compiled {n} of {len(STEPS)}, {step}" for n, step in enumerate(STEPS, 1)]
    assert err.splitlines() == told
    assert done == list(STEPS)


@pytest.mark.parametrize(
    ("words", "expected"), [("espalier pa", "parse"), ("espalier parse --min", "--min-confidence")]
)
def test_completion(words: str, expected: str) -> None:
    asked = {"_ESPALIER_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-m", "espalier"], env={**os.environ, **asked}, capture_output=True, text=True
    )
    assert done.stdout.split() == [expected]


@pytest.mark.parametrize(
    ("short", "name"), [("bib", "bibtex"), ("json", "csl"), ("xml", "tei"), ("endnote.xml", "endnote")]
)
def test_formats_of_references_by_their_ending(espalier: Espalier, tmp_path: Path, short: str, name: str) -> None:
    (tmp_path / "refs.txt").write_text(REFERENCE, encoding="utf-8")
    assert espalier("parse", tmp_path / "refs.txt", "-f", short) == espalier("parse", tmp_path / "refs.txt", "-f", name)


def test_formats_of_records_by_their_ending(espalier: Espalier, corpus: Path) -> None:
    assert espalier("convert", corpus, "-", "--to", "jsonl") == espalier("convert", corpus, "-")
    code, _, err = espalier("convert", corpus, "-", "--to", "nothing")
    assert (code, "unknown format 'nothing'" in err) == (2, True)


def test_rules_of_a_task_file_may_name_a_field_that_a_small_set_lacks(espalier: Espalier, tmp_path: Path) -> None:
    (tmp_path / "few.txt").write_text("<a>Plum</a> <b>35</b>\n<a>Pear</a> <b>40</b>\n", encoding="utf-8")
    rules = 'labels = ["B-a", "I-a", "B-b", "B-c", "O"]\n[rules]\ntext = """\nC: count(c) <= 1 [penalty 3]\n"""\n'
    (tmp_path / "found.toml").write_text(rules, encoding="utf-8")
    (tmp_path / "c.rules").write_text("C: count(c) <= 1 [penalty 3]\n", encoding="utf-8")
    options = ("train", "-l", tmp_path / "few.txt", "-o", tmp_path / "m.espalier", "--rules")
    assert espalier(*options, tmp_path / "found.toml")[0] == 0
    assert "B-c" in espalier("info", tmp_path / "m.espalier", "--json")[1]
    code, _, err = espalier(*options, tmp_path / "c.rules")  # which lists no labels, so this may be a slip
    assert (code, "the rules name c, which no training record has" in err) == (0, True)


def test_hints_help() -> None:
    with pytest.raises(es.EspalierError) as said:
        es.CRF().set_params(nope=1)
    assert "did you mean" not in str(said.value)
    with pytest.raises(es.EspalierError, match=r"did you mean 'max_iterations'\?"):
        es.CRF().set_params(max_iter=1)
    from espalier.errors import listed, nearest

    assert nearest("any", ["any", "many"]) == "did you mean 'many'?"
    assert nearest("any", ["any"], "otherwise") == "otherwise"
    assert listed(map(str, range(62))).endswith("59 and 2 more")
    assert listed(map(str, range(20))).endswith("18, 19")
