"""XML documents: expat reads them, and `walk` finds the elements that are records, and what they hold.

expat checks the document. Text is taken from it as it stands, since white space that is written as a reference is text
and other white space beside a tag is layout (`tagged`). A DOCTYPE may name a DTD, which is not read. Declarations
inside it are refused, and so is every entity but the five standard ones. The XML declaration is passed over: the
document was decoded before.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple
from xml.parsers import expat

from espalier.io.tagged import NAME, NO_DECLARATIONS, Event, MarkupError, TaggedRecord, document_events
from espalier.text_files import Lines

__all__ = ["FoundElement", "walk", "xml_events"]

_CHUNK = 1 << 16  # bytes that are read before their events are yielded
_DECLARED = re.compile(r"\s*<\?xml\b.*?\?>", re.DOTALL)
_ERRORS = expat.errors.codes


class _Scanner:
    """Collects the events of a document that expat reads."""

    def __init__(self, text: str) -> None:
        declared = _DECLARED.match(text)
        if declared:  # blanks in its place, so that lines and places stay
            text = re.sub(r"[^\n]", " ", declared[0]) + text[declared.end() :]
        self.data = text.encode("utf-8", "surrogatepass")
        self.events: list[Event] = []
        self._text = (-1, 0)  # where text began and on which line; -1: there is none
        self._cdata: list[str] | None = None
        self._cdata_line = 0
        self._parser = parser = expat.ParserCreate("utf-8")
        parser.StartElementHandler = lambda name, attributes: self._mark("open", name, attributes)
        parser.EndElementHandler = lambda name: self._mark("close", name)
        parser.CharacterDataHandler = self._characters
        parser.StartCdataSectionHandler = self._start_cdata
        parser.EndCdataSectionHandler = self._end_cdata
        parser.CommentHandler = lambda _: self._flush()
        parser.ProcessingInstructionHandler = lambda _, __: self._flush()
        parser.StartDoctypeDeclHandler = self._doctype
        parser.SkippedEntityHandler = self._entity

    def read(self) -> Iterator[Event]:
        """Yield the events; what is wrong is a `MarkupError`, or an event that cannot be right at its place."""
        try:
            start, size = 0, _CHUNK
            while start <= len(self.data):
                before = self._parser.CurrentByteIndex
                self._parser.Parse(self.data[start : start + size], start + size > len(self.data))
                # Many an expat looks again at all of a token that goes on: with doubled pieces time stays linear.
                start, size = start + size, 2 * size if self._parser.CurrentByteIndex == before else _CHUNK
                yield from self._drained()
        except expat.ExpatError as error:
            self._flush()
            yield from self._drained()
            yield from self._fault(error.code, error.lineno)

    def _drained(self) -> list[Event]:
        events, self.events = self.events, []
        return events

    def _flush(self) -> None:
        """End the text that stands before this place."""
        start, line = self._text
        if start >= 0:
            raw = self.data[start : self._parser.CurrentByteIndex].decode("utf-8", "replace")
            self.events.append(Event("text", raw, line))
            self._text = (-1, 0)

    def _mark(self, kind: str, name: str, attributes: Mapping[str, str] | None = None) -> None:
        self._flush()
        self.events.append(Event(kind, name, self._parser.CurrentLineNumber, attributes or {}))

    def _characters(self, text: str) -> None:
        if self._cdata is not None:
            self._cdata.append(text)
        elif self._text[0] < 0:
            self._text = (self._parser.CurrentByteIndex, self._parser.CurrentLineNumber)

    def _start_cdata(self) -> None:
        self._flush()
        self._cdata, self._cdata_line = [], self._parser.CurrentLineNumber

    def _end_cdata(self) -> None:
        self.events.append(Event("cdata", "".join(self._cdata or ()), self._cdata_line))
        self._cdata = None

    def _doctype(self, name: str, system: Any, public: Any, declares: bool) -> None:
        if declares:
            raise MarkupError(NO_DECLARATIONS, self._parser.CurrentLineNumber)

    def _entity(self, name: str, parameter: bool) -> None:
        raise _unknown_entity(f"&{name};", self._parser.CurrentLineNumber)

    def _fault(self, code: int, line: int) -> Iterator[Event]:
        """Say what is wrong with the document at the place where expat stopped."""
        at = self._parser.ErrorByteIndex
        sign = max(self.data.rfind(b"<", 0, at + 1), self.data.rfind(b"&", 0, at + 1))
        rest = self.data[max(at - 3, 0) : at + 400].decode("utf-8", "replace")
        found = self.data[max(sign, 0) : max(sign, 0) + 400].decode("utf-8", "replace")
        tag = re.match(rf"<(/?)({NAME.pattern})", found)
        if code == _ERRORS[expat.errors.XML_ERROR_NO_ELEMENTS]:
            return  # whoever walks the document knows where it ends
        if self._cdata is not None:
            raise MarkupError("'<![CDATA[' is never closed by ']]>'", self._cdata_line)
        if code == _ERRORS[expat.errors.XML_ERROR_DUPLICATE_ATTRIBUTE] and tag:
            raise MarkupError(f"<{tag[2]}> has the same attribute twice", line)
        if code == _ERRORS[expat.errors.XML_ERROR_BAD_CHAR_REF]:
            raise MarkupError(f"{found.partition(';')[0] + ';'!r} is not a character", line)
        if found.startswith("&"):
            raise _unknown_entity(found, line)
        for opening, closing in (("<!--", "-->"), ("<?", "?>")):
            if found.startswith(opening):
                raise MarkupError(f"{opening!r} is never closed by {closing!r}", line)
        if tag and at - sign <= 2 and re.match(rf"</?{NAME.pattern}\s*/?>", found):
            # A tag that is none at its place: whoever walks the document knows what is open there.
            yield Event("close" if tag[1] else "open", tag[2], line)
        if at - sign <= 2 and found.startswith("<"):
            raise MarkupError(f"this is not a tag: {found[:30]!r}", line, hint="write &lt; for a literal '<'")
        raise MarkupError(f"this is not XML: {expat.ErrorString(code)}, near {rest[:30]!r}", line)


def _unknown_entity(found: str, line: int) -> MarkupError:
    name, end, _ = found[:20].partition(";")
    return MarkupError(f"{name + end!r}: only the five standard entities are known", line, hint="write &amp; for '&'")


def xml_events(text: str) -> Iterator[Event]:
    """Yield the events of an XML document; faults are `MarkupError`s that know their line."""
    return _Scanner(text).read()


class FoundElement(NamedTuple):
    """One record element: its content, attributes and first line."""

    record: TaggedRecord
    attributes: Mapping[str, str]
    line: int


def walk(
    lines: Lines,
    is_record: Callable[[str, int], bool],
    label: Callable[[Event, TaggedRecord], str | None],
    stray: Callable[[Event, str], None],
    *,
    repair: bool = False,
    separate: bool = False,
) -> Iterator[FoundElement]:
    """Yield the record elements of an XML document.

    `is_record(name, depth)` says which elements are records, `label` names a field (None: no label), and
    `stray` is told of text outside records, with the name of the element it stands in.
    """
    text = lines.whole()
    outer: list[str] = []
    record: TaggedRecord | None = None
    attributes: Mapping[str, str] = {}
    name, start, rooted = "", 0, False
    for event in document_events(text) if repair else xml_events(text):
        if record is None:
            if event.kind == "open":
                if not outer and rooted:
                    raise MarkupError(f"<{event.value}> after the document's end", event.line)
                rooted = True
                if is_record(event.value, len(outer)):
                    name, attributes, start = event.value, event.attributes, event.line
                    record = TaggedRecord(
                        lines.report,
                        lines.report if repair else None,
                        separate=separate,
                        longest=lines.longest,
                    )
                else:
                    outer.append(event.value)
            elif event.kind == "close":
                if not outer or outer[-1] != event.value:
                    where = f"inside <{outer[-1]}>" if outer else "after the document's end"
                    raise MarkupError(f"</{event.value}> {where} does not match", event.line)
                outer.pop()
            elif event.value.strip():
                stray(event, outer[-1] if outer else "")
        elif event.kind in ("text", "cdata"):
            record.characters(event)
        elif event.kind == "open":
            record.open(event, label(event, record))
        elif event.value != name:
            record.close(event)
        else:
            record.finish(event.line)
            yield FoundElement(record, attributes, start)
            record = None
    if record is not None or outer:
        raise MarkupError(f"the file ends inside <{name if record is not None else outer[-1]}>", text.count("\n") + 1)
    if not rooted:
        raise MarkupError("there is no element in this file", 1)
