"""A CRF with a prior: the objective by enumeration and finite differences, both ends of l2, labels, saving, errors."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest

import espalier as es
from espalier.errors import InputError, NotFittedError
from espalier.estimators.base import fresh
from espalier.estimators.ccm import CCM
from espalier.estimators.crf import CRF
from espalier.estimators.generalized_expectation import GeneralizedExpectation

FEATURES = ["lower", "shape", "lower@-1"]
EXACT = {"epsilon": 1e-9, "delta": 1e-14}
OLD = [["Ada", "Lovelace", ".", "Notes"], ["A", ".", "Turing", ".", "Machines"], ["1950", "Mind"]]
OLD_Y = [["who"] * 3 + ["what"], ["who"] * 4 + ["what"], ["when", "what"]]
NEW = [["Notes", ".", "Ada"], ["Mind", "1950", "Turing"]]
NEW_Y = [["what", "what", "who"], ["what", "when", "who"]]


@pytest.fixture(scope="module")
def old() -> CRF:
    return CRF(FEATURES, l2=0.2, **EXACT).fit(OLD, OLD_Y)


def loss(model: CRF) -> float:
    """-Σ log p(y | x) of the new sequences, over all labellings one by one."""
    total = 0.0
    for i, y in enumerate(NEW_Y):
        one = model.potentials(NEW)[i]
        T, L = one.unary.shape
        paths = np.array(list(product(range(L), repeat=T)))
        scores = one.start[paths[:, 0]] + one.unary[np.arange(T), paths].sum(axis=1)
        scores += one.trans[paths[:, :-1], paths[:, 1:]].sum(axis=1)
        gold = (paths == [model.labels_.names.index(name) for name in y]).all(axis=1)
        total += np.logaddexp.reduce(scores) - scores[gold].item()
    return total


def parts(model: CRF) -> tuple[dict[tuple[str, str], float], np.ndarray]:
    return model.weights(), np.where(np.isfinite(model.weights_.trans), model.weights_.trans, 0.0)


def distance(model: CRF, old: CRF) -> float:
    """‖w - w₀‖², by the names of weights."""
    (w, trans), (w0, trans0) = parts(model), parts(old)
    assert model.labels_ == old.labels_
    moved = sum((w.get(key, 0.0) - w0.get(key, 0.0)) ** 2 for key in w.keys() | w0.keys())
    return moved + float(((trans - trans0) ** 2).sum())


@pytest.mark.parametrize("l2", [0.05, 1.0])
def test_the_objective_and_its_minimum(old: CRF, l2: float) -> None:
    model = CRF(prior=old.learned_, l2=l2, **EXACT).fit(NEW, NEW_Y)
    found = loss(model) + l2 * distance(model, old)
    assert model.minimum_.value == pytest.approx(found, rel=1e-7)
    w, trans = model.weights_.w, model.weights_.trans
    h = 1e-5
    places = [(w, (p,)) for p in range(0, len(w), 3)] + [(trans, (0, 1)), (trans, (2, 2))]
    for array, place in places:  # the derivative along every third weight is 0
        kept, values = array[place], []
        for step in (-h, h):
            array[place] = kept + step
            model.weights_._weight_rows.clear()
            values.append(loss(model) + l2 * distance(model, old))
        array[place] = kept
        assert (values[1] - values[0]) / (2 * h) == pytest.approx(0.0, abs=2e-4)


def test_from_the_prior_to_the_labels(old: CRF) -> None:
    near = CRF(prior=old.learned_, l2=1e6, **EXACT).fit(NEW, NEW_Y)
    for a, b in zip(near.predict_marginals(NEW), old.predict_marginals(NEW), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)
    far = CRF(prior=old.learned_, l2=1e-3).fit(NEW, NEW_Y)
    assert old.predict(NEW) != NEW_Y
    assert far.predict(NEW) == NEW_Y
    assert far.index_.names() == old.index_.names()


def test_a_penalty_of_l1_draws_to_the_prior_too(old: CRF) -> None:
    model = CRF(prior=old.learned_, l1=1e4, l2=0.0).fit(NEW, NEW_Y)
    assert model.weights() == old.weights()


def test_labels_of_the_prior_stay_and_others_may_come(old: CRF) -> None:
    few = CRF(prior=old.learned_).fit(NEW[:1], NEW_Y[:1])
    assert few.labels_ == old.labels_
    names = [*old.labels_.names, "where"]
    more = CRF(prior=old.learned_, l2=1e-3).fit([["in", "Ely"], *NEW], [["where"] * 2, *NEW_Y], labels=names)
    assert more.predict([["in", "Ely"]])[0][0] in names
    with pytest.raises(InputError, match="the prior knows the label 'when'"):
        CRF(prior=old.learned_).fit(NEW[:1], NEW_Y[:1], labels=["what", "who"])
    corpus = es.Corpus.from_tokens(NEW[:1], NEW_Y[:1])
    assert CRF(prior=old.learned_).fit(corpus).labels_ == old.labels_


def test_under_rules_and_in_a_file(old: CRF, tmp_path: Path) -> None:
    base = CRF(prior=old.learned_, l2=0.01)
    assert fresh(base).prior is base.prior
    assert repr(old.learned_) == f"Learned({old.index_.n_attributes} attributes, 3 labels)"
    model = CCM(base, "Once: each field once").fit(NEW, NEW_Y, labels=old.labels_.names)
    model.save(tmp_path / "m.espalier")
    again = es.load(tmp_path / "m.espalier").model
    assert again.predict(OLD + NEW) == model.predict(OLD + NEW)
    assert again.base_.prior is None


def test_ready_attributes() -> None:
    X, y = [[{"a": 1.0}, {"b": 1.0}]], [["p", "q"]]
    old = CRF(l2=0.1).fit(X, y)
    model = CRF(prior=old.learned_, l2=1e-3).fit([[["b"], ["a"]]], [["p", "q"]])
    assert model.predict([[["b"], ["a"]]]) == [["p", "q"]]
    with pytest.raises(InputError, match="trained on ready attributes"):
        CRF(prior=old.learned_).fit([["a", "b"]], y)


def test_errors(old: CRF) -> None:
    with pytest.raises(InputError, match="prior is a dict; expected a fitted CRF, or its learned_"):
        CRF(prior={}).fit(NEW, NEW_Y)  # type: ignore[arg-type]
    with pytest.raises(NotFittedError, match="call fit first"):
        CRF(prior=CRF())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="leave out prior"):
        GeneralizedExpectation(CRF(prior=old.learned_), "First: first in who").fit(NEW, NEW_Y, unlabelled=OLD)
