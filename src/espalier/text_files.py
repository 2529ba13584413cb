"""Opening, decoding and writing text files: everything that is the same for all formats.

A reader gets `Lines`: numbered lines of bounded length. It names a place by them, reports a repair, or sets a record
aside. A record has at most `longest` characters, and a line at most `PER_CHARACTER` bytes for each of them: what is
longer is refused while it is read, before anything is made of it. So a hostile file costs the time and the memory of
the longest record that is admitted, whatever its own length; gzipped files are measured while they are unpacked, so a
bomb is refused long before memory is full. Formats whose records are not lines hold their file as it is. Lines end at
LF or CRLF and nowhere else: U+2028, U+0085 and form feeds are text.

A writer yields strings; `write_chunks` puts them in a file, all or nothing.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import secrets
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import chain, islice
from math import isinf
from pathlib import Path
from typing import IO, Any, NamedTuple

from espalier.errors import Argument, FormatError, Hint, InputError, shortened

__all__ = [
    "CUT",
    "LONGEST",
    "InputProblem",
    "Lines",
    "Source",
    "blaming",
    "check_longest",
    "encodable",
    "longest_line",
    "open_lines",
    "replacing",
    "too_long",
    "write_chunks",
]

LONGEST = 1_000_000
"""Characters of a record that are admitted unless the caller says otherwise: a token may take 140 bytes."""

PER_CHARACTER = 16
"""Bytes that a line may have for each character of a record: tags, and labels and escapes of JSON, take their share."""

FREE = 1 << 26
"""Bytes that any gzipped file may hold."""

_AHEAD = 1 << 20  # characters that are looked at before a format or a form is chosen


class InputProblem(NamedTuple):
    """Something a reader repaired or left out: which line, and what."""

    line: int
    what: str

    def __str__(self) -> str:
        """Show `line 12: what`."""
        return f"line {self.line}: {self.what}"


def encodable(text: str) -> bool:
    """Can a text be written as UTF-8? JSON can spell half of a surrogate pair, which is no character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_longest(longest: float) -> None:
    """Raise InputError if `longest` is not a number of characters."""
    if isinstance(longest, bool) or not isinstance(longest, (int, float)) or not longest >= 1:
        raise InputError(f"longest is a number of characters, at least 1, or inf for any number, not {longest!r}")


def longest_line(longest: float) -> float:
    """Return how many bytes a line may have."""
    return PER_CHARACTER * longest


CUT: list[Hint] = ["cut it into several", ("pass ", Argument("read", "longest"))]
"""What to do about a record that is longer than admitted."""


def too_long(what: str, longest: float) -> str:
    """Return the complaint about a record that is longer than admitted."""
    return f"{what}, and a record has at most {longest:,.0f} characters"


class Lines:
    """Numbered lines without their ends; iterate once.

    pieces : the lines with their ends. One that is too long comes in several pieces, of which only the last ends with
    a line feed.
    """

    def __init__(
        self, name: str, pieces: Iterable[str], problems: list[InputProblem], longest: float = LONGEST
    ) -> None:
        """Keep the source's name for messages, the list that problems go to, and the bound on a record."""
        self.name = name
        self.problems = problems
        self.longest = longest
        self.refused: list[FormatError] | None = None
        self._pieces = iter(pieces)

    def __iter__(self) -> Iterator[tuple[int, str]]:
        """Yield (line number from 1, line); one that is set aside for its length leaves a blank line."""
        return self.numbered(aside=True)

    def numbered(self, *, aside: bool) -> Iterator[tuple[int, str]]:
        """Yield numbers and lines; without `aside` a line that is too long ends the reading."""
        for number, piece in enumerate(self._pieces, 1):
            line = piece.removesuffix("\n")
            if len(line) == len(piece) and self._pass_rest():
                line, most = "", longest_line(self.longest)
                with self.at(number) if aside else nullcontext():
                    raise self.error(too_long(f"a line of more than {most:,.0f} bytes", self.longest), number, CUT)
            yield number, line.removesuffix("\r")

    def _pass_rest(self) -> bool:
        """Pass over the rest of a line that has not ended; return whether there was any."""
        piece = ""
        for piece in self._pieces:
            if piece.endswith("\n"):
                break
        return bool(piece)

    def whole(self) -> str:
        """Return all lines, joined by line feeds; these are as long as they are."""
        text = "".join(self._pieces).removesuffix("\n")
        return text.replace("\r\n", "\n").removesuffix("\r")

    def head(self, count: int) -> list[str]:
        """Return the first lines, as far as a guess needs them, without consuming them; call it before iterating."""
        return [piece.rstrip("\r\n") for piece in self._ahead(lambda seen: len(seen) == count)]

    def first_text(self) -> str:
        """Return the first line that is not blank, stripped, without consuming anything."""
        seen = self._ahead(lambda seen: bool(seen[-1].strip()))
        return seen[-1].strip() if seen else ""

    def _ahead(self, enough: Callable[[list[str]], bool]) -> list[str]:
        seen: list[str] = []
        size = 0
        for piece in self._pieces:
            seen.append(piece)
            size += len(piece)
            if enough(seen) or size > _AHEAD:
                break
        self._pieces = chain(seen, self._pieces)
        return seen

    def admit(self, characters: int) -> None:
        """Refuse a record of too many characters; a reader asks before it makes tokens."""
        if characters > self.longest:
            raise InputError(too_long(f"a text of {characters:,} characters", self.longest), hint=CUT)

    def error(self, what: str, line: int = 0, hint: Hint | list[Hint] = "") -> FormatError:
        """Return a `FormatError` that names this source and the line."""
        return FormatError(what, path=self.name, line=line, hint=hint)

    def fault(self, error: InputError, line: int) -> FormatError:
        """Return an error that knows no place as a `FormatError` that names this source and the line."""
        return FormatError(*error.parts, path=self.name, line=line, hint=error.ways)

    def report(self, what: str, line: int) -> None:
        """Note something that was repaired or left out."""
        self.problems.append(InputProblem(line, shortened(what)))

    @contextmanager
    def at(self, line: int) -> Iterator[None]:
        """Turn an `InputError` raised inside into a `FormatError` at this line.

        If there is a list `refused` the error goes there, and the block ends as if it had done nothing: so a reader
        that yields inside the block leaves a bad record out.
        """
        try:
            yield
        except InputError as error:
            found = error if isinstance(error, FormatError) else self.fault(error, line)
            if self.refused is None:
                raise found from None
            self.refused.append(found)


Source = str | os.PathLike[str] | IO[str] | IO[bytes]
"""A path, or an open file (text or binary)."""

EXPANSION = 200
"""How many times its packed size a gzipped file may hold, beyond what is free: text reaches 3 to 50, a bomb 1000."""

_GZIP_MAGIC = b"\x1f\x8b"
_BOM = "\ufeff"


@contextmanager
def open_lines(
    source: Source, encoding: str, problems: list[InputProblem], expansion: float = EXPANSION, longest: float = LONGEST
) -> Iterator[Lines]:
    """Open a path or file for reading; gzip is recognised by its first two bytes, whatever the name.

    expansion : a gzipped file that unpacks to more than so many times its size, beyond 64 MiB, is refused.
    longest : characters of a record that are admitted; see `espalier.text_files`.
    """
    _check_encoding(encoding)
    check_longest(longest)
    most = -1 if isinf(longest) else int(longest_line(longest)) + 2  # with the line's end
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        with open(name, "rb") as stream:
            yield Lines(name, _without_mark(_decoded(stream, encoding, name, expansion, most)), problems, longest)
        return
    if not hasattr(source, "read"):
        raise InputError(f"what is to be read is {type(source).__name__}", hint="expected a path, or an open file")
    name = _name_of(source)
    if isinstance(source.read(0), str):
        pieces: Iterator[str] = iter(partial(source.readline, most), "")  # type: ignore[arg-type]
    else:
        pieces = _decoded(source, encoding, name, expansion, most)  # type: ignore[arg-type]
    yield Lines(name, _without_mark(pieces), problems, longest)


def write_chunks(target: Source, chunks: Iterable[str], encoding: str) -> None:
    """Write the chunks; a path is replaced only once everything is written, and `.gz` compresses."""
    _check_encoding(encoding)
    chunks = _bom_kept(chunks)
    if isinstance(target, (str, os.PathLike)):
        with replacing(target) as stream:
            stream.writelines(_encoded(chunks, encoding, os.fspath(target)))
        return
    name = _name_of(target)
    with blaming(name):
        if isinstance(target, io.TextIOBase) or hasattr(target, "encoding"):
            target.writelines(chunks)  # type: ignore[arg-type]
        else:
            target.writelines(_encoded(chunks, encoding, name))  # type: ignore[arg-type]


@contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a path for writing; it is replaced at the end of the block, or stays as it was if that fails.

    A name that ends in `.gz` compresses. A device or pipe cannot be replaced; it is written at once.
    """
    path, name = Path(os.path.realpath(target)), os.fspath(target)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")  # of this call alone, also among threads
    try:
        with blaming(name, instead_of=str(part)):
            if path.exists() and not path.is_file():
                with open(path, "wb") as stream:
                    yield stream
                return
            with open(part, "wb") as raw:
                if name.endswith(".gz"):
                    # No name and no time inside: the same documents give the same bytes.
                    with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed:
                        yield packed  # type: ignore[misc]
                else:
                    yield raw
                raw.flush()
                os.fsync(raw.fileno())  # before it has its name, so that a power cut leaves no empty file under it
            os.replace(part, path)
    finally:
        with suppress(OSError):
            part.unlink()


@contextmanager
def blaming(name: str, *, instead_of: str | None = None) -> Iterator[None]:
    """Let an error of the system that names no file (or one that nobody asked for) name this one."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, instead_of):
            raise
        raise OSError(error.errno, error.strerror, name) from None


def _check_encoding(encoding: str) -> None:
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise InputError(
            f"unknown encoding {encoding!r}", hint="known are utf-8, latin-1, cp1252, utf-16, ..."
        ) from None


def _name_of(stream: Any) -> str:
    name = getattr(stream, "name", None)
    return name if isinstance(name, str) else "<file>"


def _without_mark(pieces: Iterator[str]) -> Iterator[str]:
    for first in pieces:
        yield first.removeprefix(_BOM)
        break
    yield from pieces


def _decoded(stream: IO[bytes], encoding: str, name: str, expansion: float, most: int) -> Iterator[str]:
    """Decode line by line, so that an error can name its line; other than ASCII-like codecs as a whole.

    A line of more than `most` bytes comes in several pieces.
    """
    pieces = _guarded(_unzipped(stream, expansion, name), name, most)
    if "\n".encode(encoding) != b"\n":
        try:
            whole = b"".join(pieces).decode(encoding)
        except UnicodeDecodeError as error:
            raise FormatError(f"byte {error.start} is not {encoding}: {error.reason}", path=name) from None
        yield from iter(partial(io.StringIO(whole, newline="\n").readline, most), "")
        return
    codec = "utf-8" if codecs.lookup(encoding).name == "utf-8-sig" else encoding
    decoder = codecs.getincrementaldecoder(codec)()
    number, before, wide = 1, 0, 0  # the line, how many of its bytes were in earlier pieces, the first beyond ASCII
    for raw in chain(pieces, [b""]):
        ended = raw.endswith(b"\n") or not raw
        try:
            text = raw.decode(codec) if ended and not before else decoder.decode(raw, ended)
        except UnicodeDecodeError as error:
            if _is_binary(error.object + b"".join(islice(pieces, _LINES_SEEN))):
                what, way_out = "this is no text file", "save what it holds as text"
                raise FormatError(what, path=name, line=number, hint=way_out) from None
            at = before + len(raw) - len(error.object) + error.start + 1  # what the decoder kept back is in its object
            what = f"byte 0x{error.object[error.start]:02x}, number {at} of the line, is not {encoding}"
            wide = wide or (0 if error.object[: error.start].isascii() else number)
            why, hint = _way_out(error, number, wide)
            raise FormatError(what + why, path=name, line=number, hint=hint) from None
        wide = wide or (0 if text.isascii() else number)
        if text:
            yield text
        number, before = (number + 1, 0) if ended else (number, before + len(raw))


_LINES_SEEN = 20
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1b"))


def _is_binary(data: bytes) -> bool:
    """Is this no text in any encoding of single bytes? A stray control character is in many a text from a PDF file."""
    controls = len(data) - len(data.translate(None, _CONTROLS))
    return data[:2] not in (b"\xff\xfe", b"\xfe\xff") and (b"\0" in data or 50 * controls > len(data))


def _way_out(error: UnicodeDecodeError, line: int, wide: int) -> tuple[str, Hint]:
    """Say what else is odd about a line that cannot be decoded, and how to read it.

    wide : the first line with a letter beyond ASCII, 0 for none.
    """
    if line == 1 and error.object[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "", ("pass ", Argument("read", "encoding", "utf-16"), " (the file starts with its mark)")
    if wide and codecs.lookup(error.encoding).name == "utf-8":  # what happens to be UTF-8 is meant to be
        hint = f"the encodings are mixed: convert line {line} to utf-8"
        return f", but letters before it are (line {wide})", hint
    return "", ("pass ", Argument("read", "encoding", "latin-1"), " or ", Argument("read", "encoding", "cp1252"))


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
    inside = gzip.GzipFile(fileobj=packed, mode="rb")  # type: ignore[call-overload]
    return io.BufferedReader(_Measured(inside, packed, expansion, name))


class _Counted:
    """A binary file that counts the bytes read from it."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self.count = stream, 0

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self.count += len(data)
        return data


class _Measured(io.RawIOBase):
    """What a gzipped file holds, as far as it is believed."""

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
                f"the gzip data unpacks to more than {self._expansion:g} times its size",
                path=self._name,
                hint=("if you trust it, unpack it first, or pass expansion=inf"),
            )
        return len(data)


def _guarded(stream: IO[bytes], name: str, most: int) -> Iterator[bytes]:
    number = 1
    try:
        with blaming(name):
            while raw := stream.readline(most):
                yield raw
                number += raw.endswith(b"\n")
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(f"the gzip data is truncated or damaged: {error}", path=name, line=number) from None


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
