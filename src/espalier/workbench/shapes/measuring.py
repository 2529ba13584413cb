"""The shapes of answers about reports and comparisons."""

from __future__ import annotations

from espalier.workbench.shapes.requests import Place, Shape

__all__ = ["Bin", "Comparison", "ComparisonRow", "ConfusionShape", "FieldScore", "Reliability", "Report", "WrongRecord"]


class FieldScore(Shape):
    """Precision, recall and F1 of a field."""

    precision: float
    recall: float
    f1: float
    support: int


class ConfusionShape(Shape):
    """Counts of tokens: rows are expected, columns got."""

    labels: list[str]
    counts: list[list[int]]


class Bin(Shape):
    """Fields of about one confidence."""

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


class Reliability(Shape):
    """Are confidences worth what they say?"""

    error: float
    worst: float
    n: int
    bins: list[Bin]


class WrongRecord(Shape):
    """A record with a mistake."""

    id: int | None
    text: str
    tokens: list[int]
    wrong_tokens: int
    confidence: float
    expected: list[Place]
    got: list[Place]


class Report(Shape):
    """What a model is worth."""

    model: int | None
    records: int
    tokens: int
    seen: int
    token_accuracy: float
    field_f1: float
    exact: float
    per_field: dict[str, FieldScore]
    confusion: ConfusionShape
    reliability: Reliability | None
    wrong: int
    errors: list[WrongRecord]


class ComparisonRow(Shape):
    """One metric of both."""

    metric: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_wilcoxon: float


class Comparison(Shape):
    """Two models, side by side."""

    a: int
    b: int
    records: int
    seen_a: int
    seen_b: int
    rows: list[ComparisonRow]
