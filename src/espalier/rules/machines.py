"""Left-to-right machines: a small state, and what each label adds to the degree of a rule.

Reading label j after label i at a token where the conditions `bits` hold, a machine moves on and charges an
increment, which is final; at the end `final` charges what only the end tells. Increments plus final are the degree,
for every labelling. Matrices are nested lists, rows[i][j]: one element of a list costs a fraction of one of an
array; row -1 is the row of the first label.

The first half of the file has machines of single rules, the second half machines made of other machines. One that is
built under a *cap* c may stop counting at c: min(c, its degree) is exact, and that is all its surroundings look at.
This is what keeps alternatives and conditions finite where only "violated or not" matters.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from math import prod
from typing import Any, TypeAlias

__all__ = [
    "Balance",
    "Capped",
    "Charges",
    "Conditional",
    "Counter",
    "Gated",
    "Input",
    "Machine",
    "Negated",
    "OpenLengths",
    "Rows",
    "SeenOnce",
    "Smallest",
    "State",
    "Sum",
    "Switch",
]

State: TypeAlias = Any
"""Hashable; only the machine it belongs to looks inside."""
Rows = Sequence[Sequence[int]]


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
    """The smallest degree of several machines; it only grows, so what all have charged is charged at once.

    States: () nothing will be charged any more; otherwise (s, d) of every machine, where d is what it has charged,
    saturated at the cap, or without a cap what it has charged more than the smallest.
    """

    def __init__(self, machines: Sequence[Machine], cap: int | None = None) -> None:
        """Every combination, with everything that can have been charged, is a state."""
        self.machines, self.cap = tuple(machines), cap
        charged = None if cap is None else cap + 1
        states = _sum(_product(*[_product(machine.states, charged) for machine in machines]), 1)
        most = min((machine.most for machine in machines if machine.most is not None), default=None)
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


class Capped(Machine):
    """A machine that charges `cap` at most: (s, charged so far), () when that is reached."""

    def __init__(self, part: Machine, cap: int) -> None:
        """The part's states, for everything that can have been charged."""
        self.part, self.cap = part, cap
        super().__init__((part.initial, 0), _sum(_product(part.states, cap), 1), reads=part.reads, most=cap)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge what is left at most."""
        if not state:
            return (), 0
        s, charged = self.part.step(state[0], bits, i, j)
        charged = min(charged, self.cap - state[1])
        return () if state[1] + charged == self.cap else (s, state[1] + charged), charged

    def final(self, state: State) -> int:
        """Charge what is left at most."""
        return min(self.part.final(state[0]), self.cap - state[1]) if state else 0

    def settled(self, state: State) -> bool:
        """The cap is reached, or the part is settled."""
        return not state or self.part.settled(state[0])
