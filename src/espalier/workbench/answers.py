"""Extractions as the API writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from espalier.decoders.base import Violated
from espalier.document import Document, Span
from espalier.extract.extraction import Extraction, Field

__all__ = ["answer_dict", "places", "text_dict", "violation_dicts"]


def places(fields: Iterable[Field | Span]) -> list[dict[str, Any]]:
    """Return label, start and end of fields or spans."""
    return [{"label": field.label, "start": field.start, "end": field.end} for field in fields]


def violation_dicts(document: Document, violations: Iterable[Violated]) -> list[dict[str, Any]]:
    """Return what an answer breaks, with the characters that the token covers; a hard rule has no price."""
    found = []
    for name, token, amount, price in violations:
        start, end = (None, None) if token is None else document.tokens[token]
        paid = None if price == math.inf else price
        found.append({"rule": name, "token": token, "start": start, "end": end, "amount": amount, "price": paid})
    return found


def answer_dict(document: Document, answer: Extraction) -> dict[str, Any]:
    """Return one reading of a document."""
    assert answer.certificate is not None  # of what was decoded
    return {
        "fields": [
            {**place, "confidence": f.confidence} for place, f in zip(places(answer.fields), answer.fields, strict=True)
        ],
        "confidence": answer.confidence,
        "certificate": answer.certificate.to_dict(),
        "violations": violation_dicts(document, answer.violations),
    }


def text_dict(document: Document, answer: Extraction) -> dict[str, Any]:
    """Return a document with its readings."""
    return {
        "text": document.text,
        "tokens": [place for token in document.tokens for place in token],
        **answer_dict(document, answer),
        "unfamiliar": None if answer.unfamiliar is None else answer.unfamiliar.reason,
        "alternatives": [answer_dict(document, other) for other in answer.alternatives],
    }
