"""Which labels the recipe of `ours` takes for which, on the test references, with 20 labelled ones.

Rows are the labels that were given, columns those that were found; figures are tokens, in the mean over subsets.
"""

from __future__ import annotations

from typing import Any

from espalier.experiments import ours
from espalier.experiments.ccm12 import SETS
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Place, Table
from espalier.metrics import confusion
from espalier.tasks.task import load_task

__all__ = ["TABLE"]

DOMAIN, LABELLED = "citations", "20"
LABELS = tuple(load_task(SETS[DOMAIN]).labels)


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    return ours.settings(f"{DOMAIN}, {ours.RECIPE_ROW}", LABELLED) | {"labelled": LABELLED}


def measure(data: Data, cell: Cell) -> dict[Place, float]:
    """Train, and count pairs of labels."""
    taught = Cell(cell.table, cell.row, cell.settings["labelled"], cell.run, cell.settings)
    test = data.corpus(f"{SETS[DOMAIN]}/test")
    found = confusion(test.all_labels(), ours.fitted(data, taught).predict(test))
    place = {name: k for k, name in enumerate(found.labels)}
    return {
        (given, answer): float(found.counts[place[given], place[answer]]) if {given, answer} <= set(place) else 0.0
        for given in LABELS
        for answer in LABELS
    }


TABLE = Table(
    name="ours-confusion",
    title=f"Labels given (rows) and found (columns) by the recipe of `ours`, {LABELLED} labelled references",
    source="no paper",
    metric="tokens of the test split",
    minutes=0.4,
    needs=ours.TABLE.needs,
    published={given: dict.fromkeys(LABELS) for given in LABELS},
    settings=settings,
    measure=measure,
    cells=((LABELS[0], LABELS[0]),),
    charts={"confusion": "label found; rows: label given"},
)
