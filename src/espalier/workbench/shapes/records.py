"""The shapes of answers about records and parsed texts."""

from __future__ import annotations

from espalier.decoders.base import Status
from espalier.workbench.shapes.requests import ApiShape, PlaceInText

__all__ = [
    "Added",
    "CertificateAnswer",
    "Deleted",
    "FieldShape",
    "Parsed",
    "ParsedText",
    "Queue",
    "ReadingAnswer",
    "RecordAnswer",
    "RecordsAnswer",
    "Trouble",
    "ViolationAnswer",
]


class FieldShape(PlaceInText):
    """A field that a model found."""

    confidence: float


class CertificateAnswer(ApiShape):
    """What is proven about an answer."""

    status: Status
    bound: float | None
    gap: float | None
    method: str


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
    certificate: CertificateAnswer
    violations: list[ViolationAnswer]


class ParsedText(ReadingAnswer):
    """A text with its answers."""

    text: str
    tokens: list[int]
    alternatives: list[ReadingAnswer]


class RecordAnswer(ParsedText):
    """A stored text, what the model says, and what you have said."""

    id: int
    corrected: list[PlaceInText] | None
    corrected_at: str | None


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
