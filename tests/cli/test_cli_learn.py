"""`espalier train` with a task, rules and unlabelled text, and the other commands with what it makes."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import pytest
from cli_runs import Espalier

import espalier as es
from espalier.cli.recipe import make_recipe
from espalier.cli.settings import Kind, Method
from espalier.cli.training import fit
from espalier.errors import InputError, RuleError

N_TOKENS = 6 + 6 + 7  # of the three labelled records
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
    assert espalier("train", "-l", corpus, "-o", path, "--rules", rules) == (0, "", "")
    model = es.load(path)
    assert isinstance(model, es.CCM)
    # No label breaks a rule, and every token is an occasion: log((kept + 15) / (violated + 1/4)).
    assert model.penalties_ == pytest.approx(dict.fromkeys(("Once", "Price"), math.log((N_TOKENS + 15) / 0.25)))
    code, out, _ = espalier("info", path)
    assert code == 0
    assert "ccm of crf" in out
    assert "Once: each field once  [penalty 4.913]" in out
    assert 'Price: token in "£" -> price  [penalty 4.913]' in out
    assert "templates" not in out
    assert "lower@-1" in out


def test_unlabelled_text_means_codl(espalier: Espalier, corpus: Path, rules: Path, raw: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    options = ["--model", "hmm", "--rules", rules, "--set", "method.gamma=0.5", "--set", "smoothing=additive"]
    assert espalier("train", "-l", corpus, "-u", raw, "-o", path, *options).code == 0
    labelled, pool = corpora(corpus, raw)
    expected = es.CoDL(es.CCM(es.HMM("additive"), RULES), gamma=0.5).fit(labelled, unlabelled=pool)
    model = es.load(path)
    assert model.predict(pool) == expected.predict(pool)
    assert [len(p) for p in model.predict_marginals(pool)] == [6, 6, 7]
    assert (model.gamma, model.update, model.model_.base_.smoothing) == (0.5, "interpolate", "additive")
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
    model = es.load(path)
    assert list(model.labels_) == ["O", "fruit", "place", "price", "stall"]  # plain, and with the one not seen
    assert model.rules_.names == ("Once", "Stall")
    assert model.penalties_["Stall"] == 2
    assert model.base_.l2 == 0.25
    header = json.loads(espalier("info", path, "--json").out)
    assert header["base"]["features"]["templates"] == ["lower", "lower@-1", "lower@1"]
    assert espalier("evaluate", "-m", path, "-d", corpus, "--json").code == 0


def test_options_come_before_the_task(task: Path, tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text('[features]\ntemplates = ["word"]\n', encoding="utf-8")
    base = make_recipe(task=str(task), features=tmp_path / "f.toml", settings=["l2=0.5"]).estimator.base
    assert base.l2 == 0.5
    assert [str(t) for t in base.features.templates] == ["word"]
    other = make_recipe(task=str(task), kind=Kind.semicrf).estimator.base
    assert other.l2 == es.SemiCRF().l2  # the task's parameters are those of its own model
    assert make_recipe(task=str(task), kind=Kind.hmm).kind == "hmm"


def test_rules_add_to_the_task_s_and_replace_those_of_the_same_name(task: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.rules"
    more.write_text("Once: fruit once [hard]\nFirst: first in fruit\n", encoding="utf-8")
    name = str(task)
    assert make_recipe(task=name).rules.names == ("Once", "Stall")
    both = make_recipe(task=name, rules=[str(more)]).rules
    assert both.names == ("Once", "Stall", "First")
    assert str(both["Once"]) == "Once: fruit once  [hard]"
    assert make_recipe(task=name, rules=["none", str(more)]).rules.names == ("Once", "First")
    assert make_recipe(rules=[name]).rules == es.load_task(task).rules  # a task file, as `rules discover` writes it
    assert make_recipe(rules=["ads"]).rules == es.load_task("ads").rules
    without = make_recipe(task=name, rules=["none"])
    assert (without.rules.K, type(without.estimator)) == (0, es.CRF)


def test_a_semi_crf_obeys_rules(espalier: Espalier, corpus: Path, rules: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.espalier"
    options = ["--rules", rules, "-m", "semicrf", "--penalties", "hard"]
    assert espalier("train", "-l", corpus, "-o", path, *options).code == 0
    [tags] = es.load(path).predict([["plum", "plum", "£", "plum"]])
    assert sum(tag == "B-fruit" for tag in tags) <= 1
    assert tags[2].endswith("-price")


@pytest.mark.parametrize(
    ("method", "penalties", "parameter", "value"),
    [
        ("supervised", None, "penalties", "count"),
        ("supervised", "2.5", "penalties", 2.5),
        ("supervised", "svm", "penalties", "svm"),
        ("codl", "hard", "model__penalties", "hard"),
        ("codl", "fixed", "model__penalties", "fixed"),
        ("pr", None, "slack", "count"),
        ("pr", "hard", "slack", "none"),
        ("pr", "fixed", "slack", 1.0),
        ("pr", "3", "slack", 3.0),
    ],
)
def test_penalties(rules: Path, method: str, penalties: str | None, parameter: str, value: Any) -> None:
    way = Method(method)
    recipe = make_recipe(rules=[str(rules)], method=way, penalties=penalties, pool=way != Method.supervised)
    assert recipe.estimator.get_params()[parameter] == value


@pytest.mark.parametrize(("penalties", "value"), [(None, 1), ("fixed", 1), ("3", 3), ("hard", math.inf)])
def test_penalties_of_samplerank_are_those_of_its_rules(task: Path, penalties: str | None, value: float) -> None:
    recipe = make_recipe(task=str(task), method=Method.samplerank, penalties=penalties, pool=True)
    assert recipe.estimator.rules.penalties.tolist() == [value, 2]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"method": Method.supervised, "pool": True}, "leave out --unlabelled, or choose codl"),
        ({"method": Method.codl}, "add --unlabelled FILE"),
        ({"method": Method.em, "pool": True, "rules": ["my.rules"]}, "choose codl, or add --rules none"),
        ({"method": Method.em, "pool": True, "kind": Kind.crf}, "cannot train --model crf; choose hmm"),
        ({"method": Method.pr, "pool": True}, "add --rules FILE"),
        ({"method": Method.ge, "pool": True, "rules": ["my.rules"], "kind": Kind.hmm}, "choose crf"),
        ({"method": Method.ge, "pool": True, "rules": ["my.rules"], "penalties": "hard"}, "method.weight"),
        ({"method": Method.codl, "pool": True, "kind": Kind.semicrf}, "choose crf, hmm, perceptron"),
        ({"method": Method.samplerank, "kind": Kind.crf}, "leave out --model"),
        ({"method": Method.samplerank, "rules": ["my.rules"]}, "add --unlabelled FILE, or --rules none"),
        ({"method": Method.pr, "pool": True, "rules": ["my.rules"], "penalties": "svm"}, "choose count, hard"),
        ({"penalties": "count"}, "there are none; add --rules FILE"),
        ({"rules": ["my.rules"], "penalties": "cuont"}, "did you mean 'count'"),
        ({"rules": ["my.rules"], "penalties": "-1"}, "a number of at least 0"),
        ({"rules": ["my.rules"], "penalties": "nan"}, "a number of at least 0"),
        ({"rules": ["my.rules"], "penalties": "svm", "kind": Kind.semicrf}, "use count"),
        ({"rules": ["bad.rules"]}, "bad.rules: line 1, column"),
        ({"settings": ["rules.folds=3"]}, "with --rules"),
        ({"settings": ["method.gamma=0.5"]}, "see --method"),
        ({"settings": ["mehtod.gamma=0.5"]}, "did you mean 'method'"),
        ({"pool": True, "settings": ["method.gama=0.5"]}, "did you mean 'gamma'"),
        ({"pool": True, "settings": ["method.gamma=much"]}, "--set method.gamma=much: expected a number, such as"),
        ({"pool": True, "settings": ["method.model=3"]}, "use --model"),
        ({"rules": ["my.rules"], "settings": ["rules.penalties=3"]}, "use --penalties"),
        ({"kind": Kind.hmm, "features": Path("market.toml")}, "--model hmm knows words alone; leave out --features"),
        ({"task": "market.toml", "tags": True}, "has plain labels; leave out --tags"),
        ({"task": "market"}, "no task is named 'market'"),
        ({"task": "odd.toml"}, "unknown model 'crff'; did you mean 'crf'"),
        ({"task": "wrong.toml"}, r"task wrong, \[defaults\] l2=much: expected a number"),
        ({"task": "market.toml", "rules": ["prize.rules"]}, "prize.rules: .*did you mean 'price'"),
    ],
)
def test_what_does_not_go_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "my.rules": RULES, "bad.rules": "Once: each feild once\n", "prize.rules": "R: prize once\n",
        "market.toml": TASK, "odd.toml": 'labels = ["a"]\n[defaults]\nmodel = "crff"\n',
        "wrong.toml": 'labels = ["a"]\n[defaults]\nl2 = "much"\n',
    }  # fmt: skip
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises((InputError, RuleError), match=complaint):
        make_recipe(**options)


def test_tags_of_a_task_are_tags(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('labels = ["O", "B-a", "I-a"]\n', encoding="utf-8")
    assert make_recipe(task=str(tmp_path / "t.toml")).marks
    with pytest.raises(InputError, match="has tags; leave out --plain"):
        make_recipe(task=str(tmp_path / "t.toml"), tags=False)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--rules", "stall.rules"], "unknown field 'stall'"),
        (["--rules", "stall.rules"], "give a --task that lists it"),
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
    Path("stall.rules").write_text("Stall: stall once\n", encoding="utf-8")
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
    assert "codl: 1 step; kept the model of cycle 1, the last; only --dev can tell whether it is better" in err
    _, _, err = espalier(*arguments, "--dev", corpus)
    assert "the best by the held-out records" in err


def test_news_of_cycles_and_iterations(corpus: Path, rules: Path, raw: Path) -> None:
    heard: list[str] = []
    recipe = make_recipe(rules=[str(rules)], method=Method.pr, pool=True, settings=["method.iterations=1"])
    fit(recipe, es.read(corpus), pool=es.read(raw), dev=[], news=heard.append)
    assert heard[0].startswith("iteration 1  objective ")
    cycles = [news for news in heard if "iteration" not in news]
    assert [news[:20] for news in cycles] == ["cycle 0  objective -", "cycle 1  objective -"]
    assert any(news.startswith("cycle 0  ") and "  iteration " in news for news in heard)


def test_doubts_are_lines_on_stderr(espalier: Espalier, corpus: Path, raw: Path, tmp_path: Path) -> None:
    path, source = tmp_path / "m.espalier", tmp_path / "my.rules"
    source.write_text(RULES + "Order: fruit before price\n", encoding="utf-8")
    arguments = ["train", "-l", corpus, "-u", raw, "-o", path, "--rules", source, "--method", "pr", "-m", "hmm"]
    code, _, err = espalier(*arguments)
    assert (code, err.count("\n")) == (0, 1)
    assert err.startswith("espalier: 1 rules are no expectations over a chain and teach nothing: Order")
    source.write_text("No: not fruit required [hard]\nYes: first in fruit [hard]\n", encoding="utf-8")
    assert espalier("train", "-l", corpus, "-o", path, "--rules", source).code == 0
    code, out, err = espalier("label", raw, "-m", path)
    assert (code, len(out.splitlines())) == (0, 3)
    assert err.startswith("espalier: the hard rules leave no labelling for 3 of 3 sequences")
