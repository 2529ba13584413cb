"""The warm start of the CRF: the same optimum from anywhere, weights moved by name."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.corpus import Corpus
from espalier.estimators.base import again
from espalier.estimators.crf import CRF
from espalier.estimators.experts import Experts
from espalier.estimators.hmm import HMM
from espalier.models.linear import ChainModel, Pairs, carried, moved

X = [["Ada", "Lovelace", ".", "Notes", "."], ["A", ".", "Turing", ".", "Machines", ","], ["Grace", ".", "Compilers"]]
Y = [["who"] * 3 + ["what"] * 2, ["who"] * 4 + ["what"] * 2, ["who", "who", "what"]]
EXACT = {"epsilon": 1e-9, "delta": 1e-14}


def table(model: CRF) -> dict[tuple[str, str], float]:
    return {key: w for key, w in model.weights().items() if abs(w) > 1e-6}


@pytest.mark.parametrize("l1", [0.0, 0.05])
def test_the_optimum_does_not_depend_on_the_start(l1: float) -> None:
    cold = CRF(l1=l1, l2=0.3, **EXACT).fit(X, Y)
    warm = CRF(l1=l1, l2=0.3, warm_start=True, **EXACT).fit(X[:2], Y[:2]).fit(X, Y)
    assert warm.minimum_.value == pytest.approx(cold.minimum_.value, abs=1e-7)
    for a, b in zip(warm.predict_marginals(X), cold.predict_marginals(X), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


@pytest.mark.parametrize("features", [None, ["lower[-1,0,1]", "shape", "suffix1-3", "before(flags)*0.5"]])
def test_at_the_optimum_there_is_nothing_left_to_do(features: list[str] | None) -> None:
    model = CRF(features, l2=0.3, warm_start=True, **EXACT).fit(X, Y)
    before, value = table(model), model.minimum_.value
    model.set_params(max_iterations=0).fit(X, Y)
    assert model.minimum_.value == pytest.approx(value, rel=1e-12)
    after = table(model)
    assert after == {key: pytest.approx(w, abs=1e-9) for key, w in before.items()}


def test_without_it_a_second_fit_forgets_the_first() -> None:
    model = CRF(max_iterations=3).fit(X, Y)
    first = model.weights()
    assert model.fit(X, Y).weights() == first
    assert CRF(max_iterations=3, warm_start=True).fit(X, Y).weights() == first


def test_labels_in_another_order_and_new_ones() -> None:
    model = CRF(warm_start=True, l2=0.3, **EXACT).fit(X, Y, labels=["who", "what"])
    value = model.minimum_.value
    model.set_params(max_iterations=0).fit(X, Y, labels=["what", "where", "who"])
    assert model.predict(X) == Y
    # The new label has no weights yet, and three labels instead of two make the known ones less likely.
    assert model.minimum_.value > value


def test_ready_attributes() -> None:
    ready = [[[f"w={word}", "b"] for word in tokens] for tokens in X]
    model = CRF(warm_start=True, **EXACT).fit(ready, Y)
    value = model.minimum_.value
    assert model.set_params(max_iterations=0).fit(ready[::-1], Y[::-1]).minimum_.value == pytest.approx(value)


def test_moved_by_hand() -> None:
    pairs = Pairs.of(2, np.array([0, 2, 3, 4]), np.array([0, 1, 0, 1], np.int16))
    trans = np.array([[0.5, -np.inf], [0.25, 0.125]])
    old = ChainModel(pairs, np.array([1.0, 2.0, 3.0, 4.0]), trans, np.array([0.0, -np.inf]), np.zeros(2))
    new = moved(old, (["a", "b", "c"], ["x", "y"]), (["c", "new", "a"], ["y", "z", "x"]))
    assert new.pairs.dense(new.w).tolist() == [[4, 0, 0], [0, 0, 0], [2, 0, 1]]
    assert new.trans.tolist() == [[0.125, 0, 0.25], [0, 0, 0], [0, 0, 0.5]]
    assert new.start.tolist() == [0, 0, 0]
    # Attributes 0 and 2 are one now; of its pairs only that with label y exists.
    merged = Pairs.of(3, np.array([0, 1, 2]), np.array([0, 1], np.int16))
    assert carried(new, np.array([0, 1, 0]), merged).tolist() == [6, 0]


def test_again() -> None:
    model = CRF(warm_start=True).fit(X, Y)
    copy = again(model)
    assert copy is not model
    assert copy.weights_ is model.weights_
    assert not hasattr(again(CRF().fit(X, Y)), "weights_")
    assert not hasattr(again(HMM().fit(X, Y)), "parameters_")
    both = Experts([CRF(warm_start=True), HMM()], weights=[1, 1]).fit(Corpus.from_tokens(X, Y))
    assert hasattr(again(both), "experts_")
