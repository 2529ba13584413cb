"""Scores: checked on the way in, and operations that mean what they say on every labelling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from espalier.errors import InputError
from espalier.papers.segments.potentials import SegmentBatch, SegmentPotentials
from espalier.potentials import ChainBatch, Potentials
from oracles import chain_score, labellings
from strategies import chains

few = settings(max_examples=30, deadline=None, derandomize=True)


@given(chains())
@few
def test_score_is_the_sum_of_its_terms(p):
    for y, score in labellings(p).items[::5]:
        assert p.score(y) == pytest.approx(score, abs=1e-9)


def test_score_by_hand():
    p = Potentials([[1.0, 2.0], [3.0, 4.0]], [[10.0, 20.0], [30.0, 40.0]], start=[100.0, 200.0], end=[1e3, 2e3])
    assert p.score([1, 0]) == 200.0 + 2.0 + 30.0 + 3.0 + 1e3


@given(chains(min_tokens=1))
@few
def test_clamp_forbids_exactly_the_other_labels(p):
    clamped = labellings(p.clamp({0: 0})).items
    for (y, score), (_, before) in zip(clamped, labellings(p).items, strict=True):
        assert score == (before if y[0] == 0 else -np.inf)


def test_clamp_takes_several_labels():
    p = Potentials(np.zeros((2, 3))).clamp({1: [0, 2]})
    assert np.isneginf(p.unary).tolist() == [[False] * 3, [False, True, False]]


@given(chains(min_tokens=1))
@few
def test_hamming_cost_counts_the_differences(p):
    gold = [0] * p.n_tokens
    costly = p.with_hamming_cost(gold, cost=2.0)
    for y, score in labellings(p).items[::5]:
        assert chain_score(costly, y) == pytest.approx(score + 2.0 * sum(label != 0 for label in y), abs=1e-9)


def test_hamming_cost_leaves_unknown_tokens_alone():
    p = Potentials([[1.0, 2.0], [3.0, 4.0]]).with_hamming_cost([-1, 0])
    assert p.unary.tolist() == [[1.0, 2.0], [3.0, 5.0]]


def test_forbid_keeps_what_is_allowed():
    p = Potentials(np.zeros((3, 2)), np.zeros((2, 2, 2))).forbid(
        start=np.array([True, False]), trans=np.array([[True, False], [True, True]])
    )
    allowed = {y for y, score in labellings(p).items if score > -np.inf}
    assert allowed == {(0, 0, 0)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"unary": [1.0, 2.0]}, r"unary has shape \(2,\)"),
        ({"unary": np.zeros((3, 0))}, "at least one label"),
        ({"unary": [[np.nan]]}, "unary holds nan"),
        ({"unary": [[np.inf]]}, r"\+inf"),
        ({"unary": [[0.0, 0.0]], "trans": np.zeros((3, 3))}, r"trans has shape \(3, 3\), expected \(2, 2\)"),
        ({"unary": np.zeros((3, 2)), "trans": np.zeros((3, 2, 2))}, r"expected \(2, 2, 2\)"),
        ({"unary": [[0.0, 0.0]], "start": [0.0]}, "start has shape"),
        ({"unary": [[0.0, 0.0]], "end": [0.0, np.nan]}, "end holds nan"),
    ],
)
def test_wrong_scores_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Potentials(**arguments)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.score([0]), r"2 tokens, but labels of shape \(1,\)"),
        (lambda p: p.score([0, -1]), r"token 1 has label -1, expected 0\.\.1"),
        (lambda p: p.score([2, 0]), "token 0 has label 2"),
        (lambda p: p.with_hamming_cost([0, 0, 0]), "2 tokens"),
        (lambda p: p.with_hamming_cost([0, -2]), r"expected -1\.\.1"),
        (lambda p: p.clamp({2: 0}), "token 2 cannot be clamped"),
        (lambda p: p.clamp({0: [0, 5]}), r"labels are 0\.\.1"),
    ],
)
def test_wrong_labels_are_refused(call, message):
    with pytest.raises(InputError, match=message):
        call(Potentials(np.zeros((2, 2))))


@pytest.mark.parametrize("score", [np.zeros((2, 2)), np.zeros((2, 0, 2)), np.zeros((2, 2, 0))])
def test_wrong_segment_scores_are_refused(score):
    with pytest.raises(InputError, match="score has shape"):
        SegmentPotentials(score)


class TestBatches:
    def test_a_batch_returns_its_sequences(self):
        rng = np.random.default_rng(0)
        shared = rng.normal(size=(3, 3))
        parts = [Potentials(rng.normal(size=(T, 3)), shared) for T in (2, 0, 3)]
        parts += [Potentials(rng.normal(size=(T, 3)), rng.normal(size=(max(T - 1, 0), 3, 3))) for T in (1, 4, 0)]
        batch = ChainBatch.of(parts)
        assert (len(batch), batch.n_labels, batch.indptr.tolist()) == (6, 3, [0, 2, 2, 5, 6, 10, 10])
        for i, part in enumerate(parts):
            for y, score in labellings(part).items[::4]:
                assert batch[i].score(y) == pytest.approx(score)
        np.testing.assert_array_equal(batch[-2].unary, parts[4].unary)

    def test_shared_transitions_are_one_class(self):
        trans = np.zeros((2, 2))
        assert len(ChainBatch.of([Potentials(np.zeros((2, 2)), trans) for _ in range(5)]).trans) == 1

    def test_segments_of_different_depth_are_filled_up(self):
        shallow, deep = SegmentPotentials(np.ones((2, 1, 2))), SegmentPotentials(np.ones((1, 3, 2)))
        batch = SegmentBatch.of([shallow, deep])
        assert (len(batch), batch.longest, batch.n_labels) == (2, 3, 2)
        assert np.isneginf(batch.score[:2, 1:]).all()
        np.testing.assert_array_equal(batch[1].score, deep.score)

    @pytest.mark.parametrize("kind", [ChainBatch, SegmentBatch])
    def test_an_empty_list_is_refused(self, kind):
        with pytest.raises(InputError, match="at least one sequence"):
            kind.of([])

    def test_unlike_sequences_are_refused(self):
        with pytest.raises(InputError, match="share"):
            ChainBatch.of([Potentials(np.zeros((1, 2))), Potentials(np.zeros((1, 3)))])
        with pytest.raises(InputError, match="share"):
            SegmentBatch.of(
                [SegmentPotentials(np.zeros((1, 1, 2))), SegmentPotentials(np.zeros((1, 1, 2)), end=[0, 1])]
            )

    @pytest.mark.parametrize(
        "batch", [ChainBatch.of([Potentials([[0.0]])]), SegmentBatch.of([SegmentPotentials([[[0.0]]])])]
    )
    def test_an_index_outside_is_an_error(self, batch):
        with pytest.raises(IndexError):
            batch[1]
