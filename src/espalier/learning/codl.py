"""Constraint-driven learning: label the pool under the rules, learn from those labels, hold on to the real ones.

    (w, ρ) = (w₀, ρ₀) = learn(L)                                            algorithm 2 of Chang, Ratinov & Roth (2012)
    repeat:   ŷ = argmax_y s(x, y; w) - Σ_k ρ_k d_k(x, y)   for every x of the pool U
              (w, ρ) = γ (w₀, ρ₀) + (1 - γ) learn({(x, ŷ)})

The loop is in `espalier.estimators.codl`. Here is what does not depend on the model: guesses, and how they become
training data. A guess may also be the k best labellings of each sequence (Chang, Ratinov & Roth, 2007), each of weight
1/k, or weighted by a softmax of their scores.

The best labelling under rules is that of `decode_batch`, the others are the best of a list (`decoders.kbest`); which
of them are proven to be the k best of all, each cycle says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.base import Problems, checked_count
from espalier.decoders.batch import decode_problems
from espalier.decoders.certify import degree_matrix
from espalier.decoders.kbest import k_best_batch
from espalier.errors import InputError
from espalier.inference import k_best
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled
from espalier.rules.lowering import Bits

__all__ = [
    "Cycle",
    "Guess",
    "guess_labels",
    "guess_of",
    "pseudo_labelled",
]

LISTED = 128
"""Labellings of a sequence among which its k best are looked for, besides k; nobody climbs for the others."""

Float = NDArray[np.float64]


def _best_under_rules(problems: Problems, k: int, threads: int | None) -> tuple[NDArray[np.int16], Float, Bits]:
    """Return the k best labellings of every sequence, int16[k, M], their scores, float64[N, k], and if they are proven.

    Labels are -1 and scores -inf where there are fewer.
    """
    best, ends = decode_problems(problems, threads=threads), problems.batch.indptr.tolist()
    labels = np.full((checked_count(k, "k"), len(best.labels)), -1, np.int16)
    scores = np.full((len(problems), k), -np.inf)
    labels[0], scores[:, 0], proven = best.labels, best.scores, best.settled | np.isneginf(best.bounds)
    several = k_best_batch(problems, k, threads=threads, max_nodes=0, longest=LISTED + k) if k > 1 else ()
    for i, ranked in enumerate(several):
        own = slice(*ends[i : i + 2])
        others = [one for one in ranked if not np.array_equal(one.labels, best.labels[own])][: k - 1]
        for r, one in enumerate(others, start=1):
            labels[r, own], scores[i, r] = one.labels, one.score
        proven[i] &= all(one.proven for one in others)
    return labels, scores, proven


@dataclass(frozen=True, slots=True)
class Cycle:
    """The record of one cycle.

    objective : Σ over the pool of score minus penalties, of the best labellings, under the model that made them.
    changed : share of the pool's tokens whose label differs from the cycle before; 1 in the first.
    violations : Σ of all rules' degrees in the pool's labels. certified : share of sequences whose labels are proven to
    be the best (with k > 1, all that were found). left_out : sequences that no labelling satisfies; they teach nothing.
    score : of the model learned in this cycle, on held-out data; None without.
    """

    cycle: int
    objective: float
    changed: float
    violations: int
    certified: float
    left_out: int
    score: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """What a model believes about some sequences.

    labels : int16[k, M], best first, -1 where there is no labelling; weight : float64[k, N], summing to 1 over the k
    labellings of a sequence, 0 where there is none; scores : float64[N], of the best; proven : bool[N]; violations :
    Σ of all rules' degrees in the best labellings.
    """

    labels: NDArray[np.int16]
    weight: Float
    scores: Float
    proven: NDArray[np.bool_]
    violations: int = 0

    @classmethod
    def joined(cls, parts: Sequence[Guess]) -> Guess:
        """Put the guesses about the parts of a pool together."""
        if len(parts) == 1:
            return parts[0]
        labels, weight = (np.concatenate([getattr(p, name) for p in parts], axis=1) for name in ("labels", "weight"))
        scores, proven = (np.concatenate([getattr(p, name) for p in parts]) for name in ("scores", "proven"))
        return cls(labels, weight, scores, proven, sum(p.violations for p in parts))

    def teaches(self, other: Guess) -> bool:
        """Would the same be learned from both?"""
        return np.array_equal(self.labels, other.labels) and np.array_equal(self.weight, other.weight)

    def cycle(self, number: int, before: Guess | None) -> Cycle:
        """Return the record of a cycle that learns from this guess; before : the one before."""
        there = np.isfinite(self.scores)
        M, N = self.labels.shape[1], len(there)
        changed = M if before is None else int((self.labels[0] != before.labels[0]).sum())
        return Cycle(
            number, float(self.scores[there].sum()), changed / max(M, 1), self.violations,
            int(self.proven.sum()) / max(N, 1), int((~there).sum()),
        )  # fmt: skip


def guess_of(labels: NDArray[np.int16], scores: Float, proven: NDArray[np.bool_], weighting: str = "uniform") -> Guess:
    """Weight the k best labellings, labels : int16[k, M], scores : float64[N, k], of each sequence.

    weighting : "uniform", the same for all that exist, or "score", proportional to exp(score).
    """
    if weighting not in ("uniform", "score"):
        raise InputError(f"weighting is {weighting!r}", hint="expected 'uniform' or 'score'")
    there = np.isfinite(scores)
    best = np.where(there[:, :1], scores[:, :1], 0.0)
    raw = there.astype(np.float64) if weighting == "uniform" else np.exp(np.where(there, scores - best, -np.inf))
    weight = np.divide(raw, raw.sum(axis=1, keepdims=True), out=np.zeros_like(raw), where=there[:, :1])
    return Guess(labels, weight.T, scores[:, 0], proven)


def guess_labels(
    batch: ChainBatch, compiled: Compiled | None, pool: Corpus, *, k: int = 1, weighting: str = "uniform",
    constrained: bool = True, threads: int | None = None,
) -> Guess:  # fmt: skip
    """Return the k best labellings of a pool, or of a part of one, by its potentials.

    compiled : the rules and their penalties, None without; constrained : do they count, or are they only counted?
    """
    if compiled is None or not constrained:
        best = k_best(batch, k, threads=threads)
        guess = guess_of(best.labels, best.scores, np.ones(len(pool), bool), weighting)
    else:
        guess = guess_of(*_best_under_rules(Problems.of(batch, compiled, pool), k, threads), weighting)
    if compiled is None:
        return guess
    # Where there is no labelling the labels are -1; read as 0, and not counted.
    degrees = degree_matrix(compiled, pool, np.maximum(guess.labels[0], 0))
    return replace(guess, violations=int(degrees[np.isfinite(guess.scores)].sum()))


def pseudo_labelled(pool: Corpus, guess: Guess, labels: Labels) -> tuple[Corpus, Float]:
    """Return the pool with its guessed labels as training data, and a weight for each sequence.

    Every labelling of a sequence is a sequence of its own; those that do not exist are left out.
    """
    k, N, M = *guess.weight.shape, pool.n_tokens
    indptr = np.concatenate([pool.indptr[:1], *(pool.indptr[1:] + r * M for r in range(k))])
    documents = None if pool.documents is None else pool.documents * k
    given = None if pool.given is None else pool.given * k
    everything = Corpus(
        indptr, np.tile(pool.token_ids, k), pool.types, guess.labels.reshape(-1), labels, documents, given
    )
    weight = guess.weight.reshape(k * N)
    there = weight > 0
    return (everything, weight) if there.all() else (everything[there], weight[there])
