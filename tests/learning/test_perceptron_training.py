"""The perceptron against a naive implementation: dictionaries of weights, enumeration, a sum after every sequence."""

from __future__ import annotations

import itertools
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.errors import InfeasibleError
from espalier.features.matrix import FeatureMatrix
from espalier.learning.perceptron import Training, all_pairs, train_perceptron
from espalier.models.linear import Pairs

relaxed = settings(deadline=None, derandomize=True, max_examples=60)


def naive_perceptron(
    matrix: FeatureMatrix, indptr, y, pairs, start_allowed, allowed, orders, *, averaged, boundaries, weights
):
    """Return {key: weight}; whole-number weights, so that ties are ties for both."""
    flat, L = matrix.to_csr(), len(start_allowed)
    w: dict = defaultdict(float)
    total: dict = defaultdict(float)
    steps = 0

    def features(i, labels):
        f: dict = defaultdict(float)
        a = indptr[i]
        for t, label in enumerate(labels):
            row = flat[[a + t]]
            for k, value in zip(row.indices.tolist(), row.data.tolist(), strict=True):
                if (k, label) in pairs:
                    f["pair", k, label] += value
            if t:
                f["trans", labels[t - 1], label] += 1
        if boundaries:
            f["start", labels[0]] += 1
            f["end", labels[-1]] += 1
        return f

    def best(i, known):
        candidates = []
        for labels in itertools.product(range(L), repeat=len(known)):
            fine = start_allowed[labels[0]] and all(allowed[a, b] for a, b in itertools.pairwise(labels))
            if fine and all(k in (-1, label) for k, label in zip(known, labels, strict=True)):
                score = sum(w[key] * value for key, value in features(i, labels).items())
                candidates.append((-score, labels[::-1]))
        return min(candidates)[1][::-1]

    for order in orders:
        for i in order:
            known = y[indptr[i] : indptr[i + 1]].tolist()
            if any(label >= 0 for label in known):
                gold, guess = features(i, best(i, known)), features(i, best(i, [-1] * len(known)))
                for key in {*gold, *guess}:
                    w[key] += weights[i] * (gold[key] - guess[key])
            steps += 1
            for key, value in w.items():
                total[key] += value
    return {key: total[key] / steps if averaged else w[key] for key in w}


@st.composite
def problems(draw: st.DrawFn):
    """Draw a matrix with bundles and whole-number values, labels some of which are unknown, and what is allowed."""
    L, A, R = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(0, 2))
    lengths = draw(st.lists(st.integers(0, 4), min_size=1, max_size=4))
    M = sum(lengths)

    def csr(rows: int, columns: int):
        cells = [draw(st.lists(st.integers(0, columns - 1), max_size=3)) for _ in range(rows)]
        ptr = np.concatenate([[0], np.cumsum([len(c) for c in cells])]).astype(np.int64)
        return ptr, np.array([k for c in cells for k in c], np.int32)

    token_ptr, token_refs = csr(M, A + R)
    bundle_ptr, bundle_ids = csr(R, A)
    valued = draw(st.booleans())
    values = [
        np.array(draw(st.lists(st.integers(-2, 3), min_size=n, max_size=n)), np.float64) if valued else np.zeros(0)
        for n in (len(token_refs), len(bundle_ids))
    ]
    matrix = FeatureMatrix(A, token_ptr, token_refs, bundle_ptr, bundle_ids, *values)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    y = np.array(draw(st.lists(st.integers(-1, L - 1), min_size=M, max_size=M)), np.int16)
    allowed = np.ones((L, L), bool)
    if draw(st.booleans()) and L > 1:
        allowed[0, 1] = False
        for a, b in itertools.pairwise(indptr.tolist()):  # keep what the labels do; unknown ones may be label 0 or 1
            for m in range(a + 1, b):
                if y[m] in (-1, 1) and y[m - 1] in (-1, 0):
                    allowed[0, 1] = True
    return matrix, indptr, y, L, allowed


def as_dictionary(training: Training) -> dict:
    model = training.model
    found = {("pair", k, l): v for (k, l), v in np.ndenumerate(model.pairs.dense(model.w))}  # noqa: E741
    found |= {("trans", *key): v for key, v in np.ndenumerate(model.trans) if v > -np.inf}
    found |= {("start", *key): v for key, v in np.ndenumerate(model.start)}
    return found | {("end", *key): v for key, v in np.ndenumerate(model.end)}


@relaxed
@given(problems(), st.booleans(), st.booleans(), st.booleans(), st.integers(0, 5), st.data())
def test_against_the_naive_implementation(problem, averaged, boundaries, observed, seed, data) -> None:
    matrix, indptr, y, L, allowed = problem
    N, epochs = len(indptr) - 1, 3
    weights = data.draw(st.lists(st.integers(0, 2), min_size=N, max_size=N))
    pairs = Pairs.observed(matrix, y, L) if observed else all_pairs(matrix.n_attributes, L)
    training = train_perceptron(
        matrix, indptr, y, pairs, np.ones(L, bool), allowed, np.random.default_rng(seed), epochs=epochs,
        averaged=averaged, boundaries=boundaries, sample_weight=np.array(weights, np.float64),
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(N).tolist() for _ in range(epochs)]
    listed = set(zip(pairs.attributes().tolist(), pairs.label.tolist(), strict=True))
    expected = naive_perceptron(
        matrix, indptr, y, listed, np.ones(L, bool), allowed, orders,
        averaged=averaged, boundaries=boundaries, weights=weights,
    )  # fmt: skip
    found = as_dictionary(training)
    for key in {*found, *expected}:
        assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), abs=1e-12), key


def separable(N: int = 30, L: int = 3):
    """Each token's attribute names its label, beside attributes that say nothing."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, L, 4 * N).astype(np.int16)
    refs = np.stack([y, L + rng.integers(0, 5, 4 * N)], axis=1).ravel().astype(np.int32)
    ptr = np.arange(4 * N + 1, dtype=np.int64) * 2
    matrix = FeatureMatrix(L + 5, ptr, refs, np.zeros(1, np.int64), np.zeros(0, np.int32))
    return matrix, np.arange(0, 4 * N + 1, 4), y


def test_converges_on_separable_data() -> None:
    matrix, indptr, y = separable()
    free = np.ones(3, bool), np.ones((3, 3), bool)
    training = train_perceptron(matrix, indptr, y, all_pairs(8, 3), *free, np.random.default_rng(0), epochs=50)
    assert training.mistakes[-1] == 0
    assert len(training.mistakes) < 50
    np.testing.assert_array_equal(training.model.tag(matrix, indptr)[0], y)


def test_stopping_early_changes_nothing() -> None:
    """The mean counts the epochs that were left out: twelve epochs, stopped after a few, by the definition."""
    matrix, indptr, y = separable(N=3)
    free = np.ones(3, bool), np.ones((3, 3), bool)
    training = train_perceptron(
        matrix, indptr, y, all_pairs(8, 3), *free, np.random.default_rng(0), epochs=12, shuffle=False
    )
    assert len(training.mistakes) < 12
    listed = set(itertools.product(range(8), range(3)))
    expected = naive_perceptron(
        matrix, indptr, y, listed, *free, [range(3)] * 12, averaged=True, boundaries=False, weights=[1] * 3
    )
    found = as_dictionary(training)
    for key in {*found, *expected}:
        assert found.get(key, 0.0) == pytest.approx(expected.get(key, 0.0), abs=1e-12)


def test_seeds() -> None:
    matrix, indptr, y = separable()
    y = np.random.default_rng(2).permutation(y)  # not separable any more, so the order matters
    free = np.ones(3, bool), np.ones((3, 3), bool)

    def weights(seed: int) -> np.ndarray:
        training = train_perceptron(matrix, indptr, y, all_pairs(8, 3), *free, np.random.default_rng(seed))
        return training.model.pairs.dense(training.model.w)

    np.testing.assert_array_equal(weights(0), weights(0))
    assert (weights(0) != weights(1)).any()


def test_zero_weights_are_left_out() -> None:
    matrix, indptr, y = separable()
    free = np.ones(3, bool), np.ones((3, 3), bool)
    model = train_perceptron(matrix, indptr, y, all_pairs(8, 3), *free, np.random.default_rng(0)).model
    assert (model.w != 0).all()
    assert len(model.pairs) == len(model.w)
    assert model.pairs.n_attributes == 8


def test_known_labels_that_nothing_allows() -> None:
    matrix, indptr, y = separable(N=2, L=2)
    y[:3] = [0, -1, 1]
    allowed = np.eye(2, dtype=bool)  # from 0 to 1 there is no way
    with pytest.raises(InfeasibleError, match="sequence 0: no allowed labelling"):
        train_perceptron(
            matrix, indptr, y, all_pairs(7, 2), np.ones(2, bool), allowed, np.random.default_rng(0), shuffle=False
        )
