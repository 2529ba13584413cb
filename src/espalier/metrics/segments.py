"""Segment precision, recall and F1, per field and averaged, in the two readings of seqeval.

A predicted segment is right if gold has a segment of the same field over the same tokens.

    precision = right / predicted      recall = right / gold      F1 = 2 right / (predicted + gold)

The *lenient* reading (seqeval's default, and conlleval's) lets an `I-` that continues nothing open a
segment. The *strict* reading (seqeval's `mode="strict", scheme=IOB2`) counts only segments that open with
their own `B-`; a leaf stretch counts if the segment it belongs to does. Labels without marks form runs in
both readings. A ratio without a denominator is 0, as seqeval's `zero_division=0`: a field that nobody
predicted has precision 0, and F1 over no segments at all is 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.metrics.pairs import Labelling, Pairs, paired
from espalier.tags import Segment, parse_tag, segments

__all__ = ["Score", "SegmentScores", "read_segments", "score_pairs", "segment_counts", "segment_scores"]


@dataclass(frozen=True, slots=True)
class Score:
    """Precision, recall and F1 in 0..1; support is the number of gold segments behind them."""

    precision: float
    recall: float
    f1: float
    support: int

    @classmethod
    def of_counts(cls, right: int, predicted: int, gold: int) -> Score:
        """Divide, with 0 where there is nothing to divide by."""
        return cls(
            right / predicted if predicted else 0.0,
            right / gold if gold else 0.0,
            2 * right / (predicted + gold) if predicted + gold else 0.0,
            gold,
        )

    @classmethod
    def mean(cls, scores: Sequence[Score], weights: Sequence[float]) -> Score:
        """Average the three ratios with the given weights; 0 if the weights are all 0."""
        total = sum(weights)

        def average(values: Iterable[float]) -> float:
            return sum(w * v for w, v in zip(weights, values, strict=True)) / total if total else 0.0

        return cls(
            average(s.precision for s in scores),
            average(s.recall for s in scores),
            average(s.f1 for s in scores),
            sum(s.support for s in scores),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the four numbers for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class SegmentScores:
    """The scores of each field that occurs in gold or prediction, and three averages over them.

    micro : of all segments together; macro : the mean of the fields; weighted : the mean by support.
    """

    per_field: Mapping[str, Score]
    micro: Score
    macro: Score
    weighted: Score

    def to_dict(self) -> dict[str, Any]:
        """Return fields and averages for JSON."""
        averages = {name: getattr(self, name).to_dict() for name in ("micro", "macro", "weighted")}
        return {"per_field": {field: score.to_dict() for field, score in self.per_field.items()}} | averages


def read_segments(tags: Sequence[str | None], *, strict: bool = False, leaves: bool = False) -> list[Segment]:
    """Return the segments of one sequence, at every level or at leaf level, in the lenient or strict reading."""
    if not strict:
        return segments(tags, leaves=leaves)
    opened = [s for s in segments(tags) if _opens(tags[s.start], s.label.count("/"))]
    if not leaves:
        return opened
    inside = {(t, s.label) for s in opened for t in range(s.start, s.end)}
    return [s for s in segments(tags, leaves=True) if (s.start, s.label) in inside]


def _opens(tag: str | None, depth: int) -> bool:
    """Does the tag open its level `depth`?  A label without marks always may."""
    levels = parse_tag(tag) if tag is not None else ()
    return levels[0][0] == "" or levels[depth][0] == "B"


def segment_counts(pairs: Pairs, *, strict: bool = False, leaves: bool = False) -> NDArray[np.int64]:
    """Return the right, predicted and gold segments of each sequence, int64[N, 3]."""
    found = _segment_sets(pairs, strict=strict, leaves=leaves)
    counts = [(len(gold & predicted), len(predicted), len(gold)) for gold, predicted in found]
    return np.array(counts, np.int64)


def _segment_sets(pairs: Pairs, *, strict: bool, leaves: bool) -> Iterator[tuple[set[Segment], set[Segment]]]:
    for gold, predicted in pairs:
        yield (
            set(read_segments(gold, strict=strict, leaves=leaves)),
            set(read_segments(predicted, strict=strict, leaves=leaves)),
        )


def segment_scores(
    gold: Labelling, predicted: Labelling, *, strict: bool = False, leaves: bool = False
) -> SegmentScores:
    """Score the segments of every sequence.

    strict : count only segments that open with their own `B-` (seqeval's strict IOB2).
    leaves : judge the innermost field of each token instead of the segments of every level.
    """
    return score_pairs(paired(gold, predicted), strict=strict, leaves=leaves)


def score_pairs(pairs: Pairs, *, strict: bool, leaves: bool) -> SegmentScores:
    """Score pairs that were already checked."""
    right: Counter[str] = Counter()
    guessed: Counter[str] = Counter()
    true: Counter[str] = Counter()
    for gold, predicted in _segment_sets(pairs, strict=strict, leaves=leaves):
        right.update(s.label for s in gold & predicted)
        guessed.update(s.label for s in predicted)
        true.update(s.label for s in gold)
    fields = sorted(true.keys() | guessed.keys())
    per_field = {field: Score.of_counts(right[field], guessed[field], true[field]) for field in fields}
    scores = list(per_field.values())
    return SegmentScores(
        MappingProxyType(per_field),
        micro=Score.of_counts(right.total(), guessed.total(), true.total()),
        macro=Score.mean(scores, [1] * len(scores)),
        weighted=Score.mean(scores, [s.support for s in scores]),
    )
