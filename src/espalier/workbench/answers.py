"""The shapes of answers, for the OpenAPI description; the tests hold the answers against them."""

from __future__ import annotations

from typing import Literal

from espalier.workbench.requests import Place, Shape

__all__ = [
    "Added",
    "Bin",
    "Certificate",
    "ChangedRecord",
    "Comparison",
    "ComparisonRow",
    "ConfusionShape",
    "CurvePoint",
    "Deleted",
    "ErrorAnswer",
    "ErrorParts",
    "Examples",
    "FieldScore",
    "FieldShape",
    "Format",
    "Job",
    "Jobs",
    "LimitsShape",
    "Method",
    "Model",
    "Models",
    "Parsed",
    "ParsedText",
    "Queue",
    "Reading",
    "Record",
    "Records",
    "Redecoded",
    "Reliability",
    "Report",
    "RuleCount",
    "RuleMistake",
    "RuleRow",
    "Rules",
    "RunningJobs",
    "Scores",
    "Status",
    "Suggestion",
    "Suggestions",
    "Task",
    "Tasks",
    "Trouble",
    "Violation",
    "WrongRecord",
]


class ErrorParts(Shape):
    """What is wrong, where, and what to do."""

    what: str
    where: str
    hint: str


class ErrorAnswer(Shape):
    """Any answer that is not a success."""

    error: ErrorParts


class RunningJobs(Shape):
    """Which job runs, and how many wait."""

    running: int | None
    queued: int


class LimitsShape(Shape):
    """What one request may ask for."""

    body: int
    records: int
    length: int
    seconds: float


class Status(Shape):
    """The server, alive."""

    version: str
    project: str
    limits: LimitsShape
    jobs: RunningJobs


class Method(Shape):
    """A way to train."""

    name: str
    pool: bool
    summary: str


class Format(Shape):
    """A format to export."""

    name: str
    kind: Literal["labels", "records"]
    extension: str
    summary: str


class Task(Shape):
    """A task and what the project has of it."""

    name: str
    builtin: bool
    labels: list[str]
    outside: bool
    features: list[str]
    model: int | None
    records: int
    corrected: int
    rules: int
    examples: int
    methods: list[Method]
    formats: list[Format]


class Tasks(Shape):
    """All tasks."""

    tasks: list[Task]


class Examples(Shape):
    """Texts to begin with."""

    texts: list[str]


class FieldShape(Place):
    """A field that a model found."""

    confidence: float


class Certificate(Shape):
    """What is proven about an answer."""

    status: Literal["optimal", "bounded", "heuristic", "infeasible"]
    gap: float | None


class Violation(Shape):
    """A rule that an answer breaks."""

    rule: str
    token: int | None
    start: int | None
    end: int | None
    amount: int
    price: float | None


class Reading(Shape):
    """An answer for a text."""

    fields: list[FieldShape]
    confidence: float
    certificate: Certificate
    violations: list[Violation]


class ParsedText(Reading):
    """A text with its answers."""

    text: str
    tokens: list[int]
    alternatives: list[Reading]


class Record(ParsedText):
    """A stored text, what the model says, and what you have said."""

    id: int
    corrected: list[Place] | None
    corrected_at: str | None


class Records(Shape):
    """A page of records."""

    total: int
    corrected: int
    matching: int
    offset: int
    model: int | None
    records: list[Record]


class Queue(Shape):
    """What to correct next."""

    left: int
    records: list[Record]


class Trouble(Shape):
    """Something that was left out or repaired."""

    where: str
    what: str


class Added(Shape):
    """What came of adding texts."""

    added: list[int]
    known: int
    corrected: int
    problems: list[Trouble]


class Deleted(Shape):
    """How many records are gone."""

    deleted: int


class Parsed(Shape):
    """Parsed texts."""

    model: int | None
    records: list[ParsedText]


class RuleRow(Shape):
    """One rule, and what it costs now."""

    name: str
    text: str
    line: int
    end_line: int
    penalty: float | None
    hard: bool
    source: Literal["slider", "text", "model", "default"]
    once: bool
    on: bool
    kind: Literal["local", "global"]


class RuleMistake(Shape):
    """A mistake in a text of rules."""

    line: int
    column: int
    message: str
    hint: str


class Rules(Shape):
    """The rules of a task."""

    text: str
    penalties: dict[str, float | Literal["hard"]]
    off: list[str]
    rules: list[RuleRow]
    errors: list[RuleMistake]


class Suggestion(Shape):
    """A rule that was found."""

    name: str
    text: str
    line: str
    penalty: float | None
    support: int
    gold: int
    predicted: int
    fixes: int | None
    breaks: int | None


class Suggestions(Shape):
    """Rules that were found."""

    judged: int
    candidates: int
    suggestions: list[Suggestion]


class RuleCount(Shape):
    """How often a rule is broken."""

    name: str
    before: int | None
    after: int | None
    records: int | None


class ChangedRecord(Shape):
    """A record that differs."""

    id: int
    changed: bool
    tokens_changed: int
    before: list[Place]
    after: list[Place]
    violations: list[Violation]
    certificate: Certificate


class Redecoded(Shape):
    """What other rules would change."""

    model: int | None
    milliseconds: float
    decoded: int
    changed: int
    rules: list[RuleCount]
    records: list[ChangedRecord]


class CurvePoint(Shape):
    """A point of the learning curve."""

    records: int
    token_accuracy: float
    field_f1: float
    exact: float


class Job(Shape):
    """A training job."""

    id: int
    task: str
    method: str
    name: str
    activate: bool
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    created: str
    started: str | None
    finished: str | None
    message: str
    progress: float | None
    curve: list[CurvePoint]
    held_out: int
    model: int | None
    error: ErrorParts | None


class Jobs(Shape):
    """Training jobs."""

    jobs: list[Job]


class Scores(Shape):
    """Figures of held-out records."""

    token_accuracy: float
    field_f1: float
    exact: float
    held_out: int


class Model(Shape):
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
    scores: Scores | None
    bytes: int | None
    active: bool


class Models(Shape):
    """All versions."""

    active: int | None
    models: list[Model]


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
