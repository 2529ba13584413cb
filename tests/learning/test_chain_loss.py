"""The losses of a net's scores: those of tokens against finite differences, those of chains against the CRF's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.errors import InfeasibleError
from espalier.features.matrix import FeatureMatrix
from espalier.learning.chain_loss import Chain, SoftLabels, Targets, chain_loss, expectations, token_loss
from espalier.learning.likelihood import ChainLikelihood
from espalier.models.linear import Pairs
from espalier.potentials import ChainBatch
from oracles import label_counts, labellings, pair_counts


def random_targets(rng, lengths, L, *, unknown=0.0, soft=False):
    M = int(sum(lengths))
    y = rng.integers(0, L, M).astype(np.int16)
    y[rng.random(M) < unknown] = -1
    weight = rng.random(len(lengths)) + 0.1
    if not soft:
        return Targets(np.array(lengths), y, weight)
    rows = rng.dirichlet(np.full(L, 0.5), M)
    return Targets(np.array(lengths), y, weight, SoftLabels.of(rows, 2), rng.random(len(lengths)))


def differences(loss, scores, step=1e-5):
    found = np.zeros_like(scores)
    for i in range(scores.size):
        moved = scores.copy()
        moved.flat[i] += step
        up = loss(moved)
        moved.flat[i] -= 2 * step
        found.flat[i] = (up - loss(moved)) / (2 * step)
    return found


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("unknown", [0.0, 0.4, 1.0])
def test_the_slope_of_tokens(soft, unknown) -> None:
    rng = np.random.default_rng(0)
    targets = random_targets(rng, [3, 0, 1, 4], 4, unknown=unknown, soft=soft)
    scores = rng.normal(size=(8, 4)) * 3
    value, slope = token_loss(scores, targets)
    np.testing.assert_allclose(slope, differences(lambda s: token_loss(s, targets)[0], scores), atol=1e-6)
    assert value >= 0
    assert (value == 0) == (unknown == 1.0 and not soft)


def test_the_loss_of_tokens_is_a_mean_of_logarithms() -> None:
    targets = Targets(np.array([2]), np.array([0, -1], np.int16), np.array([2.0]))
    scores = np.log([[0.25, 0.75], [0.5, 0.5]])
    assert token_loss(scores, targets)[0] == pytest.approx(-2 * np.log(0.25))
    soft = SoftLabels.of(np.array([[0.5, 0.5], [0.0, 1.0]]))
    both = Targets(targets.lengths, targets.y, targets.weight, soft, np.array([1.0]))
    expected = -2 * np.log(0.25) - 0.5 * np.log(0.25) - 0.5 * np.log(0.75) - np.log(0.5)
    assert token_loss(scores, both)[0] == pytest.approx(expected, rel=1e-3)


def random_chain(rng, L, y=None, lengths=(), *, forbid=False):
    trans, start, end = rng.normal(size=(L, L)), rng.normal(size=L), rng.normal(size=L)
    if forbid:
        allowed = rng.random((L, L)) < 0.5
        ends = np.cumsum(lengths)
        for a, b in zip(ends - lengths, ends, strict=True):
            allowed[y[a : max(a, b - 1)], y[a + 1 : b]] = True
        trans[~allowed] = -np.inf
    return Chain(trans, start, end)


@settings(deadline=None, derandomize=True, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 4), st.lists(st.integers(0, 4), min_size=1, max_size=10), st.booleans())
def test_expectations_are_those_of_enumeration(seed, L, lengths, forbid) -> None:
    rng = np.random.default_rng(seed)
    M = sum(lengths)
    y = rng.integers(0, L, M)
    unary, weight = rng.normal(size=(M, L)) * 2, rng.random(len(lengths))
    chain = random_chain(rng, L, y, lengths, forbid=forbid)
    indptr = np.append(0, np.cumsum(lengths))
    found = expectations(indptr, unary, weight, chain)
    batch = ChainBatch(indptr, unary, chain.trans[None], np.zeros(M, np.int32), chain.start, chain.end)
    steps = np.zeros((L, L))
    for i, n in enumerate(lengths):
        if not n:
            assert found.log_z[i] == 0
            continue
        every = labellings(batch[i])
        assert found.log_z[i] == pytest.approx(every.log_z, rel=1e-9)
        expected = weight[i] * every.expectation(label_counts(batch[i]))
        np.testing.assert_allclose(found.marginals[indptr[i] : indptr[i + 1]], expected, atol=1e-6)
        steps += weight[i] * every.expectation(pair_counts(batch[i])).sum(axis=0)
    np.testing.assert_allclose(found.transitions, steps, atol=1e-9)


@pytest.mark.parametrize("unknown", [0.0, 0.5])
@pytest.mark.parametrize("forbid", [False, True])
def test_the_loss_of_chains_is_that_of_a_crf(unknown, forbid) -> None:
    """A CRF with one attribute a token has the same scores: its weights are the net's scores."""
    rng = np.random.default_rng(3)
    L, lengths = 4, [5, 1, 9, 0, 3]
    M = sum(lengths)
    indptr = np.append(0, np.cumsum(lengths))
    full = random_targets(rng, lengths, L)
    chain = random_chain(rng, L, full.y, lengths, forbid=forbid)
    chain = Chain(chain.trans, np.zeros(L), np.zeros(L))  # a CRF has no weights of first and last labels
    y = np.where(rng.random(M) < unknown, -1, full.y).astype(np.int16)
    targets = Targets(full.lengths, y, full.weight)
    scores = rng.normal(size=(M, L))
    tokens = np.arange(M + 1)
    matrix = FeatureMatrix(M, tokens, tokens[:M].astype(np.int32), np.zeros(1, np.int64), np.zeros(0, np.int32))
    pairs = Pairs.of(L, L * tokens, np.tile(np.arange(L, dtype=np.int16), M))
    allowed = np.isfinite(chain.trans)
    crf = ChainLikelihood(matrix, indptr, y, pairs, allowed, np.ones(L, bool), allowed, full.weight, 1)
    value, gradient = crf(np.append(scores.ravel(), chain.trans[allowed]))
    found, slopes = chain_loss(scores, targets, chain)
    assert found == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(slopes.scores.ravel(), gradient[: M * L], atol=1e-6)
    np.testing.assert_allclose(slopes.trans[allowed], gradient[M * L :], atol=1e-6)


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("unknown", [0.0, 0.5])
def test_the_slopes_of_chains(soft, unknown) -> None:
    rng = np.random.default_rng(4)
    L, lengths = 3, [4, 1, 0, 2]
    targets = random_targets(rng, lengths, L, unknown=unknown, soft=soft)
    chain = random_chain(rng, L)
    scores = rng.normal(size=(7, L))
    _, slopes = chain_loss(scores, targets, chain)
    expected = differences(lambda s: chain_loss(s, targets, chain)[0], scores)
    np.testing.assert_allclose(slopes.scores, expected, atol=1e-6)
    for name, slope in zip(Chain._fields, slopes[1:], strict=True):
        with_other = differences(
            lambda s, name=name: chain_loss(scores, targets, chain._replace(**{name: s}))[0], getattr(chain, name)
        )
        np.testing.assert_allclose(slope, with_other, atol=1e-6)


def test_scores_far_apart_are_done_in_log_space() -> None:
    rng = np.random.default_rng(5)
    targets = random_targets(rng, [3, 4], 3)
    scores = rng.normal(size=(7, 3)) * 1000
    value, slopes = chain_loss(scores, targets, random_chain(rng, 3))
    assert np.isfinite(value)
    assert np.isfinite(slopes.scores).all()


def test_labels_that_may_not_follow_each_other() -> None:
    trans = np.array([[0.0, -np.inf], [0.0, 0.0]])
    chain = Chain(trans, np.zeros(2), np.zeros(2))
    with pytest.raises(InfeasibleError, match="its labels break the allowed transitions"):
        chain_loss(np.zeros((2, 2)), Targets(np.array([2]), np.array([0, 1], np.int16), np.ones(1)), chain)


def test_soft_labels_keep_the_most_probable() -> None:
    soft = SoftLabels.of(np.array([[0.1, 0.6, 0.3], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), 2)
    np.testing.assert_allclose(soft.rows(3), [[0, 2 / 3, 1 / 3], [0, 0, 0], [0, 0, 1]], atol=1e-3)
