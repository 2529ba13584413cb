"""References on their way to written records: parsed in batches, here or elsewhere, sieved, kept until all are done."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import IO

from espalier.citations.batches import BatchItem, Order, Written, filled, write_batch
from espalier.citations.formats import Keys
from espalier.citations.parser import Parser
from espalier.citations.unfinished import Unfinished
from espalier.extract.extractor import BATCH
from espalier.text_files import blaming

__all__ = ["SHARED_BATCH", "ParseJob"]

SHARED_BATCH = BATCH // 2
"""References that go to another process at a time: in the end all but one process wait for a last batch."""

Work = Callable[[Iterator[list[BatchItem]]], Iterable[Written]]


@dataclass(slots=True)
class ParseJob:
    """What becomes of references: `low` counts the records that are less sure than is asked for.

    work : makes of lists of references what is written of each, in order; size : references in a list. review : a file
    for records that are not sure enough, and what messages call it.
    """

    order: Order
    work: Work
    size: int
    review: IO[bytes] | None = None
    review_name: str = ""
    low: int = 0

    @classmethod
    def here(cls, parser: Parser, order: Order, review: IO[bytes] | None = None, review_name: str = "") -> ParseJob:
        """Return the job whose batches are worked on in this process."""
        return cls(order, partial(map, partial(write_batch, parser, order)), BATCH, review, review_name)

    def batches(
        self,
        references: Iterator[BatchItem],
        done: Callable[[int], None],
        kept: Unfinished | None = None,
        before: Sequence[Written] = (),
    ) -> Iterator[Written]:
        """Yield what became of each batch; what is not sure enough goes to the review.

        done : hears after every batch how many references were parsed; kept : where finished batches are kept;
        before : those of a run that was stopped, whose references come again.
        """
        keys, count = Keys(), 0
        for batch in before:  # they are read again, so that they are counted, and what is bad among them is named
            deque(islice(references, batch.count), maxlen=0)
        batches = iter(self.work(iter(lambda: list(islice(references, self.size)), [])))
        for batch in batches if kept is None else kept.keep(batches, before):
            count += batch.count
            self.low += batch.low
            if self.review is not None:
                with blaming(self.review_name):
                    self.review.writelines(filled(piece, keys).encode() for piece in batch.review)
            yield batch
            done(count)
