"""Records of tagged text: from scanned events to text and fields, and back.

Whitespace beside a tag is layout, not text: around any run of tags it counts as one space, which stands
outside the fields that end before it and start after it, and at the ends of a record it counts as nothing.
Whitespace that is text is written as a character reference, so everything written is read back exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from espalier.document import Document, Span
from espalier.io.common import DEPTH, sorted_spans
from espalier.io.files import CUT, LONGEST, too_long
from espalier.io.markup import Event, MarkupError, decoded

__all__ = ["TaggedField", "TaggedRecord", "attribute_text", "not_xml", "render", "without_not_xml"]

_LAYOUT = " \t\r\n"
_BREAK = re.compile(r"[ \t\r]*\n[ \t\r\n]*")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


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
    return lead + re.sub("[&<>]|[\r\n]", _escape, core) + trail


def _escape(match: re.Match[str]) -> str:
    named = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    return named.get(match[0]) or f"&#{ord(match[0])};"


def _references(blanks: str) -> str:
    return "".join(f"&#{ord(sign)};" for sign in blanks)


def not_xml(text: str) -> re.Match[str] | None:
    """Find a character that XML 1.0 cannot hold, not even as a reference."""
    return _NOT_XML.search(text)


def without_not_xml(text: str) -> str:
    """Put U+FFFD for every character that XML 1.0 cannot hold; offsets stay."""
    return _NOT_XML.sub("\ufffd", text)
