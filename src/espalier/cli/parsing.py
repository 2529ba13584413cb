"""From files of references to written records: reading on after what is bad, the sieve, processes, what was stopped."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from espalier.citations.formats import Keys
from espalier.citations.parser import Parser, bundled_file, bundled_parser
from espalier.cli.batches import Order, Written, filled, put_together, write_batch
from espalier.cli.console import STDOUT, Stopped, complain
from espalier.cli.files import STANDARD, opened
from espalier.cli.inputs import Inputs, Item, listed_files, place_of
from espalier.errors import InputError
from espalier.extract.extractor import BATCH
from espalier.text_files import blaming, write_chunks

if TYPE_CHECKING:
    from espalier.cli.resuming import Unfinished

__all__ = ["ParseJob", "open_parser"]

SHARED_BATCH = BATCH // 2
"""References that go to another process at a time: in the end all but one process wait for a last batch."""


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
