"""Tables 1 to 3 of Anzaroot, Passos, Belanger and McCallum (2014); what they share is in `sdd14`."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Place, Table
from espalier.experiments.sdd14 import KINDS, STUDY, Study
from espalier.metrics import segment_scores, sequence_scores, wilcoxon

__all__ = ["TABLES"]

paper_table = partial(
    Table,
    source="Anzaroot, Passos, Belanger & McCallum 2014",
    needs=("umass/train", "umass/dev", "umass/test"),
    together="sdd14",
)


# Table 1: families of learned count constraints on UMass references.
#
# Sparsity is the share of the kept constraints whose penalty became 0. `p` is the Wilcoxon signed-rank test of the gain
# over the base, two-sided, over the F1 of each reference. As
# hard constraints those of `all` exclude each other for some references; these get the base's labels, and nothing is
# searched after Soft-DD.

F1, SPARSITY, KEPT, P = "F1", "sparsity", "kept", "p"
BASE, HARD = "CRF", "all, hard"
FIGURES_1: dict[str, dict[str, float | None]] = {
    BASE: {F1: 94.44},
    "only-one": {F1: 94.62, SPARSITY: 0.0, KEPT: 3, P: None},
    "hierarchical": {F1: 94.55, SPARSITY: 56.25, KEPT: 16, P: None},
    "pairwise": {F1: 95.23, SPARSITY: 43.19, KEPT: 609, P: None},
    "all": {F1: 95.39, SPARSITY: 32.96, KEPT: 628, P: None},
    HARD: {F1: 94.60, P: None},
}


def settings_1(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    return {"study": STUDY}


def measure_1(data: Data, cell: Cell) -> dict[Place, float]:
    """Find the rules of the row on development data, and test."""
    study = Study.of(data, cell)
    plain = study.plain()
    if cell.row == BASE:
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


TABLE_1 = paper_table(
    name="sdd14-table1",
    title="Count constraints found on development data, soft and hard, on UMass references",
    metric="field F1 and sparsity in %, constraints kept, p of the gain",
    minutes=0.5,
    published=FIGURES_1,
    settings=settings_1,
    measure=measure_1,
    cells=tuple((row, F1) for row in FIGURES_1),
    once=frozenset({F1}),
    departures=(
        "F1 is of leaves alone, and labels of one leaf share weights: `sdd14-levels` has the other three ways",
        "the paper has a rule-based splitter as a feature",
    ),
)


# Table 2: Soft-DD that stops early, with all constraints on UMass references.
#
# Rounds are Viterbi passes; a reference has converged where the answer is proven the best. `until proven` allows
# 10 rounds of Soft-DD, and after that a search, which takes over where the dual bound does not meet any labelling and
# further rounds would not end; `hard DD` has the same constraints as hard ones, for its rounds.

CONVERGED, ROUNDS, SEARCHED = "converged", "rounds", "searched"
MOST_ROUNDS = 10
SEARCH = 65_536  # nodes
ALLOWED = {"1 round": 1, "2 rounds": 2, "5 rounds": 5, "10 rounds": 10, "until proven": MOST_ROUNDS}
HARD_DD = "hard DD"
FIGURES_2: dict[str, dict[str, float | None]] = {
    "1 round": {F1: 94.44, CONVERGED: 76.29, ROUNDS: 1.0},
    "2 rounds": {F1: 95.07, CONVERGED: 83.38, ROUNDS: 1.24},
    "5 rounds": {F1: 95.12, CONVERGED: 95.91, ROUNDS: 1.61},
    "10 rounds": {F1: 95.39, CONVERGED: 99.18, ROUNDS: 1.73},
    "until proven": {F1: None, CONVERGED: 100.0, ROUNDS: 1.83, SEARCHED: None},
    HARD_DD: {ROUNDS: 5.21},
}


def settings_2(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    nodes = SEARCH if row == "until proven" else 0
    # The plain Viterbi that comes first is a round of the paper, and none of the decoder's.
    return {"study": STUDY, "max_rounds": ALLOWED.get(row, MOST_ROUNDS) - 1, "max_nodes": nodes}


def measure_2(data: Data, cell: Cell) -> dict[Place, float]:
    """Decode the test references with so many rounds."""
    study = Study.of(data, cell)
    compiled = study.rules("all")
    hard = np.full(compiled.K, np.inf) if cell.row == HARD_DD else None
    labels, found = study.constrained(
        compiled, hard, max_rounds=cell.settings["max_rounds"], max_nodes=cell.settings["max_nodes"]
    )
    figures = {
        F1: study.f1(labels), CONVERGED: 100.0 * float(found.settled.mean()), ROUNDS: float(found.rounds.mean()),
        SEARCHED: 100.0 * float((found.nodes > 0).mean()),
    }  # fmt: skip
    return {(cell.row, column): figures[column] for column in FIGURES_2[cell.row]}


TABLE_2 = paper_table(
    name="sdd14-table2",
    title="Soft-DD stopped after some rounds, all constraints, UMass references",
    metric="field F1, shares proven and searched in %, Viterbi passes a reference",
    minutes=0.3,
    published=FIGURES_2,
    settings=settings_2,
    measure=measure_2,
    cells=tuple((row, ROUNDS) for row in FIGURES_2),
    once=frozenset({ROUNDS}),
    departures=(
        "the paper goes on with rounds until all are proven; here a search ends what ten rounds leave open",
        "as hard constraints they exclude each other for some references, which is found out without scores",
    ),
)


# Table 3: the fields that gain most from all soft constraints, on UMass references.

BEFORE, AFTER = "CRF", "Soft-DD"
PAPER = {
    "venue/series": (35.29, 66.67),
    "venue/editor/person/person-first": (66.67, 94.74),
    "venue/school": (40.00, 66.67),
    "venue/editor/person/person-last": (75.00, 94.74),
    "venue/editor": (77.78, 90.00),
    "venue/editor/person/person-middle": (81.82, 91.67),
}
"""Our files say person-first where the paper has first."""

FIGURES_3: dict[str, dict[str, float | None]] = {
    name: {BEFORE: before, AFTER: after} for name, (before, after) in PAPER.items()
}


def settings_3(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    return {"study": STUDY}


def measure_3(data: Data, cell: Cell) -> dict[Place, float]:
    """Score each field before and after; a field is a segment of its path at any level."""
    study = Study.of(data, cell)
    gold, (after, _) = study.test.all_labels(), study.constrained(study.rules("all"))
    found: dict[Place, float] = {}
    for column, labels in ((BEFORE, study.plain()), (AFTER, after)):
        scores = segment_scores(gold, labels).per_field
        found |= {(row, column): 100.0 * scores[row].f1 if row in scores else 0.0 for row in PAPER}
    return found


TABLE_3 = paper_table(
    name="sdd14-table3",
    title="The fields that gain most from soft constraints, UMass references",
    metric="field F1, %",
    minutes=0.1,
    published=FIGURES_3,
    settings=settings_3,
    measure=measure_3,
    cells=((next(iter(PAPER)), AFTER),),
    once=frozenset({AFTER}),
    departures=("labels of one leaf share weights", "the paper has a rule-based splitter as a feature"),
    remark=(
        "The base is stronger than the paper's (95.2 against 94.4 over all fields), and its errors lie elsewhere: "
        "some of these rare fields have nothing left to gain, and one loses. They have few segments in the test "
        "set, so that single decisions move the figures by points."
    ),
)


TABLES = (TABLE_1, TABLE_2, TABLE_3)
