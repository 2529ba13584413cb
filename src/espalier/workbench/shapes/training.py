"""The shapes of jobs and of the models that they make."""

from __future__ import annotations

from typing import Literal

from espalier.workbench.shapes.requests import ApiShape
from espalier.workbench.shapes.server import ErrorParts

__all__ = [
    "CurvePoint",
    "JobAnswer",
    "JobsAnswer",
    "Model",
    "Models",
    "ScoresAnswer",
    "VerdictAnswer",
]


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
