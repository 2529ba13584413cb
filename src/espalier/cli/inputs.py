"""Where references come from: files, folders and patterns, in any format that holds some.

What a file is, its content says, not its name; but text that is named .pdf, .docx, .doc or .odt is refused:

    bibliography (BibTeX, RIS ...)     read as it is; its entries are never parsed
    document (PDF, DOCX, HTML, LaTeX)  its list of references is found, each reference with its page and place
    text whose layout says all         cut there, line by line, at any length: numbers, indents, blank lines ...
    any other text                     read as a document, unless it is long or has no list

What is bad is named, and reading goes on.
"""

from __future__ import annotations

import errno
import io
import os
import re
import sys
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from glob import glob, has_magic
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from espalier.citations.bibliographies import HEAD, Bibliography, Entry, read_bibliography, recognise
from espalier.citations.splitting import Reference, read_references
from espalier.cli.console import complain, in_options
from espalier.cli.files import STANDARD, Bad, source_name
from espalier.documents.reading import KINDS, read_document, refuse_misnamed
from espalier.errors import FormatError, InputError

if TYPE_CHECKING:
    from espalier.documents.cutting.finding import Findings, FoundReference

__all__ = ["ENDINGS", "Inputs", "Item", "bibliography_in", "listed_files", "place_of", "refuse_unread", "source_of"]


@dataclass(frozen=True, slots=True)
class PlacedReference:
    """A reference of a document, and the file's name; by : what is counted in it, "page", "line", or "" for neither."""

    file: str
    found: FoundReference
    by: str = ""

    @property
    def text(self) -> str:
        """The reference."""
        return self.found.text

    @property
    def confidence(self) -> float:
        """How sure it is that this is one whole reference."""
        return self.found.confidence


Item = Reference | PlacedReference | Entry
"""What is read: a reference to be parsed, or an entry of a bibliography, which is finished."""

LARGEST_DOCUMENT = 1 << 28
"""Bytes of a document, which is held as a whole."""

LONGEST_GUESSED = 1 << 22
"""Bytes of a text whose layout is looked at as a whole; what is longer is a list, and read line by line."""

_UNSURE = 0.5
_FEW_PLACES = 5
_WITHOUT_PAGES = ("HTML", "LaTeX")  # and their lines are not those that an editor counts

_OF_DOCUMENTS = (".pdf", ".docx", ".html", ".htm", ".xhtml", ".tex", ".bbl", ".ltx")

ENDINGS = (*(".txt", ".md", ".bib", ".ris", ".json", ".xml", ".nbib", ".enw", ".ref"), *_OF_DOCUMENTS)
"""The files of a folder that are read; any other file must be named."""


def listed_files(files: list[Path], skipped: list[Path] | None = None) -> list[Path]:
    """Return the files that are meant: those of a folder and below it, by name, and those that fit a pattern.

    skipped : gets the other files of folders, but not those that are hidden.
    """
    found: list[Path] = []
    for path in files:
        if path != STANDARD and os.path.isdir(path):  # pathlib has no answer for what is too long to be a name
            inside = [inner for inner in sorted(path.rglob("*")) if inner.is_file()]
            shown = [inner for inner in inside if not any(part[:1] == "." for part in inner.relative_to(path).parts)]
            taken = [inner for inner in shown if inner.suffix.lower() in ENDINGS]
            if not taken:
                raise InputError(f"{path}: no file in this folder may hold references", hint="name the files to read")
            found += taken
            if skipped is not None:
                skipped += [inner for inner in shown if inner.suffix.lower() not in ENDINGS]
        elif has_magic(str(path)) and not os.path.exists(path):
            fitting = sorted(glob(str(path), recursive=True))
            if not fitting:
                raise InputError(f"{path}: no file fits this pattern", hint=_hint_for_text(path))
            found += listed_files([Path(name) for name in fitting], skipped)
        else:
            found.append(path)
    return found


def source_of(item: Item) -> dict[str, Any]:
    """Return where an item comes from, as JSON values."""
    if isinstance(item, Entry):
        return {"file": item.file, "line": item.line, "format": item.format, "key": item.key}
    if isinstance(item, PlacedReference):
        from espalier.documents.parsing import place_in_document

        return {"file": item.file, **place_in_document(item.found)}
    return {name: value for name, value in asdict(item).items() if name != "text" and (value or name != "filled")}


def place_of(item: Item, *, with_doubt: bool = True) -> str:
    """Return where an item comes from, for people; with_doubt : also that it is perhaps not cut where it should be."""
    if isinstance(item, PlacedReference):
        unsure = f", cut {item.confidence:.0%} sure" if with_doubt and item.confidence < _UNSURE else ""
        where = {"page": f", page {item.found.page}", "line": f":{item.found.line}"}.get(item.by, "")
        return f"{item.file}{where}{unsure}"
    return f"{item.file}:{item.line}" if item.file else f"line {item.line}"


def bibliography_in(path: Path) -> Bibliography | None:
    """Return the format of a file that is a bibliography, one that is read or not; nothing is taken out of stdin."""
    try:
        if path == STANDARD:
            head = cast(io.BufferedReader, sys.stdin.buffer).peek(HEAD)[:HEAD]
        else:
            with open(path, "rb") as stream:
                head = stream.read(HEAD)
    except OSError:  # whoever reads it says what is wrong
        return None
    return recognise(_as_text(head))


@dataclass(slots=True)
class Inputs:
    """The files to read, how many references were `read`, and how many references or files were `bad`.

    unsure : how many references are perhaps not cut where they should be; doubtful : where the first few of them are.
    left_out : how many lines of lists are in no reference; left_at : where the first few of them are.
    """

    files: list[Path]
    layout: str
    encoding: str
    read: int = 0
    bad: Bad = field(default_factory=Bad)
    unsure: int = 0
    doubtful: list[str] = field(default_factory=list)
    left_out: int = 0
    left_at: list[str] = field(default_factory=list)
    _before: int = 0
    _open: IO[bytes] | None = None

    def __post_init__(self) -> None:
        """Start what reads documents, so that it is ready when a model is."""
        if any(path.suffix.lower() in _OF_DOCUMENTS for path in self.files):
            from espalier.documents.reading.confined import prepare

            prepare()

    def share_of(self, done: int) -> float | None:
        """Return the share, 0 to 1, of all references that `done` of them are; None where that cannot be known."""
        if not self.read or not all(map(os.path.isfile, self.files)):
            return None
        size = sum(path.stat().st_size for path in self.files)
        here = 0 if self._open is None else self._open.tell()
        return (self._before + here) / size * done / self.read if size else None

    def references(self) -> Iterator[Item]:
        """Yield the references of all files; what is bad is named and counted, and the next one follows."""
        skipped: list[Path] = []
        self.files = listed_files(self.files, skipped)
        if skipped:
            complain(
                f"files in folders that were left out because of their kind: {len(skipped)}, such as {skipped[0]}; "
                "to read such a file, give its name"
            )
        for path in self.files:
            try:
                yield from self._of(path)
            except (InputError, OSError) as error:
                self.bad.files += 1
                if len(self.files) == 1 and not self.read:
                    raise InputError(_reason(error, path)) from None
                rest = f"; the rest of {path} was not read" if getattr(error, "line", 0) else ""
                complain(_reason(error, path) + rest)
        if self.bad and not self.read:  # an error, so that a file that was to be written stays as it was
            raise InputError("no reference could be read")

    def _of(self, path: Path) -> Iterator[Item]:
        refused: list[FormatError] = []
        before = self.read + self.bad.records
        try:
            with _opened(path) as self._open:
                for item in self._items(self._open, path, refused):
                    self.bad.drain(refused)
                    self.read += 1
                    if not isinstance(item, Entry) and item.confidence < _UNSURE:
                        self._doubt(item)
                    yield item
        finally:
            self._open = None
            self._before += path.stat().st_size if os.path.isfile(path) else 0
            self.bad.drain(refused)
        if self.read + self.bad.records == before:
            raise InputError(f"{source_name(path)}: there is no reference in it")

    def _items(self, stream: IO[bytes], path: Path, refused: list[FormatError]) -> Iterator[Item]:
        """Choose a reader by the first bytes."""
        head = cast(io.BufferedReader, stream).peek(HEAD)[:HEAD]
        found = recognise(_as_text(head))
        if found is not None:
            refuse_unread(found, path)
            return read_bibliography(stream, encoding=self.encoding, refused=refused)
        if _is_document(head, path):
            return self._found(stream, path)
        return self._of_text(stream, path, refused)

    def _found(self, stream: IO[bytes], path: Path) -> Iterator[Item]:
        """Yield the references of a document; one without a list is an error."""
        from espalier.documents.parsing import find_in

        data = stream.read(LARGEST_DOCUMENT + 1)
        if len(data) > LARGEST_DOCUMENT:
            raise FormatError(f"a document has at most {LARGEST_DOCUMENT >> 20} MB", path=source_name(path))
        printed = read_document(data, source_name(path))
        for warning in printed.warnings:
            complain(f"{source_name(path)}: {warning}")
        found = find_in(printed).references
        if not found:
            hint = "if it has references, copy them into a text file"
            raise FormatError("no list of references was found", path=source_name(path), hint=hint)
        by = "" if printed.kind in _WITHOUT_PAGES else "page"
        return (PlacedReference(source_name(path), reference, by) for reference in found)

    def _of_text(self, stream: IO[bytes], path: Path, refused: list[FormatError]) -> Iterator[Item]:
        """Yield the references of a text; a layout that does not say where they begin is left to the model of lines."""
        head = cast(io.BufferedReader, stream).peek(LONGEST_GUESSED)
        small = len(head) < LONGEST_GUESSED and head[:2] != _GZIP
        if self.layout == "auto" and small and (found := _in_unclear_layout(head, self.encoding)):
            self._leave_out(found, path)
            by = "page" if b"\f" in head else "line"
            return (PlacedReference(source_name(path), reference, by) for reference in found.references)
        if self.layout != "auto":
            return read_references(stream, self.layout, encoding=self.encoding, refused=refused)
        references = read_references(stream, encoding=self.encoding, refused=refused, works=_works_in)
        return _tidied(item for item in references if not _is_heading(item.text))

    def _doubt(self, item: Item) -> None:
        """Count a reference that is perhaps not cut where it should be; the places of the first few are kept."""
        self.unsure += 1
        place = place_of(item, with_doubt=False)
        if len(self.doubtful) < _FEW_PLACES and place not in self.doubtful:
            self.doubtful.append(place)

    def _leave_out(self, found: Findings, path: Path) -> None:
        """Count the lines of a list that are in no reference; the places of the first few are kept."""
        lines = dict.fromkeys(part.line - part.page + 1 for part in found.left_out)  # no editor counts form feeds
        self.left_out += len(lines)
        self.left_at += [f"{source_name(path)}:{line}" for line in lines][: _FEW_PLACES - len(self.left_at)]

    def tell_unsure(self) -> None:
        """Say how many lines are no reference, how many references are perhaps cut at the wrong place, and where."""
        if self.left_out:
            joint = "at" if len(self.left_at) == self.left_out else "such as at"
            complain(f"lines that are no reference: {self.left_out}, {joint} {', '.join(self.left_at)}")
        if self.unsure:
            joint = "at" if len(self.doubtful) == self.unsure else "such as at"
            complain(
                f"references that may begin or end at the wrong place: {self.unsure} of {self.read}, "
                f"{joint} {'; '.join(self.doubtful)} (-f jsonl says how sure each cut is; "
                "--input lines takes every line as a reference)"
            )


_FEW, _SHORT = 4, 500  # lines and bytes of a text that needs no look at its layout


def _in_unclear_layout(data: bytes, encoding: str) -> Findings | None:
    """Return the references of a text whose layout does not say where they begin; None for any other text."""
    if data.count(b"\n") < _FEW and len(data) < _SHORT:
        return None
    from espalier.documents.parsing import read_unclear

    try:
        found = read_unclear(data.decode(encoding))
    except (UnicodeDecodeError, LookupError):  # who reads it line by line says where
        return None
    return found if found.references else None


def _works_in(text: str) -> list[tuple[int, int]]:
    from espalier.documents.cutting.lined_works import works_in

    return works_in(text)


_MAY_BE_NOTE = re.compile(r"[\[(]?\d{1,4}[\]).\s]|\[\w|[—–―−_-]")


def _tidied(references: Iterator[Reference]) -> Iterator[Reference]:
    """Yield references with the authors that a dash stands for, and without words that lead to a work of a note."""
    named: Reference | None = None
    for item in references:
        if _MAY_BE_NOTE.match(item.text):  # the others need nothing that knows of notes
            from espalier.documents.cutting.lined_works import tidied

            item = tidied(item, named)
        named = named if item.filled else item
        yield item


_LONGEST_HEADING = 40  # characters


def _is_heading(text: str) -> bool:
    """Is a line the heading of a list, such as `References`?"""
    if len(text) > _LONGEST_HEADING or any(map(str.isdigit, text)):
        return False
    from espalier.documents.line_words import heading_kind

    return heading_kind(text) == "references"


def _opened(path: Path) -> IO[bytes]:
    """Open a file, or stdin, so that its first bytes can be looked at."""
    if path != STANDARD and os.path.isfile(path):
        return open(path, "rb", LONGEST_GUESSED)
    rest = sys.stdin.buffer if path == STANDARD else open(os.fspath(path), "rb")  # noqa: SIM115
    return io.BufferedReader(_Rejoined(rest.read(LONGEST_GUESSED), rest, source_name(path)), LONGEST_GUESSED)


class _Rejoined(io.RawIOBase):
    """A pipe whose first bytes were taken out, and are put before the rest again."""

    def __init__(self, head: bytes, rest: IO[bytes], name: str) -> None:
        self._head, self._rest, self.name = head, rest, name

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._head or self._rest.read(len(buffer))
        data, self._head = data[: len(buffer)], self._head[len(buffer) :]
        buffer[: len(data)] = data
        return len(data)


_GZIP = b"\x1f\x8b"
_NO_TEXT = {b"\xd0\xcf\x11\xe0": "an old .doc", b"\x89PNG": "a picture", b"\xff\xd8\xff\xe0": "a picture"}


def _is_document(head: bytes, path: Path) -> bool:
    """Does a file begin as a document does? What nobody can read is refused."""
    if head[:4] in _NO_TEXT:
        what = f"this is {_NO_TEXT[head[:4]]}, not text"
        raise FormatError(what, path=source_name(path), hint="save it as PDF or DOCX, or its references as text")
    packed = head[:4] == b"PK\x03\x04"
    if packed or any(kind.recognises(head, source_name(path)) for kind in KINDS if kind.name != "text"):
        return True
    refuse_misnamed(head, source_name(path))
    return False


def refuse_unread(found: Bibliography, path: Path) -> None:
    """Say what to do about a bibliography of a format that is only recognised, such as TEI."""
    if found.refused:
        raise FormatError(f"this is {found.called}, which is not read", path=source_name(path), hint=found.refused)


def _as_text(head: bytes) -> str:
    """Return the first bytes as text that shows what a file is; letters beyond ASCII do not matter."""
    if head[:2] == _GZIP:
        try:
            head = zlib.decompressobj(31).decompress(head, HEAD)
        except zlib.error:
            return ""
    return head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1", "replace").lstrip("ï»¿")


def _reason(error: InputError | OSError, path: Path) -> str:
    """Say what is wrong with a file."""
    if isinstance(error, OSError):
        from espalier.cli.slips import unopened

        missing = error.errno in (errno.ENOENT, errno.ENAMETOOLONG)
        error = unopened(error, path, _hint_for_text(path) if missing else "")
    return in_options(error, "parse")


def _hint_for_text(path: Path) -> str:
    """Tell who gave a reference in the place of a file's name how that is done."""
    return "to parse text itself: echo '...' | espalier parse -" if " " in str(path) else ""
