"""What many labellings score and break, recomputed from the rules, and what is proven about them.

`certify_batch` is `certify` for a whole batch: scores from the potentials, degrees from `degree_matrix`, certificates
from `prove`. `degree_matrix` gives the degrees of the meaning (`rules.meaning.degrees`) by operations on arrays; random
tests hold the two to the same numbers.

Local and linear rules cost O(M (charges + features)) in NumPy for a corpus of M tokens, however many rules there are.
Rules that only a monitor reads are compiled tables (`decoders.counts`), O(M) each. Where a table is too large, and for
sequences with unknown labels, rules are read one by one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders.base import Certificate, WorkDone, magnitude_of, prove, tolerance
from espalier.decoders.counts import BatchDecoding, Conditions, Parts
from espalier.inference import path_scores
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, degrees_of
from espalier.rules.lowering import Bits, holds_when_empty

__all__ = ["Certified", "certify_batch", "degree_matrix", "gates", "sums"]

Int = NDArray[np.int64]
Float = NDArray[np.float64]


class Certified(NamedTuple):
    """What N labellings score and break: scores : float64[N], minus penalties; degrees : int64[N, K]; certificates."""

    scores: Float
    degrees: Int
    certificates: list[Certificate]


def certify_batch(
    batch: ChainBatch,
    compiled: Compiled,
    corpus: Corpus,
    found: BatchDecoding,
    penalties: Float | None = None,
    *,
    bits: Bits | None = None,
) -> Certified:
    """Recompute what the labellings of a batch score and break, and compare that with the bounds that were found.

    A sequence without a labelling (label -1) scores -inf and breaks nothing. bits : `compiled.ground_bits(corpus)`, if
    already known.
    """
    rho = compiled.check_penalties(penalties)
    y = np.maximum(found.labels, 0)
    degrees = degree_matrix(compiled, corpus, y, bits)
    hard = np.isinf(rho)
    scores = path_scores(batch, y, threads=1) - degrees[:, ~hard] @ rho[~hard]
    scores[(degrees[:, hard] > 0).any(axis=1)] = -np.inf
    # No label at the first token: there is none at any. A sequence without tokens has its one labelling.
    missing = found.labels[np.minimum(corpus.indptr[:-1], max(len(y) - 1, 0))] < 0 if len(y) else np.zeros(0, bool)
    if missing.any():
        missing &= corpus.lengths > 0
        scores[missing], degrees[missing] = -np.inf, 0
    rows = zip(scores.tolist(), found.bounds.tolist(), found.rounds.tolist(), found.nodes.tolist(), strict=True)
    certificates, once = [], WorkDone(1, 0)
    for i, (score, bound, rounds, nodes) in enumerate(rows):
        method = found.climbed.get(i) or ("search" if nodes else "viterbi" if rounds <= 1 else "soft-dd")
        magnitude = None
        if bound < score - tolerance(score):  # by rounding, or by a mistake
            magnitude = magnitude_of(batch[i], y[corpus.indptr[i] : corpus.indptr[i + 1]])
        work = once if rounds == 1 and not nodes else WorkDone(rounds, nodes)
        certificates.append(prove(score, bound, method, work, magnitude=magnitude))
    if batch.sources:
        certificates = [one.about(source) for one, source in zip(certificates, batch.sources, strict=True)]
    return Certified(scores, degrees, certificates)


def degree_matrix(compiled: Compiled, corpus: Corpus, y: NDArray[Any], bits: Bits | None = None) -> Int:
    """Return the degree of every rule for each labelled sequence, int64[N, K].

    y : label ids of the M tokens, -1 where unknown. bits : `compiled.ground_bits(corpus)`, if already known.
    """
    bits = compiled.ground_bits(corpus) if bits is None else bits
    ids = np.maximum(np.asarray(y, np.int64), 0)
    before = np.empty_like(ids)
    before[1:] = ids[:-1]
    before[corpus.indptr[:-1][corpus.lengths > 0]] = -1
    degrees = np.zeros((len(corpus), compiled.K), np.int64)
    local, linear = compiled.local, compiled.linear
    if bits.any():  # in most short texts no condition holds
        first = (before < 0)[:, None]
        unary = bits[:, local.unary_bit] * local.unary[:, ids].T
        pair = bits[:, local.pair_bit] * np.where(first, local.first[:, ids].T, local.pair[:, before, ids].T)
        _add(degrees, local.unary_rule, sums(corpus.indptr, unary))
        _add(degrees, local.pair_rule, sums(corpus.indptr, pair))
    counts = sums(corpus.indptr, linear.values[:, before, ids].T)
    excess = np.maximum(counts @ linear.coefficients.T - linear.bound, 0) * gates(compiled, corpus, bits)
    _add(degrees, linear.rule, excess)
    unknown = np.asarray(y) < 0
    unread = sums(corpus.indptr, unknown[:, None])[:, 0] > 0 if unknown.any() else np.zeros(len(corpus), bool)
    slow = np.flatnonzero(unread | ~_monitored(compiled, corpus.indptr, ids, bits, degrees))
    for i, grounded in zip(slow.tolist(), compiled.ground_corpus(corpus[slow]) if len(slow) else (), strict=True):
        degrees[i] = degrees_of(grounded, y[corpus.indptr[i] : corpus.indptr[i + 1]])
    return degrees


def _monitored(compiled: Compiled, indptr: Int, ids: Int, bits: Bits, degrees: Int) -> NDArray[np.bool_]:
    """Write the degrees of rules that are neither local nor linear; return for which sequences that worked, bool[N]."""
    read = [k for k, form in enumerate(compiled.form) if form == "monitor"]
    if not read:
        return np.ones(len(degrees), bool)
    parts = compiled.remember("read parts", lambda: Parts.of(compiled, np.ones(compiled.K), read))
    if parts.rest:
        return np.zeros(len(degrees), bool)
    charged = np.zeros((len(degrees), parts.Q))
    if charged.size:
        from espalier.kernels.parts import charge_parts

        conditions, L = Conditions.of(bits), len(compiled.labels)
        tables = parts.tables(conditions, np.arange(L))
        charge_parts(0, len(charged), indptr, ids.astype(np.int16), conditions.pattern, L, tables, charged)
    known: NDArray[np.bool_] = np.asarray(np.isfinite(charged).all(axis=1))
    _add(degrees, parts.rule, np.where(known[:, None], charged, 0.0).astype(np.int64))
    return known


def _add(degrees: Int, rule: Int, amounts: Int) -> None:
    """Add amounts : int64[N, n] to the degrees of the rules that they belong to."""
    if len(degrees) == 1:
        np.add.at(degrees[0], rule, amounts[0])
    elif amounts.size:
        np.add.at(degrees.T, rule, amounts.T)


def gates(compiled: Compiled, corpus: Corpus, bits: Bits) -> NDArray[np.bool_]:
    """Return which rows of the linear rules apply to each sequence, bool[N, R]; the first token of one tells."""
    if (compiled.linear.gate < 0).all():
        return np.ones((len(corpus), len(compiled.linear.gate)), bool)
    on = np.ones((len(corpus), bits.shape[1] + 1), bool)  # the last column is gate -1: always
    present = corpus.lengths > 0
    on[present, :-1] = bits[corpus.indptr[:-1][present]]
    if not present.all():
        on[~present, :-1] = [holds_when_empty(condition) for condition in compiled.conditions]
    return on[:, compiled.linear.gate]


def sums(indptr: Int, amounts: NDArray[Any]) -> Int:
    """Sum amounts : [M, n] over the tokens of each sequence, int64[N, n]; a sequence without tokens gets 0."""
    if len(indptr) == 2:
        return np.asarray(amounts.sum(axis=0, dtype=np.int64)[None], np.int64)
    total, present = np.zeros((len(indptr) - 1, amounts.shape[1]), np.int64), np.diff(indptr) > 0
    if present.any():
        total[present] = np.add.reduceat(amounts, indptr[:-1][present], axis=0, dtype=np.int64)
    return total
