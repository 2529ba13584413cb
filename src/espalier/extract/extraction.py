"""What was found in one text: fields with their places and confidences, what is proven, what is broken."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from espalier.document import Document, Span
from espalier.errors import InputError

if TYPE_CHECKING:  # the decoders bring the compiled kernels with them; values need none
    from espalier.decoders.base import Violated
    from espalier.decoders.certify import Certificate
    from espalier.extract.confidence import Unfamiliar

__all__ = ["Extraction", "Field", "check_confidence"]


class Field(NamedTuple):
    """Characters start..end-1 of a text, as labelled, with the confidence (0 to 1) that they are just that."""

    label: str
    text: str
    start: int
    end: int
    confidence: float


@dataclass(frozen=True)
class Extraction:
    """The fields of one text.

    Parameters
    ----------
    text : the text.
    fields : stretches of the text, in order; a field of a hierarchy comes before those inside it.
    confidence : that all of it is right, 0 to 1.
    certificate : what is proven about the labelling under the rules; None where nobody decoded it.
    violations : the rules that the labelling breaks, where, and at what price.
    alternatives : the next best readings of the same text, best first.
    unfamiliar : where the text looks unlike those that the model was tried on, how far and why; else None.

    Examples
    --------
    >>> from espalier.extract.extraction import Extraction, Field
    >>> found = Extraction("Plum, 35", (Field("fruit", "Plum", 0, 4, 0.9),), 0.8, certificate=None)
    >>> [(field.label, field.text) for field in found.get("fruit")]
    [('fruit', 'Plum')]
    """

    text: str
    fields: tuple[Field, ...]
    confidence: float
    certificate: Certificate | None
    violations: tuple[Violated, ...] = ()
    alternatives: tuple[Extraction, ...] = ()
    unfamiliar: Unfamiliar | None = None

    def __post_init__(self) -> None:
        """Refuse fields that are not stretches of the text, and confidences outside [0, 1]."""
        check_confidence(self.confidence, "the extraction")
        start = 0
        for i, field in enumerate(self.fields):
            if not start <= field.start < field.end <= len(self.text):
                raise InputError(
                    f"field {i} ({field.label}) is at {field.start}..{field.end}, but must be a stretch of "
                    f"{start}..{len(self.text)}: fields are in order and not empty"
                )
            if self.text[field.start : field.end] != field.text:
                raise InputError(f"field {i} ({field.label}) says {field.text!r}, which is not the text at its place")
            check_confidence(field.confidence, f"field {i} ({field.label})")
            start = field.start
        self.check_alternatives()

    def check_alternatives(self) -> None:
        """Refuse readings of another text."""
        for i, other in enumerate(self.alternatives):
            if other.text != self.text:
                raise InputError(f"alternative {i} is a reading of another text: {other.text[:40]!r}")

    def __str__(self) -> str:
        """Return a short table: how sure all of it is, and each field with its text and how sure it is."""
        width = max((len(field.label) for field in self.fields), default=0)
        head = f"{_shown(self.text)}  ({self.confidence:.2f})"
        return "\n".join([head, *(f"  {f.label:{width}}  {f.confidence:.2f}  {_shown(f.text)}" for f in self.fields)])

    def _repr_html_(self) -> str:
        """Return the text with its fields marked, for notebooks; a field of a hierarchy is around those inside it."""
        from html import escape

        opened: list[tuple[int, str]] = []
        parts, at = [f"<div title='confidence {self.confidence:.2f}' style='line-height:2'>"], 0

        def upto(place: int) -> None:
            nonlocal at
            while opened and opened[-1][0] <= place:
                end, label = opened.pop()
                parts.append(f"{escape(self.text[at:end])} <small>{escape(label)}</small></mark>")
                at = max(at, end)
            parts.append(escape(self.text[at:place]))
            at = max(at, place)

        for field in self.fields:
            upto(field.start)
            parts.append(f"<mark title='{escape(field.label, quote=True)} {field.confidence:.2f}'>")
            opened.append((field.end, field.label))
        upto(len(self.text))
        return "".join([*parts, "</div>"])

    def get(self, label: str) -> list[Field]:
        """Return the fields with a label.

        Parameters
        ----------
        label : of the fields.

        Returns
        -------
        list of Fields, in order.
        """
        return [field for field in self.fields if field.label == label]

    @property
    def spans(self) -> tuple[Span, ...]:
        """The fields as spans of a `Document`."""
        return tuple(Span(field.start, field.end, field.label) for field in self.fields)

    def to_document(self) -> Document:
        """Return the text, cut into the default tokens, with the fields as spans."""
        return Document.from_text(self.text, self.spans)

    def to_dict(self) -> dict[str, Any]:
        """Return text, fields, confidence, certificate and violations as JSON values; no alternatives.

        The price of a hard rule is infinite, which JSON has no number for: it is None. Only a text that is unlike those
        that the model was tried on has an entry `unfamiliar`.
        """
        strange = {} if self.unfamiliar is None else {"unfamiliar": asdict(self.unfamiliar)}
        return {
            "text": self.text,
            "fields": [
                {"label": f.label, "text": f.text, "start": f.start, "end": f.end, "confidence": f.confidence}
                for f in self.fields
            ],
            "confidence": self.confidence,
            "certificate": None if self.certificate is None else self.certificate.to_dict(),
            "violations": [
                {
                    "name": v.name,
                    "position": v.position,
                    "amount": v.amount,
                    "price": v.price if v.price < inf else None,
                }
                for v in self.violations
            ],
            **strange,
        }


def _shown(text: str, longest: int = 100) -> str:
    """Return a text on one line, cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def check_confidence(confidence: float, where: str) -> None:
    """Refuse a confidence outside [0, 1]."""
    if not 0.0 <= confidence <= 1.0:
        raise InputError(f"the confidence of {where} is {confidence!r}", hint="it must be between 0 and 1")
