"""Without kernels: Viterbi and Soft-DD under rules that count, and the probabilities of labels, in NumPy.

For a process that has seen little text: it has its answers before Numba is loaded (`kernels.worth_loading`). The same
recurrences as in `kernels.charged` and `kernels.lanes`, which say what they are, one sequence after the other. What is
still open afterwards is left to the compiled search, and scores too far apart for scaled probabilities to the kernels
in log space. Cost of a pass: T matrices of L² values.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.certify import GAP, BatchDecoding
from espalier.decoders.counts import Conditions
from espalier.kernels import LARGEST, Steady, largest

if TYPE_CHECKING:
    from espalier.decoders.batch import CountDecoder
    from espalier.potentials import Potentials

__all__ = ["decode_single", "pairs_single", "posterior_single"]

LARGEST_STEP, SHRINK = 6.0, 0.7  # see `kernels.charged`
LARGEST_SPREAD = 250.0  # between scores, so that products of their exponentials stay within the range of doubles

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Int16 = NDArray[np.int16]

Exponentials = tuple[Float, Float, Float] | None


def decode_single(
    decoder: CountDecoder, indptr: Int, unary: Float, kinds: NDArray[np.int32], conditions: Conditions, max_rounds: int
) -> BatchDecoding | None:
    """Return the best labellings with their bounds; None if one of them is not found this way.

    For the arguments see `CountDecoder.decode`; no sequence is empty.
    """
    N, y = len(indptr) - 1, np.empty(len(unary), np.int16)
    scores, bounds, rounds = np.empty(N), np.empty(N), np.empty(N, np.int64)
    for i, (a, b) in enumerate(pairwise(indptr.tolist())):
        own = Conditions(np.arange(b - a), conditions.patterns[conditions.pattern[a:b]])
        found = _Single(decoder, unary[a:b], kinds[a:b], own).decode(max_rounds)
        if found is None:
            return None
        scores[i], bounds[i], y[a:b], rounds[i] = found
    return BatchDecoding(y, scores, bounds, rounds, np.zeros(N, np.int64))


def _is_open(score: float, bound: float) -> bool:
    """Is the bound still above the score, by more than rounding?  (`counts.is_open` for one sequence.)"""
    return bound > score + GAP * max(1.0, abs(score) if score > -np.inf else 0.0)


def posterior_single(
    unary: Float, trans: Float, start: Float, end: Float, y: NDArray[np.integer]
) -> tuple[NDArray[np.float32], float] | None:
    """Return p(y_t) of every label of one sequence, in single precision as the lanes give it, and log Z.

    unary : float64[T, L]; trans : float64[L, L]; y : int[T], where -1 stands for the likeliest label. None if scaled
    probabilities cannot hold the scores.
    """
    low, peak = float(unary.min()), unary.max(axis=1)
    if low == -np.inf:
        if np.isneginf(peak).any():
            return None
        low = float(unary.min(where=unary > -np.inf, initial=np.inf))
    if not float(peak.max()) - low < LARGEST_SPREAD:
        return None
    exponentials = _exponentials(trans, start, end)
    if exponentials is None:
        return None
    steps, first, last = exponentials
    return _posterior(np.exp(unary - peak[:, None]), peak, steps, first, last, y)


@Steady
def _exponentials(trans: Float, start: Float, end: Float) -> Exponentials:
    """Return e to the transitions, start and end; None if that is too large for the kernels."""
    small = all(largest(scores) < LARGEST for scores in (trans, start, end))
    return (np.exp(trans), np.exp(start), np.exp(end)) if small else None


def pairs_single(chain: Potentials) -> tuple[Float, Float] | None:
    """Return p(y_t = j) and p(y_t-1 = i, y_t = j) of one chain; None if scaled probabilities cannot hold the scores."""
    peak = chain.unary.max(axis=1)
    spread = float(peak.max()) - float(chain.unary.min())
    exponentials = _exponentials(chain.trans, chain.start, chain.end)
    if exponentials is None or not spread < LARGEST_SPREAD:
        return None
    x, steps = np.exp(chain.unary - peak[:, None]), exponentials[0]
    found = _scaled(x, peak, *exponentials)
    if found is None:
        return None
    alpha, beta, _ = found
    pairs = np.zeros((*x.shape, x.shape[1]))
    pairs[1:] = alpha[:-1, :, None] * steps * (x * beta)[1:, None, :]
    return alpha * beta, pairs


def _posterior(
    x: Float, peak: Float, steps: Float, first: Float, last: Float, y: NDArray[np.integer]
) -> tuple[NDArray[np.float32], float] | None:
    """Return the same; x : e to the scores minus peak, the largest of each token; steps ... : e to the transitions."""
    found = _scaled(x, peak, steps, first, last)
    if found is None:
        return None
    shares = found[0] * found[1]
    return np.where(y < 0, shares.max(axis=1), shares[np.arange(len(y)), y]).astype(np.float32), found[2]


def _scaled(x: Float, peak: Float, steps: Float, first: Float, last: Float) -> tuple[Float, Float, float] | None:
    """Return α and β, whose products are probabilities, and log Z; None if nothing is possible. Scales divide x."""
    alpha, beta, scale = np.empty_like(x), np.empty_like(x), np.empty(len(x))
    before, total = first, np.add.reduce
    for t, (here, row) in enumerate(zip(alpha, x, strict=True)):
        if t:
            np.dot(before, steps, out=here)
            here *= row
        else:
            np.multiply(first, row, out=here)
        scale[t] = sum_ = total(here)
        if not sum_ > 0.0:  # nothing is possible
            return None
        here /= sum_
        before = here
    z = float(total(alpha[-1] * last))
    if not z > 0.0:
        return None
    beta[-1] = last / z
    x /= scale[:, None]
    after = beta[-1] * x[-1]
    for here, row in zip(beta[-2::-1], x[-2::-1], strict=True):
        np.dot(steps, after, out=here)
        after = here * row
    return alpha, beta, float(peak.sum() + np.log(scale).sum()) + math.log(z)


class _Single:
    """A sequence, charged; rows : float64[T, L], scores minus charges; change : float64[T], of a change of label."""

    def __init__(self, decoder: CountDecoder, unary: Float, kinds: NDArray[np.int32], conditions: Conditions) -> None:
        form, (T, L) = decoder.form, unary.shape
        self.decoder, self.form, self.kinds, self.conditions = decoder, form, kinds, conditions
        self.rows: Float = np.array(unary, np.float64, order="C")
        self.change: Float = np.zeros(T)
        if conditions.patterns.any():
            charges, prices = form.pattern_charges(conditions.patterns, L)
            self.rows, self.change = unary - charges[conditions.pattern], prices[conditions.pattern]
        self.varies = len(decoder.steps) > 1 or bool(self.change.any())
        self.price: Float = form.row_prices(np.array([0, len(unary)]), conditions)[0]

    def decode(self, max_rounds: int) -> tuple[float, float, Int16, int] | None:
        """Return score, bound, labels and passes; None if the search has to go on."""
        bound, y = self.viterbi(self.rows, None)
        values = self.counted(y)
        primal = bound - self.overcharge(values)
        rounds, broken = 1, self.broken(y)
        if _is_open(primal - broken, bound):
            if broken:
                return None
            bound, primal, y, rounds = self.soft_dual(bound, primal, y, values, max_rounds)
            broken = self.broken(y)
            if _is_open(primal - broken, bound):
                return None
        return primal - broken, bound, np.full(len(y), -1, np.int16) if bound == -np.inf else y, rounds

    def viterbi(self, rows: Float, omega: Float | None) -> tuple[float, Int16]:
        """Return the best score and labels, where a run of label j costs omega[j]; ties go to the lowest label."""
        decoder, L = self.decoder, rows.shape[1]
        steps, first, diagonal = decoder.steps, decoder.start, np.arange(L)
        if omega is not None:
            steps, first = decoder.steps - omega, decoder.start - omega
            steps[:, diagonal, diagonal] = decoder.steps[:, diagonal, diagonal]
        same = np.eye(L, dtype=bool)
        matrix, largest = steps[0], np.maximum.reduce
        delta, sums, matrices = np.empty_like(rows), np.empty_like(matrix), []
        before = np.add(rows[0], first, out=delta[0])
        for t, (here, row) in enumerate(zip(delta[1:], rows[1:], strict=True), start=1):
            if self.varies:
                matrix = steps[self.kinds[t]]
                matrix = np.where(same, matrix, matrix - self.change[t])
                matrices.append(matrix)
            np.add(matrix, before[:, None], out=sums)
            before = largest(sums, axis=0, out=here)
            here += row
        last = before + decoder.end
        j = int(last.argmax())
        score, labels, into = float(last[j]), [j], matrix.T.copy()
        for here in delta[-2::-1]:
            if self.varies:
                into = matrices.pop().T
            j = int((here + into[j]).argmax())
            labels.append(j)
        return score, np.array(labels[::-1], np.int16)

    def counted(self, y: Int16) -> Float:
        """Return a_r · n(y) of every row, float64[R]."""
        L = self.rows.shape[1]
        runs = np.bincount(y[1:][y[1:] != y[:-1]], minlength=L)
        runs[y[0]] += 1
        opened, token = self.decoder.counting
        return np.asarray(opened @ runs + token @ np.bincount(y, minlength=L), np.float64)

    def overcharge(self, values: Float) -> float:
        """Return what the counting rules charge; a hard rule that is kept costs nothing."""
        over = np.flatnonzero(values > self.form.bound)
        return float((self.price[over] * (values[over] - self.form.bound[over])).sum()) if len(over) else 0.0

    def broken(self, y: Int16) -> float:
        """Return what the machines charge for a labelling (`kernels.parts`)."""
        decoder = self.decoder
        if not decoder.parts.Q:
            return 0.0
        ptr, n_classes, end_ptr, after, paid, _, closing, class_of, label_of, L = decoder.parts.tables(
            self.conditions, decoder.labels
        )
        total = 0.0
        labels, classes = label_of[y].tolist(), class_of[self.conditions.pattern].T.tolist()
        for q in range(len(ptr)):
            state, i = 0, L
            for c, j in zip(classes[q], labels, strict=True):
                entry = ptr[q] + ((state * n_classes[q] + c) * (L + 1) + i) * L + j
                total += float(paid[entry])
                state, i = int(after[entry]), j
            total += float(closing[end_ptr[q] + state])
        return total

    def soft_dual(
        self, bound: float, primal: float, y: Int16, values: Float, max_rounds: int
    ) -> tuple[float, float, Int16, int]:
        """Lower the bound until it meets the score of a labelling, or for max_rounds; see `kernels.charged.soft_dual`.

        y, values : the labelling without multipliers, and what it counts. Returns bound, score, labelling and passes.
        """
        form, price = self.form, self.price
        opened, token = self.decoder.counting
        multipliers, scale, last = np.zeros(len(price)), 1.0, np.inf
        met, score, rounds = y, bound, 1
        for round_ in range(max_rounds + 1):
            if round_:
                score, met = self.viterbi(self.rows - multipliers @ token, multipliers @ opened)
                values = self.counted(met)
                rounds += 1
            slope = values - form.bound
            value = score + float(multipliers @ form.bound)
            model = score + float(multipliers @ values)
            if value >= last:
                scale *= SHRINK
            last, bound = value, min(bound, value)
            here = model - self.overcharge(values)
            if here > primal:
                primal, y = here, met
            if not _is_open(primal, bound):
                break
            moves = ((slope > 0) & (multipliers < price)) | ((slope < 0) & (multipliers > 0))
            square = float((slope[moves] ** 2).sum())
            length = scale * min(value - primal, LARGEST_STEP) / max(square, 1e-300)
            multipliers = np.minimum(np.maximum(multipliers + length * slope, 0.0), price)
        return bound, primal, y, rounds
