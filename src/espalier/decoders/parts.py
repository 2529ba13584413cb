"""Rules that machines read, as tables for the compiled search: order, exclusion, alternatives, whatever is small.

A rule is split into independent parts (`Machine.parts`), each a machine of a few states: "a before b" remembers whether
a b has ended, "a excludes b" which of the two were seen. The search carries the states of those parts only that an
answer has broken so far (see `decoders.counting`); all others are checked afterwards, in one pass over the labels.

A machine whose states grow with the sequence is cut: beyond the first CUT_STATES states it is *lost*, and a lost
machine charges nothing more. In the search that is still a bound; an answer on which a machine gets lost has no price
here (it is inf).

Cost of making the tables: O(states · 2^conditions · L²) Python steps a part, once a rule set.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.counts import Conditions, priced
from espalier.rules.compile import Compiled
from espalier.rules.machines import Machine, State
from espalier.rules.predicates import ALWAYS

if TYPE_CHECKING:
    from espalier.rules.automaton import Component

__all__ = ["Parts", "Tables"]

MOST_STATES = 64  # of one part
CUT_STATES = 16  # of a part whose states grow with the sequence
MOST_CONDITIONS = 8  # that one part looks at
MOST_ENTRIES = 10_000_000  # of all tables
MOST_BITS = 64  # of the states of the active parts, packed

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Tables = tuple[Int, Int, Int, NDArray[np.int16], Float, Float, Float, NDArray[np.int16], Int]


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
        bits = [bit for bit in dict.fromkeys(machine.reads) if bit not in always]
        rows = [[True] * (max(machine.reads, default=-1) + 1) for _ in range(1 << len(bits))]
        for c, row in enumerate(rows):
            for b, bit in enumerate(bits):
                row[bit] = bool(c >> b & 1)
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
            tuple(rest),
        )

    @property
    def Q(self) -> int:
        """The number of parts."""
        return len(self.ptr)

    def tables(self, conditions: Conditions, labels: Int) -> Tables:
        """Return what the kernels take, for the patterns of a batch; labels : the label behind each state."""
        class_of = np.zeros((len(conditions.patterns), self.Q), np.int16)
        for q, bits in enumerate(self.bits):
            if bits:
                class_of[:, q] = conditions.patterns[:, list(bits)] @ (1 << np.arange(len(bits)))
        return (
            self.ptr,
            self.n_classes,
            self.end_ptr,
            self.after,
            self.paid,
            self.ending,
            self.closing,
            class_of,
            labels,
        )

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
