"""Chang, Ratinov and Roth (2012), figure 3: rules as a resource of supervision, beside more labelled sequences.

Left, references: with 25 labels and rules about as good as without rules with 300. Right, advertisements: `semi HMM
(CoDL)` learns under the rules and answers without them, so it can say no more than `HMM`. A curve: the paper's figures
are read only where its table 3 has them.
"""

from __future__ import annotations

from typing import Any

from espalier.experiments.ccm12 import METRIC, SOURCE, needs
from espalier.experiments.ccm12_semi import NONE, codl_of, curve, plan, scores
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Place, Table

__all__ = ["TABLE"]

WITHOUT = "ads, semi HMM (CoDL)"
FIGURES = {
    "citations, HMM": (58.48, 63.37, 70.78, 86.69),
    "citations, semi HMM-CCM": (77.65, 81.51, 85.11, 94.32),
    "ads, HMM": (53.90, 61.21, 67.69, 76.29),
    WITHOUT: None,
    "ads, semi HMM-CCM": (70.79, 75.40, 77.56, 82.00),
}
PUBLISHED = {row: curve(row, values) for row, values in FIGURES.items()}


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    domain, _, model = row.partition(", ")
    if model == "HMM":
        return plan(domain, int(column), rules=NONE, codl=None)
    return plan(domain, int(column), codl=codl_of(domain, int(column)))


def measure(data: Data, cell: Cell) -> dict[Place, float]:
    """Train as the row says, and test; a model of advertisements under rules is tested without them, too."""
    found = scores(data, cell)
    figures = {(cell.row, cell.column): found.ruled}
    if cell.row == "ads, semi HMM-CCM":
        figures[WITHOUT, cell.column] = found.plain
    return figures


TABLE = Table(
    name="ccm12-figure3",
    title="Rules as supervision: learning with them against more labelled sequences",
    source=SOURCE,
    metric=METRIC,
    minutes=0.1,
    needs=needs("citations", "ads", pool=True),
    published=PUBLISHED,
    settings=settings,
    measure=measure,
    cells=tuple((row, column) for row in FIGURES if row != WITHOUT for column in PUBLISHED[row]),
    once=frozenset({"300"}),
    charts={"curves": "labelled sequences"},
    quick=("10",),
)
