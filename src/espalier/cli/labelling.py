"""From a fitted model to labelled documents, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from espalier.document import Document, Span
from espalier.tags import is_tag, segments

if TYPE_CHECKING:
    from espalier.corpus import Corpus
    from espalier.estimators.base import SequenceLabeller

__all__ = ["corpus_like", "label_documents", "with_tags"]

_BATCH = 1000


def with_tags(document: Document, tags: Sequence[str | None]) -> Document:
    """Return the document with the spans that the tags of its tokens describe; text, id and meta stay."""
    offsets = document.tokens
    spans = tuple(Span(offsets[s.start][0], offsets[s.end - 1][1], s.label) for s in segments(tags) if s.label != "O")
    return replace(document, spans=spans, unknown=())


def label_documents(
    model: SequenceLabeller, documents: Iterable[Document], done: Callable[[int], None]
) -> Iterator[Document]:
    """Yield each document as the model labels it; `done` hears after every batch how many there were so far."""
    stream, count = iter(documents), 0
    while batch := list(islice(stream, _BATCH)):
        for document, tags in zip(batch, model.predict([d.words for d in batch]), strict=True):
            yield with_tags(document, tags)
        count += len(batch)
        done(count)


def corpus_like(model: SequenceLabeller, documents: Sequence[Document]) -> Corpus:
    """Return the documents as a corpus whose labels have the model's form: marked tags, or plain names."""
    from espalier.corpus import Corpus

    return Corpus.from_documents(documents, marks=all(is_tag(name) for name in model.labels_))
