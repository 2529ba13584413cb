"""What `plan` decides, and what it refuses: in Python's words, and in the words of the command line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import espalier as es
from espalier.cli.console import in_options
from espalier.corpus import Labels
from espalier.errors import InputError, RuleError
from espalier.recipes import METHODS, MODELS, Trained, plan, train
from espalier.recipes.adapting import Start
from espalier.recipes.rule_files import gather_rules
from espalier.tags import with_inside
from espalier.tasks.task import load_features

TAGGED = """\
<fruit>plum</fruit> at <price>£ 3</price> in <place>Ely</place>
<fruit>pear</fruit> for <price>£ 9</price> near <place>Wye</place>
in <place>Ely</place> a <fruit>plum</fruit> at <price>£ 9</price>
"""
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


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "market.toml"
    path.write_text(TASK, encoding="utf-8")
    return path


@pytest.fixture
def documents(tmp_path: Path) -> list[es.Document]:
    (tmp_path / "tagged.txt").write_text(TAGGED, encoding="utf-8")
    return es.read(tmp_path / "tagged.txt")


def test_models_and_methods_have_the_names_of_their_rows() -> None:
    assert all(model.kind == kind for kind, model in MODELS.items())
    assert [*METHODS] == ["supervised", "words", "codl", "em", "pr", "ge", "samplerank"]


def test_what_is_asked_for_comes_before_the_task(task: Path, tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text('[features]\ntemplates = ["word"]\n', encoding="utf-8")
    base = plan(task=task, features=load_features(tmp_path / "f.toml"), settings={"l2": 0.5}).estimator.base
    assert base.l2 == 0.5
    assert [str(t) for t in base.features.templates] == ["word"]
    other = plan(task=task, model="semicrf").estimator.base
    assert other.l2 == es.SemiCRF().l2  # the task's parameters are those of its own model
    assert plan(task=es.load_task(task), model="hmm").kind == "hmm"
    assert plan(task=task, rules="First: first in fruit").rules.names == ("First",)
    assert plan(task=task, rules="").estimator.get_params()["l2"] == 0.25


def test_rules_add_to_the_task_s_and_replace_those_of_the_same_name(task: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.rules"
    more.write_text("Once: fruit once [hard]\nFirst: first in fruit\n", encoding="utf-8")
    market = es.load_task(task)
    assert gather_rules(market, []).names == ("Once", "Stall")
    both = gather_rules(market, [str(more)])
    assert both.names == ("Once", "Stall", "First")
    assert str(both["Once"]) == "Once: fruit once  [hard]"
    assert gather_rules(market, ["none", str(more)]).names == ("Once", "First")
    assert gather_rules(None, [str(task)]) == market.rules  # a task file, as `rules discover` writes it
    assert gather_rules(None, ["ads"]) == es.load_task("ads").rules
    without = plan(task=market, rules=gather_rules(market, ["none"]))
    assert (without.rules.K, type(without.estimator)) == (0, es.CRF)


@pytest.mark.parametrize(
    ("method", "penalties", "parameter", "value"),
    [
        ("supervised", None, "penalties", "count"),
        ("supervised", 2.5, "penalties", 2.5),
        ("supervised", "svm", "penalties", "svm"),
        ("codl", "hard", "model__penalties", "hard"),
        ("codl", "fixed", "model__penalties", "fixed"),
        ("pr", None, "slack", "count"),
        ("pr", "hard", "slack", "none"),
        ("pr", "fixed", "slack", 1.0),
        ("pr", 3, "slack", 3.0),
    ],
)
def test_penalties(method: str, penalties: str | float | None, parameter: str, value: Any) -> None:
    recipe = plan(rules=RULES, method=method, penalties=penalties, unlabelled=method != "supervised")
    assert recipe.estimator.get_params()[parameter] == value


@pytest.mark.parametrize(("penalties", "value"), [(None, 1), ("fixed", 1), (3, 3), ("hard", math.inf)])
def test_penalties_of_samplerank_are_those_of_its_rules(task: Path, penalties: Any, value: float) -> None:
    recipe = plan(task=task, method="samplerank", penalties=penalties, unlabelled=True)
    assert recipe.estimator.rules.penalties.tolist() == [value, 2]


CONFLICTS: list[tuple[dict[str, Any], str, str]] = [
    (
        {"method": "supervised", "unlabelled": True},
        "method='supervised' learns from labels alone; leave out unlabelled=, or choose words",
        "--method supervised learns from labels alone; leave out --unlabelled, or choose words",
    ),
    (
        {"method": "codl"},
        "method='codl' learns from unlabelled text; pass unlabelled=, or leave out method=",
        "--method codl learns from unlabelled text; add --unlabelled FILE, or leave out --method",
    ),
    (
        {"method": "em", "unlabelled": True, "rules": RULES},
        "knows no rules; choose codl, or pass rules=''",
        "knows no rules; choose codl, or add --rules none",
    ),
    (
        {"method": "em", "unlabelled": True, "model": "crf"},
        "method='em' cannot train model='crf'; choose hmm",
        "--method em cannot train --model crf; choose hmm",
    ),
    (
        {"method": "pr", "unlabelled": True},
        "method='pr' learns from rules; pass rules= or a task= that has some, or choose codl",
        "--method pr learns from rules; add --rules FILE or a --task that has some, or choose codl",
    ),
    ({"method": "ge", "unlabelled": True, "rules": RULES, "model": "hmm"}, "; choose crf", "; choose crf"),
    (
        {"method": "ge", "unlabelled": True, "rules": RULES, "penalties": "hard"},
        "has no penalties; it weighs rules by method.weight=100",
        "has no penalties; it weighs rules by --set method.weight=100",
    ),
    ({"method": "codl", "unlabelled": True, "model": "semicrf"}, "choose crf, hmm, perceptron", "choose crf, hmm"),
    ({"method": "samplerank", "model": "crf"}, "leave out model=", "leave out --model"),
    (
        {"method": "samplerank", "rules": RULES},
        "uses rules on unlabelled text; pass unlabelled=, or pass rules=''",
        "uses rules on unlabelled text; add --unlabelled FILE, or add --rules none",
    ),
    (
        {"method": "pr", "unlabelled": True, "rules": RULES, "penalties": "svm"},
        "method='pr' cannot use penalties='svm'; choose count, hard",
        "--method pr cannot use --penalties svm; choose count, hard",
    ),
    (
        {"penalties": "count"},
        "penalties= are for rules, and there are none; pass rules= or a task= that has some",
        "--penalties are for rules, and there are none; add --rules FILE or a --task that has some",
    ),
    (
        {"rules": RULES, "penalties": "cuont"},
        "penalties='cuont': unknown; did you mean 'count'",
        "--penalties cuont: u",
    ),
    ({"rules": RULES, "penalties": -1.0}, "a number of at least 0", "--penalties -1.0: unknown; expected count, hard"),
    ({"rules": RULES, "penalties": math.nan}, "a number of at least 0", "a number of at least 0"),
    (
        {"rules": RULES, "penalties": "svm", "model": "semicrf"},
        "penalties='svm' are trained with a model of chains; use count, or another model=",
        "--penalties svm are trained with a model of chains; use count, or another --model",
    ),
    (
        {"settings": {"rules.folds": 3}},
        "rules.NAME= is for a model under rules: rules=",
        "--set rules.NAME is for",
    ),
    ({"settings": {"method.gamma": 0.5}}, "supervised has nothing to set; see method=", "see --method"),
    (
        {"settings": {"mehtod.gamma": 0.5}},
        "mehtod.gamma=0.5: nothing is called 'mehtod'; did you mean 'method'",
        "--set mehtod.gamma=0.5: no",
    ),
    ({"unlabelled": True, "settings": {"method.gama": 0.5}}, "did you mean 'gamma'", "did you mean 'gamma'"),
    (
        {"unlabelled": True, "settings": {"method.gamma": "much"}},
        "method.gamma='much': expected a number, such as method.gamma=0.9",
        "--set method.gamma=much: expected a number, such as method.gamma=0.9",
    ),
    ({"settings": {"l2": True}}, "l2=True: expected a number", "--set l2=true: expected a number"),
    (
        {"model": "hmm", "features": es.FeatureExtractor(["lower"])},
        "model='hmm' knows words alone; leave out features=, or choose another model=",
        "--model hmm knows words alone; leave out --features, or choose another --model",
    ),
    ({"task": "market.toml", "tags": True}, "has plain labels; leave out tags=True", "leave out --tags"),
    ({"task": "tags.toml", "tags": False}, "has tags; leave out tags=False", "has tags; leave out --plain"),
    ({"task": "market"}, "no task is named 'market'", "no task is named 'market'"),
    ({"task": "odd.toml"}, "unknown model 'crff'; did you mean 'crf'", "unknown model 'crff'"),
    ({"task": "wrong.toml"}, "task wrong, [defaults] l2=much: expected a number", "task wrong, [defaults] l2=much: e"),
    ({"task": "market.toml", "rules": "R: prize once"}, "did you mean 'price'", "did you mean 'price'"),
    ({"model": "cfr"}, "model='cfr': unknown; did you mean 'crf'?", "--model cfr: unknown"),
    ({"method": "coddle"}, "method='coddle': unknown; did you mean 'codl'?", "--method coddle: unknown"),
]


@pytest.mark.parametrize(("options", "python", "command_line"), CONFLICTS)
def test_what_does_not_go_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], python: str, command_line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "market.toml": TASK,
        "odd.toml": 'labels = ["a"]\n[defaults]\nmodel = "crff"\n',
        "wrong.toml": 'labels = ["a"]\n[defaults]\nl2 = "much"\n',
        "tags.toml": 'labels = ["O", "B-a", "I-a"]\n',
    }
    for name, content in files.items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises((InputError, RuleError)) as caught:
        plan(**options)
    assert python in str(caught.value)
    assert "--" not in str(caught.value)
    assert command_line in in_options(caught.value, "train")


def test_tags_of_a_task_are_tags(tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text('labels = ["O", "B-a", "I-a"]\n', encoding="utf-8")
    assert plan(task=tmp_path / "t.toml").marks


def test_a_file_of_rules_that_is_wrong_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.rules").write_text("Once: each feild once\n", encoding="utf-8")
    with pytest.raises(RuleError, match=r"bad.rules: line 1, column 12: expected 'field'"):
        gather_rules(None, [str(tmp_path / "bad.rules")])


def test_news_of_cycles_and_iterations(documents: list[es.Document], tmp_path: Path) -> None:
    heard: list[str] = []
    (tmp_path / "raw.txt").write_text(RAW, encoding="utf-8")
    pool = es.read(tmp_path / "raw.txt")
    train(
        documents, unlabelled=pool, rules=RULES, method="pr", settings={"method.iterations": 1}, progress=heard.append
    )  # fmt: skip
    assert heard[0].startswith("iteration 1  objective ")
    cycles = [news for news in heard if "iteration" not in news]
    assert [news[:20] for news in cycles] == ["cycle 0  objective -", "cycle 1  objective -"]
    assert any(news.startswith("cycle 0  ") and "  iteration " in news for news in heard)


def test_training_from_python(documents: list[es.Document], tmp_path: Path) -> None:
    trained = train(documents, dev=documents, rules=RULES)
    assert isinstance(trained, Trained)
    assert trained.sizes == {"records": 3, "unlabelled": 0, "tokens": 19, "labels": 7}
    assert trained.beside == {"without rules": 1.0}
    trained.save(tmp_path / "m.espalier")
    counted = es.CCM(es.CRF(), es.rules(RULES), over="applicable", kept_prior=150.0)
    tags = es.Corpus.from_documents(documents).labels
    again = counted.fit(es.Corpus.from_documents(documents, vocabulary=Labels(with_inside(tags.names))))
    again.save(tmp_path / "n.espalier")
    assert (tmp_path / "m.espalier").read_bytes() == (tmp_path / "n.espalier").read_bytes()


def test_penalties_do_not_grow_with_the_texts(documents: list[es.Document]) -> None:
    """Fifty words in no field are no evidence for a rule that speaks of fields; the papers' HMM counts every token."""
    long = [es.Document.from_tokens([*d.words, *["so"] * 50], [*(d.tags or ()), *["O"] * 50]) for d in documents]
    rules = "Once: each field once\nDear: length(price) <= 2"
    for model, alike in (("crf", True), ("hmm", False)):
        short, padded = (train(texts, rules=rules, model=model).estimator.penalties_ for texts in (documents, long))
        assert (short == pytest.approx(padded)) == alike
    assert plan(rules=rules, settings={"rules.over": "tokens"}).estimator.over == "tokens"
    start = Start("mine", es.CRF(["lower"]).fit([["fig"]], [["B-fruit"]]).learned_)
    assert plan(rules=rules, start=start).estimator.over == "tokens"


def test_records_without_labels(documents: list[es.Document]) -> None:
    raw = [es.Document.from_text("fig in Ely")]
    with pytest.warns(UserWarning, match="training records without labels: 1; their labels count as unknown"):
        assert train([*documents, *raw]).sizes["unlabelled"] == 1
    with pytest.raises(InputError, match="none of the 1 training records is labelled; raw text is for unlabelled="):
        train(raw)
