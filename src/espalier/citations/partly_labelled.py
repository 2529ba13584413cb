"""Training references of which the labels are known in part: LinkedBooks, and strings with some of their fields beside.

What nobody knows is left open: `Document.unknown`, and -1 in a `Corpus`; a model then learns from what is known alone.

LinkedBooks has footnotes of books on Venice, word by word, with labels of its own. One of them, `title`, stands for the
work and for what holds it: its place among the others tells them apart, and the scheme `linkedbooks` does the rest.
Half of the references are put together again as they were printed; the others keep a blank between all tokens, as
machines read them. Crossref's strings come with values that their publisher gave (first author, year, journal, volume,
first page): a value that is found once in the string labels its words there, and no other word. Publishers' own
references come with all their values, each of which stands in the string (`aligned`). EXCITE has labels of its own, and
annotators who differ about what is outside all fields: that is open.
"""

from __future__ import annotations

import gzip
import hashlib
import itertools
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from espalier.citations.aligned import aligned
from espalier.citations.schemes import OTHER, Scheme, load_scheme
from espalier.citations.seen import document_seen
from espalier.citations.training import key_of
from espalier.document import Document, Span
from espalier.errors import InputError

__all__ = [
    "PARTLY_LABELLED",
    "from_excite",
    "from_linkedbooks",
    "from_publisher",
    "label_deposited",
    "last_fifth",
    "printed",
    "read_deposited",
    "read_excite",
    "read_linkedbooks",
    "read_partly_labelled",
    "read_publishers",
]

LINKEDBOOKS = "linkedbooks/normalised/train.jsonl.gz"
DEPOSITED = "crossref_real/normalised/all.jsonl"
PUBLISHERS = "publishers/train.jsonl.gz"
EXCITE = ("excite/de.jsonl.gz", "excite/en.jsonl.gz")

_LABELS_OF_NOBODY = frozenset({"conjunction"})
_PART = "meta-annotation"  # their word for a part of something: an article, a chapter
_NO_BLANK_BEFORE = re.compile(r"[,.;:!?)\]}»”…%’']")
_NO_BLANK_AFTER = re.compile(r".*[(\[{«“‘„’'/]")
_STRAIGHT = '"'


def read_linkedbooks(directory: Path) -> Iterator[Document]:
    """Yield the references of LinkedBooks' training part, under our labels, in the order of the file."""
    scheme = load_scheme("linkedbooks")
    for row in _rows(directory / LINKEDBOOKS):
        yield from_linkedbooks(row, scheme)


def from_linkedbooks(row: Mapping[str, Any], scheme: Scheme) -> Document:
    """Return a reference of LinkedBooks under our labels; stretches that they leave unclear are unknown."""
    spaced = Document.from_tokens(row["tokens"])
    text, offsets = spaced.text, list(spaced.tokens)
    if len(key_of(spaced)) % 2:
        text, offsets = printed(row["tokens"], row.get("breaks", ()))
    fields = [(label, offsets[a][0], offsets[b - 1][1]) for label, a, b in _titled(row)]
    spans = [Span(a, b, label) for label, a, b in fields if a < b]
    return _opened(scheme.convert(Document.from_text(text, spans, id=row["id"])))


def printed(words: Sequence[str], breaks: Iterable[int] = ()) -> tuple[str, list[tuple[int, int]]]:
    """Put tokens together as they were printed; return the text, and where each token is in it.

    A hyphen that ends a line is dropped with the break; `breaks` has the tokens that begin a line.
    """
    lines, text, offsets, quoted = frozenset(breaks), "", list[tuple[int, int]](), False
    glued = True
    for k, word in enumerate(words):
        closing = quoted if word[0] == _STRAIGHT else bool(_NO_BLANK_BEFORE.match(word))
        between = word in "-–—/" and _digits(words[k - 1 : k]) and _digits(words[k + 1 : k + 2])
        if k in lines and text.endswith(" -") and words[k][0].islower():
            text, glued = text[:-2], True
            offsets[-1] = len(text), len(text)  # the hyphen is gone
        text += "" if glued or closing or between else " "
        offsets.append((len(text), len(text) + len(word)))
        text += word
        quoted ^= word.count(_STRAIGHT) % 2 == 1
        opens = quoted if word[-1] == _STRAIGHT else bool(_NO_BLANK_AFTER.fullmatch(word))
        glued = opens or bool(between)
    return text, offsets


def _digits(words: Sequence[str]) -> bool:
    """Is there a word, and is it a number?"""
    return bool(words) and words[0].isdigit()


def _titled(row: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield label, first token and end of every field; titles of parts are told from those of what holds them."""
    fields: list[tuple[str, int, int]] = []
    for k, tag in enumerate(row["bio"]):
        label = tag[2:]
        if tag.startswith("I-") and fields and fields[-1][0] == label and fields[-1][2] == k:
            fields[-1] = label, fields[-1][1], k + 1
        elif label:
            fields.append((label, k, k + 1))
    met = 0
    for label, a, b in fields:
        if label == "title":
            held = re.match(r"(?i)(?:in|nell?[aoi]?|dans)$", row["tokens"][a - 1]) if a else None
            held = held or (
                re.match(r"(?i)in$", row["tokens"][a - 2]) if a > 1 and row["tokens"][a - 1] == ":" else None
            )
            if row["kind"] == _PART:
                label = "host-title" if met or held else "part-title"
            met += 1
        if label not in _LABELS_OF_NOBODY:
            yield label, a, b


def _opened(document: Document) -> Document:
    """Return a document in which what has the label `other` is unknown."""
    spans = document.spans or ()
    unknown = tuple((span.start, span.end) for span in spans if span.label == OTHER)
    return replace(document, spans=tuple(span for span in spans if span.label != OTHER), unknown=unknown)


def read_deposited(directory: Path) -> Iterator[Document]:
    """Yield Crossref's strings that come with values, labelled where one is found; the others teach nothing."""
    for row in _rows(directory / DEPOSITED):
        if row.get("metadata"):
            document = label_deposited(row["text"], row["metadata"], id=row["id"])
            if document.spans:
                yield document


def label_deposited(text: str, values: Mapping[str, Any], id: str = "") -> Document:
    """Return a string whose words are labelled where one of the values is found, and unknown elsewhere.

    A value that is found twice, or that another one overlaps, labels nothing.
    """
    document = Document.from_text(text, id=id)
    words = document.words
    tags: list[str | None] = [None] * len(words)
    for label, a, b in _found(words, values):
        if all(tag is None for tag in tags[a:b]):
            tags[a:b] = [f"B-{label}", *[f"I-{label}"] * (b - a - 1)]
    return document.with_tags(tags)


def _found(words: Sequence[str], values: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield label, first token and end of the values that are found, the longest first."""
    for label in ("title", "container-title", "collection-title"):
        if values.get("type") == "book" and label == "title" and "container-title" not in values:
            continue  # publishers call the title of the proceedings so, too
        yield from _once(words, label, str(values.get(label, "")), announced=r"in")
    yield from _first_author(words, values)
    for parts in values.get("issued", {}).get("date-parts", ())[:1]:
        yield from _once(words, "date", str(parts[0]), suffix="[a-z]?")
    yield from _once(words, "volume", str(values.get("volume", "")), announced=r"vol(?:ume)?|v|bd|t", alone=True)
    yield from _pages(words, str(values.get("page-first", "")))


def _once(
    words: Sequence[str], label: str, value: str, announced: str = "", suffix: str = "", alone: bool = False
) -> Iterator[tuple[str, int, int]]:
    """Yield where the words of a value stand one behind the other, if that is once; cue words before belong to it.

    announced, suffix : patterns of cue words, and of what may be behind the value in the same token.
    alone : a word before it can be no part of it. Else it can (a month, the name of a section), and nothing is known.
    """
    wanted = Document.from_text(value).words
    if not wanted:
        return
    folded = [word.casefold() for word in words]
    last = re.compile(re.escape(wanted[-1].casefold()) + suffix)
    inner = [word.casefold() for word in wanted[:-1]]
    n = len(wanted)
    places = [
        k for k in range(len(words) - n + 1) if folded[k : k + n - 1] == inner and last.fullmatch(folded[k + n - 1])
    ]
    if len(places) == 1:
        start = _with_cue(words, places[0], announced)
        if alone or start < places[0] or not start or not words[start - 1][0].isalnum():
            yield label, start, places[0] + n


def _with_cue(words: Sequence[str], start: int, announced: str) -> int:
    """Return where a field begins whose value begins at a token: at a cue word, or at a mark that opens."""
    if start and words[start - 1] in ("(", "[", "“", "«", '"', "‘", "„"):
        return start - 1
    cue = start - (1 if start and words[start - 1] in ".:" else 0)
    return cue - 1 if announced and cue and re.fullmatch(announced, words[cue - 1], re.IGNORECASE) else start


def _first_author(words: Sequence[str], values: Mapping[str, Any]) -> Iterator[tuple[str, int, int]]:
    """Yield the name of the first author where the string begins with it."""
    for name in values.get("author", ())[:1]:
        parts = [word.casefold() for word in re.findall(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*", str(name.get("literal", "")))]
        end = 0
        while end < len(words) and (words[end].casefold() in parts or (end and words[end] in ".,-")):
            end += 1
        while end and words[end - 1] in ".,-":
            end -= 1
        if any(len(word) > 2 and word.casefold() in parts for word in words[:end]):
            yield "author", 0, end


def _pages(words: Sequence[str], first: str) -> Iterator[tuple[str, int, int]]:
    """Yield the pages that begin with a first page, a range with its end."""
    for label, a, b in _once(words, "pages", first, announced=r"pp?|pages?|s", suffix=r"(?:-\w+)?", alone=True):
        ranged = words[b : b + 1] and words[b] in "-–—" and words[b + 1 : b + 2] and words[b + 1].isalnum()
        yield label, a, b + 2 if ranged else b


def read_publishers(directory: Path) -> Iterator[Document]:
    """Yield the references whose publishers said what is in them, under our labels."""
    scheme = load_scheme("publishers")
    for row in _rows(directory / PUBLISHERS):
        yield from_publisher(row, scheme)


def from_publisher(row: Mapping[str, Any], scheme: Scheme) -> Document:
    """Return a reference with its publisher's values, each where it stands; what is between them may be unknown."""
    spans = aligned(row["text"], row["fields"], row["type"])
    return _opened(scheme.convert(Document.from_text(row["text"], spans, id=row["id"])))


def read_excite(directory: Path) -> Iterator[Document]:
    """Yield the references of EXCITE, German and English, but those of the last fifth of its papers.

    Its annotators call a place `other`. What stands before a publisher in one of the references is a place in all.
    """
    scheme = load_scheme("excite")
    rows = [row for file in EXCITE for row in _rows(directory / file) if not last_fifth(row["paper"])]
    places = {place for row in rows for place in _places(row)}
    for row in rows:
        yield from_excite(row, scheme, places)


def last_fifth(paper: str) -> bool:
    """Is this paper of those that teach nothing? Its name decides, by a hash that never changes."""
    return int.from_bytes(hashlib.sha256(paper.encode()).digest()[:4], "big") % 5 == 0


def from_excite(row: Mapping[str, Any], scheme: Scheme, places: Collection[str] = ()) -> Document:
    """Return a reference of EXCITE under our labels; what its annotators leave outside, or call `other`, is unknown."""
    text = str(row["text"])
    spans = [
        replace(span, label="place") if span.label == "other" and _bare(text, span) in places else span
        for span in _spans(row)
    ]
    return _opened(scheme.convert(Document.from_text(text, spans, id=row["id"])))


def _spans(row: Mapping[str, Any]) -> list[Span]:
    """Return the fields of a reference whose tokens stand in its text in their order."""
    text, end = str(row["text"]), 0
    found: list[Span] = []
    for token, tag in zip(row["tokens"], row["bio"], strict=True):
        start = text.index(token, end)
        end = start + len(token)
        if tag.startswith("I-") and found and found[-1].label == tag[2:]:
            found[-1] = replace(found[-1], end=end)
        elif tag != "O":
            found.append(Span(start, end, tag[2:]))
    return found


def _places(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield what stands before a publisher and is not one of the fields."""
    spans, text = _spans(row), str(row["text"])
    for span, after in itertools.pairwise(spans):
        word = _bare(text, span)
        if span.label == "other" and after.label == "publisher" and word and not re.search(r"\d", word):
            yield word


def _bare(text: str, span: Span) -> str:
    return text[span.start : span.end].strip(" ,;:.–-")


PARTLY_LABELLED: Mapping[str, Callable[[Path], Iterator[Document]]] = {
    "linkedbooks": read_linkedbooks,
    "deposited": read_deposited,
    "publishers": read_publishers,
    "excite": read_excite,
}
"""The sets, by name, and what reads them from the data directory."""


def read_partly_labelled(
    directory: str | os.PathLike[str], weights: Mapping[str, float], exclude: Collection[str] = ()
) -> Iterator[tuple[Document, float]]:
    """Yield references, and what each counts in training, without copies and excluded keys.

    weights : of each set, by its name; a set without one, or with 0, is not read.
    """
    seen = {"", *exclude}
    for name, reader in PARTLY_LABELLED.items():
        if weights.get(name, 0.0) > 0:
            for document in reader(Path(directory)):
                key = key_of(document)
                if key not in seen:
                    seen.add(key)
                    yield document_seen(document), weights[name]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON Lines, packed or not."""
    if not path.exists():
        raise InputError(f"there is no {path.name} in {str(path.parent)!r}", hint="give the set a weight of 0")
    data = path.read_bytes()
    text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
    yield from map(json.loads, text.splitlines())
