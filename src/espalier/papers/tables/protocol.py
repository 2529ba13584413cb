"""What an experiment is: a table of published figures, the cells that compute ours, and the subsets they train on.

A table file declares its protocol as data (splits, sizes, settings with the reason for them, published figures) and one
function, `measure`, from a cell to figures. A *cell* is one run of one place of a table; its figures depend on what the
cell holds and on the data files, and on nothing else: so it can be computed in any process, in any order, and kept.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError

if TYPE_CHECKING:
    from espalier.papers.tables.data import Data

__all__ = ["RUNS", "Cell", "Place", "Result", "Table", "results_of", "subset"]

RUNS = 5
"""Random training subsets that a figure is the mean of."""

Place: TypeAlias = tuple[str, str]
"""(row, column) of a table."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Run number `run` of the place (row, column) of a table, with all its settings: JSON values."""

    table: str
    row: str
    column: str
    run: int
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        """Name the cell for people."""
        return f"{self.table}, {self.row}, {self.column}, run {self.run}"


@dataclass(frozen=True, slots=True)
class Table:
    """A published table and how its figures are computed anew.

    published : the paper's figures, row by row, None where it has none; they say which rows and columns there are.
    settings : what the cell of a place is computed with, JSON values; they are a part of its identity.
    measure : computes a cell: the figure of its place, or figures of several places.
    needs : the splits it reads, as "cora/train"; missing ones are named before anything is computed.
    cells : the places that are computed, if not all: the others are filled along with them.
    once : columns whose runs would all be the same, because they train on everything.
    quick : the columns to compute if time is short; all if empty.
    minutes : what all cells take on one core, as measured after the tables before it in the registry; where cells
        are kept, `runner.expected_minutes` knows it better.
    together : a name; one process computes all cells of the tables that have it, since they learn the same models.
    charts : the pictures to draw of it, and what their axes are called (see `pictures`).
    departures : what differs from the paper, and why; empty where nothing is known to.
    remark : what else to know when reading the figures: why ours are lower where they are.
    """

    name: str
    title: str
    source: str
    metric: str
    minutes: float
    needs: tuple[str, ...]
    published: Mapping[str, Mapping[str, float | None]]
    settings: Callable[[str, str], Mapping[str, Any]]
    measure: Callable[[Data, Cell], float | Mapping[Place, float]]
    cells: tuple[Place, ...] = ()
    once: frozenset[str] = field(default_factory=frozenset)
    quick: tuple[str, ...] = ()
    together: str = ""
    charts: Mapping[str, str] = field(default_factory=dict)
    departures: tuple[str, ...] = ()
    remark: str = ""

    @property
    def places(self) -> list[Place]:
        """Every (row, column), in order."""
        return [(row, column) for row, columns in self.published.items() for column in columns]

    def to_run(self, runs: int = RUNS, *, quick: bool = False) -> Iterator[Cell]:
        """Yield the cells to compute."""
        for row, column in self.cells or self.places:
            if quick and self.quick and column not in self.quick:
                continue
            for run in range(1 if column in self.once else runs):
                yield Cell(self.name, row, column, run, self.settings(row, column))


class Result(NamedTuple):
    """One place of a table beside the paper's figure: mean and standard deviation over runs (None of a single one)."""

    table: str
    row: str
    column: str
    paper: float | None
    ours: float
    sd: float | None
    runs: int


def results_of(table: Table, figures: Mapping[Place, Mapping[int, float]]) -> list[Result]:
    """Summarise the runs of every place that has any, in the order of the table; figures : place -> run -> value."""
    found = []
    for row, column in table.places:
        runs = figures.get((row, column))
        if runs:
            values = [runs[r] for r in sorted(runs)]  # in one order, so that the sum is the same whoever came first
            sd = stdev(values) if len(values) > 1 else None
            found.append(Result(table.name, row, column, table.published[row][column], mean(values), sd, len(values)))
    return found


def subset(N: int, n: int, run: int) -> NDArray[np.int64]:
    """Return which n of N training sequences run number `run` learns from, in rising order; all of them if n == N."""
    if not 1 <= n <= N:
        raise InputError(f"{n} labelled sequences are asked for, but the training split has {N}")
    return np.sort(np.array(random.Random(run).sample(range(N), n), np.int64))
