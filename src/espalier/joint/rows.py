"""Rules across layers as rows over cells, the form that decoders read.

A *cell* is one label of one place of one chain; x_u is 1 if the answer takes it. Every unit of degree is a *group* of
rows, and its degree is the largest excess of its rows:

    d_g = max(0, max_{r in g} a_r . x - b_r)          in {0, 1} for every answer

"A pair with this label needs that label at token t" is the row x_pair - x_token <= 0; a label that must not be there
is x_pair + x_token <= 1. What only rows can say is exact here, because `joint.meaning` counts the same units.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.joint.meaning import equal_tokens, is_marked
from espalier.joint.rules import Across, Joins, Same
from espalier.rules.nodes import Fields
from espalier.tags import path_of

if TYPE_CHECKING:
    from espalier.joint.problem import Assignment, JointProblem

__all__ = ["CellRows", "rows_of"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class _Row(NamedTuple):
    """a . x <= b : cells with +1, cells with -1."""

    plus: tuple[NDArray[np.int64], ...]
    minus: tuple[NDArray[np.int64], ...]
    bound: float


@dataclass(frozen=True, slots=True, eq=False)
class CellRows:
    """R rows in G groups over U cells.

    offsets : int64[C + 1], where the cells of each chain begin; widths : int64[C], labels of each chain.
    row, cell, value : the entries of A; bound : float64[R]; group : int64[R], rising; cost : float64[G], what a unit
    costs, inf where it is hard.
    """

    offsets: Int
    widths: Int
    row: Int
    cell: Int
    value: Float
    bound: Float
    group: Int
    cost: Float

    @property
    def n_rows(self) -> int:
        """R."""
        return len(self.bound)

    @property
    def n_cells(self) -> int:
        """U."""
        return int(self.offsets[-1])

    def taken(self, y: Assignment) -> Float:
        """Return x, float64[U]."""
        x = np.zeros(self.n_cells)
        for c, labels in enumerate(y):
            x[self.offsets[c] + np.arange(len(labels)) * self.widths[c] + labels] = 1.0
        return x

    def excess(self, x: Float) -> Float:
        """Return A x - b, float64[R]."""
        return np.bincount(self.row, self.value * x[self.cell], minlength=self.n_rows) - self.bound

    def shift(self, multipliers: Float) -> Float:
        """Return Aᵀλ, what each cell pays, float64[U]."""
        return np.bincount(self.cell, self.value * multipliers[self.row], minlength=self.n_cells).astype(np.float64)

    def degrees(self, excess: Float) -> Float:
        """Return the largest excess of each group, at least 0, float64[G]."""
        found = np.zeros(len(self.cost))
        np.maximum.at(found, self.group, excess)
        return found

    def price(self, excess: Float) -> float:
        """Return what all groups cost."""
        degrees = self.degrees(excess)
        broken = degrees > 0
        return float(degrees[broken] @ self.cost[broken])


def rows_of(problem: JointProblem) -> CellRows:
    """Lower the rules that cost something."""
    widths = np.array([chain.problem.L for chain in problem.chains], np.int64)
    sizes = [chain.problem.T * chain.problem.L for chain in problem.chains]
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    lowered = _Lowering(problem, offsets)
    entries: list[tuple[int, float, Int]] = []  # row, value, cells
    bound: list[float] = []
    group: list[int] = []
    cost: list[float] = []
    for rule, rho in zip(problem.joint_rules, problem.penalties, strict=True):
        for rows in lowered.groups(rule.node) if rho > 0 else ():
            for plus, minus, b in rows:
                entries += [(len(bound), 1.0, cells) for cells in plus] + [(len(bound), -1.0, cells) for cells in minus]
                bound.append(b)
                group.append(len(cost))
            cost.append(float(rho))
    lengths = [len(cells) for _, _, cells in entries]
    row = np.repeat(np.array([r for r, _, _ in entries], np.int64), lengths)
    value = np.repeat(np.array([v for _, v, _ in entries], np.float64), lengths)
    cell = np.concatenate([np.zeros(0, np.int64), *(cells for _, _, cells in entries)])
    limits = np.array(bound, np.float64), np.array(group, np.int64), np.array(cost, np.float64)
    return CellRows(offsets, widths, row, cell, value, *limits)


class _Lowering:
    """From rules to groups of rows."""

    def __init__(self, problem: JointProblem, offsets: Int) -> None:
        self.problem, self.offsets = problem, offsets
        self._columns: dict[tuple[int, Fields, str], Int] = {}

    def groups(self, node: Joins | Across | Same) -> Iterator[list[_Row]]:
        """Yield the rows of every unit of degree that an answer may have."""
        if isinstance(node, Joins):
            return self._joins(node)
        return self._across(node) if isinstance(node, Across) else self._same(node)

    def _cells(self, chain: int, t: int, columns: Int) -> Int:
        cells: Int = self.offsets[chain] + t * self.problem.chains[chain].problem.L + columns
        return cells

    def _chosen(self, chain: int, fields: Fields, mark: str = "") -> Int:
        """Return the columns of labels in these fields, with this mark if one is given."""
        key = (chain, fields, mark)
        if key not in self._columns:
            names = self.problem.chains[chain].problem.labels.names
            kept = [j for j, name in enumerate(names) if fields.has_path(path_of(name)) and name.startswith(mark)]
            self._columns[key] = np.array(kept, np.int64)
        return self._columns[key]

    def _joins(self, node: Joins) -> Iterator[list[_Row]]:
        for c, layer in self.problem.pair_layers():
            labels = self.problem.chains[c].problem.labels.names
            columns = np.array([j for j, label in enumerate(labels) if node.labels.has_label(label)], np.int64)
            for p in range(len(layer.places) if len(columns) else 0):
                pair = self._cells(c, p, columns)
                for side, fields in enumerate((node.head, node.tail)):
                    yield list(self._needs_segment(pair, *self.problem.place(layer, p, side), fields))

    def _needs_segment(self, pair: Int, chain: int, start: int, end: int, fields: Fields) -> Iterator[_Row]:
        T = self.problem.chains[chain].problem.T
        marked = is_marked(self.problem.chains[chain].problem.labels.names)
        first = self._chosen(chain, fields, "B-" if marked else "")
        more = self._chosen(chain, fields, "I-" if marked else "")
        for t in range(start, end):
            yield _Row((pair,), (self._cells(chain, t, first if t == start else more),), 0.0)
        around = [end] if marked else [start - 1, end]
        for t in around:
            if 0 <= t < T:
                yield _Row((pair, self._cells(chain, t, more)), (), 1.0)

    def _across(self, node: Across) -> Iterator[list[_Row]]:
        for a, b in zip(self.problem.chains_of(node.layer), self.problem.chains_of(node.other), strict=True):
            given, then = self._labelled(a, node.given), self._labelled(b, node.fields)
            for t in range(self.problem.chains[a].problem.T):
                yield [_Row((self._cells(a, t, given),), (self._cells(b, t, then),), 0.0)]

    def _labelled(self, chain: int, fields: Fields) -> Int:
        names = self.problem.chains[chain].problem.labels.names
        return np.array([j for j, name in enumerate(names) if fields.has_label(name)], np.int64)

    def _same(self, node: Same) -> Iterator[list[_Row]]:
        paths = [path_of(name) for name in self.problem.labels(node.layer).names]
        classes = dict.fromkeys(path for path in paths if node.fields is None or node.fields.has_path(path))
        columns = [np.array([j for j, path in enumerate(paths) if path == one], np.int64) for one in classes]
        for (c, t), (after, u) in equal_tokens(self.problem, node):
            pairs = [(self._cells(c, t, j), self._cells(after, u, j)) for j in columns]
            yield [_Row((a,), (b,), 0.0) for one, two in pairs for a, b in ((one, two), (two, one))]
