"""A learned net that scores text: what `models.conv` computes, as fast as NumPy can.

The first layer is linear, so the vector that it makes of a word is computed once and remembered: a word that was seen
before costs one look-up. Tokens are scored in slices that stay in the cache of a core.

Nothing is locked. Words are added to the memory of words by any thread, each in a row of its own that is written before
it can be found; a full memory is replaced by an empty one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import ModelFileError
from espalier.features.hashed import hashed_words, spaces_before
from espalier.models.conv import ConvShape, Floats, Parameters, Workspace
from espalier.models.conv_prepared import PreparedNet
from espalier.parallel import choose_threads

__all__ = ["ScoringNet"]

SLICE = 768
"""Tokens that are scored at a time."""

MEMORY = 1 << 23
"""Numbers that the memory of words holds at most: 32 MiB."""


class _Memory:
    """The vectors of words that were met: the row of each, the rows, and the means that they are without."""

    def __init__(self, columns: int) -> None:
        self.row: dict[str, int] = {}
        size = max(MEMORY // columns, 1)
        self.vectors, self.means = np.empty((size, columns), np.float32), np.empty(size, np.float32)
        self.free = itertools.count()  # next() on it is atomic

    def add(self, words: Sequence[str], vectors: Floats, means: Floats) -> list[int] | None:
        """Remember words and return their rows; None if there is no room for all."""
        rows = list(itertools.islice(self.free, len(words)))
        if rows[-1] >= len(self.vectors):
            return None
        self.vectors[rows], self.means[rows] = vectors, means
        self.row.update(zip(words, rows, strict=True))
        return rows


@dataclass(slots=True, eq=False)
class ScoringNet:
    """The weights of a net, in float32, ready to score."""

    shape: ConvShape
    weights: Parameters
    _memory: list[_Memory] = field(init=False, repr=False, default_factory=list)
    _prepared: list[PreparedNet] = field(init=False, repr=False, default_factory=list)

    def __getstate__(self) -> tuple[ConvShape, Parameters]:
        """Leave the memory behind."""
        return self.shape, self.weights

    def __setstate__(self, state: tuple[ConvShape, Parameters]) -> None:
        """Begin with an empty memory."""
        self.shape, self.weights = state
        self._memory, self._prepared = [], []

    def scores(self, corpus: Corpus, threads: int | None = None) -> NDArray[np.float64]:
        """Return the scores of every label at every token of a corpus, float64[M, L]."""
        found = np.empty((corpus.n_tokens, self.shape.labels))
        if corpus.n_tokens:
            from espalier.parallel import one_blas_thread

            with one_blas_thread():
                self._score(corpus, choose_threads(corpus.n_tokens, threads), found)
        if not np.isfinite(found).all():
            raise ModelFileError("the weights of the net are so large that its scores are no numbers")
        return found

    def _score(self, corpus: Corpus, threads: int, found: NDArray[np.float64]) -> None:
        """Write the scores of every token, slice by slice."""
        net, (vectors, means, row) = self.prepared(), self._vectors(corpus)
        space = None if corpus.documents is None else spaces_before(corpus)
        slices = list(_slices(corpus.indptr))

        def score(part: Sequence[tuple[int, int]]) -> None:
            work = Workspace(np.float32)
            with np.errstate(over="ignore", invalid="ignore"):  # looked at once, in the end
                for lo, hi in part:
                    a, b = int(corpus.indptr[lo]), int(corpus.indptr[hi])
                    x = np.take(vectors, row[a:b], axis=0, out=work("x", b - a, self.shape.channels), mode="clip")
                    kind = 0 if space is None else space[a:b]
                    x += net.spaces[kind]
                    mean = means[row[a:b]] + net.space_means[kind]
                    found[a:b] = net.scores(x, mean, corpus.lengths[lo:hi], work)

        n = min(threads, len(slices))
        if n == 1:
            score(slices)
            return
        with ThreadPoolExecutor(n, thread_name_prefix="espalier") as pool:
            list(pool.map(score, (slices[k::n] for k in range(n))))

    def prepared(self) -> PreparedNet:
        """Return the weights as scoring wants them; made when first asked for."""
        if not self._prepared:
            self._prepared.append(PreparedNet.of(self.shape, self.weights))
        return self._prepared[0]

    def _vectors(self, corpus: Corpus) -> tuple[Floats, Floats, NDArray[Any]]:
        """Return vectors of words, their means, and which of them each token has."""
        word: NDArray[Any] = corpus.token_ids
        types: Sequence[str] = corpus.types
        if len(types) > len(word):  # a few sequences of a large corpus
            used, word = np.unique(word, return_inverse=True)
            types = [types[k] for k in used.tolist()]
        memory = self._memory[0] if self._memory else self._forget()
        rows = np.fromiter((memory.row.get(w, -1) for w in types), np.int64, len(types))
        new = np.flatnonzero(rows < 0)
        if len(new):
            words = [types[k] for k in new.tolist()]
            vectors, means = self._projected(words)
            added = memory.add(words, vectors, means)
            if added is None:
                self._forget()
                known, known_means = memory.vectors[rows], memory.means[rows]
                known[new], known_means[new] = vectors, means
                return known, known_means, word
            rows[new] = added
        return memory.vectors, memory.means, rows[word]

    def _forget(self) -> _Memory:
        memory = _Memory(self.shape.channels)
        self._memory[:] = [memory]
        return memory

    def _projected(self, words: Sequence[str]) -> tuple[Floats, Floats]:
        """Return what the first layer makes of words, and the means, a few hundred at a time."""
        net, table = self.prepared(), self.weights["table"]
        pieces = (words[k : k + SLICE] for k in range(0, len(words), SLICE))
        with np.errstate(over="ignore", invalid="ignore"):
            parts = [net.of_words(table, hashed_words(piece, self.shape.buckets)) for piece in pieces]
        vectors, means = zip(*parts, strict=True)
        return np.concatenate(vectors), np.concatenate(means)


def _slices(indptr: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of sequences with about `SLICE` tokens each, or one sequence that has more."""
    lo, N = 0, len(indptr) - 1
    while lo < N:
        hi = max(int(np.searchsorted(indptr, indptr[lo] + SLICE, side="right")) - 1, lo + 1)
        yield lo, hi
        lo = hi
