"""What rules become: sums over pairs of neighbouring labels, rows over counts of the whole labelling, and machines.

The segments open at a token are the levels of its label, so two neighbouring labels i, j tell everything that happens
between them; the labelling before i does not matter (`PathTable`). Arrays over pairs have shape [L + 1, L]: row i,
column j, and row L (also row -1) where j is the first label of the sequence.

    local     d(x, y) = Σ_t Σ_c [condition_c holds at t] · matrix_c[y_{t-1}, y_t]                        `LocalForm`
    linear    d(x, y) = Σ_rows max(0, a . n(y) - b),  n_f(y) = Σ_t value[f, y_{t-1}, y_t]                `LinearForm`

Penalties of local rules go straight into the potentials, and Viterbi pays for them. A condition may speak about other
tokens, so rules that look at the next label are local, too: token t + 1 asks what held at token t. Rows may be limited
to sequences whose input satisfies a node, their *gate*. Both forms are made once for a rule set; only conditions and
gates look at tokens.

All other rules are read by left-to-right machines (`Machine`): a small state, and what each label adds to the degree.
Reading label j after label i at a token where the conditions `bits` hold, a machine moves on and charges an increment,
which is final; at the end `final` charges what only the end tells. Increments plus final are the degree, for every
labelling. Their matrices are nested lists, rows[i][j]: one element of a list costs a fraction of one of an array. There
are machines of single rules, and after them machines made of other machines. One that is built under a *cap* c may stop
counting at c: min(c, its degree) is exact, and that is all its surroundings look at. This is what keeps alternatives
and conditions finite where only "violated or not" matters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.rules.nodes import Fields, Node, levels
from espalier.rules.predicates import Condition
from espalier.tags import OUTSIDE, is_tag, parse_tag

__all__ = [
    "Balance",
    "Charge",
    "Charges",
    "Conditional",
    "Counter",
    "Gated",
    "Inequality",
    "Input",
    "LinearForm",
    "LocalForm",
    "Machine",
    "Negated",
    "OpenLengths",
    "PathTable",
    "Row",
    "Rows",
    "SeenOnce",
    "Smallest",
    "State",
    "Sum",
    "Switch",
    "priced",
    "total_price",
]

Bits = NDArray[np.bool_]
Counts = NDArray[np.int64]
Price = NDArray[Any]
"""int64 or float64."""
State: TypeAlias = Any
"""Hashable; only the machine it belongs to looks inside."""
Rows = Sequence[Sequence[int]]


@dataclass(frozen=True, slots=True, eq=False)
class PathTable:
    """The segments of L labels.

    paths : the P paths a segment can have.
    inside : bool[L, P], label j has a segment of path p around it.
    kept : bool[L + 1, L, P], the segment of path p around i goes on at j.
    """

    names: tuple[str, ...]
    paths: tuple[str, ...]
    inside: NDArray[np.bool_]
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, names: Sequence[str]) -> PathTable:
        """Tabulate the labels."""
        L = len(names)
        open_paths = [levels(name) if name != OUTSIDE else () for name in names]
        # An unmarked label continues whatever it can; B- never continues anything.
        fresh = [[is_tag(name) and mark == "B" for mark, _ in parse_tag(name)] for name in names]
        paths = tuple(dict.fromkeys(path for label in open_paths for path in label))
        column = {path: p for p, path in enumerate(paths)}
        inside = np.zeros((L, len(paths)), bool)
        kept = np.zeros((L + 1, L, len(paths)), bool)
        for j, label in enumerate(open_paths):
            inside[j, [column[path] for path in label]] = True
            alive = label[: fresh[j].index(True)] if True in fresh[j] else label
            for i, before in enumerate(open_paths):
                for path, other in zip(alive, before, strict=False):
                    if path != other:
                        break
                    kept[i, j, column[path]] = True
        return cls(tuple(names), paths, inside, kept)

    @property
    def L(self) -> int:
        """The number of labels."""
        return len(self.names)

    def has_label(self, fields: Fields) -> NDArray[np.bool_]:
        """Return which labels put a token into the fields, bool[L]."""
        return np.array([fields.has_label(name) for name in self.names], dtype=bool)

    def has_path(self, fields: Fields) -> NDArray[np.bool_]:
        """Return which paths belong to the fields, bool[P]."""
        return np.array([fields.has_path(path) for path in self.paths], dtype=bool)

    def around(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields around label j, int64[L]."""
        total: Counts = self.inside[:, self.has_path(fields)].sum(axis=1, dtype=np.int64)
        return total

    def continued(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields that go on from i to j, int64[L + 1, L]."""
        total: Counts = self.kept[:, :, self.has_path(fields)].sum(axis=2, dtype=np.int64)
        return total

    def opened(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields that begin with j after i, int64[L + 1, L]."""
        return self.around(fields) - self.continued(fields)

    def closed(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields that end with i before j, int64[L + 1, L]."""
        before = np.append(self.around(fields), 0)
        return before[:, None] - self.continued(fields)

    def borders(self) -> NDArray[np.bool_]:
        """Return between which labels a segment begins or ends, bool[L + 1, L]; none before the first token."""
        on = self.kept.sum(axis=2)
        depth = self.inside.sum(axis=1)
        found: NDArray[np.bool_] = (on != depth) | (on != np.append(depth, 0)[:, None])
        found[-1] = False
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Charge:
    """Where `condition` holds at t, the pair (y_{t-1}, y_t) costs matrix[y_{t-1}, y_t].

    matrix : int64[L + 1, L], >= 0; row L (or -1) where y_t is the first label.
    """

    condition: Condition
    matrix: Counts


@dataclass(frozen=True, slots=True, eq=False)
class LocalForm:
    """The charges of all local rules of a set, stacked: n that depend on one label and m on two.

    unary_rule, unary_bit : int64[n]; unary : int64[n, L].
    pair_rule, pair_bit : int64[m]; pair : int64[m, L, L] from the second token on; first : int64[m, L] at the first.
    """

    unary_rule: Counts
    unary_bit: Counts
    unary: Price
    pair_rule: Counts
    pair_bit: Counts
    pair: Price
    first: Price

    @classmethod
    def of(cls, charged: Sequence[tuple[int, int, Price]], L: int, dtype: type = np.int64) -> LocalForm:
        """Stack (rule, bit, matrix[L + 1, L]); a matrix whose rows are all the same depends on one label."""
        alone = [(m == m[-1]).all() for _, _, m in charged]
        unary = [c for c, lone in zip(charged, alone, strict=True) if lone]
        pair = [c for c, lone in zip(charged, alone, strict=True) if not lone]
        return cls(
            unary_rule=np.array([k for k, _, _ in unary], np.int64),
            unary_bit=np.array([b for _, b, _ in unary], np.int64),
            unary=np.array([m[-1] for _, _, m in unary], dtype).reshape(-1, L),
            pair_rule=np.array([k for k, _, _ in pair], np.int64),
            pair_bit=np.array([b for _, b, _ in pair], np.int64),
            pair=np.array([m[:-1] for _, _, m in pair], dtype).reshape(-1, L, L),
            first=np.array([m[-1] for _, _, m in pair], dtype).reshape(-1, L),
        )

    def charged(self, bits: Bits, price: Price) -> tuple[Price, Price | None]:
        """Return what labels cost, [T, L], and pairs that enter a token, [T, L, L] (row 0 unused) or None if nothing.

        bits : bool[T, B]; price : [K], per unit of degree; its type is the type of the result.
        """
        unary = total_price(bits[:, self.unary_bit], priced(self.unary, price[self.unary_rule][:, None]))
        on = bits[:, self.pair_bit] & (price[self.pair_rule] > 0)
        unary[:1] += total_price(on[:1], priced(self.first, price[self.pair_rule][:, None]))
        active = np.flatnonzero(on[1:].any(axis=0))
        if not len(active):
            return unary, None
        T, L = unary.shape
        costs = priced(self.pair[active], price[self.pair_rule[active]][:, None, None])
        pair = np.zeros((T, L, L), price.dtype)
        pair[1:] = total_price(on[1:, active], costs.reshape(len(active), L * L)).reshape(-1, L, L)
        return unary, pair

    def degrees(self, bits: Bits, y: NDArray[np.int64], K: int) -> Counts:
        """Return the degree of every local rule for a labelling y, int64[K]; zero for the others."""
        degrees = np.zeros(K, np.int64)
        np.add.at(degrees, self.unary_rule, (bits[:, self.unary_bit] * self.unary[:, y].T).sum(axis=0))
        if len(y):
            pairs = bits[1:, self.pair_bit] * self.pair[:, y[:-1], y[1:]].T
            np.add.at(degrees, self.pair_rule, pairs.sum(axis=0) + bits[0, self.pair_bit] * self.first[:, y[0]])
        return degrees


def priced(amounts: NDArray[Any], prices: Price | float) -> Price:
    """Return amounts times prices, one by one; 0 · inf is 0: what a rule asks that is not broken."""
    shape, dtype = np.broadcast_shapes(np.shape(amounts), np.shape(prices)), np.result_type(amounts, prices)
    found: Price = np.multiply(amounts, prices, out=np.zeros(shape, dtype), where=np.asarray(amounts) > 0)
    return found


def total_price(amounts: NDArray[Any], prices: Price) -> Price:
    """Return Σ_k amounts[..., k] · prices[k, ...]; 0 · inf is 0."""
    hard = np.isinf(prices)
    if not hard.any():
        return np.asarray(amounts.astype(prices.dtype) @ prices)
    amounts = amounts.astype(np.float64)
    return np.where(amounts @ hard > 0, np.inf, amounts @ np.where(hard, 0.0, prices))


@dataclass(frozen=True, slots=True, eq=False)
class Inequality:
    """Σ coefficient · (sum of matrix over the labelling) <= bound, where the input satisfies all gates.

    terms : (coefficient, int64[L + 1, L]) each.
    """

    terms: tuple[tuple[int, Counts], ...]
    bound: int
    gates: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """coefficients . n(y) <= bound; rule number `rule` is violated by the excess. coefficients : int64[F]."""

    rule: int
    coefficients: Counts
    bound: int


@dataclass(frozen=True, slots=True, eq=False)
class LinearForm:
    """The R rows of all linear rules of a set, over F features.

    values : int16[F, L + 1, L]; how much feature f counts when label j follows i (i = L: j is the first label).
    rule, bound : int64[R]; coefficients : int64[R, F].
    gate : int64[R], the number of the condition that switches a row on, -1 for rows that are always on.
    """

    values: NDArray[np.int16]
    rule: Counts
    coefficients: Counts
    bound: Counts
    gate: Counts

    @classmethod
    def of(cls, found: Sequence[tuple[int, int, Inequality]], L: int) -> LinearForm:
        """Stack (rule, gate, inequality); equal matrices become one feature."""
        index: dict[bytes, int] = {}
        matrices: list[Counts] = []
        for _, _, inequality in found:
            for _, matrix in inequality.terms:
                if index.setdefault(matrix.tobytes(), len(matrices)) == len(matrices):
                    matrices.append(matrix)
        coefficients = np.zeros((len(found), len(matrices)), np.int64)
        for r, (_, _, inequality) in enumerate(found):
            for coefficient, matrix in inequality.terms:
                coefficients[r, index[matrix.tobytes()]] += coefficient
        return cls(
            np.array(matrices, np.int16).reshape(-1, L + 1, L),
            np.array([k for k, _, _ in found], np.int64),
            coefficients,
            np.array([inequality.bound for _, _, inequality in found], np.int64),
            np.array([gate for _, gate, _ in found], np.int64),
        )

    def counts(self, y: Counts) -> Counts:
        """Return n(y), int64[F]."""
        before = np.append(-1, y)[:-1]  # -1 is the row of the first label
        counted: Counts = self.values[:, before, y].sum(axis=1, dtype=np.int64)
        return counted

    def excess(self, y: Counts, active: Counts, K: int) -> Counts:
        """Return the degrees of the linear rules, int64[K], by the active rows; zero for other rules."""
        degrees = np.zeros(K, np.int64)
        over = self.coefficients[active] @ self.counts(y) - self.bound[active]
        np.add.at(degrees, self.rule[active], np.maximum(over, 0))
        return degrees


class Machine(ABC):
    """The degree of a rule, read from left to right.

    initial : the state before the first label.
    reads : the numbers of the conditions that `step` looks up in `bits`.
    states : how many states there can be, whatever the length of the sequence; None if there is no such number.
    most : how large the degree can become, None if there is no such number.
    """

    def __init__(
        self, initial: Hashable, states: int | None, *, reads: Sequence[int] = (), most: int | None = None
    ) -> None:
        """Keep what is known before any label is read."""
        self.initial: State = initial
        self.states = states
        self.reads = tuple(dict.fromkeys(reads))
        self.most = most

    @abstractmethod
    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Read label j after label i (-1: j is the first); return the next state and the increment."""

    def final(self, state: State) -> int:
        """Return what the end adds."""
        return 0

    def settled(self, state: State) -> bool:
        """Is it certain that nothing will be charged any more?  May say no where it is."""
        return False

    def parts(self) -> tuple[Machine, ...]:
        """Return independent machines whose degrees add up to this one's: what a product is built from."""
        return (self,)


# Machines of single rules.


class Charges(Machine):
    """Charges of pairs of labels where a condition holds, (number of the condition, rows) each; needs no memory."""

    def __init__(self, terms: Sequence[tuple[int, Rows]], most: int | None) -> None:
        """Keep the charges."""
        self.terms = tuple(terms)
        super().__init__(0, 1, reads=[bit for bit, _ in terms], most=most)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Add up the charges."""
        return 0, sum([rows[i][j] for bit, rows in self.terms if bits[bit]])

    def settled(self, state: State) -> bool:
        """Only without charges."""
        return not self.terms


class SeenOnce(Machine):
    """Each of several groups opens once; the state is the set of groups seen, as a bit mask.

    masks[i][j] : the groups that open; extra[i][j] : how many open twice at the same token.
    """

    def __init__(self, groups: Sequence[Rows]) -> None:
        """Fold the groups into masks."""
        self.groups = tuple(groups)
        self.masks, self.extra = ([[0] * len(row) for row in groups[0]] for _ in range(2))
        for g, group in enumerate(groups):
            for mask, more, row in zip(self.masks, self.extra, group, strict=True):
                for j in [j for j, opened in enumerate(row) if opened]:
                    mask[j] |= 1 << g
                    more[j] += row[j] - 1
        super().__init__(0, 1 << len(groups))

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge one for every group that opens again."""
        opened = self.masks[i][j]
        return state | opened, self.extra[i][j] + (state & opened).bit_count()

    def parts(self) -> tuple[Machine, ...]:
        """One counter for each group."""
        return tuple(Counter(group, "<=", 1) for group in self.groups)


class Counter(Machine):
    """A sum of steps >= 0 compared with a bound; the state is the sum, saturated at the bound."""

    def __init__(self, rows: Rows, comparison: str, bound: int) -> None:
        """Only `>=` has a worst case."""
        self.rows, self.comparison, self.bound, self.full = rows, comparison, bound, max(bound, 0)
        super().__init__(0, self.full + 1, most=self.full if comparison == ">=" else None)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge what goes beyond the bound, unless more is welcome."""
        amount = self.rows[i][j]
        if not amount:
            return state, 0
        total = state + amount
        if total <= self.full:
            return total, 0
        return self.full, 0 if self.comparison == ">=" else total - self.full

    def final(self, state: State) -> int:
        """Charge what is missing; and a bound below zero, which no sum of counts reaches."""
        missing = max(0, self.bound - state) if self.comparison != "<=" else 0
        return missing + (max(0, -self.bound) if self.comparison != ">=" else 0)

    def settled(self, state: State) -> bool:
        """Enough has been counted, and more is welcome."""
        return self.comparison == ">=" and bool(state >= self.bound)


class Balance(Machine):
    """A sum of steps of both signs compared with a bound: any sum can still be made good, so only the end charges."""

    def __init__(self, rows: Rows, comparison: str, bound: int) -> None:
        """The sum may grow with the sequence."""
        self.rows, self.comparison, self.bound = rows, comparison, bound
        super().__init__(0, None)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Add."""
        return state + self.rows[i][j], 0

    def final(self, state: State) -> int:
        """Compare."""
        over = state - self.bound
        return int({"<=": max(0, over), ">=": max(0, -over), "==": abs(over)}[self.comparison])


class OpenLengths(Machine):
    """Lengths of segments; the state holds the length of every open one, outermost first, saturated at the bound.

    around[j] : how many of the segments around label j count; kept[i][j] : how many of them go on from i to j,
    the outer ones, because an inner segment never outlives an outer one.
    """

    def __init__(self, around: Sequence[int], kept: Rows, comparison: str, bound: int) -> None:
        """Every length of every nested segment is a state."""
        self.around, self.kept, self.comparison, self.bound = around, kept, comparison, bound
        super().__init__((), sum(int(bound) ** depth for depth in range(max(around, default=0) + 1)))

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge closed segments that are too short, and every token of one that is too long."""
        kept = self.kept[i][j]
        charged = self.final(state[kept:])
        goes_on = state[:kept]
        if self.comparison != ">=":
            charged += goes_on.count(self.bound)
        grown = tuple([min(length + 1, self.bound) for length in goes_on])
        return grown + (1,) * (self.around[j] - kept), charged

    def final(self, state: State) -> int:
        """Charge what is too short when it closes."""
        return 0 if self.comparison == "<=" else sum(length < self.bound for length in state)


class Switch(Machine):
    """One thing to remember: `on` switches it on, else `off` switches it off.

    While it is on, what `charge` says is charged; and `end` at the end. Rows that are not given are all 0.
    """

    def __init__(self, on: Rows, off: Rows | None = None, charge: Rows | None = None, end: int = 0) -> None:
        """Keep the rows."""
        nothing = [[0] * len(row) for row in on]
        self.on, self.off, self.charge, self.end = on, off or nothing, charge or nothing, end
        super().__init__(False, 2, most=end if charge is None else None)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Switch, then charge."""
        state = self.on[i][j] > 0 or (state and not self.off[i][j])
        return state, self.charge[i][j] if state else 0

    def final(self, state: State) -> int:
        """Charge the end."""
        return self.end if state else 0


class Input(Machine):
    """Charges one unless a condition on the whole sequence holds; the first token tells, state True waits for it."""

    def __init__(self, bit: int, when_empty: bool) -> None:
        """Keep the number of the condition, and whether it holds without any token."""
        self.bit, self.when_empty = bit, when_empty
        super().__init__(True, 2, reads=(bit,), most=1)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge at the first token."""
        return False, int(state and not bits[self.bit])

    def final(self, state: State) -> int:
        """Without any token, charge here."""
        return int(state and not self.when_empty)

    def settled(self, state: State) -> bool:
        """After the first token."""
        return not state


# Machines made of other machines.


def _reads(*machines: Machine) -> list[int]:
    return [bit for machine in machines for bit in machine.reads]


def _product(*sizes: int | None) -> int | None:
    return None if None in sizes else prod(size for size in sizes if size is not None)


def _sum(*sizes: int | None) -> int | None:
    return None if None in sizes else sum(size for size in sizes if size is not None)


class Sum(Machine):
    """All machines side by side; increments add."""

    def __init__(self, machines: Sequence[Machine]) -> None:
        """Every combination is a state."""
        self.machines = tuple(machines)
        initial = tuple(machine.initial for machine in machines)
        states = _product(*[machine.states for machine in machines])
        super().__init__(initial, states, reads=_reads(*machines), most=_sum(*[machine.most for machine in machines]))

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Step all."""
        steps = [machine.step(s, bits, i, j) for machine, s in zip(self.machines, state, strict=True)]
        return tuple([s for s, _ in steps]), sum([charged for _, charged in steps])

    def final(self, state: State) -> int:
        """Add the ends."""
        return sum(machine.final(s) for machine, s in zip(self.machines, state, strict=True))

    def settled(self, state: State) -> bool:
        """All are."""
        return all(machine.settled(s) for machine, s in zip(self.machines, state, strict=True))

    def parts(self) -> tuple[Machine, ...]:
        """The parts of all."""
        return tuple(part for machine in self.machines for part in machine.parts())


class Gated(Machine):
    """A machine that runs only where a condition on the whole sequence holds.

    States: None before the first token, () switched off, (s,) running in state s.
    """

    def __init__(self, bit: int, when_empty: bool, then: Machine) -> None:
        """Two states more than the machine has."""
        self.bit, self.when_empty, self.then = bit, when_empty, then
        super().__init__(None, _sum(then.states, 2), reads=(bit, *then.reads), most=then.most)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Open or shut the gate at the first token."""
        if state is None:
            state = (self.then.initial,) if bits[self.bit] else ()
        if not state:
            return (), 0
        s, charged = self.then.step(state[0], bits, i, j)
        return (s,), charged

    def final(self, state: State) -> int:
        """The machine's end, if it runs."""
        if state is None:
            state = (self.then.initial,) if self.when_empty else ()
        return self.then.final(state[0]) if state else 0

    def settled(self, state: State) -> bool:
        """Switched off, or the machine is."""
        return state is not None and (not state or self.then.settled(state[0]))


class Conditional(Machine):
    """`then` counts if `condition` has degree 0 in the end.

    States: () the condition is broken; (s,) it is certain to hold, `then` is in state s and charges at once;
    (c, s, owed) nobody knows yet, and `owed` falls due when it turns out to hold.
    """

    def __init__(self, condition: Machine, then: Machine, cap: int | None = None) -> None:
        """The number of states is bounded only if what `then` can owe is."""
        self.condition, self.then, self.cap = condition, then, cap
        c, s = condition.initial, then.initial
        initial = (s,) if condition.settled(c) else (c, s, 0)
        owed = min((bound + 1 for bound in (cap, then.most) if bound is not None), default=None)
        states = _sum(_product(condition.states, then.states, owed), then.states, 1)
        super().__init__(initial, states, reads=_reads(condition, then), most=then.most)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Run both until the condition is decided."""
        if not state:
            return (), 0
        if len(state) == 1:
            s, charged = self.then.step(state[0], bits, i, j)
            return (s,), charged
        c, broken = self.condition.step(state[0], bits, i, j)
        if broken:
            return (), 0
        s, charged = self.then.step(state[1], bits, i, j)
        owed = state[2] + charged
        if self.condition.settled(c):
            return (s,), owed
        return (c, s, owed if self.cap is None else min(owed, self.cap)), 0

    def final(self, state: State) -> int:
        """Now it is known."""
        if len(state) == 3:
            return 0 if self.condition.final(state[0]) else state[2] + self.then.final(state[1])
        return self.then.final(state[0]) if state else 0

    def settled(self, state: State) -> bool:
        """The condition is broken, or `then` is settled and owes nothing."""
        return not state or (len(state) == 1 and self.then.settled(state[0]))


class Smallest(Machine):
    """The smallest degree of several machines, at most the cap; it only grows, so what all have charged is charged.

    States: () nothing will be charged any more; otherwise (s, d) of every machine, where d is what it has charged,
    saturated at the cap, or without a cap what it has charged more than the smallest.
    """

    def __init__(self, machines: Sequence[Machine], cap: int | None = None) -> None:
        """Every combination, with everything that can have been charged, is a state."""
        self.machines, self.cap = tuple(machines), cap
        states = _product(*[machine.states for machine in machines])
        if states is not None:  # all charges of 0..cap, but not all at the cap, which is one state
            states = None if cap is None else states * ((cap + 1) ** len(machines) - 1) + 1
        most = min((bound for bound in (cap, *[m.most for m in machines]) if bound is not None), default=None)
        initial = self._pack([(machine.initial, 0) for machine in machines])
        super().__init__(initial, states, reads=_reads(*machines), most=most)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Step all; charge what the smallest has grown."""
        if not state:
            return (), 0
        moved = []
        for machine, (s, d) in zip(self.machines, state, strict=True):
            s, charged = machine.step(s, bits, i, j)
            moved.append((s, self._saturated(d + charged)))
        return self._pack(moved), min(d for _, d in moved) - min(d for _, d in state)

    def final(self, state: State) -> int:
        """End all; charge what the smallest has grown."""
        if not state:
            return 0
        ends = [self._saturated(d + machine.final(s)) for machine, (s, d) in zip(self.machines, state, strict=True)]
        charged: int = min(ends) - min(d for _, d in state)
        return charged

    def settled(self, state: State) -> bool:
        """Nothing more to charge."""
        return not state

    def _saturated(self, d: int) -> int:
        return d if self.cap is None else min(d, self.cap)

    def _pack(self, pairs: list[tuple[State, int]]) -> tuple[tuple[State, int], ...]:
        """Stop where the smallest is settled or at the cap; without a cap, keep differences only."""
        low = min(d for _, d in pairs)
        stays = any(d == low and machine.settled(s) for machine, (s, d) in zip(self.machines, pairs, strict=True))
        if stays or low == self.cap:
            return ()
        return tuple(pairs) if self.cap is not None else tuple([(s, d - low) for s, d in pairs])


class Negated(Machine):
    """Charges one at the end unless the machine has charged anything: () if it has, else (s,)."""

    def __init__(self, part: Machine) -> None:
        """One state more than the part has."""
        self.part = part
        super().__init__((part.initial,), _sum(part.states, 1), reads=part.reads, most=1)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Step the part until it charges."""
        if not state:
            return (), 0
        s, charged = self.part.step(state[0], bits, i, j)
        return () if charged else (s,), 0

    def final(self, state: State) -> int:
        """Did it charge?"""
        return int(bool(state) and self.part.final(state[0]) == 0)

    def settled(self, state: State) -> bool:
        """It has charged."""
        return not state
