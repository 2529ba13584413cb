"""A parsed reference: labelled stretches of its text that together give the text back, character for character.

A `Record` holds what the parser saw (fields with their places and confidences, rules broken, other readings);
`Record.work` says the same in normal form, and `to_*` writes it in one of the formats of `espalier.citations.formats`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from espalier.citations.formats import get_format, stem
from espalier.citations.normalise import work_of
from espalier.citations.normalise.kept import with_the_rest
from espalier.citations.work import Date, Name, Pages, Work
from espalier.errors import InputError, LabelError, nearest
from espalier.extract.extraction import Extraction, Field, check_confidence
from espalier.lazy import cached_property

__all__ = ["CORE", "LABELS", "Date", "Field", "Name", "Pages", "Record", "Work"]

LABELS = (
    *("author", "editor", "translator", "title", "container-title", "collection-title", "volume", "issue", "pages"),
    *("date", "edition", "publisher", "location", "genre", "institution", "note", "doi", "url", "isbn", "issn"),
    *("accessed", "citation-number", "other"),
)
"""What a stretch of a reference may be; `other` is what has no home."""

CORE = ("author", "editor", "title", "container-title", "date", "volume", "pages", "publisher", "location")
"""The fields that a whole reference is judged by, and that one figure is given for."""

_KNOWN = frozenset(LABELS)


@dataclass(frozen=True)
class Record(Extraction):
    """One reference, cut into fields: an Extraction that covers its text, and knows what it says in normal form.

    Parameters
    ----------
    text : the reference.
    fields : in order, disjoint; every character of the text but white space is in exactly one of them.
    confidence : that all of it is right, 0 to 1.
    certificate : what is proven about the labelling under the rules; None where nobody decoded it.
    violations : the rules that the labelling breaks, where, and at what price.
    alternatives : the next best readings of the same text, best first.
    unfamiliar : where the text looks unlike the references that the model was tried on, how far and why; else None.
    odd : what looks odd in its work, by the names of `oddities.ODDITIES`; `confidence` is lower for each.
    """

    odd: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse fields that do not give the text back, unknown labels and confidences outside [0, 1]."""
        check_confidence(self.confidence, "the record")
        text, length, end = self.text, len(self.text), 0
        for i, field in enumerate(self.fields):
            start, stop = field.start, field.end
            fits = field.label in _KNOWN and end <= start < stop <= length and text[start:stop] == field.text
            if not fits or not 0.0 <= field.confidence <= 1.0:  # one test for the many records that are right
                _complain(text, end, i, field)
            if start > end and not text[end:start].isspace():
                _check_gap(text, end, start)
            end = stop
        if end < length:
            _check_gap(text, end, length)
        self.check_alternatives()

    def get(self, label: str) -> list[Field]:
        """Return the fields with this label, in order."""
        if label not in _KNOWN:
            raise LabelError(f"{label!r} is no label of a reference (see LABELS)", hint=nearest(label, LABELS))
        return [field for field in self.fields if field.label == label]

    @cached_property
    def work(self) -> Work:
        """What the reference says, in normal form; computed once, when first asked for."""
        return with_the_rest(work_of(self), self)

    def to(self, format: str) -> str:
        """Return the entry of this record alone in any format of `espalier.citations.formats.FORMATS`.

        Parameters
        ----------
        format : its name, for example "bibtex" or "endnote".

        Returns
        -------
        The text of the entry, without what stands around the entries of a file.
        """
        return get_format(format).entry(self, stem(self.work))

    def to_csl(self) -> dict[str, Any]:
        """Return a CSL-JSON item."""
        from espalier.citations.formats.csl import item

        return item(self.work)

    def to_bibtex(self) -> str:
        """Return a BibTeX entry."""
        return self.to("bibtex")

    def to_tei(self) -> str:
        """Return a TEI `biblStruct` element."""
        from espalier.citations.formats.tei import NAMESPACE, entry

        return entry(self.work, text=self.text, xmlns=NAMESPACE)

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON values: text, fields, csl, confidence, certificate, violations; no alternatives.

        Only a record in which something looks odd has an entry `odd`.
        """
        found = super().to_dict()
        odd = {"odd": list(self.odd)} if self.odd else {}
        return {"text": found.pop("text"), "fields": found.pop("fields"), "csl": self.to_csl(), **found, **odd}

    def __getstate__(self) -> Mapping[str, Any]:
        """Leave what was computed on demand out of pickles."""
        return {name: value for name, value in self.__dict__.items() if name != "work"}


def _complain(text: str, end: int, i: int, field: Field) -> None:
    """Say what is wrong with field i, which must begin at `end` or later."""
    if field.label not in _KNOWN:
        what = f"field {i}: {field.label!r} is no label of a reference (see LABELS)"
        raise LabelError(what, hint=nearest(field.label, LABELS))
    if not end <= field.start < field.end <= len(text):
        raise InputError(
            f"field {i} ({field.label}) is at {field.start}..{field.end}, but must be a stretch of "
            f"{end}..{len(text)}: fields are in order, disjoint and not empty"
        )
    if text[field.start : field.end] != field.text:
        raise InputError(f"field {i} ({field.label}) says {field.text!r}, which is not the text at its place")
    _check_gap(text, end, field.start)
    check_confidence(field.confidence, f"field {i} ({field.label})")


def _check_gap(text: str, start: int, end: int) -> None:
    gap = text[start:end]
    if gap and not gap.isspace():
        raise InputError(f"characters {start}..{end} are in no field: {gap[:40]!r}", hint="label them 'other'")
