"""The integer program of a joint problem: a path for each chain, one column for each label of a pair, rows across.

    max  Σ_c Σ_e s_e x_e - Σ_g ρ_g d_g - (what the layers' own rules cost)
    s.t. each chain's steps are a path (`decoders.ilp`),   a_r . x - b_r <= d_g  for the rows of each group

With multipliers of the decomposition, steps through which no answer can reach the score of the best known one are left
out, so that the program is small where the decomposition has nearly closed the gap. The k best are found one after the
other, each time with a row that forbids the answers before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem
from espalier.decoders.ilp import MAX_COLUMNS, Expression, Program, ProgramLattice, Solution, degree_of
from espalier.joint.dual import Decomposition, independent
from espalier.potentials import Potentials, replace_arrays

if TYPE_CHECKING:
    from espalier.joint.problem import Assignment, JointProblem

__all__ = ["JointProgram"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_SLACK = 1e-7  # rounding of sums must not leave out a step of the best answer


class _Piece(NamedTuple):
    """The columns of one chain: place t and label j of each."""

    columns: Int
    t: Int
    j: Int


class JointProgram:
    """The program of a problem, pruned with what a decomposition knows."""

    def __init__(
        self, problem: JointProblem, found: Decomposition, floor: float, max_columns: int = MAX_COLUMNS
    ) -> None:
        """Build it; floor : answers that score less may be left out."""
        self._problem, self._program, self._rows = problem, Program(max_columns), found.rows
        self._gains: list[tuple[float, Expression]] = []
        shift = found.rows.shift(found.multipliers)
        lowest = floor - _SLACK * max(1.0, abs(floor)) if floor > -math.inf else floor
        self._pieces = []
        for c, chain in enumerate(problem.chains):
            paid = shift[found.rows.offsets[c] : found.rows.offsets[c + 1]].reshape(-1, chain.problem.L)
            rest = found.bound - found.duals[c]
            self._pieces.append(self._add(chain.problem, paid, lowest - rest))
        self._add_rows(found.multipliers)

    def solve(self, time_limit: float | None = None) -> Solution:
        """Maximise."""
        if self._program.n_columns == 0:
            return Solution(np.zeros(0), 0.0, 0, optimal=True)
        return self._program.maximise(self._gains, time_limit=time_limit)

    def labels(self, x: Float) -> Assignment:
        """Read the labels of every chain off a solution."""
        found = []
        for piece, chain in zip(self._pieces, self._problem.chains, strict=True):
            y = np.zeros(chain.problem.T, np.int16)
            taken = x[piece.columns] > 0.5
            y[piece.t[taken]] = piece.j[taken]
            found.append(y)
        return tuple(found)

    def forbid(self, x: Float) -> None:
        """Leave out the answer of a solution from now on."""
        chosen = np.concatenate([piece.columns[x[piece.columns] > 0.5] for piece in self._pieces])
        self._program.add_row(Expression(chosen, np.ones(len(chosen))), upper=len(chosen) - 1.0)

    def _add(self, problem: Problem, paid: Float, floor: float) -> _Piece:
        """Add a chain: scores that pay for the rows, so that these pay it back."""
        if problem.T == 0:
            none = np.zeros(0, np.int64)
            return _Piece(none, none, none)
        folded = replace_arrays(problem.folded, unary=problem.folded.unary - paid)
        if independent(folded) and not problem.globals:
            return self._add_places(folded, floor)
        lattice = ProgramLattice.of(folded, floor)
        x = lattice.add_to(self._program)
        self._gains.append((1.0, Expression(x, lattice.score)))
        for k in problem.globals:
            degree = degree_of(problem.grounded, k, lattice, self._program, x)
            if math.isinf(problem.penalties[k]):
                self._program.add_row(degree, upper=0.0)
            else:
                self._gains.append((-float(problem.penalties[k]), degree))
        return _Piece(x, lattice.t, lattice.j)

    def _add_places(self, potentials: Potentials, floor: float) -> _Piece:
        """Add places that do not know each other: one column a label, one label a place."""
        scores = potentials.unary
        top = scores.max(axis=1)
        t, j = np.nonzero((scores > -np.inf) & (scores - top[:, None] >= floor - top.sum()))
        x = self._program.add_columns(len(t), integral=True, what="a layer of pairs")
        self._program.add_rows(len(scores), t, x, 1.0, lower=1.0, upper=1.0)
        self._gains.append((1.0, Expression(x, scores[t, j])))
        return _Piece(x, t, j)

    def _add_rows(self, multipliers: Float) -> None:
        """Add the rows across, each with a column for the degree of its group unless it is hard."""
        rows, program = self._rows, self._program
        degree = program.add_columns(int(np.isfinite(rows.cost).sum()), what="the rules across")
        number = np.cumsum(np.isfinite(rows.cost)) - 1
        if len(degree):
            self._gains.append((-1.0, Expression(degree, rows.cost[np.isfinite(rows.cost)])))
        for r, expression in enumerate(self._expressions()):
            g = rows.group[r]
            if multipliers[r]:
                self._gains.append((float(multipliers[r]), expression))
            slack = [Expression(degree[number[g]][None], np.array([-1.0]))] if math.isfinite(rows.cost[g]) else []
            program.add_row(expression, *slack, upper=float(rows.bound[r]))

    def _expressions(self) -> Iterator[Expression]:
        """Yield a_r . x over columns, row by row: a cell is the sum of the columns that enter it."""
        rows = self._rows
        cells = [rows.offsets[c] + p.t * rows.widths[c] + p.j for c, p in enumerate(self._pieces)]
        cell = np.concatenate([np.zeros(0, np.int64), *cells])
        column = np.concatenate([np.zeros(0, np.int64), *(p.columns for p in self._pieces)])
        order = np.argsort(cell, kind="stable")
        cell, column = cell[order], column[order]
        for r in range(rows.n_rows):
            mine = slice(*np.searchsorted(rows.row, [r, r + 1]))
            low, high = np.searchsorted(cell, rows.cell[mine]), np.searchsorted(cell, rows.cell[mine], side="right")
            columns = [column[a:b] for a, b in zip(low, high, strict=True)]
            values = np.repeat(rows.value[mine], high - low)
            yield Expression(np.concatenate([np.zeros(0, np.int64), *columns]), values)
