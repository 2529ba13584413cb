"""The shapes of tasks."""

from __future__ import annotations

from typing import Literal

from espalier.workbench.shapes.requests import ApiShape

__all__ = [
    "Examples",
    "FormatAnswer",
    "MethodAnswer",
    "TaskAnswer",
    "Tasks",
]


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
