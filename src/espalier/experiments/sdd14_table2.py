"""Anzaroot et al. (2014), table 2: Soft-DD that stops early, with all constraints on UMass references.

Rounds are Viterbi passes; a reference has converged where the answer is proven the best. `until proven` allows
200 rounds of Soft-DD, and after that a search; `hard DD` has the same constraints as hard ones, for its rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Place, Table
from espalier.experiments.sdd14 import NEEDS, SOURCE, STUDIES, STUDY, Study

__all__ = ["TABLE"]

F1, CONVERGED, ROUNDS = "F1", "converged", "rounds"
MOST_ROUNDS = 200
SEARCH = 65_536  # nodes
ALLOWED = {"1 round": 1, "2 rounds": 2, "5 rounds": 5, "10 rounds": 10, "until proven": MOST_ROUNDS}
HARD = "hard DD"
FIGURES: dict[str, dict[str, float | None]] = {
    "1 round": {F1: 94.44, CONVERGED: 76.29, ROUNDS: 1.0},
    "2 rounds": {F1: 95.07, CONVERGED: 83.38, ROUNDS: 1.24},
    "5 rounds": {F1: 95.12, CONVERGED: 95.91, ROUNDS: 1.61},
    "10 rounds": {F1: 95.39, CONVERGED: 99.18, ROUNDS: 1.73},
    "until proven": {F1: None, CONVERGED: 100.0, ROUNDS: 1.83},
    HARD: {ROUNDS: 5.21},
}


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    nodes = SEARCH if row == "until proven" else 0
    # The plain Viterbi that comes first is a round of the paper, and none of the decoder's.
    return {"study": STUDY, "max_rounds": ALLOWED.get(row, MOST_ROUNDS) - 1, "max_nodes": nodes}


def measure(data: Data, cell: Cell) -> dict[Place, float]:
    """Decode the test references with so many rounds."""
    study = Study.of(data, cell)
    compiled = study.rules("all")
    hard = np.full(compiled.K, np.inf) if cell.row == HARD else None
    labels, found = study.constrained(
        compiled, hard, max_rounds=cell.settings["max_rounds"], max_nodes=cell.settings["max_nodes"]
    )
    figures = {
        F1: study.f1(labels), CONVERGED: 100.0 * float(found.settled.mean()), ROUNDS: float(found.rounds.mean()),
    }  # fmt: skip
    return {(cell.row, column): figures[column] for column in FIGURES[cell.row]}


TABLE = Table(
    name="sdd14-table2",
    title="Soft-DD stopped after some rounds, all constraints, UMass references",
    source=SOURCE,
    metric="field F1 and share proven in %, Viterbi passes a reference",
    minutes=0.1,
    needs=NEEDS,
    together=STUDIES,
    published=FIGURES,
    settings=settings,
    measure=measure,
    cells=tuple((row, ROUNDS) for row in FIGURES),
    once=frozenset({ROUNDS}),
    remark=(
        "Ten rounds prove fewer sequences than the paper's, and a proof of all of them, or hard constraints, take more "
        "rounds; which of base, rules or step sizes that comes from was not examined."
    ),
)
