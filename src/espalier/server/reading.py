"""Pasted texts and uploaded files as documents; what was left out or repaired is reported, never dropped in silence."""

from __future__ import annotations

import gzip
import io
import threading
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from espalier.citations.bibliographies import recognise
from espalier.citations.seen import reference_document
from espalier.citations.splitting import read_references
from espalier.document import Document
from espalier.documents.line_words import heading_kind
from espalier.documents.pace import watched
from espalier.documents.parsing import find_in, place_in_document, read_unclear
from espalier.documents.reading import KINDS, read_document
from espalier.errors import FormatError
from espalier.io import InputProblem, format_by_content, format_by_name, iter_read
from espalier.server.core import Core
from espalier.server.failures import Deadline, Failure
from espalier.server.shapes import Trouble
from espalier.server.tasks import REFERENCES, ProjectTask
from espalier.text_files import encodable

if TYPE_CHECKING:
    from espalier.documents.finding import FoundReference

__all__ = ["NothingFound", "UploadReading", "decoded", "is_document", "read_file", "read_text", "read_upload"]

_UNPACKED = 8  # how many times larger than a request a gzipped file may become
_READ = "send text, a PDF, DOCX, HTML or LaTeX file; one that was cut off is not recognised"
_READING = threading.Lock()  # files of records are read one at a time: together they would slow down everybody
_GZIP = b"\x1f\x8b"
_OFTEN = 1000  # lines of a file between two looks at the clock
_HEAD = 60  # lines that a format is guessed from


class NothingFound(Failure):
    """A document without references."""


@dataclass(slots=True)
class UploadReading:
    """Documents, where each was found (None: it is the file's own record), and what was wrong.

    places : where in the file each stands, for messages; format : of the file, "" if it was no labelled one;
    most : records that there may be, if fewer than a file may bring; look : ends what takes too long, and may let
    others go first; called for every record.
    """

    documents: list[Document] = field(default_factory=list)
    sources: list[dict[str, Any] | None] = field(default_factory=list)
    problems: list[Trouble] = field(default_factory=list)
    places: list[str] = field(default_factory=list)
    format: str = ""
    most: int | None = None
    look: Callable[[], None] | None = None

    def report(self, where: str, what: str) -> None:
        """Say what was left out or repaired."""
        self.problems.append(Trouble(where=where, what=what))

    def take(self, core: Core, document: Document, where: str, source: dict[str, Any] | None = None) -> None:
        """Keep a document, unless it is empty or too long for a record; far too many are refused."""
        if self.look is not None:
            self.look()
        most = core.limits.added if self.most is None else self.most
        if len(self.documents) + len(self.problems) >= most:
            raise Failure(413, f"there are more than {most:,} records in it", "send it in parts")
        if not encodable(document.text):
            self.report(where, "it holds half of a character (a lone surrogate); it is left out")
        elif not document.tokens:
            self.report(where, "there is no text in it; it is left out")
        elif len(document.text) > core.limits.length:
            longest = f"a record has at most {core.limits.length:,}; it is left out"
            self.report(where, f"it has {len(document.text):,} characters, and {longest}")
        else:
            self.documents.append(document)
            self.sources.append(source)
            self.places.append(where)

    def refuse(self, errors: Iterable[FormatError]) -> None:
        """Report what could not be read."""
        for error in errors:
            self.report(f"line {error.line}" if error.line else "", error.what)


def read_text(core: Core, task: ProjectTask, text: str, layout: str = "auto", most: int | None = None) -> UploadReading:
    """Cut a text into records: references as `espalier parse` does it, other texts by lines or by blank lines.

    `auto` takes blocks where blank lines stand between texts of several lines.
    """
    _check_lines(core, text)
    with core.computing() as turn, watched(turn.check):
        found = UploadReading(most=most, look=turn.check)
        refused, stream = list[FormatError](), io.StringIO(text, newline="\n")
        if task.name == REFERENCES:
            _refuse_bibliography(text)
            if layout == "auto" and (unclear := read_unclear(text).references):
                _take_found(core, found, unclear, "pasted text")
                return found
            for reference in read_references(stream, layout, refused=refused):
                if layout != "auto" or heading_kind(reference.text) != "references":
                    found.take(core, reference_document(reference.text), f"line {reference.line}")
            found.refuse(refused)
            return found
        blocks = layout == "blocks" or (layout == "auto" and _looks_blocked(text))
        for document in iter_read(stream, "plain", blocks=blocks, refused=refused):
            found.take(core, document, f"line {document.meta['line']}")
        found.refuse(refused)
        return found


def _check_lines(core: Core, text: str) -> None:
    """Refuse a text of far too many lines, or one with a line that has no end."""
    begin, limits = 0, core.limits
    for number in range(1, limits.lines + 1):
        end = text.find("\n", begin)
        if (end if end >= 0 else len(text)) - begin > limits.line:
            raise Failure(413, f"it has more than {limits.line:,} characters", "send it in parts", f"line {number}")
        if end < 0:
            return
        begin = end + 1
    raise Failure(413, f"the text has more than {limits.lines:,} lines", "send it in parts")


def _looks_blocked(text: str) -> bool:
    """Do blank lines separate texts, at least one of which has several lines?"""
    blocks = [block for block in text.replace("\r\n", "\n").split("\n\n") if block.strip()]
    return len(blocks) > 1 and any("\n" in block.strip() for block in blocks)


def read_upload(
    core: Core,
    task: ProjectTask,
    data: bytes,
    name: str,
    format: str | None,
    encoding: str,
    most: int | None = None,
) -> UploadReading:
    """Read an uploaded file; plain text is cut as pasted text is. Its labels are still the file's (`given_labels`).

    most : records that there may be, if fewer than a file may bring: then it ends as soon as there are more.
    """
    data = _unpacked(data, _UNPACKED * core.limits.body)
    if not data or data.isspace():
        raise Failure(400, "the file is empty", "choose another one")
    if format is None and is_document(data, name):
        return read_file(core, task, data, name, most)
    chosen = format or _guess(data, name, encoding)
    if b"\0" in data and encoding != "utf-16":
        raise Failure(400, "this is no text, and no document that is read", _READ, name)
    if chosen == "plain":
        return read_text(core, task, decoded(data, encoding, "choose another encoding"), most=most)
    problems, refused = list[InputProblem](), list[FormatError]()
    if not _READING.acquire(timeout=core.limits.seconds):
        raise Failure(503, "other files are being read", "send it again in some seconds")
    try:  # with no turn to compute: a record may take a second, and small requests would wait for it
        look = Deadline(core.limits.seconds).check
        found, stream = UploadReading(format=chosen, most=most, look=look), _LookedAt(data, look)
        for i, document in enumerate(iter_read(stream, chosen, encoding=encoding, problems=problems, refused=refused)):
            found.take(core, document, document.id or f"record {i + 1}")
    finally:
        _READING.release()
    for problem in problems:
        found.report(f"line {problem.line}", problem.what)
    found.refuse(refused)
    return found


class _LookedAt(io.BytesIO):
    """A file during whose lines somebody looks at the clock: some formats have to be read before a record is known."""

    def __init__(self, data: bytes, look: Callable[[], None]) -> None:
        super().__init__(data)
        self._look, self._lines = look, 0

    def readline(self, size: int | None = -1, /) -> bytes:
        self._lines += 1
        if not self._lines % _OFTEN:
            self._look()
        return super().readline(size)


def is_document(data: bytes, name: str) -> bool:
    """Is this a file whose records have to be found first: PDF, DOCX, HTML or LaTeX?"""
    return any(kind.recognises(data, name) for kind in KINDS if kind.name != "text")


def read_file(core: Core, task: ProjectTask, data: bytes, name: str, most: int | None = None) -> UploadReading:
    """Find the references of a document, each with its page and place; the time of a request bounds it."""
    if task.name != REFERENCES:
        hint = "save the text that you want as a text file"
        raise Failure(400, f"in a document only references are found, and the task is {task.name}", hint, name)
    found = UploadReading(most=most)
    with core.computing() as turn, watched(turn.check):
        printed = read_document(data, name or "the document")
        references = find_in(printed).references
    for warning in printed.warnings:
        found.report(name, warning)
    if not references:
        raise NothingFound(400, "no list of references was found", "paste its references as text", name)
    _take_found(core, found, references, name or "a document")
    return found


def _take_found(core: Core, into: UploadReading, found: Iterable[FoundReference], name: str) -> None:
    for reference in found:
        source = {"file": name, **place_in_document(reference)}
        into.take(core, reference_document(reference.text), f"page {reference.page}", source)


def _refuse_bibliography(text: str) -> None:
    """Refuse what is no text to be parsed, and say what to do with it."""
    found = recognise(text)
    if found is not None:
        hint = found.refused or "nothing in it has to be parsed; 'espalier convert' writes it in other formats"
        raise Failure(400, f"this is {found.called}", str(hint))


def _unpacked(data: bytes, most: int) -> bytes:
    """Return what a gzip file holds, all its members; one that grows beyond all measure is refused before it does."""
    if not data.startswith(_GZIP):
        return data
    try:
        found = gzip.GzipFile(fileobj=io.BytesIO(data)).read(most + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise Failure(400, f"the gzip data is truncated or damaged: {error}", "pack the file again") from None
    if len(found) > most:
        raise Failure(413, f"the file unpacks to more than {most:,} bytes", "split it")
    return found


def _guess(data: bytes, name: str, encoding: str) -> str:
    """Guess the format by an extension that leaves no doubt, else by the first lines."""
    sure = format_by_name(name, sure=True)
    if sure is not None:
        return sure.name
    head = data[: 1 << 16].decode(encoding, "replace").removeprefix("\ufeff").split("\n")[:_HEAD]
    return format_by_content(head).name


def decoded(data: bytes, encoding: str, hint: str) -> str:
    """Return a file as text; what is in another encoding is refused."""
    try:
        return data.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise Failure(400, f"the text is not {encoding}", hint, f"line {line}") from None
