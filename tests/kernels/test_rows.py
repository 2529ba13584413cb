"""Row sums and their transposes against the same products in SciPy: S = X W and G = Xᵀ P."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.kernels import aligned, padded
from espalier.kernels.rows import attribute_gradient, bundle_gradient, observed_counts, transpose_refs
from espalier.learning.likelihood import Twins
from espalier.models.linear import Pairs, RowPlan
from feature_matrices import random_matrix


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.integers(0, 10_000),
    st.sampled_from([1, 3, 16, 17, 70]),
    st.booleans(),
    st.sampled_from([np.float32, np.float64]),
)
def test_scores_and_gradients(seed, n_labels, weighted, precision):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng, weighted=weighted)
    M, A, R = matrix.n_tokens, matrix.n_attributes, matrix.n_bundles
    y = rng.integers(-1, n_labels, M).astype(np.int16)
    pairs = Pairs.observed(matrix, y, n_labels)
    X = matrix.to_csr()

    # Observed pairs: exactly those that occur on labelled tokens.
    coo = matrix.to_csr().tocoo()
    expected = {(int(a), int(y[m])) for m, a in zip(coo.row, coo.col, strict=True) if y[m] >= 0}
    assert set(zip(pairs.attributes().tolist(), pairs.label.tolist(), strict=True)) == expected

    # Scores, with a permutation and empty rows between.
    w = rng.normal(size=len(pairs))
    items = np.concatenate([rng.permutation(M), [-1, -1]])
    plan = RowPlan.of(matrix, pairs)
    tokens = plan.tokens(items)
    rows = aligned(M + 2, padded(n_labels))
    for _ in range(2):  # a second time with other weights: nothing may be left over
        plan.prepare(w, 1)
        plan.score(tokens, 0, M + 2, w, rows)
        scores = X @ pairs.dense(w)
        np.testing.assert_allclose(rows[:M, :n_labels], scores[items[:M]], atol=1e-10)
        assert not rows[M : M + 2].any()
        w = rng.normal(size=len(pairs))

    # Observed counts: the gold labels' own products.
    counts, weight = np.zeros(len(pairs)), rng.random(M)
    observed_counts(matrix.levels, y, weight, pairs.ptr, pairs.label, counts)
    gold = np.zeros((M, n_labels))
    gold[np.flatnonzero(y >= 0), y[y >= 0]] = weight[y >= 0]
    np.testing.assert_allclose(counts, (X.T @ gold)[pairs.attributes(), pairs.label], atol=1e-10)

    # Gradient: gather rows of bundles, then of attributes.
    row_of_token = np.empty(M, np.int64)
    row_of_token[items[:M]] = np.arange(M)
    marginals = aligned(M + 2 + R, padded(n_labels), dtype=precision)
    P = rng.normal(size=(M + 2, n_labels)).astype(precision)
    marginals[: M + 2, :n_labels] = P
    ptr, owners, values = transpose_refs(matrix.levels, row_of_token, A, M + 2)
    bundle_gradient(0, R, ptr[A:], owners, values, marginals, M + 2)
    gradient = np.full(len(pairs), np.nan)
    attribute_gradient(
        0,
        A,
        ptr,
        owners,
        values,
        pairs.ptr,
        pairs.label,
        pairs.wide_row >= 0,
        marginals,
        np.empty(rows.shape[1]),
        gradient,
    )
    full = X.T @ P[row_of_token]
    # In single precision so are the sums of bundles.
    error = 1e-5 if precision is np.float32 else 1e-10
    np.testing.assert_allclose(gradient, full[pairs.attributes(), pairs.label], rtol=error, atol=error)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(st.integers(0, 10_000))
def test_twins_merge_exactly_the_equal_columns(seed):
    rng = np.random.default_rng(seed)
    matrix = random_matrix(rng)
    twins = Twins.merge(matrix)
    X = matrix.to_csr().toarray()
    columns = [tuple(column) for column in X.T]
    assert len(set(columns)) == twins.matrix.n_attributes
    np.testing.assert_array_equal(twins.matrix.to_csr().toarray()[:, twins.group], X)
    assert twins.size.sum() == matrix.n_attributes

    # Weights: the shares of the twins score as the merged weight did, and have the same sum of squares in v.
    y = rng.integers(0, 3, matrix.n_tokens).astype(np.int16)
    pairs = Pairs.observed(twins.matrix, y, 3)
    v = rng.normal(size=len(pairs))
    u = twins.scale(pairs) * v
    all_pairs, w = twins.expand(pairs, u)
    np.testing.assert_allclose(X @ all_pairs.dense(w), twins.matrix.to_csr() @ pairs.dense(u), atol=1e-10)
    assert float(w @ w) == pytest.approx(float(v @ v), abs=1e-10)
    own = Pairs.observed(matrix, y, 3)
    assert np.array_equal(own.ptr, all_pairs.ptr)
    assert np.array_equal(own.label, all_pairs.label)


def test_real_values_are_never_merged():
    matrix = random_matrix(np.random.default_rng(0), weighted=True)
    assert Twins.merge(matrix).matrix is matrix
