"""The shapes of tasks, of training jobs, the models that they make and what those are worth, and of the server."""

from __future__ import annotations

from typing import Literal

from espalier.server.shapes import ApiShape, ErrorParts, PlaceInText


class MethodAnswer(ApiShape):
    """A way to train."""

    name: str
    pool: bool
    summary: str


class FormatAnswer(ApiShape):
    """A format to export."""

    name: str
    kind: Literal["labels", "records"]
    extension: str
    summary: str


class TaskAnswer(ApiShape):
    """A task and what the project has of it."""

    name: str
    version: int
    builtin: bool
    labels: list[str]
    outside: bool
    features: list[str]
    model: int | None
    records: int
    corrected: int
    rules: int
    examples: int
    methods: list[MethodAnswer]
    formats: list[FormatAnswer]


class Tasks(ApiShape):
    """All tasks."""

    tasks: list[TaskAnswer]


class Examples(ApiShape):
    """Texts to begin with."""

    texts: list[str]


class CurvePoint(ApiShape):
    """A point of the learning curve."""

    records: int
    token_accuracy: float
    field_f1: float
    exact: float
    token_low: float | None = None
    token_high: float | None = None
    field_low: float | None = None
    field_high: float | None = None


class VerdictAnswer(ApiShape):
    """Was the new model put in use, and why? held_out : records that judged; before, after : figures of the metric."""

    used: bool
    why: Literal["better", "not worse", "worse", "nothing to compare", "too few records", "you said so"]
    metric: str
    held_out: int
    before: float | None
    after: float | None
    p: float | None


class JobAnswer(ApiShape):
    """A training job."""

    id: int
    task: str
    method: str
    name: str
    activate: bool | Literal["always"]
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    created: str
    started: str | None
    finished: str | None
    message: str
    progress: float | None
    curve: list[CurvePoint]
    held_out: int
    model: int | None
    verdict: VerdictAnswer | None
    error: ErrorParts | None


class JobsAnswer(ApiShape):
    """Training jobs."""

    jobs: list[JobAnswer]


class ScoresAnswer(ApiShape):
    """Figures of held-out records."""

    token_accuracy: float
    field_f1: float
    exact: float
    held_out: int


class Model(ApiShape):
    """A version of a task's model."""

    id: int
    name: str
    parent: int | None
    created: str | None
    source: Literal["bundled", "trained", "uploaded"]
    method: str | None
    kind: str
    corrected: int
    pool: int
    scores: ScoresAnswer | None
    bytes: int | None
    active: bool


class Models(ApiShape):
    """All versions."""

    active: int | None
    models: list[Model]


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


class RunningJobs(ApiShape):
    """Which job runs, and how many wait."""

    running: int | None
    queued: int


class LimitsShape(ApiShape):
    """What one request may ask for."""

    body: int
    records: int
    length: int
    tokens: int
    seconds: float


class StatusAnswer(ApiShape):
    """The server, alive."""

    version: str
    project: str
    login: bool
    limits: LimitsShape
    jobs: RunningJobs
