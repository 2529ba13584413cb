"""Two-stage inference as an estimator: answers against enumeration, choice of tau, saving, scikit-learn."""

from __future__ import annotations

import math
import warnings
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.corpus import Corpus
from espalier.errors import InputError, LabelError, NotFittedError, ResultWarning, RuleError
from espalier.inference import viterbi
from espalier.metrics import token_accuracy
from espalier.papers.two_stage.estimator import TwoStage
from espalier.rules import degree
from espalier.rules.ruleset import RuleSet

WORDS = ["p", "q", "r", ",", "u"]


def sequences(seed: int, n: int) -> tuple[list[list[str]], list[list[str]]]:
    """Fields a, b, c in this order with m between them, which a chain forgets; one word in four misleads."""
    rng = np.random.default_rng(seed)
    tokens, labels = [], []
    for _ in range(n):
        y = [name for name in "ambmc" for _ in range(rng.integers(1, 3))]
        hints = [WORDS[rng.integers(5)] if rng.random() < 0.25 else WORDS["abcm".index(name)] for name in y]
        tokens.append(hints)
        labels.append(y)
    return tokens, labels


TRAIN, DEV, TEST = sequences(0, 30), sequences(1, 20), sequences(2, 20)
ORDER = RuleSet.from_text("AB: a before b\nBC: b before c\nOnce: a once\nEnd: last in c [penalty 2]")


FITTED = {count: TwoStage(es.HMM(), ORDER, tau=0.5, count=count).fit(*TRAIN) for count in ("rules", "violations")}


def by_enumeration(model: TwoStage, tokens: list[str]) -> tuple[float, float]:
    """The least cost within the allowed loss, and the best score at that cost."""
    potentials = model.potentials([tokens])[0]
    names = model.labels_.names
    found = [(potentials.score(y), [names[i] for i in y]) for y in product(range(len(names)), repeat=len(tokens))]
    top = max(score for score, _ in found)
    allowed = (1 - model.tau_) * abs(top)
    ranked = []
    for score, y in found:
        if score >= top - allowed - 1e-9:
            degrees = [degree(rule, tokens, y) for rule in model.rules_]
            sigma = [min(d, 1) if model.count == "rules" else d for d in degrees]
            cost = sum(rule.penalty * s for rule, s in zip(model.rules_, sigma, strict=True))
            ranked.append((round(cost, 9), -score))
    cost, score = min(ranked)
    return cost, -score


@settings(max_examples=20, deadline=None, derandomize=True)
@given(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
    st.sampled_from([0.5, 0.8, 0.95, 1.0]),
    st.sampled_from(["rules", "violations"]),
)
def test_answers_are_the_cheapest_within_tau(tokens, tau, count):
    model = FITTED[count]
    model.tau_ = tau
    [answer] = model.predict([tokens])
    degrees = np.array([degree(rule, tokens, answer) for rule in model.rules_])
    cost = float((model.rules_.penalties * (np.minimum(degrees, 1) if count == "rules" else degrees)).sum())
    potentials = model.potentials([tokens])[0]
    least, best = by_enumeration(model, tokens)
    score = potentials.score(model.labels_.encode(answer))
    if tau < 1:
        assert cost == pytest.approx(least)
    assert score == pytest.approx(best)


def test_costs_come_from_the_training_labels() -> None:
    tokens, labels = [["x", "y"]] * 8, [["a", "b"]] * 7 + [["b", "a"]]
    model = TwoStage(es.HMM(), "R: a before b\nS: first in a [penalty 3]\nT: a once", tau=0.9).fit(tokens, labels)
    # Of eight clauses one is broken: -log((1 + 1) / (8 + 2)); none of eight: -log(1 / 10).
    assert model.rules_.penalties == pytest.approx([math.log(5), 3.0, math.log(10)])


def test_mined_relations_and_tau_help_where_the_order_is_fixed() -> None:
    model = TwoStage(es.HMM()).fit(*TRAIN, dev=Corpus.from_tokens(*DEV))
    assert model.rules_.K
    assert set(model.tau_scores_) == set(model.taus)
    assert model.tau_ < 1
    assert model.tau_scores_[model.tau_] == max(model.tau_scores_.values())
    # The score of each tau is that of a model with this very tau.
    for tau in (1.0, 0.98, 0.9):
        fixed = TwoStage(es.HMM(), model.rules_, tau=tau).fit(*TRAIN)
        assert fixed.score(*DEV) == pytest.approx(model.tau_scores_[tau])
    assert model.score(*TEST) > es.HMM().fit(*TRAIN).score(*TEST)


def test_relations_with_conditions_help_there_too() -> None:
    model = TwoStage(es.HMM(), "clauses").fit(*TRAIN, dev=Corpus.from_tokens(*DEV))
    assert model.rules_.K
    assert model.score(*TEST) > es.HMM().fit(*TRAIN).score(*TEST)


def test_cross_fitting_uses_bases_that_have_not_seen_the_sequence() -> None:
    tokens, labels = TRAIN
    model = TwoStage(es.HMM(), ORDER, taus=(1.0,), folds=3).fit(tokens, labels)
    answers: list[list[str]] = [[]] * len(tokens)
    for f in range(3):
        rest = [i for i in range(len(tokens)) if i % 3 != f]
        base = es.HMM().fit([tokens[i] for i in rest], [labels[i] for i in rest], labels=["a", "b", "c", "m"])
        for i in range(f, len(tokens), 3):
            [answers[i]] = base.predict([tokens[i]])
    assert model.tau_scores_ == {1.0: pytest.approx(token_accuracy(labels, answers))}


def test_tags_are_judged_by_segments() -> None:
    tokens, labels = TRAIN
    tagged = [[("I-" if t and y[t - 1] == name else "B-") + name for t, name in enumerate(y)] for y in labels]
    model = TwoStage(es.HMM(), "Order: a before b", taus=(1.0, 0.9)).fit(tokens, tagged)
    by_hand = TwoStage(es.HMM(), "Order: a before b", taus=(1.0, 0.9), criterion="segments").fit(tokens, tagged)
    plain = TwoStage(es.HMM(), "Order: a before b", taus=(1.0, 0.9), criterion="tokens").fit(tokens, tagged)
    assert model.tau_scores_ == by_hand.tau_scores_ != plain.tau_scores_


def test_saved_and_loaded(tmp_path) -> None:
    model = TwoStage(es.CRF(["word"]), tau=0.9, cover=None).fit(*TRAIN)
    model.save(tmp_path / "two.espalier")
    again = es.load(tmp_path / "two.espalier").model
    assert isinstance(again, TwoStage)
    assert again.predict(TEST[0]) == model.predict(TEST[0])
    assert (again.rules_, again.tau_, again.labels_) == (model.rules_, model.tau_, model.labels_)
    assert again.predict([[]]) == [[]]


def test_clone_and_grid_search() -> None:
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV

    model = TwoStage(es.HMM(), ORDER, tau=0.9)
    copy = clone(model)
    assert copy.get_params(deep=False) | {"base": 0} == model.get_params(deep=False) | {"base": 0}
    search = GridSearchCV(model, {"tau": [1.0, 0.9], "base__transition_alpha": [0.3]}, cv=2, refit=False)
    search.fit(Corpus.from_tokens(*TRAIN))
    scores = search.cv_results_["mean_test_score"]
    assert np.isfinite(scores).all()
    assert scores[0] != scores[1]


def test_explain() -> None:
    model = TwoStage(es.HMM(), ORDER, tau=0.8).fit(*TRAIN)
    shown = next(e for e in map(model.explain, TEST[0]) if e.changed)
    assert [list(shown.after)] == model.predict([shown.tokens])
    assert 0 < shown.loss <= shown.allowed
    for name, cost, before, after in shown.rules:
        assert cost == model.rules_[name].penalty
        assert before == degree(model.rules_[name], shown.tokens, shown.before)
        assert after == degree(model.rules_[name], shown.tokens, shown.after)
    assert "->" in str(shown)
    assert "allowed" in str(shown)


def test_a_search_that_ends_early_keeps_to_tau_and_says_so() -> None:
    model = TwoStage(es.HMM(), ORDER, tau=0.5, max_nodes=2).fit(*TRAIN)
    with pytest.warns(ResultWarning, match=r"ended early for \d+ of 20 sequences"):
        answers = model.predict(TEST[0])
    batch = model.potentials(TEST[0])
    for i, (answer, top) in enumerate(zip(answers, viterbi(batch).scores, strict=True)):
        assert batch[i].score(model.labels_.encode(answer)) >= top - 0.5 * abs(top) - 1e-9


def test_partial_labels_weights_and_empty_sequences() -> None:
    tokens, labels = [*TRAIN[0], []], [*TRAIN[1], []]
    partial = [[None if t == 1 else name for t, name in enumerate(y)] for y in labels]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = TwoStage(es.HMM(), tau=0.95, folds=2).fit(tokens, partial, sample_weight=np.ones(len(tokens)))
    assert [len(y) for y in model.predict([[], ["p", "q"]])] == [0, 2]


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"tau": 1.5}, "tau is 1.5"),
        ({"tau": "best"}, "tau is 'best'"),
        ({"taus": ()}, "taus is empty"),
        ({"taus": (0.5, -1)}, "tau is -1"),
        ({"count": "tokens"}, "count is 'tokens'"),
        ({"criterion": "f1"}, "criterion is 'f1'"),
        ({"relations": 3}, "relations is int"),
        ({"folds": 1}, "two training sequences and folds"),
        ({"min_confidence": 2}, "min_confidence is 2"),
    ],
)
def test_wrong_parameters(parameters, complaint) -> None:
    with pytest.raises(InputError, match=complaint):
        TwoStage(es.HMM(), **parameters).fit(*TRAIN)


def test_wrong_use() -> None:
    with pytest.raises(NotFittedError):
        TwoStage(es.HMM()).predict([["x"]])
    with pytest.raises(RuleError, match="unknown field 'z'"):
        TwoStage(es.HMM(), "R: z once").fit(*TRAIN)
    with pytest.raises(InputError, match="no model of chains"):
        TwoStage(es.SemiCRF(["word"], max_iterations=2), ORDER, tau=0.9).fit(*TRAIN).predict(TEST[0])
    with pytest.raises(InputError, match="dev has no labels to score against"):
        TwoStage(es.HMM(), ORDER).fit(*TRAIN, dev=Corpus.from_tokens(DEV[0]))
    with pytest.raises(LabelError, match="unknown label 'z'"):
        TwoStage(es.HMM(), ORDER).fit(*TRAIN, dev=([["x"]], [["z"]]))
