"""Prodigy: JSON Lines with `text`, `tokens` ({"text", "start", "end", "id", "ws"}), `spans` ({"start", "end",
"label", "token_start", "token_end"}) and `answer`. Offsets count code points, as Python does; `token_end` is
the last token, included.

Only accepted records are labelled. A record whose `answer` is `reject` or `ignore` becomes an unlabelled document,
with the answer and the refused spans in `meta`, and is reported. Without an answer, `spans` count as accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from espalier.document import Document, Span
from espalier.errors import InputError, Place
from espalier.io.common import Offsets, Tokeniser, Writing, build, sorted_spans, tokeniser
from espalier.io.records import (
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

_RESERVED = frozenset({"id", "text", "tokens", "spans", "unknown"})
_ANSWERS = ("accept", "reject", "ignore")


def read(lines: Lines, *, tokenise: Tokeniser = "default") -> Iterator[Document]:
    """Yield one document a line; `tokenise` serves records without `tokens`."""
    split = tokeniser(tokenise)
    for number, record in json_records(lines):
        with lines.at(number):
            answer = typed(record, "answer", str) or "accept"
            if answer not in _ANSWERS:
                raise InputError(f"'answer' must be one of {', '.join(_ANSWERS)}, not {answer!r}")
            document = _document(record, split, accepted=answer == "accept")
            if answer != "accept":
                lines.report(f"the answer is {answer!r}, so the record is read as unlabelled", number)
            yield document


def _document(record: Mapping[str, Any], split: Callable[[str], Offsets], *, accepted: bool) -> Document:
    text = typed(record, "text", str, required=True)
    meta = meta_of(record, _RESERVED)
    items = typed(record, "spans", list)
    spans = None
    if items is not None and accepted:
        spans = [span_of(*_parts(item, "span", ("start", "end", "label"))) for item in items]
    elif items is not None:
        meta["spans"] = items
    tokens = typed(record, "tokens", list)
    return build(
        text,
        split(text) if tokens is None else _tokens(text, tokens),
        spans,
        unknown=offsets_of(record, "unknown") or (),
        id=identifier(record),
        meta=meta,
    )


def _parts(item: Any, what: str, keys: tuple[str, ...]) -> list[Any]:
    if not isinstance(item, dict):
        raise InputError(f"a {what} must be an object, not {str(item)[:40]!r}")
    for key in keys:
        if key not in item:
            raise InputError(f"a {what} has no {key!r}")
    return [item[key] for key in keys]


def _tokens(text: str, items: list[Any]) -> Offsets:
    offsets = []
    for t, item in enumerate(items):
        start, end = _parts(item, "token", ("start", "end"))
        if type(start) is not int or type(end) is not int:
            raise InputError(f"token {t}: 'start' and 'end' must be integers")
        if "text" in item and text[start:end] != item["text"]:
            raise InputError(f"token {t} is {item['text']!r}, but characters {start}..{end} are {text[start:end]!r}")
        offsets.append((start, end))
    return tuple(offsets)


def write(documents: Iterable[Document]) -> Iterator[str]:
    """Yield one line a document; a span that cuts a token has no `token_start` and `token_end`."""
    for number, document in enumerate(documents):
        answer = document.meta.get("answer", "accept")
        refused = answer != "accept"
        if refused and document.spans is not None:
            what = f" is labelled, but its meta['answer'] is {answer!r}"
            raise InputError(Place(number, noun="document"), what, hint="make it 'accept'")
        fields: dict[str, Any] = {"id": text_or_number(document.id)} if document.id else {}
        fields |= {"text": document.text, "tokens": _token_objects(document)}
        meta = dict(document.meta)
        if refused and "spans" in meta:
            fields["spans"] = meta.pop("spans")
        elif document.spans is not None:
            fields["spans"] = _span_objects(document)
        if document.unknown:
            fields["unknown"] = [list(pair) for pair in document.unknown]
        yield to_json(with_meta(fields, meta, _RESERVED), Writing(document, number, False)) + "\n"


def _token_objects(document: Document) -> list[dict[str, Any]]:
    text = document.text
    return [
        {"text": text[a:b], "start": a, "end": b, "id": t, "ws": text[b : b + 1].isspace()}
        for t, (a, b) in enumerate(document.tokens)
    ]


def _span_objects(document: Document) -> list[dict[str, Any]]:
    first = {a: t for t, (a, _) in enumerate(document.tokens)}
    last = {b: t for t, (_, b) in enumerate(document.tokens)}

    def item(span: Span) -> dict[str, Any]:
        fields: dict[str, Any] = {"start": span.start, "end": span.end, "label": span.label}
        if span.start in first and span.end in last:
            fields |= {"token_start": first[span.start], "token_end": last[span.end]}
        return fields

    return [item(span) for span in sorted_spans(document.spans or ())]
