"""Probabilities of labels and labellings under a chain, eight sequences at a time, and how sure it is of a sequence.

    p(y) ∝ exp( s(x, y) / temperature )

Forward-backward with scaled probabilities (`kernels.lanes`), in NumPy before kernels are loaded (`single`), in log
space where transitions differ within a sequence or scores are too far apart. Cost: O(T L + T E) for E transitions with
a weight of their own.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from espalier import inference
from espalier.decoders.certify import scores_of
from espalier.decoders.single import pairs_single, posterior_single
from espalier.inference import posterior
from espalier.kernels import (
    LANES,
    LARGEST,
    Lanes,
    Steady,
    Steps,
    Transitions,
    aligned,
    are_loaded,
    largest,
    padded,
    worth_loading,
)
from espalier.parallel import balanced
from espalier.potentials import ChainBatch

__all__ = ["answer_probabilities", "label_and_pair_marginals", "sureness"]

CACHED = 2048
"""Rows of scores that are worked on at a time: they stay in the cache of a core."""

LIKELIEST = -1
"""Stands for the likeliest label of a token."""

Float = NDArray[np.float64]
Int16 = NDArray[np.int16]


def answer_probabilities(batch: ChainBatch, y: Int16) -> tuple[Float, Float]:
    """Return p(y_t) of every token's label, float64[M], and p(y) of every labelling, float64[N].

    y : int16[M]. A labelling that is forbidden has probability 0, and so has each of its tokens that is.
    """
    groups = batch.by_class()
    if groups:  # experts have transitions of their own for sequences of each kind; the lanes take one matrix
        tokens, whole = np.empty(len(y)), np.empty(len(batch))
        for sequences, own in groups:
            token = batch.tokens_of(sequences)
            tokens[token], whole[sequences] = answer_probabilities(own, y[token])
        return tokens, whole
    heat = 1.0 if batch.temperature is None or not len(batch) else float(batch.temperature[0])
    if batch.temperature is not None and (batch.temperature != heat).any():
        batch, heat = batch.tempered(), 1.0
    tokens, log_z = _posterior(batch, y, heat)
    scores = scores_of(batch, y) / heat
    possible = np.isfinite(log_z) & np.isfinite(scores)
    whole = np.exp(np.minimum(np.where(possible, scores - np.where(possible, log_z, 0.0), -np.inf), 0.0))
    return np.minimum(np.maximum(tokens, 0.0), 1.0), whole


def sureness(batch: ChainBatch) -> Float:
    """Return how sure a model is of each sequence, float64[N] within 0..1, from one forward-backward pass.

    The product over its tokens of the probability of the likeliest label: the chance that these are all right, if they
    were independent. 1 without tokens, 0 where every labelling is forbidden.
    """
    found, present = np.ones(len(batch)), np.diff(batch.indptr) > 0
    if present.any():
        tokens, _ = _posterior(batch, np.full(len(batch.unary), LIKELIEST, np.int16))
        found[present] = np.multiply.reduceat(np.minimum(tokens, 1.0), batch.indptr[:-1][present])
    return found


def _posterior(batch: ChainBatch, y: Int16, heat: float = 1.0) -> tuple[Float, Float]:
    """Return the marginal of every token's label, float64[M], and log Z, float64[N] (-inf: nothing is possible).

    y : int16[M], all labels, or all `LIKELIEST`. heat : scores are divided by it; the batch's own is not asked.
    """
    if len(batch.trans) == 1 and len(y) and not worth_loading(len(y)):
        apart = _without_kernels(batch if heat == 1.0 else batch.tempered(), y)
        if apart is not None:
            return apart
    weights = _lane_weights(batch.trans[0], batch.start, batch.end, np.array([heat])) if len(batch.trans) == 1 else None
    if weights is None:
        batch = batch if heat == 1.0 else batch.tempered()
        found = posterior(batch, threads=1, allow_infeasible=True)
        return _of_labels(found.marginals, y), found.log_z
    tokens, log_z = _in_lanes(batch, y, weights, heat)
    for i in np.flatnonzero(np.isnan(log_z)).tolist():  # scores too far apart for scaled probabilities
        own = slice(batch.indptr[i], batch.indptr[i + 1])
        found = posterior(batch[i] if heat == 1.0 else batch[i].tempered(), allow_infeasible=True)
        tokens[own], log_z[i] = _of_labels(found.marginals, y[own]), found.log_z[0]
    return tokens, log_z


def _without_kernels(batch: ChainBatch, y: Int16) -> tuple[Float, Float] | None:
    """Return what `_posterior` does, one sequence after the other in NumPy; None if that cannot hold the scores."""
    tokens, log_z = np.empty(len(y)), np.zeros(len(batch))
    for i, (a, b) in enumerate(pairwise(batch.indptr.tolist())):
        if a < b:
            own = posterior_single(batch.unary[a:b], batch.trans[0], batch.start, batch.end, y[a:b])
            if own is None:
                return None
            tokens[a:b], log_z[i] = own
    return tokens, log_z


@Steady
def _lane_weights(trans: Float, start: Float, end: Float, heat: Float) -> Steps | None:
    """Return what the lanes take of transitions, start and end divided by heat; None if they cannot hold them."""
    trans, start, end = trans / heat, start / heat, end / heat
    if any(largest(scores) >= LARGEST for scores in (trans, start, end)):
        return None
    return Transitions.of(trans).steps(np.exp(start), np.exp(end))


def _in_lanes(batch: ChainBatch, y: Int16, steps: Steps, heat: float) -> tuple[Float, Float]:
    """Return what `_posterior` does, some groups of lanes at a time; log Z is nan where scaling failed."""
    from espalier.kernels.lanes import forward_backward_lanes

    lanes, L = Lanes.of(batch.indptr), batch.n_labels
    weights, expected, lane_z = np.ones(len(lanes.lengths)), np.zeros(len(steps.source)), np.zeros(len(lanes.lengths))
    tokens, log_z, most_likely = np.empty(len(y)), np.zeros(len(batch)), len(y) > 0 and y[0] < 0
    for lo, hi in balanced(lanes.group_ptr, -(-lanes.n_rows // CACHED)):
        first, last = LANES * lanes.group_ptr[lo], LANES * lanes.group_ptr[hi]
        token = lanes.token_of_row[first:last]
        used = np.flatnonzero(token >= 0)
        token = token[used]
        rows, shares = aligned(last - first, padded(L)), aligned(last - first, padded(L), dtype=np.float32)
        rows[used, :L] = batch.unary[token]
        if heat != 1.0:
            rows *= 1.0 / heat
        own = slice(LANES * lo, LANES * hi)
        forward_backward_lanes(
            0, hi - lo, lanes.group_ptr[lo : hi + 1] - lanes.group_ptr[lo], lanes.lengths[own], weights[own],
            steps, rows, shares, expected, lane_z[own],
        )  # fmt: skip
        tokens[token] = shares[used, :L].max(axis=1) if most_likely else shares[used, y[token]]
    log_z[lanes.sequence[lanes.sequence >= 0]] = lane_z[lanes.sequence >= 0]
    return tokens, log_z


def _of_labels(shares: Float, y: Int16) -> Float:
    """Return the marginals of the labels, or of the likeliest ones, float64[M]."""
    return shares[np.arange(len(y)), y] if not len(y) or y[0] >= 0 else np.asarray(shares.max(axis=1))


def label_and_pair_marginals(chain: ChainBatch) -> tuple[Float, Float]:
    """Return p(y_t = j), float64[T, L], and p(y_t-1 = i, y_t = j), float64[T, L, L], of one chain; the first pair is 0.

    In NumPy before kernels are loaded, where one matrix is enough.
    """
    known = chain.temperature is None and len(chain.trans) == 1 and len(chain.unary) > 0
    found = pairs_single(chain[0]) if known and not are_loaded(len(chain.unary)) else None
    return inference.label_and_pair_marginals(chain) if found is None else found
