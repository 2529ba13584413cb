"""Extractions as the API writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, TypeVar

from espalier.decoders.base import Violated
from espalier.decoders.certify import Certificate
from espalier.document import Document, Span
from espalier.extract.extraction import Extraction, Field
from espalier.server.shapes import (
    CertificateAnswer,
    FieldShape,
    NamedCertificate,
    ParsedText,
    PlaceInText,
    ReadingAnswer,
    ViolationAnswer,
)

__all__ = ["certificate_of", "flat_tokens", "parsed_text", "places", "violations_of"]

Reading = TypeVar("Reading", bound=ReadingAnswer)
Parsed = TypeVar("Parsed", bound=ParsedText)


def places(fields: Iterable[Field | Span]) -> list[PlaceInText]:
    """Return label, start and end of fields or spans."""
    return [PlaceInText(label=field.label, start=field.start, end=field.end) for field in fields]


def flat_tokens(document: Document) -> list[int]:
    """Return where tokens begin and end: start, end, start, end ..."""
    return [place for token in document.tokens for place in token]


def violations_of(document: Document, violations: Iterable[Violated]) -> list[ViolationAnswer]:
    """Return what an answer breaks, with the characters that the token covers; a hard rule has no price."""
    found = []
    for name, token, amount, price in violations:
        start, end = (None, None) if token is None else document.tokens[token]
        paid = None if price == math.inf else price
        found.append(ViolationAnswer(rule=name, token=token, start=start, end=end, amount=amount, price=paid))
    return found


def certificate_of(certificate: Certificate) -> CertificateAnswer:
    """Return what is proven about an answer."""
    found = certificate.to_dict()
    return NamedCertificate(**found) if "scores" in found else CertificateAnswer(**found)


def _reading(document: Document, answer: Extraction, shape: type[Reading], **more: Any) -> Reading:
    assert answer.certificate is not None  # of what was decoded
    return shape(
        fields=[FieldShape(label=f.label, start=f.start, end=f.end, confidence=f.confidence) for f in answer.fields],
        confidence=answer.confidence,
        certificate=certificate_of(answer.certificate),
        violations=violations_of(document, answer.violations),
        **more,
    )


def parsed_text(document: Document, answer: Extraction, shape: type[Parsed], **more: Any) -> Parsed:
    """Return a document with its readings. shape, more : with what else belongs to it."""
    return _reading(
        document,
        answer,
        shape,
        text=document.text,
        tokens=flat_tokens(document),
        unfamiliar=None if answer.unfamiliar is None else answer.unfamiliar.reason,
        alternatives=[_reading(document, other, ReadingAnswer) for other in answer.alternatives],
        **more,
    )
