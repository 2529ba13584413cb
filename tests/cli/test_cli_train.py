"""`espalier train` and `espalier info`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from cli_runs import Espalier

import espalier as es
from espalier.cli.train import _kinds
from espalier.corpus import Labels
from espalier.recipes.settings import parse_settings

N_TOKENS = 6 + 6 + 7  # of the three records
TAGS = ["B-fruit", "B-place", "B-price", "I-fruit", "I-place", "I-price", "O"]


def test_train_writes_a_model_that_loads(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    code, out, err = espalier("train", "-l", corpus, "-o", path, "--set", "l2=0.25", "--set", "transitions=all")
    assert (code, out) == (0, "")
    assert re.fullmatch(rf"espalier: crf from 3 records, {N_TOKENS} tokens in [\d.]+ s → {re.escape(str(path))}\n", err)
    loaded = es.load(path).model
    assert list(loaded.labels_) == TAGS
    assert loaded.get_params()["l2"] == 0.25
    assert loaded.get_params()["transitions"] == "all"
    data = es.Corpus.from_documents(es.read(corpus), vocabulary=Labels(TAGS))
    assert loaded.training_digest_ == data.digest()


def test_a_person_at_a_terminal_is_told(
    espalier: Espalier, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, out, err = espalier("train", "-l", corpus, "-o", tmp_path / "m.espalier")
    assert (code, out) == (0, "")
    assert "training crf" in err
    assert f"crf from 3 records, {N_TOKENS} tokens" in err


def test_it_says_which_models_were_trained() -> None:
    X, y = [["plum", "in", "Ely"]], [["fruit", "O", "place"]]
    both = es.Experts([es.CRF(["lower"]), es.HMM()], [1.0, 1.0])
    assert _kinds(es.CCM(both, "One: fruit once").fit(X, y)) == ["crf", "hmm"]
    assert _kinds(es.CCM(es.HMM(), "One: fruit once").fit(X, y)) == []  # the one that was asked for


def test_plain_labels_have_no_marks(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    assert espalier("train", "-l", corpus, "-o", path, "--plain").code == 0
    assert list(es.load(path).model.labels_) == ["O", "fruit", "place", "price"]


def test_summary_as_json_with_dev(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    code, out, _ = espalier("train", "-l", corpus, "-o", path, "--dev", corpus, "--set", "l2=0.01", "--json")
    summary = json.loads(out)
    assert code == 0
    assert {key: summary[key] for key in ("model", "kind", "records", "unlabelled", "tokens", "labels")} == {
        "model": str(path), "kind": "crf", "records": 3, "unlabelled": 0, "tokens": N_TOKENS, "labels": len(TAGS),
    }  # fmt: skip
    assert summary["dev"]["field_f1"] == 1.0


def test_several_files_and_stdin(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    arguments = ["train", "-l", corpus, "-l", "-", "-o", tmp_path / "m.espalier", "--json"]
    code, out, _ = espalier(*arguments, stdin="<fruit>fig</fruit> in <place>Rye</place>\n")
    assert code == 0
    assert (json.loads(out)["records"], json.loads(out)["tokens"]) == (4, N_TOKENS + 3)


def test_features_of_a_task_file(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "places.txt").write_text("Ely\nWye\n", encoding="utf-8")
    task = tmp_path / "task.toml"
    task.write_text(
        '[features]\ntemplates = ["lower", "lexicon:places"]\n[features.lexicons]\nplaces = "places.txt"\n',
        encoding="utf-8",
    )
    path = tmp_path / "m.espalier"
    assert espalier("train", "-l", corpus, "-o", path, "--features", task).code == 0
    header = json.loads(espalier("info", path, "--json").out)
    assert header["features"]["templates"] == ["lower", "lexicon:places"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[features", "not TOML"),
        ("[rules]\n", "no [features] table"),
        ('[features]\ntemplates = ["lowr"]\n', "lower"),
        ('[features]\ntemplates = ["lower"]\nmincount = 2\n', "min_count"),
    ],
)
def test_bad_task_file(espalier: Espalier, corpus: Path, tmp_path: Path, content: str, complaint: str) -> None:
    task = tmp_path / "task.toml"
    task.write_text(content, encoding="utf-8")
    code, _, err = espalier("train", "-l", corpus, "-o", tmp_path / "m.espalier", "--features", task)
    assert code == 2
    assert err.startswith((f"espalier: {task}: ", f"espalier: {task}:1: "))
    assert complaint in err


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("l2", "NAME=VALUE"),
        ("=1", "NAME=VALUE"),
        ("l3=1", "no parameter 'l3'"),
        ("l2=much", "expected a number"),
        ("l2=true", "expected a number"),
        ("l2=-1", "at least 0"),
        ("max_iterations=2.5", "expected a whole number"),
        ("transitions=3", "expected a word"),
        ("features=word", "--features"),
        ("progress=1", "cannot be set here"),
    ],
)
def test_bad_setting(espalier: Espalier, corpus: Path, tmp_path: Path, setting: str, complaint: str) -> None:
    code, _, err = espalier("train", "-l", corpus, "-o", tmp_path / "m.espalier", "--set", setting)
    assert code == 2
    assert complaint in err
    assert not (tmp_path / "m.espalier").exists()


def test_settings_are_read_as_json_or_words() -> None:
    assert parse_settings(["a=1", "b=0.5", "c=true", "d=null", "e=all", "f=x=y", "g="]) == {
        "a": 1, "b": 0.5, "c": True, "d": None, "e": "all", "f": "x=y", "g": "",
    }  # fmt: skip


def test_settings_say_whom_they_are_for() -> None:
    assert parse_settings(["l2=1", "rules.folds=3", "method.gamma=0.8", 'method.weight={"Once": 2}']) == {
        "l2": 1, "rules.folds": 3, "method.gamma": 0.8, "method.weight": {"Once": 2},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("", "data.txt: there is no record to read"),
        ("only text\n", "none of the 1 training records is labelled"),
        ("<fruit>plum</fruit>\n<fruit>pear</friut>\n", ":2: "),
    ],
)
def test_bad_training_data(espalier: Espalier, tmp_path: Path, content: str, complaint: str) -> None:
    data = tmp_path / "data.txt"
    data.write_text(content, encoding="utf-8")
    code, _, err = espalier("train", "-l", data, "-o", tmp_path / "m.espalier")
    assert code == 2
    assert complaint in err
    assert not (tmp_path / "m.espalier").exists()


def test_a_field_that_cuts_a_token_is_reported(espalier: Espalier, tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_text("<fruit>plum</fruit>tree in <place>Ely</place>\n", encoding="utf-8")
    code, _, err = espalier("train", "-l", data, "-o", tmp_path / "m.espalier")
    assert code == 0
    where = f"espalier: {data}: record 1, 'plumtree': the border of a field cuts a token, which takes the label"
    assert err.startswith(where)
    assert "(1 in all); put a space there, or the tag elsewhere\n" in err
    again = espalier("train", "-l", data, "-u", data, "-o", tmp_path / "m.espalier", "--set", "max_iterations=1")
    assert again.err.count("the border of a field cuts a token") == 1, again.err


@pytest.mark.parametrize(("place", "complaint"), [("-", "stdout"), (".", "directory"), ("no/m.espalier", "not exist")])
def test_bad_output_is_refused_before_training(
    espalier: Espalier, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = espalier("train", "-l", corpus, "-o", place)
    assert code == 2
    assert complaint in err


TASK = 'labels = ["B-fruit", "B-place", "B-price", "I-price", "O"]\n[features]\ntemplates = ["lower"]\n'


def test_without_output_the_model_is_called_as_the_task(
    espalier: Espalier, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "market.toml").write_text(TASK, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    declared = ["B-fruit", "B-place", "B-price", "I-price", "O"]  # what a task lists is all there is
    for task, name, tags in (
        (["--task", "tasks/market.toml"], "market.espalier", declared), ([], "model.espalier", TAGS),
    ):  # fmt: skip
        done = espalier("train", *task, "--labelled", corpus)
        assert (done.code, done.out) == (0, "")
        assert done.err.endswith(f" s → {name}\nespalier: the model is in {name}; --output names another file\n")
        before = Path(name).read_bytes()
        assert list(es.load(name).model.labels_) == tags
        again = espalier("train", *task, "--labelled", corpus)
        what = f"{name} is there already; name the file to write: --output {name} replaces it"
        assert again == (2, "", f"espalier: {what}\n")
        assert Path(name).read_bytes() == before
        assert espalier("train", *task, "--labelled", corpus, "--output", name).code == 0


def test_an_error_before_the_training_says_nothing_of_a_model(
    espalier: Espalier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = espalier("train", "--task", "citation", "--labelled", "none.txt")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_label_names_the_file_and_the_record(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    task, typo = tmp_path / "market.toml", tmp_path / "typo.txt"
    task.write_text(TASK, encoding="utf-8")
    typo.write_text("<fruit>plum</fruit>\nin <plce>Ely</plce>\n", encoding="utf-8")
    done = espalier("train", "-t", task, "-l", corpus, "-l", typo, "-o", tmp_path / "m.espalier")
    what = "record 2, token 2: unknown label 'B-plce'; did you mean 'B-place'?"
    assert done == (2, "", f"espalier: {typo}: {what} (the labels are those that the task market lists)\n")
    done = espalier("train", "-t", "citations", "-l", "-", "-o", tmp_path / "m.espalier", stdin=typo.read_bytes())
    assert (done.code, done.err.startswith("espalier: <stdin>: scheme 'citations' has no label 'fruit'")) == (2, True)


def test_tokens_that_are_cut_are_told_also_of_references(espalier: Espalier, tmp_path: Path) -> None:
    data = tmp_path / "data.txt"
    data.write_text("<author>Ada Plu</author>m. <title>Wires.</title>\n", encoding="utf-8")
    options = ("--set", "prior=null", "--set", "max_iterations=1", "--rules", "none")
    done = espalier("train", "-t", "citations", "-l", data, "-o", tmp_path / "m.espalier", *options)
    assert "record 1, 'Plum': the border of a field cuts a token" in done.err


def test_info(espalier: Espalier, model: Path) -> None:
    code, out, _ = espalier("info", model)
    assert code == 0
    assert "crf" in out
    assert f"{len(TAGS)}: {', '.join(TAGS)}" in out
    found = json.loads(espalier("info", model, "--json").out)
    assert found["labels"] == TAGS
    assert found["parameters"]["l2"] == 0.01
    assert found["bytes"] == model.stat().st_size
    assert found["training_data"] == es.load(model).model.training_digest_
    assert found["arrays"]["trans"]["shape"] == [len(TAGS), len(TAGS)]


def test_info_of_something_else(espalier: Espalier, corpus: Path) -> None:
    code, _, err = espalier("info", corpus)
    assert code == 2
    assert "tagged.txt" in err


def test_names_of_models_and_methods_in_capitals(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "hmm.espalier"
    done = espalier("train", "-l", corpus, "-u", corpus, "-m", "HMM", "--method", "EM", "-o", path)
    assert done.code == 0
    assert json.loads(espalier("info", path, "--json").out)["kind"] == "em"
