"""`read_document`: a file of any kind to its lines; what a file is, its first bytes say, not its name."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from espalier.documents.lines import PrintedText
from espalier.errors import InputError

__all__ = ["KINDS", "FileKind", "kind_of", "read_document"]


class FileKind(NamedTuple):
    """A kind of file. name : for people; recognises : by its bytes and its name; read : bytes and name to lines."""

    name: str
    recognises: Callable[[bytes, str], bool]
    read: Callable[[bytes, str], PrintedText]


def _is_pdf(data: bytes, name: str) -> bool:
    return b"%PDF-" in data[:1024]


def _read_pdf(data: bytes, name: str) -> PrintedText:
    from espalier.documents.pdf import read_pdf

    return read_pdf(data, name)


KINDS: tuple[FileKind, ...] = (FileKind("PDF", _is_pdf, _read_pdf),)
"""All kinds, the surest to recognise first; a kind has a file of its own, which is imported when it is needed."""


def kind_of(data: bytes, name: str = "") -> FileKind:
    """Return what kind of file this is; raises InputError if it is none that can be read."""
    for kind in KINDS:
        if kind.recognises(data, name):
            return kind
    raise InputError(
        f"{name or 'the file'} is no document that can be read: it is not {' or '.join(k.name for k in KINDS)}",
        hint="convert it to one of these",
    )


def read_document(source: str | os.PathLike[str] | bytes, name: str | None = None) -> PrintedText:
    """Return the lines of a file, in reading order and with their places.

    source : a path, or the bytes of the file; name : what messages call it, the path if there is one. Raises InputError
    if it is of no known kind, damaged, encrypted, or has no text.
    """
    if isinstance(source, bytes):
        data, name = source, name or ""
    else:
        data, name = Path(source).read_bytes(), name or str(source)
    return kind_of(data, name).read(data, name)
