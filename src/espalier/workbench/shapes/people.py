"""The shapes of what several people need: conflicts, history, comments, sessions."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from espalier.workbench.history import HistoryChange
from espalier.workbench.shapes.records import RecordAnswer
from espalier.workbench.shapes.requests import LARGEST, ApiShape, VersionRead
from espalier.workbench.shapes.server import ErrorAnswer
from espalier.workbench.tasks import LABEL

__all__ = [
    "CommentAnswer",
    "CommentsAnswer",
    "ConflictAnswer",
    "HistoryAnswer",
    "LabelsAnswer",
    "LabelsOrder",
    "LeaveOrder",
    "LeftAnswer",
    "MarkOrder",
    "MergeOrder",
    "NewComment",
    "PartedAnswer",
    "RuleLine",
    "SplitOrder",
    "SureAnswer",
    "SureOrder",
]


class ConflictAnswer(ErrorAnswer):
    """It cannot be done now. current : where the version was old, what is there now: a record, or rules."""

    current: dict[str, Any] | None = None


class HistoryAnswer(ApiShape):
    """Changes, the newest first, and the names of all who made any."""

    changes: list[HistoryChange]
    names: list[str]


class LeaveOrder(ApiShape):
    """Which sessions to end: this one, or all."""

    everywhere: Annotated[bool, Field()] = False


class LeftAnswer(ApiShape):
    """How many sessions were ended."""

    ended: int


class MarkOrder(ApiShape):
    """Marks of a record. flag : why it is marked, null takes the mark away; skipped : put it off, or back."""

    flag: Annotated[str, Field(min_length=1, max_length=500)] | None = None
    skipped: bool | None = None


class NewComment(ApiShape):
    """What to say about a record."""

    text: Annotated[str, Field(min_length=1, max_length=5000)]


class CommentAnswer(ApiShape):
    """What somebody said about a record."""

    id: int
    at: str
    who: str
    text: str


class CommentsAnswer(ApiShape):
    """The comments of a record, the oldest first; the key is `said`, since `comments` is their number in a record."""

    said: list[CommentAnswer]


class SplitOrder(ApiShape):
    """Where to cut a record: the first character of the second one."""

    at: Annotated[int, Field(ge=1, le=LARGEST)]


class MergeOrder(ApiShape):
    """Which record to put behind this one."""

    other: Annotated[int, Field(ge=1, le=LARGEST)]


class PartedAnswer(ApiShape):
    """The numbers of the records that came of it."""

    made: list[int]


class SureOrder(ApiShape):
    """Confirm open records whose confidence is at least `above`; unless `really`, only show a sample of them."""

    above: Annotated[float, Field(ge=0.5, le=1)]
    sample: Annotated[int, Field(ge=1, le=100)] = 10
    really: bool = False


class SureAnswer(ApiShape):
    """How many records are so sure, how many were confirmed, and a sample to look at."""

    matching: int
    confirmed: int
    records: list[RecordAnswer]


LabelName = Annotated[str, Field(max_length=200)]
NewLabel = Annotated[str, Field(pattern=f"^{LABEL}$", max_length=80)]


class LabelsOrder(ApiShape):
    """A change of labels; a label that is renamed to one that is there is merged with it. really : do it."""

    add: Annotated[list[NewLabel], Field(default_factory=list, max_length=200)]
    rename: Annotated[dict[LabelName, NewLabel], Field(default_factory=dict, max_length=200)]
    remove: Annotated[list[LabelName], Field(default_factory=list, max_length=200)]
    really: bool = False
    version: VersionRead = None


class RuleLine(ApiShape):
    """A line of the rules, before and after."""

    before: str
    after: str


class LabelsAnswer(ApiShape):
    """What a change of labels does. reopened : records no longer confirmed; model : is one put out of use?"""

    labels: list[str]
    records: int
    reopened: int
    rules: list[RuleLine]
    model: bool
    done: bool
