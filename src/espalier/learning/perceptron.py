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

from espalier.errors import InfeasibleError
from espalier.features.matrix import FeatureMatrix
from espalier.kernels.perceptron import perceptron_epoch
from espalier.models.chain import ChainModel
from espalier.models.pairs import Pairs

__all__ = ["Training", "all_pairs", "train_perceptron"]

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
) -> Training:
    """Train on M tokens with label ids y (-1 unknown).

    pairs : the (attribute, label) pairs that may have a weight; start_allowed, allowed : bool[L] and bool[L, L], what
    else is forbidden, -inf; every allowed transition is learned, first and last labels with `boundaries`.
    """
    N, L = len(indptr) - 1, pairs.n_labels
    omega = np.ones(N) if sample_weight is None else np.asarray(sample_weight, np.float64)
    weights = [
        np.zeros(len(pairs)),
        np.where(allowed, 0.0, -np.inf),
        np.where(start_allowed, 0.0, -np.inf),
        np.zeros(L),
    ]
    sums = [np.zeros_like(part) for part in weights]
    both = [array for pair in zip(weights, sums, strict=True) for array in pair]
    order = np.arange(N)
    mistakes: list[int] = []
    for epoch in range(epochs):
        order = rng.permutation(N) if shuffle else order
        wrong, failed = perceptron_epoch(
            order, epoch * N, indptr, y, omega, matrix.token_indptr, matrix.token_refs, matrix.token_values,
            matrix.bundle_indptr, matrix.bundle_ids, matrix.bundle_values, pairs.ptr, pairs.label, boundaries, *both,
        )  # fmt: skip
        if failed >= 0:
            raise InfeasibleError(f"sequence {failed}: no allowed labelling agrees with its known labels")
        mistakes.append(int(wrong))
        if wrong == 0:  # nor will any later epoch change anything; the mean below counts them all the same
            break
    steps = epochs * N
    if averaged:
        weights = [((steps + 1) * w - u) / steps for w, u in zip(weights, sums, strict=True)]
    w, trans, start, end = weights
    kept, w = _without_zeros(pairs, w)
    return Training(ChainModel(kept, w, trans, start, end), tuple(mistakes))


def _without_zeros(pairs: Pairs, w: Float) -> tuple[Pairs, Float]:
    """Leave out the pairs of weight zero: most of them, and they score nothing."""
    kept = np.flatnonzero(w)
    ptr = np.searchsorted(kept, pairs.ptr).astype(np.int64)
    return Pairs.of(pairs.n_labels, ptr, pairs.label[kept]), w[kept]
