"""How sure a chain is of a sequence, from one forward-backward pass: cheaper than its best labelling.

    sureness = Π_t max_l p(y_t = l)              the chance that the likeliest label is right at every token,
                                                 if tokens were independent

Used to decide whether a second opinion is worth its price (`estimators.experts`). Cost: O(T L + T E) for E transitions
with a weight of their own, eight sequences at a time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.inference import posterior
from espalier.kernels.layout import aligned, padded
from espalier.lanes import LARGEST, Lanes, Transitions
from espalier.potentials import ChainBatch

__all__ = ["sureness"]

Float = NDArray[np.float64]


def sureness(batch: ChainBatch) -> Float:
    """Return how sure a model is of each sequence, float64[N] within 0..1; 1 for one without tokens.

    A sequence that every labelling of is forbidden has 0.
    """
    found = np.ones(len(batch))
    present = np.diff(batch.indptr) > 0
    if present.any():
        with np.errstate(divide="ignore"):
            logs = np.log(np.minimum(_largest_shares(batch), 1.0))
        found[present] = np.exp(np.add.reduceat(logs, batch.indptr[:-1][present]))
    return found


def _largest_shares(batch: ChainBatch) -> Float:
    """Return the probability of the likeliest label of each token, float64[M]."""
    finite = np.concatenate([x[np.isfinite(x)] for x in (batch.trans[0], batch.start, batch.end)])
    if len(batch.trans) > 1 or np.abs(finite).max(initial=0.0) >= LARGEST:
        return np.asarray(posterior(batch, threads=1, allow_infeasible=True).marginals.max(axis=1))
    from espalier.kernels.lanes import forward_backward_lanes

    lanes, L = Lanes.of(batch.indptr), batch.n_labels
    rows = aligned(lanes.n_rows, padded(L))
    rows[lanes.row_of_token, :L] = batch.unary
    shares = aligned(lanes.n_rows, padded(L), dtype=np.float32)
    transitions, lane_z = Transitions.of(batch.trans[0]), np.zeros(len(lanes.lengths))
    forward_backward_lanes(
        0, lanes.n_groups, lanes.group_ptr, lanes.lengths, np.ones(len(lanes.lengths)), np.exp(batch.start),
        np.exp(batch.end), *transitions.arguments(), rows, shares, np.zeros(len(transitions.source)), lane_z,
    )  # fmt: skip
    largest = np.asarray(shares[:, :L].max(axis=1)[lanes.row_of_token], np.float64)
    used = lanes.sequence >= 0
    for i in lanes.sequence[used][np.isnan(lane_z[used])].tolist():  # scores too far apart for scaled probabilities
        own = slice(batch.indptr[i], batch.indptr[i + 1])
        largest[own] = posterior(batch[i], allow_infeasible=True).marginals.max(axis=1)
    return largest
