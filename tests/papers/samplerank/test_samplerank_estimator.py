"""`SampleRank` as an estimator: labels, pools and rules, the guard, bad input, saving."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path

import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from espalier.corpus import Corpus
from espalier.errors import InputError, NotFittedError, ResultWarning, RuleError
from espalier.estimators.persist import load
from espalier.papers.samplerank.estimator import SampleRank
from espalier.papers.samplerank.training import Pass
from espalier.rules.ruleset import RuleSet

X = [
    ["Ada", "Lovelace", ".", "Notes", "on", "engines", ".", "1843", "."],
    ["A", ".", "Turing", ".", "Computing", "machines", ",", "1950", "."],
    ["Grace", "Hopper", ".", "Compilers", ".", "1952", "."],
    ["E", ".", "Noether", ".", "Invariants", "of", "forms", ".", "1918", "."],
]
Y = [
    ["who"] * 3 + ["what"] * 4 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 3 + ["when"] * 2,
    ["who"] * 3 + ["what"] * 2 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 4 + ["when"] * 2,
]
CORPUS = Corpus.from_tokens(X, Y)
POOL = [["Emil", "Post", ".", "Recursive", "sets", ".", "1944", "."], [], ["A", ".", "Church", ".", "Lambda", "."]] * 3
RULES = """
Year:   token ~ /(18|19)\\d\\d/ -> when
Once:   each field once
Start:  first in who
"""
TRUTHS = ("self", "cons", "self+cons", "model+cons")


def test_learns_from_labels() -> None:
    model = SampleRank().fit(CORPUS)
    assert model.score(CORPUS) == model.score(X, Y) == 1.0
    assert [len(p) for p in model.predict([["Alan", "Kay"], [], ["1999"]])] == [2, 0, 1]
    assert len(model.history_) == 10
    assert model.history_[0] == Pass(12 * 35, model.history_[0].updates, model.history_[0].moves)
    assert (model.cycle_, model.score_, model.supervised_score_) == (0, None, None)
    assert SampleRank().fit(X, Y, dev=(X, Y)).score_ == 1.0


def test_blocks_segments_and_last_weights() -> None:
    for model in (SampleRank(block=4), SampleRank(averaged=False, boundaries=True), SampleRank(truth="f1", block=5)):
        assert model.fit(X, Y).score(X, Y) > 0.9


def test_tags() -> None:
    tags = [["B-" + b if a != b else "I-" + b for a, b in zip(["", *y], y, strict=False)] for y in Y]
    model = SampleRank(block=3, truth="f1", epochs=20).fit(X, tags)
    assert model.score(X, tags) > 0.7
    assert all(not labels[0].startswith("I-") for labels in model.predict(X))


@pytest.mark.parametrize("truth", TRUTHS)
def test_learns_from_a_pool(truth: str) -> None:
    model = SampleRank(rules=RULES, unlabelled_truth=truth).fit(X[:2], Y[:2], unlabelled=POOL)
    assert len(model.history_) == 15
    assert model.history_[-1].proposals == 12 * 18 + 2 * 42
    assert model.cycle_ == 5
    assert "lower=lambda" in model.index_.names()  # attributes of all the text
    assert model.score(X, Y) > 0.6


def test_rules_teach_what_labels_do_not() -> None:
    """The word `by` is never labelled; the rule says where it belongs."""
    pool = [["by", "zzz"]] * 20
    rule = 'By: token in "by" -> when'
    taught = SampleRank(["lower"], rule, unlabelled_truth="cons").fit(X, Y, unlabelled=pool)
    assert taught.predict([["by"]]) == [["when"]]
    weights = {label: taught.weights().get(("lower=by", label), 0.0) for label in ("what", "when", "who")}
    assert max(weights, key=weights.__getitem__) == "when"
    untaught = SampleRank(["lower"], unlabelled_truth="self").fit(X, Y, unlabelled=pool)
    assert untaught.weights().get(("lower=by", "when"), 0.0) <= 0


def test_labels_of_the_pool_are_never_looked_at() -> None:
    wrong = Corpus.from_tokens(POOL, [["junk"] * len(tokens) for tokens in POOL])
    models = [SampleRank(rules=RULES, seed=3).fit(X, Y, unlabelled=pool) for pool in (POOL, wrong)]
    assert models[0].weights() == models[1].weights()
    assert models[1].labels_.names == ("what", "when", "who")


def test_the_guard_keeps_the_supervised_model() -> None:
    """A rule that teaches nonsense: with held-out labels the supervised model wins, without them nobody knows."""
    nonsense = "No: first in when\nNever: count(who) <= 0\nNeither: count(what) <= 0"
    model = SampleRank(rules=nonsense, unlabelled_truth="cons", pool_sweeps=20, patience=2)
    guarded = clone(model).fit(X, Y, unlabelled=POOL * 5, dev=CORPUS)
    assert (guarded.cycle_, guarded.score_, guarded.supervised_score_) == (0, 1.0, 1.0)
    assert len(guarded.history_) == 12
    assert guarded.score(X, Y) == 1.0
    last = clone(model).set_params(keep="last", patience=None).fit(X, Y, unlabelled=POOL * 5, dev=CORPUS)
    assert last.cycle_ == 5
    assert last.score_ == pytest.approx(last.score(X, Y))
    assert clone(model).fit(X, Y, unlabelled=POOL * 5).score(X, Y) == pytest.approx(last.score_)


def test_held_out_labels_that_the_model_does_not_know() -> None:
    strange = [[None if t == 0 else "where" if t == 1 else label for t, label in enumerate(y)] for y in Y]
    model = SampleRank(unlabelled_truth="self").fit(X, Y, unlabelled=POOL, dev=(X, strange))
    assert model.supervised_score_ == pytest.approx(sum(len(y) - 2 for y in Y) / sum(len(y) - 1 for y in Y))


def test_seed_weights_and_unknown_labels() -> None:
    first = SampleRank(seed=3, rules=RULES).fit(X, Y, unlabelled=POOL).weights()
    assert SampleRank(seed=3, rules=RULES).fit(X, Y, unlabelled=POOL).weights() == first
    assert SampleRank(seed=4, rules=RULES).fit(X, Y, unlabelled=POOL).weights() != first
    for data in ({}, {"unlabelled": POOL}):
        silent = SampleRank(["lower"], unlabelled_truth="self", pool_margin=0.0)
        silent.fit(X, Y, sample_weight=[1, 1, 1, 0], **data)
        assert not any("noether" in name for name, _ in silent.weights())
    partial = [[label if t % 3 != 1 else None for t, label in enumerate(y)] for y in Y]
    assert SampleRank().fit(X, partial).score(X, partial) > 0.9
    ready = [[[f"w={token}", f"n={len(token)}"] for token in tokens] for tokens in X]
    assert SampleRank().fit(ready, Y).score(ready, Y) > 0.9


def test_scikit_learn() -> None:
    model = SampleRank(rules=RULES, epochs=3)
    assert clone(model).get_params() == model.get_params()
    grid = GridSearchCV(SampleRank(), {"margin": [0.0, 1.0]}, cv=KFold(2), error_score="raise").fit(X, Y)
    assert len(grid.cv_results_["params"]) == 2


@pytest.mark.parametrize("rules", [RULES, RuleSet.from_text(RULES)])
def test_saving(rules: RuleSet | str, tmp_path: Path) -> None:
    model = SampleRank(rules=rules, unlabelled_truth="cons").fit(X, Y, unlabelled=POOL)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert isinstance(again, SampleRank)
    assert again.unlabelled_truth == "cons"
    assert again.predict(POOL) == model.predict(POOL)
    assert again.weights() == model.weights()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"truth": "recall"}, "truth is 'recall'; expected 'accuracy' or 'f1'"),
        ({"unlabelled_truth": "cons+self"}, r"unlabelled_truth is 'cons\+self'; expected 'self' or"),
        ({"epochs": 0}, "epochs is 0"),
        ({"sweeps": 1.5}, "sweeps is 1.5"),
        ({"pool_epochs": 0}, "pool_epochs is 0"),
        ({"pool_sweeps": True}, "pool_sweeps is True"),
        ({"block": 0}, "block is 0"),
        ({"alpha": 0}, "alpha is 0"),
        ({"temperature": 0.0}, "temperature is 0.0"),
        ({"margin": -1}, "margin is -1"),
        ({"lambda_m": math.nan}, "lambda_m is nan"),
        ({"seed": -1}, "seed is -1"),
        ({"keep": "first"}, "keep is 'first'"),
    ],
)
def test_bad_parameters(parameters: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        SampleRank(**parameters).fit(X, Y)


def test_bad_input() -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        SampleRank().predict(X)
    with pytest.raises(InputError, match=r"'self\+cons', which asks rules"):
        SampleRank().fit(X, Y, unlabelled=POOL)
    with pytest.raises(InputError, match="not list"):
        SampleRank(rules=[1]).fit(X, Y, unlabelled=POOL)  # type: ignore[arg-type]
    with pytest.raises(RuleError, match=r"unknown field 'where'.*pass labels="):
        SampleRank(rules="R: first in where").fit(X, Y, unlabelled=POOL)
    fitted = SampleRank(rules="R: first in where").fit(X, Y, labels=["what", "when", "where", "who"], unlabelled=POOL)
    assert fitted.predict_marginals(X)[0].shape == (9, 4)
    with pytest.raises(InputError, match="rule 'Long'"):
        SampleRank(rules="Long: length(each field) >= 3").fit(X, Y, unlabelled=POOL)
    with pytest.raises(InputError, match="dev has no labels"):
        SampleRank().fit(X, Y, dev=X)
    with pytest.raises(InputError, match="sample_weight"):
        SampleRank(unlabelled_truth="self").fit(X, Y, sample_weight=[1.0], unlabelled=POOL)


def test_doubtful_input_is_a_warning() -> None:
    with pytest.warns(ResultWarning, match="pass unlabelled="):
        SampleRank(rules=RULES).fit(X, Y)
    with pytest.warns(ResultWarning, match="pool is empty"):
        model = SampleRank(rules=RULES).fit(X, Y, unlabelled=[[], []])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.predict(X) == SampleRank(rules=RULES).fit(X, Y).predict(X)


def test_references(data_dir: Path) -> None:
    """Ten labelled references and two hundred without labels; the paper has 74.6 and 77.0 with a thousand."""
    directory = data_dir / "cora" / "normalised"

    def read(name: str) -> list[dict]:
        return [json.loads(line) for line in (directory / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]

    train, dev = read("train"), read("dev")
    labels = sorted({label for record in train for label in record["labels"]})
    train_x, train_y = [r["tokens"] for r in train], [r["labels"] for r in train]
    rules = "Date: token ~ /(19|20)\\d\\d/ -> date\nStop: change only after is punctuation"
    model = SampleRank(rules=rules).fit(train_x[:10], train_y[:10], labels=labels, unlabelled=train_x[100:])
    dev_x, dev_y = [r["tokens"] for r in dev], [r["labels"] for r in dev]
    assert model.score(dev_x, dev_y) > 0.65
