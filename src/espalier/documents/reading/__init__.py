"""`read_document`: a file of any kind to its lines; what a file is, its first bytes say, not its name.

It is read in a process of its own, with limits (`confined`), unless it is trusted. Text in a file that is named as a
document of another kind is refused: it is a mistake more often than not.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from espalier.errors import InputError

if TYPE_CHECKING:
    from espalier.documents.lines import PrintedText

__all__ = ["KINDS", "FileKind", "kind_of", "read_document", "refuse_misnamed"]


class FileKind(NamedTuple):
    """A kind of file. name : for people; recognises : by its bytes and its name; module : that reads it."""

    name: str
    recognises: Callable[[bytes, str], bool]
    module: str

    def read(self, data: bytes, name: str) -> PrintedText:
        """Return the lines of a file; the module of its kind is imported when it is needed."""
        module = import_module(f"espalier.documents.reading.{self.module}")
        found: PrintedText = getattr(module, f"read_{self.module}")(data, name)
        return found


def _is_pdf(data: bytes, name: str) -> bool:
    return b"%PDF-" in data[:1024]


def _is_docx(data: bytes, name: str) -> bool:
    return data[:4] == b"PK\x03\x04" and b"word/document.xml" in data


_HTML = re.compile(rb"<!doctype\s+html|<html[\s>]|<body[\s>]|<head[\s>]", re.IGNORECASE)
_LATEX = re.compile(rb"^[ \t]*\\(?:documentclass|documentstyle|begin\{thebibliography\}|bibitem\b)", re.MULTILINE)


def _is_html(data: bytes, name: str) -> bool:
    head = data[:4096].replace(b"\0", b"")  # of UTF-16
    return bool(_HTML.search(head)) or (name.lower().endswith((".html", ".htm", ".xhtml")) and b"<" in head)


def _is_latex(data: bytes, name: str) -> bool:
    return bool(_LATEX.search(data[: 1 << 16])) or name.lower().endswith((".tex", ".bbl", ".ltx"))


def _is_text(data: bytes, name: str) -> bool:
    packed = data[:4] == b"PK\x03\x04"
    return not packed and (b"\0" not in data[:4096] or data[:2] in (b"\xff\xfe", b"\xfe\xff"))


KINDS: tuple[FileKind, ...] = (
    FileKind("PDF", _is_pdf, "pdf"),
    FileKind("DOCX", _is_docx, "docx"),
    FileKind("HTML", _is_html, "html"),
    FileKind("LaTeX", _is_latex, "latex"),
    FileKind("text", _is_text, "plain"),
)
"""All kinds, the surest to recognise first."""


_NEVER_TEXT = (".pdf", ".docx", ".doc", ".odt")


def refuse_misnamed(data: bytes, name: str) -> None:
    """Raise InputError for a file with the name of a document that is never plain text; the content is none."""
    ending = os.path.splitext(name)[1].lower()
    if ending in _NEVER_TEXT and data.strip():
        what = f"{name}: the name says {ending[1:].upper()}, but the content is something else"
        raise InputError(what, hint="if it is text, rename it to .txt and it is read as text")


def kind_of(data: bytes, name: str = "") -> FileKind:
    """Return what kind of file this is; raises InputError if nobody can read it, or it is text under a false name."""
    for kind in KINDS:
        if kind.recognises(data, name):
            if kind.name == "text":
                refuse_misnamed(data, name)
            return kind
    raise InputError(
        f"{name or 'the file'} is no document that can be read: it is not {' or '.join(k.name for k in KINDS)}",
        hint="convert it to one of these",
    )


def read_document(
    source: str | os.PathLike[str] | bytes, name: str | None = None, *, trusted: bool = False
) -> PrintedText:
    """Return the lines of a file, in reading order and with their places.

    source : a path, or the bytes of the file; name : what messages call it, the path if there is one; trusted : read it
    in place, with no limit of time and memory. Raises InputError if it is of no known kind, damaged, encrypted, has no
    text, or takes more than a file of its size may take.
    """
    if isinstance(source, bytes):
        data, name = source, name or ""
    else:
        data, name = Path(source).read_bytes(), name or str(source)
    if not trusted:
        from espalier.documents.reading.confined import read_confined

        return read_confined(data, name)
    return kind_of(data, name).read(data, name)
