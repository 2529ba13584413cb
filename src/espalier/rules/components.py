"""One small machine as tables: its reachable states, by search from the beginning."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.rules.machines import Machine

__all__ = ["Component", "tabulate"]


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
    """Return the tables of a machine, None if more than `limit` of its states are reached.

    always : conditions that hold everywhere; they make no class.
    """
    bits = tuple(bit for bit in dict.fromkeys(machine.reads) if bit not in always)
    n_classes = 1 << len(bits)
    holds = [_row(machine.reads, bits, c) for c in range(n_classes)]
    number: dict[Hashable, int] = {machine.initial: 0}
    pairs: dict[tuple[Hashable, int], None] = {(machine.initial, -1): None}
    steps: list[tuple[int, int, int, int, int, int]] = []
    todo = list(pairs)
    for state, i in todo:  # grows while it is read
        for c, row in enumerate(holds):
            for j in range(L):
                after, charged = machine.step(state, row, i, j)
                steps.append((number[state], c, i, j, number.setdefault(after, len(number)), charged))
                if (after, j) not in pairs:
                    pairs[after, j] = None
                    todo.append((after, j))
        if len(number) > limit:
            return None
    return _component(machine, bits, list(number), steps, L)


def _row(reads: tuple[int, ...], bits: tuple[int, ...], c: int) -> list[bool]:
    """Return the conditions of class c as `step` reads them: those that make no class hold."""
    row = [True] * (max(reads, default=-1) + 1)
    for b, bit in enumerate(bits):
        row[bit] = bool(c >> b & 1)
    return row


def _component(
    machine: Machine,
    bits: tuple[int, ...],
    order: list[Hashable],
    steps: list[tuple[int, int, int, int, int, int]],
    L: int,
) -> Component:
    state, c, i, j, after, charged = np.array(steps, np.int64).reshape(-1, 6).T
    shape = (len(order), 1 << len(bits), L + 1, L)
    following, increments = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    following[state, c, i, j] = after
    increments[state, c, i, j] = charged
    stands = np.zeros((L, len(order)), bool)
    stands[j, after] = True
    count = stands.sum(axis=1)
    states = np.argsort(~stands, axis=1, kind="stable")[:, : max(count.max(initial=0), 1)]
    final = np.array([machine.final(s) for s in order], np.int64)
    return Component(bits, following, increments, final, count, states)
