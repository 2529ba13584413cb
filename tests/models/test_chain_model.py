"""Potentials and labels of a chain model against the flat matrix product and the plain Viterbi."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier import lanes
from espalier.errors import InfeasibleError, InputError
from espalier.features.matrix import FeatureMatrix
from espalier.inference import viterbi
from espalier.models import linear
from espalier.models.linear import ChainModel, Pairs
from espalier.potentials import ChainBatch
from feature_matrices import random_matrix


def random_model(rng, matrix, L, forbidden, whole):
    y = rng.integers(0, L, matrix.n_tokens).astype(np.int16)
    pairs = Pairs.observed(matrix, y, L)

    def weights(*shape):
        # Whole numbers make ties, which must go to the lowest label.
        return rng.integers(-2, 3, shape).astype(float) if whole else rng.normal(size=shape) * 2

    trans = weights(L, L)
    trans[rng.random((L, L)) < forbidden] = -np.inf
    start = np.where(rng.random(L) < forbidden / 2, -np.inf, weights(L))
    return ChainModel(pairs, weights(len(pairs)), trans, start, weights(L))


@pytest.mark.parametrize(
    ("most_bytes", "longest"),
    [(linear.MOST_BYTES, 9), (0, 9), (linear.MOST_BYTES, 4), (linear.MOST_BYTES, 0)],
    ids=["rows", "narrow", "long ones alone", "all alone"],
)
@settings(deadline=None, derandomize=True, max_examples=80)
@given(
    st.integers(0, 10**6), st.sampled_from([1, 2, 4, 5, 13, 17, 38]),
    st.lists(st.integers(0, 9), min_size=1, max_size=20),
    st.sampled_from([0.0, 0.1, 0.6]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_equal_to_the_flat_product_and_plain_viterbi(most_bytes, longest, seed, L, lengths, forbidden, whole, valued):
    rng = np.random.default_rng(seed)
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    matrix = random_matrix(rng, n_tokens=int(indptr[-1]), weighted=valued)
    model = random_model(rng, matrix, L, forbidden, whole)
    unary = matrix.to_csr() @ model.pairs.dense(model.w)
    plain = ChainBatch(
        indptr, unary, model.trans[None], np.zeros(len(unary), np.int32), model.start, model.end
    )  # fmt: skip
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(linear, "MOST_BYTES", most_bytes)
        patch.setattr(lanes, "LONGEST_IN_LANES", longest)
        np.testing.assert_allclose(model.potentials(matrix, indptr).unary, unary, atol=1e-12)
        expected = viterbi(plain, threads=1, allow_infeasible=True)
        if np.isneginf(expected.scores[np.diff(indptr) > 0]).any():
            with pytest.raises(InfeasibleError, match="no labelling with a finite score"):
                model.tag(matrix, indptr, 1)
            return
        path, scores = model.tag(matrix, indptr, 2)
    nonempty = np.diff(indptr) > 0
    np.testing.assert_allclose(scores[nonempty], expected.scores[nonempty], atol=1e-9)
    if not valued:  # sums of whole numbers are exact in any order, others tie by chance only
        np.testing.assert_array_equal(path, expected.labels)


@pytest.mark.parametrize("scale", [1e-20, 1e-16, 0.0, 1e17])
@pytest.mark.parametrize("L", [2, 3, 9])
def test_transitions_that_rounding_swallows(L, scale):
    rng = np.random.default_rng(L)
    indptr = np.array([0, 5, 8, 9, 15], np.int64)
    matrix = random_matrix(rng, n_tokens=15)
    model = random_model(rng, matrix, L, 0.0, False)
    model = ChainModel(model.pairs, model.w, rng.normal(size=(L, L)) * scale, model.start, model.end)
    expected = viterbi(model.potentials(matrix, indptr), threads=1)
    path, scores = model.tag(matrix, indptr, 1)
    np.testing.assert_allclose(scores, expected.scores, rtol=1e-12)
    assert np.array_equal(path, expected.labels)


def test_the_weight_rows_are_laid_out_once():
    rng = np.random.default_rng(0)
    matrix = random_matrix(rng, n_tokens=12)
    model = random_model(rng, matrix, 3, 0.0, False)
    indptr = np.array([0, 5, 12])
    first = model.tag(matrix, indptr)
    np.testing.assert_array_equal(model.tag(matrix, indptr)[0], first[0])
    assert len(model._weight_rows) == 1


def test_a_copy_finds_its_own_rows():
    rng = np.random.default_rng(0)
    matrix, indptr = random_matrix(rng, n_tokens=12), np.array([0, 5, 12])
    model = random_model(rng, matrix, 3, 0.0, False)
    path, scores = model.tag(matrix, indptr)
    copy = pickle.loads(pickle.dumps(model))
    del model
    again, same = copy.tag(matrix, indptr)
    np.testing.assert_array_equal(again, path)
    np.testing.assert_array_equal(same, scores)


def test_a_matrix_of_other_attributes_is_refused():
    rng = np.random.default_rng(0)
    model = random_model(rng, random_matrix(rng, n_tokens=12), 3, 0.0, False)
    A = model.pairs.n_attributes + 1
    other = FeatureMatrix(A, np.arange(13), np.zeros(12, np.int32), np.zeros(1), np.zeros(0))
    with pytest.raises(InputError, match="attributes, but weights for"):
        model.tag(other, np.array([0, 12]))
