"""Tables 9 and 10 of Chang, Ratinov and Roth (2012): the averaged perceptron under rules."""

from __future__ import annotations

from typing import Any

from espalier.estimators.ccm import CCM
from espalier.estimators.codl import CoDL
from espalier.estimators.perceptron import Perceptron
from espalier.experiments.ccm12 import (
    BACKOFF,
    BREAKS,
    CODL,
    COUNTING,
    EVERYTHING,
    POOL,
    SETS,
    SPLIT,
    accuracy,
    labelled,
    needs,
    paper_table,
    plan,
    pool,
    published,
    scores,
)
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Place
from espalier.tasks.task import load_task

__all__ = ["TABLES"]

# Table 9: four ways to train an averaged perceptron under rules.
#
#     L       without rules
#     L+I     learned without, labelled with hard rules
#     IBT     hard rules while learning, too
#     JIBT    penalties learned as weights, together with those of the features (algorithm 3)
#
# The paper names neither its features nor its epochs. By the development sets, all labelled: features of the extended
# tasks (JIBT on references 94.6 against 93.8 with those of the plain task), ten epochs on references and thirty on
# advertisements (L 75.6, against 74.1 after ten). Rules are the paper's. Where hard rules leave no labelling, the
# answer breaks as few as possible, and the run says how many there were.

EPOCHS_9 = {"citations": 10, "ads": 30}


def settings_9(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    domain, _, way = row.partition(", ")
    return {"domain": domain, "training": way, "epochs": EPOCHS_9[domain], "features": f"{SETS[domain]}-extended"}


def measure_9(data: Data, cell: Cell) -> float:
    """Train as the row says, and test."""
    domain, way = cell.settings["domain"], cell.settings["training"]
    rules, extractor = load_task(SETS[domain]).rules, load_task(cell.settings["features"]).extractor
    model: Any = Perceptron(extractor, epochs=cell.settings["epochs"], threads=1)
    if way == "JIBT":
        model = CCM(model, rules, training=way, threads=1)
    elif way != "L":
        model = CCM(model, rules, "hard", training=way, threads=1)
    return accuracy(model.fit(labelled(data, domain, int(cell.column), cell.run)), data, domain)


TABLE_9 = paper_table(
    name="ccm12-table9",
    title="Averaged perceptron: rules when labelling, while learning, and learned with the weights",
    minutes=3.7,
    needs=needs("citations", "ads"),
    published=published(
        {
            "citations, L": (53.61, 63.17, 70.00, 91.69),
            "citations, L+I": (68.66, 75.57, 79.72, 92.58),
            "citations, IBT": (65.41, 72.83, 75.36, 89.72),
            "citations, JIBT": (62.28, 70.06, 78.76, 94.57),
            "ads, L": (42.47, 57.33, 64.61, 76.08),
            "ads, L+I": (53.81, 64.24, 68.01, 75.28),
            "ads, IBT": (54.87, 57.49, 66.06, 74.98),
            "ads, JIBT": (45.87, 58.93, 67.80, 79.36),
        }
    ),
    settings=settings_9,
    measure=measure_9,
    once=EVERYTHING,
    quick=("5", "20"),
    departures=("features of the extended tasks: word lists and chunks besides words", SPLIT, BREAKS),
    remark=(
        "JIBT with all 100 advertisements is 1.2 below the paper with these features; with the word alone it has the "
        "paper's figure (`ccm12-table9-inputs`)."
    ),
)

# Table 10: an HMM and an averaged perceptron under rules, and both with a pool.
#
# The perceptron learns its penalties with its weights (JIBT of table 9). With a pool, section 6 of the paper: train on
# the pool labelled under rules, then on the labels, from (1 - gamma) times those weights.
#
# References have two cycles; more were not tried. On one development subset of 5 they lead from 71.5 to 72.5 and 73.7.
# Advertisements have one cycle (50.7 to 52.5) and 20 epochs: without rules and with 100 labelled, development accuracy
# is 69.1 after 10 and 73.0 after 20.

EPOCHS_10 = {"citations": 10, "ads": 20}
CYCLES_10 = {"citations": 2, "ads": 1}


def settings_10(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    domain, _, model = row.partition(", ")
    if model.endswith("HMM-CCM"):
        return plan(domain, int(column), codl=CODL if model.startswith("semi ") else None)
    return {
        "domain": domain,
        "labelled": int(column),
        "perceptron": {"epochs": EPOCHS_10[domain]},
        "codl": {"gamma": 0.9, "cycles": CYCLES_10[domain]},
        "pool": POOL,
    }


def measure_10(data: Data, cell: Cell) -> float | dict[Place, float]:
    """Train as the row says, and test; a perceptron before and after the pool."""
    chosen = cell.settings
    if "perceptron" not in chosen:
        return scores(data, cell).ruled
    task, test = load_task(SETS[chosen["domain"]]), data.corpus(f"{SETS[chosen['domain']]}/test")
    features = chosen.get("features", task.extractor)
    base = CCM(Perceptron(features, threads=1, **chosen["perceptron"]), task.rules, training="JIBT", threads=1)
    model = CoDL(base, keep="last", threads=1, **chosen["codl"])
    # As held-out data with keep="last" the test split is scored before and after, and decides nothing.
    train = labelled(data, chosen["domain"], chosen["labelled"], cell.run)
    model.fit(train, unlabelled=pool(data, chosen), dev=test)
    assert model.score_ is not None
    assert model.supervised_score_ is not None
    found = {cell.row: model.score_, cell.row.replace("semi ", ""): model.supervised_score_}
    return {(row, cell.column): 100.0 * value for row, value in found.items()}


PUBLISHED_10 = published(
    {
        "citations, HMM-CCM": (71.64, 75.44, 81.15, 93.92),
        "citations, semi HMM-CCM": (77.65, 81.51, 85.11, 94.36),
        "citations, SP-CCM": (62.28, 70.06, 78.76, 94.57),
        "citations, semi SP-CCM": (65.84, 73.22, 79.20, 93.75),
        "ads, HMM-CCM": (61.15, 68.12, 72.64, 80.80),
        "ads, semi HMM-CCM": (70.79, 75.40, 77.56, 82.00),
        "ads, SP-CCM": (45.87, 58.93, 67.80, 79.36),
        "ads, semi SP-CCM": (47.03, 59.44, 69.29, 79.72),
    }
)
TABLE_10 = paper_table(
    name="ccm12-table10",
    title="HMM and averaged perceptron under rules, supervised and semi-supervised",
    minutes=4.4,
    needs=needs("citations", "ads", pool=True),
    published=PUBLISHED_10,
    settings=settings_10,
    measure=measure_10,
    cells=tuple((row, column) for row in PUBLISHED_10 if not row.endswith(", SP-CCM") for column in PUBLISHED_10[row]),
    once=EVERYTHING,
    quick=("5",),
    departures=(BACKOFF, COUNTING, "the perceptron has the features of the task", SPLIT, BREAKS),
    remark=(
        "With all 100 advertisements the HMM is below the paper for want of line breaks (`ccm12-reasons`), the "
        "supervised perceptron by its features: with the word alone it has 79.4 (`ccm12-table9-inputs`, JIBT)."
    ),
)

TABLES = (TABLE_9, TABLE_10)
