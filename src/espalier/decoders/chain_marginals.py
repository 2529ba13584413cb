"""Marginals of labels and of neighbouring pairs: by kernels, or of one short chain in NumPy, before they are loaded."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.inference import marginals, pair_marginals
from espalier.kernels.layout import better_one_by_one
from espalier.potentials import ChainBatch

__all__ = ["label_and_pair_marginals"]

Float = NDArray[np.float64]


def label_and_pair_marginals(chains: ChainBatch) -> tuple[Float, Float]:
    """Return p(y_t = j), float64[M, L], and p(y_t-1 = i, y_t = j), float64[M, L, L]; the first pair of a chain is 0."""
    usual = len(chains) != 1 or not len(chains.unary) or chains.temperature is not None
    if usual or not better_one_by_one(len(chains.unary)):
        return marginals(chains), pair_marginals(chains)
    unary, classes = np.asarray(chains.unary, np.float64), chains.trans_class
    trans = np.asarray(chains.trans, np.float64)[classes]
    alpha, beta = np.empty_like(unary), np.empty_like(unary)
    alpha[0] = chains.start + unary[0]
    for t in range(1, len(unary)):
        alpha[t] = _log_sum(alpha[t - 1][:, None] + trans[t]) + unary[t]
    beta[-1] = chains.end
    for t in range(len(unary) - 1, 0, -1):
        beta[t - 1] = _log_sum((trans[t] + (unary[t] + beta[t])).T)
    log_z = _log_sum((alpha[-1] + beta[-1])[:, None])
    if not np.isfinite(log_z):  # the usual way says what is wrong
        return marginals(chains), pair_marginals(chains)
    pairs = np.zeros(trans.shape)
    pairs[1:] = np.exp(alpha[:-1, :, None] + trans[1:] + (unary + beta)[1:, None, :] - log_z)
    return np.exp(alpha + beta - log_z), pairs


def _log_sum(scores: Float) -> Float:
    """Return the log of the sum of the exponentials over the first axis; columns may be -inf as a whole."""
    peak = scores.max(axis=0)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(scores - peak).sum(axis=0)) + peak)
