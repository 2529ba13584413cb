"""doccano: JSON Lines with `text` and `label` or `labels`: [[start, end, label], ...], or `entities`:
[{"start_offset", "end_offset", "label"}, ...]. Offsets count code points, as Python does.

A record without any of these fields is unlabelled; an empty list is labelled, with nothing found. Other
fields are `meta`. Written records have two more fields where they are needed, `offsets` (tokens that are not
the default ones) and `unknown`; doccano itself ignores them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from espalier.document import Document, Span
from espalier.errors import InputError
from espalier.io.common import Offsets, Tokeniser, Writing, build, sorted_spans, tokeniser
from espalier.io.records import (
    exact_fields,
    identifier,
    json_records,
    meta_of,
    offsets_of,
    span_of,
    text_or_number,
    to_json,
    typed,
    with_meta,
)
from espalier.text_files import Lines

__all__ = ["read", "write"]

_LABEL_FIELDS = ("label", "labels", "entities")
_RESERVED = frozenset({"id", "text", "offsets", "unknown", *_LABEL_FIELDS})


def read(lines: Lines, *, tokenise: Tokeniser = "default") -> Iterator[Document]:
    """Yield one document a line."""
    split = tokeniser(tokenise)
    for number, record in json_records(lines):
        with lines.at(number):
            document = _document(record, split)
            if record.get("relations"):
                lines.report("the ids that 'relations' refer to are not kept", number)
            yield document


def _document(record: Mapping[str, Any], split: Callable[[str], Offsets]) -> Document:
    text = typed(record, "text", str, required=True)
    given = [key for key in _LABEL_FIELDS if record.get(key) is not None]
    if len(given) > 1:
        raise InputError(f"both {given[0]!r} and {given[1]!r}: which are the labels?")
    spans = [_span(item) for item in typed(record, given[0], list)] if given else None
    tokens = offsets_of(record, "offsets")
    return build(
        text,
        split(text) if tokens is None else tokens,
        spans,
        unknown=offsets_of(record, "unknown") or (),
        id=identifier(record),
        meta=meta_of(record, _RESERVED),
    )


def _span(item: Any) -> Span:
    if isinstance(item, list) and len(item) == 3:
        return span_of(*item)
    if isinstance(item, dict):
        for key in ("start_offset", "end_offset", "label"):
            if key not in item:
                raise InputError(f"an entity has no {key!r}")
        return span_of(item["start_offset"], item["end_offset"], item["label"])
    raise InputError(f"a label must be [start, end, label] or an entity object, not {str(item)[:40]!r}")


def write(documents: Iterable[Document], *, entities: bool = False) -> Iterator[str]:
    """Yield one line a document, with `label` lists or, if asked, `entities`."""
    for number, document in enumerate(documents):
        fields: dict[str, Any] = {"id": text_or_number(document.id)} if document.id else {}
        fields["text"] = document.text
        if document.spans is not None:
            spans = sorted_spans(document.spans)
            if entities:
                fields["entities"] = [
                    {"id": i, "label": s.label, "start_offset": s.start, "end_offset": s.end}
                    for i, s in enumerate(spans)
                ]
            else:
                fields["label"] = [[s.start, s.end, s.label] for s in spans]
        record = with_meta({**fields, **exact_fields(document)}, document.meta, _RESERVED)
        yield to_json(record, Writing(document, number, False)) + "\n"
