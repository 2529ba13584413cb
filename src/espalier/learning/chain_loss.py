"""What labels say about the scores of a batch: the loss of token after token, and that of whole sequences.

    tokens      Σ_t -log softmax(u_t)[y_t]                        no transitions, no compiled code
    chains      Σ_n log Z(x_n) - log Z(x_n, known labels)         the likelihood of a CRF, by its own kernels

Both return the derivative by every score, which is what a net passes backward; `chain_loss` also those by the
transitions. Soft labels are probabilities of labels at each token. As a chain they are the distribution
q(y) ∝ Π_t q_t(y_t) over the labellings that the transitions allow, and the loss is the cross-entropy to it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InfeasibleError, Place
from espalier.potentials import ChainBatch

__all__ = ["Chain", "ChainSlopes", "Expected", "SoftLabels", "Targets", "chain_loss", "expectations", "token_loss"]

Float = NDArray[np.float64]
Floats = NDArray[Any]

MOST = 6
"""Labels of a token that soft labels keep."""

LEAST = 1e-6
"""The probability of a label that soft labels leave out."""


@dataclass(frozen=True, slots=True, eq=False)
class SoftLabels:
    """The few most probable labels of each token: labels : int16[M, K]; values : floats [M, K], 0 where unused."""

    labels: NDArray[np.int16]
    values: Floats

    @classmethod
    def of(cls, rows: Floats, most: int = MOST) -> SoftLabels:
        """Keep the largest of probabilities, float[M, L], made to sum to 1 again; a row of zeros stays one."""
        K = min(most, rows.shape[1])
        labels = (
            np.argpartition(-rows, K - 1, axis=1)[:, :K] if rows.shape[1] > K else np.tile(np.arange(K), (len(rows), 1))
        )
        labels = np.sort(labels, axis=1)
        values = np.take_along_axis(rows, labels, 1)
        sums = values.sum(axis=1, keepdims=True)
        values = np.divide(values, sums, out=np.zeros_like(values), where=sums > 0)
        return cls(labels.astype(np.int16), values.astype(np.float16))

    @classmethod
    def none(cls, n_tokens: int, n_labels: int) -> SoftLabels:
        """Return those of tokens that nobody gave any."""
        K = min(MOST, n_labels)
        return cls(np.tile(np.arange(K, dtype=np.int16), (n_tokens, 1)), np.zeros((n_tokens, K), np.float16))

    def rows(self, n_labels: int) -> Float:
        """Return the probabilities of all labels, float64[M, L]."""
        found = np.zeros((len(self.labels), n_labels))
        np.put_along_axis(found, self.labels.astype(np.int64), self.values.astype(np.float64), 1)
        return found

    def taken(self, tokens: NDArray[np.int64]) -> SoftLabels:
        """Return those of some tokens."""
        return SoftLabels(self.labels[tokens], self.values[tokens])


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """What the tokens of a batch should be.

    lengths : int64[N], of the sequences; y : int16[R], -1 unknown; weight : float64[N], of the labels of a sequence;
    soft, soft_weight : probabilities, or None, and float64[N], their weight; soft_transitions : float[N, L, L], the
    transitions that are expected with them, or None.
    """

    lengths: NDArray[np.int64]
    y: NDArray[np.int16]
    weight: Float
    soft: SoftLabels | None = None
    soft_weight: Float | None = None
    soft_transitions: Floats | None = None


def token_loss(scores: Floats, targets: Targets) -> tuple[float, Floats]:
    """Return the weighted cross-entropy of tokens, and its derivative by every score; unknown labels add nothing."""
    tokens = np.arange(len(scores))
    shifted = scores - scores.max(axis=1, keepdims=True)
    slope = np.exp(shifted)
    sums = slope.sum(axis=1)
    known = targets.y >= 0
    weight = np.where(known, np.repeat(targets.weight, targets.lengths), 0.0).astype(scores.dtype)
    y = np.maximum(targets.y, 0).astype(np.int64)
    total = weight
    value = -float((weight * shifted[tokens, y]).sum())
    soft = None
    if targets.soft is not None and targets.soft_weight is not None:
        each = np.repeat(targets.soft_weight, targets.lengths)
        soft = (targets.soft.values.astype(np.float64) * each[:, None]).astype(scores.dtype)
        labels = targets.soft.labels.astype(np.int64)
        total = weight + soft.sum(axis=1)
        value -= float((soft * np.take_along_axis(shifted, labels, 1)).sum())
    value += float((total * np.log(sums)).sum())
    slope *= (total / sums)[:, None]
    slope[tokens, y] -= weight
    if soft is not None:
        for k in range(soft.shape[1]):  # the labels of a token differ, so no place is met twice
            slope[tokens, labels[:, k]] -= soft[:, k]
    return value, slope


class Chain(NamedTuple):
    """The scores between labels: trans : float64[L, L]; start, end : float64[L]; -inf forbids."""

    trans: Float
    start: Float
    end: Float


class Expected(NamedTuple):
    """Log partition, float64[N]; marginals, float64[M, L], and transitions, float64[L, L], weighted by sequence."""

    log_z: Float
    marginals: Float
    transitions: Float


class ChainSlopes(NamedTuple):
    """The derivatives of the loss by every score, and by trans, start and end."""

    scores: Floats
    trans: Float
    start: Float
    end: Float


def chain_loss(scores: Floats, targets: Targets, chain: Chain) -> tuple[float, ChainSlopes]:
    """Return the weighted negative log-likelihood of sequences, and its derivatives."""
    lengths = targets.lengths
    indptr = np.append(0, np.cumsum(lengths))
    soft_weight = np.zeros(len(lengths)) if targets.soft_weight is None else targets.soft_weight
    unary = scores.astype(np.float64)
    own = expectations(indptr, unary, targets.weight + soft_weight, chain)
    value = float(((targets.weight + soft_weight) * own.log_z).sum())
    marginals, trans = own.marginals, own.transitions
    known = _clamped(indptr, unary, targets, chain)
    value -= float((targets.weight * known.log_z).sum())
    marginals, trans = marginals - known.marginals, trans - known.transitions
    if targets.soft is not None and soft_weight.any():
        goal = soft_expectations(indptr, targets, soft_weight, chain)
        value -= _score(indptr, unary, goal, chain)
        marginals, trans = marginals - goal.marginals, trans - goal.transitions
    first, last = _borders(indptr)
    slopes = ChainSlopes(marginals.astype(scores.dtype), trans, marginals[first].sum(0), marginals[last].sum(0))
    return value, slopes


def _borders(indptr: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last token of each sequence that has any."""
    there = np.diff(indptr) > 0
    return indptr[:-1][there], indptr[1:][there] - 1


def _clamped(indptr: NDArray[np.int64], unary: Float, targets: Targets, chain: Chain) -> Expected:
    """Return the expectations given the known labels; where all of them are known these are counts."""
    each = np.repeat(targets.weight, targets.lengths)
    partial = bool(((targets.y < 0) & (each > 0)).any())
    # Sequences without weight say nothing: any label will do there, or, beside unknown ones, none.
    y = np.where(each > 0, targets.y, -1 if partial else 0).astype(np.int64)
    known = np.flatnonzero(y >= 0)
    if partial:
        clamped = unary.copy()
        clamped[known] = -np.inf
        clamped[known, y[known]] = unary[known, y[known]]
        return expectations(indptr, clamped, targets.weight, chain)
    marginals, trans = np.zeros_like(unary), np.zeros_like(chain.trans)
    marginals[known, y] = each
    inside = np.ones(len(y), bool)
    first, last = _borders(indptr)
    inside[first] = False
    after = np.flatnonzero(inside)
    np.add.at(trans, (y[after - 1], y[after]), each[after])
    terms = unary[known, y]
    terms[after] += chain.trans[y[after - 1], y[after]]
    terms[first] += chain.start[y[first]]
    terms[last] += chain.end[y[last]]
    log_z = np.zeros(len(targets.lengths))
    log_z[targets.lengths > 0] = np.add.reduceat(terms, first) if len(first) else []
    log_z[targets.weight == 0] = 0.0
    _check(log_z, clamped=True)
    return Expected(log_z, marginals, trans)


def soft_expectations(indptr: NDArray[np.int64], targets: Targets, weight: Float, chain: Chain) -> Expected:
    """Return the expectations of soft labels.

    Without expected transitions they are those of q(y) ∝ Π_t q_t(y_t), over the labellings that the chain allows.
    """
    assert targets.soft is not None
    rows = targets.soft.rows(len(chain.start))
    if targets.soft_transitions is not None:
        marginals = rows * np.repeat(weight, targets.lengths)[:, None]
        transitions = np.tensordot(weight, targets.soft_transitions.astype(np.float64), 1)
        return Expected(np.zeros(len(weight)), marginals, transitions)
    unary = np.log(np.maximum(rows, LEAST))
    allowed = Chain(*(np.where(np.isfinite(scores), 0.0, -np.inf) for scores in chain))
    # A token without probabilities has a row of equal scores: it is whatever its neighbours allow.
    return expectations(indptr, unary, weight, allowed)


def _score(indptr: NDArray[np.int64], unary: Float, goal: Expected, chain: Chain) -> float:
    """Return the expected score under weighted expectations."""
    first, last = _borders(indptr)
    found = float((goal.marginals * unary).sum())
    for counts, scores in (
        (goal.transitions, chain.trans),
        (goal.marginals[first].sum(0), chain.start),
        (goal.marginals[last].sum(0), chain.end),
    ):
        found += float((counts * np.where(np.isfinite(scores), scores, 0.0)).sum())
    return found


def expectations(indptr: NDArray[np.int64], unary: Float, weight: Float, chain: Chain) -> Expected:
    """Return log partition, marginals and expected transitions: eight sequences at a time, as a CRF learns."""
    from espalier.kernels import LARGEST, Lanes, Transitions, aligned, padded
    from espalier.kernels.lanes import forward_backward_lanes

    L, lanes = unary.shape[1], Lanes.of(indptr)
    transitions = Transitions.of(chain.trans, np.isfinite(chain.trans))
    rows = aligned(lanes.n_rows, padded(L))
    rows[lanes.row_of_token, :L] = unary
    found = aligned(lanes.n_rows, padded(L), dtype=np.float32)
    weights = np.where(lanes.sequence >= 0, weight[lanes.sequence], 0.0) if len(weight) else np.zeros(0)
    expected, log_z = np.zeros(len(transitions.source)), np.full(len(lanes.lengths), np.nan)
    finite = [scores[np.isfinite(scores)] for scores in chain]
    if all(np.abs(scores).max(initial=0.0) < LARGEST for scores in finite):
        forward_backward_lanes(
            0, lanes.n_groups, lanes.group_ptr, lanes.lengths, weights,
            transitions.steps(np.exp(chain.start), np.exp(chain.end)), rows, found, expected, log_z,
        )  # fmt: skip
    marginals = found[lanes.row_of_token, :L].astype(np.float64)
    counts = np.zeros_like(chain.trans)
    counts[transitions.source, transitions.target] = expected * transitions.exponentials()
    by_sequence = np.zeros(len(indptr) - 1)
    held = lanes.sequence >= 0
    by_sequence[lanes.sequence[held]] = log_z[held]
    for i in np.flatnonzero(np.isnan(by_sequence)).tolist():
        _plain(i, indptr, unary, weight, chain, by_sequence, marginals, counts)
    return Expected(by_sequence, marginals, counts)


def _plain(
    i: int, indptr: NDArray[np.int64], unary: Float, weight: Float, chain: Chain,
    log_z: Float, marginals: Float, counts: Float,
) -> None:  # fmt: skip
    """Redo one sequence in log space: its scores lie too far apart for scaled probabilities."""
    from espalier.inference import posterior

    a, b = int(indptr[i]), int(indptr[i + 1])
    one = ChainBatch(
        np.array([0, b - a]), unary[a:b], chain.trans[None], np.zeros(b - a, np.int32), chain.start, chain.end
    )
    found = posterior(one, threads=1, allow_infeasible=True)
    log_z[i] = found.log_z[0]
    _check(log_z, clamped=False)
    marginals[a:b] = weight[i] * found.marginals
    counts += weight[i] * found.transitions[0]


def _check(log_z: Float, *, clamped: bool) -> None:
    bad = np.flatnonzero(np.isneginf(log_z))
    if len(bad):
        what = "its labels break" if clamped else "no labelling keeps"
        raise InfeasibleError(Place(int(bad[0])), f": {what} the allowed transitions")
