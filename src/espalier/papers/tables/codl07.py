"""Chang, Ratinov and Roth (2007): constraint-driven learning with one penalty for all rules, from the best and k best.

    sup        labels alone                                H          hard EM
    H&W        hard EM that holds on to the supervised model with weight gamma
    H&W&C      the same, the pool labelled under rules     top-k      learns from the k best labellings of equal weight
    +I         the answers are under rules, too

Settings are the paper's: gamma 0.1, five cycles, 1,000 unlabelled sequences, penalties log 10,000 (references) and
log 10 (advertisements). k is 50; for advertisements, where 10 takes more than a minute a model, 5. What the text says
of 20 labelled sequences is put beside top-k, the algorithm of its figure 2. It leaves open whether its hard and soft
rules for 100 advertisements were all rules or one; here they are all.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from espalier.papers.tables.ccm12 import (
    BACKOFF,
    BREAKS,
    HARD,
    METRIC,
    POOL,
    SPLIT,
    VOCABULARY,
    needs,
    plan,
    ruled,
    scores,
)
from espalier.papers.tables.ccm12_inputs import plain
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Place, Table

__all__ = ["CURVES_TABLE", "GAMMA", "INPUTS_TABLE", "PENALTIES", "SOURCE", "TABLE"]

SOURCE = "Chang, Ratinov & Roth 2007"
GAMMA = 0.1
PENALTIES = {"citations": {"penalties": 4 * math.log(10)}, "ads": {"penalties": math.log(10)}}
K = {"citations": 50, "ads": 5}
INFER, HARDLY = "+I", "sup+I, hard"
LEARNERS: dict[str, dict[str, Any] | None] = {
    "sup": None,
    HARDLY: None,
    "H": {"gamma": 0.0, "cycles": 5, "constrained": False},
    "H&W": {"gamma": GAMMA, "cycles": 5, "constrained": False},
    "H&W&C": {"gamma": GAMMA, "cycles": 5},
    "top-k H&W&C": {"gamma": GAMMA, "cycles": 5},
}
"""The models that are learned; answers under rules (row + INFER, if there is one) come along."""

CITATIONS, ADS, MORE_ADS = "citations, 20", "ads, 20", "ads, 100"
FIGURES: dict[str, dict[str, float | None]] = {
    "sup": {CITATIONS: 70.1, ADS: 68.1, MORE_ADS: 76.3},
    "sup+I": {CITATIONS: None, ADS: None, MORE_ADS: 80.6},
    HARDLY: {MORE_ADS: 78.7},
    "H": {CITATIONS: None, ADS: None},
    "H&W": {CITATIONS: None, ADS: None},
    "H&W+I": {CITATIONS: None, ADS: None},
    "H&W&C": {CITATIONS: None, ADS: None},
    "H&W&C+I": {CITATIONS: None, ADS: None},
    "top-k H&W&C": {CITATIONS: 79.4, ADS: 74.6},
    "top-k H&W&C+I": {CITATIONS: None, ADS: None},
}


def _settings(row: str, column: str) -> dict[str, Any]:
    domain, _, size = column.partition(", ")
    codl = LEARNERS[row]
    if codl is not None and row.startswith("top-k"):
        codl = {**codl, "k": K[domain]}
    return plan(domain, int(size), penalties=HARD if row == HARDLY else PENALTIES[domain], codl=codl)


def measure(data: Data, cell: Cell) -> dict[Place, float]:
    """Train as the row says, and test without rules and with them."""
    found = scores(data, cell)
    if cell.row == HARDLY:
        return {(HARDLY, cell.column): found.ruled}
    figures = {(cell.row, cell.column): found.plain}
    if cell.row + INFER in FIGURES:
        figures[cell.row + INFER, cell.column] = found.ruled
    return figures


TABLE = Table(
    name="codl07",
    title="Hard EM, the weight of the supervised model, rules while learning and when labelling, k best",
    source=SOURCE,
    metric=METRIC,
    minutes=1,
    needs=needs("citations", "ads", pool=True),
    published=FIGURES,
    settings=_settings,
    measure=measure,
    cells=tuple((row, column) for row in LEARNERS for column in FIGURES[row]),
    quick=(CITATIONS, MORE_ADS),
    departures=(
        BACKOFF, "k is 5 for advertisements", SPLIT,
    ),
    remark=(
        "With 100 advertisements rules are 0.4 below the paper, hard ones 1.5: line breaks, which ours have lost, "
        "are worth more (`ccm12-reasons`)."
    ),
)  # fmt: skip

# The same with the paper's inputs: a plain HMM that knows the words of the pool (`ccm12_inputs`).


def _settings_of_inputs(row: str, column: str) -> dict[str, Any]:
    chosen = _settings(row, column)
    supervised = {"gamma": GAMMA, "cycles": 0}
    return chosen | {"hmm": plain(chosen["labelled"]), "codl": chosen["codl"] or supervised, "pool": POOL}


INPUTS_TABLE = replace(
    TABLE,
    name="codl07-inputs",
    settings=_settings_of_inputs,
    minutes=1,
    departures=(VOCABULARY, "k is 5 for advertisements", SPLIT, BREAKS),
    remark=(
        "Like for like the figures are the paper's or better, but for hard rules on 100 advertisements: line breaks, "
        "which ours have lost, are worth more than the 1.1 that are missing (`ccm12-reasons`)."
    ),
)

# Figures 3 and 4: answers under rules by number of labels, rules while learning or not; what a rule's degree is worth
# against yes or no (section 7 of the paper); and k, with equal weights, as in the paper, or by score. The paper has
# curves without figures.

YES_OR_NO, YES_OR_NO_AT = "H&W&C+I, yes or no", ("20",)
"""Rules that are broken or not, however often, are not local: labelling the pool under them is slow."""
RULED: dict[str, Any] = {"gamma": GAMMA, "cycles": 5}
CURVES: dict[str, dict[str, Any]] = {
    "H&W+I": {"codl": {**RULED, "constrained": False}},
    "H&W&C+I": {"codl": RULED},
    YES_OR_NO: {"codl": RULED, "once": True},
    "H&W&C+I, 5 best": {"codl": {**RULED, "k": 5}},
    "H&W&C+I, 5 best by score": {"codl": {**RULED, "k": 5, "weighting": "score"}},
    "H&W&C+I, 50 best": {"codl": {**RULED, "k": 50}},
    "H&W&C+I, 50 best by score": {"codl": {**RULED, "k": 50, "weighting": "score"}},
}
CURVE_SIZES = {"citations": ("5", "10", "20", "50", "300"), "ads": ("5", "10", "20", "50", "100")}
FEW_ADS = ("H&W+I", "H&W&C+I")
"""What is computed for advertisements: their k best take minutes a model."""


def _settings_of_curves(row: str, column: str) -> dict[str, Any]:
    domain, _, learner = row.partition(", ")
    chosen = CURVES[learner]
    return plan(domain, int(column), penalties=PENALTIES[domain], codl=chosen["codl"]) | (
        {"once": True} if chosen.get("once") else {}
    )


CURVES_TABLE = Table(
    name="codl07-curves",
    title="Learning with rules by number of labels; degrees against yes or no; the k best, of equal weight or by score",
    source=SOURCE,
    metric=METRIC,
    minutes=10,
    needs=needs("citations", "ads", pool=True),
    published={
        f"{domain}, {learner}": dict.fromkeys(YES_OR_NO_AT if learner == YES_OR_NO else CURVE_SIZES[domain])
        for domain in CURVE_SIZES
        for learner in CURVES
        if domain == "citations" or learner in FEW_ADS
    },
    settings=_settings_of_curves,
    measure=ruled,
    once=frozenset({"300"}),
    quick=("20",),
    charts={"curves": "labelled sequences"},
    departures=(BACKOFF, SPLIT),
    remark=(
        "Rules while learning help where labels are few, by six points with 5 references, and no longer with 300. The "
        "degree of a rule is worth as much as whether it is broken. The k best of equal weight, as in the paper, teach "
        "less than the best alone; weighted by score they teach as much, but for 300."
    ),
)
