"""The shapes of answers."""

from __future__ import annotations

from typing import Literal

from espalier.decoders.base import Status
from espalier.workbench.shapes.requests import ApiShape, PlaceInText

__all__ = [
    "Added",
    "BinAnswer",
    "CertificateAnswer",
    "ChangedRecord",
    "Comparison",
    "ComparisonRow",
    "ConfusionShape",
    "CurvePoint",
    "Deleted",
    "DocumentPlace",
    "ErrorAnswer",
    "ErrorParts",
    "Examples",
    "FieldScore",
    "FieldShape",
    "FormatAnswer",
    "FoundText",
    "JobAnswer",
    "JobsAnswer",
    "LimitsShape",
    "MethodAnswer",
    "Model",
    "Models",
    "Parsed",
    "ParsedFile",
    "ParsedText",
    "Queue",
    "ReadingAnswer",
    "RecordAnswer",
    "RecordsAnswer",
    "Redecoded",
    "Reliability",
    "ReportAnswer",
    "RuleCount",
    "RuleMistake",
    "RuleRow",
    "Rules",
    "RunningJobs",
    "ScoresAnswer",
    "StatusAnswer",
    "Suggestion",
    "Suggestions",
    "TaskAnswer",
    "Tasks",
    "Trouble",
    "VerdictAnswer",
    "ViolationAnswer",
    "WrongRecord",
]

# Tasks, the state of the server, and errors.


class ErrorParts(ApiShape):
    """What is wrong, where, and what to do."""

    what: str
    where: str
    hint: str


class ErrorAnswer(ApiShape):
    """Any answer that is not a success."""

    error: ErrorParts


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


# Records and parsed texts.


class FieldShape(PlaceInText):
    """A field that a model found."""

    confidence: float


class CertificateAnswer(ApiShape):
    """What is proven about an answer."""

    status: Status
    bound: float | None
    gap: float | None
    method: str


class NamedCertificate(CertificateAnswer):
    """The same of a model that may have several scores: whose they are."""

    scores: str


class ViolationAnswer(ApiShape):
    """A rule that an answer breaks."""

    rule: str
    token: int | None
    start: int | None
    end: int | None
    amount: int
    price: float | None


class ReadingAnswer(ApiShape):
    """An answer for a text."""

    fields: list[FieldShape]
    confidence: float
    certificate: CertificateAnswer | NamedCertificate
    violations: list[ViolationAnswer]


class ParsedText(ReadingAnswer):
    """A text with its answers."""

    text: str
    tokens: list[int]
    unfamiliar: str | None = None
    alternatives: list[ReadingAnswer]


class DocumentPlace(ApiShape):
    """Where a reference stands in the document that it was found in; the box is in points from the upper left."""

    file: str
    page: int
    line: int
    start: int
    end: int
    confidence: float
    box: list[float] | None = None
    mark: str = ""
    filled: str = ""


class RecordAnswer(ParsedText):
    """A stored text, what the model says, and what you have said."""

    id: int
    corrected: list[PlaceInText] | None
    corrected_at: str | None
    corrected_by: str
    version: int
    flag: str | None
    skipped: bool
    comments: int
    source: DocumentPlace | None = None


class RecordsAnswer(ApiShape):
    """A page of records."""

    total: int
    corrected: int
    matching: int
    offset: int
    model: int | None
    records: list[RecordAnswer]


class Queue(ApiShape):
    """What to correct next."""

    left: int
    records: list[RecordAnswer]


class Trouble(ApiShape):
    """Something that was left out or repaired."""

    where: str
    what: str


class Added(ApiShape):
    """What came of adding texts."""

    added: list[int]
    known: int
    corrected: int
    problems: list[Trouble]


class Deleted(ApiShape):
    """How many records are gone."""

    deleted: int


class Parsed(ApiShape):
    """Parsed texts."""

    model: int | None
    records: list[ParsedText]


class FoundText(ParsedText):
    """A reference of a document, with its answers and its place."""

    source: DocumentPlace | None


class ParsedFile(ApiShape):
    """The references of a document; problems say what could not be read."""

    model: int | None
    records: list[FoundText]
    problems: list[Trouble]


# Rules, suggestions, and what other rules would change.


class RuleRow(ApiShape):
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


class RuleMistake(ApiShape):
    """A mistake in a text of rules."""

    line: int
    column: int
    message: str
    hint: str


class Rules(ApiShape):
    """The rules of a task."""

    text: str
    version: int
    penalties: dict[str, float | Literal["hard"]]
    off: list[str]
    rules: list[RuleRow]
    errors: list[RuleMistake]


class Suggestion(ApiShape):
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


class Suggestions(ApiShape):
    """Rules that were found."""

    judged: int
    candidates: int
    suggestions: list[Suggestion]


class RuleCount(ApiShape):
    """How often a rule is broken."""

    name: str
    before: int | None
    after: int | None
    records: int | None


class ChangedRecord(ApiShape):
    """A record that differs."""

    id: int
    changed: bool
    tokens_changed: int
    before: list[PlaceInText]
    after: list[PlaceInText]
    violations: list[ViolationAnswer]
    certificate: CertificateAnswer | NamedCertificate


class Redecoded(ApiShape):
    """What other rules would change."""

    model: int | None
    milliseconds: float
    decoded: int
    changed: int
    rules: list[RuleCount]
    records: list[ChangedRecord]


# Jobs and models.


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


# Reports and comparisons.


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
