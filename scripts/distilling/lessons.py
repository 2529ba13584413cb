"""What nets learn from, as arrays: references, some of them drawn anew in several versions.

A rendered reference comes clean, and is spoilt differently in each version; of an annotated one there are versions with
other rare words. So a long course never meets the same rendered reference often.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from render_references import EXCHANGED, row
from rendering.exchange import Exchange
from rendering.noise import spoil

from espalier.citations.seen import document_seen
from espalier.corpus import Corpus, Labels
from espalier.document import Document, Span
from espalier.features.hashed import spaces_before

__all__ = ["KINDS", "Lessons", "as_document", "as_row", "draw", "read_rows", "write_rows"]

KINDS = ("annotated", "partly", "rendered", "raw")
"""Annotated in full, in part, rendered without noise, and without labels."""

ORIGINAL = -1
"""The version of a reference that is as it was."""

PIECE = 4000
"""References that a process takes at a time."""

Row = dict[str, Any]


@dataclass(eq=False)
class Lessons:
    """References as arrays.

    words : all words; word : int32[M], that of each token; space : uint8[M]; y : int16[M], -1 for unknown labels;
    indptr : int64[N + 1]; weight : float32[N]; kind : int8[N], a place in `KINDS`; version : int8[N].
    """

    words: list[str]
    word: NDArray[np.int32]
    space: NDArray[np.uint8]
    y: NDArray[np.int16]
    indptr: NDArray[np.int64]
    weight: NDArray[np.float32]
    kind: NDArray[np.int8]
    version: NDArray[np.int8]

    def __len__(self) -> int:
        """Return N."""
        return len(self.indptr) - 1

    def epoch(self, number: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return the references of an epoch: annotated ones twice and twice with other words, those in part twice.

        Rendered ones come once, in the version whose turn it is, and so do those without labels.
        """
        known = self.kind < KINDS.index("rendered")
        last = {kind: int(self.version[self.kind == kind].max(initial=0)) + 1 for kind in set(self.kind.tolist())}
        turns = np.array([[(2 * number + j) % last.get(kind, 1) for kind in range(len(KINDS))] for j in (0, 1)])
        again = known & (self.version == ORIGINAL)
        others = known & (self.version >= 0) & (self.version == turns[:, self.kind]).any(axis=0)
        once = ~known & (self.version == number % np.array([last.get(k, 1) for k in range(len(KINDS))])[self.kind])
        chosen = [np.flatnonzero(each) for each in (again, again, others, once)]
        found: NDArray[np.int64] = rng.permutation(np.concatenate(chosen))
        return found


def as_row(document: Document, kind: str, weight: float, language: str) -> Row:
    """Return a reference as a line of a file."""
    spans = None if document.spans is None else [[span.start, span.end, span.label] for span in document.spans]
    found = {"text": document.text, "spans": spans, "kind": kind, "weight": weight, "language": language}
    if document.tokens != Document.from_text(document.text).tokens:
        found["tokens"] = [list(token) for token in document.tokens]
    if document.unknown:
        found["unknown"] = [list(stretch) for stretch in document.unknown]
    return found


def as_document(row: Mapping[str, Any]) -> Document:
    """Return the reference of a line."""
    spans = None if row["spans"] is None else tuple(Span(a, b, label) for a, b, label in row["spans"])
    document = Document.from_text(row["text"], spans)
    if "tokens" in row:
        document = replace(document, tokens=tuple((a, b) for a, b in row["tokens"]))
    return replace(document, unknown=tuple((a, b) for a, b in row.get("unknown", ())))


def write_rows(path: Path, rows: Iterable[Row]) -> int:
    """Write lines; return how many."""
    with lzma.open(path, "wt", encoding="utf-8", preset=6) as file:
        return sum(1 for one in rows if file.write(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n"))


def read_rows(path: Path) -> Iterator[Row]:
    """Yield the lines of a file."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


_exchange: Exchange
_labels: Labels


def _prepare(rows: Sequence[Row], labels: Sequence[str]) -> None:
    """Learn in a process which words may be exchanged for which."""
    global _exchange, _labels
    _exchange = Exchange((as_document(one), one["language"]) for one in rows)
    _labels = Labels(labels)


def draw(
    rows: Sequence[Row], labels: Sequence[str], versions: Mapping[str, int], processes: int, seed: int = 0
) -> Lessons:
    """Return references as arrays: as they are, and in so many versions of their kind."""
    known = [one for one in rows if one["kind"] == "annotated"] + [one for one in rows if one["kind"] == "rendered"][
        ::4
    ]
    asked: list[tuple[int, int]] = [
        (k, ORIGINAL) for k, one in enumerate(rows) if one["kind"] in ("annotated", "partly")
    ]
    asked += [(k, 0) for k, one in enumerate(rows) if one["kind"] == "raw"]
    asked += [(k, v) for k, one in enumerate(rows) for v in range(versions.get(one["kind"], 0))]
    pieces = [asked[k : k + PIECE] for k in range(0, len(asked), PIECE)]
    works = [([rows[k] for k, _ in piece], [v for _, v in piece], seed + j) for j, piece in enumerate(pieces)]
    with ProcessPoolExecutor(processes, initializer=_prepare, initargs=(known, labels)) as pool:
        return _joined(list(pool.map(_drawn, *zip(*works, strict=True))), rows, asked)


def _drawn(rows: Sequence[Row], versions: Sequence[int], seed: int) -> tuple[Any, ...]:
    """Return words, places, spaces, labels and lengths of a piece."""
    random = Random(seed)
    documents = [_version(one, version, random) for one, version in zip(rows, versions, strict=True)]
    corpus = Corpus.from_documents(documents, vocabulary=_labels)
    y = np.full(corpus.n_tokens, -1, np.int16) if corpus.y is None else corpus.y
    return list(corpus.types), corpus.token_ids, spaces_before(corpus), y, corpus.lengths


def _version(one: Row, version: int, random: Random) -> Document:
    """Return a reference in a version, as the model sees it."""
    document = as_document(one)
    if one["kind"] == "annotated" and version != ORIGINAL and "tokens" not in one:
        return _exchange(document, random)
    if one["kind"] != "rendered":
        return document
    if random.random() < EXCHANGED["train"]:
        document = _exchange(document, random)
    document, _ = spoil(document, random)
    spoilt = row(document, {})
    return document_seen(document.with_tags(spoilt["bio"]))


def _joined(parts: Sequence[tuple[Any, ...]], rows: Sequence[Row], asked: Sequence[tuple[int, int]]) -> Lessons:
    """Put pieces end to end, over the same words."""
    places: dict[str, int] = {}
    word = [np.array([places.setdefault(w, len(places)) for w in types], np.int32)[ids] for types, ids, *_ in parts]
    lengths = np.concatenate([part[4] for part in parts])
    indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    kinds = np.array([KINDS.index(rows[k]["kind"]) for k, _ in asked], np.int8)
    weight = np.array([rows[k]["weight"] for k, _ in asked], np.float32)
    version = np.array([v for _, v in asked], np.int8)
    space, y = (np.concatenate([part[k] for part in parts]) for k in (2, 3))
    return Lessons(list(places), np.concatenate(word), space, y, indptr, weight, kinds, version)
