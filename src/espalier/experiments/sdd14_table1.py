"""Anzaroot et al. (2014), table 1: families of learned count constraints on UMass references.

Sparsity is the share of the kept constraints whose penalty became 0. `p` is the Wilcoxon signed-rank test of the gain
over the base (of the best system: over its members without constraints), two-sided, over the F1 of each reference. As
hard constraints those of `all` exclude each other for some references; these get the base's labels, and nothing is
searched after Soft-DD.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Place, Table
from espalier.experiments.sdd14 import BEST, KINDS, NEEDS, SOURCE, STUDIES, STUDY, Study
from espalier.metrics import sequence_scores, wilcoxon

__all__ = ["TABLE"]

F1, SPARSITY, KEPT, P = "F1", "sparsity", "kept", "p"
BASE, HARD = "CRF", "all, hard"
OURS, OURS_RULES = "ours, members", "ours, best"
FIGURES: dict[str, dict[str, float | None]] = {
    BASE: {F1: 94.44},
    "only-one": {F1: 94.62, SPARSITY: 0.0, KEPT: 3, P: None},
    "hierarchical": {F1: 94.55, SPARSITY: 56.25, KEPT: 16, P: None},
    "pairwise": {F1: 95.23, SPARSITY: 43.19, KEPT: 609, P: None},
    "all": {F1: 95.39, SPARSITY: 32.96, KEPT: 628, P: None},
    HARD: {F1: 94.60, P: None},
    OURS: {F1: None},
    OURS_RULES: {F1: None, SPARSITY: None, KEPT: None, P: None},
}


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    return {"study": BEST if row in (OURS, OURS_RULES) else STUDY}


def measure(data: Data, cell: Cell) -> dict[Place, float]:
    """Find the rules of the row on development data, and test."""
    study = Study.of(data, cell)
    plain = study.plain()
    if cell.row in (BASE, OURS):
        return {(cell.row, F1): study.f1(plain)}
    family = cell.row if cell.row in KINDS else "all"
    compiled, hard = study.rules(family), cell.row == HARD
    if hard:
        labels, _ = study.constrained(compiled, np.full(compiled.K, np.inf), max_nodes=0)
    else:
        labels, _ = study.constrained(compiled)
    gold = study.test.all_labels()
    before, after = (sequence_scores(gold, y, leaves=True) for y in (plain, labels))
    found = {F1: study.f1(labels), P: wilcoxon(before, after).p_value}
    if not hard:
        unused = int((compiled.rules.penalties == 0).sum())
        found |= {SPARSITY: 100.0 * unused / max(compiled.K, 1), KEPT: float(compiled.K)}
    return {(cell.row, column): value for column, value in found.items()}


TABLE = Table(
    name="sdd14-table1",
    title="Count constraints found on development data, soft and hard, on UMass references",
    source=SOURCE,
    metric="field F1 and sparsity in %, constraints kept, p of the gain",
    minutes=1.5,
    needs=NEEDS,
    together=STUDIES,
    published=FIGURES,
    settings=settings,
    measure=measure,
    cells=tuple((row, F1) for row in FIGURES),
    once=frozenset({F1}),
)
