"""`Parser`: an Extractor of references, whose answers are records.

    parser = es.load("citations")                        the bundled model
    parser.parse("L. O. Andersen. Program analysis ...")  one record
    parser.parse_many(lines)                             a stream of them, in order, at a bounded memory

Every character of the text but white space is a part of a token, every token has a label, and tokens of one label in a
row are a field: so the fields, put together, give the text back. What the model puts outside any field is a field
`other`. A violation names the token, counted from 0, by the tokens of `seen.reference_tokens`.

What the model sees of a text (one form for signs that mean the same, no marks of HTML) is in `seen`; records show the
text as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from espalier.citations.oddities import lowered, oddities
from espalier.citations.record import CORE, LABELS, Record
from espalier.citations.seen import reference_document, words_seen
from espalier.document import Document
from espalier.errors import Argument, Hint, LabelError, ModelFileError
from espalier.extract.answers import FieldNames, Reading
from espalier.extract.extraction import Extraction
from espalier.extract.extractor import BATCH, Extractor

__all__ = ["BUNDLED", "LONGEST", "Parser", "bundled_file", "bundled_parser"]

BUNDLED = "model.espalier"
"""The file of the model that comes with the package, beside this one."""

LONGEST = 20_000
"""The longest reference that is parsed, in characters: what is longer is not one reference."""


class Parser(Extractor):
    """A model of references, the rules it keeps, and what its confidences are worth.

    Parameters
    ----------
    model : a fitted model of chains; a CCM brings its rules along.
    rules : other rules, with penalties, as a RuleSet or as text; None: the model's own.
    calibration : a map of confidences; None leaves them as they are.
    names : fields for labels of the model that are called otherwise, `{"journal": "container-title"}`.
    threads : None chooses by size; results do not depend on it.

    Examples
    --------
    >>> import espalier as es
    >>> record = es.load("citations").parse("Smith AB. Soil salts. Acta Hortic. 2004;12(4):33-9.")
    >>> record.work.title
    'Soil salts'
    """

    outside = "other"
    longest = LONGEST
    thing = "reference"
    _one, _many = "parse", "parse_many"

    def _named(self, names: Mapping[str, str]) -> FieldNames:
        found = super()._named(names)
        for label, name in zip(found.labels, found.names, strict=True):
            if name not in LABELS:
                names_it = Argument("Parser", "names", said=f"names={{{name!r}: ...}}")
                ways: list[Hint] = [
                    "label texts with it (espalier label)",
                    ("pass ", names_it, " to say which field it is"),
                ]
                raise LabelError(f"the model has the label {label!r}, which is no field of a reference", hint=ways)
        return found

    @property
    def labels(self) -> tuple[str, ...]:
        """The fields that a record of this parser may have, in the order of `LABELS`."""
        present = set(self.field_names.names)
        return tuple(label for label in LABELS if label in present)

    def parse(self, text: str, *, k: int = 1) -> Record:
        """Return the record of one reference; with k > 1 the next best readings are its `alternatives`.

        Parameters
        ----------
        text : the reference.
        k : how many readings.

        Returns
        -------
        Record
        """
        return self.extract(text, k=k)  # type: ignore[return-value]

    def parse_many(self, texts: Iterable[str], *, k: int = 1, batch: int = BATCH) -> Iterator[Record]:
        """Yield the record of each reference, in order; `batch` of them are in memory at a time."""
        return self.extract_many(texts, k=k, batch=batch)  # type: ignore[return-value]

    def _made(self, text: str, reading: Reading, alternatives: tuple[Extraction, ...] = ()) -> Record:
        record = Record(text, *reading[:4], alternatives, reading.unfamiliar)
        odd = oddities(record.work)
        if not odd:
            return record
        sure = lowered(record.confidence, odd)
        others = tuple(replace(other, confidence=min(other.confidence, sure)) for other in alternatives)
        found = replace(record, confidence=sure, alternatives=others, odd=odd)
        found.__dict__["work"] = record.work  # worked out already
        return found

    def _words(self, document: Document) -> list[str]:
        return words_seen(document)

    def _cut(self, text: str) -> Document:
        return reference_document(text)

    def _place(self, text: str, label: str, start: int, end: int) -> tuple[str, int, int] | None:
        """Return a field without what is neither letter nor digit at both ends; None if nothing is left."""
        while start < end and not text[start].isalnum():
            start += 1
        while start < end and not text[end - 1].isalnum():
            end -= 1
        return (label, start, end) if start < end else None

    def _counts(self, place: tuple[str, int, int]) -> bool:
        """A reference is judged by its main fields."""
        return place[0] in CORE

    def _more_header(self) -> dict[str, Any]:
        return {**super()._more_header(), "answers": "references"}


@lru_cache(maxsize=1)
def bundled_parser() -> Parser:
    """Return the bundled parser, loaded once in a process, for those who only ask it: nobody may change it."""
    return Parser.from_file(bundled_file())


def bundled_file() -> Path:
    """Return the file of the bundled model; an installed package has it as a file."""
    path = Path(str(resources.files("espalier.citations") / BUNDLED))
    if not path.exists():
        raise ModelFileError(
            f"{path}: the bundled model is missing from this installation",
            hint="run: pip install --force-reinstall espalier-nlp",
        )
    return path
