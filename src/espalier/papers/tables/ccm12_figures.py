"""Figures 2 to 5 of Chang, Ratinov and Roth (2012), as tables; what they share is in `ccm12`.

They are curves: the paper's figures are read only where its table 3 has them.
"""

from __future__ import annotations

from itertools import chain, islice, repeat
from typing import Any

from espalier.estimators.codl import CoDL
from espalier.estimators.em import EM
from espalier.papers.tables.ccm12 import (
    ALL,
    BACKOFF,
    COUNTING,
    CURVES,
    CYCLES,
    EVERYTHING,
    NONE,
    SETS,
    SPLIT,
    build,
    labelled,
    needs,
    paper_table,
    plan,
    pool,
    published,
    ruled,
    scores,
)
from espalier.papers.tables.ccm12_tables import BOTH, FIGURES_3, settings_3
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Place

__all__ = ["FIGURE_2", "FIGURE_3", "FIGURE_4", "FIGURE_5"]

# Figure 2: what rules are worth in semi-supervised learning, by labelled sequences.


FIGURE_2 = paper_table(
    name="ccm12-figure2",
    title="Semi-supervised learning with and without rules, by number of labelled sequences",
    minutes=0.9,
    departures=(BACKOFF, COUNTING, SPLIT),
    needs=BOTH,
    published=published({row: figures for row, figures in FIGURES_3.items() if ", semi " in row}, CURVES),
    settings=settings_3,
    measure=ruled,
    once=EVERYTHING,
    charts={"curves": "labelled sequences"},
    quick=("10",),
)

# Figure 3: rules as a resource of supervision, beside more labelled sequences.
#
# Left, references: with 25 labels and rules about as good as without rules with 300. Right, advertisements: `semi HMM
# (CoDL)` learns under the rules and answers without them, so it can say no more than `HMM`.

WITHOUT = "ads, semi HMM (CoDL)"
ROWS_3 = ("citations, HMM", "citations, semi HMM-CCM", "ads, HMM", WITHOUT, "ads, semi HMM-CCM")
PUBLISHED_3 = published({row: FIGURES_3.get(row) for row in ROWS_3}, CURVES)


def measure_3(data: Data, cell: Cell) -> dict[Place, float]:
    """Train as the row says, and test; a model of advertisements under rules is tested without them, too."""
    found = scores(data, cell)
    figures = {(cell.row, cell.column): found.ruled}
    if cell.row == "ads, semi HMM-CCM":
        figures[WITHOUT, cell.column] = found.plain
    return figures


FIGURE_3 = paper_table(
    name="ccm12-figure3",
    title="Rules as supervision: learning with them against more labelled sequences",
    minutes=0.1,
    departures=(BACKOFF, COUNTING, SPLIT),
    needs=BOTH,
    published=PUBLISHED_3,
    settings=settings_3,
    measure=measure_3,
    cells=tuple((row, column) for row in PUBLISHED_3 if row != WITHOUT for column in PUBLISHED_3[row]),
    once=EVERYTHING,
    charts={"curves": "labelled sequences"},
    quick=("10",),
)

# Figure 4: test accuracy after each iteration of EM, hard EM and CoDL, 5 labelled.
#
# All three give the supervised model the weight 0.9. Column 0 is before the first iteration, when the HMM already knows
# the words of the pool as words. The paper's figures are read before the first iteration and after the fifth (hard EM
# is its semi-supervised HMM). A learner that has stopped changing keeps its accuracy. Nothing is chosen by these test
# figures.

ITERATIONS = 10
COLUMNS = tuple(map(str, range(ITERATIONS + 1)))
FIGURES_4: dict[str, dict[str, float | None]] = {
    "citations, EM": {"0": 58.48},
    "citations, hard EM": {"0": 58.48, "5": 64.55},
    "citations, semi HMM-CCM": {"0": 71.64, "5": 77.65},
    "ads, EM": {"0": 53.90},
    "ads, hard EM": {"0": 53.90, "5": 60.75},
    "ads, semi HMM-CCM": {"0": 61.16, "5": 70.79},
}


def _settings_4(row: str, column: str) -> dict[str, Any]:
    domain, _, method = row.partition(", ")
    rules = ALL if method == "semi HMM-CCM" else NONE
    return plan(domain, 5, rules=rules, codl={"gamma": 0.9, "cycles": ITERATIONS}) | {"method": method}


def measure_4(data: Data, cell: Cell) -> dict[Place, float]:
    """Learn, and test after each iteration."""
    chosen, iterations = cell.settings, cell.settings["codl"]["cycles"]
    test = data.corpus(f"{SETS[chosen['domain']]}/test")
    learner: Any
    if chosen["method"] == "semi HMM-CCM":
        learner = CoDL(build(chosen), keep="last", threads=1, **chosen["codl"])
    else:
        learner = EM(
            build(chosen), hard=chosen["method"] == "hard EM", gamma=chosen["codl"]["gamma"], iterations=iterations,
            tolerance=0.0, keep="last", threads=1,
        )  # fmt: skip
    # As held-out data with keep="last" the test split is scored after every cycle, and decides nothing.
    train = labelled(data, chosen["domain"], chosen["labelled"], cell.run)
    learner.fit(train, unlabelled=pool(data, chosen), dev=test)
    values = [learner.supervised_score_, *(cycle.score for cycle in learner.history_)]
    values = list(islice(chain(values, repeat(values[-1])), iterations + 1))
    return {(cell.row, column): 100.0 * value for column, value in zip(COLUMNS, values, strict=True)}


FIGURE_4 = paper_table(
    name="ccm12-figure4",
    title="EM, hard EM and CoDL by iteration, 5 labelled sequences",
    minutes=0.9,
    departures=(BACKOFF, COUNTING, SPLIT),
    needs=BOTH,
    published={row: {column: known.get(column) for column in COLUMNS} for row, known in FIGURES_4.items()},
    settings=_settings_4,
    measure=measure_4,
    cells=tuple((row, COLUMNS[-1]) for row in FIGURES_4),
    charts={"curves": "iteration"},
)

# Figure 5: CoDL on references, by the weight of the supervised model. With gamma 1 it is the supervised model; with 0
# its labels only start the learning. The paper's figures are read only at 0.9, which is its table 3.

GAMMAS = ("0.0", "0.1", "0.3", "0.5", "0.7", "0.9", "1.0")
FIGURES_5 = {"5 labelled": 77.65, "10 labelled": 81.51, "20 labelled": 85.11, "300 labelled": 94.32}


def _settings_5(row: str, column: str) -> dict[str, Any]:
    return plan("citations", int(row.partition(" ")[0]), codl={"gamma": float(column), "cycles": CYCLES})


FIGURE_5 = paper_table(
    name="ccm12-figure5",
    title="Semi-supervised HMM-CCM by the weight of the supervised model, citations",
    minutes=0.9,
    departures=(BACKOFF, COUNTING, SPLIT),
    needs=needs("citations", pool=True),
    published={row: {gamma: best if gamma == "0.9" else None for gamma in GAMMAS} for row, best in FIGURES_5.items()},
    settings=_settings_5,
    measure=ruled,
    quick=("0.5",),
    charts={"curves": "gamma, the weight of the supervised model"},
)
