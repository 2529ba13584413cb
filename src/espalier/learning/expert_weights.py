"""How much each expert's word counts: weights that make held-out labels likely.

    s_v(y) = Σ_k v_k s_k(y)                 P(y | x) ∝ exp s_v(y), with the scores s_k of K experts and v_k >= 0

    maximise  Σ_i [ s_v(y_i) - log Z_i(v) ]  -  ½ λ Σ_k (v_k - 1/K)²

The sum is concave in v: its gradient is s_k(y_i) - E_v[s_k], observed minus expected, and its second derivative minus a
covariance. The last term keeps v finite where every held-out label is right by far, and says little else: it weighs as
much as one sequence, and draws to the geometric mean of the experts. One forward-backward pass over the held-out
tokens a step (`inference.posterior`), a few dozen steps of SciPy's L-BFGS-B.

    v = w / T       w_k = v_k / v_1     the weights of the scores; the first is 1, so that what a rule costs keeps its
                                        meaning when an expert joins
                    T = 1 / v_1         the temperature of the sum: P(y | x) ∝ exp( Σ_k w_k s_k(y) / T )

Experts that are surer than they should be, or that say the same twice, get a T above 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.inference import path_scores, posterior
from espalier.potentials import ChainBatch, sum_of_potentials

__all__ = ["ExpertScores", "learn_weights", "learned_temperature", "likelihood"]

PRIOR = 1.0
"""λ, how strongly weights are drawn to the geometric mean of the experts."""

LEAST_FIRST = 0.05
"""The least v of the first expert, whose weight is the unit of all others."""

LEAST = 1e-6
"""The least v of the others, so that what an expert forbids stays forbidden while its weight is looked for."""

UNHEARD = 1e-3
"""A weight below it is 0: the expert is not worth asking."""

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ExpertScores:
    """Sequences that experts have not seen: batches : one for each expert; y : int[M], the labels, all known."""

    batches: tuple[ChainBatch, ...]
    y: NDArray[np.integer]

    @classmethod
    def of(cls, batches: Sequence[ChainBatch], corpus: Corpus) -> ExpertScores:
        """Take the sequences whose every label is known, and that no expert forbids."""
        assert corpus.y is not None
        y = np.asarray(corpus.y)
        known = np.add.reduceat(np.append(y < 0, False), corpus.indptr[:-1]) == 0 if len(corpus) else np.zeros(0, bool)
        known = np.where(corpus.lengths > 0, known, False)
        ids = np.maximum(y, 0)
        for batch in batches:
            known &= np.isfinite(path_scores(batch, ids))
        kept = np.flatnonzero(known)
        return cls(tuple(batch.chosen(kept) for batch in batches), y[np.repeat(known, corpus.lengths)])

    def __len__(self) -> int:
        """Return how many sequences there are."""
        return len(self.batches[0])

    def chosen(self, which: NDArray[np.bool_]) -> ExpertScores:
        """Return some of the sequences; which : bool[N]."""
        kept, lengths = np.flatnonzero(which), np.diff(self.batches[0].indptr)
        return ExpertScores(tuple(batch.chosen(kept) for batch in self.batches), self.y[np.repeat(which, lengths)])

    def only(self, k: int) -> ExpertScores:
        """Return the sequences with the scores of one expert."""
        return ExpertScores(self.batches[k : k + 1], self.y)


def likelihood(parts: Sequence[ExpertScores], v: Float, *, threads: int | None = None) -> tuple[float, Float]:
    """Return the log likelihood of all labels under weights v : float64[K], and its gradient, without the prior."""
    value, gradient = 0.0, np.zeros(len(v))
    for part in parts:
        if not len(part):
            continue
        found = posterior(sum_of_potentials(part.batches, v), threads=threads)
        sizes = [len(batch.trans) for batch in part.batches]
        tables = found.transitions.reshape(*sizes, *found.transitions.shape[1:])
        value -= float(found.log_z.sum())
        for k, batch in enumerate(part.batches):
            others = tuple(j for j in range(len(sizes)) if j != k)
            observed = float(path_scores(batch, part.y, threads=threads).sum())
            value += v[k] * observed
            gradient[k] += observed - _expected(batch, found.marginals, tables.sum(axis=others))
    return value, gradient


def _expected(batch: ChainBatch, marginals: Float, transitions: Float) -> float:
    """Return the expected score of all sequences; what is forbidden never happens."""
    present = np.diff(batch.indptr) > 0
    firsts, lasts = batch.indptr[:-1][present], batch.indptr[1:][present] - 1
    pairs = (
        (batch.unary, marginals),
        (batch.trans, transitions),
        (batch.start, marginals[firsts].sum(axis=0)),
        (batch.end, marginals[lasts].sum(axis=0)),
    )
    return float(sum((np.where(np.isfinite(score), score, 0.0) * share).sum() for score, share in pairs))


def learn_weights(
    parts: Sequence[ExpertScores], *, temperature: float | None = None, threads: int | None = None
) -> tuple[Float, float]:
    """Return weights, float64[K] with a 1 in front, and the temperature; a given one stays.

    A weight of 0 says that an expert is not worth asking. Raises InputError where no sequence has all its labels.
    """
    from scipy.optimize import minimize

    N, K = sum(map(len, parts)), len(parts[0].batches)
    if not N:
        raise InputError(
            "no held-out sequence has all its labels, or experts forbid them all",
            hint="give other held-out data, or the weights",
        )

    def loss(v: Float) -> tuple[float, Float]:
        value, gradient = likelihood(parts, v, threads=threads)
        value -= 0.5 * PRIOR * float(((v - 1.0 / K) ** 2).sum())
        return -value / N, -(gradient - PRIOR * (v - 1.0 / K)) / N

    first = (LEAST_FIRST, None) if temperature is None else (1.0 / temperature, 1.0 / temperature)
    begin = np.full(K, 1.0 / K)
    begin[0] = begin[0] if temperature is None else 1.0 / temperature
    found = minimize(
        loss, begin, jac=True, method="L-BFGS-B", bounds=[first, *[(LEAST, None)] * (K - 1)],
        options={"ftol": 1e-11, "gtol": 1e-7, "maxiter": 200},
    )  # fmt: skip
    v = np.asarray(found.x, np.float64)
    weights = v / v[0]
    return np.where(weights < UNHEARD, 0.0, weights), float(1.0 / v[0])


def learned_temperature(parts: Sequence[ExpertScores], default: float, *, threads: int | None = None) -> float:
    """Return the temperature of scores that one batch of each part holds; the default where there is no sequence."""
    return learn_weights(parts, threads=threads)[1] if any(map(len, parts)) else default
