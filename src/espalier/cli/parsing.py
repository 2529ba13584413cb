"""From files of references to written records: reading on after what is bad, the sieve, the formats."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO

from espalier.citations.keys import Keys
from espalier.citations.parser import Parser
from espalier.citations.splitting import Reference, read_references
from espalier.cli.batches import Order, Written, filled, put_together, write_batch, write_elsewhere
from espalier.cli.console import STDOUT, complain
from espalier.cli.files import STANDARD
from espalier.cli.wording import in_options
from espalier.errors import FormatError, InputError
from espalier.extract.extractor import BATCH
from espalier.io.files import blaming, replacing, write_chunks
from espalier.loading import load

__all__ = ["Inputs", "Job", "open_parser"]


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
    _before: int = 0
    _open: IO[bytes] | None = None

    def share_of(self, done: int) -> float | None:
        """Return the share, 0 to 1, of all references that `done` of them are; None where that cannot be known."""
        if not self.read or not all(path.is_file() for path in self.files):
            return None
        size = sum(path.stat().st_size for path in self.files)
        here = 0 if self._open is None else self._open.tell()
        return (self._before + here) / size * done / self.read if size else None

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
        if path != STANDARD and path.is_file():
            _check_text(path)
        before = self.read + self.bad
        try:
            with nullcontext(sys.stdin.buffer) if path == STANDARD else open(os.fspath(path), "rb") as self._open:
                for reference in read_references(self._open, self.layout, encoding=self.encoding, refused=refused):
                    self._drain(refused)
                    self.read += 1
                    yield reference
        finally:
            self._open = None
            self._before += path.stat().st_size if path.is_file() else 0
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
    return f"{path}: {error.strerror}" if isinstance(error, OSError) else in_options(error, "parse")


@dataclass(slots=True)
class Job:
    """What is parsed, and what becomes of it: `low` counts the records that are less sure than `least`.

    raw_cells : leave cells of CSV as they are, formulas too? jobs : processes; the text does not depend on it.
    """

    parser: Parser
    inputs: Inputs
    k: int = 1
    least: float = 0.0
    review: Path | None = None
    raw_cells: bool = False
    explained: bool = False
    model: Path | None = None
    jobs: int = 1
    low: int = 0

    def write(self, output: Path, format: str, done: Callable[[int], None]) -> None:
        """Write the records that are sure enough; `done` hears after every batch how many references were parsed."""
        with _opened(self.review) as review:
            order = Order(format, self.k, self.least, review is not None, self.raw_cells)
            batches = self._batches(order, review, done)
            if format == "table":
                from espalier.cli.shown_records import write_table

                pairs = chain.from_iterable(batch.pairs for batch in batches)
                write_table(pairs, output, self.parser, explained=self.explained)
                return
            chunks = put_together(batches, format)
            write_chunks(sys.stdout.buffer if output == STANDARD else output, chunks, "utf-8")

    def _batches(self, order: Order, review: IO[bytes] | None, done: Callable[[int], None]) -> Iterator[Written]:
        """Yield what became of each batch of references; what is not sure enough goes to the review."""
        references, keys, count = self.inputs.references(), Keys(), 0
        for batch in self._worked(order, iter(lambda: list(islice(references, BATCH)), [])):
            count += batch.count
            self.low += batch.low
            if review is not None:
                with blaming(STDOUT if self.review == STANDARD else str(self.review)):
                    review.writelines(filled(piece, keys).encode() for piece in batch.review)
            yield batch
            done(count)

    def _worked(self, order: Order, several: Iterator[list[Reference]]) -> Iterator[Written]:
        """Return what becomes of each batch, worked on here or on as many processes as were asked for."""
        if self.jobs == 1:
            return map(partial(write_batch, self.parser, order), several)
        from espalier.cli.job_rows import model_path, parser_of
        from espalier.cluster.labeller import LabellerSpec
        from espalier.cluster.processes import ordered_map

        spec = LabellerSpec.of(parser_of, model_path(self.model))
        return ordered_map(partial(write_elsewhere, spec, order), several, jobs=self.jobs)


def _opened(path: Path | None) -> AbstractContextManager[IO[bytes] | None]:
    """Open what is written besides: a file that is replaced only if all goes well, or stdout, or nothing."""
    if path is None:
        return nullcontext()
    return nullcontext(sys.stdout.buffer) if path == STANDARD else replacing(path)
