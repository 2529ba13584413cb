"""Labelled stretches of texts, by any model file: what `espalier label` does, as columns of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from espalier.cluster.stores import need
from espalier.document import Document
from espalier.estimators.base import SequenceLabeller
from espalier.estimators.persist import load

__all__ = ["SpanLabeller", "alone", "make_spans"]


class SpanLabeller:
    """Texts to their spans: label, text, start and end of each."""

    def __init__(self, model: SequenceLabeller) -> None:
        """Take a fitted model."""
        pa = need("pyarrow")
        parts = {"label": pa.string(), "text": pa.string(), "start": pa.int32(), "end": pa.int32()}
        self.model = alone(model)
        self.schema = pa.schema([pa.field("spans", pa.list_(pa.struct([pa.field(n, t) for n, t in parts.items()])))])

    def __call__(self, texts: Sequence[str]) -> Mapping[str, Sequence[Any]]:
        """Return the column of spans."""
        documents = [Document.from_text(text) for text in texts]
        tags = self.model.predict([document.words for document in documents])
        labelled = [document.with_tags(own) for document, own in zip(documents, tags, strict=True)]
        return {"spans": [[_span(d.text, s.label, s.start, s.end) for s in d.spans or ()] for d in labelled]}


def _span(text: str, label: str, start: int, end: int) -> dict[str, Any]:
    return {"label": label, "text": text[start:end], "start": start, "end": end}


def make_spans(path: str) -> SpanLabeller:
    """Return the labeller of a model file."""
    return SpanLabeller(load(path))


def alone(model: Any) -> Any:
    """Return a model, or what holds one, told to use one thread: its process is one of several."""
    if hasattr(model, "threads"):
        model.threads = 1
    for part in vars(model).values():
        if isinstance(part, SequenceLabeller):
            alone(part)
    return model
