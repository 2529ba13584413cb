"""Opening, decoding, numbering and writing files: everything that is the same for all formats.

A reader gets `Lines`: numbered lines, a way to name a place in an error, and a way to report what it
repaired or left out. A writer yields strings; `write_chunks` puts them in a file, all or nothing.
Lines end at LF or CRLF and nowhere else: U+2028, U+0085 and form feeds are text.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import secrets
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, NamedTuple

from espalier.errors import FormatError, InputError

__all__ = ["Lines", "Problem", "Source", "open_lines", "write_chunks"]

Source = str | os.PathLike[str] | IO[str] | IO[bytes]
"""A path, or an open file (text or binary)."""

EXPANSION = 200
"""How many times its packed size a gzipped file may hold, beyond `FREE` bytes: text reaches 3 to 50, a bomb 1000."""

FREE = 1 << 26
"""Bytes that any gzipped file may hold."""

_GZIP_MAGIC = b"\x1f\x8b"
_BOM = "\ufeff"


class Problem(NamedTuple):
    """Something a reader repaired or left out: which line, and what."""

    line: int
    what: str

    def __str__(self) -> str:
        """Show `line 12: what`."""
        return f"line {self.line}: {self.what}"


class Lines:
    """Numbered lines without their ends; iterate once."""

    def __init__(self, name: str, lines: Iterable[str], problems: list[Problem]) -> None:
        """Keep the source's name for messages and the list that problems go to."""
        self.name = name
        self.problems = problems
        self.refused: list[FormatError] | None = None
        self._lines = iter(lines)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield (line number from 1, line)."""
        return enumerate(self._lines, 1)

    def head(self, count: int) -> list[str]:
        """Return the first lines without consuming them; call it before iterating."""
        first = list(islice(self._lines, count))
        self._lines = chain(first, self._lines)
        return first

    def first_text(self) -> str:
        """Return the first line that is not blank, stripped, without consuming anything."""
        seen: list[str] = []
        for line in self._lines:
            seen.append(line)
            if line.strip():
                break
        self._lines = chain(seen, self._lines)
        return seen[-1].strip() if seen else ""

    def error(self, what: str, line: int = 0) -> FormatError:
        """Return a `FormatError` that names this source and the line."""
        return FormatError(what, path=self.name, line=line)

    def report(self, what: str, line: int) -> None:
        """Note something that was repaired or left out."""
        self.problems.append(Problem(line, what))

    @contextmanager
    def at(self, line: int) -> Iterator[None]:
        """Turn an `InputError` raised inside into a `FormatError` at this line.

        If there is a list `refused` the error goes there, and the block ends as if it had done nothing: so a reader
        that yields inside the block leaves a bad record out.
        """
        try:
            yield
        except InputError as error:
            found = error if isinstance(error, FormatError) else self.error(str(error), line)
            if self.refused is None:
                raise found from None
            self.refused.append(found)


@contextmanager
def open_lines(source: Source, encoding: str, problems: list[Problem], expansion: float = EXPANSION) -> Iterator[Lines]:
    """Open a path or file for reading; gzip is recognised by its first two bytes, whatever the name.

    expansion : a gzipped file that unpacks to more than so many times its size, beyond `FREE` bytes, is refused.
    """
    _check_encoding(encoding)
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        with open(name, "rb") as stream:
            yield Lines(name, _decoded(stream, encoding, name, expansion), problems)
        return
    name = _name_of(source)
    if isinstance(source.read(0), str):
        yield Lines(name, _stripped(source), problems)  # type: ignore[arg-type]
    else:
        yield Lines(name, _decoded(source, encoding, name, expansion), problems)  # type: ignore[arg-type]


def write_chunks(target: Source, chunks: Iterable[str], encoding: str) -> None:
    """Write the chunks; a path is replaced only once everything is written, and `.gz` compresses."""
    _check_encoding(encoding)
    chunks = _bom_kept(chunks)
    if not isinstance(target, (str, os.PathLike)):
        if isinstance(target, io.TextIOBase) or hasattr(target, "encoding"):
            target.writelines(chunks)  # type: ignore[arg-type]
        else:
            target.writelines(_encoded(chunks, encoding, _name_of(target)))  # type: ignore[arg-type]
        return
    path = Path(os.path.realpath(target))
    if path.exists() and not path.is_file():  # a device or pipe cannot be replaced
        with open(path, "wb") as stream:
            stream.writelines(_encoded(chunks, encoding, str(path)))
        return
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")  # of this call alone, also among threads
    try:
        with open(part, "wb") as raw:
            if str(target).endswith(".gz"):
                # No name and no time inside: the same documents give the same bytes.
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                    packed.writelines(_encoded(chunks, encoding, str(path)))
            else:
                raw.writelines(_encoded(chunks, encoding, str(path)))
            raw.flush()
            os.fsync(raw.fileno())  # before it has its name, so that a power cut leaves no empty file under it
        os.replace(part, path)
    except OSError as error:
        if error.filename != str(part):
            raise
        raise OSError(error.errno, error.strerror, os.fspath(target)) from None  # nobody asked for the other file
    finally:
        part.unlink(missing_ok=True)


def _check_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InputError(f"unknown encoding {encoding!r}; known are utf-8, latin-1, cp1252, utf-16, ...") from None


def _name_of(stream: Any) -> str:
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else "<file>"


def _decoded(stream: IO[bytes], encoding: str, name: str, expansion: float) -> Iterator[str]:
    """Decode line by line, so that an error can name its line; other than ASCII-like codecs as a whole."""
    raw_lines = _guarded(_unzipped(stream, expansion, name), name)
    if "\n".encode(encoding) != b"\n":
        try:
            whole = b"".join(raw_lines).decode(encoding)
        except UnicodeDecodeError as error:
            raise FormatError(f"byte {error.start} is not {encoding}: {error.reason}", path=name) from None
        yield from _stripped(io.StringIO(whole, newline="\n"))
        return
    decoder = "utf-8" if codecs.lookup(encoding).name == "utf-8-sig" else encoding
    for number, raw in enumerate(raw_lines, 1):
        try:
            line = raw.decode(decoder)
        except UnicodeDecodeError as error:
            wide = number == 1 and raw[:2] in (b"\xff\xfe", b"\xfe\xff")
            hint = "encoding='utf-16' (the file starts with its mark)" if wide else "encoding='latin-1' or 'cp1252'"
            raise FormatError(
                f"byte 0x{raw[error.start]:02x}, number {error.start + 1} of the line, is not {encoding}; pass {hint}",
                path=name,
                line=number,
            ) from None
        yield _stripped_one(line.removeprefix(_BOM) if number == 1 else line)


def _unzipped(stream: IO[bytes], expansion: float, name: str) -> IO[bytes]:
    if hasattr(stream, "peek"):
        magic = stream.peek(2)[:2]
    elif stream.seekable():
        at = stream.tell()
        magic = stream.read(2)
        stream.seek(at)
    else:
        magic = b""
    if magic != _GZIP_MAGIC:
        return stream
    packed = _Counted(stream)
    unpacked = gzip.GzipFile(fileobj=packed, mode="rb")  # type: ignore[call-overload]
    return io.BufferedReader(_Measured(unpacked, packed, expansion, name))


class _Counted:
    """A binary file that counts the bytes read from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.count = stream, 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data


class _Measured(io.RawIOBase):
    """What a gzipped file holds; a bomb is refused while it is unpacked, long before memory is full."""

    def __init__(self, unpacked: gzip.GzipFile, packed: _Counted, expansion: float, name: str) -> None:
        self._unpacked, self._packed, self._expansion, self._name = unpacked, packed, expansion, name
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpacked.read1(len(buffer))
        buffer[: len(data)] = data
        self._count += len(data)
        if self._count > FREE and self._count > self._expansion * self._packed.count:
            raise FormatError(
                f"the gzip data unpacks to more than {self._expansion:g} times its size; if you trust it, unpack it "
                "first, or pass expansion=inf",
                path=self._name,
            )
        return len(data)


def _guarded(stream: IO[bytes], name: str) -> Iterator[bytes]:
    number = 0
    try:
        for number, raw in enumerate(stream, 1):  # noqa: B007
            yield raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(f"the gzip data is truncated or damaged: {error}", path=name, line=number + 1) from None


def _stripped(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield _stripped_one(line.removeprefix(_BOM) if number == 0 else line)


def _stripped_one(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _bom_kept(chunks: Iterable[str]) -> Iterator[str]:
    """A text that itself starts with U+FEFF gets another one, because readers drop the first."""
    first = True
    for chunk in chunks:
        if chunk and first:
            first = False
            if chunk.startswith(_BOM):
                yield _BOM
        yield chunk


def _encoded(chunks: Iterable[str], encoding: str, name: str) -> Iterator[bytes]:
    encoder = codecs.getincrementalencoder(encoding)()
    for number, chunk in enumerate(chunks):
        try:
            yield encoder.encode(chunk)
        except UnicodeEncodeError as error:
            raise InputError(
                f"{name}: chunk {number}: character U+{ord(chunk[error.start]):04X} cannot be written as {encoding}"
            ) from None
