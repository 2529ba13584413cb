"""The public front: every accepted form, threads that change nothing, clear refusals."""

from __future__ import annotations

import numpy as np
import pytest
from numba import config

from espalier import inference
from espalier.errors import InfeasibleError, InputError
from espalier.kernels import chain
from espalier.papers.segments import kernels as segment
from espalier.papers.segments.inference import segment_marginals
from espalier.papers.segments.potentials import SegmentBatch, SegmentPotentials
from espalier.potentials import ChainBatch, Potentials
from oracles import (
    backwards,
    border_counts,
    cover_counts,
    label_counts,
    labellings,
    pair_counts,
    pieces,
    pieces_backwards,
    segment_counts,
    segmentations,
)


def chain_list(rng, lengths=(3, 0, 1, 4), L=3):
    trans, start, end = rng.normal(size=(L, L)), rng.normal(size=L), rng.normal(size=L)
    return [Potentials(rng.normal(size=(T, L)), trans, start, end) for T in lengths]


def segment_list(rng, lengths=(3, 0, 1, 4), L=2, D=3):
    trans, start, end = rng.normal(size=(L, L)), rng.normal(size=L), rng.normal(size=L)
    return [SegmentPotentials(rng.normal(size=(T, D, L)), trans, start, end) for T in lengths]


def big_batch(rng, N=300, L=4):
    lengths = rng.integers(0, 60, N)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    M = int(indptr[-1])
    trans, classes = rng.normal(size=(2, L, L)), rng.integers(0, 2, M).astype(np.int32)
    return ChainBatch(indptr, rng.normal(size=(M, L)), trans, classes, np.zeros(L), np.zeros(L))


def big_segments(rng, N=300, L=3, D=3):
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 60, N))])
    return SegmentBatch(
        indptr, rng.normal(size=(int(indptr[-1]), D, L)), rng.normal(size=(L, L)), np.zeros(L), np.ones(L)
    )


class TestChains:
    def test_a_list_against_enumeration(self, rng):
        parts = chain_list(rng)
        truths = [labellings(p) for p in parts]
        labels, scores = inference.viterbi(parts)
        assert tuple(labels.tolist()) == sum((truth.best(backwards)[0] for truth in truths), ())
        assert scores == pytest.approx([truth.total(max) for truth in truths])
        found = inference.posterior(parts)
        assert found.log_z == pytest.approx([truth.log_z for truth in truths])
        assert found.entropy == pytest.approx([truth.entropy for truth in truths], abs=1e-12)
        expected = [t.expectation(label_counts(p)) for t, p in zip(truths, parts, strict=True)]
        np.testing.assert_allclose(found.marginals, np.concatenate(expected), atol=1e-12)
        pairs = np.concatenate([t.expectation(pair_counts(p)) for t, p in zip(truths, parts, strict=True)])
        np.testing.assert_allclose(inference.pair_marginals(parts), pairs, atol=1e-12)
        np.testing.assert_allclose(found.transitions, pairs.sum(axis=0, keepdims=True), atol=1e-12)

    @pytest.mark.parametrize("far", [0.0, 30.0, 340.0, 360.0, 700.0, 1500.0])
    @pytest.mark.parametrize("steep", [0.0, 240.0, 260.0, 900.0])
    def test_sums_of_scores_that_lie_far_apart(self, rng, far, steep):
        # All that is possible in the end comes through a label that is e^-far as likely as the other at first.
        unary = rng.normal(size=(4, 3))
        unary[0, 1:] -= far
        trans = rng.normal(size=(3, 3)) + steep * rng.choice([-1.0, 0.0, 1.0], (3, 3))
        trans[0, 1:], trans[1, 0] = -np.inf, -np.inf
        p = Potentials(unary, trans, rng.normal(size=3), np.array([-np.inf, 0.0, 0.3]))
        truth, found = labellings(p), inference.posterior(p)
        assert found.log_z[0] == pytest.approx(truth.log_z, abs=1e-9)
        assert found.entropy[0] == pytest.approx(truth.entropy, abs=1e-9)
        np.testing.assert_allclose(found.marginals, truth.expectation(label_counts(p)), atol=1e-9)
        np.testing.assert_allclose(inference.pair_marginals(p), truth.expectation(pair_counts(p)), atol=1e-9)

    def test_the_parts_of_the_posterior(self, rng):
        parts = chain_list(rng)
        found = inference.posterior(parts)
        np.testing.assert_array_equal(inference.log_partition(parts), found.log_z)
        np.testing.assert_array_equal(inference.marginals(parts), found.marginals)
        np.testing.assert_array_equal(inference.entropy(parts), found.entropy)

    def test_k_best_of_every_sequence(self, rng):
        parts = chain_list(rng)
        batch = ChainBatch.of(parts)
        labels, scores = inference.k_best(batch, 4)
        assert (labels.shape, scores.shape) == ((4, 8), (4, 4))
        for i, p in enumerate(parts):
            expected = labellings(p).ranked(backwards)[:4]
            a, b = batch.indptr[i], batch.indptr[i + 1]
            assert [tuple(y) for y in labels[: len(expected), a:b].tolist()] == [y for y, _ in expected]
            assert scores[i, : len(expected)] == pytest.approx([s for _, s in expected])
            assert np.isneginf(scores[i, len(expected) :]).all()

    def test_one_sequence_and_a_batch_are_accepted(self, rng):
        (p,) = chain_list(rng, lengths=(4,))
        for form in (p, [p], (p,), ChainBatch.of([p])):
            assert inference.viterbi(form).scores[0] == pytest.approx(labellings(p).total(max))

    def test_path_scores_and_samples(self, rng):
        parts = chain_list(rng)
        labels = inference.sample(parts, 3, np.random.default_rng(1))
        np.testing.assert_array_equal(labels, inference.sample(parts, 3, np.random.default_rng(1)))
        assert labels.shape == (3, 8)
        cuts = ChainBatch.of(parts).indptr[1:-1]
        expected = [p.score(y) for p, y in zip(parts, np.split(labels[0], cuts), strict=True)]
        assert inference.path_scores(parts, labels[0]) == pytest.approx(expected)
        assert inference.sample(parts, 0, np.random.default_rng(1)).shape == (0, 8)

    def test_arrays_of_other_types_mean_the_same(self, rng):
        batch = ChainBatch.of(chain_list(rng))
        other = ChainBatch(
            batch.indptr.astype(np.int32),
            np.asfortranarray(batch.unary),
            batch.trans,
            batch.trans_class.astype(np.int64),
            batch.start,
            batch.end,
        )
        np.testing.assert_array_equal(inference.marginals(batch), inference.marginals(other))

    def test_a_batch_of_no_sequences(self):
        empty = ChainBatch(
            np.zeros(1, np.int64), np.zeros((0, 2)), np.zeros((1, 2, 2)), np.zeros(0, np.int32), *np.zeros((2, 2))
        )
        assert inference.viterbi(empty).scores.shape == (0,)
        assert inference.posterior(empty).transitions.tolist() == np.zeros((1, 2, 2)).tolist()


class TestSegments:
    def test_a_list_against_enumeration(self, rng):
        parts = segment_list(rng)
        batch = SegmentBatch.of(parts)
        truths = [segmentations(p) for p in parts]
        labels, starts, scores = inference.viterbi(parts)
        cuts = batch.indptr[1:-1]
        for truth, y, s, score in zip(truths, np.split(labels, cuts), np.split(starts, cuts), scores, strict=True):
            best = truth.best(pieces_backwards)
            assert pieces(y, s) == best[0]
            assert score == pytest.approx(best[1])
        assert inference.path_scores(parts, labels, starts) == pytest.approx(scores)
        found = inference.posterior(batch)
        assert found.log_z == pytest.approx([truth.log_z for truth in truths])
        assert found.entropy == pytest.approx([truth.entropy for truth in truths], abs=1e-12)
        pairs = list(zip(truths, parts, strict=True))
        covers = np.concatenate([t.expectation(cover_counts(p)) for t, p in pairs])
        np.testing.assert_allclose(found.marginals, covers, atol=1e-12)
        np.testing.assert_allclose(
            found.transitions, sum(t.expectation(border_counts(p)) for t, p in pairs), atol=1e-12
        )
        segments = np.concatenate([t.expectation(segment_counts(p)) for t, p in pairs])
        np.testing.assert_allclose(segment_marginals(parts), segments, atol=1e-12)
        np.testing.assert_array_equal(inference.log_partition(parts), found.log_z)

    def test_k_best_and_samples(self, rng):
        (p,) = segment_list(rng, lengths=(4,))
        expected = segmentations(p).ranked(pieces_backwards)[:5]
        labels, starts, scores = inference.k_best(p, 5)
        assert [pieces(*row) for row in zip(labels, starts, strict=True)] == [y for y, _ in expected]
        assert scores[0] == pytest.approx([s for _, s in expected])
        labels, starts = inference.sample(p, 4, np.random.default_rng(0))
        assert labels.shape == starts.shape == (4, 4)
        assert starts[:, 0].all()


class TestThreads:
    def test_results_do_not_depend_on_threads(self, rng):
        for batch in (big_batch(rng), big_segments(rng)):
            for function in (
                inference.viterbi,
                inference.posterior,
                lambda b, threads: inference.k_best(b, 2, threads=threads),
            ):
                one, three = function(batch, threads=1), function(batch, threads=3)
                for a, b in zip(one, three, strict=True):
                    np.testing.assert_array_equal(a, b)
            one, three = (inference.sample(batch, 2, np.random.default_rng(0), threads=n) for n in (1, 3))
            np.testing.assert_array_equal(one, three)

    def test_large_batches_are_cut(self, rng):
        assert len(inference._laid(big_batch(rng)).chunks()) > 2

    def test_many_transition_classes_do_not_multiply_memory(self):
        p = Potentials(np.zeros((5000, 20)), np.zeros((4999, 20, 20)))
        problem = inference._laid([p] * 3)
        assert len(problem.chunks(partial=len(problem.summed().source))) == 1


class TestInfeasible:
    CHAINS = (Potentials([[0.0, 0.0]]), Potentials([[-np.inf, -np.inf]]), Potentials([[-np.inf, -np.inf]]))
    SEGMENTS = tuple(SegmentPotentials(p.unary[:, None]) for p in CHAINS)

    @pytest.mark.parametrize("potentials", [CHAINS, SEGMENTS])
    @pytest.mark.parametrize(
        "function",
        [
            inference.viterbi,
            inference.log_partition,
            inference.marginals,
            inference.entropy,
            lambda p, **rest: inference.k_best(p, 2, **rest),
            lambda p, **rest: inference.sample(p, 2, np.random.default_rng(0), **rest),
        ],
    )
    def test_the_sequence_is_named_unless_allowed(self, potentials, function):
        with pytest.raises(InfeasibleError, match=r"sequence 1 has no labelling .*1 others.*allow_infeasible"):
            function(potentials)
        function(potentials, allow_infeasible=True)

    def test_what_is_returned_if_allowed(self):
        labels, scores = inference.viterbi(self.CHAINS, allow_infeasible=True)
        assert labels.tolist() == [0, -1, -1]
        assert scores.tolist() == [0.0, -np.inf, -np.inf]
        found = inference.posterior(self.CHAINS, allow_infeasible=True)
        assert found.marginals.tolist() == [[0.5, 0.5], [0.0, 0.0], [0.0, 0.0]]


class TestRefusals:
    P = Potentials(np.zeros((3, 2)))
    S = SegmentPotentials(np.zeros((3, 2, 2)))

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda P, S: inference.viterbi("abc"), "got str"),
            (lambda P, S: inference.viterbi(np.zeros((3, 2))), "got ndarray"),
            (lambda P, S: inference.viterbi([P, S]), "a list of Potentials, SegmentPotentials"),
            (lambda P, S: inference.viterbi([]), "at least one sequence"),
            (lambda P, S: inference.viterbi(P, threads=0), "threads is 0"),
            (lambda P, S: inference.k_best(P, 0), "k is 0"),
            (lambda P, S: inference.k_best(P, 2.0), "k is 2.0"),
            (lambda P, S: inference.sample(P, -1, np.random.default_rng(0)), "n is -1"),
            (lambda P, S: inference.sample(P, 1, 42), "default_rng"),
            (lambda P, S: inference.pair_marginals(S), "pair marginals are of chains"),
            (lambda P, S: segment_marginals(P), "pair_marginals"),
            (lambda P, S: inference.path_scores(P, [0, 0]), "each of the 3 tokens"),
            (lambda P, S: inference.path_scores(P, [0.0, 0.0, 0.0]), "one integer"),
            (lambda P, S: inference.path_scores([P, P], [0, 0, 0, 0, -1, 0]), "sequence 1, token 1 has label -1"),
            (lambda P, S: inference.path_scores(P, [0, 2, 0]), r"expected 0\.\.1"),
            (lambda P, S: inference.path_scores(P, [0, 0, 0], [True] * 3), "starts are not for chains"),
            (lambda P, S: inference.path_scores(S, [0, 0, 0]), "need starts"),
            (lambda P, S: inference.path_scores(S, [0, 0, 0], [1, 0, 0]), "one bool"),
            (lambda P, S: inference.path_scores(S, [0, 0, 0], [False, True, True]), "must start a segment"),
            (
                lambda P, S: inference.path_scores(S, [0, 0, 1], [True, True, False]),
                "sequence 0, token 2 changes the label",
            ),
        ],
    )
    def test_wrong_arguments(self, call, message):
        with pytest.raises(InputError, match=message):
            call(self.P, self.S)


def use_everything(form, parts):
    labels, *starts, _ = inference.viterbi(form)
    inference.path_scores(form, labels, *starts)
    inference.k_best(form, np.int64(2))
    inference.log_partition(form)
    inference.posterior(form)
    inference.sample(form, 1, np.random.default_rng(0))
    parts(form)


@pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled while NUMBA_DISABLE_JIT is set")
def test_every_kernel_is_compiled_once(rng):
    one = Potentials(np.zeros((2, 1)), np.zeros((1, 1, 1)))
    chains = [one, chain_list(rng), ChainBatch.of(chain_list(rng)), big_batch(rng)]
    segments = [segment_list(rng), SegmentBatch.of(segment_list(rng)), big_segments(rng)]
    for module, forms, parts in (
        (chain, chains, inference.pair_marginals),
        (segment, segments, segment_marginals),
    ):
        named = [getattr(module, name) for name in module.__all__]
        kernels = [each for each in named if hasattr(each, "signatures")]
        before = [len(kernel.signatures) for kernel in kernels]
        use_everything(forms[0], parts)
        first = [len(kernel.signatures) for kernel in kernels]
        assert all(after <= seen + 1 for seen, after in zip(before, first, strict=True))
        for form in forms[1:]:
            use_everything(form, parts)
        assert [len(kernel.signatures) for kernel in kernels] == first, module.__name__


@pytest.fixture
def rng():
    return np.random.default_rng(7)
