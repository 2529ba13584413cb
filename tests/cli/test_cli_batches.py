"""Records written in batches are what they are in one go, in whatever format: no record is lost on the way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from espalier.citations import batches
from espalier.citations.batches import Order, put_together, write_batch
from espalier.citations.formats import FORMATS, OutputFormat, write
from espalier.citations.record import Field, Record
from espalier.citations.splitting import Reference

TITLES = ("Fig", "Plum", "Fig", "Quince", "Fig")


def row(name: str, entry: Any, **rest: Any) -> OutputFormat:
    return OutputFormat(name=name, summary="", extensions=(), media_type="text/plain", entry=entry, **rest)


KEYLESS = row(
    "keyless",
    lambda record, key: f"<title>{record.text}</title>",
    head="<titles>",
    between="\n",
    tail="</titles>",
    keyed=False,
)
BARE = row("bare", lambda record, key: f"{record.text}\n", keyed=False)
FORGETFUL = row("forgetful", lambda record, key: f"{record.text} {key if record.text == 'Fig' else ''}\n")
TWICE = row("twice", lambda record, key: f"{key} {record.text} {key}", between="; ", empty="nothing")
NEW = {new.name: new for new in (KEYLESS, BARE, FORGETFUL, TWICE)}


def record_of(title: str) -> Record:
    return Record(title, (Field("title", title, 0, len(title), 1.0),), 0.2 if title == "Quince" else 0.9, None)


def parse_many(texts: Sequence[str], **_: Any) -> Iterator[Record]:
    return map(record_of, texts)


PARSER = cast("Any", SimpleNamespace(parse_many=parse_many))


def in_batches(format: str, titles: Sequence[str], size: int, least: float = 0.0) -> str:
    order = Order(format, least=least, raw_cells=True)
    cut = [[Reference(title) for title in titles[a : a + size]] for a in range(0, len(titles), size)]
    return "".join(put_together((write_batch(PARSER, order, batch) for batch in cut), format))


def at_once(format: OutputFormat, titles: Sequence[str]) -> str:
    options: Mapping[str, Any] = {"source": {"file": "", "line": 1, "offset": 0, "confidence": 1.0}}
    return "".join(write(map(record_of, titles), format, **(options if "source" in format.keeps else {})))


@pytest.mark.parametrize("name", [*NEW, *FORMATS])
@pytest.mark.parametrize("size", [1, 2, 5])
def test_batches_are_written_as_if_they_were_one(monkeypatch: pytest.MonkeyPatch, name: str, size: int) -> None:
    known = {**FORMATS, **NEW}
    monkeypatch.setattr(batches, "FORMATS", known)
    assert in_batches(name, TITLES, size) == at_once(known[name], TITLES)
    sure = [title for title in TITLES if title != "Quince"]
    assert in_batches(name, TITLES, size, least=0.5) == at_once(known[name], sure)
    assert in_batches(name, ["Quince"], size, least=0.5) == at_once(known[name], [])
    assert all(title in in_batches(name, TITLES, size) for title in TITLES)
