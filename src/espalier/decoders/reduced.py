"""Scores as losses: how far every step falls behind the best completion of an unconstrained labelling.

    to_go_t(i) = max_j τ_{t+1}(i, j) + ψ_{t+1}(j) + to_go_{t+1}(j),    to_go_{T-1}(i) = end(i)
    loss_t(i, j) = to_go_{t-1}(i) - (τ_t(i, j) + ψ_t(j) + to_go_t(j)) >= 0

A labelling scores `top` minus the sum of its losses: A* with the heuristic `to_go` is Dijkstra's search on losses.
Losses of the best completion are exactly 0, so no rounding gathers along it. One backward Viterbi, O(T L²).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.joint import transition
from espalier.potentials import Potentials

__all__ = ["Losses"]


class Losses:
    """The losses of one sequence's potentials, rows made and sorted when first asked for.

    top : the best score of all; to_go : float64[T, L].
    """

    __slots__ = ("_rows", "_sorted", "potentials", "to_go", "top")

    def __init__(self, potentials: Potentials) -> None:
        """Run the backward pass."""
        T, L = potentials.unary.shape
        self.potentials = potentials
        self.to_go = np.empty((T, L))
        if T:
            self.to_go[T - 1] = potentials.end
        for t in range(T - 1, 0, -1):
            entering = potentials.unary[t] + self.to_go[t]
            self.to_go[t - 1] = (transition(potentials, t) + entering).max(axis=1)
        self.top = float((potentials.start + (potentials.unary[0] + self.to_go[0])).max()) if T else 0.0
        self._rows: dict[tuple[int, int], NDArray[np.float64]] = {}
        self._sorted: dict[tuple[int, int], tuple[list[float], list[int]]] = {}

    def row(self, t: int, i: int) -> NDArray[np.float64]:
        """Return the losses of each label at token t after label i (i = -1 at t = 0), float64[L]; inf forbids."""
        row = self._rows.get((t, i))
        if row is None:
            steps = self.potentials.start if i < 0 else transition(self.potentials, t)[i]
            best = self.top if i < 0 else self.to_go[t - 1, i]
            # The same sums in the same order as the backward pass: the smallest loss is exactly 0.
            reached = steps + (self.potentials.unary[t] + self.to_go[t])
            row = best - reached if best > -np.inf else np.full(len(reached), np.inf)
            self._rows[t, i] = row
        return row

    def sorted_row(self, t: int, i: int) -> tuple[list[float], list[int]]:
        """Return the finite losses of `row` in rising order, ties by label, and the labels."""
        found = self._sorted.get((t, i))
        if found is None:
            row = self.row(t, i)
            order = np.argsort(row, kind="stable")[: int(np.isfinite(row).sum())]
            found = row[order].tolist(), order.tolist()
            self._sorted[t, i] = found
        return found
