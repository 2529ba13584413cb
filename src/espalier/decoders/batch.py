"""Decode many sequences under rules, most of them by compiled passes over the whole batch.

    fold      rules on neighbours and on lengths of segments become states of the chain               (`fold`)
    count     Viterbi, Soft-DD and A* under local rules, rules that count, rules that machines read   (`CountDecoder`)
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

`CountDecoder` does more work only for the few sequences that break a rule:

    1. Charge local rules in the potentials; Viterbi for all. Penalties are never negative, so an answer that breaks no
       other rule is optimal: most sequences end here.
    2. For those that break a rule that counts (`CountForm`), a few rounds of Soft-DD: bound and answer meet for nearly
       all. Where a hard rule is broken, a few rounds without any scores come first: their bound on the degree of the
       hard rules, if it is above 0, says that no labelling keeps them.
    3. For what is left, A* with the bound of the last multipliers. Rules that machines read (`Parts`) join the search
       one by one, as answers break them: the best labelling under some of the rules is an upper bound, and the
       optimum as soon as it breaks none of the others.

Every sequence has a labelling, a bound, and the work that they took.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus
from espalier.decoders.base import Decoding, Problem, certify, price
from espalier.decoders.certify import GAP, BatchDecoding, WorkDone, is_open
from espalier.decoders.counts import Conditions, CountForm, Parts, priced
from espalier.decoders.single import decode_single
from espalier.errors import InputError
from espalier.kernels import LANES, aligned, padded, worth_loading
from espalier.lazy import cached_property
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch
from espalier.rules import nodes as n
from espalier.rules.compile import Compiled
from espalier.rules.lowering import Bits

if TYPE_CHECKING:
    from espalier.rules.automaton import Automaton

__all__ = ["BatchDecoding", "CountDecoder", "Folded", "decode_batch", "decode_one", "fold", "folded_decoder"]

TOKENS_A_CHUNK = 4096
SEQUENCES_A_CHUNK = 64
FIRST_NODES = 1024
LONGEST_LIST = 256  # labellings among which the k best are looked for
REFINED = 1_000_000  # values of a bound that knows the machines' states
GAP_OF_DEGREES = 1e-6
FLAT_ROUNDS = 6  # of Soft-DD that asks whether hard rules can be kept at all

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CountDecoder:
    """Rules and the transitions of a model, ready for any number of batches.

    moves : float64[C, L + 1, L]; transitions by target, -inf on the diagonal, then the diagonal. matrices :
    float64[C, L + 1, padded(L)]; the same by source. labels : int64[L], the label behind each state of the chain.
    """

    form: CountForm
    parts: Parts
    moves: Float
    matrices: Float
    start: Float
    end: Float
    labels: Int
    n_labels: int

    @classmethod
    def of(cls, compiled: Compiled, rho: Float, trans: Float, start: Float, end: Float) -> CountDecoder | None:
        """Return the decoder, or None if the rules do not only count."""
        decoder = cls.of_some(compiled, rho, trans, start, end)
        return None if decoder.form.rest else decoder

    @classmethod
    def of_some(
        cls,
        compiled: Compiled,
        rho: Float,
        trans: Float,
        start: Float,
        end: Float,
        *,
        labels: Int | None = None,
        folded: Collection[int] = (),
        form: CountForm | None = None,
    ) -> CountDecoder:
        """Return the decoder of the rules that it takes; those that it does not are `parts.rest`.

        trans : float64[L, L] or float64[C, L, L]; labels, folded : see `CountForm.of`; form : its result, if known.
        """
        trans, start, end = (np.asarray(array, np.float64) for array in (trans, start, end))
        L, behind = len(start), np.arange(len(compiled.labels)) if labels is None else labels
        if len(behind) != L:
            raise InputError(f"potentials of {L} labels, but rules for {len(compiled.labels)}")
        form = CountForm.of(compiled, rho, trans, start, labels=behind, folded=folded) if form is None else form
        trans, start = trans.reshape(-1, L, L) - form.steps[:-1], start - form.steps[-1]
        diagonal = np.diagonal(trans, axis1=1, axis2=2)[:, None]
        matrices = aligned(len(trans), L + 1, padded(L))
        matrices[:] = -np.inf
        matrices[:, :, :L] = np.concatenate([np.where(np.eye(L, dtype=bool), -np.inf, trans), diagonal], axis=1)
        moves = np.concatenate([matrices[:, :L, :L].swapaxes(1, 2), diagonal], axis=1)
        parts = Parts.of(compiled, rho, form.rest)
        return cls(form, parts, np.ascontiguousarray(moves), matrices, start, end, behind, len(compiled.labels))

    def decode(
        self,
        indptr: Int,
        unary: Float,
        conditions: Conditions,
        kinds: NDArray[np.int32] | None = None,
        *,
        threads: int | None = None,
        max_rounds: int = 20,
        max_nodes: int = 65_536,
    ) -> BatchDecoding:
        """Decode N sequences of M tokens; unary : float64[M, L]; conditions : where those of the rules hold.

        kinds : int32[M], the transition class of each token, needed where there are several. The labels found are
        states of the chain.
        """
        L, M = len(self.start), len(conditions.pattern)
        if unary.shape != (M, L):
            raise InputError(f"unary has shape {unary.shape}", hint=f"expected ({M}, {L})")
        if len(self.moves) > 1 and kinds is None:
            raise InputError(f"there are {len(self.moves)} transition matrices", hint="pass the class of every token")
        chosen = self._kinds(indptr, kinds)
        if M > 0 and not worth_loading(M) and (np.diff(indptr) > 0).all():
            found = decode_single(self, indptr, unary, chosen, conditions, max_rounds)
            if found is not None:
                return found
        work = _Work(self, indptr, unary, chosen, conditions, choose_threads(M, threads))
        return work.decode(max_rounds, max_nodes)

    def rank(
        self, indptr: Int, unary: Float, conditions: Conditions, kinds: NDArray[np.int32], k: int, threads: int | None
    ) -> tuple[NDArray[np.int16], Float, Float]:
        """List the best labellings of N sequences (see `kernels.readings`).

        Returns labels : int16[k, M]; scores : float64[N, k], -inf where there is none; rest : float64[N], what any
        labelling that is not listed scores at most.
        """
        from espalier.kernels.readings import rank_readings

        work = _Work(self, indptr, unary, self._kinds(indptr, kinds), conditions, choose_threads(len(unary), threads))
        multipliers = work.multipliers()
        N, L = len(indptr) - 1, len(self.start)
        labels, scores, rest = np.empty((k, len(unary)), np.int16), np.empty((N, k)), np.empty(N)
        rows, change = work.unary - work.charges[work.pattern, :L], work.prices[work.pattern]
        price = np.ascontiguousarray(np.broadcast_to(work.price, multipliers.shape))
        chunks = balanced(indptr, max(len(unary) // TOKENS_A_CHUNK, 1))

        def chunk(c: int) -> None:
            rank_readings(
                *chunks[c], indptr, rows, change, work.kinds, work.pattern, self.start, self.end, self.moves,
                work.counting, price, multipliers, self.n_labels, work.parts, LONGEST_LIST, labels, scores, rest,
            )  # fmt: skip

        run_chunks(chunk, len(chunks), work.threads)
        return labels, scores, rest

    def _kinds(self, indptr: Int, kinds: NDArray[np.int32] | None) -> NDArray[np.int32]:
        """Return the transition class of each token; nothing leads into a first token."""
        several = kinds is not None and len(self.moves) > 1
        chosen = np.array(kinds, np.int32) if several else np.zeros(int(indptr[-1]), np.int32)
        chosen[indptr[:-1][np.diff(indptr) > 0]] = 0
        return chosen

    @cached_property
    def flat(self) -> tuple[Float, Float, Float, Float]:
        """Start, end, moves and matrices without scores: only what they forbid is left."""
        return _flat(self.start), _flat(self.end), _flat(self.moves), _flat(self.matrices)

    @cached_property
    def steps(self) -> Float:
        """The transitions by source and target, float64[C, L, L]."""
        L = len(self.start)
        steps = np.array(self.matrices[:, :L, :L], np.float64)
        steps[:, np.arange(L), np.arange(L)] = self.moves[:, L]
        return steps

    @cached_property
    def counting(self) -> tuple[Float, Float]:
        """What a run and what a token of each label count in each row, float64[R, L] both."""
        form, shape = self.form, (len(self.form.bound), len(self.start))
        opened, token = np.zeros(shape), np.zeros(shape)
        label = np.repeat(np.arange(shape[1]), np.diff(form.label_ptr))
        opened[form.label_row, label], token[form.label_row, label] = form.label_open, form.label_token
        return opened, token


class _Work:
    """One batch on its way: Viterbi for all in chunks, then the sequences that are still open, laid out anew."""

    def __init__(
        self,
        decoder: CountDecoder,
        indptr: Int,
        unary: Float,
        kinds: NDArray[np.int32],
        conditions: Conditions,
        threads: int,
    ) -> None:
        self.decoder, self.form, self.threads = decoder, decoder.form, threads
        # The sequences that were open after Viterbi, and their multipliers; not `_Open`, which points back here.
        self.multiplied: tuple[Int, Float] | None = None
        self.indptr, self.kinds, self.pattern = indptr, kinds, conditions.pattern
        self.unary = np.ascontiguousarray(unary, dtype=np.float64)  # the kernel reads it by address
        self.lengths = np.diff(indptr)
        self.charges, self.prices = self.form.pattern_charges(conditions.patterns, padded(unary.shape[1]))
        self.price = self.form.row_prices(indptr, conditions)
        self.parts = decoder.parts.tables(conditions, decoder.labels)
        form = self.form
        self.counting = (form.label_ptr, form.label_row, form.label_open, form.label_token, form.bound)

    def decode(self, max_rounds: int, max_nodes: int) -> BatchDecoding:
        from espalier.kernels.charged import charge_counts

        N, path = len(self.lengths), np.zeros(len(self.unary), np.int16)
        bounds = self._viterbi(path)
        primal = bounds.copy()
        charge_counts(0, N, self.indptr, path, *self.counting, self.price, primal)
        broken = self._broken(self.indptr, path, self.pattern).sum(axis=1)
        empty = self.lengths == 0
        bounds[empty] = primal[empty] - broken[empty]  # nothing to choose
        found = BatchDecoding(path, primal - broken, bounds, np.ones(N, np.int64), np.zeros(N, np.int64))
        open_ = np.flatnonzero(is_open(found.scores, bounds))
        if len(open_):
            opened = _Open(self, open_, found, primal[open_])
            opened.settle(max_rounds, max_nodes)
            self.multiplied = open_, opened.multipliers
        found.labels[np.repeat(np.isneginf(found.bounds), self.lengths)] = -1
        return found

    def multipliers(self) -> Float:
        """Return those of Soft-DD after a few rounds, float64[N, R]; 0 for sequences that break no rule."""
        found = np.zeros((len(self.lengths), len(self.form.bound)))
        self.decode(20, 0)
        if self.multiplied is not None:
            open_, own = self.multiplied
            found[open_] = own
        return found

    def _broken(self, indptr: Int, path: NDArray[np.int16], pattern: Int) -> Float:
        """Return what every part charges for each labelling, float64[N, Q]."""
        charged = np.zeros((len(indptr) - 1, self.decoder.parts.Q))
        if charged.size:
            from espalier.kernels.parts import charge_parts

            charge_parts(0, len(charged), indptr, path, pattern, self.decoder.n_labels, self.parts, charged)
        return charged

    def _viterbi(self, path: NDArray[np.int16]) -> Float:
        """Write the labels of local rules alone, int16[M]; return their scores, float64[N]."""
        from espalier.kernels.charged import charged_viterbi, charged_viterbi_kinds

        decoder, scores = self.decoder, np.zeros(len(self.lengths))
        n_chunks = max(len(self.unary) // TOKENS_A_CHUNK, 1)
        common = (self.indptr, self.unary, self.pattern, self.charges, self.prices, self.kinds)
        model = (decoder.start, decoder.end, decoder.moves)
        if len(decoder.moves) > 1:
            chunks, itself = balanced(self.indptr, n_chunks), np.arange(len(self.unary))

            def chunk(c: int) -> None:
                charged_viterbi_kinds(*chunks[c], itself, *common, *model, decoder.matrices, path, scores)

        else:
            order = np.argsort(self.lengths, kind="stable")  # lanes of similar length waste little
            order = order[np.searchsorted(self.lengths[order], 1) :]
            order = np.pad(order, (0, -len(order) % LANES), "edge") if len(order) else order
            chunks = balanced(np.concatenate([[0], np.cumsum(self.lengths[order[LANES - 1 :: LANES]])]), n_chunks)

            def chunk(c: int) -> None:
                charged_viterbi(*chunks[c], order, *common, *model, path, scores)

        run_chunks(chunk, len(chunks), self.threads)
        return scores


class _Open:
    """The sequences of a batch that are not proven yet, laid out anew."""

    def __init__(self, work: _Work, open_: Int, found: BatchDecoding, primal: Float) -> None:
        from espalier.kernels.charged import lay_out

        self.work, self.open, self.found = work, open_, found
        self.lengths = work.lengths[open_]
        self.indptr = np.concatenate([[0], np.cumsum(self.lengths)]).astype(np.int64)
        self.token = np.arange(self.indptr[-1]) + np.repeat(work.indptr[open_] - self.indptr[:-1], self.lengths)
        n = len(self.token)
        self.rows, self.change = aligned(n, work.charges.shape[1], empty=True), np.empty(n)
        lay_out(0, n, self.token, work.unary, work.pattern, work.charges, work.prices, self.rows, self.change)
        self.kind, self.pattern = work.kinds[self.token], work.pattern[self.token]
        self.path, self.primal = found.labels[self.token], primal
        self.bound, self.rounds, self.nodes = found.bounds[open_], found.rounds[open_], found.nodes[open_]
        R = len(work.form.bound)
        self.price = np.ascontiguousarray(np.broadcast_to(work.price, (len(work.lengths), R))[open_])
        self.multipliers = np.zeros(self.price.shape)

    def settle(self, max_rounds: int, max_nodes: int) -> None:
        """Soft-DD, then A* on what that leaves unproven; writes down what was found."""
        chunks = balanced(self.indptr, max(len(self.open) // SEQUENCES_A_CHUNK, 1))

        def chunk(c: int) -> None:
            s = slice(*chunks[c])
            for k in s.start + np.flatnonzero(np.isneginf(self.primal[s])):
                self._try_hard(int(k))
            self._dual(s, max_rounds)
            broken = self.work._broken(self.indptr[s.start : s.stop + 1], self.path, self.pattern)
            self.primal[s] -= broken.sum(axis=1)
            for k in np.flatnonzero(is_open(self.primal[s], self.bound[s])) if max_nodes else ():
                self._search(s.start + int(k), broken[k] > 0, max_nodes)

        run_chunks(chunk, len(chunks), self.work.threads)
        found = self.found
        found.labels[self.token] = self.path
        found.scores[self.open], found.bounds[self.open] = self.primal, self.bound
        found.rounds[self.open], found.nodes[self.open] = self.rounds, self.nodes

    def _dual(self, s: slice, max_rounds: int) -> None:
        from espalier.kernels.charged import soft_dual

        model, work = self.work.decoder, self.work
        soft_dual(
            self.indptr[:-1][s], self.lengths[s], model.start, model.end, model.moves, model.matrices, self.rows,
            self.change, self.kind, *work.counting, self.price[s], max_rounds, GAP, self.multipliers[s],
            self.primal[s], self.bound[s], self.path, self.rounds[s],
        )  # fmt: skip

    def _try_hard(self, k: int) -> None:
        """Bound the degree of the hard rows of sequence k, scores aside; if it cannot be 0, nothing is possible."""
        from espalier.kernels.charged import soft_dual

        model, work, a, b = self.work.decoder, self.work, self.indptr[k], self.indptr[k + 1]
        hard = np.where(np.isinf(self.price[k]), 1.0, 0.0)
        path = self.path[a:b].copy()  # it is allowed, and without scores all that is allowed is equally good
        below = 1.0 - GAP_OF_DEGREES  # a bound that is not 0, or a labelling of degree 0, is enough
        primal, bound, rounds, free = np.array([-np.inf]), np.zeros(1), np.zeros(1, np.int64), np.zeros((1, len(hard)))
        soft_dual(
            np.zeros(1, np.int64), np.array([b - a]), *model.flat, _flat(self.rows[a:b]), _flat(self.change[a:b]),
            self.kind[a:b], *work.counting, hard[None], FLAT_ROUNDS, below, free, primal, bound, path, rounds,
        )  # fmt: skip
        self.rounds[k] += rounds[0]
        if bound[0] < -GAP_OF_DEGREES:
            self.bound[k] = -np.inf

    def _search(self, k: int, active: NDArray[np.bool_], max_nodes: int) -> None:
        """Search under the counting rules and the active parts; parts that the answer breaks become active."""
        a, b, model = self.indptr[k], self.indptr[k + 1], self.work.decoder
        size = min(FIRST_NODES, max_nodes)  # most searches are small: begin with little memory
        while is_open(self.primal[k], self.bound[k]):
            chosen = np.flatnonzero(active)
            shift = model.parts.pack(chosen)
            if shift is None:
                return
            met = self.path[a:b].copy()
            states = (b - a) * len(model.start) << int(shift[-1])  # of all machines, at every token
            refine = size > FIRST_NODES and len(chosen) > 0 and states <= REFINED
            score, proven, made = self._astar(k, chosen, shift, refine, size, met)
            self.bound[k] = min(self.bound[k], proven)
            self.nodes[k] += made
            if score > self.primal[k]:
                broken = self.work._broken(np.array([0, b - a]), met, self.pattern[a:b])[0]
                if np.isinf(broken[chosen]).any():  # a machine got lost: nobody knows the price of this answer
                    return
                broken[chosen] = 0.0  # paid
                if score - broken.sum() > self.primal[k]:
                    self.path[a:b], self.primal[k] = met, score - broken.sum()
                active = active | (broken > 0)
            elif size == max_nodes:
                return
            else:
                size = min(8 * size, max_nodes)

    def _astar(
        self, k: int, chosen: Int, shift: NDArray[np.uint64], refine: bool, size: int, path: NDArray[np.int16]
    ) -> tuple[float, float, int]:
        """Search sequence k with up to `size` nodes; a labelling that is better than the one in `path` replaces it."""
        from espalier.kernels.search import count_search

        work, model, s = self.work, self.work.decoder, slice(self.indptr[k], self.indptr[k + 1])
        primal = float(self.primal[k])
        found: tuple[float, float, int] = count_search(
            (model.start, model.end, model.moves, self.rows[s], self.change[s], self.kind[s]),
            (*work.counting, self.price[k], self.multipliers[k], work.form.drift),
            self.pattern[s],
            (model.n_labels, chosen, shift, work.parts),
            refine,
            size,
            GAP / 2 * max(1.0, abs(primal)) if np.isfinite(primal) else 0.0,
            primal,
            path,
        )
        return found


def _flat(scores: Float) -> Float:
    """Return 0 for every finite score; what is infinite stays. The memory is laid out for kernels."""
    flat = aligned(*scores.shape)
    flat[:] = np.where(np.isfinite(scores), 0.0, scores)
    return flat


# Folding, counting and climbing.


MOST_STATES = 64  # besides one for each label
MOST_VALUES = 4_000_000  # of all matrices together
LARGEST_KEPT = 100_000  # transition scores of a decoder that is kept for the next batch
SHORT_SIGHTED = (n.Implies, n.Change, n.Length, n.If, n.All, n.Exists)


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
            degrees = np.array([grounded.monitor(k).degree(y) for k in rules], np.int64)
            found.scores[i] -= price(degrees, rho[list(rules)])
            if not y:
                found.bounds[i] = found.scores[i]


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
