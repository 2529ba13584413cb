"""From files of references to written records: reading on after what is bad, the sieve, the formats."""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from espalier.citations.formats import FORMATS
from espalier.citations.formats.keys import Keys
from espalier.citations.formats.table import write_jsonl
from espalier.citations.formats.text import to_json
from espalier.citations.parser import Parser, load
from espalier.citations.record import Record
from espalier.citations.splitting import Reference, read_references
from espalier.cli.console import complain
from espalier.cli.files import STANDARD
from espalier.cli.wording import in_options
from espalier.errors import FormatError, InputError
from espalier.io.files import write_chunks

__all__ = ["Inputs", "Job", "Pair", "open_parser"]

_NEWS = 512

Pair = tuple[Reference, Record]
"""A reference with its place, and what was made of it."""


def open_parser(model: Path | None) -> Parser:
    """Return the parser of a model file, or the bundled one."""
    return load("citations") if model is None else Parser.from_file(model)


@dataclass(slots=True)
class Inputs:
    """The files to parse, how many references were `read`, and how many references or files were `bad`."""

    files: list[Path]
    layout: str
    encoding: str
    read: int = 0
    bad: int = 0

    def references(self) -> Iterator[Reference]:
        """Yield the references of all files; what is bad is named and counted, and the next one follows."""
        for path in self.files:
            try:
                yield from self._of(path)
            except (FormatError, OSError) as error:
                self.bad += 1
                if len(self.files) == 1 and not self.read:
                    raise InputError(_reason(error, path)) from None
                rest = f"; the rest of {path} was not read" if isinstance(error, FormatError) else ""
                complain(_reason(error, path) + rest)
        if self.bad and not self.read:  # an error, so that a file that was to be written stays as it was
            raise InputError("no reference could be read")

    def _of(self, path: Path) -> Iterator[Reference]:
        refused: list[FormatError] = []
        source: Path | IO[bytes] = sys.stdin.buffer if path == STANDARD else path
        if path != STANDARD and path.is_file():
            _check_text(path)
        before = self.read + self.bad
        try:
            for reference in read_references(source, self.layout, encoding=self.encoding, refused=refused):
                self._drain(refused)
                self.read += 1
                yield reference
        finally:
            self._drain(refused)
        if self.read + self.bad == before:
            complain(f"{'<stdin>' if path == STANDARD else path}: there is no reference in it")

    def _drain(self, refused: list[FormatError]) -> None:
        for error in refused:
            complain(str(error))
        self.bad += len(refused)
        refused.clear()


_NO_TEXT = {b"%PDF": "a PDF", b"PK\x03\x04": "a zipped file, as .docx and .odt are", b"\xd0\xcf\x11\xe0": "an old .doc"}


def _check_text(path: Path) -> None:
    """Refuse what a person may well have at hand but nobody can read line by line."""
    with open(path, "rb") as stream:
        head = stream.read(4)
    if head in _NO_TEXT:
        raise FormatError(f"this is {_NO_TEXT[head]}, not text; save its references as text first", path=str(path))


def _reason(error: FormatError | OSError, path: Path) -> str:
    """Say what is wrong with a file."""
    return f"{path}: {error.strerror}" if isinstance(error, OSError) else in_options(str(error), "parse")


@dataclass(slots=True)
class Job:
    """What is parsed, and what becomes of it: `low` counts the records that are less sure than `least`."""

    parser: Parser
    inputs: Inputs
    k: int = 1
    least: float = 0.0
    review: Path | None = None
    explained: bool = False
    low: int = 0

    def write(self, output: Path, format: str, done: Callable[[int], None]) -> None:
        """Write the records that are sure enough; `done` hears now and then how many references were parsed."""
        with _opened(self.review) as review:
            pairs = self._sieved(self._pairs(done), review)
            if format == "table":
                from espalier.cli.shown_records import write_table

                write_table(pairs, output, self.parser, explained=self.explained)
                return
            chunks = _jsonl(pairs) if format == "jsonl" else FORMATS[format](record for _, record in pairs)
            write_chunks(sys.stdout.buffer if output == STANDARD else output, chunks, "utf-8")

    def _pairs(self, done: Callable[[int], None]) -> Iterator[Pair]:
        """Yield each reference with its record; those whose batch is not full yet wait."""
        waiting: deque[Reference] = deque()

        def texts() -> Iterator[str]:
            for reference in self.inputs.references():
                waiting.append(reference)
                yield reference.text

        for n, record in enumerate(self.parser.parse_many(texts(), k=self.k), 1):
            yield waiting.popleft(), record
            if n % _NEWS == 0:
                done(n)

    def _sieved(self, pairs: Iterable[Pair], review: IO[str] | None) -> Iterator[Pair]:
        """Yield the pairs that are sure enough; the others go to the review."""
        keys = Keys()
        for reference, record in pairs:
            if record.confidence * reference.confidence >= self.least:
                yield reference, record
                continue
            self.low += 1
            if review is not None:
                review.write(_line(reference, record, keys))


def _jsonl(pairs: Iterable[Pair]) -> Iterator[str]:
    keys = Keys()
    return (_line(reference, record, keys) for reference, record in pairs)


def _line(reference: Reference, record: Record, keys: Keys) -> str:
    """Return the line of JSON of a record, and in it the place of the reference and the other readings, if any."""
    (line,) = write_jsonl([record], keys=keys)
    place = asdict(reference)
    del place["text"]
    more: dict[str, Any] = {"source": place}
    if record.alternatives:
        names = ("fields", "confidence", "certificate", "violations")
        rows = [other.to_dict() for other in record.alternatives]
        more["alternatives"] = [{name: row[name] for name in names} for row in rows]
    return f"{line.rstrip()[:-1]}, {to_json(more)[1:]}\n"


@contextmanager
def _opened(path: Path | None) -> Iterator[IO[str] | None]:
    """Open a file that appears under its name only if all goes well."""
    if path is None:
        yield None
        return
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "w", encoding="utf-8") as stream:
            yield stream
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
