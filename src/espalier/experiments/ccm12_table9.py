"""Chang, Ratinov and Roth (2012), table 9: four ways to train an averaged perceptron under rules.

    L       without rules
    L+I     learned without, labelled with hard rules
    IBT     hard rules while learning, too
    JIBT    penalties learned as weights, together with those of the features (algorithm 3)

The paper names neither its features nor its epochs. By the development sets, all labelled: features of the extended
tasks (JIBT on references 94.6 against 93.8 with those of the plain task), ten epochs on references and thirty on
advertisements (L 75.6, against 74.1 after ten). Rules are the paper's. Where hard rules leave no labelling, the answer
breaks as few as possible, and the run says how many there were.
"""

from __future__ import annotations

from typing import Any

from espalier.estimators.ccm import CCM
from espalier.estimators.perceptron import Perceptron
from espalier.experiments.ccm12 import METRIC, SETS, SOURCE, accuracy, needs, published, training
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Table
from espalier.tasks.task import load_task

__all__ = ["TABLE"]

FIGURES = {
    "citations, L": (53.61, 63.17, 70.00, 91.69),
    "citations, L+I": (68.66, 75.57, 79.72, 92.58),
    "citations, IBT": (65.41, 72.83, 75.36, 89.72),
    "citations, JIBT": (62.28, 70.06, 78.76, 94.57),
    "ads, L": (42.47, 57.33, 64.61, 76.08),
    "ads, L+I": (53.81, 64.24, 68.01, 75.28),
    "ads, IBT": (54.87, 57.49, 66.06, 74.98),
    "ads, JIBT": (45.87, 58.93, 67.80, 79.36),
}
EPOCHS = {"citations": 10, "ads": 30}


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    domain, _, training = row.partition(", ")
    return {"domain": domain, "training": training, "epochs": EPOCHS[domain], "features": f"{SETS[domain]}-extended"}


def measure(data: Data, cell: Cell) -> float:
    """Train as the row says, and test."""
    task, way = load_task(SETS[cell.settings["domain"]]), cell.settings["training"]
    extractor = load_task(cell.settings["features"]).extractor
    model: Any = Perceptron(extractor, epochs=cell.settings["epochs"], threads=1)
    if way == "JIBT":
        model = CCM(model, task.rules, training=way, threads=1)
    elif way != "L":
        model = CCM(model, task.rules, "hard", training=way, threads=1)
    return accuracy(model.fit(training(data, cell)), data, cell)


TABLE = Table(
    name="ccm12-table9",
    title="Averaged perceptron: rules when labelling, while learning, and learned with the weights",
    source=SOURCE,
    metric=METRIC,
    minutes=3.7,
    needs=needs("citations", "ads"),
    published=published(FIGURES),
    settings=settings,
    measure=measure,
    once=frozenset({"300"}),
    quick=("5", "20"),
)
