"""Files of references: folders and patterns, in any format that holds some; what is bad is told, and reading goes on.

What a file is, its content says, not its name; but text that is named .pdf, .docx, .doc or .odt is refused:

    bibliography (BibTeX, RIS ...)     read as it is; its entries are never parsed
    document (PDF, DOCX, HTML, LaTeX)  its list of references is found, each reference with its page and place
    text                               cut as `references` says
"""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator, Sequence
from glob import glob, has_magic
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from espalier.citations.batches import BatchItem
from espalier.citations.bibliographies import HEAD, Bibliography, read_bibliography, recognise
from espalier.documents.reading import KINDS, read_document, refuse_misnamed
from espalier.documents.references import LONGEST_GUESSED, cut_document, cut_text, unpacked
from espalier.errors import FormatError, InputError, unopened
from espalier.several_files import STANDARD, Several, Tell, source_name

if TYPE_CHECKING:
    from espalier.documents.lines import PrintedText

__all__ = [
    "ENDINGS",
    "LARGEST_DOCUMENT",
    "ReferenceFiles",
    "bibliography_in",
    "listed_files",
    "place_of",
    "refuse_unread",
]

LARGEST_DOCUMENT = 1 << 28
"""Bytes of a document, which is held as a whole."""

_UNSURE = 0.5
_FEW_PLACES = 5

_OF_DOCUMENTS = (".pdf", ".docx", ".html", ".htm", ".xhtml", ".tex", ".bbl", ".ltx")

ENDINGS = (*(".txt", ".md", ".bib", ".ris", ".json", ".xml", ".nbib", ".enw", ".ref"), *_OF_DOCUMENTS)
"""The files of a folder that are read; any other file must be named."""


def listed_files(files: Sequence[Path], skipped: list[Path] | None = None) -> list[Path]:
    """Return the files that are meant: those of a folder and below it, by name, and those that fit a pattern.

    skipped : gets the other files of folders, but not those that are hidden.
    """
    found: list[Path] = []
    for path in files:
        if str(path) != STANDARD and os.path.isdir(path):  # pathlib has no answer for what is too long to be a name
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


class ReferenceFiles(Several):
    """The references of files, and what is unsure about them.

    stream : what `-` stands for; warn : hears what else there is to say of a file. unsure : how many references are
    perhaps not cut where they should be; doubtful : where the first few of them are. left_out : how many lines of lists
    are in no reference; left_at : where the first few of them are.
    """

    def __init__(
        self,
        files: Sequence[Path],
        layout: str = "auto",
        encoding: str = "utf-8",
        *,
        tell: Tell,
        warn: Any,
        stream: IO[bytes] | None = None,
    ) -> None:
        """Find the files, and start what reads documents, so that it is ready when a model is."""
        super().__init__(files, tell, "reference")
        self.skipped: list[Path] = []
        self._layout, self._encoding, self._warn, self._stream = layout, encoding, warn, stream
        self.unsure, self.left_out = 0, 0
        self.doubtful: list[str] = []
        self.left_at: list[str] = []
        self._before = 0
        self._open: IO[bytes] | None = None
        if any(path.suffix.lower() in _OF_DOCUMENTS for path in files):
            from espalier.documents.reading.confined import prepare

            prepare()

    def share_of(self, done: int) -> float | None:
        """Return the share, 0 to 1, of all references that `done` of them are; None where that cannot be known."""
        if not self.read or not all(map(os.path.isfile, self.files)):
            return None
        size = sum(os.path.getsize(path) for path in self.files)
        here = 0 if self._open is None else self._open.tell()
        return (self._before + here) / size * done / self.read if size else None

    def references(self) -> Iterator[BatchItem]:
        """Yield the references of all files; what is bad is told and counted, and the next one follows."""
        self.files = listed_files(self.files, self.skipped)
        if self.skipped:
            self._warn(
                f"files in folders that were left out because of their kind: {len(self.skipped)}, such as "
                f"{self.skipped[0]}; to read such a file, give its name"
            )
        return self.items(self._of_file)

    def _of_file(self, path: Path, refused: list[FormatError]) -> Iterator[BatchItem]:
        name = source_name(path)
        try:
            with self._opened(path) as self._open:
                for item in self._items(self._open, name, refused):
                    if item.confidence is not None and item.confidence < _UNSURE:
                        self._doubt(item)
                    yield item
        finally:
            self._open = None
            self._before += path.stat().st_size if os.path.isfile(path) else 0

    def _items(self, stream: IO[bytes], name: str, refused: list[FormatError]) -> Iterator[Any]:
        """Choose a reader by the first bytes."""
        head = cast(io.BufferedReader, stream).peek(HEAD)[:HEAD]
        found = recognise(_as_text(head))
        if found is not None:
            refuse_unread(found, name)
            return read_bibliography(stream, encoding=self._encoding, refused=refused)
        if _is_document(head, name):
            cut = cut_document(self._printed(stream, name))
            if not cut.references:
                hint = "if it has references, copy them into a text file"
                raise FormatError("no list of references was found", path=name, hint=hint)
        else:
            cut = cut_text(stream, self._layout, name=name, encoding=self._encoding, refused=refused)
            # No editor counts form feeds.
            lines = dict.fromkeys(part.line - part.page + 1 for part in cut.left_out)
            self.left_out += len(lines)
            self.left_at += [f"{name}:{line}" for line in lines][: _FEW_PLACES - len(self.left_at)]
        return iter(cut.references)

    def _printed(self, stream: IO[bytes], name: str) -> PrintedText:
        data = stream.read(LARGEST_DOCUMENT + 1)
        if len(data) > LARGEST_DOCUMENT:
            raise FormatError(f"a document has at most {LARGEST_DOCUMENT >> 20} MB", path=name)
        printed = read_document(data, name)
        for warning in printed.warnings:
            self._warn(f"{name}: {warning}")
        return printed

    def _doubt(self, item: BatchItem) -> None:
        """Count a reference that is perhaps not cut where it should be; the places of the first few are kept."""
        self.unsure += 1
        place = place_of(item)
        if len(self.doubtful) < _FEW_PLACES and place not in self.doubtful:
            self.doubtful.append(place)

    def _opened(self, path: Path) -> IO[bytes]:
        """Open a file so that its first bytes can be looked at."""
        try:
            if str(path) != STANDARD and os.path.isfile(path):
                return open(path, "rb", LONGEST_GUESSED)
            rest = self._stream if str(path) == STANDARD else open(os.fspath(path), "rb")  # noqa: SIM115
        except OSError as error:
            missing = error.errno in (errno.ENOENT, errno.ENAMETOOLONG)
            raise unopened(error, path, _hint_for_text(path) if missing else "") from None
        assert rest is not None, "nothing was said that - stands for"
        return io.BufferedReader(_Rejoined(rest.read(LONGEST_GUESSED), rest, source_name(path)), LONGEST_GUESSED)


def place_of(item: Any, *, with_doubt: bool = False) -> str:
    """Return where an item comes from, for people; with_doubt : also that it is perhaps not cut where it should be."""
    if not item.file:
        return f"line {item.line}"
    counted = getattr(item, "counted", "line")
    where = f":{item.line}" if counted == "line" else f", page {item.page}" if counted else ""
    doubtful = with_doubt and item.confidence is not None and item.confidence < _UNSURE
    return f"{item.file}{where}" + (f", cut {item.confidence:.0%} sure" if doubtful else "")


def bibliography_in(path: Path, stream: IO[bytes] | None = None) -> Bibliography | None:
    """Return the format of a file that is a bibliography, one that is read or not; nothing is taken out of a stream."""
    try:
        if stream is not None:
            head = cast(io.BufferedReader, stream).peek(HEAD)[:HEAD]
        else:
            with open(path, "rb") as file:
                head = file.read(HEAD)
    except OSError:  # whoever reads it says what is wrong
        return None
    return recognise(_as_text(head))


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


_NO_TEXT = {b"\xd0\xcf\x11\xe0": "an old .doc", b"\x89PNG": "a picture", b"\xff\xd8\xff\xe0": "a picture"}


def _is_document(head: bytes, name: str) -> bool:
    """Does a file begin as a document does? What nobody can read is refused."""
    if head[:4] in _NO_TEXT:
        what = f"this is {_NO_TEXT[head[:4]]}, not text"
        raise FormatError(what, path=name, hint="save it as PDF or DOCX, or its references as text")
    packed = head[:4] == b"PK\x03\x04"
    if packed or any(kind.recognises(head, name) for kind in KINDS if kind.name != "text"):
        return True
    refuse_misnamed(head, name)
    return False


def refuse_unread(found: Bibliography, name: str) -> None:
    """Say what to do about a bibliography of a format that is only recognised, such as TEI."""
    if found.refused:
        raise FormatError(f"this is {found.called}, which is not read", path=name, hint=found.refused)


def _as_text(head: bytes) -> str:
    """Return the first bytes as text that shows what a file is; letters beyond ASCII do not matter."""
    head = unpacked(head, HEAD) or b""
    return head.decode("utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1", "replace").lstrip("ï»¿")


def _hint_for_text(path: Path) -> str:
    """Tell who gave a reference in the place of a file's name how that is done."""
    return "to parse text itself: echo '...' | espalier parse -" if " " in str(path) else ""
