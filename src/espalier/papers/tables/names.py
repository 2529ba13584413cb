"""One label for one name within a document, as a soft rule across its sentences.

A CRF labels names sentence by sentence; `same token -> same field of names where token is capitalised` joins the
sentences of a document. Its price is counted in the training part. WikiGold has documents of many sentences. Of the
tweets of BTC nobody knows which belong together, so a tweet is a document there.

The rule was chosen on the development part of WikiGold (F1 55.0 alone, 60.5 with it).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from espalier.corpus import Corpus, Labels
from espalier.estimators.crf import CRF
from espalier.joint.layers import TextLayer
from espalier.joint.learning import count_joint_penalties
from espalier.joint.problem import JointProblem
from espalier.joint.rules import JointRules
from espalier.metrics import segment_scores
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Place, Table
from espalier.potentials import ChainBatch
from espalier.tasks.task import load_task

__all__ = ["RULE", "TABLE", "documents", "joined"]

RULE = "Same: same token -> same field of names where token is capitalised"
SETS = {"BTC": "btc", "WikiGold": "wikigold"}
ALONE, TOGETHER, CHANGED, PROVEN = "sentences alone", "one name, one label", "tokens changed", "documents proven, %"

Lines = list[tuple[list[str], list[str]]]
"""Tokens and tags of the sentences of a document."""


def documents(data: Data, split: str) -> list[Lines]:
    """Return the sentences of each document, in order; a sentence without a document is one."""
    numbered = enumerate(data.records(split, "bio"))
    grouped = groupby(numbered, lambda item: item[1].get("doc", ("alone", item[0])))
    return [[(record["tokens"], record["bio"]) for _, record in group] for _, group in grouped]


def _problem(lines: Lines, scores: Sequence[Any], labels: Labels, rules: JointRules | str) -> JointProblem:
    layer = TextLayer(scores, labels=labels, tokens=[tokens for tokens, _ in lines])
    return JointProblem({"names": layer}, rules)


def counted(train: Sequence[Lines], labels: Labels) -> JointRules:
    """Return the rule at its counted price."""
    zero = [[[[0.0] * len(labels)] * len(tokens) for tokens, _ in lines] for lines in train]
    problems = [_problem(lines, scores, labels, "") for lines, scores in zip(train, zero, strict=True)]
    gold = [p.assignment({"names": [tags for _, tags in lines]}) for p, lines in zip(problems, train, strict=True)]
    return count_joint_penalties(JointRules.from_text(RULE), zip(problems, gold, strict=True))


def joined(
    test: Sequence[Lines], batch: ChainBatch, labels: Labels, rules: JointRules | str
) -> tuple[list[list[str]], float]:
    """Decode documents under rules across their sentences; return the tags of all, and the share proven."""
    tags: list[list[str]] = []
    proven = 0
    for lines in test:
        scores = [batch[len(tags) + i] for i in range(len(lines))]
        found = _problem(lines, scores, labels, rules).decode()
        proven += found.certificate.proven
        tags += found["names"]
    return tags, 100.0 * proven / max(len(test), 1)


def measure(data: Data, cell: Cell) -> dict[Place, float]:
    """Train a CRF, count the price, and decode the part of the settings with the rule and without."""
    chosen = cell.settings
    name = chosen["set"]
    train, test = documents(data, f"{name}/train"), documents(data, f"{name}/{chosen['part']}")
    corpus = Corpus.from_tokens(*zip(*(line for lines in train for line in lines), strict=True))
    crf = CRF(load_task("entities").extractor, l2=chosen["l2"], threads=1).fit(corpus)
    labels = Labels(map(str, crf.classes_))
    gold = [tags for lines in test for _, tags in lines]
    batch = crf.potentials([tokens for lines in test for tokens, _ in lines])
    alone, _ = joined(test, batch, labels, "")
    together, proven = joined(test, batch, labels, counted(train, labels))
    changed = sum(x != y for a, b in zip(alone, together, strict=True) for x, y in zip(a, b, strict=True))
    figures = {ALONE: 100.0 * segment_scores(gold, alone).micro.f1, CHANGED: float(changed), PROVEN: proven}
    figures[TOGETHER] = 100.0 * segment_scores(gold, together).micro.f1
    return {(row, cell.column): figure for row, figure in figures.items()}


def _settings(row: str, column: str) -> Mapping[str, Any]:
    return {"set": SETS[column], "part": "test", "l2": 0.1}


TABLE = Table(
    name="names",
    title="One label for one name within a document, a soft rule across sentences",
    source="no paper",
    metric="F1 of names, %",
    minutes=1.5,
    needs=tuple(f"{name}/{split}" for name in SETS.values() for split in ("train", "test")),
    published={row: dict.fromkeys(SETS) for row in (ALONE, TOGETHER, CHANGED, PROVEN)},
    settings=_settings,
    measure=measure,
    cells=tuple((TOGETHER, column) for column in SETS),
    once=frozenset(SETS),
    remark="The documents of WikiGold are articles, those of BTC single tweets, in which few names occur twice.",
)
