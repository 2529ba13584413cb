"""Records written in batches are what they are in one go, whatever the writer: no record is lost on the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from espalier.citations.formats.keys import Keys
from espalier.citations.record import Field, Record
from espalier.citations.splitting import Reference
from espalier.cli import batches
from espalier.cli.batches import Order, put_together, write_batch
from espalier.errors import EspalierError

TITLES = ("Fig", "Plum", "Fig", "Quince", "Fig")


def keyless(records: Iterable[Record], *, keys: Keys | None = None) -> Iterator[str]:
    """Write titles alone: no record has a key in its text."""
    yield "<titles>"
    gap = ""
    for record in records:
        yield f"{gap}<title>{record.text}</title>"
        gap = "\n"
    yield "</titles>"


def bare(records: Iterable[Record], *, keys: Keys | None = None) -> Iterator[str]:
    """Write nothing but the records."""
    yield from (f"{record.text}\n" for record in records)


def rarely_keyed(records: Iterable[Record], *, keys: Keys | None = None) -> Iterator[str]:
    """Write keys of some records only."""
    keys = keys or Keys()
    yield from (f"{record.text} {keys(record.work) if record.text == 'Fig' else ''}\n" for record in records)


def forgetful(records: Iterable[Record], *, keys: Keys | None = None) -> Iterator[str]:
    """Ask for all keys, and write some of them only."""
    keys = keys or Keys()
    for record in records:
        key = keys(record.work)
        yield f"{record.text} {key if record.text == 'Fig' else ''}\n"


def hoarder(records: Iterable[Record], *, keys: Keys | None = None) -> Iterator[str]:
    """Break the contract: one piece for all records."""
    yield "".join(record.text for record in records)


def record_of(title: str) -> Record:
    return Record(title, (Field("title", title, 0, len(title), 1.0),), 0.2 if title == "Quince" else 0.9)


def parse_many(texts: Sequence[str], **_: Any) -> Iterator[Record]:
    return map(record_of, texts)


PARSER = cast("Any", SimpleNamespace(parse_many=parse_many))


def in_batches(format: str, titles: Sequence[str], size: int, least: float = 0.0) -> str:
    order = Order(format, least=least)
    cut = [[Reference(title) for title in titles[a : a + size]] for a in range(0, len(titles), size)]
    return "".join(put_together((write_batch(PARSER, order, batch) for batch in cut), format))


@pytest.mark.parametrize("writer", [keyless, bare, rarely_keyed, forgetful])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_no_record_is_lost_for_want_of_a_key(monkeypatch: pytest.MonkeyPatch, writer: Any, size: int) -> None:
    monkeypatch.setattr(batches, "FORMATS", {"new": writer})
    assert in_batches("new", TITLES, size) == "".join(writer(map(record_of, TITLES)))
    sure = [title for title in TITLES if title != "Quince"]
    assert in_batches("new", TITLES, size, least=0.5) == "".join(writer(map(record_of, sure)))
    assert in_batches("new", ["Quince"], size, least=0.5) == "".join(writer([]))


def test_a_writer_that_keeps_no_contract_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "FORMATS", {"new": hoarder})
    with pytest.raises(EspalierError, match="'new' must give one piece for each record"):
        in_batches("new", TITLES, 5)
