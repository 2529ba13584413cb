"""Chang, Ratinov and Roth (2012), table 3: a hidden Markov model with and without rules, and with unlabelled text.

    HMM, HMM-CCM              counting, algorithm 1: section 4 of the paper
    semi HMM, semi HMM-CCM    algorithm 2 (CoDL) with and without rules: section 5

`HMM` is taken as it comes, first order as the paper's. Its back-off to word shapes and suffixes (the paper does not say
how it smooths) won on both development sets over adding a constant: 67.1 to 52.9 on references and 52.9 to 44.6 on
advertisements at 5 labelled. CoDL has the paper's gamma and number of cycles, and 1,000 unlabelled sequences.
"""

from __future__ import annotations

from typing import Any

from espalier.estimators.ccm import CCM
from espalier.estimators.codl import CoDL
from espalier.estimators.hmm import HMM
from espalier.experiments.ccm12 import METRIC, PENALTIES, SETS, SOURCE, accuracy, needs, published, training, unlabelled
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Table
from espalier.tasks.task import load_task

__all__ = ["TABLE"]

FIGURES = {
    "citations, HMM": (58.48, 63.37, 70.78, 86.69),
    "citations, HMM-CCM": (71.64, 75.44, 81.15, 93.92),
    "citations, semi HMM": (64.55, 69.86, 75.35, 87.89),
    "citations, semi HMM-CCM": (77.65, 81.51, 85.11, 94.32),
    "ads, HMM": (53.90, 61.21, 67.69, 76.29),
    "ads, HMM-CCM": (61.16, 68.12, 72.64, 80.80),
    "ads, semi HMM": (60.75, 66.56, 71.36, 77.38),
    "ads, semi HMM-CCM": (70.79, 75.40, 77.56, 82.00),
}
CODL = {"gamma": 0.9, "cycles": 5}
POOL = 1000


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    domain, _, model = row.partition(", ")
    semi, ruled = model.startswith("semi "), model.endswith("-CCM")
    learned = {"codl": CODL, "pool": POOL} if semi else {"codl": None}
    return {"domain": domain, "penalties": PENALTIES if ruled else None, **learned}


def measure(data: Data, cell: Cell) -> float:
    """Train as the row says, and test."""
    penalties, codl = cell.settings["penalties"], cell.settings["codl"]
    model: Any = HMM(threads=1)
    if penalties is not None:
        model = CCM(model, load_task(SETS[cell.settings["domain"]]).rules, threads=1, **penalties)
    train = training(data, cell)
    if codl is None:
        return accuracy(model.fit(train), data, cell)
    taught = CoDL(model, threads=1, **codl).fit(train, unlabelled=unlabelled(data, cell))
    return accuracy(taught, data, cell)


TABLE = Table(
    name="ccm12-table3",
    title="HMM and HMM-CCM, supervised and semi-supervised, by number of labelled sequences",
    source=SOURCE,
    metric=METRIC,
    minutes=1.2,
    needs=needs("citations", "ads", pool=True),
    published=published(FIGURES),
    settings=settings,
    measure=measure,
    once=frozenset({"300"}),
    quick=("5", "20"),
    charts={"reduction": "errors that the rules remove, %"},
    remark=(
        "Advertisements with all 100 labelled are below the paper: by 0.6 with rules, by 1.4 with unlabelled text. "
        "A likely reason, not tested: our copy of the set has lost its line breaks, which the paper's rule on "
        "punctuation counts as borders. A gamma of 0.5 or 0.7 gave 81.5 and 81.0 there; the table keeps the paper's."
    ),
)
