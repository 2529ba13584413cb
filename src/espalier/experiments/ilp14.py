"""Fersini, Messina, Felici and Roth (2014): five relations mined from labelled text, in two-stage inference.

The paper's own sets are not to be had, and its figures are on those; here the method runs from end to end on the CORA
references (token accuracy) and on WNUT17 (F1 of entities), each kind of relation alone and all five together, beside
Viterbi. Relations are mined from the training split; the development split chooses tau and leaves out relations that
no wrong answer there needs. The test split is labelled once.
"""

from __future__ import annotations

from typing import Any

from espalier.corpus import Corpus
from espalier.estimators.crf import CRF
from espalier.estimators.two_stage import TwoStage
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Table
from espalier.metrics import segment_scores
from espalier.rules.generators import RELATION_KINDS
from espalier.tasks.task import load_task

__all__ = ["TABLES"]

SPLITS = ("train", "dev", "test")
VITERBI, ALL = "Viterbi", "all five"
CORA, WNUT17 = "CORA", "WNUT17"
KINDS = {VITERBI: (), **{kind: (kind,) for kind in RELATION_KINDS}, ALL: RELATION_KINDS}
SETS: dict[str, dict[str, Any]] = {
    CORA: {"directory": "cora", "tags": "labels", "task": "cora", "l2": 0.1},
    WNUT17: {"directory": "wnut17", "tags": "bio", "task": None, "l2": 1.0},
}
"""A CRF with the templates of the task, or the default ones where there is no task; L2 of the task, or the default."""


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    return SETS[column] | {"kinds": list(KINDS[row])}


def measure(data: Data, cell: Cell) -> float:
    """Train a CRF, mine the relations of the row, and test."""
    chosen = cell.settings
    train, dev, test = (data.corpus(f"{chosen['directory']}/{split}", chosen["tags"]) for split in SPLITS)
    features = None if chosen["task"] is None else load_task(chosen["task"]).extractor
    base = CRF(features, l2=chosen["l2"], threads=1)
    if not chosen["kinds"]:
        return _score(base.fit(train), test, cell)
    return _score(TwoStage(base, kinds=chosen["kinds"], threads=1).fit(train, dev=dev), test, cell)


def _score(model: Any, test: Corpus, cell: Cell) -> float:
    """Return token accuracy of plain labels, F1 of entities of tags, in percent."""
    if cell.settings["tags"] == "labels":
        return 100.0 * float(model.score(test))
    return 100.0 * segment_scores(test.all_labels(), model.predict(test)).micro.f1


TABLE = Table(
    name="ilp14",
    title="Two-stage inference under five kinds of mined relations",
    source="Fersini, Messina, Felici & Roth 2014",
    metric="token accuracy (CORA) and F1 of entities (WNUT17), %",
    minutes=0.6,
    needs=tuple(f"{chosen['directory']}/{split}" for chosen in SETS.values() for split in SPLITS),
    published={row: {CORA: None, WNUT17: None} for row in KINDS},
    settings=settings,
    measure=measure,
    once=frozenset(SETS),
    quick=(CORA,),
    departures=(
        "the paper's own sets are not to be had",
        "the CRF has rich features, which leave the second stage little to do: `ilp14-inputs` has words alone",
        "relations are pairs of fields with support and confidence, not clauses of a minimum-cost SAT",
        "a state change that is broken on both sides of a delimiter counts twice, in the paper once",
    ),
)

TABLES = (TABLE,)
