"""`citations` names the bundled model wherever a command takes a model, unless there is a file of that name."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from cli_runs import Espalier

import espalier as es

REFERENCE = (
    "<author>Smith AB, Jones CD.</author> <title>Soil salts and the rooting of quince.</title> "
    "<container-title>Acta Hortic.</container-title> <date>2004;</date><volume>12</volume>"
    "<issue>(4):</issue><pages>33-9.</pages>\n"
)


@pytest.fixture
def references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "refs.txt"
    path.write_text(REFERENCE, encoding="utf-8")
    return path


def test_commands_take_the_name(espalier: Espalier, references: Path) -> None:
    labelled = espalier("label", references, "-m", "citations")
    assert (labelled.code, labelled.err) == (0, "")
    [document] = es.read(io.StringIO(labelled.out), "jsonl")
    fields = es.load("citations").parse(document.text).fields
    assert [(s.start, s.end, s.label) for s in document.spans or ()] == [(f.start, f.end, f.label) for f in fields]
    assert espalier("evaluate", "-m", "citations", "-d", references).code == 0
    same = json.loads(espalier("compare", "citations", "citations", "-d", references, "--json").out)
    assert all(row["a"] == row["b"] for row in same["metrics"])


def test_a_file_of_that_name_comes_first(espalier: Espalier, references: Path, model: Path) -> None:
    shutil.copy(model, references.parent / "citations")
    labelled = espalier("label", "-", "-m", "citations", stdin="plum in Ely")
    [document] = es.read(io.StringIO(labelled.out), "jsonl")
    assert {span.label for span in document.spans or ()} == {"fruit", "place"}


def test_other_names_are_files(espalier: Espalier, references: Path) -> None:
    found = espalier("evaluate", "-m", "citation", "-d", references)
    assert (found.code, found.err) == (2, "espalier: there is no model file 'citation'\n")
