"""The shapes of what several people need: conflicts, history, comments, sessions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from espalier.workbench.shapes.answers import ErrorAnswer
from espalier.workbench.shapes.requests import ApiShape

__all__ = ["ChangeAnswer", "ConflictAnswer", "HistoryAnswer", "LeaveOrder", "LeftAnswer"]


class ConflictAnswer(ErrorAnswer):
    """It cannot be done now. current : where the version was old, what is there now: a record, or rules."""

    current: dict[str, Any] | None = None


class ChangeAnswer(ApiShape):
    """One change of a record (null: of the rules or labels), and the version that it made."""

    id: int
    record: int | None
    version: int
    at: str
    who: str
    what: str
    before: Any
    after: Any


class HistoryAnswer(ApiShape):
    """Changes, the newest first, and the names of all who made any."""

    changes: list[ChangeAnswer]
    names: list[str]


class LeaveOrder(ApiShape):
    """Which sessions to end: this one, or all."""

    everywhere: Annotated[bool, Field()] = False


class LeftAnswer(ApiShape):
    """How many sessions were ended."""

    ended: int
