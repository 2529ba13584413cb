"""Chang, Ratinov and Roth (2012), figure 5: CoDL on references, by the weight of the supervised model.

With gamma 1 it is the supervised model; with 0 its labels only start the learning. A curve: the paper's figures are
read only at 0.9, which is its table 3.
"""

from __future__ import annotations

from typing import Any

from espalier.experiments.ccm12 import METRIC, SOURCE, needs
from espalier.experiments.ccm12_semi import CYCLES, plan, scores
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Table

__all__ = ["TABLE"]

GAMMAS = ("0.0", "0.1", "0.3", "0.5", "0.7", "0.9", "1.0")
FIGURES = {"5 labelled": 77.65, "10 labelled": 81.51, "20 labelled": 85.11, "300 labelled": 94.32}


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    return plan("citations", int(row.partition(" ")[0]), codl={"gamma": float(column), "cycles": CYCLES})


def measure(data: Data, cell: Cell) -> float:
    """Train with the weight of the column, and test."""
    return scores(data, cell).ruled


TABLE = Table(
    name="ccm12-figure5",
    title="Semi-supervised HMM-CCM by the weight of the supervised model, citations",
    source=SOURCE,
    metric=METRIC,
    minutes=0.9,
    needs=needs("citations", pool=True),
    published={row: {gamma: figure if gamma == "0.9" else None for gamma in GAMMAS} for row, figure in FIGURES.items()},
    settings=settings,
    measure=measure,
    quick=("0.5",),
    charts={"curves": "gamma, the weight of the supervised model"},
)
