"""Scanning text with tags in it, `<author> A. Cau </author>`, leniently; `xmlform` reads XML strictly.

The scanner knows tags, the five standard entities and character references, and in documents comments, CDATA and a
DOCTYPE without declarations. It resolves no other entity, keeps no recursion, and so is safe on hostile input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from espalier.errors import Hint, InputError

__all__ = ["NAME", "NO_DECLARATIONS", "Event", "MarkupError", "decoded", "document_events", "line_events"]

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
