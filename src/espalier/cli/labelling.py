"""From a fitted model to labelled documents."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from espalier.cluster.labeller import LabellerSpec, labeller_of
from espalier.cluster.processes import ordered_map
from espalier.cluster.spans import alone
from espalier.document import Document

if TYPE_CHECKING:
    from espalier.estimators.base import SequenceLabeller

__all__ = ["label_documents", "load_model", "lone_model", "tag_elsewhere"]

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
