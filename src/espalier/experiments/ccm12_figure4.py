"""Chang, Ratinov and Roth (2012), figure 4: test accuracy after each iteration of EM, hard EM and CoDL, 5 labelled.

All three give the supervised model the weight 0.9. Column 0 is before the first iteration, when the HMM already knows
the words of the pool as words. A curve: the paper's figures are read where its table 3 has them, before the first
iteration and after the fifth (hard EM is its semi-supervised HMM). A learner that has stopped changing keeps its
accuracy. Nothing is chosen by these test figures.
"""

from __future__ import annotations

from itertools import chain, islice, repeat
from typing import Any

from espalier.estimators.codl import CoDL
from espalier.estimators.em import EM
from espalier.experiments.ccm12 import METRIC, SETS, SOURCE, needs
from espalier.experiments.ccm12_semi import ALL, NONE, build, labelled, plan, pool
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Place, Table

__all__ = ["TABLE"]

LABELLED = 5
ITERATIONS = 10
COLUMNS = tuple(map(str, range(ITERATIONS + 1)))
GAMMA = 0.9
FIGURES: dict[str, dict[str, float | None]] = {
    "citations, EM": {"0": 58.48},
    "citations, hard EM": {"0": 58.48, "5": 64.55},
    "citations, semi HMM-CCM": {"0": 71.64, "5": 77.65},
    "ads, EM": {"0": 53.90},
    "ads, hard EM": {"0": 53.90, "5": 60.75},
    "ads, semi HMM-CCM": {"0": 61.16, "5": 70.79},
}


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    domain, _, method = row.partition(", ")
    rules = ALL if method == "semi HMM-CCM" else NONE
    return plan(domain, LABELLED, rules=rules, codl={"gamma": GAMMA, "cycles": ITERATIONS}) | {"method": method}


def measure(data: Data, cell: Cell) -> dict[Place, float]:
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
    learner.fit(labelled(data, chosen, cell.run), unlabelled=pool(data, chosen), dev=test)
    values = [learner.supervised_score_, *(cycle.score for cycle in learner.history_)]
    values = list(islice(chain(values, repeat(values[-1])), iterations + 1))
    return {(cell.row, column): 100.0 * value for column, value in zip(COLUMNS, values, strict=True)}


TABLE = Table(
    name="ccm12-figure4",
    title=f"EM, hard EM and CoDL by iteration, {LABELLED} labelled sequences",
    source=SOURCE,
    metric=METRIC,
    minutes=0.9,
    needs=needs("citations", "ads", pool=True),
    published={row: {column: known.get(column) for column in COLUMNS} for row, known in FIGURES.items()},
    settings=settings,
    measure=measure,
    cells=tuple((row, COLUMNS[-1]) for row in FIGURES),
    charts={"curves": "iteration"},
)
