"""Rules as tables for the compiled decoders: those that only count (`CountForm`), those that machines read (`Parts`).

Most rule sets come down to three kinds of charges: for a label at a token (token rules), for a change of label into a
token (punctuation), and for counts of segments and tokens of each label (each field once, at most one venue, a title
required ...). `CountForm.of` takes the rules that fit, and names the others.

A feature value[f, i, j] fits if it depends on the target j alone, but for i = j: then it is `token[f, j]` for every
token of label j, plus `open[f, j]` where a run of j begins. Only transitions that the potentials allow are asked, so
IOB2 tags fit too: what an invalid transition would count does not matter.

Labels may be split into several states (`decoders.batch`); then `labels` names the label behind each.

Order, exclusion, alternatives, whatever is small, are machines.
A rule is split into independent parts (`Machine.parts`), each a machine of a few states: "a before b" remembers whether
a b has ended, "a excludes b" which of the two were seen. The search carries the states of those parts only that an
answer has broken so far (see `decoders.batch`); all others are checked afterwards, in one pass over the labels.

A machine whose states grow with the sequence is cut: beyond the first CUT_STATES states it is *lost*, and a lost
machine charges nothing more. In the search that is still a bound; an answer on which a machine gets lost has no price
here (it is inf).

Cost of making the tables: O(states · 2^conditions · L²) Python steps a part, once a rule set.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.kernels.layout import Counting, Tables
from espalier.rules.compile import Compiled, LocalTable
from espalier.rules.forms import Machine, State, priced, total_price
from espalier.rules.lowering import holds_when_empty
from espalier.rules.predicates import ALWAYS

if TYPE_CHECKING:
    from espalier.rules.automaton import Component

__all__ = ["Conditions", "CountForm", "Parts"]

FEW = 64  # tokens, whose patterns are not worth comparing

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
        """Number the different rows of bits : bool[M, B] (see `Compiled.ground_bits`); of a few tokens, all rows."""
        if len(bits) <= FEW:
            return cls(np.arange(len(bits)), bits)
        if not bits.shape[1]:
            return cls(np.zeros(len(bits), np.int64), bits[:1])
        packed = np.packbits(bits, axis=1)
        padding = np.zeros((len(bits), -packed.shape[1] % 8), np.uint8)
        words = np.ascontiguousarray(np.concatenate([packed, padding], axis=1)).view(np.uint64)
        if words.shape[1] > 1:
            _, first, pattern = np.unique(words, axis=0, return_index=True, return_inverse=True)
        else:
            _, first, pattern = np.unique(words[:, 0], return_index=True, return_inverse=True)
        return cls(pattern.reshape(-1).astype(np.int64), bits[first])


@dataclass(frozen=True, slots=True, eq=False)
class CountForm:
    """A rule set as charges, for one set of penalties.

    unary_bits, unary_charges : int64[U] and float64[U, L]; what a label pays where condition number `bit` holds.
    change_bits, change_prices : int64[V] and float64[V]; what a change of label into such a token pays.
    steps : float64[L + 1, L]; what label j after i (i = L: as the first) pays at every token.
    label_ptr, label_row, label_open, label_token : the rows that each label counts in, by label.
    bound, price : float64[R]; gate : int64[R], the condition that switches a row on at the first token, -1: always.
    on_empty : bool[R], rows that apply to a sequence without tokens.
    drift : int64[R], 1 where no label lowers the count, -1 where none raises it, else 0.
    rest : the numbers of the rules with a price that are not in here.
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
    drift: Int
    rest: tuple[int, ...]

    @classmethod
    def of(
        cls,
        compiled: Compiled,
        penalties: Float,
        trans: Float,
        start: Float,
        *,
        labels: Int | None = None,
        folded: Collection[int] = (),
    ) -> CountForm:
        """Return the form of the rules that fit potentials with these transitions, float64[L, L] or float64[C, L, L].

        labels : int64[L], the label behind each state, if labels are split; folded : rules that the potentials pay.
        """
        L = len(start)
        behind = np.arange(L) if labels is None else labels
        priced_rules = [k for k in range(compiled.K) if penalties[k] > 0 and k not in folded]
        tables: dict[int, list[LocalTable]] = {k: [] for k in priced_rules if compiled.form[k] == "local"}
        for table in compiled.local_tables():
            if table.rule in tables:
                tables[table.rule].append(table)
        rest = [k for k in priced_rules if compiled.form[k] == "monitor"]
        rest += [k for k, own in tables.items() if not all(_fits(table, compiled, behind) for table in own)]
        charges: list[tuple[int, Float]] = []
        changes: list[tuple[int, float]] = []
        steps = np.zeros((L + 1, L))
        for table in (table for k, own in tables.items() if k not in rest for table in own):
            rho = float(penalties[table.rule])
            if table.unary is not None:
                charges.append((table.bit, priced(table.unary[behind], rho)))
                continue
            assert table.pair is not None
            assert table.first is not None
            if compiled.conditions[table.bit] == ALWAYS:
                steps += priced(_spread(np.concatenate([table.pair, table.first[None]]), behind), rho)
            else:
                changes.append((table.bit, float(priced(table.pair[:1, 1], rho)[0])))
        linear = np.array([k in priced_rules for k in compiled.linear.rule.tolist()], bool)
        broken, rows = _rows(compiled, penalties, linear, trans - steps[:L], start - steps[L], behind)
        return cls(
            np.array([bit for bit, _ in charges], np.int64),
            np.array([charge for _, charge in charges]).reshape(-1, L),
            np.array([bit for bit, _ in changes], np.int64),
            np.array([price for _, price in changes], np.float64),
            steps,
            **rows,
            rest=tuple(sorted([*rest, *broken])),
        )

    @classmethod
    def prepared(cls, compiled: Compiled, penalties: Float, trans: Float, start: Float) -> CountForm:
        """Return the form of all rules; that of the last potentials with the same transitions is kept."""
        key = (penalties.tobytes(), trans.tobytes(), start.tobytes())
        return compiled.latest("count form", key, lambda: cls.of(compiled, penalties, trans, start))

    @property
    def counting(self) -> Counting:
        """The rows, as kernels take them."""
        return Counting(self.label_ptr, self.label_row, self.label_open, self.label_token, self.bound, self.drift)

    def pattern_charges(self, patterns: NDArray[np.bool_], width: int) -> tuple[Float, Float]:
        """Return what each pattern of conditions charges, float64[P, width] for labels and float64[P] for a change."""
        charges = np.zeros((len(patterns), width))
        if not patterns.any():  # as in most short texts
            return charges, np.zeros(len(patterns))
        charges[:, : self.unary_charges.shape[1]] = total_price(patterns[:, self.unary_bits], self.unary_charges)
        return charges, total_price(patterns[:, self.change_bits], self.change_prices)

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


def _spread(matrix: NDArray[Any], behind: Int) -> NDArray[Any]:
    """Return [..., L + 1, L] over states instead of labels; the last row is that of no label before."""
    return matrix[..., np.append(behind, matrix.shape[-1])[:, None], behind]


def _fits(table: LocalTable, compiled: Compiled, behind: Int) -> bool:
    """Is a charge for a label, for a pair everywhere, or for every change where a condition holds?"""
    if table.unary is not None or compiled.conditions[table.bit] == ALWAYS:
        return True
    assert table.pair is not None
    assert table.first is not None
    L = len(table.first)
    if table.first.any() or L == 1 or len(behind) != L:
        return False
    return np.array_equal(table.pair, table.pair[0, 1] * ~np.eye(L, dtype=bool))


def _rows(
    compiled: Compiled, penalties: Float, chosen: NDArray[np.bool_], trans: Float, start: Float, behind: Int
) -> tuple[set[int], dict[str, Any]]:
    """Split linear rows into counts of runs and of tokens of each state, by the names of `CountForm`.

    Also return the rules of rows that do not split.
    """
    form, L = compiled.linear, len(start)
    used = np.flatnonzero(chosen)
    coefficients, values = form.coefficients[used].astype(np.float64), _spread(form.values.astype(np.float64), behind)
    allowed = np.isfinite(np.concatenate([trans.reshape(-1, L, L).max(axis=0), start[None]]))
    entered = allowed & ~np.eye(L + 1, L, dtype=bool)
    stays, reached = np.diagonal(allowed[:L]), entered.any(axis=0)
    inner = coefficients @ np.diagonal(values[:, :L], axis1=1, axis2=2)  # [R, L]: j after j
    # Features are few and rows are many: a sum of features that split does so, too. Other rows are looked at singly.
    low, splits = _entering(values, entered, reached)
    outer = coefficients @ np.where(splits[:, None] & reached, low, 0.0)
    open_ = np.flatnonzero((coefficients[:, ~splits] != 0).any(axis=1))
    outer[open_], splits = _entering(np.tensordot(coefficients[open_], values, axes=1), entered, reached)
    broken = set(form.rule[used[open_[~splits]]].tolist())
    kept = np.array([k not in broken for k in form.rule[used].tolist()], bool)
    used, outer, inner = used[kept], outer[kept], inner[kept]
    outer = np.where(reached, outer, inner)
    token = np.where(stays, inner, outer)  # a label that cannot follow itself: every run is one token long
    opened = outer - token
    row, label = np.nonzero((opened != 0) | (token != 0))
    by_label = np.lexsort((row, label))
    row, label = row[by_label], label[by_label]
    rises = ((outer >= 0) & (token >= 0)).all(axis=1)
    falls = ((outer <= 0) & (token <= 0)).all(axis=1)
    return broken, {
        "label_ptr": np.searchsorted(label, np.arange(L + 1)).astype(np.int64),
        "label_row": row.astype(np.int64),
        "label_open": opened[row, label],
        "label_token": token[row, label],
        "bound": form.bound[used].astype(np.float64),
        "price": penalties[form.rule[used]],
        "gate": form.gate[used],
        "on_empty": np.array(
            [g < 0 or holds_when_empty(compiled.conditions[g]) for g in form.gate[used].tolist()], bool
        ),
        "drift": np.where(rises, 1, np.where(falls, -1, 0)).astype(np.int64),
    }


def _entering(
    counted: Float, entered: NDArray[np.bool_], reached: NDArray[np.bool_]
) -> tuple[Float, NDArray[np.bool_]]:
    """Return what entering each label counts, float64[R, L], and where that is the same from everywhere, bool[R]."""
    low = np.where(entered, counted, np.inf).min(axis=1)
    high = np.where(entered, counted, -np.inf).max(axis=1)
    return low, ~(low < high)[:, reached].any(axis=1)


# Rules that machines read.


MOST_STATES = 64  # of one part
CUT_STATES = 16  # of a part whose states grow with the sequence
MOST_CONDITIONS = 8  # that one part looks at
MOST_ENTRIES = 10_000_000  # of all tables
MOST_BITS = 64  # of the states of the active parts, packed


class Cut(Machine):
    """A machine that is lost when it leaves the states `known`."""

    lost = "lost"

    def __init__(self, machine: Machine, known: frozenset[Hashable]) -> None:
        """Keep the states that are not lost."""
        self.machine, self.known = machine, known
        super().__init__(machine.initial, len(known) + 1, reads=machine.reads)

    @classmethod
    def of(cls, machine: Machine, always: frozenset[int], L: int) -> Cut:
        """Keep the states nearest to the beginning."""
        from espalier.rules.automaton import token_classes

        _, rows = token_classes(machine, always)
        known = {machine.initial}
        todo = [(machine.initial, -1)]
        seen = set(todo)
        for state, i in todo:  # grows while it is read: breadth first
            for after, j in [(machine.step(state, row, i, j)[0], j) for row in rows for j in range(L)]:
                if (after, j) not in seen and (after in known or len(known) < CUT_STATES - 1):
                    known.add(after)
                    seen.add((after, j))
                    todo.append((after, j))
        return cls(machine, frozenset(known))

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge the step on which the machine gets lost, and none after it."""
        if state == self.lost:
            return state, 0
        after, charged = self.machine.step(state, bits, i, j)
        return (after if after in self.known else self.lost), charged

    def final(self, state: State) -> int:
        """The machine's end; -1, nobody knows, if it is lost."""
        return -1 if state == self.lost else self.machine.final(state)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """The Q parts of some rules, priced; for the arrays see `kernels.parts`.

    rule : int64[Q], the rule of each part; bits : the conditions that make its class; widths : int64[Q], bits that a
    state takes.
    rest : rules that look at too many conditions, or whose tables are too large.
    """

    rule: Int
    ptr: Int
    n_classes: Int
    end_ptr: Int
    after: NDArray[np.int16]
    paid: Float
    ending: Float
    closing: Float
    bits: tuple[tuple[int, ...], ...]
    widths: Int
    n_labels: int
    rest: tuple[int, ...]

    @classmethod
    def of(cls, compiled: Compiled, penalties: Float, rules: Iterable[int]) -> Parts:
        """Tabulate some rules, by number."""
        always = frozenset(b for b, condition in enumerate(compiled.conditions) if condition == ALWAYS)
        found: list[tuple[float, Component]] = []
        owners: list[int] = []
        rest, entries = [], 0
        for k in rules:
            own = compiled.remember(("parts", k), partial(_tabulated, compiled, k, always))
            size = 0 if own is None else sum(component.next.size for component in own)
            if own is None or entries + size > MOST_ENTRIES:
                rest.append(k)
            else:
                found += [(float(penalties[k]), component) for component in own]
                owners += [k] * len(own)
                entries += size
        sizes = np.array([c.next.size for _, c in found], np.int64)
        states = np.array([len(c.final) for _, c in found], np.int64)
        lost = _joined([c.final for _, c in found]) < 0
        ending = _joined([priced(np.maximum(c.final, 0), rho) for rho, c in found])
        return cls(
            np.array(owners, np.int64),
            np.cumsum(sizes) - sizes,
            np.array([c.next.shape[1] for _, c in found], np.int64),
            np.cumsum(states) - states,
            _joined([c.next.ravel() for _, c in found]).astype(np.int16),
            _joined([priced(c.increments.ravel(), rho) for rho, c in found]),
            ending,
            np.where(lost, np.inf, ending),
            tuple(c.bits for _, c in found),
            np.array([max(int(s - 1).bit_length(), 1) for s in states.tolist()], np.int64),
            len(compiled.labels),
            tuple(rest),
        )

    @property
    def Q(self) -> int:
        """The number of parts."""
        return len(self.ptr)

    @property
    def may_get_lost(self) -> bool:
        """Was a machine cut, so that some labellings have no known price?"""
        return bool((self.closing > self.ending).any())

    def tables(self, conditions: Conditions, labels: Int) -> Tables:
        """Return what the kernels take, for the patterns of a batch; labels : the label behind each state."""
        class_of = np.zeros((len(conditions.patterns), self.Q), np.int16)
        for q, bits in enumerate(self.bits):
            if bits:
                class_of[:, q] = conditions.patterns[:, list(bits)] @ (1 << np.arange(len(bits)))
        return Tables(
            self.ptr, self.n_classes, self.end_ptr, self.after, self.paid, self.ending, self.closing, class_of, labels,
            self.n_labels,
        )  # fmt: skip

    def pack(self, active: Int) -> NDArray[np.uint64] | None:
        """Return where the states of these parts lie in one word, uint64[A + 1]; None if they do not fit."""
        shift = np.concatenate([[0], np.cumsum(self.widths[active])])
        return shift.astype(np.uint64) if shift[-1] < MOST_BITS else None


def _joined(arrays: list[NDArray[Any]]) -> Float:
    return np.concatenate([np.zeros(0), *arrays])


def _tabulated(compiled: Compiled, k: int, always: frozenset[int]) -> list[Component] | None:
    """Return the tables of all parts of rule k, None if one is too large."""
    from espalier.rules.automaton import tabulate

    found, L = [], len(compiled.labels)
    for machine in compiled.machines[k].parts():
        if len(set(machine.reads) - always) > MOST_CONDITIONS:
            return None
        component = tabulate(machine, always, L, MOST_STATES) if machine.states is not None else None
        if component is None:
            component = tabulate(Cut.of(machine, always, L), always, L, MOST_STATES)
        if component is None:
            return None
        found.append(component)
    return found
