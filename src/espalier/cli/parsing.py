"""From files of references to written records: reading on after what is bad, the sieve, the formats.

A batch of references is parsed, sieved and written in this process or in another. Everything that a record costs is
done there, so that several processes share it. One thing cannot be: a key must differ from all keys before it. So an
entry is written with a slot in the place of its key, a word that no reference holds because it is drawn at random, and
is cut at the slots; who puts the batches together fills them in.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

from espalier.citations.formats import FORMATS
from espalier.citations.output_text import Keys, stem
from espalier.citations.parser import Parser
from espalier.citations.record import Record
from espalier.citations.splitting import Reference, read_references
from espalier.cli.console import STDOUT, complain, in_options
from espalier.cli.files import STANDARD, opened
from espalier.errors import FormatError, InputError
from espalier.extract.extractor import BATCH
from espalier.io.files import blaming, write_chunks
from espalier.loading import load

if TYPE_CHECKING:
    from espalier.cluster.labeller import LabellerSpec

__all__ = [
    "Inputs",
    "Order",
    "Pair",
    "ParseJob",
    "Slotted",
    "Written",
    "filled",
    "open_parser",
    "put_together",
    "write_batch",
    "write_elsewhere",
]

Pair = tuple[Reference, Record]
"""A reference with its place, and what was made of it."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted of every batch.

    format : one of `FORMATS`, or "table" for the records themselves; k : readings; least : how sure a record must be;
    reviewed : are the others to be written too? raw_cells : of CSV, also those that a spreadsheet takes for formulas?
    slot : what stands for a key.
    """

    format: str
    k: int = 1
    least: float = 0.0
    reviewed: bool = False
    raw_cells: bool = False
    slot: str = field(default_factory=lambda: f"k{uuid4().hex}")


@dataclass(frozen=True, slots=True)
class Slotted:
    """The text of a record, cut wherever its key stands; the stem is None if the format has no keys."""

    stem: str | None
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a batch of `count` references, `low` of which were not sure enough.

    pairs : the records, of tables only; entries : those of the records that are sure enough; review : lines of the
    others.
    """

    count: int
    low: int
    pairs: list[Pair]
    entries: Sequence[Slotted] = ()
    review: Sequence[Slotted] = ()


def write_elsewhere(spec: LabellerSpec, order: Order, references: Sequence[Reference]) -> Written:
    """Do `write_batch` in a process that knows the parser by its description."""
    from espalier.cluster.labeller import labeller_of

    return write_batch(labeller_of(spec), order, references)


def write_batch(parser: Parser, order: Order, references: Sequence[Reference]) -> Written:
    """Parse references and write the records that are sure enough, with slots for their keys."""
    texts = [reference.text for reference in references]
    pairs = list(zip(references, parser.parse_many(texts, k=order.k, batch=len(texts)), strict=True))
    sure = [pair for pair in pairs if pair[1].confidence * pair[0].confidence >= order.least]
    unsure = [pair for pair in pairs if pair[1].confidence * pair[0].confidence < order.least]
    review = _slotted("jsonl", unsure, order) if order.reviewed else []
    if order.format == "table":
        return Written(len(pairs), len(unsure), sure, review=review)
    return Written(len(pairs), len(unsure), [], _slotted(order.format, sure, order), review)


def _slotted(format: str, pairs: Iterable[Pair], order: Order) -> list[Slotted]:
    """Return the entries of records."""
    row = FORMATS[format]
    options: dict[str, Any] = {"safe": not order.raw_cells} if "safe" in row.options else {}
    found = []
    for reference, record in pairs:
        if "source" in row.keeps:
            options["source"] = {name: value for name, value in asdict(reference).items() if name != "text"}
        text = row.entry(record, order.slot if row.keyed else "", **options)
        found.append(Slotted(stem(record.work), tuple(text.split(order.slot))) if row.keyed else Slotted(None, (text,)))
    return found


def filled(piece: Slotted, keys: Keys) -> str:
    """Return the piece with the next key for its stem."""
    return "".join(piece.parts) if piece.stem is None else keys.unique(piece.stem).join(piece.parts)


def put_together(batches: Iterable[Written], format: str) -> Iterator[str]:
    """Yield the text of all batches as if they had been one."""
    keys = Keys()
    return FORMATS[format].join(filled(entry, keys) for batch in batches for entry in batch.entries)


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
        raise FormatError(
            f"this is {_NO_TEXT[head]}, not text", path=str(path), hint="save its references as text first"
        )


def _reason(error: FormatError | OSError, path: Path) -> str:
    """Say what is wrong with a file."""
    return f"{path}: {error.strerror}" if isinstance(error, OSError) else in_options(error, "parse")


@dataclass(slots=True)
class ParseJob:
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
        with opened(self.review) as review:
            order = Order(format, self.k, self.least, review is not None, self.raw_cells)
            batches = self._batches(order, review, done)
            if format == "table":
                from espalier.cli.show import write_table

                pairs = chain.from_iterable(batch.pairs for batch in batches)
                rows = ((_place(reference), record, record.text) for reference, record in pairs)
                write_table(rows, output, self.parser, explained=self.explained)
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


def _place(reference: Reference) -> str:
    return f"{reference.file}:{reference.line}" if reference.file else f"line {reference.line}"
