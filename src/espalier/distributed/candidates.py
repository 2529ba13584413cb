"""Candidates for rules scored over parts of the sequences: how often each applies and holds, and who breaks it.

A worker holds gold labels and predictions of its part and returns three whole numbers a candidate. Their sums are
exact, so the number of parts changes nothing; there are as many as workers, because a candidate costs much the same
in a small part as in a large one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.distributed.shards import corpus_parts, n_workers, shards_of
from espalier.learning.discovery_clauses import ClauseCounter
from espalier.parallel import balanced
from espalier.rules.nodes import Node

__all__ = ["score_in_parts"]

Int = NDArray[np.int64]


class _Part(NamedTuple):
    gold: ClauseCounter
    predicted: ClauseCounter


def score_in_parts(nodes: Sequence[Node], gold: Corpus, predicted: Corpus, jobs: int) -> Int:
    """Return int64[C, 3]: clauses of gold labels that hold, gold labellings and predictions that break the rule."""
    cuts = balanced(gold.indptr, n_workers(jobs))
    data = list(zip(corpus_parts(gold, cuts), corpus_parts(predicted, cuts), strict=True))
    with shards_of(data, _prepared, common=None, jobs=jobs, first=[lo for lo, _ in cuts]) as shards:
        return shards.total(_scores, nodes)[0]


def _prepared(_: None, data: tuple[Corpus, Corpus]) -> _Part:
    return _Part(*map(ClauseCounter, data))


def _scores(part: _Part, _: None, nodes: Sequence[Node]) -> tuple[tuple[Int], None]:
    """Score every candidate on one part."""
    found = np.zeros((len(nodes), 3), np.int64)
    for k, node in enumerate(nodes):
        applies, broken = part.gold.count(node)
        wrong = part.predicted.count(node).broken
        found[k] = applies.sum() - broken.sum(), np.count_nonzero(broken), np.count_nonzero(wrong)
    return (found,), None
