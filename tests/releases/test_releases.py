"""Files of every release are read by this version, and say what they said then; files of later versions are refused."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import espalier as es
from espalier import store
from espalier.citations.formats import write
from espalier.citations.parser import Parser
from espalier.errors import InputError, ModelFileError
from espalier.estimators.persist import LEARNERS
from espalier.estimators.persist import MODELS as KINDS
from espalier.server.database import FILE, VERSION, Database
from espalier.workbench.bench import Bench

HERE = Path(__file__).parent
RELEASES = sorted(path for path in HERE.iterdir() if (path / "expected.json").exists())
EXPECTED = {path.name: json.loads((path / "expected.json").read_text(encoding="utf-8")) for path in RELEASES}
SINCE = {"conv_crf", "words"}
"""Kinds that came after the release; `scripts/make_release_files.py` has them for the next one."""
MODELS = [(release.name, name) for release in RELEASES for name in EXPECTED[release.name]["models"]]


@pytest.fixture(params=RELEASES, ids=lambda path: path.name)
def release(request: pytest.FixtureRequest) -> Path:
    """The files of one release."""
    found: Path = request.param
    return found


@pytest.mark.parametrize(("version", "name"), MODELS)
def test_a_model_says_what_it_said(version: str, name: str) -> None:
    model = es.load(HERE / version / f"{name}.espalier").model
    tokens, expected = EXPECTED[version]["tokens"], EXPECTED[version]["models"][name]
    assert model.predict(tokens) == expected["labels"]
    if "marginals" not in expected:
        with pytest.raises(InputError):
            model.predict_marginals(tokens)
        return
    for got, then in zip(
        model.predict_marginals(tokens[: len(expected["marginals"])]), expected["marginals"], strict=True
    ):
        np.testing.assert_allclose(got, then, atol=1e-6)


def test_every_kind_of_model_is_among_the_files() -> None:
    def kinds(header: dict[str, Any]) -> set[str]:
        inner = [part for part in header.values() if isinstance(part, dict) and "kind" in part]
        return {header["kind"]}.union(*map(kinds, inner))

    found = [kinds(store.load(path)[0]) for path in (HERE / es.__version__).glob("*.espalier")]
    assert set().union(*found) == {*KINDS, *LEARNERS} - SINCE


def test_a_parser_writes_what_it_wrote(release: Path) -> None:
    parser = Parser.from_file(release / "parser.espalier")
    assert parser.calibration.field is not None
    records = list(parser.parse_many(EXPECTED[release.name]["references"]))
    for format, ending in (("jsonl", "jsonl"), ("bibtex", "bib")):
        found = "".join(write(records, format))
        if release.name == "0.1.0":  # where a certificate was a word
            found = re.sub(r'"certificate": \{"status": ("\w+")[^}]*\}', r'"certificate": \1', found)
        assert found == (release / f"parsed.{ending}").read_text(encoding="utf-8")


def test_rules_that_were_found_can_be_read(release: Path) -> None:
    assert len(es.RuleSet.from_text((release / "discovered.rules").read_text(encoding="utf-8"))) > 0


def test_a_project_has_all_it_had(release: Path, tmp_path: Path) -> None:
    then = EXPECTED[release.name]["project"]
    shutil.copytree(release / "project", tmp_path / "project")
    bench = Bench(tmp_path / "project")
    task = bench.tasks.get(then["task"])
    stored = bench.records.all(then["task"])
    spans = {str(one.id): [[s.start, s.end, s.label] for s in one.document.spans or ()] for one in stored}
    assert (task.rules.text, dict(task.rules.penalties), list(task.rules.off)) == (
        then["rules"],
        then["penalties"],
        then["off"],
    )
    assert [one.document.text for one in stored] == then["texts"]
    assert {id: fields for id, fields in spans.items() if bench.records.get(then["task"], int(id)).corrected} == then[
        "corrected"
    ]
    _, _, _, (said,) = bench.answered(then["task"], then["model"], ["Cy in Rome"], 1)
    assert [[field.label, field.start, field.end] for field in said.fields] == then["parsed"]
    bench.close()


def test_a_model_file_of_a_later_format_is_refused(release: Path, tmp_path: Path) -> None:
    raw = bytearray((release / "crf.espalier").read_bytes())
    raw[16:20] = (store.FORMAT_VERSION + 1).to_bytes(4, "little")
    (tmp_path / "later.espalier").write_bytes(raw)
    with pytest.raises(ModelFileError, match=r"later\.espalier': the file has format 2, .* upgrade Espalier"):
        es.load(tmp_path / "later.espalier")


def test_a_kind_of_model_that_is_not_known_yet(release: Path, tmp_path: Path) -> None:
    header, arrays = store.load(release / "crf.espalier")
    store.save(tmp_path / "later.espalier", header | {"kind": "transducer"}, arrays)
    with pytest.raises(ModelFileError, match="unknown kind 'transducer'; a later Espalier may have written it"):
        es.load(tmp_path / "later.espalier")


def test_a_project_of_a_later_version_is_refused_and_left_as_it_is(release: Path, tmp_path: Path) -> None:
    shutil.copytree(release / "project", tmp_path / "project")
    with sqlite3.connect(tmp_path / "project" / FILE) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()
    before = (tmp_path / "project" / FILE).read_bytes()
    with pytest.raises(InputError, match=rf"has version {VERSION + 1}, this library reads {VERSION}; update espalier"):
        Database(tmp_path / "project")
    assert (tmp_path / "project" / FILE).read_bytes() == before
