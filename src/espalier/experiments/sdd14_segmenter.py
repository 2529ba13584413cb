"""Anzaroot et al. (2014), section 7: what their segmenter is worth as a feature, and how many rounds each split takes.

The paper cuts a reference at punctuation and at words that probably begin or end a segment, `in` and `volume` among
them, and gives a token that begins such a stretch one binary feature. Its list of words is not known; SEGMENT_WORDS is
ours, written before anything was measured. Our other features look at chunks between punctuation marks, too, which is
most of what a segmenter says. So there are rows without those: what the paper's own base had to gain.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from espalier.decoders.batch import decode_batch
from espalier.estimators.crf import CRF
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Place
from espalier.experiments.sdd14 import MEMBER, STUDY, Study
from espalier.experiments.sdd14_tables import MOST_ROUNDS, paper_table
from espalier.features.declare import SequenceCall, parse_templates
from espalier.metrics import segment_scores
from espalier.tasks import load_task

__all__ = ["TABLES", "segment_starts"]

SEGMENT_WORDS = frozenset(
    (
        "in", "volume", "vol", "number", "no", "pages", "pp", "page", "editor", "editors", "eds", "ed", "proceedings",
        "proc", "journal", "technical", "tech", "report", "university", "press", "chapter", "edition", "series",
        "thesis",
    )
)  # fmt: skip
PUNCTUATION = frozenset(".,;:()[]\"'")
BEGINS = "begins"

WITHOUT, WITH = "CRF", "CRF, segmenter"
BARE, BARE_WITH = "CRF without chunks", "CRF without chunks, segmenter"
ROWS = {WITHOUT: (True, False), WITH: (True, True), BARE: (False, False), BARE_WITH: (False, True)}
LEAF, EVERY = "leaf", "all levels"
PAPER = {BARE: 94.0, BARE_WITH: 94.44}


def segment_starts(tokens: Sequence[str]) -> list[str | None]:
    """Return which tokens begin a segment: the first, those behind punctuation, and words that begin one."""
    found: list[str | None] = []
    for t, word in enumerate(tokens):
        behind = t == 0 or tokens[t - 1] in PUNCTUATION
        begins = word not in PUNCTUATION and (behind or word.lower() in SEGMENT_WORDS)
        found.append(BEGINS if begins else None)
    return found


@lru_cache(maxsize=len(ROWS))
def _fitted(data: Data, _digest: str, chunks: bool, segmenter: bool) -> CRF:
    templates = [t for t in load_task(MEMBER["task"]).extractor.templates if chunks or "chunk" not in t.text]
    if segmenter:
        field = SequenceCall("segments", segment_starts)
        templates += parse_templates(["sequence:segments"], [field])
    model = CRF(templates, l2=MEMBER["l2"], max_iterations=MEMBER["max_iterations"], threads=1)
    return model.fit(data.corpus("umass/train", "bio_paths"))


def settings(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    chunks, segmenter = ROWS[row]
    return {"chunks": chunks, "segmenter": segmenter, "l2": MEMBER["l2"], "max_iterations": MEMBER["max_iterations"]}


def measure(data: Data, cell: Cell) -> dict[Place, float]:
    """Train a CRF with the features of the row, and test."""
    chosen, test = cell.settings, data.corpus("umass/test", "bio_paths")
    model = _fitted(data, data.digest("umass/train"), chosen["chunks"], chosen["segmenter"])
    gold, found = test.all_labels(), model.predict(test)
    return {
        (cell.row, column): 100.0 * segment_scores(gold, found, leaves=leaves).micro.f1
        for column, leaves in ((LEAF, True), (EVERY, False))
    }


TABLE = paper_table(
    name="sdd14-segmenter",
    title="A rule-based segmenter as a feature of the CRF, no weights shared, UMass references",
    metric="field F1, %",
    minutes=0.5,
    published={row: {LEAF: None, EVERY: PAPER.get(row)} for row in ROWS},
    settings=settings,
    measure=measure,
    cells=tuple((row, LEAF) for row in ROWS),
    once=frozenset({LEAF}),
    departures=(
        "the words of the paper's segmenter are not known",
        "`without chunks` leaves out the features that look at the stretch between two punctuation marks: nearest to "
        "the paper's base",
    ),
)

# Rounds of Soft-DD by split: the rules were found on the development references.

SPLITS = ("train", "dev", "test")
MEAN, MOST, ONCE, PROVEN = "rounds", "most rounds", "one round, %", "proven, %"


def settings_rounds(row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    return {"study": STUDY, "split": row, "max_rounds": MOST_ROUNDS - 1}


def measure_rounds(data: Data, cell: Cell) -> dict[Place, float]:
    """Decode a split under all rules, and count Viterbi passes."""
    study, corpus = Study.of(data, cell), data.corpus(f"umass/{cell.settings['split']}", "bio_paths")
    compiled = study.rules("all")
    batch = study.potentials(corpus)
    found = decode_batch(batch, compiled, corpus, threads=1, max_rounds=cell.settings["max_rounds"])
    figures = {
        MEAN: float(found.rounds.mean()),
        MOST: float(found.rounds.max()),
        ONCE: 100.0 * float(np.mean(found.rounds <= 1)),
        PROVEN: 100.0 * float(found.settled.mean()),
    }
    return {(cell.row, column): figure for column, figure in figures.items()}


ROUNDS_TABLE = paper_table(
    name="sdd14-rounds",
    title="Viterbi passes of Soft-DD by split, all constraints, UMass references",
    metric="passes a reference, shares in %",
    minutes=0.3,
    published={
        split: dict.fromkeys((MEAN, MOST, ONCE, PROVEN)) | ({MEAN: 1.83, MOST: 41.0} if split == "test" else {})
        for split in SPLITS
    },
    settings=settings_rounds,
    measure=measure_rounds,
    cells=tuple((split, MEAN) for split in SPLITS),
    once=frozenset({MEAN}),
    departures=(
        "the paper goes on with rounds until all are proven; here a search ends what ten rounds leave open",
        "the base has seen the labels of the training references, the rules those of the development references",
    ),
)

TABLES = (TABLE, ROUNDS_TABLE)
