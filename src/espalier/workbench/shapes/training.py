"""The shapes of answers about jobs and models."""

from __future__ import annotations

from typing import Literal

from espalier.workbench.shapes.requests import Shape
from espalier.workbench.shapes.tasks import ErrorParts

__all__ = ["CurvePoint", "Job", "Jobs", "Model", "Models", "Scores"]


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
