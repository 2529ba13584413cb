"""The shapes of answers about records and parsed texts."""

from __future__ import annotations

from espalier.decoders.base import Status
from espalier.workbench.shapes.requests import Place, Shape

__all__ = [
    "Added",
    "Certificate",
    "Deleted",
    "FieldShape",
    "Parsed",
    "ParsedText",
    "Queue",
    "Reading",
    "Record",
    "Records",
    "Trouble",
    "Violation",
]


class FieldShape(Place):
    """A field that a model found."""

    confidence: float


class Certificate(Shape):
    """What is proven about an answer."""

    status: Status
    bound: float | None
    gap: float | None
    method: str


class Violation(Shape):
    """A rule that an answer breaks."""

    rule: str
    token: int | None
    start: int | None
    end: int | None
    amount: int
    price: float | None


class Reading(Shape):
    """An answer for a text."""

    fields: list[FieldShape]
    confidence: float
    certificate: Certificate
    violations: list[Violation]


class ParsedText(Reading):
    """A text with its answers."""

    text: str
    tokens: list[int]
    alternatives: list[Reading]


class Record(ParsedText):
    """A stored text, what the model says, and what you have said."""

    id: int
    corrected: list[Place] | None
    corrected_at: str | None


class Records(Shape):
    """A page of records."""

    total: int
    corrected: int
    matching: int
    offset: int
    model: int | None
    records: list[Record]


class Queue(Shape):
    """What to correct next."""

    left: int
    records: list[Record]


class Trouble(Shape):
    """Something that was left out or repaired."""

    where: str
    what: str


class Added(Shape):
    """What came of adding texts."""

    added: list[int]
    known: int
    corrected: int
    problems: list[Trouble]


class Deleted(Shape):
    """How many records are gone."""

    deleted: int


class Parsed(Shape):
    """Parsed texts."""

    model: int | None
    records: list[ParsedText]
