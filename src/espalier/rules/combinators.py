"""Machines of compound rules: sums, gates, conditions, alternatives and negations of other machines.

A machine built under a *cap* c may stop counting at c: min(c, its degree) is exact, and that is all its surroundings
look at. This is what keeps alternatives and conditions finite where only "violated or not" matters.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod

from espalier.rules.machines import Machine, State

__all__ = ["Capped", "Conditional", "Gated", "Negated", "Smallest", "Sum"]


def _reads(*machines: Machine) -> tuple[int, ...]:
    return tuple(dict.fromkeys(bit for machine in machines for bit in machine.reads))


def _product(sizes: Sequence[int | None]) -> int | None:
    return None if None in sizes else prod(size for size in sizes if size is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Machine):
    """All machines side by side; increments add."""

    machines: tuple[Machine, ...]

    @property
    def initial(self) -> Hashable:
        """Theirs."""
        return tuple(machine.initial for machine in self.machines)

    @property
    def reads(self) -> tuple[int, ...]:  # type: ignore[override]
        """What any of them reads."""
        return _reads(*self.machines)

    @property
    def states(self) -> int | None:  # type: ignore[override]
        """Every combination."""
        return _product([machine.states for machine in self.machines])

    @property
    def most(self) -> int | None:  # type: ignore[override]
        """The sum, if all have one."""
        bounds = [machine.most for machine in self.machines]
        return None if None in bounds else sum(bound for bound in bounds if bound is not None)

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


@dataclass(frozen=True, slots=True, eq=False)
class Gated(Machine):
    """A machine that runs only where a condition on the whole sequence holds.

    States: None before the first token, () switched off, (s,) running in state s.
    """

    bit: int
    when_empty: bool
    then: Machine
    initial = None

    @property
    def reads(self) -> tuple[int, ...]:  # type: ignore[override]
        """The gate, and what the machine reads."""
        return tuple(dict.fromkeys((self.bit, *self.then.reads)))

    @property
    def states(self) -> int | None:  # type: ignore[override]
        """Its states, and two more."""
        return None if self.then.states is None else self.then.states + 2

    @property
    def most(self) -> int | None:  # type: ignore[override]
        """The machine's."""
        return self.then.most

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


@dataclass(frozen=True, slots=True, eq=False)
class Conditional(Machine):
    """`then` counts if `condition` has degree 0 in the end.

    States: () the condition is broken; (s,) it is certain to hold, `then` is in state s and charges at once;
    (c, s, owed) nobody knows yet, and `owed` falls due when it turns out to hold.
    """

    condition: Machine
    then: Machine
    cap: int | None = None

    @property
    def initial(self) -> Hashable:
        """Nobody knows yet, as a rule."""
        c, s = self.condition.initial, self.then.initial
        return (s,) if self.condition.settled(c) else (c, s, 0)

    @property
    def reads(self) -> tuple[int, ...]:  # type: ignore[override]
        """What both read."""
        return _reads(self.condition, self.then)

    @property
    def states(self) -> int | None:  # type: ignore[override]
        """Bounded if what is owed is."""
        bounds = [bound for bound in (self.cap, self.then.most) if bound is not None]
        owed = min(bounds) + 1 if bounds else None
        undecided = _product([self.condition.states, self.then.states, owed])
        return None if undecided is None or self.then.states is None else undecided + self.then.states + 1

    @property
    def most(self) -> int | None:  # type: ignore[override]
        """That of `then`."""
        return self.then.most

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


@dataclass(frozen=True, slots=True, eq=False)
class Smallest(Machine):
    """The smallest degree of several machines; it only grows, so what all have charged is charged at once.

    States: () nothing will be charged any more; otherwise (s, d) of every machine, where d is what it has charged,
    saturated at the cap, or without a cap what it has charged more than the smallest.
    """

    machines: tuple[Machine, ...]
    cap: int | None = None

    @property
    def initial(self) -> Hashable:
        """Nothing charged."""
        return self._pack([(machine.initial, 0) for machine in self.machines])

    @property
    def reads(self) -> tuple[int, ...]:  # type: ignore[override]
        """What any of them reads."""
        return _reads(*self.machines)

    @property
    def states(self) -> int | None:  # type: ignore[override]
        """Every combination, with everything that can have been charged."""
        sizes = [_product([machine.states, None if self.cap is None else self.cap + 1]) for machine in self.machines]
        every = _product(sizes)
        return None if every is None else every + 1

    @property
    def most(self) -> int | None:  # type: ignore[override]
        """The least of theirs."""
        return min((machine.most for machine in self.machines if machine.most is not None), default=None)

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


@dataclass(frozen=True, slots=True, eq=False)
class Negated(Machine):
    """Charges one at the end unless the machine has charged anything: () if it has, else (s,)."""

    part: Machine
    most = 1

    @property
    def initial(self) -> Hashable:
        """The part's."""
        return (self.part.initial,)

    @property
    def reads(self) -> tuple[int, ...]:  # type: ignore[override]
        """What the part reads."""
        return self.part.reads

    @property
    def states(self) -> int | None:  # type: ignore[override]
        """The part's and one more."""
        return None if self.part.states is None else self.part.states + 1

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


@dataclass(frozen=True, slots=True, eq=False)
class Capped(Machine):
    """A machine that charges `cap` at most: (s, charged so far), () when that is reached."""

    part: Machine
    cap: int

    @property
    def initial(self) -> Hashable:
        """Nothing charged."""
        return (self.part.initial, 0)

    @property
    def reads(self) -> tuple[int, ...]:  # type: ignore[override]
        """What the part reads."""
        return self.part.reads

    @property
    def states(self) -> int | None:  # type: ignore[override]
        """The part's, for everything that can have been charged."""
        return None if self.part.states is None else self.part.states * self.cap + 1

    @property
    def most(self) -> int | None:  # type: ignore[override]
        """The cap."""
        return self.cap

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
