"""The monitors of several rules run as one, and what they charge.

`Joint` is the left-to-right view of a problem's global rules that A*, beam search, the product lattice and Gibbs
sampling share: a joint state is the tuple of the monitors' states, and every step and the end cost Σ_k ρ_k times
the monitors' increments, inf where a hard rule is broken.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem
from espalier.potentials import Potentials

__all__ = ["Joint", "Monitor", "States", "labels_of", "transition"]

States: TypeAlias = tuple[Hashable, ...]


class Monitor(Protocol):
    """The degree of one rule, read from left to right: Σ increments + final == degree; increments are >= 0."""

    @property
    def initial(self) -> Any:
        """The state in front of the first token."""

    def step(self, state: Any, t: int, i: int, j: int) -> tuple[Any, int]:
        """Return the state and the increment of label j at token t after label i (i = -1 at t = 0)."""

    def final(self, state: Any) -> int:
        """Return the increment that only the end tells."""


@dataclass(frozen=True, slots=True)
class Joint:
    """The monitors of some rules and the price of one unit of each; prices are positive, inf for hard rules."""

    monitors: tuple[Monitor, ...]
    prices: tuple[float, ...]

    @classmethod
    def of(cls, problem: Problem, prices: NDArray[np.float64] | None = None) -> Joint:
        """Run the global rules of a problem, at its own penalties unless others are given, float64[K]."""
        rho = problem.penalties if prices is None else prices
        chosen = problem.globals
        return cls(tuple(problem.grounded.monitor(k) for k in chosen), tuple(float(rho[k]) for k in chosen))

    @property
    def initial(self) -> States:
        """The joint state in front of the first token."""
        return tuple(monitor.initial for monitor in self.monitors)

    def step(self, states: States, t: int, i: int, j: int) -> tuple[States, float]:
        """Return the joint state and the cost of label j at token t after label i (i = -1 at t = 0)."""
        cost = 0.0
        following = []
        for monitor, rho, state in zip(self.monitors, self.prices, states, strict=True):
            state, amount = monitor.step(state, t, i, j)
            following.append(state)
            if amount:
                cost += rho * amount
        return tuple(following), cost

    def final(self, states: States) -> float:
        """Return what the end of the sequence costs."""
        cost = 0.0
        for monitor, rho, state in zip(self.monitors, self.prices, states, strict=True):
            amount = monitor.final(state)
            if amount:
                cost += rho * amount
        return cost

    def cost(self, y: Sequence[int]) -> float:
        """Return what a whole labelling costs."""
        states, total, i = self.initial, 0.0, -1
        for t, j in enumerate(y):
            states, cost = self.step(states, t, i, j)
            total, i = total + cost, j
        return total + self.final(states)


def labels_of(prefix: Any) -> list[int]:
    """Return the labels of a prefix, which has a `label` and a `parent`; the empty one has no parent."""
    y = []
    while prefix.parent is not None:
        y.append(prefix.label)
        prefix = prefix.parent
    return y[::-1]


def transition(potentials: Potentials, t: int) -> NDArray[Any]:
    """Return the scores of the transitions into token t >= 1, float64[L, L]."""
    return potentials.trans[t - 1] if potentials.trans.ndim == 3 else potentials.trans
