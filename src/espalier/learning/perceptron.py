"""The averaged structured perceptron (Collins 2002).

    ŷ = argmax_y w·f(x_i, y);   w += ω_i (f(x_i, y*) - f(x_i, ŷ))           for every sequence, every epoch
    result: the mean of w after each of the n = epochs · N steps, or the last w

y* are the labels, or, where some are unknown, the best labelling that agrees with the known ones. Sequences without any
known label teach nothing. The kernel is in `espalier.kernels.perceptron`; here are the epochs, the order, the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InfeasibleError, InputError, Place
from espalier.features.matrix import FeatureMatrix
from espalier.kernels import Averaged
from espalier.kernels.perceptron import perceptron_epoch
from espalier.models.linear import ChainModel, Pairs

__all__ = ["Training", "all_pairs", "mean_of_steps", "train_perceptron", "without_zeros"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The result: a model, and how many sequences were wrong in each epoch."""

    model: ChainModel
    mistakes: tuple[int, ...]


def all_pairs(n_attributes: int, n_labels: int) -> Pairs:
    """Return a weight for every attribute with every label."""
    ptr = np.arange(n_attributes + 1, dtype=np.int64) * n_labels
    return Pairs.of(n_labels, ptr, np.tile(np.arange(n_labels, dtype=np.int16), n_attributes))


def train_perceptron(
    matrix: FeatureMatrix,
    indptr: NDArray[np.int64],
    y: NDArray[np.int16],
    pairs: Pairs,
    start_allowed: NDArray[np.bool_],
    allowed: NDArray[np.bool_],
    rng: np.random.Generator,
    *,
    epochs: int = 10,
    averaged: bool = True,
    shuffle: bool = True,
    boundaries: bool = False,
    sample_weight: Float | None = None,
    initial: ChainModel | None = None,
) -> Training:
    """Train on M tokens with label ids y (-1 unknown), from zero or from the weights of an initial model.

    pairs : the (attribute, label) pairs that may have a weight; start_allowed, allowed : bool[L] and bool[L, L], what
    else is forbidden, -inf; every allowed transition is learned, first and last labels with `boundaries`.
    initial : its pairs are among `pairs`; what it forbids and the others allow begins at zero.
    """
    N, L = len(indptr) - 1, pairs.n_labels
    omega = np.ones(N) if sample_weight is None else np.asarray(sample_weight, np.float64)
    begun = [np.zeros(len(pairs)), np.zeros((L, L)), np.zeros(L), np.zeros(L)]
    if initial is not None:
        begun = [_spread(initial, pairs), *map(_finite, (initial.trans, initial.start, initial.end))]
    weights = [
        begun[0].copy(),
        np.where(allowed, begun[1], -np.inf),
        np.where(start_allowed, begun[2], -np.inf),
        begun[3].copy(),
    ]
    # Σ step · change: what training begins with counts as a change of the first step, so the mean has all of it.
    sums = begun
    learned = Averaged(*(array for pair in zip(weights, sums, strict=True) for array in pair))
    order = np.arange(N)
    mistakes: list[int] = []
    for epoch in range(epochs):
        order = rng.permutation(N) if shuffle else order
        wrong, failed = perceptron_epoch(
            order, epoch * N, indptr, y, omega, matrix.levels, pairs.ptr, pairs.label, boundaries, learned
        )
        if failed >= 0:
            raise InfeasibleError(Place(failed), ": no allowed labelling agrees with its known labels")
        mistakes.append(int(wrong))
        if wrong == 0:  # nor will any later epoch change anything; the mean below counts them all the same
            break
    steps = epochs * N if averaged else 0
    w, trans, start, end = (mean_of_steps(w, u, steps) for w, u in zip(weights, sums, strict=True))
    kept, w = without_zeros(pairs, w)
    return Training(ChainModel(kept, w, trans, start, end), tuple(mistakes))


def mean_of_steps(last: Float, moment: Float, steps: int) -> Float:
    """Return the mean of weights after each of n steps from the last ones and Σ step · change; 0 steps: the last."""
    return ((steps + 1) * last - moment) / steps if steps else last


def _finite(scores: Float) -> Float:
    """Return scores with 0 for -inf."""
    return np.where(np.isfinite(scores), scores, 0.0)


def _spread(model: ChainModel, pairs: Pairs) -> Float:
    """Return the weights of a model by a larger set of pairs, 0 for those it lacks."""
    known, wanted = (p.attributes() * p.n_labels + p.label for p in (model.pairs, pairs))
    place = np.searchsorted(wanted, known)
    if pairs.n_labels != model.pairs.n_labels or not np.isin(known, wanted).all():
        raise InputError("the initial model has weights for other attributes or labels than training has")
    w = np.zeros(len(pairs))
    w[place] = model.w
    return w


def without_zeros(pairs: Pairs, w: Float) -> tuple[Pairs, Float]:
    """Leave out the pairs of weight zero: most of them, and they score nothing."""
    kept = np.flatnonzero(w)
    ptr = np.searchsorted(kept, pairs.ptr).astype(np.int64)
    return Pairs.of(pairs.n_labels, ptr, pairs.label[kept]), w[kept]
