"""From a fitted model to labelled documents, and how they compare with given labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from espalier.cli.console import complain
from espalier.document import Document
from espalier.errors import InputError
from espalier.tags import is_tag

if TYPE_CHECKING:
    from espalier.estimators.base import SequenceLabeller
    from espalier.metrics import Report

__all__ = ["Judged", "judge", "label_documents", "labelled_only"]

_BATCH = 1000


def label_documents(
    model: SequenceLabeller, documents: Iterable[Document], done: Callable[[int], None]
) -> Iterator[Document]:
    """Yield each document as the model labels it; `done` hears after every batch how many there were so far."""
    stream, count = iter(documents), 0
    while batch := list(islice(stream, _BATCH)):
        for document, tags in zip(batch, model.predict([d.words for d in batch]), strict=True):
            yield document.with_tags(tags)
        count += len(batch)
        done(count)


def labelled_only(documents: Sequence[Document], name: str) -> list[Document]:
    """Return the documents that have labels to compare with; says so if some have none, and raises if all."""
    labelled = [document for document in documents if document.spans is not None]
    if not labelled:
        raise InputError(f"{name}: no record is labelled, so there is nothing to compare with")
    if len(labelled) < len(documents):
        complain(f"{name}: records without labels, not counted: {len(documents) - len(labelled)}")
    return labelled


class Judged(NamedTuple):
    """Labelled documents, their labels in the form that the model predicts, its own, and how they compare."""

    documents: list[Document]
    gold: list[list[str | None]]
    predicted: list[list[str]]
    report: Report


def judge(model: SequenceLabeller, documents: Sequence[Document], name: str, **reading: bool) -> Judged:
    """Compare the model's labels with those of the documents, in the form it predicts: tags or plain names."""
    from espalier.corpus import Corpus
    from espalier.metrics import evaluate

    labelled = labelled_only(documents, name)
    predicted = model.predict([document.words for document in labelled])
    marks = all(is_tag(label) for label in set().union(*predicted))
    gold = Corpus.from_documents(labelled, marks=marks).all_labels()
    return Judged(labelled, gold, predicted, evaluate(gold, predicted, **reading))
