"""The labels that a file brings: whose names they are, and whether a record is labelled at all, in part, or wrongly.

One rule holds for files and for what somebody confirms, where all text has to be in a field (`fields.checked_spans`):
words outside of the fields are `other`, where the task has that label.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from espalier.document import Document
from espalier.errors import EspalierError
from espalier.server.failures import Failure, explained
from espalier.server.reading import UploadReading
from espalier.server.tasks import REFERENCES, ProjectTask
from espalier.workbench.bench import Bench
from espalier.workbench.fields import OTHER, checked_spans, outside_words
from espalier.workbench.shapes.records import Added

__all__ = ["add", "own_labels_of"]

_OPEN_IF_EMPTY = "doccano"  # exports records that nobody has looked at with an empty list


def add(bench: Bench, task: ProjectTask, reading: UploadReading, who: str = "") -> Added:
    """Store what was read, and return what came of it, with what is to be reported."""
    _take_labels(task, reading)
    return bench.records.add(task, reading.documents, reading.sources, who, reading.problems)


def own_labels_of(task: ProjectTask, documents: Sequence[Document]) -> list[Document]:
    """Return documents with the labels of the task; one whose labels it cannot have is an error."""
    convert = _converter(task, documents)
    return [document if document.spans is None else convert(document) for document in documents]


def _take_labels(task: ProjectTask, reading: UploadReading) -> None:
    """Give what was read the labels of the task; records that cannot have them are left out, and reported."""
    convert = _converter(task, reading.documents)
    kept, wrong, empty, parted = list[int](), list[Failure](), 0, 0
    for i, document in enumerate(reading.documents):
        if _says_nothing(task, document, reading.format):
            reading.documents[i] = replace(document, spans=None)
            empty += 1
        elif document.spans is not None:
            try:
                found = reading.documents[i] = convert(document)
                if not document.unknown:
                    checked_spans(task, found, found.spans or ())
                    parted += not task.outside and outside_words(document)
            except EspalierError as error:
                wrong.append(explained(error).at(reading.places[i]))
                continue
            if document.unknown:
                reading.report(document.id, "some of its labels are unknown; it counts as not corrected")
        kept.append(i)
    if wrong and not kept:
        raise wrong[0]
    reading.documents = [reading.documents[i] for i in kept]
    reading.sources = [reading.sources[i] for i in kept]
    for one in wrong:
        reading.report(one.where, f"{one.what}; the record is left out")
    if empty:
        reading.report("", f"records without any label, which count as not corrected: {empty}")
    if parted:
        home = f"are {OTHER!r} now" if OTHER in task.fields else "went to the field before"
        reading.report("", f"records that are labelled in part, whose other words {home}: {parted}")


def _converter(task: ProjectTask, documents: Sequence[Document]) -> Callable[[Document], Document]:
    """Return what gives a document the labels of the task."""
    if task.name != REFERENCES:
        return lambda document: document
    from espalier.citations.adapting import scheme_of

    return scheme_of(documents, task.fields).convert


def _says_nothing(task: ProjectTask, document: Document, format: str) -> bool:
    """Is an empty list of fields no answer? It is none where all text is in a field, and in some formats."""
    empty = document.spans is not None and not document.spans and not document.unknown
    return empty and (not task.outside or format == _OPEN_IF_EMPTY)
