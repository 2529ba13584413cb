"""Fersini, Messina, Felici and Roth (2014): relations learned from labelled text, in two-stage inference.

The paper's own sets are not to be had, and its figures are on those. Here the method runs from end to end on the CORA
references (token accuracy), on the CMU seminar announcements, WikiGold and BTC (F1 of entities). Relations are learned
from the training split, as clauses with conditions (`two_stage.clause_rules`, the paper's) or as plain pairs of labels
(`two_stage.mining`). The development split chooses tau and leaves out relations that no wrong answer there needs. The
test split is labelled once. `ilp14` has a base with the features of a task, `ilp14-inputs` the paper's: the word, and
the ends of the sequence.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from espalier.corpus import Corpus
from espalier.estimators.crf import CRF
from espalier.metrics import segment_scores, token_accuracy
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Place, Table, subset
from espalier.papers.two_stage.estimator import TwoStage
from espalier.rules.generators import RELATION_KINDS
from espalier.tasks.task import load_task

__all__ = ["TABLE", "WORDS_TABLE"]

VITERBI, PAIRS, ALL = "Viterbi", "pairs, all five", "clauses, all five"
RULES, MENDED, SPOILED = "relations kept", "tokens mended", "tokens spoiled"
CHANGED, SLOWER = "sequences changed, %", "ms a sequence"
TAUS = (0.999, 0.998, 0.995, 0.99, 0.98, 0.96, 0.93, 0.9)
AT_TAU = "clauses, tau {:g}"
KINDS = {f"clauses, {kind}": (kind,) for kind in RELATION_KINDS} | {ALL: RELATION_KINDS}
ROWS = (VITERBI, PAIRS, *KINDS, RULES, CHANGED, MENDED, SPOILED, SLOWER)

CORA = {"set": "cora", "tags": "labels", "l2": 0.1}
ENTITIES = {"tags": "bio", "l2": 0.1}
SETS: dict[str, dict[str, Any]] = {
    "CORA": CORA | {"features": "cora", "labelled": 300},
    "seminars": ENTITIES | {"set": "seminars", "features": "entities"},
    "WikiGold": ENTITIES | {"set": "wikigold", "features": "entities"},
    "BTC": ENTITIES | {"set": "btc", "features": "entities"},
}
SIZES = (20, 50, 100, 300)
WORD_SETS: dict[str, dict[str, Any]] = {f"CORA, {n}": CORA | {"features": None, "labelled": n} for n in SIZES} | {
    name: SETS[name] | {"features": None} for name in ("seminars", "WikiGold", "BTC")
}
WORD_START_END = ["bias", "lower", "edge"]

Self = TypeVar("Self", bound="RememberedCRF")


class RememberedCRF(CRF):
    """A CRF that is fitted once in a process to the same sequences: every row of a column has the same base."""

    kept: dict[tuple[Any, ...], dict[str, Any]] = {}  # noqa: RUF012, one for all

    def fit(self: Self, X: Any, y: Any = None, sample_weight: Any = None, labels: Any = None) -> Self:
        """Learn, or remember."""
        assert isinstance(X, Corpus)
        assert sample_weight is None
        key = (X.digest(), str(self.get_params()))
        if key not in self.kept:
            self.kept.clear()
            super().fit(X, y, labels=labels)
            self.kept[key] = dict(vars(self))
        vars(self).update(self.kept[key])
        return self


class Split(NamedTuple):
    """Three parts of a set."""

    train: Corpus
    dev: Corpus
    test: Corpus


def split(data: Data, chosen: Mapping[str, Any], run: int) -> Split:
    """Return the parts; of the seminars every third one is for the test, every fifth of the others for development."""
    if chosen["set"] == "seminars":
        whole = data.corpus("seminars/all", chosen["tags"])
        test = np.arange(len(whole)) % 3 == 0
        rest = np.flatnonzero(~test)
        held = np.arange(len(rest)) % 5 == 0
        return Split(whole[rest[~held]], whole[rest[held]], whole[test])
    train, dev, last = (data.corpus(f"{chosen['set']}/{part}", chosen["tags"]) for part in ("train", "dev", "test"))
    if "labelled" in chosen:
        train = train[subset(len(train), chosen["labelled"], run)]
    return Split(train, dev, last)


def measure(data: Data, cell: Cell) -> dict[Place, float]:
    """Compute a column: Viterbi, relations of each kind, all of them, and all of them for every tau."""
    chosen, parts = cell.settings, split(data, cell.settings, cell.run)
    features: Any = WORD_START_END if chosen["features"] is None else load_task(chosen["features"]).extractor
    base = RememberedCRF(features, l2=chosen["l2"], threads=1)
    gold = parts.test.all_labels()
    plain = base.fit(parts.train).predict(parts.test)
    found = {VITERBI: _score(gold, plain)}
    for row, kinds in {PAIRS: RELATION_KINDS, **KINDS}.items():
        learn = "mine" if row == PAIRS else "clauses"
        model = TwoStage(base, learn, kinds=kinds, taus=(1.0, *TAUS), threads=1).fit(parts.train, dev=parts.dev)
        begun = time.process_time()
        answers = model.predict(parts.test)
        seconds = time.process_time() - begun
        found[row] = _score(gold, answers)
        if row == ALL:
            found |= _effects(gold, plain, answers) | {RULES: float(len(model.rules_))}
            found[SLOWER] = 1000.0 * seconds / len(gold)
            for tau in chosen["taus"]:
                model.tau_ = tau
                found[AT_TAU.format(tau)] = _score(gold, model.predict(parts.test))
    return {(row, cell.column): figure for row, figure in found.items()}


def _effects(gold: Sequence[Any], before: Sequence[Any], after: Sequence[Any]) -> dict[str, float]:
    """Return how many sequences have other labels in stage two, and how many tokens it puts right and wrong."""
    tokens = [
        (g, a, b) for y, one, two in zip(gold, before, after, strict=True) for g, a, b in zip(y, one, two, strict=True)
    ]
    changed = sum(list(a) != list(b) for a, b in zip(before, after, strict=True))
    return {
        CHANGED: 100.0 * changed / len(gold),
        MENDED: float(sum(a != g and b == g for g, a, b in tokens)),
        SPOILED: float(sum(a == g and b != g for g, a, b in tokens)),
    }


def _score(gold: Sequence[Any], answers: Sequence[Any]) -> float:
    """Return token accuracy of plain labels, F1 of entities of tags, in percent."""
    if any(label.startswith("B-") for y in gold for label in y):
        return 100.0 * segment_scores(gold, answers).micro.f1
    return 100.0 * token_accuracy(gold, answers)


def _settings(row: str, column: str) -> dict[str, Any]:
    return SETS[column] | {"taus": []}


def _settings_words(row: str, column: str) -> dict[str, Any]:
    return WORD_SETS[column] | {"taus": list(TAUS)}


DEPARTURES = (
    "the paper's own sets are not to be had, so that none of its figures can stand here",
    "its clauses separate without errors and are pruned afterwards; here a clause is right for 9 of 10 samples",
    "a state change reads the label of the delimiter itself, which in references is that of the field that it ends; it "
    "costs once a delimiter, as there",
    "eq. 30 is read as the negative log probability that a relation is broken; as printed it pays for breaking it",
)

TABLE = Table(
    name="ilp14",
    title="Two-stage inference under relations that are learned as clauses, over a CRF with rich features",
    source="Fersini, Messina, Felici & Roth 2014",
    metric="token accuracy (CORA) and F1 of entities (others), %; what all five change",
    minutes=0.9,
    needs=(
        *(f"{name}/{part}" for name in ("cora", "wikigold", "btc") for part in ("train", "dev", "test")),
        "seminars/all",
    ),
    published={row: dict.fromkeys(SETS) for row in ROWS},
    settings=_settings,
    measure=measure,
    cells=tuple((VITERBI, column) for column in SETS),
    once=frozenset(SETS),
    quick=("CORA",),
    departures=("the features are those of the tasks; `ilp14-inputs` has the paper's", *DEPARTURES),
    remark="With rich features stage two has little left to mend, and spoils nearly as much.",
)

WORDS_TABLE = replace(
    TABLE,
    name="ilp14-inputs",
    title="Two-stage inference under relations that are learned as clauses, over a CRF that knows words and ends alone",
    minutes=2.3,
    published={row: dict.fromkeys(WORD_SETS) for row in (*ROWS, *(AT_TAU.format(tau) for tau in TAUS))},
    settings=_settings_words,
    cells=tuple((VITERBI, column) for column in WORD_SETS),
    once=frozenset(WORD_SETS) - {f"CORA, {n}" for n in SIZES[:-1]},
    quick=("CORA, 20",),
    departures=DEPARTURES,
    remark=(
        "Two-stage inference is better than Viterbi where labels are few. Precedence gains, most with 20 and 50 "
        "labelled; begin-end gains a little with 20, the other three nothing. All five kinds of clauses together are "
        "no better than precedence alone, and with 300 labelled a little worse than Viterbi: some conditions hold by "
        "chance. Plain pairs, which have none, are steadier. In the sets of entities labels say little about each "
        "other from afar."
    ),
)
