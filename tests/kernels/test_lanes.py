"""Lane kernels against the plain log-space kernels, which enumeration has checked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.inference import posterior
from espalier.kernels import LARGEST, Lanes, Transitions, aligned, padded
from espalier.kernels.lanes import forward_backward_lanes
from espalier.potentials import ChainBatch


def random_batch(rng, L, lengths, *, scale=1.0, forbidden=0.0, unseen=0.5):
    """Draw a batch with one transition matrix, many of whose entries are 0 (unseen) or -inf."""
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    trans = np.clip(rng.normal(size=(L, L)) * scale, -LARGEST, LARGEST) * (rng.random((L, L)) > unseen)
    trans[rng.random((L, L)) < forbidden] = -np.inf
    start = np.where(rng.random(L) < forbidden / 2, -np.inf, 0.0)
    return ChainBatch(
        indptr, rng.normal(size=(indptr[-1], L)) * 2 * scale, trans[None], np.zeros(indptr[-1], np.int32), start,
        np.zeros(L),
    )  # fmt: skip


def in_rows(batch):
    """Lay a batch out in lanes; the labels past L are padding and hold nonsense that must not matter."""
    lanes = Lanes.of(batch.indptr)
    rows = aligned(lanes.n_rows, padded(batch.n_labels))
    rows[lanes.row_of_token, : batch.n_labels] = batch.unary
    rows[:, batch.n_labels :] = 99.0
    return lanes, rows


def run_forward_backward(batch, weights=None):
    lanes, rows = in_rows(batch)
    transitions = Transitions.of(batch.trans[0])
    lane_weight = np.ones(len(lanes.lengths))
    if weights is not None:
        lane_weight = np.where(lanes.sequence >= 0, weights[lanes.sequence], 0.0)
    expected, log_z = np.zeros(len(transitions.source)), np.full(len(lanes.lengths), np.nan)
    marginals = aligned(lanes.n_rows, rows.shape[1], dtype=np.float32)
    with np.errstate(over="ignore"):
        forward_backward_lanes(
            0, lanes.n_groups, lanes.group_ptr, lanes.lengths, lane_weight,
            transitions.steps(np.exp(batch.start), np.exp(batch.end)), rows, marginals, expected, log_z,
        )  # fmt: skip
    counts = np.zeros((batch.n_labels, batch.n_labels))
    counts[transitions.source, transitions.target] = expected * np.exp(
        batch.trans[0][transitions.source, transitions.target]
    )
    per_sequence = np.zeros(len(batch))
    used = lanes.sequence >= 0
    per_sequence[lanes.sequence[used]] = log_z[used]
    return per_sequence, marginals[lanes.row_of_token, : batch.n_labels], counts, transitions


lengths = st.lists(st.integers(0, 12), min_size=1, max_size=20)


@settings(deadline=None, derandomize=True, max_examples=80)
@given(st.integers(0, 10**6), st.sampled_from([1, 2, 5, 8, 13, 17, 40]), lengths, st.sampled_from([0.0, 0.3]))
def test_forward_backward_equals_the_plain_kernel(seed, L, lengths, forbidden):
    batch = random_batch(np.random.default_rng(seed), L, lengths, forbidden=forbidden)
    plain = posterior(batch, threads=1, allow_infeasible=True)
    log_z, marginals, counts, transitions = run_forward_backward(batch)
    good = ~np.isnan(log_z)
    # Only impossible sequences are given up at this scale.
    assert np.isneginf(plain.log_z[~good]).all()
    np.testing.assert_allclose(log_z[good], plain.log_z[good], rtol=1e-10, atol=1e-9)
    np.testing.assert_allclose(marginals, plain.marginals, atol=1e-7)
    listed = np.zeros((L, L), bool)
    listed[transitions.source, transitions.target] = True
    np.testing.assert_allclose(counts[listed], plain.transitions[0][listed], atol=1e-8)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([2, 5, 13]), lengths, st.sampled_from([20.0, 60.0, 300.0, 2000.0]))
def test_scores_far_apart_are_right_or_given_up(seed, L, lengths, scale):
    batch = random_batch(np.random.default_rng(seed), L, lengths, scale=scale, forbidden=0.2)
    plain = posterior(batch, threads=1, allow_infeasible=True)
    log_z, marginals, _, _ = run_forward_backward(batch)
    good = np.repeat(~np.isnan(log_z), np.diff(batch.indptr))
    np.testing.assert_allclose(log_z[~np.isnan(log_z)], plain.log_z[~np.isnan(log_z)], rtol=1e-8, atol=1e-6)
    np.testing.assert_allclose(marginals[good], plain.marginals[good], atol=1e-6)
    assert not marginals[~good].any()


def test_sample_weights_scale_marginals_and_counts():
    rng = np.random.default_rng(1)
    batch = random_batch(rng, 4, [3, 5, 1, 0, 7, 2, 2, 4, 6, 6])
    weights = rng.random(10)
    plain = [posterior(batch[i], threads=1) for i in range(10) if batch[i].n_tokens]
    _, marginals, counts, transitions = run_forward_backward(batch, weights)
    kept = [w for w, n in zip(weights, np.diff(batch.indptr), strict=True) if n]
    np.testing.assert_allclose(
        marginals, np.concatenate([w * p.marginals for w, p in zip(kept, plain, strict=True)]), atol=1e-7
    )
    total = sum(w * p.transitions[0] for w, p in zip(kept, plain, strict=True))
    source, target = transitions.source, transitions.target
    np.testing.assert_allclose(counts[source, target], total[source, target], atol=1e-9)


@pytest.mark.parametrize("trans", [np.zeros((3, 3)), np.array([[0.0, -40.0], [1.0, -np.inf]])])
def test_transitions_are_a_base_and_exceptions(trans):
    t = Transitions.of(trans)
    rebuilt = np.tile(t.base, (len(trans), 1))
    rebuilt[t.source, t.target] += t.deltas()
    np.testing.assert_allclose(rebuilt, np.exp(trans), rtol=1e-12)
    assert sorted(zip(t.source[t.out_slot], t.out_target, strict=True)) == sorted(zip(t.source, t.target, strict=True))


def test_lanes_of_nothing():
    assert Lanes.of(np.array([0])).n_groups == 0
    assert Lanes.of(np.array([0, 0, 0])).n_rows == 0


def test_probability_that_rounding_would_lose_is_noticed():
    """Labels may not change; the first token all but excludes the one that the others ask for."""
    unary = np.array([[0.0, -720.0], *[[-200.0, 0.0]] * 4])
    slow = np.array([*[[0.0, -250.0]] * 3, *[[-290.0, 0.0]] * 3])
    stay = np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    for scores in (unary, slow):
        batch = ChainBatch(
            np.array([0, len(scores)]), scores, stay[None], np.zeros(len(scores), np.int32), np.zeros(2), np.zeros(2)
        )
        assert np.isnan(run_forward_backward(batch)[0]).all()
