"""`read_docx`: a document of Word to its lines, one for each paragraph; notes come last.

A .docx file is a zip file of XML. Pages are those that Word last laid out, where it says so. Deleted text, field codes
and what only older programs show are left out. Headings are known by their style, items of lists by their numbering,
notes by where they are kept. Parts are unpacked piece by piece; what unpacks to far more than a document does, elements
inside elements without end, and XML with entities, are refused.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from typing import Any
from xml.parsers import expat

from espalier.documents.lines import PrintedText, TextLine
from espalier.errors import InputError

__all__ = ["DEPTH", "EXPANSION", "MOST_BYTES", "read_docx"]

MOST_BYTES = 1 << 27
"""Bytes that a part of a document may unpack to."""

EXPANSION = 100
"""How many times its packed size a part may have, beyond what is free: XML of Word reaches 10 to 50, a bomb 1000."""

DEPTH = 1_000
"""Elements inside elements: a table in a table adds four."""

_MAIN = "word/document.xml"
_NOTES = ("word/footnotes.xml", "word/endnotes.xml")
_HEADINGS = ("heading", "berschrift", "titre", "title", "titel", "ttulo", "titolo", "kop", "rubrik")
_SKIPPED = frozenset(("del", "moveFrom", "Fallback", "instrText", "delText"))
_CHUNK = 1 << 16
_FREE = 1 << 23  # bytes that any part may unpack to
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # what Word writes; others take gigabytes if a file says so
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError)


def read_docx(data: bytes, name: str = "") -> PrintedText:
    """Return the lines of a document of Word, given as bytes.

    Raises InputError if the file is damaged, too large, or has no text.
    """
    called = name or "the document"
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            parts = [part for part in (_MAIN, *_NOTES) if part in packed.namelist()]
            if _MAIN not in parts:
                raise InputError(f"{called} is no document of Word", hint="save it as .docx, PDF or text")
            lines: list[TextLine] = []
            for part in parts:
                pieces = _unpacked(packed, packed.getinfo(part), called)
                lines += _lines(pieces, called, lines[-1].page if lines else 1, part != _MAIN)
    except InputError:
        raise
    except (*_BROKEN, OSError, struct.error) as error:  # numbers in a directory may be anything, below zero, too
        raise InputError(f"{called} is damaged or encrypted: {error}", hint="save it anew, or as PDF") from None
    if not lines:
        raise InputError(f"{called} has no text", hint="is its text in pictures?")
    return PrintedText.of(lines, name=name, kind="DOCX")


def _unpacked(packed: zipfile.ZipFile, part: zipfile.ZipInfo, called: str) -> Iterator[bytes]:
    """Yield a part of the file in pieces; what is larger than admitted is refused before it is unpacked."""
    if part.compress_type not in _METHODS:
        raise InputError(f"{called} is packed in a way that Word does not know", hint="save it anew, or as PDF")
    most = min(MOST_BYTES, max(_FREE, EXPANSION * part.compress_size))
    if part.file_size > most:  # no more than it says is unpacked
        times = f", {EXPANSION} times its size" if most < MOST_BYTES else ""
        raise InputError(f"{called} unpacks to more than {most >> 20} MB{times}", hint="save it as text, or in parts")
    with packed.open(part) as stream:
        yield from iter(partial(stream.read, _CHUNK), b"")


class _Paragraph:
    """What is known of the paragraph that is being read."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.hint = ""
        self.begun = False  # a line of it was read
        self.inked = False  # its text is more than blanks
        self.bold, self.size = 0, 0

    def add(self, text: str) -> None:
        """Take text, or a sign."""
        self.text.append(text)
        self.inked = self.inked or not text.isspace()


class _PartReader:
    """Collects the lines of one XML part of a document."""

    def __init__(self, called: str, page: int, notes: bool) -> None:
        self._called = called
        self.lines: list[TextLine] = []
        self._page, self._notes = page, notes
        self._paragraphs: list[_Paragraph] = []  # a text box stands inside a paragraph
        self._skipping = 0
        self._cells = 0  # open cells of tables, whose paragraphs are parts of a row
        self._in_text = self._bold = self._in_run = False
        self._depth = 0

    def begin(self, name: str, given: dict[str, str]) -> None:
        """Take the beginning of an element."""
        tag = name.rpartition(":")[2]
        self._depth += 1
        if self._depth > DEPTH:
            what = f"{self._called} has elements that are nested more than {DEPTH:,} deep"
            raise InputError(what, hint="save it as text, or as PDF")
        if self._skipping or tag in _SKIPPED:
            self._skipping += 1
        elif tag == "p" and name.startswith("w:"):
            self._paragraphs.append(_Paragraph())
        elif tag == "tc":
            self._cells += 1
        elif not self._paragraphs:
            return
        elif tag == "t":
            self._in_text = True
        elif tag == "r":
            self._in_run, self._bold = True, False
        elif tag == "b" and self._in_run:
            self._bold = given.get("w:val") not in ("0", "false")
        elif tag == "pStyle":
            style = given.get("w:val", "").casefold()
            if any(word in style for word in _HEADINGS):
                self._paragraphs[-1].hint = "heading"
        elif tag == "numPr":
            self._paragraphs[-1].hint = self._paragraphs[-1].hint or "item"
        else:
            self._sign(tag, given)

    def _sign(self, tag: str, given: dict[str, str]) -> None:
        """Take an element that stands for a character, or for the end of a line or page."""
        paragraph = self._paragraphs[-1]
        if tag in ("tab", "noBreakHyphen", "softHyphen") and self._in_run:
            paragraph.add({"tab": "\t", "noBreakHyphen": "\u2011"}.get(tag, "\u00ad"))
        elif tag == "lastRenderedPageBreak" or (tag == "br" and given.get("w:type") == "page"):
            if paragraph.inked:
                self._flush(paragraph)
            self._page += 1
        elif tag in ("br", "cr"):
            self._flush(paragraph)

    def end(self, name: str) -> None:
        """Take the end of an element."""
        tag = name.rpartition(":")[2]
        self._depth -= 1
        if self._skipping:
            self._skipping -= 1
        elif tag == "tc":
            self._cells = max(self._cells - 1, 0)
        elif tag == "t":
            self._in_text = False
        elif tag == "r":
            self._in_run = False
        elif tag == "p" and name.startswith("w:") and self._paragraphs:
            self._flush(self._paragraphs.pop())

    def characters(self, text: str) -> None:
        """Take text."""
        if self._in_text and not self._skipping and self._paragraphs:
            paragraph = self._paragraphs[-1]
            paragraph.add(text)
            paragraph.size += len(text.strip())
            paragraph.bold += len(text.strip()) if self._bold else 0

    def _flush(self, paragraph: _Paragraph) -> None:
        text = " ".join("".join(paragraph.text).replace("\u00a0", " ").split())
        if text:
            hint = "note" if self._notes else paragraph.hint
            bold = 2 * paragraph.bold > paragraph.size
            begins = not (paragraph.begun or self._cells)
            self.lines.append(TextLine(text, self._page, bold=bold, hint=hint, paragraph=begins))
            paragraph.hint, paragraph.begun = "", True
        paragraph.text, paragraph.inked, paragraph.bold, paragraph.size = [], False, 0, 0


def _lines(pieces: Iterator[bytes], called: str, page: int, notes: bool) -> list[TextLine]:
    """Return the lines of an XML part."""
    reader = _PartReader(called, page, notes)
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def refuse(*_: Any) -> None:
        raise InputError(
            f"{called} declares entities of its own, as no program for documents does", hint="save it anew"
        )

    parser.StartElementHandler, parser.EndElementHandler = reader.begin, reader.end
    parser.CharacterDataHandler = reader.characters
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        for piece in pieces:
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        what = f"{called} is damaged: line {error.lineno} of a part is no XML"
        raise InputError(what, hint="save it anew, or as PDF") from None
    except LookupError:
        raise InputError(f"{called} names an encoding that nobody knows", hint="save it anew, or as PDF") from None
    return reader.lines
