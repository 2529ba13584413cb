"""A batch of references: parsed, sieved and written in this process or in another.

Everything that a record costs is done there, so that several processes share it. One thing cannot be: a key must differ
from all keys before it. So an entry is written with a slot in the place of its key, a word that no reference holds
because it is drawn at random, and is cut at the slots; who puts the batches together fills them in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import uuid4

from espalier.citations.bibliographies import Entry
from espalier.citations.formats import FORMATS, Keys, stem_of
from espalier.citations.parser import Parser
from espalier.citations.record import Record

__all__ = ["BatchItem", "Order", "Pair", "Slotted", "Written", "filled", "put_together", "write_batch"]


class BatchItem(Protocol):
    """What is read: a reference to be parsed with its place, or an entry of a bibliography, which is finished."""

    @property
    def text(self) -> str:
        """The reference."""

    @property
    def file(self) -> str:
        """The name of its file."""

    @property
    def confidence(self) -> float | None:
        """How sure it is that this is one whole reference; None of an entry."""

    def place(self) -> dict[str, Any]:
        """Return where it stands in its file, as JSON values."""


Pair = tuple[BatchItem, Record | Entry]
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


def write_batch(parser: Parser, order: Order, references: Sequence[BatchItem]) -> Written:
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
    return 1.0 if item.confidence is None or record.confidence is None else record.confidence * item.confidence


def _slotted(format: str, pairs: Iterable[Pair], order: Order) -> list[Slotted]:
    """Return the entries of records."""
    row = FORMATS[format]
    options: dict[str, Any] = {"safe": not order.raw_cells} if "safe" in row.options else {}
    found = []
    for reference, record in pairs:
        if "source" in row.keeps:
            options["source"] = {"file": reference.file, **reference.place()}
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
