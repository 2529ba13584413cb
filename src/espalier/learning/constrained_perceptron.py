"""The averaged perceptron that trains under rules (algorithm 3 of Chang, Ratinov & Roth, 2012).

    ŷ = argmax_y  w·f(x_i, y) - Σ_k ρ_k d_k(x_i, y)
    w   += ω_i (f(x_i, y*) - f(x_i, ŷ))
    ρ_k += ω_i (d_k(x_i, ŷ) - d_k(x_i, y*)),  0 if negative             for the rules that are learned

IBT learns w alone under given penalties; JIBT learns both, from ρ = 0: a rule that the guess breaks and the labels keep
gets dearer. (Line 6 of the algorithm as printed has the opposite sign, which would reward violations.) y*, the order of
the sequences, the mean over all steps and the early end are those of `learning.perceptron`; the penalties are averaged
with the weights.

Penalties are never negative, so an unconstrained answer that breaks no rule with a price is the constrained one. Only
the others are decoded under the rules, and without a search: what dual decomposition leaves unproven (a few in a
hundred) is taken as it is, and where the rules leave no labelling at all, the unconstrained answer. Cost of a step:
that of the perceptron, O(T K) for the degrees, and a constrained decoding for some.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.batch import decode_batch
from espalier.errors import InfeasibleError, Place
from espalier.features.matrix import FeatureMatrix
from espalier.kernels import Averaged, Levels
from espalier.kernels.chain import best_path
from espalier.kernels.perceptron import move, score_sequence
from espalier.learning.perceptron import Training, mean_of_steps, without_zeros
from espalier.models.linear import ChainModel, Pairs
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, degrees_of

__all__ = ["ConstrainedTraining", "train_constrained"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Ids = NDArray[np.int16]

REMEMBERED = 4
"""Labellings of a sequence whose degrees are kept: its own, and what the last epochs answered."""


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedTraining(Training):
    """The result: a model, mistakes of each epoch, and the penalties, float64[K]."""

    penalties: Float


def train_constrained(
    matrix: FeatureMatrix,
    corpus: Corpus,
    pairs: Pairs,
    start_allowed: NDArray[np.bool_],
    allowed: NDArray[np.bool_],
    compiled: Compiled,
    penalties: Float,
    learned: NDArray[np.bool_],
    rng: np.random.Generator,
    *,
    epochs: int = 10,
    averaged: bool = True,
    shuffle: bool = True,
    boundaries: bool = False,
    sample_weight: Float | None = None,
) -> ConstrainedTraining:
    """Train on a labelled corpus under compiled rules; -1 is an unknown label.

    penalties : float64[K], what the rules cost at the beginning; learned : bool[K], which of them are learned. The
    other arguments are those of `train_perceptron`.
    """
    N = len(corpus)
    omega = np.ones(N) if sample_weight is None else np.asarray(sample_weight, np.float64)
    loop = _Loop(matrix, corpus, pairs, compiled, boundaries, _initial(pairs, start_allowed, allowed), penalties.copy())
    moment = np.zeros(compiled.K)
    order, step, mistakes = np.arange(N), 0, []
    for _ in range(epochs):
        order = rng.permutation(N) if shuffle else order
        wrong = 0
        for i in order.tolist():
            step += 1
            if not loop.teaches[i] or omega[i] == 0.0:
                continue
            gold, guess = loop.answers(i)
            if np.array_equal(gold, guess):
                continue
            wrong += 1
            loop.move(i, gold, guess, omega[i], step)
            if learned.any():
                excess = (loop.degrees(i, guess) - loop.degrees(i, gold))[learned]
                new = np.maximum(loop.rho[learned] + omega[i] * excess, 0.0)
                moment[learned] += step * (new - loop.rho[learned])  # what was added in fact, after clipping
                loop.rho[learned] = new
        mistakes.append(wrong)
        if wrong == 0:  # nor will any later epoch change anything; the mean counts them all the same
            break
    steps = epochs * N if averaged else 0
    rho = loop.rho.copy()
    rho[learned] = np.maximum(mean_of_steps(rho[learned], moment[learned], steps), 0.0)
    return ConstrainedTraining(_finished(pairs, loop.weights, steps), tuple(mistakes), rho)


def _initial(pairs: Pairs, start_allowed: NDArray[np.bool_], allowed: NDArray[np.bool_]) -> Averaged:
    """Return what the kernels update: attribute, transition, start and end weights, each before its sum Σ c δ."""
    weights = [
        np.zeros(len(pairs)),
        np.where(allowed, 0.0, -np.inf),
        np.where(start_allowed, 0.0, -np.inf),
        np.zeros(pairs.n_labels),
    ]
    return Averaged(*(array for part in weights for array in (part, np.zeros_like(part))))


def _finished(pairs: Pairs, both: Averaged, steps: int) -> ChainModel:
    """Return the model of the mean weights over so many steps; 0 steps: of the last weights."""
    w, trans, start, end = (mean_of_steps(both[k], both[k + 1], steps) for k in range(0, len(both), 2))
    kept, w = without_zeros(pairs, w)
    return ChainModel(kept, w, trans, start, end)


class _Loop:
    """The training set and the current weights: what one step reads and changes."""

    def __init__(
        self,
        matrix: FeatureMatrix,
        corpus: Corpus,
        pairs: Pairs,
        compiled: Compiled,
        boundaries: bool,
        weights: Averaged,
        rho: Float,
    ) -> None:
        assert corpus.y is not None
        self.compiled, self.boundaries, self.weights, self.rho = compiled, boundaries, weights, rho
        self.borders = corpus.indptr.tolist()
        self.y = [corpus.y[a:b] for a, b in zip(self.borders[:-1], self.borders[1:], strict=True)]
        self.teaches = [bool((y >= 0).any()) for y in self.y]
        # With an empty sequence behind each: a single one is decoded by other means, and ties, of which a perceptron
        # has many, might fall otherwise there.
        single = [corpus[i] for i in range(len(corpus))]
        self.sequences = [replace(one, indptr=np.append(one.indptr, one.indptr[-1]), documents=None) for one in single]
        self.grounded = compiled.ground_corpus(corpus)
        self.seen: list[dict[bytes, Int]] = [{} for _ in self.grounded]
        self.features: tuple[Levels, Int, Ids] = (matrix.levels, pairs.ptr, pairs.label)
        longest = max(int(corpus.lengths.max(initial=1)), 1)
        self.alpha = np.empty((longest, pairs.n_labels))

    def answers(self, i: int) -> tuple[Ids, Ids]:
        """Return y* and ŷ of sequence i."""
        y = self.y[i]
        rows = np.empty((len(y), self.alpha.shape[1]))
        score_sequence(self.borders[i], *self.features, self.weights.w, rows)
        guess = self._best(i, rows, np.full(len(y), -1, np.int16))
        return (y if (y >= 0).all() else self._best(i, rows, y)), guess

    def _best(self, i: int, rows: Float, known: Ids) -> Ids:
        """Return the best labelling under the rules that agrees with the known labels."""
        w, path, fixed = self.weights, np.empty(len(rows), np.int16), np.flatnonzero(known >= 0)
        unary = rows.copy()
        unary[fixed] = -np.inf
        unary[fixed, known[fixed]] = rows[fixed, known[fixed]]
        chain = (unary, w.trans[None], np.zeros(len(rows), np.int32), w.start, w.end)
        if best_path(*chain, self.alpha, path) == -np.inf:
            raise InfeasibleError(Place(i), ": no allowed labelling agrees with its known labels")
        if not (self.degrees(i, path)[self.rho > 0]).any():
            return path
        sequence = self.sequences[i]
        batch = ChainBatch(sequence.indptr, *chain)
        bits = self.grounded[i].bits
        found = decode_batch(batch, self.compiled, sequence, self.rho, threads=1, max_nodes=0, bits=bits).labels
        return path if found[0] < 0 else found

    def degrees(self, i: int, y: Ids) -> Int:
        """Return the degrees of a labelling of sequence i, int64[K]; epochs ask for the same few again and again."""
        seen, key = self.seen[i], y.tobytes()
        if key not in seen:
            if len(seen) >= REMEMBERED:
                seen.clear()
            seen[key] = degrees_of(self.grounded[i], y)
        return seen[key]

    def move(self, i: int, gold: Ids, guess: Ids, amount: float, step: int) -> None:
        """Move the weights from the guess to the gold labels."""
        move(self.borders[i], gold, guess, amount, step, *self.features, self.boundaries, self.weights)
