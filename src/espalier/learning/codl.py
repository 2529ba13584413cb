"""Constraint-driven learning: label the pool under the rules, learn from those labels, hold on to the real ones.

    (w, ρ) = (w₀, ρ₀) = learn(L)                                            algorithm 2 of Chang, Ratinov & Roth (2012)
    repeat:   ŷ = argmax_y s(x, y; w) - Σ_k ρ_k d_k(x, y)   for every x of the pool U
              (w, ρ) = γ (w₀, ρ₀) + (1 - γ) learn({(x, ŷ)})

The loop is in `espalier.estimators.codl`. Here is what does not depend on the model: guesses, and how they become
training data. A guess may also be the k best labellings of each sequence (Chang, Ratinov & Roth, 2007), each of weight
1/k, or weighted by a softmax of their scores.

The k best labellings under rules (`top_k`) are found as in `decoders.kbest`, for whole batches: list the m = `LISTED` ·
k best under the local rules alone, folded into the potentials; charge the global rules; keep the k best. Let F_m be the
last folded score of the list. Nothing outside it scores more, so the k kept ones are the k best of all if the worst of
them scores at least F_m. The very best labelling comes from `decode_batch`, so the first of k is never worse than that
decoder's answer; the others are, where unproven, the best of the list, as those of the beam of the paper of 2007 are
the best of the beam. That costs one k-best pass, O(M L² m log m), and m passes over arrays of M tokens for the rules
that are not local.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import degree_matrix
from espalier.errors import InputError
from espalier.inference import k_best
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.lowering import Bits

__all__ = [
    "Cycle",
    "Guess",
    "TopK",
    "fold_batch",
    "guess_labels",
    "guess_of",
    "pseudo_labelled",
    "top_k",
]

TIE = 1e-9

LISTED = 2
"""Labellings that are listed under the local rules for each that is asked for: the others may pay for some."""

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class TopK:
    """The k best labellings of N sequences, best first.

    labels : int16[k, M], -1 where there are fewer; scores : float64[N, k], penalties paid, -inf where there are fewer;
    proven : bool[N], are these the k best of all?
    """

    labels: NDArray[np.int16]
    scores: Float
    proven: NDArray[np.bool_]


def top_k(batch: ChainBatch, compiled: Compiled, corpus: Corpus, k: int, *, threads: int | None = None) -> TopK:
    """Return the k best labellings of every sequence of a batch under a compiled rule set."""
    if k < 1:
        raise InputError(f"k is {k}", hint="expected at least 1")
    bits = compiled.ground_bits(corpus)
    best = decode_batch(batch, compiled, corpus, threads=threads, bits=bits)
    if k == 1:
        return TopK(best.labels[None], best.scores[:, None], best.settled | np.isneginf(best.bounds))
    folded = fold_batch(batch, compiled, bits)
    found = k_best(folded, LISTED * k, threads=threads, allow_infeasible=True)
    scores = found.scores - _global_costs(compiled, corpus, found.labels, found.scores)
    # The decoder's answer goes in front where the list has nothing as good.
    size = np.maximum(1.0, np.abs(np.where(np.isfinite(best.scores), best.scores, 0.0)))
    missed = best.scores > scores.max(axis=1) + TIE * size
    candidates = np.concatenate([best.labels[None], found.labels])
    scores = np.concatenate([np.where(missed, best.scores, -np.inf)[:, None], scores], axis=1)
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    kept = np.take_along_axis(scores, order, axis=1)
    sequence = np.repeat(np.arange(len(corpus)), corpus.lengths)
    labels = candidates[order[sequence].T, np.arange(corpus.n_tokens)]
    labels[np.isneginf(kept)[sequence].T] = -1
    rest = found.scores[:, -1]
    proven = np.isneginf(rest) | (kept[:, -1] >= rest - TIE * np.maximum(1.0, np.abs(rest)))
    return TopK(labels, kept, proven)


def _global_costs(compiled: Compiled, corpus: Corpus, labels: NDArray[np.int16], scores: Float) -> Float:
    """Return what the rules that are not local charge each listed labelling, float64[N, m]; 0 beyond the list."""
    rho = compiled.rules.penalties
    names = [
        name
        for name, form, r in zip(compiled.rules.names, compiled.form, rho, strict=True)
        if form != "local" and r > 0
    ]
    costs = np.zeros(scores.shape)
    if not names:
        return costs
    rest = compile_rules(compiled.rules.only(names), compiled.labels)
    bits, prices = rest.ground_bits(corpus), rest.rules.penalties
    for r, y in enumerate(labels):
        there = np.isfinite(scores[:, r])
        if not there.any():
            break
        # Beyond the list labels are -1: read as 0 here, and not charged below.
        degrees = degree_matrix(rest, corpus, np.maximum(y, 0), bits)
        costs[:, r] = np.where(there, _priced(degrees, prices).sum(axis=1), 0.0)
    return costs


def fold_batch(batch: ChainBatch, compiled: Compiled, bits: Bits) -> ChainBatch:
    """Return the potentials minus the penalties of all local rules: `Grounded.fold` of every sequence.

    bits : bool[M, B], where the conditions hold. Transitions get one class for each pair of a class of the batch and a
    pattern of the conditions that charge pairs.
    """
    local, rho = compiled.local, compiled.rules.penalties
    unary = batch.unary - _charges(bits[:, local.unary_bit], local.unary, rho[local.unary_rule])
    firsts = batch.indptr[:-1][np.diff(batch.indptr) > 0]
    unary[firsts] -= _charges(bits[firsts][:, local.pair_bit], local.first, rho[local.pair_rule])
    if not len(local.pair):
        return batch.with_unary(unary)
    keys = np.column_stack([batch.trans_class, bits[:, local.pair_bit]])
    classes, number = np.unique(keys, axis=0, return_inverse=True)
    charges = _charges(classes[:, 1:].astype(bool), local.pair, rho[local.pair_rule])
    trans = batch.trans[classes[:, 0]] - charges
    return replace(batch, unary=unary, trans=trans, trans_class=number.reshape(-1).astype(np.int32))


def _charges(on: Bits, amounts: NDArray[np.int64], prices: Float) -> Float:
    """Return Σ_c on[m, c] price_c amount[c, ...], where a hard price forbids and 0 · inf is 0."""
    hard = np.isinf(prices)
    soft = np.tensordot(on * np.where(hard, 0.0, prices), amounts.astype(np.float64), axes=1)
    if not hard.any():
        return np.asarray(soft)
    return np.where(np.tensordot(on * hard.astype(np.float64), amounts.astype(np.float64), axes=1) > 0, np.inf, soft)


def _priced(degrees: NDArray[np.int64], prices: Float) -> Float:
    """Return degrees times prices, where 0 · inf is 0."""
    hard = np.isinf(prices)
    soft = degrees * np.where(hard, 0.0, prices)
    return np.where(hard & (degrees > 0), np.inf, soft)


@dataclass(frozen=True, slots=True)
class Cycle:
    """The record of one cycle.

    objective : Σ over the pool of score minus penalties, of the best labellings, under the model that made them.
    changed : share of the pool's tokens whose label differs from the cycle before; 1 in the first.
    violations : Σ of all rules' degrees in the pool's labels. certified : share of sequences whose labels are proven to
    be the best (with k > 1, the k best). left_out : sequences that no labelling satisfies; they teach nothing.
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
        found = top_k(batch, compiled, pool, k, threads=threads)
        guess = guess_of(found.labels, found.scores, found.proven, weighting)
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
    everything = Corpus(indptr, np.tile(pool.token_ids, k), pool.types, guess.labels.reshape(-1), labels, documents)
    weight = guess.weight.reshape(k * N)
    there = weight > 0
    return (everything, weight) if there.all() else (everything[there], weight[there])
