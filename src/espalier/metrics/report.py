"""`evaluate`: every figure of one prediction in one report, for people and for machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from espalier.metrics.pairs import Labelling, paired
from espalier.metrics.segments import Score, SegmentScores, score_pairs
from espalier.metrics.tokens import token_counts

__all__ = ["Report", "evaluate"]


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
        The right labels: a labelled `Corpus`, or one list of labels for each sequence; None is unknown.
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

    Examples
    --------
    >>> import espalier as es
    >>> report = es.evaluate([["B-who", "O", "B-where"]], [["B-who", "O", "O"]])
    >>> round(report.token_accuracy, 2), round(report.field_f1, 2), report.exact
    (0.67, 0.67, 0.0)
    """
    pairs = paired(gold, predicted)
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
