"""Tokens, segments and whole sequences: what one prediction is worth; `evaluate` gives every figure in one report.

A token whose gold label is unknown (None; -1 in a `Corpus`) is not judged: it is unknown on both sides, so it counts
for no accuracy and belongs to no segment, gold or predicted. A sequence is exact if all its judged tokens are right; a
sequence without any judged token is neither right nor wrong and not counted.

A predicted segment is right if gold has a segment of the same field over the same tokens.

    precision = right / predicted      recall = right / gold      F1 = 2 right / (predicted + gold)

The *lenient* reading (seqeval's default, and conlleval's) lets an `I-` that continues nothing open a
segment. The *strict* reading (seqeval's `mode="strict", scheme=IOB2`) counts only segments that open with
their own `B-`; a leaf stretch counts if the segment it belongs to does. Labels without marks form runs in
both readings. A ratio without a denominator is 0, as seqeval's `zero_division=0`: a field that nobody
predicted has precision 0, and F1 over no segments at all is 0.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, Place, ResultWarning, in_order, listed
from espalier.tags import OUTSIDE, Segment, is_tag, parse_tag, segments

__all__ = [
    "Confusion",
    "Labelling",
    "Pairs",
    "Report",
    "Score",
    "SegmentScores",
    "are_documents",
    "confusion",
    "evaluate",
    "exactness",
    "paired",
    "read_segments",
    "score_pairs",
    "segment_counts",
    "segment_scores",
    "token_accuracy",
    "token_counts",
]

Labelling: TypeAlias = "Corpus | Sequence[Sequence[str | None]]"
"""N label sequences: a corpus, or lists of label names with None where the label is unknown."""

Pairs: TypeAlias = "list[tuple[list[str | None], list[str | None]]]"
"""(gold, predicted) of each sequence, equally long, None at the same tokens."""


def paired(gold: Labelling, predicted: Labelling) -> Pairs:
    """Return N checked pairs of label lists; raise `InputError` naming the sequence and token that is wrong."""
    truth, guess = _label_lists(gold, "gold"), _label_lists(predicted, "predicted")
    if len(truth) != len(guess):
        raise InputError(f"{len(truth)} gold sequences but {len(guess)} predicted ones", hint="they must pair up")
    if len(truth) == 0:  # not `not truth`: it may be an array
        raise InputError("no sequences were given", hint="there is nothing to measure")
    pairs: Pairs = []
    for i, (g, p) in enumerate(zip(truth, guess, strict=True)):
        _check_sequence(g, i, "gold")
        _check_sequence(p, i, "predicted")
        if len(g) != len(p):
            raise InputError(f"sequence {i} has {len(g)} gold labels but {len(p)} predicted ones")
        masked = [None if known is None else label for known, label in zip(g, p, strict=True)]
        if masked.count(None) != list(g).count(None):
            t = next(t for t, label in enumerate(masked) if label is None and g[t] is not None)
            raise InputError(f"sequence {i}, token {t}: the predicted label is None", hint="only gold may be unknown")
        pairs.append((list(g), masked))
    if all(label is None for g, _ in pairs for label in g):
        raise InputError("no gold label is known", hint="there is nothing to measure")
    return pairs


def _label_lists(labels: Labelling, side: str) -> Sequence[Sequence[str | None]]:
    if isinstance(labels, Corpus):
        if labels.y is None:
            raise InputError(f"the {side} corpus has no labels")
        return labels.all_labels()
    hint = "give a list of label lists, such as model.predict returns, documents with spans, or a Corpus"
    several = in_order(labels, f"what is {side}", hint)
    return _label_lists(Corpus.from_documents(several), side) if are_documents(several) else several


def are_documents(several: Sequence[Any]) -> bool:
    """Are these documents, which have labels of their own?"""
    return len(several) > 0 and all(hasattr(one, "spans") and hasattr(one, "tags") for one in several)


def _check_sequence(labels: Sequence[str | None], i: int, side: str) -> None:
    """A list of non-empty strings and None, and nothing that only looks like one."""
    if isinstance(labels, str):
        raise InputError(
            f"{side} sequence {i} is a string, not a list of labels", hint="did you forget one level of lists?"
        )
    for t, label in enumerate(labels):
        if label is not None and (not isinstance(label, str) or not label):
            what = "an empty label" if label == "" else f"{label!r}, a {type(label).__name__}"
            raise InputError(
                f"{side} sequence {i}, token {t} is {what}",
                hint=("labels are names (None where unknown), and ids become names by `Labels.decode`"),
            )


def token_counts(pairs: Pairs) -> NDArray[np.int64]:
    """Return the right and the judged tokens of each sequence, int64[N, 2]."""
    right = [sum(a == b for a, b in zip(g, p, strict=True) if a is not None) for g, p in pairs]
    judged = [len(g) - g.count(None) for g, _ in pairs]
    return np.stack([np.array(right, np.int64), np.array(judged, np.int64)], axis=1)


def token_accuracy(gold: Labelling, predicted: Labelling) -> float:
    """Return the share of tokens with a known gold label that got it."""
    right, judged = token_counts(paired(gold, predicted)).sum(axis=0).tolist()
    return float(right / judged)


def exactness(gold: Labelling, predicted: Labelling) -> float:
    """Return the share of sequences with a known gold label in which every judged token is right."""
    counts = token_counts(paired(gold, predicted))
    judged = counts[:, 1] > 0
    return float((counts[judged, 0] == counts[judged, 1]).mean())


@dataclass(frozen=True, slots=True, eq=False)
class Confusion:
    """How often each gold label (row) was predicted as each label (column).

    labels : the L names of rows and columns; counts : int64[L, L], read-only.
    """

    labels: tuple[str, ...]
    counts: NDArray[np.int64]

    def to_dict(self) -> dict[str, Any]:
        """Return names and counts for JSON."""
        return {"labels": list(self.labels), "counts": self.counts.tolist()}

    def mistakes(self) -> list[tuple[str, str, int]]:
        """Return (gold, predicted, count) of every confusion that happened, the commonest first."""
        rows, columns = np.nonzero(self.counts)
        found = [
            (self.labels[g], self.labels[p], int(self.counts[g, p]))
            for g, p in zip(rows.tolist(), columns.tolist(), strict=True)
            if g != p
        ]
        return sorted(found, key=lambda mistake: (-mistake[2], mistake[0], mistake[1]))


def confusion(gold: Labelling, predicted: Labelling, *, labels: Labels | None = None) -> Confusion:
    """Count gold labels against predicted ones, over tokens with a known gold label.

    `labels` fixes the names and their order (a label outside it is a `LabelError`); without it the
    table has the labels that occur on either side, sorted.
    """
    pairs = paired(gold, predicted)
    names = labels if labels is not None else Labels.of(side for pair in pairs for side in pair)
    L = len(names)
    counts = np.zeros((L, L), np.int64)
    for i, (g, p) in enumerate(pairs):
        rows = np.array(names.encode(g, where=Place(i, noun="gold sequence")), np.int64)
        columns = np.array(names.encode(p, where=Place(i, noun="predicted sequence")), np.int64)
        known = rows >= 0
        np.add.at(counts, (rows[known], columns[known]), 1)
    counts.flags.writeable = False
    return Confusion(names.names, counts)


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


@dataclass(frozen=True, slots=True)
class Report:
    """What one prediction is worth.

    token_accuracy : share of judged tokens that are right; exact : share of judged sequences without a mistake.
    segments : the segment scores; strict, leaves : how segments were read.
    n_sequences, n_tokens : how many were judged (with a known gold label).
    """

    token_accuracy: float
    exact: float
    segments: SegmentScores
    n_sequences: int
    n_tokens: int
    strict: bool = False
    leaves: bool = False

    @property
    def field_f1(self) -> float:
        """F1 of all segments together (micro)."""
        return self.segments.micro.f1

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        figures = {"token_accuracy": self.token_accuracy, "field_f1": self.field_f1, "exact": self.exact}
        reading = {"strict": self.strict, "leaves": self.leaves}
        return (
            figures | self.segments.to_dict() | {"n_sequences": self.n_sequences, "n_tokens": self.n_tokens} | reading
        )

    def __str__(self) -> str:
        """Lay the figures out as a table, in percent."""
        averages = {name: getattr(self.segments, name) for name in ("micro", "macro", "weighted")}
        width = max(map(len, [*self.segments.per_field, *averages, "field"]))

        def line(name: str, score: Score) -> str:
            ratios = "".join(f"{100 * x:>11.2f}" for x in (score.precision, score.recall, score.f1))
            return f"{name:<{width}}{ratios}{score.support:>9}"

        header = f"{'field':<{width}}{'precision':>11}{'recall':>11}{'F1':>11}{'support':>9}"
        return "\n".join(
            [
                f"token accuracy {100 * self.token_accuracy:.2f}   field F1 {100 * self.field_f1:.2f}   "
                f"exact {100 * self.exact:.2f}   ({self.n_sequences} sequences, {self.n_tokens} tokens)",
                "",
                header,
                *(line(field, score) for field, score in self.segments.per_field.items()),
                "-" * len(header),
                *(line(name, score) for name, score in averages.items()),
            ]
        )


def evaluate(gold: Labelling, predicted: Labelling, *, strict: bool = False, leaves: bool = False) -> Report:
    """Compare predicted labels with the right ones.

    Parameters
    ----------
    gold
        The right labels: a labelled `Corpus`, documents with spans, or one list of labels for each sequence; None is
        unknown.
    predicted
        The labels to judge, for the same sequences, in the same form.
    strict
        Count only segments that open with their own `B-`, as seqeval's strict mode does.
    leaves
        Judge the innermost field of each token instead of the segments of every level.

    Returns
    -------
    Report
        Token accuracy, segment scores, and the share of sequences without a mistake; printed, it is a table.

    Warns
    -----
    ResultWarning
        No label of one side is one of the other.

    Examples
    --------
    >>> import espalier as es
    >>> report = es.evaluate([["B-who", "O", "B-where"]], [["B-who", "O", "O"]])
    >>> round(report.token_accuracy, 2), round(report.field_f1, 2), report.exact
    (0.67, 0.67, 0.0)
    """
    pairs = paired(gold, predicted)
    _say_if_mismatched((label for g, _ in pairs for label in g), (label for _, p in pairs for label in p))
    counts = token_counts(pairs)
    right, judged = counts[counts[:, 1] > 0].T
    return Report(
        token_accuracy=float(right.sum() / judged.sum()),
        exact=float((right == judged).mean()),
        segments=score_pairs(pairs, strict=strict, leaves=leaves),
        n_sequences=len(judged),
        n_tokens=int(judged.sum()),
        strict=strict,
        leaves=leaves,
    )


def _say_if_mismatched(gold: Iterable[str | None], predicted: Iterable[str | None]) -> None:
    """Warn where no field of one side can be one of the other; a side that has no field at all is just wrong.

    Words were passed as labels, or tags with marks beside labels without.
    """
    right, said = ({label for label in side if label is not None} - {OUTSIDE} for side in (gold, predicted))
    if not right or not said or right & said:
        return
    marked = [any(map(is_tag, side)) for side in (right, said)]
    if marked[0] != marked[1]:
        one, other = ("gold", "predicted") if marked[0] else ("predicted", "gold")
        what = f"the {one} labels have marks (B-, I-) and the {other} ones have none, so hardly a token can be right"
        hint = "Corpus.from_documents(..., marks=True) or marks=False gives both in one form; are both lists of labels?"
    elif len(right) == 1 or len(said) == 1:  # of one label each, the answer is just wrong
        return
    else:
        what = f"gold has {listed(sorted(right), 5)}, predicted is {listed(sorted(said), 5)}: no label in common"
        hint = "are both lists of labels, not of tokens?"
    warnings.warn(f"{what}; {hint}", ResultWarning, stacklevel=3)
