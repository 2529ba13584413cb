"""A batch of references on its way to text: parsed, sieved and written, in this process or in another.

Everything that a record costs is done here, so that several processes share it. One thing cannot be: a key must differ
from all keys before it. So a batch is written with a slot in the place of every key, a word that no reference holds
because it is drawn at random, and is cut at the slots; who puts the batches together fills them in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from espalier.citations.formats import FORMATS
from espalier.citations.formats.keys import Keys, stem
from espalier.citations.formats.table import write_jsonl
from espalier.citations.formats.text import to_json
from espalier.citations.parser import Parser
from espalier.citations.record import Record
from espalier.citations.splitting import Reference
from espalier.citations.work import Work
from espalier.errors import EspalierError

if TYPE_CHECKING:
    from espalier.cluster.labeller import LabellerSpec

__all__ = ["Order", "Pair", "Slotted", "Written", "filled", "put_together", "write_batch", "write_elsewhere"]

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
    """The text of a record, cut wherever its key stands; the stem is None if the writer asked for no key."""

    stem: str | None
    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of a batch of `count` references, `low` of which were not sure enough.

    pairs : the records, of tables only; pieces : each record as it stands after another one; opening : the first one
    as it stands at the beginning; closing : what ends a file; review : lines of the records that were not sure enough.
    """

    count: int
    low: int
    pairs: list[Pair]
    opening: Slotted | None = None
    pieces: Sequence[Slotted] = ()
    closing: str = ""
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
    review = _slotted("jsonl", unsure, order)[1] if order.reviewed else []
    if order.format == "table":
        return Written(len(pairs), len(unsure), sure, review=review)
    # The first record twice: what it looks like at the beginning, and what after another one.
    opening, pieces, closing = _slotted(order.format, [*sure[:1], *sure], order)
    first = Slotted(pieces[0].stem, (opening + pieces[0].parts[0], *pieces[0].parts[1:])) if pieces else None
    return Written(len(pairs), len(unsure), [], first, pieces[1:], closing, review)


def _slotted(format: str, pairs: Sequence[Pair], order: Order) -> tuple[str, list[Slotted], str]:
    """Write records; return what stands before the first, a piece for each, and what stands after the last.

    Which piece is which record's does not depend on its text: a writer takes a record and then yields its piece.
    """
    keys = _Slots(order.slot)
    taken, ended = 0, False

    def watched() -> Iterator[Pair]:
        nonlocal taken, ended
        for taken, pair in enumerate(pairs, 1):  # noqa: B007 - the writer's pieces are counted by it
            yield pair
        ended = True

    found: list[Slotted] = []
    before = after = ""
    for piece in _writer(format, watched(), keys, order.raw_cells):
        if ended:
            after += piece
        elif not taken:
            before += piece
        else:
            found.append(Slotted(keys.last, tuple(piece.split(order.slot))))
            keys.last = None
            if len(found) != taken:
                break
    if len(found) != len(pairs):
        counts = f"{len(pairs)} records, {len(found)} pieces"
        raise EspalierError(f"the writer of {format!r} must give one piece for each record; it has {counts}")
    return before, found, after


class _Slots(Keys):
    """Gives every work the same slot, and remembers the stem of the last key asked for."""

    def __init__(self, slot: str) -> None:
        super().__init__()
        self._slot = slot
        self.last: str | None = None

    def __call__(self, work: Work) -> str:
        self.last = stem(work)
        return self._slot


def _writer(format: str, pairs: Iterable[Pair], keys: Keys, raw_cells: bool = False) -> Iterator[str]:
    if format == "jsonl":
        return (_line(reference, record, keys) for reference, record in pairs)
    options = {"safe": not raw_cells} if format == "csv" else {}
    return FORMATS[format]((record for _, record in pairs), keys=keys, **options)


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


def filled(piece: Slotted, keys: Keys) -> str:
    """Return the piece with the next key for its stem."""
    return "".join(piece.parts) if piece.stem is None else keys.unique(piece.stem).join(piece.parts)


def put_together(batches: Iterable[Written], format: str) -> Iterator[str]:
    """Yield the text of all batches as if they had been one."""
    keys, closing, begun = Keys(), "", False
    for batch in batches:
        for number, piece in enumerate(batch.pieces):
            yield filled(batch.opening if batch.opening and not begun and not number else piece, keys)
            begun, closing = True, batch.closing
    yield from [closing] if begun else _writer(format, [], keys)
