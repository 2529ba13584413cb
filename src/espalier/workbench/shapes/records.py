"""The shapes of records, of their history, and of what people say about them."""

from __future__ import annotations

from espalier.server.history import HistoryChange
from espalier.server.shapes import ApiShape, DocumentPlace, ParsedText, PlaceInText, Trouble


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


class Added(ApiShape):
    """What came of adding texts."""

    added: list[int]
    known: int
    corrected: int
    problems: list[Trouble]


class Deleted(ApiShape):
    """How many records are gone."""

    deleted: int


class HistoryAnswer(ApiShape):
    """Changes, the newest first, and the names of all who made any."""

    changes: list[HistoryChange]
    names: list[str]


class CommentAnswer(ApiShape):
    """What somebody said about a record."""

    id: int
    at: str
    who: str
    text: str


class CommentsAnswer(ApiShape):
    """The comments of a record, the oldest first; the key is `said`, since `comments` is their number in a record."""

    said: list[CommentAnswer]


class PartedAnswer(ApiShape):
    """The numbers of the records that came of it."""

    made: list[int]


class SureAnswer(ApiShape):
    """How many records are so sure, how many were confirmed, and a sample to look at."""

    matching: int
    confirmed: int
    records: list[RecordAnswer]
