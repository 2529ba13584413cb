"""The shapes of answers about tasks, the state of the server, and errors."""

from __future__ import annotations

from typing import Literal

from espalier.workbench.shapes.requests import Shape

__all__ = [
    "ErrorAnswer",
    "ErrorParts",
    "Examples",
    "Format",
    "LimitsShape",
    "Method",
    "RunningJobs",
    "Status",
    "Task",
    "Tasks",
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
