"""The shapes of records, and of texts that were parsed."""

from __future__ import annotations

from espalier.decoders.base import Status
from espalier.workbench.shapes.requests import ApiShape, PlaceInText

__all__ = [
    "Added",
    "CertificateAnswer",
    "Deleted",
    "DocumentPlace",
    "FieldShape",
    "FoundText",
    "NamedCertificate",
    "Parsed",
    "ParsedFile",
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


class NamedCertificate(CertificateAnswer):
    """The same of a model that may have several scores: whose they are."""

    scores: str


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
    certificate: CertificateAnswer | NamedCertificate
    violations: list[ViolationAnswer]


class ParsedText(ReadingAnswer):
    """A text with its answers."""

    text: str
    tokens: list[int]
    unfamiliar: str | None = None
    alternatives: list[ReadingAnswer]


class DocumentPlace(ApiShape):
    """Where a reference stands in the document that it was found in; the box is in points from the upper left."""

    file: str
    page: int
    line: int
    start: int
    end: int
    confidence: float
    box: list[float] | None = None
    mark: str = ""
    filled: str = ""


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


class FoundText(ParsedText):
    """A reference of a document, with its answers and its place."""

    source: DocumentPlace | None


class ParsedFile(ApiShape):
    """The references of a document; problems say what could not be read."""

    model: int | None
    records: list[FoundText]
    problems: list[Trouble]
