"""Every reader is linear: twice the input takes at most three times as long, whatever the string that is repeated."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from contextlib import suppress

import pytest
from corpus import FORMS, UNITS, repeated

from espalier.citations.bibliographies import BIBLIOGRAPHIES, read_entries, recognise
from espalier.citations.splitting import LAYOUTS, split_references
from espalier.documents.reading.html import read_html
from espalier.documents.reading.latex import read_latex
from espalier.documents.reading.plain import read_plain
from espalier.errors import EspalierError
from espalier.io import FORMATS, read
from espalier.io.tex import plain_text, without_comments

SMALL, LARGE = 1 << 15, 1 << 18
"""Bytes for readers that make an object of every word, and for the others."""
QUICK = 0.15
"""Seconds that are too short to be compared."""


def records(format: str) -> Callable[[bytes], object]:
    return lambda data: read(io.BytesIO(data), format, problems=[], refused=[])


READERS: Mapping[str, tuple[str, Callable[[bytes], object]]] = {
    "jsonl": ("jsonl", records("jsonl")),
    "doccano": ("jsonl", records("doccano")),
    "prodigy": ("jsonl", records("prodigy")),
    "label_studio": ("label_studio", records("label_studio")),
    "conll": ("conll", records("conll")),
    "inline": ("inline", records("inline")),
    "inline, XML": ("xml", records("inline")),
    "hierarchical": ("inline", records("hierarchical")),
    "tei": ("tei", records("tei")),
    "plain": ("text", records("plain")),
    **{
        form: (form, lambda data: list(read_entries(data.decode(), "file", [])))
        for form in ("bibtex", "bibtex names", "ris", "nbib", "refer", "csl", "endnote", "mods")
    },
    **{
        f"split into {layout}": (
            "text",
            lambda data, layout=layout: split_references(data.decode(), layout, refused=[]),
        )
        for layout in LAYOUTS
    },
    "html": ("html", read_html),
    "latex": ("latex", read_latex),
    "latex list": ("latex list", read_latex),
    "text": ("text", read_plain),
    "tex": ("text", lambda data: plain_text(without_comments(data.decode()))),
    "recognise": ("text", lambda data: recognise(data.decode())),
}


def test_every_reader_is_here() -> None:
    assert set(FORMATS) <= set(READERS)
    assert {row.name for row in BIBLIOGRAPHIES if not row.refused} <= set(READERS) | {"json"}
    assert {form for form, _ in READERS.values()} <= set(FORMS)


def seconds(reader: Callable[[bytes], object], data: bytes) -> float:
    start = time.process_time()
    with suppress(EspalierError):
        reader(data)
    return time.process_time() - start


@pytest.mark.parametrize("name", READERS)
def test_twice_the_input(name: str) -> None:
    form, reader = READERS[name]
    seconds(reader, repeated(form, "a", 10))  # what is imported and compiled once
    size = SMALL if name in FORMATS or form in ("text", "xml") else LARGE
    for unit in UNITS:
        if seconds(reader, repeated(form, unit, size)) < QUICK:
            continue
        once, twice = (min(seconds(reader, repeated(form, unit, n)) for _ in range(2)) for n in (size, 2 * size))
        assert twice < 3 * max(once, QUICK), f"{unit!r}: {once:.2f} and {twice:.2f} seconds"


@pytest.mark.parametrize(
    "unit", ["<a ", '<a b="', "<a b='", "<!--", "</", "<?a", "<![", "<![CDATA[", "<a b=c ", '<a b=">" ']
)
def test_a_megabyte_of_html(unit: str) -> None:
    assert seconds(read_html, repeated("html", unit, 1 << 20)) < 5.0
