"""From files of references to written records: reading on after what is bad, the sieve, the formats.

A batch of references is parsed, sieved and written in this process or in another. Everything that a record costs is
done there, so that several processes share it. One thing cannot be: a key must differ from all keys before it. So an
entry is written with a slot in the place of its key, a word that no reference holds because it is drawn at random, and
is cut at the slots; who puts the batches together fills them in.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

from espalier.citations.bibliographies import Entry
from espalier.citations.formats import FORMATS, Keys, stem_of
from espalier.citations.parser import Parser, bundled_file, bundled_parser
from espalier.citations.record import Record
from espalier.cli.console import STDOUT, Stopped, complain
from espalier.cli.files import STANDARD, opened
from espalier.cli.inputs import Inputs, Item, listed_files, place_of, source_of
from espalier.errors import InputError
from espalier.extract.extractor import BATCH
from espalier.text_files import blaming, write_chunks

if TYPE_CHECKING:
    from espalier.cli.resuming import Unfinished

__all__ = [
    "Order",
    "Pair",
    "ParseJob",
    "Slotted",
    "Written",
    "filled",
    "open_parser",
    "put_together",
    "write_batch",
]

SHARED_BATCH = BATCH // 2
"""References that go to another process at a time: in the end all but one process wait for a last batch."""

Pair = tuple[Item, Record | Entry]
"""A reference with its place, and what was made of it; an entry of a bibliography is what it is."""


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


def write_batch(parser: Parser, order: Order, references: Sequence[Item]) -> Written:
    """Parse references and write the records that are sure enough, with slots for their keys."""
    texts = [reference.text for reference in references if not isinstance(reference, Entry)]
    records = parser.parse_many(texts, k=order.k, batch=max(len(texts), 1))
    pairs = [(item, item if isinstance(item, Entry) else next(records)) for item in references]
    sure = [pair for pair in pairs if _confidence(pair) >= order.least]
    unsure = [pair for pair in pairs if _confidence(pair) < order.least]
    review = _slotted("jsonl", unsure, order) if order.reviewed else []
    if order.format == "table":
        return Written(len(pairs), len(unsure), sure, review=review)
    return Written(len(pairs), len(unsure), [], _slotted(order.format, sure, order), review)


def _confidence(pair: Pair) -> float:
    """Return how sure a record is, and that it is one; what a bibliography says is not guessed."""
    item, record = pair
    return 1.0 if isinstance(item, Entry) or isinstance(record, Entry) else record.confidence * item.confidence


def _slotted(format: str, pairs: Iterable[Pair], order: Order) -> list[Slotted]:
    """Return the entries of records."""
    row = FORMATS[format]
    options: dict[str, Any] = {"safe": not order.raw_cells} if "safe" in row.options else {}
    found = []
    for reference, record in pairs:
        if "source" in row.keeps:
            options["source"] = source_of(reference)
        text = row.entry(record, order.slot if row.keyed else "", **options)
        found.append(
            Slotted(row.fit_key(stem_of(record)), tuple(text.split(order.slot)))
            if row.keyed
            else Slotted(None, (text,))
        )
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
    return bundled_parser() if model is None else Parser.from_file(model)


@dataclass(slots=True)
class ParseJob:
    """What is parsed, and what becomes of it: `low` counts the records that are less sure than `least`.

    parser : None where other processes parse, each with a parser of its own, and no table is drawn. raw_cells : leave
    cells of CSV as they are, formulas too? jobs : processes; the text does not depend on it.
    """

    parser: Parser | None
    inputs: Inputs
    k: int = 1
    least: float = 0.0
    review: Path | None = None
    raw_cells: bool = False
    explained: bool = False
    model: Path | None = None
    jobs: int = 1
    resume: bool = False
    low: int = 0

    def write(self, output: Path, format: str, done: Callable[[int], None]) -> None:
        """Write the records that are sure enough; `done` hears after every batch how many references were parsed."""
        order = Order(format, self.k, self.least, self.review is not None, self.raw_cells)
        kept = self._unfinished(output, order)
        before = kept.before() if kept is not None and self.resume else []
        if kept is not None and kept.path.exists() and not self.resume:
            complain(f"{kept.path} was left by a run that was stopped; begun anew (--resume would have gone on)")
        try:
            self._write(output, order, done, kept, before)
        except KeyboardInterrupt:
            if kept is None:
                raise
            kept.close(finished=False)
            nothing = f"stopped; nothing was finished yet, and {output} is as it was"
            several = f"stopped; references that are kept in {kept.path}: {kept.count}. To go on, add --resume"
            raise Stopped(several if kept.count else nothing) from None
        except BaseException:
            if kept is not None:
                kept.close(finished=False)
            raise
        if kept is not None:
            kept.close(finished=True)

    def _unfinished(self, output: Path, order: Order) -> Unfinished | None:
        """Return where finished batches are kept; None where the same input cannot be read again, or none is kept."""
        files = listed_files(self.inputs.files)
        if output == STANDARD or order.format == "table" or STANDARD in files:
            if self.resume:
                raise InputError("--resume goes on with an --output FILE that was made of files")
            return None
        from espalier.cli.resuming import Unfinished, asked_for

        model = bundled_file() if self.model is None else self.model
        return Unfinished(output, asked_for(files, model, order, self.inputs.layout, self.inputs.encoding))

    def _write(
        self,
        output: Path,
        order: Order,
        done: Callable[[int], None],
        kept: Unfinished | None,
        before: Sequence[Written],
    ) -> None:
        format = order.format
        with opened(self.review) as review:
            batches = self._batches(order, review, done, kept, before)
            if format == "table":
                from espalier.cli.show import write_table

                pairs = chain.from_iterable(batch.pairs for batch in batches)
                rows = ((place_of(reference), record, record.text) for reference, record in pairs)
                assert self.parser is not None
                write_table(rows, output, self.parser, explained=self.explained)
                return
            chunks = put_together(batches, format)
            write_chunks(sys.stdout.buffer if output == STANDARD else output, chunks, "utf-8")

    def _batches(
        self,
        order: Order,
        review: IO[bytes] | None,
        done: Callable[[int], None],
        kept: Unfinished | None,
        before: Sequence[Written],
    ) -> Iterator[Written]:
        """Yield what became of each batch of references; what is not sure enough goes to the review."""
        references, keys, count = self.inputs.references(), Keys(), 0
        for batch in before:  # they are read again, so that they are counted, and what is bad among them is named
            deque(islice(references, batch.count), maxlen=0)
        size = BATCH if self.jobs == 1 else SHARED_BATCH
        batches = self._worked(order, iter(lambda: list(islice(references, size)), []))
        for batch in batches if kept is None else kept.keep(batches, before):
            count += batch.count
            self.low += batch.low
            if review is not None:
                with blaming(STDOUT if self.review == STANDARD else str(self.review)):
                    review.writelines(filled(piece, keys).encode() for piece in batch.review)
            yield batch
            done(count)

    def _worked(self, order: Order, several: Iterator[list[Item]]) -> Iterator[Written]:
        """Return what becomes of each batch, worked on here or on as many processes as were asked for."""
        if self.jobs == 1:
            assert self.parser is not None
            return map(partial(write_batch, self.parser, order), several)
        from espalier.cli.job_rows import model_path, parser_of
        from espalier.cluster.labeller import LabellerSpec, with_labeller
        from espalier.cluster.processes import ordered_map

        spec = LabellerSpec.of(parser_of, model_path(self.model))
        return ordered_map(partial(with_labeller, spec, write_batch, order), several, jobs=self.jobs)
