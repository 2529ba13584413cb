"""Text with tags in it, `<author> A. Cau </author>`: scanned leniently, read as text and fields, and written.

The scanner knows tags, the five standard entities and character references, and in documents comments, CDATA and a
DOCTYPE without declarations. It resolves no other entity, keeps no recursion, and so is safe on hostile input. XML is
read strictly by `xmlform`.

Whitespace beside a tag is layout, not text: around any run of tags it counts as one space, which stands
outside the fields that end before it and start after it, and at the ends of a record it counts as nothing.
Whitespace that is text is written as a character reference, so everything written is read back exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from espalier.document import Document, Span
from espalier.errors import Hint, InputError
from espalier.io.common import DEPTH, LABEL, sorted_spans
from espalier.text_files import CUT, LONGEST, too_long

__all__ = [
    "NAME",
    "NOT_XML",
    "NO_DECLARATIONS",
    "Event",
    "MarkupError",
    "TaggedField",
    "TaggedRecord",
    "attribute_text",
    "decoded",
    "document_events",
    "line_events",
    "render",
]

# Name characters of XML 1.0 (fifth edition), productions 4 and 4a.
_START = (
    ":A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_NAME = f"[{_START}][-.0-9\u00b7\u0300-\u036f\u203f-\u2040{_START}]*"
NAME = re.compile(_NAME)
_ATTRIBUTE = re.compile(rf"\s+({_NAME})\s*=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
# What follows the `<` of a tag. Without a bound on its attributes, as `re` remembers each, a tag could fill the memory.
_INNER = rf"(/?)({_NAME})((?:\s+{_NAME}\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')){{0,1000}})\s*(/?)>"
_TAG_OR_BROKEN = re.compile(f"<(?:{_INNER}|/<({_NAME})>)")
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));")
_DECLARATION = re.compile(r"<!--|<!\[CDATA\[|<\?|<!DOCTYPE")
_CLOSING = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>", "<!DOCTYPE": ">"}
NO_DECLARATIONS = "a DOCTYPE with declarations inside is refused: entities are not resolved"
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class Event(NamedTuple):
    """A piece of the input: `text` (raw), `cdata`, `open`, `close`, or `broken` (a damaged end tag)."""

    kind: str
    value: str
    line: int
    attributes: Mapping[str, str] = {}


def line_events(line: str, number: int) -> Iterator[Event]:
    """Scan a line, or several: what is not a tag is text, and so is a `<` or `&` that begins nothing."""
    at = 0
    for match in _TAG_OR_BROKEN.finditer(line):
        if match.start() > at:
            yield Event("text", line[at : match.start()], number)
            number += line.count("\n", at, match.start())
        if match[5] is None:
            yield from _tag_events(match, number)
        else:
            yield Event("broken", match[5], number)
        number += line.count("\n", match.start(), match.end())
        at = match.end()
    if at < len(line):
        yield Event("text", line[at:], number)


def document_events(text: str) -> Iterator[Event]:
    """Scan an XML document as leniently as a line: its tags need not balance, so that they can be repaired."""
    at, number = 0, 1
    for opening in _DECLARATION.finditer(text):
        if opening.start() < at:
            continue
        yield from line_events(text[at : opening.start()], number)
        number += text.count("\n", at, opening.start())
        closing = _CLOSING[opening[0]]
        at = text.find(closing, opening.end()) + len(closing)
        if at < opening.end():
            raise MarkupError(f"{opening[0]!r} is never closed by {closing!r}", number)
        if opening[0] == "<!DOCTYPE" and "[" in text[opening.end() : at]:
            raise MarkupError(NO_DECLARATIONS, number)
        if opening[0] == "<![CDATA[":
            yield Event("cdata", text[opening.end() : at - len(closing)], number)
        number += text.count("\n", opening.start(), at)
    yield from line_events(text[at:], number)


class MarkupError(InputError):
    """A fault in markup, with its line; readers turn it into a `FormatError`."""

    def __init__(self, what: str, line: int, hint: Hint | list[Hint] = "") -> None:
        """Keep the line beside the message."""
        super().__init__(what, hint=hint)
        self.line = line


def _tag_events(match: re.Match[str], number: int) -> Iterator[Event]:
    closing, name, attributes, empty = match.group(1, 2, 3, 4)
    if closing:
        yield Event("close", name, number)
        return
    pairs = [(key, a or b) for key, a, b in _ATTRIBUTE.findall(attributes)] if attributes else []
    if len(dict(pairs)) < len(pairs):
        raise MarkupError(f"<{name}> has the same attribute twice", number)
    yield Event("open", name, number, {key: decoded(value) for key, value in pairs})
    if empty:
        yield Event("close", name, number)


def decoded(raw: str) -> str:
    """Resolve references to characters and the five standard entities; any other `&` is text."""
    return _REFERENCE.sub(_resolved, raw) if "&" in raw else raw


def _resolved(match: re.Match[str]) -> str:
    if match[3]:
        return _ENTITIES[match[3]]
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else match[0]


_LAYOUT = " \t\r\n"
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;", "\n": "&#10;"})
_BREAK = re.compile(r"[ \t\r]*\n[ \t\r\n]*")
NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""A character that XML 1.0 cannot hold, not even as a reference."""


class _Open:
    """A field that has started; `start` is -1 until its first character arrives."""

    __slots__ = ("attributes", "label", "line", "name", "start")

    def __init__(self, name: str, label: str | None, line: int, attributes: Mapping[str, str]) -> None:
        self.name, self.label, self.line, self.attributes = name, label, line, attributes
        self.start = -1


class TaggedField(NamedTuple):
    """A field of a record: its span, and the tag it was written with."""

    span: Span
    name: str
    attributes: Mapping[str, str]


class TaggedRecord:
    """Collects the text and fields of one record from its events.

    `repair` is None to be strict; else a function that is told every repair: an end tag without a start is
    ignored, an end tag closes what is open inside it, and what is open at the end is closed there.
    `report` is told about fields without text, which cannot be spans.
    """

    def __init__(
        self,
        report: Callable[[str, int], None],
        repair: Callable[[str, int], None] | None = None,
        *,
        separate: bool = False,
        longest: float = LONGEST,
    ) -> None:
        """Start empty; `separate` puts a space between fields that touch; `longest` bounds the text."""
        self._report, self._repair = report, repair
        self._separate, self._longest = separate, longest
        self._pieces: list[str] = []
        self._length = self._size = 0
        self._gap = False
        self._open: list[_Open] = []
        self.fields: list[TaggedField] = []

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    @property
    def path(self) -> str:
        """The label path of the innermost open field that has a label."""
        return next((field.label for field in reversed(self._open) if field.label is not None), "")

    @property
    def depth(self) -> int:
        """How many tags are open."""
        return len(self._open)

    def characters(self, event: Event) -> None:
        """Take a piece of raw text or CDATA."""
        if event.kind == "cdata":
            self._emit(event.value, event.line)
            return
        core = event.value.strip(_LAYOUT)
        if not core:
            self._gap |= bool(event.value)
            return
        self._gap |= event.value[0] in _LAYOUT
        core = _BREAK.sub(" ", core) if "\n" in core else core
        self._emit(decoded(core), event.line)
        self._gap = event.value[-1] in _LAYOUT

    def _emit(self, text: str, line: int) -> None:
        if not text:
            return
        if self._gap and self._length:
            self._pieces.append(" ")
            self._length += 1
        self._gap = False
        for field in reversed(self._open):
            if field.start >= 0:
                break
            field.start = self._length
        self._pieces.append(text)
        self._length += len(text)
        self._grow(len(text), line)

    def _grow(self, count: int, line: int) -> None:
        """Count characters and tags together: a tag costs more than a character, and a record may have nothing else."""
        self._size += count
        if self._size > self._longest:
            raise MarkupError(too_long(f"at least {self._size:,} characters and tags", self._longest), line, CUT)

    def open(self, event: Event, label: str | None) -> None:
        """Start a field; a label of None is a tag that means nothing here."""
        if len(self._open) == DEPTH:
            raise MarkupError(f"<{event.value}> is nested more than {DEPTH} deep", event.line)
        if label is not None and len(label) > LABEL:  # a path, of which every field inside has a copy
            what = f"<{event.value}> has a label of {len(label):,} characters"
            raise MarkupError(what, event.line, f"there are at most {LABEL}")
        self._grow(2, event.line)  # the start tag, and the end tag to come
        self._open.append(_Open(event.value, label, event.line, event.attributes))

    def close(self, event: Event) -> None:
        """End a field, or repair or refuse an end tag that does not match."""
        name, line = event.value, event.line
        if self._open and self._open[-1].name == name and event.kind == "close":
            self._end()
            return
        if event.kind == "broken":
            self._fault(f"'</<{name}>' is not a tag", "read as an end tag", line)
        if not any(field.name == name for field in self._open):
            self._fault(f"</{name}> ends what never started", "ignored", line)
            return
        if self._open[-1].name != name:
            inside = ", ".join(f"<{field.name}>" for field in self._open[self._innermost(name) + 1 :])
            self._fault(f"</{name}> while {inside} is open inside it", "all end here", line)
        for _ in range(len(self._open) - self._innermost(name)):
            self._end()

    def _innermost(self, name: str) -> int:
        return max(i for i, field in enumerate(self._open) if field.name == name)

    def finish(self, line: int) -> None:
        """End the record; whatever is still open is repaired or refused."""
        while self._open:
            self._fault(f"<{self._open[-1].name}> is never closed", "ends with the record", line)
            self._end()

    def _fault(self, what: str, done: str, line: int) -> None:
        if self._repair is None:
            raise MarkupError(what, line)
        self._repair(f"{what}: {done}", line)

    def _end(self) -> None:
        field = self._open.pop()
        self._gap |= self._separate
        if field.label is None:
            return
        if field.start < 0:
            self._report(f"<{field.name}> has no text, so it is no span", field.line)
        else:
            span = Span(field.start, self._length, field.label)
            self.fields.append(TaggedField(span, field.name, field.attributes))


def attribute_text(value: str) -> str:
    """Escape an attribute's value."""
    return re.sub(r'[&<>"\t\r\n]', lambda m: f"&#{ord(m[0])};", value)


def render(document: Document, spans: tuple[Span, ...], tag: Callable[[Span], tuple[str, str]]) -> str:
    """Return the text with tags; `tag` gives a span's start tag and end tag."""
    pieces: list[tuple[str, str]] = [("", "")]  # (kind, text); the first and last are the record's ends
    stack: list[Span] = []
    at = 0

    def text_until(end: int) -> None:
        nonlocal at
        if end > at:
            pieces.append(("text", document.text[at:end]))
            at = end

    def close_until(start: int) -> None:
        while stack and stack[-1].end <= start:
            text_until(stack[-1].end)
            pieces.append(("close", tag(stack.pop())[1]))

    for span in sorted_spans(spans):
        close_until(span.start)
        text_until(span.start)
        pieces.append(("open", tag(span)[0]))
        stack.append(span)
    close_until(len(document.text))
    text_until(len(document.text))
    pieces.append(("", ""))
    return "".join(
        _protected(text, pieces[i - 1][0], pieces[i + 1][0]) if kind == "text" else text
        for i, (kind, text) in enumerate(pieces)
    )


def _protected(text: str, before: str, after: str) -> str:
    """Escape a piece so that it is read back as it is: only the space that layout would give stands bare."""
    core = text.strip(_LAYOUT)
    if not core:
        return text if text == " " and (before, after) == ("close", "open") else _references(text)
    lead = text[: len(text) - len(text.lstrip(_LAYOUT))]
    trail = text[len(text.rstrip(_LAYOUT)) :]
    lead = lead if lead == " " and before == "close" else _references(lead)
    trail = trail if trail == " " and after == "open" else _references(trail)
    return lead + core.translate(_ESCAPES) + trail


def _references(blanks: str) -> str:
    return "".join(f"&#{ord(sign)};" for sign in blanks)
