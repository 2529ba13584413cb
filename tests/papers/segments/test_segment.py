"""The segment kernels against enumeration, finite differences and the chain they contain."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings

from espalier.kernels import chain, padded
from espalier.papers.segments import kernels as segment
from espalier.papers.segments.inference import laid_out
from espalier.papers.segments.potentials import SegmentBatch, SegmentPotentials
from espalier.potentials import Potentials
from oracles import (
    Piece,
    border_counts,
    cover_counts,
    labellings,
    pieces,
    pieces_backwards,
    segment_counts,
    segmentation_score,
    segmentations,
)
from strategies import segment_chains

few = settings(max_examples=25, deadline=None, derandomize=True)
many = settings(max_examples=80, deadline=None, derandomize=True)


def arrays(batch):
    return batch.indptr, batch.score, batch.trans, batch.start, batch.end


def viterbi(p):
    labels, starts, scores = np.full(p.n_tokens, 99, np.int16), np.ones(p.n_tokens, bool), np.full(1, np.nan)
    segment.viterbi(*arrays(SegmentBatch.of([p])), 0, 1, labels, starts, scores)
    return labels, starts, scores[0]


def k_best(p, k):
    labels, starts = np.full((k, p.n_tokens), 99, np.int16), np.ones((k, p.n_tokens), bool)
    scores = np.full((1, k), np.nan)
    segment.k_best(*arrays(SegmentBatch.of([p])), 0, 1, labels, starts, scores)
    return [pieces(*row) for row in zip(labels, starts, strict=True)], scores[0]


def summed(batch):
    return laid_out(batch).summed()


def log_partition(p):
    log_z = np.full(1, np.nan)
    segment.log_partition(summed(SegmentBatch.of([p])), 0, 1, log_z)
    return log_z[0]


def forward_backward(batch, lo=0, hi=None):
    N, (M, D, L) = len(batch), batch.score.shape
    scores, rows = summed(batch), np.zeros((3, M, padded(L)))
    log_z, entropy, parts = np.full(N, 7.0), np.full(N, 7.0), np.zeros(scores.table.shape)
    expected = segment.SegmentSums(log_z, entropy, *rows, parts, np.zeros(scores.trans.shape))
    segment.expectations(scores, lo, N if hi is None else hi, np.ones(N), expected)
    return log_z, rows[0, :, :L], parts[:, :L].reshape(M, D, L), expected.transitions[:, :L], entropy


def sample(p, uniforms):
    labels, starts = np.full(uniforms.shape[:2], 99, np.int16), np.ones(uniforms.shape[:2], bool)
    log_z = np.full(1, np.nan)
    segment.sample(summed(SegmentBatch.of([p])), 0, 1, uniforms, labels, starts, log_z)
    return labels, starts, log_z[0]


def check_viterbi(p, exact):
    labels, starts, score = viterbi(p)
    best = segmentations(p).best(pieces_backwards)
    if best is None:
        assert score == -np.inf
        assert (labels == -1).all()
        assert not starts.any()
    elif exact:
        assert (pieces(labels, starts), score) == best
        for piece in best[0]:
            assert (labels[piece.start : piece.end] == piece.label).all()
    else:
        assert score == pytest.approx(best[1], abs=1e-9)
        assert segmentation_score(p, pieces(labels, starts)) == pytest.approx(best[1], abs=1e-9)


def check_k_best(p, k):
    found, scores = k_best(p, k)
    expected = segmentations(p).ranked(pieces_backwards)[:k]
    assert list(zip(found, scores.tolist(), strict=True))[: len(expected)] == expected
    assert (scores[len(expected) :] == -np.inf).all()


def check_posterior(p, atol=1e-10):
    truth = segmentations(p)
    log_z, marginals, parts, transitions, entropy = forward_backward(SegmentBatch.of([p]))
    assert log_z[0] == pytest.approx(truth.log_z, rel=1e-13, abs=1e-10)
    assert log_partition(p) == log_z[0]
    assert entropy[0] == pytest.approx(truth.entropy, abs=atol)
    np.testing.assert_allclose(marginals, truth.expectation(cover_counts(p)), rtol=0, atol=atol)
    np.testing.assert_allclose(parts, truth.expectation(segment_counts(p)), rtol=0, atol=atol)
    np.testing.assert_allclose(transitions, truth.expectation(border_counts(p)), rtol=0, atol=atol)


class TestViterbi:
    @given(segment_chains(exact=True))
    @many
    def test_breaks_ties_from_the_last_segment_back(self, p):
        check_viterbi(p, exact=True)

    @given(segment_chains())
    @many
    def test_agrees_with_enumeration(self, p):
        check_viterbi(p, exact=False)

    def test_ties_go_to_low_labels_then_short_segments(self):
        labels, starts, score = viterbi(SegmentPotentials(np.zeros((3, 3, 2))))
        assert (pieces(labels, starts), score) == ((Piece(0, 1, 0), Piece(1, 2, 0), Piece(2, 3, 0)), 0.0)

    def test_one_long_sequence(self):
        # Only full segments of two tokens score: labels alternate because repeating one costs.
        T = 100_000
        score = np.zeros((T, 3, 2))
        score[:, 1] = 1.0
        labels, starts, total = viterbi(SegmentPotentials(score, [[-9.0, 0.0], [0.0, -9.0]], start=[0.0, -1.0]))
        assert total == T / 2
        assert labels.tolist() == [0, 0, 1, 1] * (T // 4)
        assert starts.tolist() == [True, False] * (T // 2)


class TestKBest:
    @given(segment_chains(exact=True))
    @many
    def test_lists_the_enumeration_in_order(self, p):
        check_k_best(p, 5)

    def test_k_may_exceed_what_exists(self):
        found, scores = k_best(SegmentPotentials(np.zeros((2, 4, 1))), 4)
        assert found[:2] == [(Piece(0, 1, 0), Piece(1, 2, 0)), (Piece(0, 2, 0),)]
        assert scores.tolist() == [0.0, 0.0, -np.inf, -np.inf]

    @given(segment_chains())
    @few
    def test_scores_agree_and_segmentations_are_distinct(self, p):
        found, scores = k_best(p, 6)
        expected = [score for _, score in segmentations(p).ranked(pieces_backwards)[:6]]
        assert scores[: len(expected)] == pytest.approx(expected, abs=1e-9)
        assert len(set(found[: len(expected)])) == len(expected)


class TestPosterior:
    @given(segment_chains())
    @many
    def test_agrees_with_enumeration(self, p):
        check_posterior(p)

    @given(segment_chains(scale=1e4))
    @many
    def test_large_scores(self, p):
        check_posterior(p, atol=1e-7)

    @given(segment_chains(min_tokens=1))
    @few
    def test_marginals_are_the_gradient_of_log_z(self, p):
        finite = SegmentPotentials(*(np.where(np.isneginf(a), -3.0, a) for a in (p.score, p.trans, p.start, p.end)))
        _, _, parts, transitions, _ = forward_backward(SegmentBatch.of([finite]))
        h = 1e-5
        for name, expected in (("score", parts), ("trans", transitions)):
            for index in np.ndindex(*expected.shape):
                ends = []
                for sign in (1.0, -1.0):
                    changed = {n: getattr(finite, n).copy() for n in ("score", "trans", "start", "end")}
                    changed[name][index] += sign * h
                    ends.append(log_partition(SegmentPotentials(**changed)))
                assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(expected[index], abs=1e-8)

    def test_segments_of_one_token_are_a_chain(self):
        rng = np.random.default_rng(2)
        unary, trans, start, end = (rng.normal(size=shape) for shape in ((4, 3), (3, 3), 3, 3))
        p = SegmentPotentials(unary[:, None], trans, start, end)
        truth = labellings(Potentials(unary, trans, start, end))
        log_z, *_, entropy = forward_backward(SegmentBatch.of([p]))
        assert log_z[0] == pytest.approx(truth.log_z)
        assert entropy[0] == pytest.approx(truth.entropy)

    def test_a_long_sequence_is_counted_exactly(self):
        # Zero scores, one label, segments of one or two tokens: Fibonacci many segmentations.
        T = 80
        fibonacci = [1, 1]
        while len(fibonacci) <= T:
            fibonacci.append(fibonacci[-1] + fibonacci[-2])
        log_z, marginals, *_, entropy = forward_backward(SegmentBatch.of([SegmentPotentials(np.zeros((T, 2, 1)))]))
        assert log_z[0] == pytest.approx(np.log(fibonacci[T]))
        assert entropy[0] == pytest.approx(np.log(fibonacci[T]))
        np.testing.assert_allclose(marginals, 1.0)


class TestSample:
    @given(segment_chains())
    @few
    def test_follows_the_distribution(self, p):
        n = 2000
        labels, starts, log_z = sample(p, np.random.default_rng(5).random((n, p.n_tokens, 2)))
        truth = segmentations(p)
        if truth.log_z == -np.inf:
            assert log_z == -np.inf
            assert (labels == -1).all()
            assert not starts.any()
            return
        counts = Counter(pieces(*row) for row in zip(labels, starts, strict=True))
        assert set(counts) <= set(truth.probabilities)
        for y, probability in truth.probabilities.items():
            assert counts[y] / n == pytest.approx(probability, abs=6 * np.sqrt(0.25 / n))

    def test_a_grid_of_uniforms_gives_exact_shares(self):
        # Two tokens, one label: the last token's length alone decides, by the second uniform.
        p = SegmentPotentials(np.log([[[1.0], [1.0]], [[1.0], [3.0]]]))
        n = 1000
        uniforms = np.zeros((n, 2, 2))
        uniforms[:, 1, 1] = (np.arange(n) + 0.5) / n
        _, starts, _ = sample(p, uniforms)
        assert starts[:, 1].mean() == 0.25  # two pieces weigh 1, one piece weighs 3


class TestEdges:
    def test_no_tokens(self):
        p = SegmentPotentials(np.zeros((0, 2, 2)))
        assert viterbi(p)[2] == 0.0
        assert k_best(p, 2)[1].tolist() == [0.0, -np.inf]
        log_z, *_, entropy = forward_backward(SegmentBatch.of([p]))
        assert (log_z[0], entropy[0], log_partition(p)) == (0.0, 0.0, 0.0)

    def test_a_forbidden_row_can_be_spanned(self):
        # Nothing may end at token 0, but a segment of two tokens covers it.
        score = np.zeros((2, 2, 1))
        score[0] = -np.inf
        labels, starts, total = viterbi(SegmentPotentials(score))
        assert (pieces(labels, starts), total) == ((Piece(0, 2, 0),), 0.0)

    def test_infeasible(self):
        score = np.zeros((3, 2, 2))
        score[2] = -np.inf
        batch = SegmentBatch.of([SegmentPotentials(score)])
        log_z, marginals, parts, transitions, entropy = forward_backward(batch)
        assert (log_z[0], entropy[0]) == (-np.inf, 0.0)
        assert not marginals.any()
        assert not parts.any()
        assert not transitions.any()

    @given(segment_chains(min_tokens=1))
    @few
    def test_given_segmentations_are_scored(self, p):
        batch, scores = SegmentBatch.of([p]), np.empty(1)
        for y, score in segmentations(p).items[::7]:
            labels = np.concatenate([np.full(piece.end - piece.start, piece.label, np.int16) for piece in y])
            starts = np.isin(np.arange(p.n_tokens), [piece.start for piece in y])
            segment.path_scores(*arrays(batch), 0, 1, labels, starts, scores)
            assert scores[0] == pytest.approx(score, abs=1e-9)

    def test_a_segment_longer_than_allowed_scores_minus_infinity(self):
        batch, scores = SegmentBatch.of([SegmentPotentials(np.zeros((3, 2, 1)))]), np.empty(1)
        segment.path_scores(*arrays(batch), 0, 1, np.zeros(3, np.int16), np.array([True, False, False]), scores)
        assert scores[0] == -np.inf

    def test_a_range_touches_nothing_else(self):
        rng = np.random.default_rng(3)
        parts = [SegmentPotentials(rng.normal(size=(T, 2, 3))) for T in (2, 0, 4, 3)]
        log_z, marginals, found, transitions, entropy = forward_backward(SegmentBatch.of(parts), 1, 3)
        assert log_z[[0, 3]].tolist() == entropy[[0, 3]].tolist() == [7.0, 7.0]
        assert not marginals[:2].any()
        assert not marginals[6:].any()
        alone = forward_backward(SegmentBatch.of([parts[2]]))
        np.testing.assert_array_equal(marginals[2:6], alone[1])
        np.testing.assert_array_equal(found[2:6], alone[2])
        np.testing.assert_array_equal(transitions, alone[3])


def plain_exponentials(terms, n):
    flat = terms.reshape(-1)
    flat[:n] = np.exp(flat[:n])


@pytest.fixture
def interpreted(monkeypatch):
    """Run the functions as plain Python, where an index out of bounds is an error."""
    for module in (chain, segment):
        for name, function in list(vars(module).items()):
            if hasattr(function, "py_func"):
                monkeypatch.setattr(module, name, function.py_func)
    # Plain Python has no vectors.
    for module in (chain, segment):
        monkeypatch.setattr(module, "exponentials", plain_exponentials)


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("shape", [(0, 2, 2), (1, 3, 1), (1, 1, 3), (4, 2, 2), (3, 5, 2)])
def test_as_plain_python(shape):
    rng = np.random.default_rng(1)
    T, _, L = shape
    score = rng.integers(-2, 3, shape).astype(float)
    trans = np.where(rng.random((L, L)) < 0.2, -np.inf, rng.integers(-2, 3, (L, L)))
    p = SegmentPotentials(score, trans)
    check_viterbi(p, exact=True)
    check_k_best(p, 4)
    check_posterior(p)
    assert sample(p, rng.random((3, T, 2)))[0].shape == (3, T)
