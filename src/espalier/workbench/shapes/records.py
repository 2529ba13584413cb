"""The shapes of records, of texts that were parsed, and of references for other programs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from espalier.decoders.certify import Status
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
    "ParsedReference",
    "ParsedReferencesAnswer",
    "ParsedText",
    "Queue",
    "ReadingAnswer",
    "RecordAnswer",
    "RecordsAnswer",
    "ReferenceField",
    "ReferenceReading",
    "ReferencesQuestion",
    "RuleBroken",
    "ServiceState",
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


_TEXT = 10_000_000


class ReferencesQuestion(ApiShape):
    """References to parse: either one in each of `texts`, or a list of them as one `text`."""

    texts: Annotated[list[Annotated[str, Field(max_length=_TEXT)]], Field(max_length=100_000)] | None = None
    text: Annotated[str, Field(max_length=_TEXT)] | None = None
    k: Annotated[int, Field(ge=1, le=20)] | None = None


class ReferenceField(ApiShape):
    """A field of a reference, with its text."""

    label: str
    text: str
    start: int
    end: int
    confidence: float


class RuleBroken(ApiShape):
    """A rule that an answer breaks, and what that costs; null is a hard one."""

    name: str
    position: int | None
    amount: int
    price: float | None


class ReferenceReading(ApiShape):
    """One reading of a reference."""

    fields: list[ReferenceField]
    confidence: float
    certificate: CertificateAnswer | NamedCertificate | None
    violations: list[RuleBroken]


class ParsedReference(ReferenceReading):
    """A reference, parsed. csl : the work, in the words of CSL-JSON."""

    text: str
    csl: dict[str, Any]
    alternatives: Annotated[list[ReferenceReading], Field(default_factory=list)]
    source: DocumentPlace | None = None
    unfamiliar: Any = None


class ParsedReferencesAnswer(ApiShape):
    """References, parsed; nothing was kept."""

    model: int
    records: list[ParsedReference]
    problems: list[Trouble]


class ServiceState(ApiShape):
    """Is the server there, and can it answer? what : why not, if something went wrong."""

    status: str
    version: str
    what: str | None = None
