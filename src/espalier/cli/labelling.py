"""From a fitted model to labelled documents, and how they compare with given labels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from espalier.cli.console import complain
from espalier.cluster.labeller import LabellerSpec, labeller_of
from espalier.cluster.processes import ordered_map
from espalier.cluster.spans import alone
from espalier.document import Document
from espalier.errors import InputError
from espalier.tags import is_tag

if TYPE_CHECKING:
    from espalier.estimators.base import SequenceLabeller
    from espalier.metrics import Report

__all__ = ["Judged", "judge", "label_documents", "labelled_only", "load_model", "lone_model", "tag_elsewhere"]

_BATCH = 1000

Words = list[list[str]]


def load_model(source: Path) -> SequenceLabeller:
    """Return the model in a file, or the bundled model of that name where there is no such file."""
    from espalier.estimators.persist import load
    from espalier.loading import model_file

    return load(model_file(source))


def label_documents(
    tag: Callable[[Words], Words], documents: Iterable[Document], done: Callable[[int], None], *, jobs: int = 1
) -> Iterator[Document]:
    """Yield each document as `tag` labels it, on so many processes.

    `done` hears after every batch how many there were so far.
    """
    waiting: deque[list[Document]] = deque()

    def words() -> Iterator[Words]:
        stream = iter(documents)
        while batch := list(islice(stream, _BATCH)):
            waiting.append(batch)
            yield [document.words for document in batch]

    count = 0
    for tags in ordered_map(tag, words(), jobs=jobs):
        batch = waiting.popleft()
        yield from (document.with_tags(own) for document, own in zip(batch, tags, strict=True))
        count += len(batch)
        done(count)


def tag_elsewhere(spec: LabellerSpec, batch: Words) -> Words:
    """Label a batch in a process that knows the model by its description."""
    tags: Words = labeller_of(spec).predict(batch)
    return tags


def lone_model(path: str) -> SequenceLabeller:
    """Return the model in a file, for a process that is one of several."""
    model: SequenceLabeller = alone(load_model(Path(path)))
    return model


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
