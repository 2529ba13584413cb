"""The same input, seed and version give the same bytes: on 1 and 2 threads, in any process, with any hash seed.

`scripts/make_release_files.py` trains every kind of model in every way and writes what it learned, what the models say,
the parser's JSON Lines and BibTeX and the rules it discovered. Two processes do it here, as unlike as they may be.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from make_release_files import LABELS, sequences, unfitted
from trust_files import EXPECTED, FILES, SCRIPTS

import espalier as es
from espalier.cli.app import run
from espalier.estimators.base import fresh

RECORDS = 200  # enough for several chunks in every kernel that works in chunks


def made(directory: Path, seed: str, threads: int) -> dict[str, bytes]:
    """Let a process of its own make all files, and return their bytes."""
    command = [sys.executable, SCRIPTS / "make_release_files.py", directory, "--no-project"]
    options = ["--threads", str(threads), "--records", str(RECORDS)]
    done = subprocess.run(
        [*command, *options], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def test_models_and_outputs_are_the_same_bytes(tmp_path: Path) -> None:
    first, second = made(tmp_path / "first", "1", 1), made(tmp_path / "second", "4217", 2)
    assert {"parsed.jsonl", "parsed.bib", "discovered.rules", "ccm-svm.espalier"} < set(first)
    assert list(first) == list(second)
    assert [name for name in first if first[name] != second[name]] == []


def test_other_data_give_other_models(tmp_path: Path) -> None:
    """Or the test above would show nothing."""
    unfitted()["crf"].fit(*sequences(30, 5), labels=LABELS).save(tmp_path / "crf.espalier")
    assert (tmp_path / "crf.espalier").read_bytes() != (FILES / "crf.espalier").read_bytes()


@pytest.mark.parametrize("name", ["crf", "perceptron", "semicrf", "hmm", "conv", "experts", "two-stage-mined"])
def test_a_loaded_model_can_learn_again_what_it_learned(name: str, tmp_path: Path) -> None:
    """Its parameters are all there, features included."""
    unfitted()[name].fit(*sequences(30, 1), labels=LABELS).save(tmp_path / "first")
    fresh(es.load(tmp_path / "first").model).fit(*sequences(30, 1), labels=LABELS).save(tmp_path / "again")
    assert (tmp_path / "first").read_bytes() == (tmp_path / "again").read_bytes()


@pytest.mark.parametrize("format", ["jsonl", "bibtex"])
def test_parsing_on_one_or_two_processes(tmp_path: Path, format: str) -> None:
    (tmp_path / "refs.txt").write_text("\n".join(EXPECTED["references"] * 200) + "\n", encoding="utf-8")
    outputs = []
    for jobs in ("1", "2"):
        output = tmp_path / f"out{jobs}"
        options = ["-o", output, "--format", format, "--model", FILES / "parser.espalier", "--jobs", jobs]
        assert run(["parse", str(tmp_path / "refs.txt"), *map(str, options)]) == 0
        outputs.append(output.read_bytes())
    assert outputs[0] == outputs[1]
    assert outputs[0]
