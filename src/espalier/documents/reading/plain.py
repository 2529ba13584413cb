"""`read_plain`: plain text to its lines; a form feed begins a new page.

Lines keep the spaces that they begin with, and empty lines stay: they are all the layout that there is.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator

from espalier.documents.lines import PrintedText, TextLine
from espalier.errors import InputError

__all__ = ["LARGEST", "decoded", "printed_lines", "read_plain"]

LARGEST = 1 << 26
"""Bytes of a text file, an HTML page or a LaTeX file that are read as one document."""

_BREAKS = re.compile("\r\n|[\n\r\v\f\x85\u2028\u2029]")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decoded(data: bytes, name: str, warnings: list[str], encoding: str = "") -> str:
    """Return bytes as text: in the encoding that is given or marked, else as UTF-8, else as Windows' Latin letters.

    What was guessed is added to the warnings. Raises InputError for what is no text, or too large.
    """
    if len(data) > LARGEST:
        raise InputError(f"{name or 'the file'} has more than {LARGEST >> 20} MB", hint="cut it into several files")
    marked = next((known for mark, known in _MARKS if data.startswith(mark)), "")
    try:
        text = data.decode(marked or encoding or "utf-8")
    except (UnicodeError, LookupError):  # some encodings have errors of their own
        if marked:
            raise InputError(f"{name or 'the file'} is marked as {marked}, and is not", hint="save it anew") from None
        warnings.append(f"the file is not {encoding or 'utf-8'}: it is read as cp1252")
        text = data.decode("cp1252", "replace")
    if "\0" in text[:4096]:
        raise InputError(f"{name or 'the file'} is no text", hint="save its references as text, PDF, DOCX or HTML")
    return text


def read_plain(data: bytes, name: str = "") -> PrintedText:
    """Return the lines of a text file, given as bytes.

    Raises InputError if it is no text, or too large.
    """
    warnings: list[str] = []
    return printed_lines(decoded(data, name, warnings), name, warnings)


def printed_lines(text: str, name: str = "", warnings: Iterable[str] = ()) -> PrintedText:
    """Return the lines of a text."""
    return PrintedText.of(_lines(text.removeprefix("\ufeff")), name=name, kind="text", warnings=warnings)


def _lines(text: str) -> Iterator[TextLine]:
    page, start = 1, 0
    for found in _BREAKS.finditer(text):
        yield TextLine(text[start : found.start()], page=page)
        page, start = page + (found[0] == "\f"), found.end()
    yield TextLine(text[start:], page=page)
