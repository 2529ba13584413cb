"""The shapes of reports and comparisons."""

from __future__ import annotations

from espalier.workbench.shapes.requests import ApiShape, PlaceInText

__all__ = [
    "BinAnswer",
    "Comparison",
    "ComparisonRow",
    "ConfusionShape",
    "FieldScore",
    "Reliability",
    "ReportAnswer",
    "WrongRecord",
]


class FieldScore(ApiShape):
    """Precision, recall and F1 of a field."""

    precision: float
    recall: float
    f1: float
    support: int


class ConfusionShape(ApiShape):
    """Counts of tokens: rows are expected, columns got."""

    labels: list[str]
    counts: list[list[int]]


class BinAnswer(ApiShape):
    """Fields of about one confidence."""

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


class Reliability(ApiShape):
    """Are confidences worth what they say?"""

    error: float
    worst: float
    n: int
    bins: list[BinAnswer]


class WrongRecord(ApiShape):
    """A record with a mistake."""

    id: int | None
    text: str
    tokens: list[int]
    wrong_tokens: int
    confidence: float
    expected: list[PlaceInText]
    got: list[PlaceInText]


class ReportAnswer(ApiShape):
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


class ComparisonRow(ApiShape):
    """One metric of both."""

    metric: str
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_bootstrap: float
    p_wilcoxon: float


class Comparison(ApiShape):
    """Two models, side by side."""

    a: int
    b: int
    records: int
    seen_a: int
    seen_b: int
    rows: list[ComparisonRow]
