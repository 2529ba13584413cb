"""The k best labellings of many sequences under rules, for learning: exact where a list proves it, and it says where.

As `decoders.kbest`, for whole batches: list the m = `listed` · k best labellings under the local rules alone, folded
into the potentials; charge the global rules; keep the k best. Let F_m be the last folded score of the list. Nothing
outside it scores more, so the k kept ones are the k best of all if the worst of them scores at least F_m. The very best
labelling comes from `decode_batch`, so the first of k is never worse than that decoder's answer; the others are, where
unproven, the best of the list, as those of the beam of Chang, Ratinov and Roth (2007) are the best of the beam.

Costs one k-best pass, O(M L² m log m), and m passes over arrays of M tokens for the rules that are not local.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import degree_matrix
from espalier.errors import InputError
from espalier.inference import k_best
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.grounding import Bits

__all__ = ["TopK", "fold_batch", "top_k"]

TIE = 1e-9

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


def top_k(
    batch: ChainBatch, compiled: Compiled, corpus: Corpus, k: int, *, listed: int = 2, threads: int | None = None
) -> TopK:
    """Return the k best labellings of every sequence of a batch under a compiled rule set."""
    if k < 1 or listed < 1:
        raise InputError(f"k is {k} and listed {listed}", hint="both must be at least 1")
    bits = compiled.ground_bits(corpus)
    best = decode_batch(batch, compiled, corpus, threads=threads, bits=bits)
    if k == 1:
        return TopK(best.labels[None], best.scores[:, None], best.settled | np.isneginf(best.bounds))
    folded = fold_batch(batch, compiled, bits)
    found = k_best(folded, k * listed, threads=threads, allow_infeasible=True)
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
