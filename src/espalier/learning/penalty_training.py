"""Penalties learned on held-out sequences with the base model frozen (Anzaroot et al., 2014, section 3.1).

The degrees of the rules are features, their penalties the weights, ρ >= 0; a rule that ends with 0 is off.

    perceptron   ŷ_i = argmax_y s(x_i, y) - ρ·d(x_i, y);  ρ = max(0, ρ + η Σ_i (d(x_i, ŷ_i) - d(x_i, y_i)));  the mean,
                 or the last
    svm          min_{ρ >= 0}  ½ |ρ|² + C Σ_i max_y { Δ(y_i, y) + S(x_i, y) } - S(x_i, y_i),  S = s - ρ·d

with the Hamming cost Δ. The SVM is solved by cutting planes (Joachims, Finley & Yu, 2009, one slack): each pass over
the data gives a plane below the loss, and the optimum over all planes so far a lower bound; where they meet, it ends.

Departures: the perceptron takes a step after every `batch` sequences, in their order, not after every one, because
decoding is much faster for many sequences at once. Rules with a penalty of their own keep it and are decoded with.
Unknown labels are filled in first, with the base's best labelling that agrees with the known ones. Sequences without
any label, or whose labels the base or a hard rule forbids, teach nothing. Answers come from dual decomposition without
a search behind it; the few that it leaves unproven are taken as they are (a plane of the SVM stays below the loss).

Cost: epochs (or planes) times one constrained decoding of all sequences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import degree_matrix, sums
from espalier.errors import InputError
from espalier.inference import viterbi
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled

__all__ = ["HeldOut", "Plane", "minimise_planes", "train_perceptron_penalties", "train_svm_penalties"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

GAP, MOST_STEPS = 1e-6, 20_000
"""When the price of planes is found: its relative gap, and the most steps towards it."""


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Sequences that the base has not seen: its potentials, the gold labels, their degrees and scores.

    y : int16[M], without unknown labels; degrees : int64[N, K]; scores : float64[N], s(x, y).
    """

    batch: ChainBatch
    corpus: Corpus
    y: NDArray[np.int16]
    degrees: Int
    scores: Float

    @classmethod
    def of(cls, batch: ChainBatch, corpus: Corpus, compiled: Compiled) -> HeldOut:
        """Fill in unknown labels, and leave out sequences that teach nothing."""
        if corpus.y is None or corpus.labels != compiled.labels:
            raise InputError("penalties are learned from a corpus with the labels that the rules were compiled for")
        y = corpus.y.astype(np.int64)
        known = np.flatnonzero(y >= 0)
        clamped = batch.unary.copy()
        clamped[known] = -np.inf
        clamped[known, y[known]] = batch.unary[known, y[known]]
        filled = viterbi(batch.with_unary(clamped), allow_infeasible=True)
        labels = np.where(y >= 0, corpus.y, filled.labels).astype(np.int16)
        teaches = (sums(corpus.indptr, (y >= 0)[:, None])[:, 0] > 0) & np.isfinite(filled.scores)
        degrees = degree_matrix(compiled, corpus, np.maximum(labels, 0))
        teaches &= ~degrees[:, np.isinf(compiled.rules.penalties)].any(axis=1)
        whole = cls(batch, corpus, labels, degrees, filled.scores)
        return whole._chosen(np.flatnonzero(teaches))

    def _chosen(self, sequences: Int) -> HeldOut:
        """Return some of the sequences."""
        batch, corpus, y = self.batch.chosen(sequences), self.corpus[sequences], self.y[self.batch.tokens_of(sequences)]
        return HeldOut(batch, corpus, y, self.degrees[sequences], self.scores[sequences])

    def batches(self, size: int) -> Iterator[HeldOut]:
        """Yield the sequences in their order, `size` at a time."""
        for a in range(0, len(self.corpus), size):
            yield self._chosen(np.arange(a, min(a + size, len(self.corpus))))

    def with_hamming_cost(self) -> ChainBatch:
        """Return potentials that pay 1 for every label that differs from the known ones."""
        assert self.corpus.y is not None
        y = self.corpus.y.astype(np.int64)
        known = np.flatnonzero(y >= 0)
        unary = self.batch.unary.copy()
        unary[known] += 1.0
        unary[known, y[known]] -= 1.0
        return self.batch.with_unary(unary)


def train_perceptron_penalties(
    parts: Sequence[HeldOut],
    compiled: Compiled,
    *,
    epochs: int = 5,
    rate: float = 0.2,
    batch: int = 32,
    averaged: bool = True,
    threads: int | None = None,
) -> Float:
    """Return penalties, float64[K], by the perceptron; rate : η, and what one unit of degree moves.

    averaged : the mean of all steps, steadier; the last one has more zeros, and so switches more rules off.
    """
    learned = _learned(compiled)
    rho = np.where(learned, 0.0, compiled.rules.penalties)
    total, steps = np.zeros(compiled.K), 0
    for _ in range(epochs):
        for some in (piece for part in parts for piece in part.batches(batch)):
            found = decode_batch(some.batch, compiled, some.corpus, rho, threads=threads, max_nodes=0).labels
            wrong = degree_matrix(compiled, some.corpus, np.maximum(found, 0)) - some.degrees
            change = rate * wrong[_answered(some, found)].sum(axis=0)
            rho = np.where(learned, np.maximum(rho + change, 0.0), rho)
            total[learned] += rho[learned]
            steps += 1
    return np.where(learned, total / max(steps, 1), rho) if averaged else rho


def _learned(compiled: Compiled) -> NDArray[np.bool_]:
    """Return which rules have no penalty of their own, bool[K]."""
    return np.array([rule.penalty is None for rule in compiled.rules], bool)


def _answered(part: HeldOut, labels: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Return for which sequences there is a labelling, bool[N]; each has a token."""
    return np.asarray(labels[part.corpus.indptr[:-1]] >= 0)


class Plane(NamedTuple):
    """The loss is at least offset - slope·ρ.  slope : float64[K'], for the rules that are learned."""

    slope: Float
    offset: float


def train_svm_penalties(
    parts: Sequence[HeldOut],
    compiled: Compiled,
    *,
    C: float = 1.0,
    max_planes: int = 100,
    tolerance: float = 1e-3,
    threads: int | None = None,
) -> Float:
    """Return penalties, float64[K], by the structured SVM; the objective is within `tolerance` of its minimum.

    After `max_planes` passes the best penalties so far are returned, wherever the bound is then.
    """
    learned = _learned(compiled)
    rho = np.where(learned, 0.0, compiled.rules.penalties)
    best, least = rho, np.inf
    planes: list[Plane] = []
    for _ in range(max_planes):
        plane = _plane(parts, compiled, rho, learned, threads)
        loss = plane.offset - float(plane.slope @ rho[learned])
        value = 0.5 * float(rho[learned] @ rho[learned]) + C * loss
        if value < least:
            best, least = rho, value
        planes.append(plane)
        chosen, bound = minimise_planes(planes, C)
        if least - bound <= tolerance * max(1.0, least):
            break
        rho = rho.copy()
        rho[learned] = chosen
    return best


def _plane(
    parts: Sequence[HeldOut], compiled: Compiled, rho: Float, learned: NDArray[np.bool_], threads: int | None
) -> Plane:
    """Return the plane that touches the loss at ρ: from the answers of loss-augmented decoding."""
    slope, offset = np.zeros(int(learned.sum())), 0.0
    for part in parts:
        found = decode_batch(part.with_hamming_cost(), compiled, part.corpus, rho, threads=threads, max_nodes=0)
        excess = degree_matrix(compiled, part.corpus, np.maximum(found.labels, 0)) - part.degrees
        # At ρ itself: Δ + s(ŷ) - ρ·d(ŷ) is the score of the decoder. An unproven answer may fall short of the gold one.
        priced = np.where(np.isinf(rho), 0.0, rho)
        violation = found.scores - (part.scores - part.degrees @ priced)
        used = _answered(part, found.labels) & (violation > 0)
        slope += excess[used][:, learned].sum(axis=0)
        offset += float((violation + excess[:, learned] @ rho[learned])[used].sum())
    return Plane(slope, offset)


def minimise_planes(planes: Sequence[Plane], C: float) -> tuple[Float, float]:
    """Minimise ½ |ρ|² + C max(0, max_j offset_j - slope_j·ρ) over ρ >= 0; return ρ and a lower bound on the minimum.

    The dual is max over α >= 0, Σ α <= C of offset·α - ½ |ρ(α)|², with ρ(α) = max(0, Σ α_j slope_j). It is solved by
    accelerated projected gradient steps (Beck & Teboulle, 2009) with restarts, until the relative gap is met.
    """
    A, b = np.array([plane.slope for plane in planes]), np.array([plane.offset for plane in planes])
    step = 1.0 / max(float(np.linalg.norm(A, 2)) ** 2, 1e-12)
    alpha = ahead = np.zeros(len(b))
    momentum, best, bound = 1.0, np.zeros(A.shape[1]), -np.inf
    least = np.inf
    for _ in range(MOST_STEPS):
        rho = np.maximum(alpha @ A, 0.0)
        half = 0.5 * float(rho @ rho)
        value, dual = half + C * max(0.0, float((b - A @ rho).max())), float(b @ alpha) - half
        if value < least:
            best, least = rho, value
        bound = max(bound, dual)
        if least - bound <= GAP * max(1.0, abs(least)):
            break
        slope = b - A @ np.maximum(ahead @ A, 0.0)
        new = _onto_simplex(ahead + step * slope, C)
        if slope @ (new - alpha) < 0:  # the momentum leads astray: begin it anew
            momentum = 1.0
        after = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        alpha, ahead = new, new + (momentum - 1.0) / after * (new - alpha)
        momentum = after
    return best, bound


def _onto_simplex(alpha: Float, C: float) -> Float:
    """Return the nearest point with α >= 0 and Σ α <= C."""
    clipped = np.maximum(alpha, 0.0)
    if clipped.sum() <= C:
        return clipped
    ordered = np.sort(alpha)[::-1]
    over = (np.cumsum(ordered) - C) / np.arange(1, len(alpha) + 1)
    return np.asarray(np.maximum(alpha - over[np.flatnonzero(ordered > over)[-1]], 0.0))
