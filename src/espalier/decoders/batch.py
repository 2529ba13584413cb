"""Decode many sequences under rules, most of them by compiled passes over the whole batch.

    fold      rules on neighbours and on lengths of segments become states of the chain               (`fold`)
    count     Viterbi, Soft-DD and A* under local rules, rules that count, rules that machines read   (`CountDecoder`)
    climb     what that leaves unproven goes on to A* and an integer program, one by one              (`climb`)

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
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus
from espalier.decoders.base import Decoding, Problems, evaluate, price
from espalier.decoders.certify import GAP, BatchDecoding, is_open
from espalier.decoders.counts import Conditions, CountForm, Parts
from espalier.decoders.single import decode_single
from espalier.errors import InputError
from espalier.kernels import aligned, padded, worth_loading
from espalier.kernels.layout import ChainArrays, ChargedRows, Lists, Machines, Tokens
from espalier.lanes import rows_of, rows_of_types, tag_rows
from espalier.lazy import cached_property
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch
from espalier.rules import nodes as n
from espalier.rules.compile import Compiled
from espalier.rules.forms import total_price
from espalier.rules.lowering import Bits

if TYPE_CHECKING:
    from espalier.rules.automaton import Automaton

__all__ = ["BatchDecoding", "CountDecoder", "Folded", "decode_batch", "decode_problems", "fold", "folded_decoder"]

TOKENS_A_CHUNK = 4096
SEQUENCES_A_CHUNK = 64
LANES_FROM = 16, 64  # sequences and labels: with fewer labels one sequence at a time is as fast
FIRST_NODES = 1024
COMPILED_NODES = 65_536  # of the compiled search: of what it leaves, A* proves more than a longer one does
SHORT_SEARCH = 2_000
MOST_NODES = 100_000  # of all searches for one sequence
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

    @classmethod
    def of(
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
        return cls(form, parts, np.ascontiguousarray(moves), matrices, start, end, behind)

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
        self,
        indptr: Int,
        unary: Float,
        conditions: Conditions,
        kinds: NDArray[np.int32],
        k: int,
        longest: int,
        threads: int | None,
    ) -> Lists:
        """Return the k best of `longest` labellings of N sequences, as states of the chain (see `kernels.readings`)."""
        from espalier.kernels.readings import rank_readings

        work = _Work(self, indptr, unary, self._kinds(indptr, kinds), conditions, choose_threads(len(unary), threads))
        (multipliers, bounds), M = work.multipliers(), len(unary)
        lists = Lists(np.empty((k, M), np.int16), np.empty((len(bounds), k)), bounds)
        laid = work.laid(np.arange(M))
        price = np.ascontiguousarray(np.broadcast_to(work.price, multipliers.shape))
        chunks, rows = balanced(indptr, max(M // TOKENS_A_CHUNK, 1)), self.form.counting

        def chunk(c: int) -> None:
            rank_readings(*chunks[c], indptr, laid, self.model, rows, price, multipliers, work.parts, longest, lists)

        run_chunks(chunk, len(chunks), work.threads)
        return lists

    def _kinds(self, indptr: Int, kinds: NDArray[np.int32] | None) -> NDArray[np.int32]:
        """Return the transition class of each token; nothing leads into a first token."""
        several = kinds is not None and len(self.moves) > 1
        chosen = np.array(kinds, np.int32) if several else np.zeros(int(indptr[-1]), np.int32)
        chosen[indptr[:-1][np.diff(indptr) > 0]] = 0
        return chosen

    @property
    def model(self) -> ChainArrays:
        """The arrays as kernels take them."""
        return ChainArrays(self.start, self.end, self.moves, self.matrices)

    @cached_property
    def flat(self) -> ChainArrays:
        """The same without scores: only what they forbid is left."""
        return ChainArrays(*map(_flat, self.model))

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
        self.indptr, self.lengths = indptr, np.diff(indptr)
        charges, prices = self.form.pattern_charges(conditions.patterns, padded(unary.shape[1]))
        scores = np.ascontiguousarray(unary, dtype=np.float64)  # the kernel reads it by address
        self.tokens = Tokens(scores, conditions.pattern, charges, prices, kinds)
        self.price = self.form.row_prices(indptr, conditions)
        self.parts = decoder.parts.tables(conditions, decoder.labels)

    def decode(self, max_rounds: int, max_nodes: int) -> BatchDecoding:
        N = len(self.lengths)
        path, bounds = self._viterbi()
        primal = bounds.copy()
        if len(self.form.bound):
            from espalier.kernels.charged import charge_counts

            charge_counts(self.indptr, path, self.form.counting, self.price, primal)
        broken = self.broken(self.indptr, path, self.tokens.pattern).sum(axis=1)
        empty = self.lengths == 0
        bounds[empty] = primal[empty] - broken[empty]  # nothing to choose
        found = BatchDecoding(path, primal - broken, bounds, np.ones(N, np.int64), np.zeros(N, np.int64))
        open_ = np.flatnonzero(is_open(found.scores, bounds))
        if len(open_):
            opened = _Open(self, open_, found, primal[open_])
            opened.settle(max_rounds, max_nodes)
            self.multiplied = open_, opened.multipliers
        impossible = np.isneginf(found.bounds)
        if impossible.any():
            found.labels[np.repeat(impossible, self.lengths)] = -1
        return found

    def multipliers(self) -> tuple[Float, Float]:
        """Return those of Soft-DD after a few rounds, float64[N, R], 0 where no rule is broken; bounds, float64[N]."""
        found = np.zeros((len(self.lengths), len(self.form.bound)))
        bounds = self.decode(20, 0).bounds
        if self.multiplied is not None:
            open_, own = self.multiplied
            found[open_] = own
        return found, bounds

    def broken(self, indptr: Int, path: NDArray[np.int16], pattern: Int) -> Float:
        """Return what every part charges for each labelling, float64[N, Q]."""
        charged = np.zeros((len(indptr) - 1, self.decoder.parts.Q))
        if charged.size:
            from espalier.kernels.parts import charge_parts

            charge_parts(indptr, path, pattern, self.parts, charged)
        return charged

    def laid(self, token: Int) -> ChargedRows:
        """Return the charged rows of some tokens, laid out for kernels."""
        from espalier.kernels.charged import lay_out

        unary, pattern, charges, prices, kind = self.tokens
        rows, change = aligned(len(token), charges.shape[1], empty=True), np.empty(len(token))
        lay_out(0, len(token), token, unary, pattern, charges, prices, rows, change)
        return ChargedRows(rows, change, kind[token], pattern[token])

    def _viterbi(self) -> tuple[NDArray[np.int16], Float]:
        """Return the labels of local rules alone, int16[M], and their scores, float64[N]."""
        decoder, (_, pattern, charges, prices, _) = self.decoder, self.tokens
        many = len(self.lengths) >= LANES_FROM[0] and len(decoder.start) >= LANES_FROM[1]
        if many and len(decoder.moves) == 1 and not prices.any():
            token = np.arange(len(pattern))
            free = not charges.any()
            rows = rows_of_types(self.tokens.unary, token) if free else rows_of(self.laid(token).rows, token)
            steps, start, end = decoder.steps[0], decoder.start, decoder.end
            return tag_rows(self.indptr, rows, steps, start, end, self.threads, allow_infeasible=True)
        from espalier.kernels.charged import charged_viterbi

        path, scores = np.zeros(len(pattern), np.int16), np.zeros(len(self.lengths))
        chunks = balanced(self.indptr, max(len(path) // TOKENS_A_CHUNK, 1))

        def chunk(c: int) -> None:
            charged_viterbi(*chunks[c], self.indptr, self.tokens, decoder.model, path, scores)

        run_chunks(chunk, len(chunks), self.threads)
        return path, scores


class _Open:
    """The sequences of a batch that are not proven yet, laid out anew."""

    def __init__(self, work: _Work, open_: Int, found: BatchDecoding, primal: Float) -> None:
        self.work, self.open, self.found = work, open_, found
        self.indptr, self.token = _chosen(work.indptr, open_)
        self.laid = work.laid(self.token)
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
            self._try_hard(s.start + np.flatnonzero(np.isneginf(self.primal[s])))
            self._dual(s, max_rounds)
            broken = self.work.broken(self.indptr[s.start : s.stop + 1], self.path, self.laid.pattern)
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

        soft_dual(
            self.indptr[s.start : s.stop + 1], self.work.decoder.model, self.laid, self.work.form.counting,
            self.price[s], max_rounds, GAP, self.multipliers[s], self.primal[s], self.bound[s], self.path,
            self.rounds[s],
        )  # fmt: skip

    def _try_hard(self, chosen: Int) -> None:
        """Bound the degree of the hard rows of some sequences, scores aside; where it is not 0, nothing is possible."""
        from espalier.kernels.charged import soft_dual

        indptr, token = _chosen(self.indptr, chosen)
        rows, change, kind, pattern = (array[token] for array in self.laid)
        hard = np.where(np.isinf(self.price[chosen]), 1.0, 0.0)
        path = self.path[token]  # it is allowed, and without scores all that is allowed is equally good
        below = 1.0 - GAP_OF_DEGREES  # a bound that is not 0, or a labelling of degree 0, is enough
        primal, bound = np.full(len(chosen), -np.inf), np.zeros(len(chosen))
        rounds, free = np.zeros(len(chosen), np.int64), np.zeros(hard.shape)
        laid = ChargedRows(_flat(rows), _flat(change), kind, pattern)
        soft_dual(
            indptr, self.work.decoder.flat, laid, self.work.form.counting, hard, FLAT_ROUNDS, below, free,
            primal, bound, path, rounds,
        )  # fmt: skip
        self.rounds[chosen] += rounds
        self.bound[chosen[bound < -GAP_OF_DEGREES]] = -np.inf

    def _span(self, k: int) -> slice:
        return slice(int(self.indptr[k]), int(self.indptr[k + 1]))

    def _own(self, k: int) -> ChargedRows:
        return ChargedRows(*(array[self._span(k)] for array in self.laid))

    def _search(self, k: int, active: NDArray[np.bool_], max_nodes: int) -> None:
        """Search under the counting rules and the active parts; parts that the answer breaks become active."""
        span, model = self._span(k), self.work.decoder
        T = span.stop - span.start
        size = min(FIRST_NODES, max_nodes)  # most searches are small: begin with little memory
        while is_open(self.primal[k], self.bound[k]):
            chosen = np.flatnonzero(active)
            shift = model.parts.pack(chosen)
            if shift is None:
                return
            met = self.path[span].copy()
            states = T * len(model.start) << int(shift[-1])  # of all machines, at every token
            refine = size > FIRST_NODES and len(chosen) > 0 and states <= REFINED
            score, proven, made = self._astar(k, chosen, shift, refine, size, met)
            self.bound[k] = min(self.bound[k], proven)
            self.nodes[k] += made
            if score > self.primal[k]:
                broken = self.work.broken(np.array([0, T]), met, self.laid.pattern[span])[0]
                if np.isinf(broken[chosen]).any():  # a machine got lost: nobody knows the price of this answer
                    return
                broken[chosen] = 0.0  # paid
                if score - broken.sum() > self.primal[k]:
                    self.path[span], self.primal[k] = met, score - broken.sum()
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

        work, primal = self.work, float(self.primal[k])
        slack = GAP / 2 * max(1.0, abs(primal)) if np.isfinite(primal) else 0.0
        found: tuple[float, float, int] = count_search(
            work.decoder.model, self._own(k), work.form.counting, self.price[k], self.multipliers[k],
            Machines(chosen, shift, work.parts), refine, size, slack, primal, path,
        )  # fmt: skip
        return found


def _chosen(indptr: Int, sequences: Int) -> tuple[Int, Int]:
    """Return where some sequences begin and end when they are laid end to end, and the numbers of their tokens."""
    lengths = np.diff(indptr)[sequences]
    own = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return own, np.arange(own[-1]) + np.repeat(indptr[sequences] - own[:-1], lengths)


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
    priced = tuple(k for k in form.rest if rho[k] > 0)
    wanted = compiled.remember(("folding", priced), lambda: _wanted(compiled, priced))
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


def _wanted(compiled: Compiled, rules: Sequence[int]) -> list[int]:
    """Return the rules that are worth folding: they look at neighbours, or at the length of a segment."""
    return [k for k in rules if all(isinstance(each, SHORT_SIGHTED) for each in n.walk(compiled.rules[k].node))]


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
    own = rho[list(automaton.rules)]
    prices = total_price(automaton.increment_rows, own)[automaton.increment_ids]  # [S + 1, C, L]
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
    final = total_price(automaton.final, own)
    end = batch.end[labels] - final[1:]
    kinds = np.zeros(len(unary), np.int32)
    kinds[later] = number
    chain = ChainBatch(batch.indptr, unary, trans, kinds, start, end)
    return Folded(chain, labels, automaton.rules, float(final[0]))


def decode_batch(
    batch: ChainBatch,
    compiled: Compiled,
    corpus: Corpus,
    penalties: ArrayLike | None = None,
    *,
    bits: Bits | None = None,
    **how: Any,
) -> BatchDecoding:
    """Decode every sequence of a batch under a compiled rule set; how : see `decode_problems`.

    corpus : the tokens of the batch. bits : `compiled.ground_bits(corpus)`, for callers that decode the same tokens
    again and again.
    """
    return decode_problems(Problems.of(batch, compiled, corpus, penalties, bits), **how)


def decode_problems(
    problems: Problems,
    *,
    threads: int | None = None,
    max_rounds: int = 20,
    max_nodes: int = MOST_NODES,
    climb: bool = True,
    seconds: float | None = None,
) -> BatchDecoding:
    """Return the best labelling of every problem, with a bound.

    max_rounds : of Soft-DD; max_nodes : of the searches for one sequence (0 leaves unproven answers alone). climb : go
    on, one by one, with what the compiled search leaves open? seconds : for the climb of a sequence. threads : of the
    compiled passes; results do not depend on it.
    """
    batch, rho, conditions = problems.batch, problems.penalties, Conditions.of(problems.bits)
    folded, decoder = folded_decoder(batch, problems.compiled, rho, conditions)
    chain = folded.batch
    states = decoder.decode(
        chain.indptr, chain.unary, conditions, chain.trans_class,
        threads=threads, max_rounds=max_rounds, max_nodes=min(max_nodes, COMPILED_NODES),
    )  # fmt: skip
    found = _with_labels(states, folded)
    _charge(found, decoder.parts, problems)
    open_ = np.flatnonzero(is_open(found.scores, found.bounds)).tolist() if max_nodes and climb else ()
    for i in open_:
        from espalier.decoders import climb as ladder

        # What a long compiled search leaves open, A* proves soon or never.
        nodes = max(max_nodes - int(found.nodes[i]), min(max_nodes, SHORT_SEARCH))
        _better(found, i, ladder.climb(problems.one(i), problems.certified(found, i), nodes, seconds), batch)
    return found


def _better(found: BatchDecoding, i: int, answer: Decoding, batch: ChainBatch) -> None:
    """Write down what a climb betters."""
    found.rounds[i], found.nodes[i], _ = answer.certificate.work
    found.bounds[i] = min(found.bounds[i], answer.certificate.bound)
    if answer.labels is not None and answer.score >= found.scores[i]:
        found.labels[batch.indptr[i] : batch.indptr[i + 1]] = answer.labels
        found.scores[i] = answer.score
        found.climbed[i] = answer.certificate.method


def folded_decoder(
    batch: ChainBatch, compiled: Compiled, rho: Float, conditions: Conditions
) -> tuple[Folded, CountDecoder]:
    """Return folded potentials and their decoder; the last one is kept, if it is not large."""
    folded = fold(batch, compiled, rho, conditions)
    chain = folded.batch

    def make() -> CountDecoder:
        return CountDecoder.of(
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


def _charge(found: BatchDecoding, parts: Parts, problems: Problems) -> None:
    """Charge the answers for rules that no compiled search takes, or whose machine got lost; bounds hold without."""
    ends, rest = problems.batch.indptr.tolist(), list(parts.rest)
    lost = np.isneginf(found.scores) & (found.bounds > -np.inf) & parts.may_get_lost
    for i in np.flatnonzero(lost | (found.scores > -np.inf) & bool(rest)).tolist():
        y, problem = found.labels[ends[i] : ends[i + 1]].tolist(), problems.one(i)
        if lost[i]:
            found.scores[i] = evaluate(problem, y).score
        else:
            degrees = np.array([problem.grounded.monitor(k).degree(y) for k in rest], np.int64)
            found.scores[i] -= price(degrees, problems.penalties[rest])
        if not y:
            found.bounds[i] = found.scores[i]
