"""Flat tags in the text: one record per line (`<author> A. Cau. </author> <title> ...`), or an XML document.

The line form is lenient about `<` and `&` that are no markup. The XML form has a root element whose children
are records: AnyStyle's `<dataset><sequence>`, usaddress's `<AddressCollection><AddressString>`, or any other
names. It is chosen if the file starts with `<?xml`, a comment or DOCTYPE, one of those roots, or a line that
is one start tag and nothing else. Labels are the tags' names; see `espalier.io.tagged` for whitespace.
Nothing keeps the tokens (`tokenise` makes new ones), and only the XML form has room for ids.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from espalier.document import Document, Span
from espalier.errors import Argument, InputError
from espalier.io.common import Tokeniser, Writing, build, tokeniser
from espalier.io.tagged import (
    NAME,
    NOT_XML,
    Event,
    MarkupError,
    TaggedRecord,
    attribute_text,
    line_events,
    render,
)
from espalier.io.xmlform import walk
from espalier.text_files import Lines

__all__ = ["read", "read_tagged", "write", "write_tagged"]

_ROOTS = ("dataset", "AddressCollection")
_XML = re.compile(rf"<\?xml|<!|<(?:{'|'.join(_ROOTS)})\b|<[^<>/]+>$")


def read(
    lines: Lines,
    *,
    form: str = "auto",
    record: str = "",
    repair: bool = False,
    separate: bool = False,
    tokenise: Tokeniser = "default",
) -> Iterator[Document]:
    """Yield one document a record; a tag inside another is an error here (see `hierarchical`).

    `form` is `auto`, `lines` or `xml`; `record` names the record element of the XML form, by default every
    child of the root. `separate` puts a space between fields that touch. `repair` mends unbalanced tags and
    reports each repair.
    """
    return read_tagged(lines, False, form, record, repair, separate, tokenise)


def read_tagged(
    lines: Lines, nested: bool, form: str, record: str, repair: bool, separate: bool, tokenise: Tokeniser
) -> Iterator[Document]:
    """Read flat or nested tags in either form."""
    if form not in ("auto", "lines", "xml"):
        raise InputError(f"form must be 'auto', 'lines' or 'xml', not {form!r}")
    split = tokeniser(tokenise)
    if form == "auto":
        form = "xml" if _XML.match(lines.first_text()) else "lines"

    def label(event: Event, into: TaggedRecord) -> str:
        if into.depth and not nested:
            nesting = ("nested tags are ", Argument("read", "format", "hierarchical"))
            raise MarkupError(f"<{event.value}> inside {into.path!r}", event.line, nesting)
        if event.attributes:
            lines.report(f"the attributes of <{event.value}> are not kept", event.line)
        return f"{into.path}/{event.value}" if into.depth else event.value

    try:
        records = _xml_records if form == "xml" else _line_records
        for number, content, id in records(lines, record, repair, separate, label):
            with lines.at(number):
                spans = [field.span for field in content.fields]
                yield build(content.text, split(content.text), spans, id=id)
    except MarkupError as error:
        raise lines.fault(error, error.line) from None


Label = Callable[[Event, TaggedRecord], str]


def _line_records(
    lines: Lines, _: str, repair: bool, separate: bool, label: Label
) -> Iterator[tuple[int, TaggedRecord, str]]:
    for number, line in lines:
        if not line.strip(" \t"):
            continue
        with lines.at(number):
            content = TaggedRecord(
                lines.report, lines.report if repair else None, separate=separate, longest=lines.longest
            )
            for event in line_events(line, number):
                if event.kind == "text":
                    content.characters(event)
                elif event.kind == "open":
                    content.open(event, label(event, content))
                else:
                    content.close(event)
            content.finish(number)
            yield number, content, ""


def _xml_records(
    lines: Lines, record: str, repair: bool, separate: bool, label: Label
) -> Iterator[tuple[int, TaggedRecord, str]]:
    def stray(event: Event, inside: str) -> None:
        raise MarkupError(f"text outside any record: {event.value.strip()[:30]!r}", event.line)

    def is_record(name: str, depth: int) -> bool:
        return name == record if record else depth == 1

    for found in walk(lines, is_record, label, stray, repair=repair, separate=separate):
        for name in found.attributes:
            if name != "id":
                lines.report(f"the record's attribute {name!r} is not kept", found.line)
        yield found.line, found.record, found.attributes.get("id", "")


def write(
    documents: Iterable[Document],
    *,
    form: str = "lines",
    root: str = "dataset",
    record: str = "sequence",
    lossy: bool = False,
) -> Iterator[str]:
    """Yield one line a document, or an XML document; nested spans and unknown labels are refused unless `lossy`."""
    return write_tagged(documents, False, form, root, record, lossy)


def write_tagged(
    documents: Iterable[Document], nested: bool, form: str, root: str, record: str, lossy: bool
) -> Iterator[str]:
    """Write flat or nested tags in either form."""
    if form not in ("lines", "xml"):
        raise InputError(f"form must be 'lines' or 'xml', not {form!r}")
    xml = form == "xml"
    if xml:
        yield f'<?xml version="1.0" encoding="UTF-8"?>\n<{root}>\n'
    for number, document in enumerate(documents):
        writing = Writing(document, number, lossy)
        line = tagged_text(writing, nested, xml)
        if not xml and not line:
            writing.loses("its text is empty, and a blank line is no record", "leaves it out")
            continue
        id = f' id="{attribute_text(document.id)}"' if document.id else ""
        yield f"  <{record}{id}>{line}</{record}>\n" if xml else line + "\n"
    if xml:
        yield f"</{root}>\n"


def tagged_text(writing: Writing, nested: bool, xml: bool) -> str:
    """Return a document's text with its tags."""
    writing.known_labels()
    document = writing.document
    spans = writing.nested_spans() if nested else writing.flat_spans()
    if xml:
        document = without_controls(writing)

    def tag(span: Span) -> tuple[str, str]:
        name = span.label.rpartition("/")[2] if nested else span.label
        if not NAME.fullmatch(name):
            writing.loses(f"label {name!r} cannot be the name of a tag", "writes _ for the other signs")
            name = "_" + re.sub(r"[^\w.-]", "_", name)
        return f"<{name}>", f"</{name}>"

    return render(document, spans, tag)


def without_controls(writing: Writing) -> Document:
    """Return the document, refused or altered if its text has characters that XML cannot hold."""
    document = writing.document
    found = NOT_XML.search(document.text)
    if found is None:
        return document
    writing.loses(f"XML cannot hold the character U+{ord(found[0]):04X} at {found.start()}", "writes U+FFFD for it")
    text = NOT_XML.sub("\ufffd", document.text)  # offsets stay
    return Document(text, document.tokens, document.spans, document.unknown, document.id)
