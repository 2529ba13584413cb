"""Decode many sequences under rules, most of them by compiled passes over the whole batch.

    fold      rules on neighbours and on lengths of segments become states of the chain               (`folding`)
    count     Viterbi, Soft-DD and A* under local rules, rules that count, rules that machines read   (`counting`)
    climb     what that leaves unproven climbs the ladder, one by one, from the answer found          (`auto`)

A rule that fits none of the compiled forms costs its climb only to sequences whose answer breaks it: the best labelling
under some of the rules is the best under all if it breaks none of the others. Every answer carries its bound; `settled`
says where the two meet.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus
from espalier.decoders.base import Decoding, Problem, WorkDone, certify, price
from espalier.decoders.counting import CountDecoder
from espalier.decoders.counts import BatchDecoding, Conditions, is_open
from espalier.decoders.folding import Folded, fold
from espalier.errors import InputError
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled, Grounded
from espalier.rules.grounding import Bits

__all__ = ["BatchDecoding", "CountDecoder", "decode_batch", "decode_one", "folded_decoder"]

LARGEST_KEPT = 100_000  # transition scores of a decoder that is kept for the next batch

Float = NDArray[np.float64]


def decode_batch(
    batch: ChainBatch,
    compiled: Compiled,
    corpus: Corpus,
    penalties: ArrayLike | None = None,
    *,
    threads: int | None = None,
    max_rounds: int = 20,
    max_nodes: int = 65_536,
    climb: bool = True,
    bits: Bits | None = None,
) -> BatchDecoding:
    """Decode every sequence of a batch under a compiled rule set.

    corpus : the tokens of the batch. max_rounds : of Soft-DD; max_nodes : of each search (0 leaves unproven answers
    alone). threads : of the compiled passes; results do not depend on it. bits : `compiled.ground_bits(corpus)`, for
    callers that decode the same tokens again and again. climb : go on, one by one, with what the compiled search leaves
    open?
    """
    rho = compiled.check_penalties(penalties)
    if corpus.indptr is not batch.indptr and not np.array_equal(corpus.indptr, batch.indptr):
        raise InputError(f"{len(batch)} sequences of potentials but {len(corpus)} of tokens, or of other lengths")
    if batch.n_labels != len(compiled.labels):
        raise InputError(f"potentials of {batch.n_labels} labels, but rules for {len(compiled.labels)}")
    bits = compiled.ground_bits(corpus) if bits is None else bits
    found, rest = _compiled(batch, compiled, rho, bits, threads, max_rounds, max_nodes)
    if rest:
        _charge(found, rest, rho, compiled, corpus)
    open_ = np.flatnonzero(is_open(found.scores, found.bounds)) if max_nodes and climb else np.zeros(0, np.int64)
    if len(open_):
        from espalier.decoders.auto import SHORT_SEARCH

        # What is open after the compiled search, A* proves soon or never; unless rules were left out of it.
        max_nodes = max_nodes if rest else min(max_nodes, SHORT_SEARCH)
        for i, grounded in zip(open_.tolist(), compiled.ground_corpus(corpus[open_]), strict=True):
            _climb(i, Problem(batch[i], grounded, rho), found, batch, max_nodes)
    return found


def decode_one(problem: Problem, *, max_nodes: int = 65_536) -> Decoding:
    """Decode one grounded problem: the compiled passes, and the ladder for what they leave open."""
    compiled, batch = problem.grounded.compiled, ChainBatch.of([problem.potentials])
    found, rest = _compiled(batch, compiled, problem.penalties, problem.grounded.bits, 1, 20, max_nodes)
    known, bound = (found.labels if found.scores[0] > -np.inf else None), float(found.bounds[0])
    if known is not None and not rest and found.settled[0]:
        return certify(problem, known, bound, "compiled", WorkDone(int(found.rounds[0]), int(found.nodes[0])))
    return _ladder(problem, known, bound, max_nodes)


def _compiled(
    batch: ChainBatch,
    compiled: Compiled,
    rho: Float,
    bits: Bits,
    threads: int | None,
    max_rounds: int,
    max_nodes: int,
) -> tuple[BatchDecoding, tuple[int, ...]]:
    """Fold and count; return what that found, and the rules that have not been asked."""
    conditions = Conditions.of(bits)
    folded, decoder = folded_decoder(batch, compiled, rho, conditions)
    chain = folded.batch
    states = decoder.decode(
        chain.indptr, chain.unary, conditions, chain.trans_class,
        threads=threads, max_rounds=max_rounds, max_nodes=max_nodes,
    )  # fmt: skip
    return _with_labels(states, folded), decoder.parts.rest


def folded_decoder(
    batch: ChainBatch, compiled: Compiled, rho: Float, conditions: Conditions
) -> tuple[Folded, CountDecoder]:
    """Return folded potentials and their decoder; the last one is kept, if it is not large."""
    folded = fold(batch, compiled, rho, conditions)
    chain = folded.batch

    def make() -> CountDecoder:
        return CountDecoder.of_some(
            compiled, rho, chain.trans, chain.start, chain.end,
            labels=folded.labels, folded=folded.rules, form=folded.form,
        )  # fmt: skip

    if chain.trans.size > LARGEST_KEPT:
        return folded, make()
    arrays = (rho, chain.trans, chain.start, chain.end, folded.labels)
    key = (folded.rules, *(array.tobytes() for array in arrays))
    return folded, compiled.latest("count decoder", key, make)


def _with_labels(states: BatchDecoding, folded: Folded) -> BatchDecoding:
    """Return the labels behind states; an empty sequence pays what the folded rules cost there."""
    if not folded.rules:
        return states
    empty = np.diff(folded.batch.indptr) == 0
    labels = np.append(folded.labels, -1)[states.labels].astype(np.int16)  # -1 stays what it is
    scores, bounds = (np.where(empty, s - folded.on_empty, s) for s in (states.scores, states.bounds))
    return replace(states, labels=labels, scores=scores, bounds=bounds)


def _charge(found: BatchDecoding, rules: Sequence[int], rho: Float, compiled: Compiled, corpus: Corpus) -> None:
    """Charge the answers for rules that no compiled search takes; the bounds hold without them."""
    ends = corpus.indptr.tolist()
    for i, grounded in enumerate(compiled.ground_corpus(corpus)):
        if found.scores[i] > -np.inf:
            y = found.labels[ends[i] : ends[i + 1]].tolist()
            degrees = np.array([_degree(grounded, k, y) for k in rules], np.int64)
            found.scores[i] -= price(degrees, rho[list(rules)])
            if not y:
                found.bounds[i] = found.scores[i]


def _degree(grounded: Grounded, k: int, y: Sequence[int]) -> int:
    """Read a labelling with the monitor of rule k."""
    monitor = grounded.monitor(k)
    state, total, i = monitor.initial, 0, -1
    for t, j in enumerate(y):
        state, increment = monitor.step(state, t, i, j)
        total, i = total + increment, j
    return total + monitor.final(state)


def _climb(i: int, problem: Problem, found: BatchDecoding, batch: ChainBatch, max_nodes: int) -> None:
    """Climb the ladder for sequence i from the answer found, and write down what that betters."""
    a, b = batch.indptr[i], batch.indptr[i + 1]
    known = found.labels[a:b] if found.scores[i] > -np.inf else None
    answer = _ladder(problem, known, float(found.bounds[i]), max_nodes)
    found.rounds[i] += answer.certificate.work.viterbi
    found.nodes[i] += answer.certificate.work.nodes
    found.bounds[i] = min(found.bounds[i], answer.certificate.bound)
    if answer.labels is not None and answer.score >= found.scores[i]:
        found.labels[a:b] = answer.labels
        found.scores[i] = answer.score
        found.climbed[i] = answer.certificate.method


def _ladder(problem: Problem, known: NDArray[np.int16] | None, bound: float, max_nodes: int) -> Decoding:
    """Climb on from an answer that others found, and a bound; few batches need any of these methods."""
    from espalier.decoders.auto import auto

    return auto(problem, max_nodes=max_nodes, known=known, bound=bound)
