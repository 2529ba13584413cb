"""Left-to-right machines of single rules: a small state, and what each label adds to the degree.

Reading label j after label i at a token where the conditions `bits` hold, a machine moves on and charges an
increment, which is final; at the end `final` charges what only the end tells. Increments plus final are the degree,
for every labelling. Matrices are nested lists, rows[i][j]: one element of a list costs a fraction of one of an
array; row -1 is the row of the first label.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

__all__ = ["Balance", "Before", "Counter", "Input", "Later", "Length", "Local", "Machine", "Once", "Rows", "State"]

State: TypeAlias = Any
"""Hashable; only the machine it belongs to looks inside."""
Rows = Sequence[Sequence[int]]


class Machine(ABC):
    """The degree of a rule, read from left to right.

    reads : the numbers of the conditions that `step` looks up in `bits`.
    states : how many states there can be, whatever the length of the sequence; None if there is no such number.
    most : how large the degree can become, None if there is no such number.
    """

    __slots__ = ()

    reads: tuple[int, ...] = ()
    states: int | None = 1
    most: int | None = None

    @property
    @abstractmethod
    def initial(self) -> Hashable:
        """The state before the first label."""

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


@dataclass(frozen=True, slots=True, eq=False)
class Local(Machine):
    """Charges of pairs of labels where a condition holds; needs no memory."""

    terms: tuple[tuple[int, Rows], ...]
    most: int | None
    initial = 0
    states = 1

    @property
    def reads(self) -> tuple[int, ...]:  # type: ignore[override]
        """The condition of every charge."""
        return tuple(bit for bit, _ in self.terms)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Add up the charges."""
        return 0, sum([rows[i][j] for bit, rows in self.terms if bits[bit]])

    def settled(self, state: State) -> bool:
        """Only without charges."""
        return not self.terms


@dataclass(frozen=True, slots=True, eq=False)
class Once(Machine):
    """Each of several groups opens once; the state is the set of groups seen, as a bit mask.

    masks[i][j] : the groups that open; extra[i][j] : how many open twice at the same token.
    """

    groups: tuple[Rows, ...]
    masks: Rows
    extra: Rows
    initial = 0

    @classmethod
    def of(cls, groups: Sequence[Rows]) -> Once:
        """Fold the groups into masks."""
        masks, extra = ([[0] * len(row) for row in groups[0]] for _ in range(2))
        for g, group in enumerate(groups):
            for mask, more, row in zip(masks, extra, group, strict=True):
                for j in [j for j, opened in enumerate(row) if opened]:
                    mask[j] |= 1 << g
                    more[j] += row[j] - 1
        return cls(tuple(groups), masks, extra)

    @property
    def states(self) -> int:  # type: ignore[override]
        """Every set of groups."""
        return 1 << len(self.groups)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge one for every group that opens again."""
        opened = self.masks[i][j]
        return state | opened, self.extra[i][j] + (state & opened).bit_count()

    def parts(self) -> tuple[Machine, ...]:
        """One counter a group."""
        return tuple(Counter(group, "<=", 1) for group in self.groups)


@dataclass(frozen=True, slots=True, eq=False)
class Counter(Machine):
    """A sum of steps >= 0 compared with a bound; the state is the sum, saturated at the bound."""

    rows: Rows
    comparison: str
    bound: int
    initial = 0

    @property
    def states(self) -> int:  # type: ignore[override]
        """0..bound."""
        return max(self.bound, 0) + 1

    @property
    def most(self) -> int | None:  # type: ignore[override]
        """Only `>=` has a worst case."""
        return max(self.bound, 0) if self.comparison == ">=" else None

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge what goes beyond the bound, unless more is welcome."""
        amount = self.rows[i][j]
        if not amount:
            return state, 0
        total, full = state + amount, max(self.bound, 0)
        if total <= full:
            return total, 0
        return full, 0 if self.comparison == ">=" else total - full

    def final(self, state: State) -> int:
        """Charge what is missing; and a bound below zero, which no sum of counts reaches."""
        missing = max(0, self.bound - state) if self.comparison != "<=" else 0
        return missing + (max(0, -self.bound) if self.comparison != ">=" else 0)

    def settled(self, state: State) -> bool:
        """Enough is enough."""
        return self.comparison == ">=" and bool(state >= self.bound)


@dataclass(frozen=True, slots=True, eq=False)
class Balance(Machine):
    """A sum of steps of both signs compared with a bound: any sum can still be made good, so only the end charges."""

    rows: Rows
    comparison: str
    bound: int
    initial = 0
    states = None

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Add."""
        return state + self.rows[i][j], 0

    def final(self, state: State) -> int:
        """Compare."""
        over = state - self.bound
        return int({"<=": max(0, over), ">=": max(0, -over), "==": abs(over)}[self.comparison])


@dataclass(frozen=True, slots=True, eq=False)
class Length(Machine):
    """Lengths of segments; the state holds the length of every open one, outermost first, saturated at the bound.

    around[j] : how many of the segments around label j count; kept[i][j] : how many of them go on from i to j,
    the outer ones, because an inner segment never outlives an outer one.
    """

    around: Sequence[int]
    kept: Rows
    comparison: str
    bound: int
    initial = ()

    @property
    def states(self) -> int:  # type: ignore[override]
        """Every length of every nested segment."""
        return sum(int(self.bound) ** depth for depth in range(max(self.around, default=0) + 1))

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge closed segments that are too short, and every token of one that is too long."""
        kept = self.kept[i][j]
        charged = self._short(state[kept:])
        goes_on = state[:kept]
        if self.comparison != ">=":
            charged += goes_on.count(self.bound)
        grown = tuple([min(length + 1, self.bound) for length in goes_on])
        return grown + (1,) * (self.around[j] - kept), charged

    def final(self, state: State) -> int:
        """Close what is open."""
        return self._short(state)

    def _short(self, closed: tuple[int, ...]) -> int:
        return 0 if self.comparison == "<=" else sum(length < self.bound for length in closed)


@dataclass(frozen=True, slots=True, eq=False)
class Before(Machine):
    """No segment of the first fields opens once one of the second has closed (the state)."""

    opens: Rows
    closes: Rows
    initial = False
    states = 2

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Close, then open: a segment may begin where the other has ended."""
        ended = state or self.closes[i][j] > 0
        return ended, self.opens[i][j] if ended else 0


@dataclass(frozen=True, slots=True, eq=False)
class Later(Machine):
    """After the last segment of the first fields opens one of the second.

    The state says whether the rule would be violated if the sequence ended here: a first segment is open, or the
    last one has closed and no second has opened since.
    """

    open_first: Sequence[int]
    opens: Rows
    initial = False
    states = 2
    most = 1

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Only the end charges."""
        return self.open_first[j] > 0 or (state and not self.opens[i][j]), 0

    def final(self, state: State) -> int:
        """Charge one."""
        return int(state)


@dataclass(frozen=True, slots=True, eq=False)
class Input(Machine):
    """Charges one unless a condition on the whole sequence holds; the first token tells, state True waits for it."""

    bit: int
    when_empty: bool
    initial = True
    states = 2
    most = 1

    @property
    def reads(self) -> tuple[int, ...]:  # type: ignore[override]
        """The condition."""
        return (self.bit,)

    def step(self, state: State, bits: Sequence[bool], i: int, j: int) -> tuple[State, int]:
        """Charge at the first token."""
        return False, int(state and not bits[self.bit])

    def final(self, state: State) -> int:
        """Without any token, charge here."""
        return int(state and not self.when_empty)

    def settled(self, state: State) -> bool:
        """After the first token."""
        return not state
