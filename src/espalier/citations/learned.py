"""Which references the bundled model has learned from: a sum of each, so that nobody measures the model by them.

`scripts/list_learned.py` writes the file: 32 bits of a hash of the letters and digits of every annotated reference. The
texts themselves are not in it. One other text in 100,000 or so is taken for one of them by chance.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from espalier.citations.seen import document_seen
from espalier.citations.training import key_of
from espalier.document import Document

__all__ = ["FILE", "key_sums", "learned_from"]

FILE = Path(str(resources.files("espalier.citations") / "learned.npy"))


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
    found: NDArray[np.uint32] = np.load(FILE, allow_pickle=False)
    return found
