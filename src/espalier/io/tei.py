"""TEI bibliographies as GROBID writes them: `<listBibl><bibl><author>..</author>, <title level="a">..`.

`LABELS` maps elements to labels: a key is `element` or `element[attribute=value]`, the second wins, and a
value of None means that the tag has no label of its own (its text stays). `<seg type="x">` stands for any
label `x`. Elements inside others have paths: `author/surname`. An element that is in no table is an error
that says which line to add. `labels=` adds to the table or overrides it, for reading and writing.

A tag that its label does not determine (`<idno type="DOI">`, `<date when="1998">`) is kept with its span in
`meta["elements"]`, and written again. The id is `xml:id`, else `n`. Text outside `<bibl>` is not read; inside a
`<listBibl>` such text is reported. Nothing keeps the tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from espalier.document import Document, Span
from espalier.errors import Argument, InputError, shortened
from espalier.io.common import Tokeniser, Writing, build, tokeniser
from espalier.io.inline import without_controls
from espalier.io.tagged import NAME, NOT_XML, Event, MarkupError, TaggedField, TaggedRecord, attribute_text, render
from espalier.io.xmlform import walk
from espalier.text_files import Lines

__all__ = ["LABELS", "read", "write"]

LABELS: Mapping[str, str | None] = {
    "author": "author",
    "editor": "editor",
    "title[level=a]": "title",
    "title[level=j]": "journal",
    "title[level=m]": "booktitle",
    "title[level=s]": "series",
    "title[level=u]": "title",
    "title": "title",
    "date": "date",
    "publisher": "publisher",
    "pubPlace": "location",
    "orgName": "institution",
    "orgName[type=collaboration]": "collaboration",
    "note": "note",
    "note[type=report]": "tech",
    "idno": "identifier",
    "ptr": "web",
    "edition": "edition",
    "biblScope[unit=volume]": "volume",
    "biblScope[unit=vol]": "volume",
    "biblScope[unit=issue]": "issue",
    "biblScope[unit=page]": "pages",
    "biblScope[unit=pages]": "pages",
    "biblScope[unit=pp]": "pages",
    "biblScope[unit=chapter]": "chapter",
    "biblScope[type=volume]": "volume",
    "biblScope[type=vol]": "volume",
    "biblScope[type=issue]": "issue",
    "biblScope[type=page]": "pages",
    "biblScope[type=pages]": "pages",
    "biblScope[type=pp]": "pages",
    "biblScope[type=chapter]": "chapter",
    "biblScope": "scope",
    "hi": None,
    "lb": None,
    "p": None,
}
"""Element -> label; for writing, the first element of a label is the one that is used."""

_SELECTOR = re.compile(r"([^\[\]=]+)(?:\[([^\[\]=]+)=([^\[\]]*)\])?")
Tag = tuple[str, dict[str, str]]


class _Table:
    """The mapping between tags and labels, both ways."""

    def __init__(self, extra: Mapping[str, str | None] | None) -> None:
        self.labels = {**LABELS, **(extra or {})}
        self.tags: dict[str, Tag] = {}
        # The caller's own entries come first, so that they also decide what is written.
        for selector, label in [*(extra or {}).items(), *LABELS.items()]:
            match = _SELECTOR.fullmatch(selector)
            if match is None or not NAME.fullmatch(match[1]):
                raise InputError(f"labels: {selector!r} is neither 'element' nor 'element[attribute=value]'")
            if label is not None and self.labels[selector] == label:
                self.tags.setdefault(label, (match[1], {match[2]: match[3]} if match[2] else {}))

    def label(self, name: str, attributes: Mapping[str, str], line: int) -> str | None:
        """Return the label of a tag, None for a tag without one."""
        name = name.rpartition(":")[2]
        for key, value in attributes.items():
            if f"{name}[{key}={value}]" in self.labels:
                return self.labels[f"{name}[{key}={value}]"]
        if name == "seg" and attributes.get("type"):
            return attributes["type"]
        if name not in self.labels:
            said = f"pass labels={{{shortened(name, 60)!r}: ...}} with a label, or None to keep only its text"
            raise MarkupError(f"no label for <{name}>", line, Argument("read", "labels", said=said))
        return self.labels[name]

    def tag(self, label: str) -> Tag:
        """Return the tag that is written for one level of a label."""
        return self.tags.get(label) or ("seg", {"type": label})


def read(
    lines: Lines, *, labels: Mapping[str, str | None] | None = None, tokenise: Tokeniser = "default"
) -> Iterator[Document]:
    """Yield one document a `<bibl>`, wherever it stands."""
    table, split = _Table(labels), tokeniser(tokenise)

    def label(event: Event, record: TaggedRecord) -> str | None:
        if event.value.rpartition(":")[2] == "lb":
            record.characters(Event("text", " ", event.line))
        own = table.label(event.value, event.attributes, event.line)
        return own if own is None or not record.path else f"{record.path}/{own}"

    def stray(event: Event, inside: str) -> None:
        if inside.rpartition(":")[2] == "listBibl":
            lines.report(f"text between <bibl> elements left out: {event.value.strip()[:30]!r}", event.line)

    def is_record(name: str, depth: int) -> bool:
        return name.rpartition(":")[2] == "bibl"

    try:
        for found in walk(lines, is_record, label, stray):
            text = found.record.text
            id = found.attributes.get("xml:id") or found.attributes.get("n", "")
            odd = [_kept(field) for field in sorted(found.record.fields) if not _determined(field, table)]
            with lines.at(found.line):
                spans = [field.span for field in found.record.fields]
                document = build(text, split(text), spans, id=id, meta={"elements": odd} if odd else {})
            yield document
    except MarkupError as error:
        raise lines.fault(error, error.line) from None


def _determined(field: TaggedField, table: _Table) -> bool:
    return table.tag(_last(field.span.label)) == (field.name.rpartition(":")[2], dict(field.attributes))


def _kept(field: TaggedField) -> list[Any]:
    name = field.name.rpartition(":")[2]
    return [field.span.start, field.span.end, field.span.label, name, dict(field.attributes)]


def write(
    documents: Iterable[Document], *, labels: Mapping[str, str | None] | None = None, lossy: bool = False
) -> Iterator[str]:
    """Yield a TEI document with one `<bibl>` a document; unknown labels are refused unless `lossy`."""
    table = _Table(labels)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xmlns="http://www.tei-c.org/ns/1.0">\n'
    yield "  <teiHeader/>\n  <text><front/><body/><back>\n    <listBibl>\n"
    for number, document in enumerate(documents):
        writing = Writing(document, number, lossy)
        writing.known_labels()
        spans = writing.nested_spans()
        kept = _kept_tags(document, table)

        def tag(span: Span, writing: Writing = writing, kept: dict[Span, Tag] = kept) -> tuple[str, str]:
            name, attributes = kept.get(span) or table.tag(_last(span.label))
            if any(NOT_XML.search(value) for value in attributes.values()):
                raise InputError(writing.place, f": XML cannot hold the label {span.label!r}")
            pairs = "".join(f' {key}="{attribute_text(value)}"' for key, value in attributes.items())
            return f"<{name}{pairs}>", f"</{name}>"

        yield f"      <bibl{_id(writing)}>{render(without_controls(writing), spans, tag)}</bibl>\n"
    yield "    </listBibl>\n  </back></text>\n</TEI>\n"


def _id(writing: Writing) -> str:
    """Return the id as an attribute: `xml:id` if it is an XML name, else `n`, which may be anything."""
    id = writing.document.id
    if not id:
        return ""
    if NOT_XML.search(id):
        raise InputError(writing.place, f": XML cannot hold the id {id!r}")
    name = "xml:id" if NAME.fullmatch(id) and ":" not in id else "n"
    return f' {name}="{attribute_text(id)}"'


def _kept_tags(document: Document, table: _Table) -> dict[Span, Tag]:
    """Return the tags that `meta["elements"]` remembers, if they still mean the label of their span."""
    kept: dict[Span, Tag] = {}
    for start, end, label, name, attributes in document.meta.get("elements", ()):
        if table.label(name, attributes, 0) == _last(label):
            kept[Span(start, end, label)] = (name, attributes)
    return kept


def _last(label: str) -> str:
    return label.rpartition("/")[2]
