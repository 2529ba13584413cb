"""The chain kernels against enumeration, finite differences and closed forms."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from espalier.inference import _lattice_of
from espalier.kernels import chain
from espalier.potentials import ChainBatch, Potentials
from oracles import backwards, chain_score, label_counts, labellings, pair_counts
from strategies import chains

few = settings(max_examples=25, deadline=None, derandomize=True)
many = settings(max_examples=80, deadline=None, derandomize=True)


def arrays(batch):
    return batch.indptr, batch.unary, batch.trans, batch.trans_class, batch.start, batch.end


def sizes(batch):
    return len(batch), *batch.unary.shape, len(batch.trans)


def viterbi(p):
    labels, scores = np.full(p.n_tokens, 99, np.int16), np.full(1, np.nan)
    chain.viterbi(*arrays(ChainBatch.of([p])), 0, 1, labels, scores)
    return tuple(labels.tolist()), scores[0]


def k_best(p, k):
    labels, scores = np.full((k, p.n_tokens), 99, np.int16), np.full((1, k), np.nan)
    chain.k_best(*arrays(ChainBatch.of([p])), 0, 1, labels, scores)
    return [tuple(row) for row in labels.tolist()], scores[0]


def lattice(batch):
    return _lattice_of(*arrays(batch))


def log_partition(p):
    log_z = np.full(1, np.nan)
    chain.log_partition(lattice(ChainBatch.of([p])), 0, 1, log_z)
    return log_z[0]


def summed(batch, lo, hi):
    N, M, L, _ = sizes(batch)
    columns, out = lattice(batch), (np.full(N, 7.0), np.full((M, L), 7.0), np.full(N, 7.0))
    counts = np.zeros(len(columns.source))
    chain.forward_backward(columns, lo, hi, out[0], out[1].reshape(-1), counts, out[2])
    transitions = np.zeros_like(batch.trans)
    transitions.transpose(0, 2, 1)[batch.trans.transpose(0, 2, 1) > -np.inf] = counts
    return *out, transitions


def forward_backward(batch, lo=0, hi=None, pairs=True):
    """Where every token has a matrix of its own, its pairs are the transitions of its class."""
    hi = len(batch) if hi is None else hi
    log_z, marginals, entropy, transitions = summed(batch, lo, hi)
    found = np.zeros((0, *batch.trans.shape[1:]))
    if pairs:
        kind = np.arange(len(batch.unary), dtype=np.int32)
        found = summed(replace(batch, trans=batch.trans[batch.trans_class], trans_class=kind), lo, hi)[3]
    return log_z, marginals, found, transitions, entropy


def sample(p, uniforms):
    labels, log_z = np.full(uniforms.shape, 99, np.int16), np.full(1, np.nan)
    chain.sample(lattice(ChainBatch.of([p])), 0, 1, uniforms, labels, log_z)
    return labels, log_z[0]


def check_viterbi(p, exact):
    y, score = viterbi(p)
    best = labellings(p).best(backwards)
    if best is None:
        assert (y, score) == ((-1,) * p.n_tokens, -np.inf)
    elif exact:
        assert (y, score) == best
    else:
        assert score == pytest.approx(best[1], abs=1e-9)
        assert chain_score(p, y) == pytest.approx(best[1], abs=1e-9)


def check_k_best(p, k):
    ys, scores = k_best(p, k)
    expected = labellings(p).ranked(backwards)[:k]
    expected += [((-1,) * p.n_tokens, -np.inf)] * (k - len(expected))
    assert list(zip(ys, scores.tolist(), strict=True)) == expected


def check_posterior(p, atol=1e-10):
    truth = labellings(p)
    batch = ChainBatch.of([p])
    log_z, marginals, pairs, transitions, entropy = forward_backward(batch)
    assert log_z[0] == pytest.approx(truth.log_z, rel=1e-13, abs=1e-10)
    assert log_partition(p) == log_z[0]
    assert entropy[0] == pytest.approx(truth.entropy, abs=atol)
    np.testing.assert_allclose(marginals, truth.expectation(label_counts(p)), rtol=0, atol=atol)
    expected_pairs = truth.expectation(pair_counts(p))
    np.testing.assert_allclose(pairs, expected_pairs, rtol=0, atol=atol)
    by_class = np.zeros_like(batch.trans)
    np.add.at(by_class, batch.trans_class[1:], expected_pairs[1:])
    np.testing.assert_allclose(transitions, by_class, rtol=0, atol=atol)


class TestViterbi:
    @given(chains(exact=True))
    @many
    def test_wins_as_the_first_of_the_enumeration_read_backwards(self, p):
        check_viterbi(p, exact=True)

    @given(chains())
    @many
    def test_agrees_with_enumeration(self, p):
        check_viterbi(p, exact=False)

    def test_ties_go_to_the_lowest_labels_from_the_last_token_back(self):
        # (1, 0) and (0, 1) tie; the last label decides, so (1, 0) wins although (0, 1) is read first.
        trans = np.array([[-1.0, 0.0], [0.0, -1.0]])
        assert viterbi(Potentials(np.zeros((2, 2)), trans)) == ((1, 0), 0.0)
        assert viterbi(Potentials(np.zeros((4, 3)))) == ((0, 0, 0, 0), 0.0)

    def test_one_long_sequence(self):
        # Alternation is free, staying costs 1, and the unary scores are zero: the best path alternates.
        T = 100_000
        y, score = viterbi(Potentials(np.zeros((T, 2)), [[-1.0, 0.0], [0.0, -1.0]], start=[0.0, -1.0]))
        assert score == 0.0
        assert y == (0, 1) * (T // 2)


class TestKBest:
    @given(chains(exact=True))
    @many
    def test_lists_the_enumeration_in_order(self, p):
        check_k_best(p, 5)

    @given(chains(exact=True, min_tokens=1))
    @few
    def test_k_may_exceed_what_exists(self, p):
        check_k_best(p, p.n_labels**p.n_tokens + 2)

    @given(chains())
    @few
    def test_scores_agree_and_sequences_are_distinct(self, p):
        ys, scores = k_best(p, 6)
        expected = [score for _, score in labellings(p).ranked(backwards)[:6]]
        assert scores[: len(expected)] == pytest.approx(expected, abs=1e-9)
        assert (scores[len(expected) :] == -np.inf).all()
        assert len(set(ys[: len(expected)])) == len(expected)
        assert [chain_score(p, y) for y in ys[: len(expected)]] == pytest.approx(expected, abs=1e-9)

    @given(chains(exact=True))
    @few
    def test_the_first_is_viterbis(self, p):
        ys, scores = k_best(p, 1)
        assert (ys[0], scores[0]) == viterbi(p)


class TestPosterior:
    @given(chains())
    @many
    def test_agrees_with_enumeration(self, p):
        check_posterior(p)

    @given(chains(scale=1e4))
    @many
    def test_large_scores(self, p):
        check_posterior(p, atol=1e-8)

    @given(chains(min_tokens=1))
    @few
    def test_marginals_are_the_gradient_of_log_z(self, p):
        finite = Potentials(*(np.where(np.isneginf(a), -3.0, a) for a in (p.unary, p.trans, p.start, p.end)))
        _, marginals, _, transitions, _ = forward_backward(ChainBatch.of([finite]))
        h = 1e-5

        def slope(name, index):
            ends = []
            for sign in (1.0, -1.0):
                parts = {n: getattr(finite, n).copy() for n in ("unary", "trans", "start", "end")}
                parts[name][index] += sign * h
                ends.append(log_partition(Potentials(**parts)))
            return (ends[0] - ends[1]) / (2 * h)

        for index in np.ndindex(*finite.unary.shape):
            assert slope("unary", index) == pytest.approx(marginals[index], abs=1e-8)
        for y in range(finite.n_labels):
            assert slope("start", y) == pytest.approx(marginals[0, y], abs=1e-8)
            assert slope("end", y) == pytest.approx(marginals[-1, y], abs=1e-8)
        flat = transitions if finite.trans.ndim == 3 else transitions[0]
        for index in np.ndindex(*finite.trans.shape):
            assert slope("trans", index) == pytest.approx(flat[index], abs=1e-8)

    def test_uniform_closed_form(self):
        T, L = 50, 7
        log_z, marginals, _, _, entropy = forward_backward(ChainBatch.of([Potentials(np.zeros((T, L)))]))
        assert log_z[0] == pytest.approx(T * np.log(L))
        assert entropy[0] == pytest.approx(T * np.log(L))
        np.testing.assert_allclose(marginals, 1 / L)

    def test_one_long_sequence_stays_normalised(self):
        # Independent tokens: marginals are softmaxes, whatever the length and the size of the scores.
        T, L = 100_000, 3
        unary = np.random.default_rng(0).normal(scale=3.0, size=(T, L)) + 1e4
        log_z, marginals, _, _, entropy = forward_backward(ChainBatch.of([Potentials(unary)]), pairs=False)
        tops = unary.max(axis=1, keepdims=True)
        weights = np.exp(unary - tops)
        expected = weights / weights.sum(axis=1, keepdims=True)
        assert log_z[0] == pytest.approx(np.sum(tops[:, 0] + np.log(weights.sum(axis=1))), rel=1e-13)
        assert entropy[0] == pytest.approx(-np.sum(expected * np.log(expected)), rel=1e-10)
        np.testing.assert_allclose(marginals, expected, rtol=1e-10)

    def test_a_path_far_below_the_best_prefix_is_not_lost(self):
        # Everything that scores well early on is a dead end; only a path 2,000 below survives.
        p = Potentials([[0.0, -2000.0], [0.0, 0.0]], [[-np.inf, -np.inf], [0.0, 0.0]])
        log_z, marginals, *_ = forward_backward(ChainBatch.of([p]))
        assert log_z[0] == pytest.approx(-2000.0 + np.log(2.0))
        np.testing.assert_allclose(marginals, [[0.0, 1.0], [0.5, 0.5]])


class TestSample:
    def test_every_uniform_gives_an_allowed_path_in_proportion(self):
        # A grid over the unit square: the share of cells that give y is p(y) up to the cells on the borders.
        p = Potentials(
            [[0.0, 1.0, -np.inf], [0.3, -0.5, 1.1]], np.log([[1, 2, 3], [3, 1, 2], [1, 1, 1]]), end=[0.2, 0, 0]
        )
        G = 200
        grid = np.ascontiguousarray(np.indices((G, G)).reshape(2, -1).T + 0.5) / G
        counts = Counter(map(tuple, sample(p, grid)[0].tolist()))
        truth = labellings(p).probabilities
        assert set(counts) <= set(truth)
        for y, probability in truth.items():
            assert counts[y] / G**2 == pytest.approx(probability, abs=2 / G)

    @given(chains())
    @few
    def test_follows_the_distribution(self, p):
        n = 2000
        labels, log_z = sample(p, np.random.default_rng(5).random((n, p.n_tokens)))
        truth = labellings(p)
        assert log_z == pytest.approx(truth.log_z, abs=1e-9)
        if log_z == -np.inf:
            assert (labels == -1).all()
            return
        counts = Counter(map(tuple, labels.tolist()))
        for y, probability in truth.probabilities.items():
            assert counts[y] / n == pytest.approx(probability, abs=6 * np.sqrt(0.25 / n))
        assert set(counts) <= set(truth.probabilities)

    def test_extreme_uniforms_take_the_first_and_the_last_possible_label(self):
        p = Potentials([[-np.inf, 0.0, 0.0, -np.inf]])
        labels, _ = sample(p, np.array([[0.0], [0.5], [np.nextafter(1.0, 0.0)]]))
        assert labels[:, 0].tolist() == [1, 2, 2]


class TestEdges:
    def test_no_tokens(self):
        p = Potentials(np.zeros((0, 2)), start=[3.0, 4.0])
        assert viterbi(p) == ((), 0.0)
        assert k_best(p, 2)[1].tolist() == [0.0, -np.inf]
        log_z, *_, entropy = forward_backward(ChainBatch.of([p]))
        assert (log_z[0], entropy[0], log_partition(p)) == (0.0, 0.0, 0.0)

    def test_a_row_of_minus_infinity(self):
        p = Potentials([[0.0, 0.0], [-np.inf, -np.inf], [0.0, 0.0]])
        assert viterbi(p) == ((-1, -1, -1), -np.inf)
        log_z, marginals, pairs, transitions, entropy = forward_backward(ChainBatch.of([p]))
        assert (log_z[0], entropy[0]) == (-np.inf, 0.0)
        assert not marginals.any()
        assert not pairs.any()
        assert not transitions.any()

    @given(chains(min_tokens=1))
    @few
    def test_given_paths_are_scored(self, p):
        batch, scores = ChainBatch.of([p]), np.empty(1)
        for y in ((0,) * p.n_tokens, tuple(t % p.n_labels for t in range(p.n_tokens))):
            chain.path_scores(*arrays(batch), 0, 1, np.array(y, np.int16), scores)
            assert scores[0] == pytest.approx(chain_score(p, y), abs=1e-9)

    def test_a_range_touches_nothing_else(self):
        rng = np.random.default_rng(3)
        trans = rng.normal(size=(3, 3))
        parts = [Potentials(rng.normal(size=(T, 3)), trans) for T in (2, 0, 4, 3)]
        batch = ChainBatch.of(parts)
        log_z, marginals, pairs, transitions, entropy = forward_backward(batch, 1, 3)
        assert log_z[[0, 3]].tolist() == entropy[[0, 3]].tolist() == [7.0, 7.0]
        assert (marginals[:2] == 7.0).all()
        assert (marginals[6:] == 7.0).all()
        alone = forward_backward(ChainBatch.of([parts[2]]))
        assert log_z[2] == alone[0][0]
        np.testing.assert_array_equal(marginals[2:6], alone[1])
        np.testing.assert_array_equal(pairs[2:6], alone[2])
        np.testing.assert_array_equal(transitions, alone[3])


def plain_exponentials(terms, n):
    terms[:n] = np.exp(terms[:n])


@pytest.fixture
def interpreted(monkeypatch):
    """Run the module's functions as plain Python, where an index out of bounds is an error."""
    for name, function in list(vars(chain).items()):
        if hasattr(function, "py_func"):
            monkeypatch.setattr(chain, name, function.py_func)
    # Plain Python has no vectors.
    monkeypatch.setattr(chain, "exponentials", plain_exponentials)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("shape", [(0, 2), (1, 1), (1, 3), (4, 1), (4, 3)])
def test_as_plain_python(shape):
    rng = np.random.default_rng(1)
    T, L = shape
    unary = rng.integers(-2, 3, shape).astype(float)
    trans = np.where(rng.random((L, L)) < 0.2, -np.inf, rng.integers(-2, 3, (L, L)))
    for p in (Potentials(unary, trans), Potentials(unary, np.repeat(trans[None], max(T - 1, 0), axis=0))):
        check_viterbi(p, exact=True)
        check_k_best(p, 4)
        check_posterior(p)
        assert sample(p, rng.random((3, T)))[0].shape == (3, T)
