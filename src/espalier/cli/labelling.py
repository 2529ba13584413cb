"""Records on their way through an extractor: labelled, sieved by confidence, written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any

from espalier.document import Document
from espalier.errors import InputError
from espalier.extract.extraction import Extraction
from espalier.extract.extractor import Extractor
from espalier.loading import model_file

__all__ = ["LabelJob", "csv_lines", "extraction_line", "for_texts", "open_extractor"]

_BATCH = 1000

Answered = tuple[Document, Extraction | None]
"""A document with its new spans, and the whole answer where it was asked for."""


def open_extractor(source: Path | str) -> Extractor:
    """Return the extractor of a model file, or the bundled one of that name where there is no such file.

    A bundled one answers like any other model: with the fields that it has learned, and nothing for the rest.
    """
    return for_texts(Extractor.from_file(model_file(source)), source)


def for_texts(extractor: Extractor, source: Path | str) -> Extractor:
    """Return an extractor that can label texts; a model that wants attributes from Python is refused by its name."""
    from espalier.features.index import FeatureIndex

    model: Any = extractor.model
    index = getattr(getattr(model, "base_", model), "index_", None)
    if index is not None and not isinstance(index, FeatureIndex):
        what = f"{source}: this model learned from attributes that a program made, and a text has none"
        raise InputError(what, hint="use it in Python, or train one from texts: espalier train --labelled FILE")
    return extractor


@dataclass
class LabelJob:
    """What is asked of every record: k readings, and at least so much confidence; `low` counts those below it.

    model : the file, for processes that make the extractor anew; whole : are confidences and certificates wanted?
    """

    extractor: Extractor
    model: Path
    k: int = 1
    least: float = 0.0
    whole: bool = False
    jobs: int = 1
    low: int = 0

    def answers(
        self, documents: Iterable[Document], done: Callable[[int], None], review: IO[bytes] | None = None
    ) -> Iterator[Answered]:
        """Yield the records that are sure enough; `review` takes the others, `done` hears the count so far."""
        whole = self.whole or self.k > 1 or self.least > 0
        count = 0
        for batch in self._worked(iter(documents), whole):
            for document, answer in batch:
                if answer is not None and answer.confidence < self.least:
                    self.low += 1
                    if review is not None:
                        review.write(extraction_line(answer).encode())
                else:
                    yield document, answer
            count += len(batch)
            done(count)

    def _worked(self, documents: Iterator[Document], whole: bool) -> Iterator[list[Answered]]:
        several = iter(lambda: list(islice(documents, _BATCH)), [])
        k = self.k if whole else 0
        if self.jobs == 1:
            return map(partial(answer_batch, self.extractor, k), several)
        from espalier.cluster.labeller import LabellerSpec, with_labeller
        from espalier.cluster.processes import ordered_map

        spec = LabellerSpec.of(lone_extractor, self.model)
        return ordered_map(partial(with_labeller, spec, answer_batch, k), several, jobs=self.jobs)


def answer_batch(extractor: Extractor, k: int, documents: Sequence[Document]) -> list[Answered]:
    """Return documents with their new spans; with k also k readings with their confidences and certificates."""
    if not k:
        return [(document, None) for document in extractor.label(documents)]
    answers = extractor.of_documents(documents, k=k)
    return [(replace(d, spans=answer.spans, unknown=()), answer) for d, answer in zip(documents, answers, strict=True)]


def lone_extractor(path: str) -> Extractor:
    """Return the extractor of a model file, for a process that is one of several."""
    from espalier.cluster.spans import alone

    extractor: Extractor = alone(Extractor.from_file(path))
    return extractor


def csv_lines(answers: Iterable[Extraction], labels: Sequence[str], *, safe: bool) -> Iterator[str]:
    """Yield a header, and a line for each answer: its text, its confidence, the values of each field.

    safe : a cell that a spreadsheet would take for a formula gets an apostrophe in front.
    """
    from espalier.bridges.frames import record_columns
    from espalier.citations.formats.csv import line_of

    yield line_of(record_columns([], labels), safe)
    for found in answers:
        text, sure, *values = (column[0] for column in record_columns([found], labels).values())
        yield line_of([text, f"{sure:.6g}", *(value or "" for value in values)], safe)


def extraction_line(found: Extraction) -> str:
    """Return an extraction as a line of JSON, with its alternatives if it has any."""
    row = found.to_dict()
    if found.alternatives:
        others = [other.to_dict() for other in found.alternatives]
        row["alternatives"] = [{name: value for name, value in other.items() if name != "text"} for other in others]
    return json.dumps(row, ensure_ascii=False) + "\n"
