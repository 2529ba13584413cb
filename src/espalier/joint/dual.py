"""Lagrangian decomposition over the chains: each is decoded alone, and multipliers make them agree with the rules.

    D(λ) = Σ_c max_{y_c} [ S_c(y_c) - λᵀA x_c ] + λ . b,      λ >= 0,  Σ_{r in g} λ_r <= ρ_g

is never less than the best S(y): a group costs ρ_g max(0, max_r e_r) >= Σ_r λ_r e_r, for excesses e = A x - b. Each
maximum is Viterbi over scores that pay Aᵀλ (a layer's own rules that look further are left to `decode`), so one pass
costs what decoding the layers apart does. Projected subgradient steps lower D; Polyak's step aims at the best answer
met.

Answers met are mended: given the texts' labels, the best label of every pair is known exactly. The gap is 0 where the
layers agree by themselves, which is most often; where it stays open, the integer program starts from these multipliers.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem
from espalier.decoders.certify import tolerance
from espalier.joint.rows import CellRows
from espalier.potentials import ChainBatch, Potentials, replace_arrays

if TYPE_CHECKING:
    from espalier.joint.problem import Assignment, JointProblem

__all__ = ["Decomposition", "independent"]

Float = NDArray[np.float64]

_CAP = 6.0  # without it hard rules overshoot: see `decoders.dual`
_SHRINK = 0.7
_STALLED = 1e-9


class Decomposition:
    """The state of the method: multipliers, their dual value, the lowest one, and the answers met.

    best : the highest S met; labels : its answer; bound : the lowest D. multipliers, duals : λ of that D, and the
    maximum of each chain under it. met : S of every answer met, by its labels.
    """

    def __init__(self, problem: JointProblem, rows: CellRows) -> None:
        """Prepare one solver for each chain."""
        self.rows = rows
        self.bound, self.best = math.inf, -math.inf
        self.labels: Assignment | None = None
        self.multipliers, self.duals = np.zeros(rows.n_rows), np.zeros(len(problem.chains))
        self.met: dict[tuple[tuple[int, ...], ...], float] = {}
        self.passes = 0
        self._solvers = [_solver(chain.problem) for chain in problem.chains]
        self._pairs = [c for c, chain in enumerate(problem.chains) if chain.text is None]
        self._mender = _Mender(rows, self._pairs, [chain.problem.potentials.unary for chain in problem.chains])
        self._lambda, self._dual, self._factor = np.zeros(rows.n_rows), math.inf, 1.0

    def run(self, max_iterations: int) -> None:
        """Lower the bound until it is met, nothing moves, or the passes are spent."""
        while self.passes < max_iterations:
            self._evaluate()
            if self.bound == -math.inf or self.closed or not self._move():
                return

    @property
    def closed(self) -> bool:
        """Is the best answer met proven to be the best of all?"""
        return self.best > -math.inf and self.bound - self.best <= tolerance(self.best)

    def _evaluate(self) -> None:
        """Compute D(λ), and meet the answer that attains it and the mended one."""
        self.passes += 1
        rows, shift = self.rows, self.rows.shift(self._lambda)
        duals, own, y = np.zeros(len(self._solvers)), 0.0, []
        for c, solver in enumerate(self._solvers):
            paid = shift[rows.offsets[c] : rows.offsets[c + 1]].reshape(-1, rows.widths[c])
            duals[c], score, labels = solver(paid)
            if duals[c] == -math.inf:
                self.bound = -math.inf
                return
            own += score + float(paid[np.arange(len(labels)), labels].sum())
            y.append(labels)
        before, self._dual = self._dual, float(duals.sum() + self._lambda @ rows.bound)
        if self._dual >= before:
            self._factor *= _SHRINK
        if self._dual < self.bound:
            self.bound, self.multipliers, self.duals = self._dual, self._lambda, duals
        x = rows.taken(tuple(y))
        self._excess = rows.excess(x)
        self._meet(tuple(y), own - rows.price(self._excess))
        if self._pairs and rows.n_rows:
            mended, gained = self._mender(tuple(y), x)
            self._meet(mended, own + gained)

    def _meet(self, y: Assignment, score: float) -> None:
        """Note an answer."""
        self.met[tuple(tuple(labels.tolist()) for labels in y)] = score
        if score > self.best:
            self.best, self.labels = score, y

    def _move(self) -> bool:
        """Step along the subgradient and project; False if nothing can move any more."""
        rows, lam, g = self.rows, self._lambda, self._excess
        g = np.where((lam <= 0) & (g < 0), 0.0, g)
        length = float(g @ g)
        if length == 0 or self._factor < _STALLED:
            return False
        eta = self._factor * min(self._dual - self.best, _CAP) / length
        self._lambda = _project(np.maximum(lam + eta * g, 0.0), rows.group, rows.cost)
        return True


def _project(lam: Float, group: NDArray[np.int64], cost: Float) -> Float:
    """Return the nearest λ >= 0 whose sum in each group is at most its cost."""
    total = np.bincount(group, lam, minlength=len(cost))
    for g in np.flatnonzero(total > cost):
        mine = np.flatnonzero(group == g)
        falling = np.sort(lam[mine])[::-1]
        level = (np.cumsum(falling) - cost[g]) / np.arange(1, len(mine) + 1)
        kept = int(np.flatnonzero(falling > level)[-1]) if cost[g] > 0 else 0
        lam[mine] = np.maximum(lam[mine] - level[kept], 0.0)
        over = lam[mine].sum()
        lam[mine] *= cost[g] / over if over > cost[g] else 1.0  # rounding must not spoil the bound
    return lam


def independent(potentials: Potentials) -> bool:
    """Do labels of neighbouring places not know each other?"""
    return not (potentials.trans.any() or potentials.start.any() or potentials.end.any())


def _solver(problem: Problem) -> _Places | _Viterbi | _Ruled:
    """Return the cheapest exact solver of a chain."""
    if problem.globals:
        return _Ruled(problem)
    return _Places(problem.folded) if independent(problem.folded) or problem.T == 0 else _Viterbi(problem.folded)


class _Places:
    """Every place alone. Each solver returns an upper bound, the score, and the labels that have it."""

    def __init__(self, potentials: Potentials) -> None:
        self.unary = potentials.unary

    def __call__(self, paid: Float) -> tuple[float, float, NDArray[np.int16]]:
        scores = self.unary - paid
        labels = scores.argmax(axis=1).astype(np.int16)
        best = float(scores[np.arange(len(labels)), labels].sum())
        return best, best, labels


class _Viterbi:
    """Viterbi on one chain; the arrays are allocated once."""

    def __init__(self, potentials: Potentials) -> None:
        batch = ChainBatch.of([potentials])
        self.unary = batch.unary
        self._scores, self._labels, self._best = batch.unary.copy(), np.empty(len(batch.unary), np.int16), np.empty(1)
        arrays = (batch.indptr, self._scores, batch.trans, batch.trans_class, batch.start, batch.end)
        self._arguments = (*arrays, 0, 1, self._labels, self._best)

    def __call__(self, paid: Float) -> tuple[float, float, NDArray[np.int16]]:
        from espalier.kernels import chain

        np.subtract(self.unary, paid, out=self._scores)
        chain.viterbi(*self._arguments)
        best = float(self._best[0])
        return best, best, self._labels.copy()


class _Ruled:
    """A chain with rules of its own that look further: `decode` knows how."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def __call__(self, paid: Float) -> tuple[float, float, NDArray[np.int16]]:
        from espalier.decoders.table import run

        potentials = self.problem.potentials
        found = run(self.problem.with_potentials(replace_arrays(potentials, unary=potentials.unary - paid)))
        labels = np.zeros(self.problem.T, np.int16) if found.labels is None else found.labels
        return found.certificate.bound, found.score, labels


class _Mender:
    """Given the texts' labels, the best label of every pair: each group of rows knows one pair at most."""

    def __init__(self, rows: CellRows, pairs: list[int], unary: list[Float]) -> None:
        self.rows, self.pairs, self.unary = rows, pairs, unary
        first = rows.offsets[pairs[0]] if pairs else rows.n_cells  # pairs are the last chains
        mine = rows.cell >= first
        self.about = np.zeros(rows.n_rows, bool)
        self.about[rows.row[mine]] = True
        group = rows.group[rows.row[mine]]
        both = np.unique(np.stack([group, rows.cell[mine]]), axis=1)
        self.group, self.cell = both[0], both[1]

    def __call__(self, y: Assignment, x: Float) -> tuple[Assignment, float]:
        """Return the mended answer, and what it scores beyond the own scores of y's chains."""
        rows = self.rows
        without = x.copy()
        without[rows.offsets[self.pairs[0]] :] = 0.0
        alone = rows.excess(without)
        degree = rows.degrees(np.where(self.about, alone + 1.0, alone))  # if the pair takes the label
        cost = np.where(degree > 0, rows.cost, 0.0) * np.where(degree > 0, degree, 1.0)  # 0 * inf is nan
        charged = np.bincount(self.cell, cost[self.group], minlength=rows.n_cells)
        mended, gained = list(y), 0.0
        for c in self.pairs:
            paid = charged[rows.offsets[c] : rows.offsets[c + 1]].reshape(-1, rows.widths[c])
            places, unary = np.arange(len(y[c])), self.unary[c]
            labels = (unary - paid).argmax(axis=1).astype(np.int16)
            gained += float(unary[places, labels].sum() - unary[places, y[c]].sum())
            mended[c] = labels
        answer = tuple(mended)
        return answer, gained - rows.price(rows.excess(rows.taken(answer)))
