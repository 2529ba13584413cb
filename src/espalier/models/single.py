"""The scores of one short text under a chain: those of a word are added up once and kept for the next text.

What `FeatureIndex.transform` and `ChainModel.potentials` do with arrays for thousands of texts, for one at a time and
with kernels that are already loaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.features.program import TextProgram
from espalier.features.single import SingleIndex, borders_of, own_types

if TYPE_CHECKING:
    from espalier.models.linear import Pairs

__all__ = ["SingleScores"]

MOST = 8192
"""Word types that are kept: 15 MB for 46 labels at five places."""

Float = NDArray[np.float64]

_NONE = np.zeros(0)


class _Word(NamedTuple):
    """rows : float64[K, L], the scores at each offset; codes : see `kernels.reading`."""

    rows: Float
    codes: NDArray[np.int32]


class SingleScores:
    """The attributes of an index and the weights of (attribute, label) pairs: texts to scores."""

    def __init__(self, index: SingleIndex, program: TextProgram, pairs: Pairs, w: Float) -> None:
        """Take an index, its program, and weights over its attributes."""
        self.index, self._program, self._pairs, self._w = index, program, pairs, w
        self._offsets = np.array(index.words.offsets, np.int64)
        self._kept: dict[str, _Word] = {}

    def __call__(self, corpus: Corpus) -> Float:
        """Return the scores of a corpus of one sequence, float64[T, L]."""
        from espalier.kernels.reading import score_text

        names, ids = own_types(corpus)
        rows, codes = zip(*self._recall(names), strict=True)
        unary, program, pairs = np.zeros((len(ids), self._pairs.n_labels)), self._program, self._pairs
        score_text(
            np.concatenate(codes), program.n_columns, np.array(ids), np.concatenate(rows), self._offsets,
            program.arrays, (pairs.ptr, pairs.label, self._w), unary,
        )  # fmt: skip
        return unary

    def _recall(self, names: Sequence[str]) -> list[_Word]:
        """Return what is known of word types; new ones are read first."""
        kept = self._kept
        new: Sequence[str] = [name for name in names if name not in kept]
        if new:
            if len(kept) + len(new) > MOST:
                kept, new = {}, names
            kept.update(zip(new, self._read(new), strict=True))
            self._kept = kept
        return [kept[name] for name in names]

    def _read(self, new: Sequence[str]) -> list[_Word]:
        """Read new words and add up their scores."""
        from espalier.kernels.single import sum_pairs

        words, K = self.index.words.read(new), len(self._offsets)
        lists = [row for word in words for row in word.rows]
        sums = np.zeros((len(lists), self._pairs.n_labels))
        sum_pairs(
            borders_of(map(len, lists), len(lists)), np.fromiter(chain.from_iterable(lists), np.int32), _NONE,
            np.zeros(1, np.int64), np.zeros(0, np.int32), _NONE,
            self._pairs.n_attributes, self._pairs.ptr, self._pairs.label, self._w, sums,
        )  # fmt: skip
        return [_Word(sums[K * u : K * (u + 1)], self._program.code(word)) for u, word in enumerate(words)]
