"""Scanning text with tags in it, `<author> A. Cau </author>`, leniently by line or strictly as XML.

The scanner knows tags, comments, CDATA, the five standard entities and character references. It resolves
no other entity, refuses a DOCTYPE that declares any, keeps no recursion, and so is safe on hostile input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from espalier.errors import Hint, InputError

__all__ = ["NAME", "Event", "MarkupError", "decoded", "line_events", "xml_events"]

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
_TAG = re.compile(f"<{_INNER}")
_TAG_OR_BROKEN = re.compile(f"<(?:{_INNER}|/<({_NAME})>)")
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));")
_ENTITIES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}


class Event(NamedTuple):
    """A piece of the input: `text` (raw), `cdata`, `open`, `close`, or `broken` (a damaged end tag)."""

    kind: str
    value: str
    line: int
    attributes: Mapping[str, str] = {}


def line_events(line: str, number: int) -> Iterator[Event]:
    """Scan one line leniently: what is not a tag is text, and so is a `<` or `&` that begins nothing."""
    at = 0
    for match in _TAG_OR_BROKEN.finditer(line):
        if match.start() > at:
            yield Event("text", line[at : match.start()], number)
        at = match.end()
        if match[5] is None:
            yield from _tag_events(match, number, strict=False)
        else:
            yield Event("broken", match[5], number)
    if at < len(line):
        yield Event("text", line[at:], number)


def xml_events(text: str) -> Iterator[Event]:
    """Scan an XML document strictly; faults are `MarkupError`s that know their line."""
    at, number = 0, 1
    while at < len(text):
        sign = text.find("<", at)
        sign = len(text) if sign < 0 else sign
        if sign > at:
            yield Event("text", text[at:sign], number)
            number += text.count("\n", at, sign)
        if sign == len(text):
            return
        match = _TAG.match(text, sign)
        if match:
            yield from _tag_events(match, number, strict=True)
            end = match.end()
        else:
            end = _declaration_end(text, sign, number)
            if text.startswith("<![CDATA[", sign):
                yield Event("cdata", text[sign + 9 : end - 3], number)
        number += text.count("\n", sign, end)
        at = end


class MarkupError(InputError):
    """A fault in markup, with its line; readers turn it into a `FormatError`."""

    def __init__(self, what: str, line: int, hint: Hint | list[Hint] = "") -> None:
        """Keep the line beside the message."""
        super().__init__(what, hint=hint)
        self.line = line


def _tag_events(match: re.Match[str], number: int, *, strict: bool) -> Iterator[Event]:
    closing, name, attributes, empty = match.group(1, 2, 3, 4)
    if closing:
        yield Event("close", name, number)
        return
    pairs = [(key, a or b) for key, a, b in _ATTRIBUTE.findall(attributes)] if attributes else []
    if len(dict(pairs)) < len(pairs):
        raise MarkupError(f"<{name}> has the same attribute twice", number)
    yield Event("open", name, number, {key: decoded(value, number, strict=strict) for key, value in pairs})
    if empty:
        yield Event("close", name, number)


def _declaration_end(text: str, at: int, number: int) -> int:
    """Return where a comment, CDATA section, processing instruction or DOCTYPE ends."""
    for opening, closing in (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")):
        if text.startswith(opening, at):
            end = text.find(closing, at + len(opening))
            if end < 0:
                raise MarkupError(f"{opening!r} is never closed by {closing!r}", number)
            return end + len(closing)
    if text.startswith("<!DOCTYPE", at):
        end = text.find(">", at)
        if end < 0 or "[" in text[at:end]:
            raise MarkupError("a DOCTYPE with declarations inside is refused: entities are not resolved", number)
        return end + 1
    raise MarkupError(f"this is not a tag: {text[at : at + 30]!r}; write &lt; for a literal '<'", number)


def decoded(raw: str, line: int, *, strict: bool) -> str:
    """Resolve references; any other `&` is text, or with `strict` an error."""
    if "&" not in raw:
        return raw

    def resolve(match: re.Match[str]) -> str:
        if match[3]:
            return _ENTITIES[match[3]]
        code = int(match[1], 16) if match[1] else int(match[2])
        if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF:
            return chr(code)
        if strict:
            raise MarkupError(f"{match[0]!r} is not a character", line)
        return match[0]

    if strict:
        for sign in re.finditer("&", raw):
            if not _REFERENCE.match(raw, sign.start()):
                found = raw[sign.start() : sign.start() + 20]
                raise MarkupError(f"{found!r}: only the five standard entities are known; write &amp; for '&'", line)
    return _REFERENCE.sub(resolve, raw)
