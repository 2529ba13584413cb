"""The product of experts against enumeration of both experts' scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from espalier.corpus import Corpus
from espalier.errors import InputError, LabelError, ModelFileError, NotFittedError
from espalier.estimators.ccm import CCM
from espalier.estimators.codl import CoDL
from espalier.estimators.crf import CRF
from espalier.estimators.experts import Experts, sum_of_potentials
from espalier.estimators.hmm import HMM
from espalier.estimators.perceptron import Perceptron
from espalier.estimators.persist import load
from espalier.estimators.semicrf import SemiCRF
from espalier.potentials import ChainBatch
from oracles import backwards, labellings

X = [
    ["Ada", "Lovelace", ".", "Notes", "on", "engines", ".", "1843", "."],
    ["A", ".", "Turing", ".", "Computing", "machines", ",", "1950", "."],
    ["Grace", "Hopper", ".", "Compilers", ".", "1952", "."],
    ["E", ".", "Noether", ".", "Invariants", "of", "forms", ".", "1918", "."],
    ["Emil", "Post", ".", "Recursive", "sets", ".", "1944", "."],
]
Y = [
    ["who"] * 3 + ["what"] * 4 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 3 + ["when"] * 2,
    ["who"] * 3 + ["what"] * 2 + ["when"] * 2,
    ["who"] * 4 + ["what"] * 4 + ["when"] * 2,
    ["who"] * 3 + ["what"] * 3 + ["when"] * 2,
]
NEW = [["A", ".", "Kay", ",", "1972"], ["1999"], []]


def two(**parameters: object) -> Experts:
    return Experts(CRF(), HMM(transition_classes="punctuation"), **parameters)  # type: ignore[arg-type]


@st.composite
def batches(draw: st.DrawFn, L: int, lengths: list[int]) -> ChainBatch:
    """Draw scores with forbidden entries and 1..3 transition classes."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    C, M = int(rng.integers(1, 4)), sum(lengths)

    def scores(*shape: int) -> np.ndarray:
        return np.where(rng.random(shape) < 0.1, -np.inf, rng.normal(size=shape))

    classes = rng.integers(0, C, M).astype(np.int32)
    return ChainBatch(np.cumsum([0, *lengths]), scores(M, L), scores(C, L, L), classes, scores(L), scores(L))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.data(), st.integers(1, 3), st.lists(st.integers(0, 4), min_size=1, max_size=3), st.floats(0.01, 3))
def test_every_labelling_has_the_sum_of_the_scores(
    data: st.DataObject, L: int, lengths: list[int], weight: float
) -> None:
    a, b = data.draw(batches(L, lengths)), data.draw(batches(L, lengths))
    both = sum_of_potentials(a, b, weight)
    for i, T in enumerate(lengths):
        for y in np.ndindex(*[L] * T):
            expected = a[i].score(y) + weight * b[i].score(y)
            assert both[i].score(y) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_batches_of_different_sequences() -> None:
    a = two().fit(X, Y).potentials(NEW)
    with pytest.raises(InputError, match="not of the same sequences"):
        sum_of_potentials(a, two().fit(X, Y).potentials(X))


def test_the_best_labelling_of_both_together() -> None:
    model = two(weight=0.7).fit(X, Y)
    crf, hmm = CRF().fit(X, Y), HMM(transition_classes="punctuation").fit(X, Y)
    first, second = crf.potentials(NEW), hmm.potentials(NEW)
    predicted = model.predict(NEW)
    ranked = model.predict_k(NEW, 2)
    for i in range(2):
        scores = {y: s + 0.7 * second[i].score(y) for y, s in labellings(first[i]).ranked(backwards)}
        best = max(scores, key=scores.__getitem__)
        assert [model.labels_.names[k] for k in best] == predicted[i]
        assert ranked[i][0][1] == pytest.approx(max(scores.values()))
    assert predicted[2] == []
    assert model.score(X, Y) > 0.9


def test_experts_stay_as_they_are() -> None:
    crf, hmm = CRF(), HMM()
    model = Experts(crf, hmm).fit(X, Y)
    assert not hasattr(crf, "labels_")
    assert not hasattr(hmm, "labels_")
    assert model.first_.labels_ == model.second_.labels_ == model.labels_


def test_three_experts() -> None:
    model = Experts(Experts(CRF(), HMM(), weight=0.5), Perceptron(), weight=0.25).fit(X, Y)
    parts = [m.fit(X, Y).potentials(NEW) for m in (CRF(), HMM(), Perceptron())]
    expected = parts[0].unary + 0.5 * parts[1].unary + 0.25 * parts[2].unary
    np.testing.assert_allclose(model.potentials(NEW).unary, expected)


def test_labels_and_weights() -> None:
    model = two().fit(X, Y, sample_weight=[1, 1, 1, 0, 2], labels=["when", "who", "what", "where"])
    assert model.classes_.tolist() == ["when", "who", "what", "where"]
    expected = HMM(transition_classes="punctuation").fit(
        X, Y, sample_weight=[1, 1, 1, 0, 2], labels=["when", "who", "what", "where"]
    )
    np.testing.assert_array_equal(model.second_.parameters_.emission, expected.parameters_.emission)
    with pytest.raises(LabelError):
        two().fit(X, Y, labels=["who", "what"])


def test_a_warm_expert_goes_on_and_leaves_the_old_one_alone() -> None:
    model = Experts(CRF(max_iterations=2, warm_start=True), HMM()).fit(X, Y)
    old, value = model.first_, model.first_.minimum_.value
    before = old.weights()
    model.fit(X, Y)
    assert model.first_.minimum_.value < value
    assert old.weights() == before
    expected = CRF(max_iterations=2, warm_start=True).fit(X, Y).fit(X, Y)
    assert model.first_.weights() == expected.weights()
    # Parameters that were set in between count.
    assert model.set_params(first__max_iterations=0).fit(X, Y).first_.weights() == pytest.approx(expected.weights())


def test_scikit_learn() -> None:
    model = Experts(CRF(l2=0.5), HMM(backoff_weight=50.0), weight=0.4)
    params = model.get_params()
    assert params["first__l2"] == 0.5
    assert params["second__backoff_weight"] == 50.0
    assert clone(model).get_params()["first__l2"] == 0.5
    grid = {"weight": [0.1, 1.0], "first__l2": [0.1]}
    search = GridSearchCV(two(), grid, cv=KFold(2), error_score="raise").fit(Corpus.from_tokens(X, Y))
    assert search.best_estimator_.predict(X[:1])[0][0] == "who"


def test_saving(tmp_path: Path) -> None:
    model = Experts(two(), HMM("additive"), weight=0.2).fit(X, Y)
    model.save(tmp_path / "m")
    again = load(tmp_path / "m")
    assert isinstance(again, Experts)
    assert again.weight == 0.2
    assert again.first.second.transition_classes == "punctuation"
    for a, b in zip(again.predict_marginals(NEW), model.predict_marginals(NEW), strict=True):
        np.testing.assert_array_equal(a, b)
    header, arrays = model.state()
    header["labels"] = ["who", "what", "when"]
    with pytest.raises(ModelFileError, match="its experts differ"):
        Experts(None, None).restore(header, arrays)


def test_as_the_base_of_rules_and_of_learning() -> None:
    base = Experts(CRF(warm_start=True), HMM())
    rules = "Start: first in who"
    ccm = CCM(base, rules).fit(X, Y)
    assert [y[0] for y in ccm.predict(NEW[:2])] == ["who", "who"]
    taught = CoDL(CCM(base, rules), update="pool", cycles=2).fit(X[:3], Y[:3], unlabelled=[*X[3:], *NEW[:2]])
    assert taught.score(X, Y) > 0.8


def test_bad_input() -> None:
    with pytest.raises(NotFittedError, match="call fit"):
        two().predict(X)
    for weight in (0, -1.0, float("nan"), "much"):
        with pytest.raises(InputError, match="weight is"):
            two(weight=weight).fit(X, Y)
    with pytest.raises(InputError, match="SemiCRF scores segments"):
        Experts(CRF(), SemiCRF()).fit(X, Y).predict(X)
    with pytest.raises(InputError, match="is not an estimator"):
        Experts(CRF(), "hmm").fit(X, Y)
    with pytest.raises(InputError, match="empty"):
        two().fit([], [])
