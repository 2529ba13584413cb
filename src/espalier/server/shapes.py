"""The shapes of requests and answers: requests are checked against them, answers are written in them, and the OpenAPI
description is made of them.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from espalier.decoders.certify import Status

LARGEST = 2**53 - 1
"""The largest number that every JSON reader keeps exactly; numbers of records and models stay below."""

LONGEST = 10_000_000
"""The characters of a text; the size of a request bounds it, too."""


class ApiShape(BaseModel):
    """What all shapes share: a name that is not described is a mistake."""

    model_config = ConfigDict(extra="forbid")


class PlaceInText(ApiShape):
    """A field that somebody assigned."""

    label: Annotated[str, Field(max_length=200)]
    start: Annotated[int, Field(ge=0, le=LARGEST)]
    end: Annotated[int, Field(ge=0, le=LARGEST)]


class ParseQuestion(ApiShape):
    """Texts to parse; nothing is kept."""

    texts: Annotated[list[Annotated[str, Field(max_length=LONGEST)]], Field(max_length=100_000)]
    k: Annotated[int, Field(ge=1, le=20)] = 1
    model: Annotated[int, Field(ge=0, le=LARGEST)] | None = None


class ReferencesQuestion(ApiShape):
    """References to parse: either one in each of `texts`, or a list of them as one `text`."""

    texts: Annotated[list[Annotated[str, Field(max_length=LONGEST)]], Field(max_length=100_000)] | None = None
    text: Annotated[str, Field(max_length=LONGEST)] | None = None
    k: Annotated[int, Field(ge=1, le=20)] | None = None


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


class Trouble(ApiShape):
    """Something that was left out or repaired."""

    where: str
    what: str


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


class ErrorParts(ApiShape):
    """What is wrong, where, and what to do."""

    what: str
    where: str
    hint: str


class ErrorAnswer(ApiShape):
    """Any answer that is not a success."""

    error: ErrorParts


class ConflictAnswer(ErrorAnswer):
    """It cannot be done now. current : where the version was old, what is there now: a record, or rules."""

    current: dict[str, Any] | None = None


class LeaveOrder(ApiShape):
    """Which sessions to end: this one, or all."""

    everywhere: Annotated[bool, Field()] = False


class LeftAnswer(ApiShape):
    """How many sessions were ended."""

    ended: int
