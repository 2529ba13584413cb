"""The shapes of the routes for other programs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from espalier.workbench.shapes.records import CertificateAnswer, DocumentPlace, NamedCertificate, Trouble
from espalier.workbench.shapes.requests import ApiShape

__all__ = [
    "ParsedReference", "ParsedReferencesAnswer", "ReferenceField", "ReferenceReading", "ReferencesQuestion",
    "RuleBroken", "ServiceState",
]  # fmt: skip

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
