"""The shapes of answers about tasks, the state of the server, and errors."""

from __future__ import annotations

from typing import Literal

from espalier.workbench.shapes.requests import ApiShape

__all__ = [
    "ErrorAnswer",
    "ErrorParts",
    "Examples",
    "FormatAnswer",
    "LimitsShape",
    "MethodAnswer",
    "RunningJobs",
    "StatusAnswer",
    "TaskAnswer",
    "Tasks",
]


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
    seconds: float


class StatusAnswer(ApiShape):
    """The server, alive."""

    version: str
    project: str
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
