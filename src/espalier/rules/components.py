"""One small machine as tables: its reachable states, by search from the beginning."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.rules.machines import Machine

__all__ = ["MOST_STEPS", "Component", "tabulate"]

MOST_STEPS = 4_000_000
"""A component that takes more steps to tabulate is refused."""


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """A machine over its own token classes: class = Σ 2^b [condition bits[b] holds]. State 0 is the beginning.

    next, increments : int64[states, classes, L + 1, L], by state, class, previous label (L: none) and label.
    final : int64[states].
    count : int64[L], how many states can stand behind a label; states : int64[L, R], which, in rising order.
    """

    bits: tuple[int, ...]
    next: NDArray[np.int64]
    increments: NDArray[np.int64]
    final: NDArray[np.int64]
    count: NDArray[np.int64]
    states: NDArray[np.int64]


def tabulate(machine: Machine, always: frozenset[int], L: int, limit: int) -> Component | None:
    """Return the tables of a machine, None if it reaches more than `limit` states or takes more than MOST_STEPS.

    always : conditions that hold everywhere; they make no class.
    """
    bits = tuple(bit for bit in dict.fromkeys(machine.reads) if bit not in always)
    holds = [_row(machine.reads, bits, c) for c in range(1 << len(bits))]
    number: dict[Hashable, int] = {machine.initial: 0}
    todo: list[tuple[Hashable, int]] = [(machine.initial, -1)]  # states with the label they stand behind
    seen = set(todo)
    steps: list[tuple[int, int]] = []  # for each of these, class and label: the next state's number, the increment
    for state, i in todo:  # grows while it is read
        for row in holds:
            for j in range(L):
                after, charged = machine.step(state, row, i, j)
                steps.append((number.setdefault(after, len(number)), charged))
                if (after, j) not in seen:
                    seen.add((after, j))
                    todo.append((after, j))
        if len(number) > limit or len(steps) > MOST_STEPS:
            return None
    origin = np.array([(number[state], i) for state, i in todo], np.int64)
    return _component(machine, bits, list(number), origin, np.array(steps, np.int64).reshape(-1, len(holds), L, 2))


def _row(reads: tuple[int, ...], bits: tuple[int, ...], c: int) -> list[bool]:
    """Return the conditions of class c as `step` reads them: those that make no class hold."""
    row = [True] * (max(reads, default=-1) + 1)
    for b, bit in enumerate(bits):
        row[bit] = bool(c >> b & 1)
    return row


def _component(
    machine: Machine, bits: tuple[int, ...], order: list[Hashable], origin: NDArray[np.int64], steps: NDArray[np.int64]
) -> Component:
    """Lay out steps : int64[pairs, classes, L, 2] that begin at origin : int64[pairs, 2], (state, previous label)."""
    _, n_classes, L, _ = steps.shape
    following, increments = np.zeros((2, len(order), L + 1, n_classes, L), np.int64)
    following[origin[:, 0], origin[:, 1]] = steps[..., 0]
    increments[origin[:, 0], origin[:, 1]] = steps[..., 1]
    stands = np.zeros((L, len(order)), bool)
    stands[np.arange(L), steps[..., 0]] = True
    count = stands.sum(axis=1)
    states = np.argsort(~stands, axis=1, kind="stable")[:, : max(count.max(initial=0), 1)]
    final = np.array([machine.final(s) for s in order], np.int64)
    return Component(bits, following.swapaxes(1, 2), increments.swapaxes(1, 2), final, count, states)
