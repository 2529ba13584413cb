"""JSON Lines, the native format: it keeps everything a document has.

One object a line: `tokens`, `labels` (plain names), `bio`, `text`, `id`; for hierarchical documents also
`paths` and `bio_paths`, and then `labels` and `bio` give each token's innermost level. Every other field is
`meta`. A null label is an unknown one; a record without labels is unlabelled.

Reading takes the labels from `spans` ([start, end, label] by character), else `bio_paths`, else `bio`,
else the runs of `labels`. Writing adds `spans`, `offsets` and `unknown` only to documents that their tokens
and tags do not determine, for example where a span cuts a token; so every round trip is exact.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from espalier.document import Document, Span
from espalier.errors import InputError
from espalier.io.common import Offsets, Tokeniser, Writing, build, sorted_spans, tokeniser
from espalier.io.records import identifier, json_records, meta_of, offsets_of, span_of, to_json, typed, with_meta
from espalier.tags import OUTSIDE, path_of, segments
from espalier.text_files import Lines

__all__ = ["read", "write"]

_TAG_FIELDS = ("bio_paths", "bio", "labels")
_RESERVED = frozenset({"id", "tokens", "text", "paths", "spans", "offsets", "unknown", *_TAG_FIELDS})


def read(lines: Lines, *, tokenise: Tokeniser = "default") -> Iterator[Document]:
    """Yield one document a line; `tokenise` serves records that have `text` but no `tokens`."""
    split = tokeniser(tokenise)
    for number, record in json_records(lines):
        with lines.at(number):
            yield _document(record, split)


def write(documents: Iterable[Document]) -> Iterator[str]:
    """Yield one line a document; nothing is ever lost."""
    for number, document in enumerate(documents):
        yield to_json(_record(document), Writing(document, number, False)) + "\n"


def _document(record: Mapping[str, Any], split: Any) -> Document:
    id = identifier(record)
    words = typed(record, "tokens", list)
    text = typed(record, "text", str, required=words is None)
    offsets = offsets_of(record, "offsets")
    if words is not None and not all(isinstance(word, str) and word for word in words):
        raise InputError("'tokens' must be strings that are not empty")
    if offsets is None:
        offsets = Document.from_tokens(words, text=text).tokens if words is not None else split(text)
    text = " ".join(words) if text is None else text
    if words is not None and [text[a:b] for a, b in offsets] != words:
        raise InputError("'offsets' do not give 'tokens' when applied to 'text'")
    spans, unknown = _labels(record, offsets)
    return build(text, offsets, spans, unknown=unknown, id=id, meta=meta_of(record, _RESERVED))


def _labels(record: Mapping[str, Any], offsets: Offsets) -> tuple[list[Span] | None, Offsets]:
    """Return the spans and unknown stretches a record states or implies."""
    given = {key: typed(record, key, list) for key in (*_TAG_FIELDS, "paths")}
    for key, values in given.items():
        if values is None:
            continue
        if len(values) != len(offsets):
            raise InputError(f"{len(offsets)} tokens but {len(values)} {key}")
        if not all(value is None or (isinstance(value, str) and value) for value in values):
            raise InputError(f"{key!r} must be strings that are not empty, or null where unknown")
    tags = next((given[key] for key in _TAG_FIELDS if given[key] is not None), None)
    spans: list[Span] | None = None
    unknown: Offsets = ()
    if tags is not None:
        spans = [Span(offsets[s.start][0], offsets[s.end - 1][1], s.label) for s in segments(tags)]
        unknown = tuple(offsets[t] for t, tag in enumerate(tags) if tag is None)
    explicit = typed(record, "spans", list)
    if explicit is not None:
        if not all(isinstance(item, list) and len(item) == 3 for item in explicit):
            raise InputError("'spans' must be a list of [start, end, label]")
        spans = [span_of(*item) for item in explicit]
    return spans, offsets_of(record, "unknown") or (() if "unknown" in record else unknown)


def _record(document: Document) -> dict[str, Any]:
    fields: dict[str, Any] = {"id": document.id} if document.id else {}
    fields["tokens"] = document.words
    tags = document.tags
    if tags is not None:
        fields.update(_tag_fields(tags))
    fields["text"] = document.text
    try:
        implied = Document.from_tokens(document.words, tags, text=document.text)
    except InputError:  # tokens that leave out some of the text cannot be found again
        implied = None
    if implied is None or implied.tokens != document.tokens:
        fields["offsets"] = [list(pair) for pair in document.tokens]
        implied = None
    spans = None if document.spans is None else sorted_spans(document.spans)
    if implied is None or implied.spans != spans or implied.unknown != document.unknown:
        if spans is not None:
            fields["spans"] = [[s.start, s.end, s.label] for s in spans]
        fields["unknown"] = [list(pair) for pair in document.unknown]
    return with_meta(fields, document.meta, _RESERVED)


def _tag_fields(tags: Sequence[str | None]) -> dict[str, Any]:
    """Return labels and bio, and the full paths if any tag has more than one level."""
    known = {tag: None if tag is None else path_of(tag) for tag in set(tags)}
    paths = [known[tag] for tag in tags]
    labels = [None if path is None else path.rpartition("/")[2] for path in paths]
    if not any(path is not None and "/" in path for path in paths):
        return {"labels": labels, "bio": list(tags)}
    # The innermost level goes on only where the whole path does, without any level starting anew.
    bio = [
        leaf
        if leaf is None or tag is None or tag == OUTSIDE
        else ("I-" if t and paths[t - 1] == paths[t] and "B-" not in _marks(tag) else "B-") + leaf
        for t, (tag, leaf) in enumerate(zip(tags, labels, strict=True))
    ]
    return {"labels": labels, "bio": bio, "paths": paths, "bio_paths": list(tags)}


def _marks(tag: str) -> list[str]:
    return [level[:2] for level in tag.split("/")]
