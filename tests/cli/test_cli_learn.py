"""`espalier train` with a task, rules and unlabelled text, and the other commands with what it makes."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import pytest
from cli_runs import Espalier

import espalier as es

N_TOKENS = 6 + 6 + 7  # of the three labelled records
N_FIELDS, N_POUNDS = 3 * 3, 3
RAW = "fig at £ 3 in Ely\nplum for £ 9 near Rye\nin Wye a quince at £ 4\n"
RULES = 'Once:  each field once\nPrice: token in "£" -> price\n'
TASK = """\
labels = ["O", "fruit", "place", "price", "stall"]
[features]
templates = ["lower", "lower[-1,1]"]
[rules]
text = '''
Once:  each field once
Stall: token in "stall" -> stall   [penalty 2]
'''
[defaults]
model = "crf"
l2 = 0.25
"""


@pytest.fixture(scope="session")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pool") / "raw.txt"
    path.write_text(RAW, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("rules") / "my.rules"
    path.write_text(RULES, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("task") / "market.toml"
    path.write_text(TASK, encoding="utf-8")
    return path


def corpora(corpus: Path, raw: Path) -> tuple[es.Corpus, es.Corpus]:
    return es.Corpus.from_documents(es.read(corpus)), es.Corpus.from_documents(es.read(raw))


def test_rules_make_a_model_under_rules(espalier: Espalier, corpus: Path, rules: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    assert espalier("train", "-l", corpus, "-o", path, "--rules", rules).code == 0
    model = es.load(path).model
    assert isinstance(model, es.CCM)
    # No label breaks a rule. Each of the fields and of the pound signs is an occasion to: log((kept + 150) / 0.25).
    expected = {name: math.log((kept + 150) / 0.25) for name, kept in (("Once", N_FIELDS), ("Price", N_POUNDS))}
    assert model.penalties_ == pytest.approx(expected)
    code, out, _ = espalier("info", path)
    assert code == 0
    assert "ccm of crf" in out
    assert "Once: each field once  [penalty 6.455]" in out
    assert 'Price: token in "£" -> price  [penalty 6.417]' in out
    assert "templates" not in out
    assert "lower@-1" in out


def test_unlabelled_text_means_codl(espalier: Espalier, corpus: Path, rules: Path, raw: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    options = ["--model", "hmm", "--rules", rules, "--set", "method.gamma=0.5", "--set", "smoothing=additive"]
    assert espalier("train", "-l", corpus, "-u", raw, "-o", path, *options).code == 0
    labelled, pool = corpora(corpus, raw)
    expected = es.CoDL(es.CCM(es.HMM("additive"), RULES), gamma=0.5).fit(labelled, unlabelled=pool)
    model = es.load(path).model
    assert model.predict(pool) == expected.predict(pool)
    assert [len(p) for p in model.predict_marginals(pool)] == [6, 6, 7]
    assert (model.gamma, model.update, model.model_.base_.smoothing) == (0.5, None, "additive")
    assert "codl of ccm of hmm" in espalier("info", path).out


@pytest.mark.parametrize(
    ("method", "kind", "quick"),
    [
        ("codl", "codl of ccm of crf", "method.cycles=1"),
        ("samplerank", "samplerank", "method.pool_epochs=2"),
        ("pr", "pr of crf", "method.iterations=1"),
        ("ge", "ge of crf", "method.max_iterations=2"),
        ("em", "em of hmm", "method.iterations=2"),
    ],
)
def test_every_method(
    espalier: Espalier, corpus: Path, rules: Path, raw: Path, tmp_path: Path, method: str, kind: str, quick: str
) -> None:
    path, source = tmp_path / "m.espalier", "none" if method == "em" else rules
    options = ["--method", method, "--rules", source, "--set", quick, "--dev", corpus, "--json"]
    code, out, _ = espalier("train", "-l", corpus, "-u", raw, "-o", path, *options)
    summary = json.loads(out)
    assert code == 0
    assert summary["method"] == method
    assert (summary["pool_records"], summary["pool_tokens"]) == (3, N_TOKENS)
    assert summary["history"]
    assert 0 <= summary["beside"]["supervised"] <= summary["dev"]["token_accuracy"] <= 1
    assert 0 <= summary["kept"] <= len(summary["history"])
    assert kind in espalier("info", path).out
    assert json.loads(espalier("info", path, "--json").out)["kind"] == method
    code, out, err = espalier("label", raw, "-m", path, "-f", "inline")
    assert (code, err, out.count("<price>")) == (0, "", 3)
    assert espalier("evaluate", "-m", path, "-d", corpus).code == 0


def test_labels_in_the_pool_are_not_read(espalier: Espalier, corpus: Path, rules: Path, tmp_path: Path) -> None:
    stripped, models = tmp_path / "text.txt", [tmp_path / "a.espalier", tmp_path / "b.espalier"]
    stripped.write_text("\n".join(d.text for d in es.read(corpus)) + "\n", encoding="utf-8")
    for pool, path in zip((corpus, stripped), models, strict=True):
        assert espalier("train", "-l", corpus, "-u", pool, "-o", path, "--rules", rules, "-m", "hmm").code == 0
    assert models[0].read_bytes() == models[1].read_bytes()


def test_several_pools_in_a_format_of_their_own(espalier: Espalier, corpus: Path, raw: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.data"
    more.write_text("fig\nat\n\nplum\n", encoding="utf-8")  # by lines four records, by columns two
    options = ["-o", tmp_path / "m.espalier", "-m", "hmm", "--json", "--from", "inline"]
    code, out, _ = espalier("train", "-l", corpus, "-u", more, "--unlabelled-from", "plain", *options)
    assert (code, json.loads(out)["pool_records"]) == (0, 3)
    code, out, _ = espalier("train", "-l", corpus, "-u", raw, "-u", raw, *options)
    assert (code, json.loads(out)["pool_records"]) == (0, 6)


def test_a_task_gives_labels_features_rules_and_model(
    espalier: Espalier, corpus: Path, task: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.espalier"
    assert espalier("train", "-l", corpus, "-o", path, "--task", task).code == 0
    model = es.load(path).model
    assert list(model.labels_) == ["O", "fruit", "place", "price", "stall"]  # plain, and with the one not seen
    assert model.rules_.names == ("Once", "Stall")
    assert model.penalties_["Stall"] == 2
    assert model.base_.l2 == 0.25
    header = json.loads(espalier("info", path, "--json").out)
    assert header["base"]["features"]["templates"] == ["lower", "lower@-1", "lower@1"]
    assert espalier("evaluate", "-m", path, "-d", corpus, "--json").code == 0


def test_a_semi_crf_obeys_rules(espalier: Espalier, corpus: Path, rules: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    options = ["--rules", rules, "-m", "semicrf", "--penalties", "hard"]
    assert espalier("train", "-l", corpus, "-o", path, *options).code == 0
    [tags] = es.load(path).model.predict([["plum", "plum", "£", "plum"]])
    assert sum(tag == "B-fruit" for tag in tags) <= 1
    assert tags[2].endswith("-price")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--rules", "missing.rules"], "missing.rules: No such file"),
        (["--task", "small.toml"], "record 1, token 6: unknown label 'place'"),
        (["--task", "small.toml"], "those that the task small lists"),
        (["--unlabelled", "raw.txt", "--method", "samplerank"], "--set method.unlabelled_truth=self"),
        (["--unlabelled", "empty.txt"], "empty.txt: there is no record to read"),
        (["--unlabelled", "raw.txt", "--dev", "raw.txt"], "raw.txt: no record is labelled"),
    ],
)
def test_bad_use(
    espalier: Espalier,
    corpus: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    complaint: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text('labels = ["O", "fruit", "price"]\n', encoding="utf-8")
    Path("raw.txt").write_text(RAW, encoding="utf-8")
    Path("empty.txt").write_text("", encoding="utf-8")
    code, _, err = espalier("train", "-l", corpus, "-o", "m.espalier", *arguments)
    assert code == 2
    assert complaint in err
    assert not Path("m.espalier").exists()


def test_the_supervised_score_stands_beside(
    espalier: Espalier, corpus: Path, rules: Path, raw: Path, tmp_path: Path
) -> None:
    path = tmp_path / "m.espalier"
    _, out, _ = espalier("train", "-l", corpus, "-u", raw, "-o", path, "--rules", rules, "-m", "hmm", "--dev", corpus)
    assert "\nsupervised: token accuracy " in out
    _, out, _ = espalier("train", "-l", corpus, "-o", path, "--rules", rules, "-m", "hmm", "--dev", corpus)
    labelled = es.Corpus.from_documents(es.read(corpus))
    assert f"\nwithout rules: token accuracy {100 * es.HMM().fit(labelled).score(labelled):.1f}" in out


def test_a_person_at_a_terminal_hears_of_every_cycle(
    espalier: Espalier, corpus: Path, raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    arguments = ["train", "-l", corpus, "-u", raw, "-o", tmp_path / "m.espalier", "-m", "hmm"]
    _, _, err = espalier(*arguments, "--set", "method.cycles=1")
    assert "codl: the model of round 1, the last, is kept; whether it is better, --dev FILE would tell" in err
    _, _, err = espalier(*arguments, "--dev", corpus)
    assert "is the best on the --dev records" in err


def test_doubts_are_lines_on_stderr(espalier: Espalier, corpus: Path, raw: Path, tmp_path: Path) -> None:
    path, source = tmp_path / "m.espalier", tmp_path / "my.rules"
    source.write_text(RULES + "Order: fruit before price\n", encoding="utf-8")
    arguments = ["train", "-l", corpus, "-u", raw, "-o", path, "--rules", source, "--method", "pr", "-m", "hmm"]
    code, _, err = espalier(*arguments)
    assert (code, len(doubts := [line for line in err.splitlines() if " rules are no " in line])) == (0, 1)
    assert doubts[0].startswith("espalier: 1 rules are no expectations over a chain and teach nothing: Order")
    source.write_text("No: not fruit required [hard]\nYes: first in fruit [hard]\n", encoding="utf-8")
    assert espalier("train", "-l", corpus, "-o", path, "--rules", source).code == 0
    code, out, err = espalier("label", raw, "-m", path)
    assert (code, len(out.splitlines())) == (0, 3)
    assert err.startswith("espalier: the hard rules leave no labelling for 3 of 3 sequences")


def test_jobs_of_training_says_that_it_is_going(espalier: Espalier, corpus: Path, tmp_path: Path) -> None:
    """For one release; the model is that without it."""
    plain, jobs = tmp_path / "plain.espalier", tmp_path / "jobs.espalier"
    assert espalier("train", "-l", corpus, "-o", plain, "--set", "max_iterations=3").code == 0
    done = espalier("train", "-l", corpus, "-o", jobs, "--set", "max_iterations=3", "--jobs", 2)
    assert done.code == 0
    assert "--jobs has no effect any more, and goes with the next release: training runs in threads" in done.err
    assert plain.read_bytes() == jobs.read_bytes()
    found, again = (espalier("rules", "discover", "-d", corpus, "--json", *more) for more in ([], ["--jobs", 2]))
    assert (found.code, found.out) == (again.code, again.out)
    assert "--jobs has no effect any more" in again.err
