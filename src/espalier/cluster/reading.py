"""The records of a partition, in chunks: where each stands, its text, the columns to keep, and what is wrong with it.

A record is a row of Parquet or a line that is not blank. Its position is the number of its row in the file, or the
byte of the (unpacked) file at which its line begins; both start at 0, and neither depends on how a file was cut.
A line that cannot be read is a record with a reason; a file that cannot be read is an error. A document (PDF, DOCX,
HTML, LaTeX) has a record for each of its references; its position is that of its first character in the text of the
document, and a document without a list of references is an error.

Kept keys of JSON Lines become strings: strings as they are, other values as JSON, so that all partitions have one
schema. Kept columns of Parquet keep their types.
"""

from __future__ import annotations

import gzip
import io
import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import IO, Any, NamedTuple

from espalier.cluster.job import Settings
from espalier.cluster.plan import WHOLE, Partition
from espalier.cluster.stores import need
from espalier.errors import FormatError
from espalier.text_files import encodable

__all__ = ["LONGEST_LINE", "Chunk", "Records", "count_records", "open_records"]

LONGEST_LINE = 16_000_000
"""Bytes of a line that are read; what follows is passed over, and the record is set aside."""

_BUFFER = 1 << 20
_BOM = b"\xef\xbb\xbf"


class InputLine(NamedTuple):
    """One record of a text file: position, text (or what stands there instead), why it is bad, kept values."""

    position: int
    value: Any
    reason: str = ""
    kept: tuple[str | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some records in a row: `kept` are Arrow arrays; a record with a reason is bad, whatever its value."""

    positions: Sequence[int]
    values: Sequence[Any]
    reasons: Sequence[str]
    kept: Sequence[Any]


class Records(NamedTuple):
    """The fields of the kept columns (pyarrow), and the records."""

    kept: Sequence[Any]
    chunks: Iterator[Chunk]


@contextmanager
def open_records(partition: Partition, settings: Settings) -> Iterator[Records]:
    """Open a partition; a damaged file raises a FormatError, now or while the chunks are read."""
    pa = need("pyarrow")
    with need("fsspec").open(partition.input, "rb") as file:
        if partition.format == "parquet":
            with _damage_told(partition.input):
                found = _rows(file, partition, settings)
        elif partition.format == "document":
            fields = [pa.field(name, pa.string()) for name in settings.keep]
            found = Records(fields, _references(file, partition, settings))
        else:
            fields = [pa.field(name, pa.string()) for name in settings.keep]
            found = Records(fields, _chunks(file, partition, settings, [field.type for field in fields]))
        yield found._replace(chunks=_told(found.chunks, partition.input))


def count_records(partition: Partition) -> int | None:
    """Return how many records a partition has, also one whose records cannot be read; None if nobody can tell.

    Lines are counted whatever is in them, rows as the footer of a Parquet file has them.
    """
    try:
        with need("fsspec").open(partition.input, "rb") as file:
            if partition.format == "document":
                return None
            if partition.format != "parquet":
                return sum(bool(raw.strip()) for _, raw, _ in _raw_lines(file, partition.start, partition.stop))
            footer = need("pyarrow.parquet").ParquetFile(file).metadata
            stop = footer.num_row_groups if partition.stop == WHOLE else partition.stop
            return sum(int(footer.row_group(i).num_rows) for i in range(partition.start, stop))
    except Exception:  # whatever is wrong with the file was told when it was to be read
        return None


def _told(chunks: Iterator[Chunk], path: str) -> Iterator[Chunk]:
    while True:
        with _damage_told(path):
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


@contextmanager
def _damage_told(path: str) -> Iterator[None]:
    """Turn what the unpackers raise into a FormatError."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(f"the gzip data is truncated or damaged: {error}", path=path) from None
    except (need("pyarrow").ArrowInvalid, OSError) as error:
        if getattr(error, "errno", None) is not None:  # the disk's trouble, not the file's
            raise
        raise FormatError(f"the Parquet data is truncated or damaged: {error}", path=path) from None


def _rows(file: Any, partition: Partition, settings: Settings) -> Records:
    """Return the rows of some row groups."""
    source = need("pyarrow.parquet").ParquetFile(file)
    names, schema = [settings.text, *settings.keep], source.schema_arrow
    for name in names:
        if name not in schema.names:
            raise FormatError(f"has no column {name!r}", path=partition.input, hint=f"it has {', '.join(schema.names)}")
    stop = source.num_row_groups if partition.stop == WHOLE else partition.stop
    first = sum(source.metadata.row_group(i).num_rows for i in range(partition.start))

    def chunks() -> Iterator[Chunk]:
        at = first
        groups = list(range(partition.start, stop))
        for batch in source.iter_batches(settings.batch, row_groups=groups, columns=names) if groups else ():
            n = batch.num_rows
            values = batch.column(settings.text).to_pylist()
            yield Chunk(range(at, at + n), values, [""] * n, [batch.column(name) for name in settings.keep])
            at += n

    return Records([schema.field(name) for name in settings.keep], chunks())


def _references(file: Any, partition: Partition, settings: Settings) -> Iterator[Chunk]:
    """Yield the references of a document."""
    from espalier.documents.reading import read_document
    from espalier.documents.references import cut_document
    from espalier.documents.sources import LARGEST_DOCUMENT

    pa = need("pyarrow")
    data = file.read(LARGEST_DOCUMENT + 1)
    if len(data) > LARGEST_DOCUMENT:
        raise FormatError(f"a document has at most {LARGEST_DOCUMENT >> 20} MB", path=partition.input)
    found = list(cut_document(read_document(data, partition.input)).references)
    if not found:
        raise FormatError("no list of references was found", path=partition.input)
    places = [reference.place() for reference in found]
    for first in range(0, len(found), settings.batch):
        some = slice(first, first + settings.batch)
        kept = [
            pa.array([_as_string(place.get(name)) for place in places[some]], pa.string()) for name in settings.keep
        ]
        texts = [reference.text for reference in found[some]]
        yield Chunk([place["start"] for place in places[some]], texts, [""] * len(texts), kept)


def _chunks(file: Any, partition: Partition, settings: Settings, types: Sequence[Any]) -> Iterator[Chunk]:
    """Yield the lines of a range of bytes."""
    pa = need("pyarrow")
    read: Callable[[int, bytes], InputLine] = _text if partition.format == "text" else _object_reader(settings)
    lines = (
        InputLine(at, _shown(raw), f"a line of more than {LONGEST_LINE:,} bytes") if too_long else read(at, raw)
        for at, raw, too_long in _raw_lines(file, partition.start, partition.stop)
        if raw.strip()
    )
    while several := list(islice(lines, settings.batch)):
        columns = [
            list(column) for column in zip(*(line.kept or (None,) * len(types) for line in several), strict=True)
        ]
        yield Chunk(
            [line.position for line in several],
            [line.value for line in several],
            [line.reason for line in several],
            [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)],
        )


def _raw_lines(file: Any, start: int, stop: int) -> Iterator[tuple[int, bytes, bool]]:
    """Yield (first byte, line without its end, is it cut) of the lines that begin in [start, stop)."""
    if start:
        file.seek(start - 1)
    with _unpacked(file, begins=not start) as stream:
        at = start - 1 + _skip_line(stream) if start else 0
        while stop == WHOLE or at < stop:
            raw = stream.readline(LONGEST_LINE)
            if not raw:
                return
            begin, at = at, at + len(raw)
            cut = len(raw) == LONGEST_LINE and not raw.endswith(b"\n")
            if cut:
                at += _skip_line(stream)
            yield begin, (raw.removeprefix(_BOM) if begin == 0 else raw).removesuffix(b"\n").removesuffix(b"\r"), cut


@contextmanager
def _unpacked(file: Any, *, begins: bool) -> Iterator[IO[bytes]]:
    """Buffer a file, whatever file system it is from, and unpack it if it `begins` as gzip does."""
    buffer = io.BufferedReader(file, _BUFFER)
    try:
        zipped = begins and buffer.peek(2)[:2] == b"\x1f\x8b"
        yield io.BufferedReader(gzip.GzipFile(fileobj=buffer, mode="rb"), _BUFFER) if zipped else buffer
    finally:
        with suppress(ValueError):  # who opened the file closes it, and may have done so
            buffer.detach()


def _skip_line(stream: Any) -> int:
    """Read to the end of the line and return how many bytes that took."""
    count = 0
    while part := stream.readline(LONGEST_LINE):
        count += len(part)
        if part.endswith(b"\n"):
            break
    return count


def _shown(raw: bytes) -> str:
    return raw.decode("utf-8", "backslashreplace")


def _text(at: int, raw: bytes) -> InputLine:
    try:
        return InputLine(at, raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        return InputLine(
            at, _shown(raw), f"byte 0x{raw[error.start]:02x}, number {error.start + 1} of the line, is not UTF-8"
        )


def _object_reader(settings: Settings) -> Callable[[int, bytes], InputLine]:
    """Return the reader of lines that are JSON objects."""

    def read(at: int, raw: bytes) -> InputLine:
        line = _text(at, raw)
        if line.reason:
            return line
        try:
            record = json.loads(line.value)
        except (ValueError, RecursionError) as error:
            return InputLine(at, line.value, f"not JSON: {error}")
        if not isinstance(record, dict):
            return InputLine(at, line.value, "a JSON value that is no object")
        if settings.text not in record:
            return InputLine(at, line.value, f"an object without a key {settings.text!r}")
        kept = tuple(_as_string(record.get(name)) for name in settings.keep)
        if any(value is not None and not encodable(value) for value in kept):
            return InputLine(at, line.value, "a kept value holds half of a surrogate pair, which is no character")
        return InputLine(at, record[settings.text], "", kept)

    return read


def _as_string(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
