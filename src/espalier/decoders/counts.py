"""Rules that only count: the form that the lane kernels decode, and the decoder of whole batches.

Most rule sets come down to three kinds of charges: for a label at a token (token rules), for a change of label into a
token (punctuation), and for counts of segments and tokens of each label (each field once, at most one venue, a title
required ...). `CountForm.of` recognises such a set; what it cannot express goes the general way.

A feature value[f, i, j] fits if it depends on the target j alone, but for i = j: then it is `token[f, j]` for every
token of label j, plus `open[f, j]` where a run of j begins. Only transitions that the potentials allow are asked, so
IOB2 tags fit too: what an invalid transition would count does not matter.

`CountDecoder` decodes N sequences, with more work only for the few that break a rule:

    1. Charge local rules in the potentials; Viterbi, eight sequences at a time. Penalties are never negative, so an
       answer that breaks no other rule is optimal: most sequences end here.
    2. For the others a few rounds of Soft-DD, again eight at a time: bound and answer meet for nearly all.
    3. A* with the bound of the last multipliers for what is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import GAP
from espalier.errors import InputError
from espalier.kernels.charged import charge_counts, charged_viterbi, lay_out, soft_dual
from espalier.kernels.rows import padded
from espalier.kernels.search import count_search
from espalier.kernels.vector import LANES, aligned
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.rules.compile import Compiled
from espalier.rules.grounding import holds_when_empty
from espalier.rules.predicates import ALWAYS

__all__ = ["BatchDecoding", "Conditions", "CountDecoder", "CountForm"]

TOKENS_A_CHUNK = 4096
SEQUENCES_A_CHUNK = 64
FIRST_NODES = 1024

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """Where the conditions of a rule set hold, as patterns: most tokens have none or the same few.

    pattern : int64[M], the pattern of each token; patterns : bool[P, B], the conditions that hold in each.
    """

    pattern: Int
    patterns: NDArray[np.bool_]

    @classmethod
    def of(cls, bits: NDArray[np.bool_]) -> Conditions:
        """Number the different rows of bits : bool[M, B] (see `Compiled.ground_bits`)."""
        packed = np.packbits(bits, axis=1)
        padding = np.zeros((len(bits), -packed.shape[1] % 8), np.uint8)
        words = np.ascontiguousarray(np.concatenate([packed, padding], axis=1)).view(np.uint64)
        if words.shape[1] > 1:
            _, first, pattern = np.unique(words, axis=0, return_index=True, return_inverse=True)
        else:
            code = words[:, 0] if words.shape[1] else np.zeros(len(bits), np.uint64)
            _, first, pattern = np.unique(code, return_index=True, return_inverse=True)
        return cls(pattern.reshape(-1).astype(np.int64), bits[first])


@dataclass(frozen=True, slots=True, eq=False)
class CountForm:
    """A rule set as charges, for one set of penalties.

    unary_bits, unary_charges : int64[U] and float64[U, L]; what a label pays where condition number `bit` holds.
    change_bits, change_prices : int64[V] and float64[V]; what a change of label into such a token pays.
    steps : float64[L + 1, L]; what label j after i (i = L: as the first) pays at every token.
    label_ptr, label_row, label_open, label_token : the rows that each label counts in, by label.
    bound, price : float64[R]; gate : int64[R], the condition that switches a row on at the first token, -1: always.
    on_empty : bool[R], rows that apply to a sequence without tokens; rising : bool[R], without negative coefficients.
    """

    unary_bits: Int
    unary_charges: Float
    change_bits: Int
    change_prices: Float
    steps: Float
    label_ptr: Int
    label_row: Int
    label_open: Float
    label_token: Float
    bound: Float
    price: Float
    gate: Int
    on_empty: NDArray[np.bool_]
    rising: NDArray[np.bool_]

    @classmethod
    def of(cls, compiled: Compiled, penalties: Float, trans: Float, start: Float) -> CountForm | None:
        """Return the form for potentials with these transitions, or None if a rule with a price does not fit."""
        if any(form == "monitor" and rho > 0 for form, rho in zip(compiled.form, penalties, strict=True)):
            return None
        L = len(start)
        charges: list[tuple[int, Float]] = []
        changes: list[tuple[int, float]] = []
        steps = np.zeros((L + 1, L))
        different = ~np.eye(L, dtype=bool)
        for table in compiled.local_tables():
            rho = float(penalties[table.rule])
            if rho == 0:
                continue
            if table.unary is not None:
                charges.append((table.bit, _priced(table.unary, rho)))
                continue
            assert table.pair is not None
            assert table.first is not None
            if compiled.conditions[table.bit] == ALWAYS:
                steps += _priced(np.concatenate([table.pair, table.first[None]]), rho)
                continue
            amount = int(table.pair[0, 1]) if L > 1 else 0
            if table.first.any() or not np.array_equal(table.pair, amount * different):
                return None
            changes.append((table.bit, float(_priced(np.array([amount]), rho)[0])))
        rows = _rows(compiled, penalties, trans - steps[:L], start - steps[L])
        if rows is None:
            return None
        return cls(
            np.array([bit for bit, _ in charges], np.int64),
            np.array([charge for _, charge in charges]).reshape(-1, L),
            np.array([bit for bit, _ in changes], np.int64),
            np.array([price for _, price in changes], np.float64),
            steps,
            *rows,
        )

    def pattern_charges(self, patterns: NDArray[np.bool_], width: int) -> tuple[Float, Float]:
        """Return what each pattern of conditions charges, float64[P, width] for labels and float64[P] for a change."""
        charges = np.zeros((len(patterns), width))
        charges[:, : self.unary_charges.shape[1]] = _sums(patterns[:, self.unary_bits], self.unary_charges)
        return charges, _sums(patterns[:, self.change_bits], self.change_prices[:, None])[:, 0]

    def row_prices(self, indptr: Int, conditions: Conditions) -> Float:
        """Return the price of every row for each sequence, float64[N, R], or [1, R] if all pay the same.

        A gate holds at every token of a sequence or at none, so the first is asked.
        """
        if (self.gate < 0).all():
            return self.price[None]
        first_bits = np.zeros((len(indptr) - 1, conditions.patterns.shape[1]), bool)
        present = np.diff(indptr) > 0
        first_bits[present] = conditions.patterns[conditions.pattern[indptr[:-1][present]]]
        on = np.concatenate([first_bits, np.ones((len(first_bits), 1), bool)], axis=1)[:, self.gate]
        on[~present] = self.on_empty
        return np.where(on, self.price, 0.0)


def _sums(on: NDArray[np.bool_], charges: Float) -> Float:
    """Σ of the charges that are on; an infinite one forbids."""
    hard = np.isinf(charges)
    total = on.astype(np.float64) @ np.where(hard, 0.0, charges)
    return np.where(on.astype(np.float64) @ hard > 0, np.inf, total)


def _priced(amounts: NDArray[np.int64], rho: float) -> Float:
    """Amounts times a penalty, where 0 · inf is 0."""
    return np.asarray(np.where(amounts > 0, np.inf, 0.0) if np.isinf(rho) else amounts * rho, np.float64)


Rows = tuple[Int, Int, Float, Float, Float, Float, Int, NDArray[np.bool_], NDArray[np.bool_]]


def _rows(compiled: Compiled, penalties: Float, trans: Float, start: Float) -> Rows | None:
    """Split the linear rows that have a price into counts of runs and of tokens of each label."""
    form = compiled.linear
    used = np.flatnonzero(penalties[form.rule] > 0)
    L = len(start)
    counted = np.tensordot(form.coefficients[used].astype(np.float64), form.values.astype(np.float64), axes=1)
    allowed = np.isfinite(np.concatenate([trans, start[None]]))
    entered = allowed & ~np.eye(L + 1, L, dtype=bool)
    stays = np.diagonal(allowed[:L])
    inner = np.diagonal(counted[:, :L], axis1=1, axis2=2)  # [R, L]: j after j
    low = np.where(entered, counted, np.inf).min(axis=1)
    high = np.where(entered, counted, -np.inf).max(axis=1)
    reached = entered.any(axis=0)
    if (low < high)[:, reached].any():
        return None
    outer = np.where(reached, low, inner)
    token = np.where(stays, inner, outer)  # a label that cannot follow itself: every run is one token long
    opened = outer - token
    row, label = np.nonzero((opened != 0) | (token != 0))
    by_label = np.lexsort((row, label))
    row, label = row[by_label], label[by_label]
    return (
        np.searchsorted(label, np.arange(L + 1)).astype(np.int64),
        row.astype(np.int64),
        opened[row, label],
        token[row, label],
        form.bound[used].astype(np.float64),
        penalties[form.rule[used]],
        form.gate[used],
        np.array([g < 0 or holds_when_empty(compiled.conditions[g]) for g in form.gate[used].tolist()], bool),
        np.asarray(((opened + token >= 0) & (token >= 0)).all(axis=1), bool),
    )


@dataclass(frozen=True, slots=True, eq=False)
class BatchDecoding:
    """The best labellings of N sequences under rules.

    labels : int16[M]; scores, bounds : float64[N]; rounds, nodes : int64[N], Viterbi passes and search nodes spent.
    A sequence that no labelling satisfies has score and bound -inf.
    """

    labels: NDArray[np.int16]
    scores: Float
    bounds: Float
    rounds: Int
    nodes: Int

    @property
    def optimal(self) -> NDArray[np.bool_]:
        """Where the answer is proven to be the best, bool[N]; an infeasible sequence has none."""
        return ~_is_open(self.scores, self.bounds) & np.isfinite(self.scores)


def _is_open(scores: Float, bounds: Float) -> NDArray[np.bool_]:
    """Is the bound still above the score, by more than rounding?  (From -inf every finite bound is far away.)"""
    slack = GAP * np.maximum(1.0, np.abs(np.where(np.isfinite(scores), scores, 0.0)))
    return np.asarray(bounds > scores + slack)


@dataclass(frozen=True, slots=True, eq=False)
class CountDecoder:
    """A `CountForm` and the transitions of a model, ready for any number of batches.

    moves : float64[L + 1, L]; transitions by target, -inf on the diagonal, then the diagonal.
    """

    form: CountForm
    moves: Float
    start: Float
    end: Float

    @classmethod
    def of(cls, compiled: Compiled, rho: Float, trans: Float, start: Float, end: Float) -> CountDecoder | None:
        """Return the decoder, or None if the rules do not only count."""
        trans, start, end = (np.asarray(array, np.float64) for array in (trans, start, end))
        if len(start) != len(compiled.labels):
            raise InputError(f"potentials of {len(start)} labels, but rules for {len(compiled.labels)}")
        form = CountForm.of(compiled, rho, trans, start)
        if form is None:
            return None
        trans, start = trans - form.steps[:-1], start - form.steps[-1]
        # By rows in memory, which the kernel reads by address.
        moves = np.ascontiguousarray(np.concatenate([trans.T, np.diagonal(trans)[None]]))
        moves[np.arange(len(start)), np.arange(len(start))] = -np.inf
        return cls(form, moves, start, end)

    def decode(
        self,
        indptr: Int,
        unary: Float,
        conditions: Conditions,
        *,
        threads: int | None = None,
        max_rounds: int = 20,
        max_nodes: int = 65_536,
    ) -> BatchDecoding:
        """Decode N sequences of M tokens; unary : float64[M, L]; conditions : where those of the rules hold."""
        if unary.ndim != 2 or unary.shape[1] != len(self.start) or len(conditions.pattern) != len(unary):
            raise InputError(f"unary has shape {unary.shape}, expected ({len(conditions.pattern)}, {len(self.start)})")
        return _Work(self, indptr, unary, conditions, choose_threads(len(unary), threads)).decode(max_rounds, max_nodes)


class _Work:
    """One batch on its way: Viterbi for all in chunks, then the sequences that are still open, laid out anew."""

    def __init__(self, decoder: CountDecoder, indptr: Int, unary: Float, conditions: Conditions, threads: int) -> None:
        self.decoder, self.form, self.threads = decoder, decoder.form, threads
        self.indptr, self.pattern = indptr, conditions.pattern
        self.unary = np.ascontiguousarray(unary, dtype=np.float64)  # the kernel reads it by address
        self.lengths = np.diff(indptr)
        self.charges, self.prices = self.form.pattern_charges(conditions.patterns, padded(unary.shape[1]))
        self.price = self.form.row_prices(indptr, conditions)
        form = self.form
        self.counting = (form.label_ptr, form.label_row, form.label_open, form.label_token, form.bound)

    def decode(self, max_rounds: int, max_nodes: int) -> BatchDecoding:
        N, path = len(self.lengths), np.zeros(len(self.unary), np.int16)
        bounds = self._viterbi(path)
        primal = bounds.copy()
        charge_counts(0, N, self.indptr, path, *self.counting, self.price, primal)
        bounds[self.lengths == 0] = primal[self.lengths == 0]  # nothing to choose
        found = BatchDecoding(path, primal, bounds, np.ones(N, np.int64), np.zeros(N, np.int64))
        open_ = np.flatnonzero(_is_open(primal, bounds))
        if len(open_):
            self._settle(open_, found, max_rounds, max_nodes)
        found.labels[np.repeat(np.isneginf(found.bounds), self.lengths)] = -1
        return found

    def _viterbi(self, path: NDArray[np.int16]) -> Float:
        """Write the labels of local rules alone, int16[M]; return their scores, float64[N]."""
        decoder, scores = self.decoder, np.zeros(len(self.lengths))
        order = np.argsort(self.lengths, kind="stable")  # lanes of similar length waste little
        order = order[np.searchsorted(self.lengths[order], 1) :]
        order = np.pad(order, (0, -len(order) % LANES), "edge") if len(order) else order
        steps = np.concatenate([[0], np.cumsum(self.lengths[order[LANES - 1 :: LANES]])])
        chunks = balanced(steps, max(len(self.unary) // TOKENS_A_CHUNK, 1))

        def chunk(c: int) -> None:
            charged_viterbi(
                *chunks[c], order, self.indptr, self.unary, self.pattern, self.charges, self.prices,
                decoder.start, decoder.end, decoder.moves, path, scores,
            )  # fmt: skip

        run_chunks(chunk, len(chunks), self.threads)
        return scores

    def _lay_out(self, tokens: Int) -> tuple[Float, Float]:
        """Return the charged rows of these tokens and the prices of a change into each."""
        n = len(tokens)
        rows, change = aligned(n, self.charges.shape[1], empty=True), np.empty(n)
        lay_out(0, n, tokens, self.unary, self.pattern, self.charges, self.prices, rows, change)
        return rows, change

    def _settle(self, open_: Int, found: BatchDecoding, max_rounds: int, max_nodes: int) -> None:
        """Soft-DD on the sequences `open_`, then A* on those that it leaves unproven; updates what was found."""
        lengths, decoder, form = self.lengths[open_], self.decoder, self.form
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        token = np.arange(indptr[-1]) + np.repeat(self.indptr[open_] - indptr[:-1], lengths)
        rows, change = self._lay_out(token)
        place, path = indptr[:-1], found.labels[token]
        primal, bound, rounds = found.scores[open_], found.bounds[open_], found.rounds[open_]
        price = np.ascontiguousarray(np.broadcast_to(self.price, (len(self.lengths), len(form.bound)))[open_])
        multipliers = np.zeros(price.shape)
        common = (decoder.start, decoder.end, decoder.moves, rows, change, *self.counting)
        chunks = balanced(indptr, max(len(open_) // SEQUENCES_A_CHUNK, 1))

        def chunk(c: int) -> None:
            s = slice(*chunks[c])
            soft_dual(
                place[s], lengths[s], *common, price[s], max_rounds, GAP, multipliers[s], primal[s], bound[s], path,
                rounds[s],
            )  # fmt: skip
            for k in np.flatnonzero(_is_open(primal[s], bound[s])) + s.start if max_nodes else ():
                size = min(FIRST_NODES, max_nodes)  # most searches are small: begin with little memory
                while True:
                    primal[k], proven, made = count_search(
                        place[k], lengths[k], *common, price[k], multipliers[k], form.rising, size, primal[k], path
                    )
                    bound[k] = min(bound[k], proven)
                    found.nodes[open_[k]] += made
                    if size == max_nodes or not _is_open(primal[k], bound[k]):
                        break
                    size = min(8 * size, max_nodes)

        run_chunks(chunk, len(chunks), self.threads)
        found.labels[token] = path
        found.scores[open_], found.bounds[open_], found.rounds[open_] = primal, bound, rounds
