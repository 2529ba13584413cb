"""Documents for the format tests: a few by hand, and a Hypothesis strategy for the rest."""

from __future__ import annotations

import io
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from espalier.document import Document, Span, tokenise
from espalier.io import read, write

LAW = settings(deadline=None, derandomize=True, max_examples=50)

# Letters, markup signs, every kind of blank, combining marks, right-to-left, astral, and odd line separators.
ALPHABET = "abO.,<>&;#/-'\"\\ \t\n\r\u00a0\u2028\x85\u0301é\u05d0\u0627\u200f𝔘😀\ufeff"
NAMES = ("author", "title", "person-last", "x.y", "é")


@st.composite
def documents(
    draw: st.DrawFn,
    *,
    nested: bool = True,
    aligned: bool = False,
    unknown: bool = True,
    unlabelled: bool = True,
    default_tokens: bool = False,
    alphabet: str = ALPHABET,
) -> Document:
    """Draw a document: nested spans with path labels, tokens anywhere but on whitespace, unknown stretches."""
    text = draw(st.text(alphabet, min_size=1, max_size=24))
    tokens = tokenise(text) if default_tokens else draw(token_offsets(text))
    if unlabelled and draw(st.booleans()):
        return Document(text, tokens, id=draw(ids))
    borders = st.integers(0, len(text))
    intervals = draw(st.lists(st.tuples(borders, borders), max_size=5))
    if aligned:
        pairs = [sorted(draw(st.tuples(*[st.integers(0, len(tokens) - 1)] * 2))) for _ in intervals if tokens]
        intervals = [(tokens[i][0], tokens[j][1]) for i, j in pairs]
    spans: list[Span] = []
    for a, b in sorted({tuple(sorted(pair)) for pair in intervals}, key=lambda p: (p[0], -p[1])):
        around = [s for s in spans if s.start < b and a < s.end]
        if a == b or any(b > s.end for s in around) or (around and not nested):
            continue
        name = draw(st.sampled_from(NAMES))
        spans.append(Span(a, b, f"{around[-1].label}/{name}" if around else name))
    blanks: tuple[tuple[int, int], ...] = ()
    if unknown:
        covered = {i for s in spans for i in range(s.start, s.end)}
        blanks = tuple(pair for pair in tokens if not covered & set(range(*pair)) and draw(st.booleans()))
    return Document(text, tokens, tuple(spans), blanks, draw(ids))


ids = st.sampled_from(["", "7", "set/train/0", "a-1", 'odd "id" & <more>'])


@st.composite
def token_offsets(draw: st.DrawFn, text: str) -> tuple[tuple[int, int], ...]:
    """Draw tokens: some of the runs without whitespace, some of them cut in two."""
    offsets = []
    start = 0
    for i in range(len(text) + 1):
        if i < len(text) and not text[i].isspace() and draw(st.integers(0, 4)):
            continue
        if start < i and draw(st.integers(0, 9)):
            offsets.append((start, i))
        start = i if i < len(text) and not text[i].isspace() else i + 1
    return tuple(offsets)


REFERENCE = Document.from_text(
    "[1] Ada Yor, On 𝔘-sets. 1998.",
    [
        Span(0, 3, "ref-marker"),
        Span(4, 12, "authors"),
        Span(4, 11, "authors/person"),
        Span(4, 7, "authors/person/first"),
        Span(8, 11, "authors/person/last"),
        Span(13, 23, "title"),
        Span(24, 29, "date"),
    ],
    id="ref/1",
)
FLAT = Document.from_text("Ada Yor. On sets, 1998.", [Span(0, 8, "author"), Span(9, 16, "title"), Span(18, 22, "date")])


def through(documents: list[Document], format: str, **options: Any) -> list[Document]:
    """Write and read back; `reading` holds options of the reader only."""
    reading = options.pop("reading", {})
    target = io.BytesIO()
    write(documents, target, format, **options)
    target.seek(0)
    return read(target, format, **reading)


def read_text(text: str, format: str | None = None, **options: Any) -> list[Document]:
    """Read documents from a string."""
    return read(io.BytesIO(text.encode()), format, **options)


def written(documents: list[Document], format: str, **options: Any) -> str:
    """Write documents to a string."""
    target = io.StringIO(newline="")
    write(documents, target, format, **options)
    return target.getvalue()
