"""Decode many sequences under rules, most of them by compiled passes over the whole batch.

    fold      rules on neighbours and on lengths of segments become states of the chain               (`fold`)
    count     Viterbi, Soft-DD and A* under local rules, rules that count, rules that machines read   (`counting`)
    climb     what that leaves unproven climbs the ladder, one by one, from the answer found          (`auto`)

A rule that fits none of the compiled forms costs its climb only to sequences whose answer breaks it: the best labelling
under some of the rules is the best under all if it breaks none of the others. Every answer carries its bound; `settled`
says where the two meet.

The product automaton of short-sighted rules (`rules.automaton`) has few states s, each behind one label l(s): with
"length(each field) >= 3", label a becomes a¹, a², a³⁺. Over states instead of labels the chain pays for the rules by
itself:

    trans'[c, s, s'] = trans[c, l(s), l(s')] - ρ · increments(s, s', class c)     if s' follows s, else -inf

with one matrix for every combination of a transition class and a class of conditions that occurs. What the first token
pays and allows goes into its unary scores, what the end pays into the end scores. Everything else that decodes chains
then works as before, on S states. Rules that look far (order, exclusion) are not folded: few answers break them, and
all would pay for their states. Cost: O(C S²) once, O(M S) a batch, and Viterbi's S² / L² times the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus
from espalier.decoders.base import Decoding, Problem, WorkDone, certify, price
from espalier.decoders.counting import CountDecoder
from espalier.decoders.counts import BatchDecoding, Conditions, CountForm, is_open, priced
from espalier.errors import InputError
from espalier.potentials import ChainBatch
from espalier.rules import nodes as n
from espalier.rules.compile import Compiled, Grounded
from espalier.rules.grounding import Bits

if TYPE_CHECKING:
    from espalier.rules.automaton import Automaton

__all__ = ["BatchDecoding", "CountDecoder", "Folded", "decode_batch", "decode_one", "fold", "folded_decoder"]

MOST_STATES = 64  # besides one for each label
MOST_VALUES = 4_000_000  # of all matrices together
LARGEST_KEPT = 100_000  # transition scores of a decoder that is kept for the next batch
SHORT_SIGHTED = (n.Implies, n.Change, n.Length, n.If, n.All, n.Exists)

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """Potentials over S states that pay for some rules.

    labels : int64[S], the label behind each state; on_empty : what the rules cost where there are no tokens.
    form : the other rules, where nothing was folded and that is known already.
    """

    batch: ChainBatch
    labels: Int
    rules: tuple[int, ...]
    on_empty: float
    form: CountForm | None = None


def fold(batch: ChainBatch, compiled: Compiled, rho: Float, conditions: Conditions) -> Folded:
    """Fold the short-sighted rules that do not fit `CountForm`; without any, the batch stays what it is."""
    L = batch.n_labels
    form = CountForm.prepared(compiled, rho, batch.trans, batch.start)
    plain = Folded(batch, np.arange(L), (), 0.0, form)
    wanted = _wanted(compiled, rho, form.rest)
    automaton = _automaton(compiled, wanted, L)
    if automaton is None:
        return plain
    if automaton.n_states - 1 > L:  # a change of state is no change of label any more, so those rules move, too
        changes = [k for k in _pair_rules(compiled, rho) if k not in automaton.rules]
        automaton = _automaton(compiled, [*automaton.rules, *changes], L) or automaton
    classes = automaton.classes(conditions.patterns)[conditions.pattern].astype(np.int64)
    kinds = batch.trans_class.astype(np.int64) * (1 << len(automaton.bits)) + classes
    later = np.ones(len(kinds), bool)
    later[batch.indptr[:-1][np.diff(batch.indptr) > 0]] = False
    used, number = np.unique(kinds[later], return_inverse=True)
    if len(used) * automaton.n_states**2 > MOST_VALUES:
        return plain
    return _folded(batch, automaton, rho, classes, later, used, number)


def _wanted(compiled: Compiled, rho: Float, rest: Sequence[int]) -> list[int]:
    """Return the rules that are worth folding: they look at neighbours, or at the length of a segment."""
    return [
        k
        for k in rest
        if rho[k] > 0 and all(isinstance(each, SHORT_SIGHTED) for each in n.walk(compiled.rules[k].node))
    ]


def _pair_rules(compiled: Compiled, rho: Float) -> list[int]:
    return sorted({table.rule for table in compiled.local_tables() if table.pair is not None and rho[table.rule] > 0})


def _automaton(compiled: Compiled, rules: Sequence[int], L: int) -> Automaton | None:
    """Return the automaton of as many of the rules as stay small, taken in order; None if of none."""
    if not rules:
        return None
    return compiled.remember(("folded", tuple(rules)), lambda: _built(compiled, rules, 1 + L + MOST_STATES))


def _built(compiled: Compiled, rules: Sequence[int], limit: int) -> Automaton | None:
    from espalier.rules.automaton import SizeError

    try:
        return compiled.automaton(rules, limit)
    except SizeError:
        pass
    best: Automaton | None = None
    kept: list[int] = []
    for k in rules:
        try:
            best = compiled.automaton([*kept, k], limit)
            kept.append(k)
        except SizeError:
            continue
    return best


def _folded(
    batch: ChainBatch, automaton: Automaton, rho: Float, classes: Int, later: NDArray[np.bool_], used: Int, number: Int
) -> Folded:
    prices = _totals(automaton.increment_rows, rho[list(automaton.rules)])[automaton.increment_ids]  # [S + 1, C, L]
    labels = automaton.label[1:].astype(np.int64)
    S, n_classes = len(labels), automaton.next.shape[1]
    trans = np.full((max(len(used), 1), S, S), -np.inf)
    for k, (kind, c) in enumerate(zip(*divmod(used, n_classes), strict=True)):
        s, j = np.indices((S, batch.n_labels))
        trans[k, s, automaton.next[1:, c] - 1] = batch.trans[kind][labels[:, None], j] - prices[1:, c]
    unary = batch.unary[:, labels]
    first = np.flatnonzero(~later)
    begun = np.full((n_classes, S), -np.inf)
    for c in range(n_classes):
        begun[c, automaton.next[0, c] - 1] = -prices[0, c]
    unary[first] += begun[classes[first]]
    start = np.where(np.isneginf(begun).all(axis=0), -np.inf, batch.start[labels])
    final = _totals(automaton.final, rho[list(automaton.rules)])
    end = batch.end[labels] - final[1:]
    kinds = np.zeros(len(unary), np.int32)
    kinds[later] = number
    chain = ChainBatch(batch.indptr, unary, trans, kinds, start, end)
    return Folded(chain, labels, automaton.rules, float(final[0]))


def _totals(amounts: NDArray[np.int32], rho: Float) -> Float:
    """Σ over rules of amounts : int[U, n] times ρ; 0 · inf is 0."""
    return np.asarray(
        sum((priced(amounts[:, k].astype(np.int64), r) for k, r in enumerate(rho.tolist())), np.zeros(len(amounts)))
    )


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
