"""Texts to columns of a table, by any model file: spans alone, or fields with confidence and proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from espalier.cluster.stores import need
from espalier.document import Document
from espalier.estimators.base import SequenceLabeller
from espalier.extract.extraction import Extraction
from espalier.extract.extractor import Extractor

__all__ = ["FieldLabeller", "SpanLabeller", "alone", "make_fields", "make_spans"]


class SpanLabeller:
    """Texts to their spans: label, text, start and end of each."""

    def __init__(self, extractor: Extractor) -> None:
        """Take an extractor."""
        pa = need("pyarrow")
        parts = {"label": pa.string(), "text": pa.string(), "start": pa.int32(), "end": pa.int32()}
        self.extractor = alone(extractor)
        self.schema = pa.schema([pa.field("spans", pa.list_(pa.struct([pa.field(n, t) for n, t in parts.items()])))])

    def __call__(self, texts: Sequence[str]) -> Mapping[str, Sequence[Any]]:
        """Return the column of spans."""
        labelled = self.extractor.label([Document.from_text(text) for text in texts])
        return {"spans": [[_span(d.text, s.label, s.start, s.end) for s in d.spans or ()] for d in labelled]}


def _span(text: str, label: str, start: int, end: int) -> dict[str, Any]:
    return {"label": label, "text": text[start:end], "start": start, "end": end}


class FieldLabeller:
    """Texts to what is found in them: the columns are those of `espalier label --format extractions`."""

    def __init__(self, extractor: Extractor) -> None:
        """Take an extractor."""
        pa = need("pyarrow")
        field = {"label": pa.string(), "text": pa.string(), "start": pa.int32(), "end": pa.int32()}
        violation = {"name": pa.string(), "position": pa.int32(), "amount": pa.float64(), "price": pa.float64()}
        certificate = {"status": pa.string(), "bound": pa.float64(), "gap": pa.float64(), "method": pa.string()}
        self.extractor = alone(extractor)
        self.schema = pa.schema(
            {
                "fields": pa.list_(pa.struct(field | {"confidence": pa.float64()})),
                "confidence": pa.float64(),
                "certificate": pa.struct(certificate),
                "violations": pa.list_(pa.struct(violation)),
            }
        )

    def __call__(self, texts: Sequence[str]) -> Mapping[str, Sequence[Any]]:
        """Return the columns, one value for each text."""
        rows = [self.row(found) for found in self.extractor.extract_many(texts, batch=max(1, len(texts)))]
        return {name: [row[name] for row in rows] for name in self.schema.names}

    def row(self, found: Extraction) -> dict[str, Any]:
        """Return the columns of one text."""
        return found.to_dict()


def make_fields(path: str) -> FieldLabeller:
    """Return the labeller of a model file that gives fields."""
    return FieldLabeller(Extractor.from_file(path))


def make_spans(path: str) -> SpanLabeller:
    """Return the labeller of a model file that gives spans."""
    return SpanLabeller(Extractor.from_file(path))


def alone(model: Any) -> Any:
    """Return a model, or what holds one, told to use one thread: its process is one of several."""
    if hasattr(model, "threads"):
        model.threads = 1
    for part in vars(model).values():
        for one in part if isinstance(part, list) else [part]:  # a product holds a list of models
            if isinstance(one, SequenceLabeller):
                alone(one)
    return model
