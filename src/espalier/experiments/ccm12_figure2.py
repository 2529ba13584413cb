"""Chang, Ratinov and Roth (2012), figure 2: what rules are worth in semi-supervised learning, by labelled sequences.

A curve: the paper's figures are read only where its table 3 has them.
"""

from __future__ import annotations

from typing import Any

from espalier.experiments.ccm12 import METRIC, SOURCE, needs
from espalier.experiments.ccm12_semi import ALL, NONE, codl_of, curve, plan, scores
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Table

__all__ = ["TABLE"]

FIGURES = {
    "citations, semi HMM": (64.55, 69.86, 75.35, 87.89),
    "citations, semi HMM-CCM": (77.65, 81.51, 85.11, 94.32),
    "ads, semi HMM": (60.75, 66.56, 71.36, 77.38),
    "ads, semi HMM-CCM": (70.79, 75.40, 77.56, 82.00),
}


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    domain, _, model = row.partition(", ")
    rules = ALL if model.endswith("-CCM") else NONE
    return plan(domain, int(column), rules=rules, codl=codl_of(domain, int(column)))


def measure(data: Data, cell: Cell) -> float:
    """Train as the row says, and test."""
    return scores(data, cell).ruled


TABLE = Table(
    name="ccm12-figure2",
    title="Semi-supervised learning with and without rules, by number of labelled sequences",
    source=SOURCE,
    metric=METRIC,
    minutes=0.9,
    needs=needs("citations", "ads", pool=True),
    published={row: curve(row, values) for row, values in FIGURES.items()},
    settings=settings,
    measure=measure,
    once=frozenset({"300"}),
    charts={"curves": "labelled sequences"},
    quick=("10",),
)
