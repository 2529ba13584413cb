"""The training material of the bundled model: annotated references under one convention, divided once and for all.

A reference is known by its *key*: letters and digits of its text without its number in the list, in lower case. The key
alone decides the part, by a hash that never changes: about 15 % of all keys are for the test, 10 % for choosing
(`dev`), the rest for training. So the same reference is on the same side in every set that has it, and no copy of a
test reference is ever trained on. References of a benchmark (`exclude`) are in no part.

Of copies, the first in the order of the sources is kept: better labels come first.

Other sets train nothing (`read_elsewhere`): they are of kinds that the model has seen nothing like, and its confidences
are tried on them. What it has learned from is written down (`learned_from`), so that nobody measures it by that:
`learned.npy`, by `scripts/list_learned.py`, holds 32 bits of a hash of every key. The texts themselves are not in it.
One other text in 100,000 or so is taken for one of them by chance.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from espalier.citations.schemes import OTHER, Scheme, load_scheme
from espalier.citations.seen import document_seen
from espalier.document import Document
from espalier.errors import InputError
from espalier.estimators.crf import CRF
from espalier.features.index import FeatureIndex
from espalier.io import read
from espalier.models.linear import ChainModel, Pairs

__all__ = [
    "ELSEWHERE",
    "LEARNED",
    "PARTS",
    "RARE",
    "SOURCES",
    "STYLES",
    "Example",
    "Source",
    "compacted",
    "divide",
    "key_of",
    "key_sums",
    "learned_from",
    "part_of",
    "plain_tags",
    "read_elsewhere",
    "read_sources",
]

PARTS = ("train", "dev", "test")
"""Where a reference may be."""

_DEV, _TEST = 0.10, 0.15
_NUMBERS = "citation-number"


@dataclass(frozen=True, slots=True)
class Source:
    """An annotated set: its file below the data directory, its scheme, and the weight of its references in training."""

    name: str
    file: str
    scheme: str
    weight: float = 1.0


SOURCES = (
    Source("gold", "anystyle/original/gold.xml", "anystyle"),
    Source("core", "anystyle/original/core.xml", "anystyle"),
    Source("grobid", "grobid/normalised/train.jsonl.gz", "grobid"),
    Source("good", "anystyle/original/good.xml.gz", "anystyle", weight=0.5),
)
"""What the bundled model is trained on, the best labels first; those of `good` are probably earlier models'."""

STYLES = "dev.jsonl.gz"
"""Rendered references whose styles and works train nothing, by `scripts/render_references.py`."""

ELSEWHERE = (Source("umass", "umass_flat/normalised/train.jsonl.gz", "umass"),)
"""Sets that train nothing: from papers of physics and mathematics, by other annotators, with other spaces and marks."""

LEARNED = Path(str(resources.files("espalier.citations") / "learned.npy"))
"""The sums of what the bundled model has learned from."""

RARE = {
    "collection-title": 4.0,
    **dict.fromkeys(("translator", "edition", "genre", "institution", "isbn", "issn"), 2.0),
}
"""How often a reference counts that has a field of which there are few."""


@dataclass(frozen=True, slots=True)
class Example:
    """A reference under our convention, and where it comes from."""

    document: Document
    source: Source
    key: str

    @property
    def part(self) -> str:
        """The part that the key decides."""
        return part_of(self.key)

    @property
    def weight(self) -> float:
        """How much it counts in training: as its source does, and several times if it has a rare field."""
        return self.source.weight * max((RARE.get(span.label, 1.0) for span in self.document.spans or ()), default=1.0)


def key_of(document: Document) -> str:
    """Return letters and digits of a reference in lower case, without its number in the list."""
    text = document.text
    for span in reversed([span for span in document.spans or () if span.label == _NUMBERS]):
        text = text[: span.start] + text[span.end :]
    return re.sub(r"[\W_]+", "", text).casefold()


def part_of(key: str) -> str:
    """Return the part of a key: "train", "dev" or "test"."""
    place = int.from_bytes(hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()[:8], "big") / 2.0**64
    return "test" if place < _TEST else "dev" if place < _TEST + _DEV else "train"


def read_sources(
    directory: str | os.PathLike[str], sources: Sequence[Source] = SOURCES, exclude: Iterable[str] = ()
) -> list[Example]:
    """Return the references of all sources, converted and as the model sees them.

    Empty ones, copies and excluded keys are left out.
    """
    directory = Path(directory)
    seen = set(exclude) | {""}
    found: list[Example] = []
    schemes: dict[str, Scheme] = {}
    for source in sources:
        scheme = schemes.setdefault(source.scheme, load_scheme(source.scheme))
        if not (directory / source.file).exists():
            raise InputError(f"the set {source.name!r} is missing: there is no {source.file} in {str(directory)!r}")
        for document in read(directory / source.file):
            converted = scheme.convert(document)
            key = key_of(converted)
            if key not in seen:
                seen.add(key)
                found.append(Example(document_seen(converted), source, key))
    return found


def read_elsewhere(data: Path, rendered: Path, known: Collection[str] = ()) -> dict[str, list[Document]]:
    """Return the sets that train nothing, by name, as far as they are there; `Parser.calibrate` takes them as `unseen`.

    data : directory of annotated sets; rendered : of rendered references; known : keys that are left out.
    """
    found: dict[str, list[Document]] = {}
    if (rendered / STYLES).exists():
        found["styles"] = [document for document in read(rendered / STYLES) if key_of(document) not in known]
    for source in ELSEWHERE:
        if (data / source.file).exists():
            converted = map(load_scheme(source.scheme).convert, read(data / source.file))
            found[source.name] = [document for document in converted if key_of(document) not in known]
    return {name: documents for name, documents in found.items() if documents}


def divide(examples: Iterable[Example]) -> Mapping[str, list[Example]]:
    """Return the examples of each part."""
    parts: dict[str, list[Example]] = {part: [] for part in PARTS}
    for example in examples:
        parts[example.part].append(example)
    return parts


def key_sums(documents: Iterable[Document]) -> NDArray[np.uint32]:
    """Return 32 bits of a hash of each reference: its letters and digits, without its number in the list."""
    keys = (key_of(document).encode("utf-8", "surrogatepass") for document in documents)
    return np.array([int.from_bytes(hashlib.sha256(key).digest()[8:12], "big") for key in keys], np.uint32)


def learned_from(documents: Sequence[Document]) -> list[bool]:
    """Has the bundled model learned from each of these?"""
    known: list[bool] = np.isin(key_sums(map(document_seen, documents)), _known()).tolist()
    return known


@lru_cache(maxsize=1)
def _known() -> NDArray[np.uint32]:
    found: NDArray[np.uint32] = np.load(LEARNED, allow_pickle=False)
    return found


def plain_tags(document: Document, labels: Collection[str] | None = None) -> list[str]:
    """Return the label of each token, without marks: a token takes that of its first character.

    labels : what is allowed, to find a scheme that maps to something unknown.
    """
    tags, spans = [], iter(sorted(document.spans or ()))
    span = next(spans, None)
    for start, _ in document.tokens:
        while span is not None and span.end <= start:
            span = next(spans, None)
        tags.append(span.label if span is not None and span.start <= start else OTHER)
    strange = set(tags) - set(labels) if labels is not None else set()
    if strange:
        raise InputError(f"document {document.id!r} has the label {min(strange)!r}, which the task does not know")
    return tags


def compacted(model: CRF, least: float = 0.01) -> CRF:
    """Return a trained model without the weights that hardly count, the others rounded: a smaller file.

    Attributes that are left without a weight are dropped with their words.

    least : weights below it are dropped, and steps of a tenth of it kept; on a token with a hundred attributes that is
    far below what makes a difference.
    """
    chain, index = model.weights_, model.index_
    kept = np.abs(chain.w) >= least
    count = np.concatenate([[0], np.cumsum(kept)])[chain.pairs.ptr]
    step = 2.0 ** np.floor(np.log2(least / 10))
    small = copy(model)
    if isinstance(index, FeatureIndex):
        useful = np.diff(count) > 0
        useful[len(useful) - len(index.markers) :] = True
        small.index_ = index.with_attributes(useful)
        count = np.concatenate([[0], count[1:][useful]])
    pairs = Pairs.of(chain.n_labels, count, chain.pairs.label[kept])
    small.weights_ = ChainModel(pairs, np.round(chain.w[kept] / step) * step, chain.trans, chain.start, chain.end)
    return small
