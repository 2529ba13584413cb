"""`citations` names the bundled model wherever a command takes a model, unless there is a file of that name."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path

import pytest
from cli_runs import Espalier

import espalier as es
from espalier.citations.parser import BUNDLED
from espalier.errors import ModelFileError

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


def test_info_and_parse_take_the_name(espalier: Espalier, references: Path) -> None:
    found = espalier("info", "citations", "--json")
    assert (found.code, found.err) == (0, "")
    header = json.loads(found.out)
    assert (header["kind"], Path(header["file"]).name) == ("ccm", BUNDLED)
    # Not as JSON: confidences have digits by which products of matrices round differently in other company.
    plain = espalier("parse", references, "-f", "bibtex")
    assert plain.code == 0
    assert espalier("parse", references, "-f", "bibtex", "-m", "citations") == plain
    assert espalier("parse", references, "-f", "bibtex", "-m", "citations", "-j", 2) == plain


def test_a_file_of_that_name_is_not_the_default(espalier: Espalier, references: Path, model: Path) -> None:
    before = espalier("parse", references, "-f", "bibtex")
    shutil.copy(model, references.parent / "citations")
    assert espalier("parse", references, "-f", "bibtex") == before
    assert "the model has the label 'B-fruit'" in espalier("parse", references, "-m", "citations").err


@pytest.mark.parametrize(
    "command",
    [
        "evaluate -m citation -d refs.txt",
        "compare citation citations -d refs.txt",
        "info citation",
        "label refs.txt -m citation",
        "parse refs.txt -m citation",
        "rules discover -d refs.txt -m citation",
        "train -t citations -l refs.txt --set prior=citation -o my.espalier",
    ],
)
def test_other_names_are_files(espalier: Espalier, references: Path, command: str) -> None:
    found = espalier(*command.split())
    what = "espalier: there is no model file 'citation'; did you mean 'citations'?\n"
    assert (found.code, found.err) == (2, what)


def test_names_that_are_far_from_it_get_no_hint(references: Path) -> None:
    with pytest.raises(ModelFileError, match=r"^there is no model file 'plums.espalier'$"):
        es.load("plums.espalier")
    with pytest.raises(ModelFileError, match="did you mean 'citations'"):
        es.load("citation")
    with pytest.raises(ModelFileError, match="did you mean 'citations'"):
        es.load(Path("Citations"))
