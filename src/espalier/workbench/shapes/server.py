"""The shapes of errors, and of the state of the server."""

from __future__ import annotations

from espalier.workbench.shapes.requests import ApiShape

__all__ = [
    "ErrorAnswer",
    "ErrorParts",
    "LimitsShape",
    "RunningJobs",
    "StatusAnswer",
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
    tokens: int
    seconds: float


class StatusAnswer(ApiShape):
    """The server, alive."""

    version: str
    project: str
    login: bool
    limits: LimitsShape
    jobs: RunningJobs
