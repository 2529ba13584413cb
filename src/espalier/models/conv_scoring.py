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
from espalier.features.hashed import GROUPS, hashed_words, spaces_before
from espalier.models.conv import Borders, ConvShape, Floats, Ints, Parameters, Workspace, convolved, pooled
from espalier.parallel import choose_threads

__all__ = ["ScoringNet"]

SLICE = 768
"""Tokens that are scored at a time."""

MEMORY = 1 << 22
"""Numbers that the memory of words holds at most: 16 MiB."""

HALF = np.float32(0.5)


class _Memory:
    """The vectors of words that were met: the row of each, and the rows."""

    def __init__(self, columns: int) -> None:
        self.row: dict[str, int] = {}
        self.vectors = np.empty((max(MEMORY // columns, 1), columns), np.float32)
        self.free = itertools.count()  # next() on it is atomic

    def add(self, word: str, vector: Floats) -> bool:
        """Remember a word; False if there is no room."""
        k = next(self.free)
        if k >= len(self.vectors):
            return False
        self.vectors[k] = vector
        self.row[word] = k
        return True


@dataclass(slots=True, eq=False)
class ScoringNet:
    """The weights of a net, in float32, ready to score."""

    shape: ConvShape
    weights: Parameters
    _memory: list[_Memory] = field(init=False, repr=False, default_factory=list)
    _spaces: list[Floats] = field(init=False, repr=False, default_factory=list)
    _blocks_halved: list[list[tuple[Floats, Floats]]] = field(init=False, repr=False, default_factory=list)

    def __getstate__(self) -> tuple[ConvShape, Parameters]:
        """Leave the memory behind."""
        return self.shape, self.weights

    def __setstate__(self, state: tuple[ConvShape, Parameters]) -> None:
        """Begin with an empty memory."""
        self.shape, self.weights = state
        self._memory, self._spaces, self._blocks_halved = [], [], []

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
        vectors, word = self._vectors(corpus)
        space = self._space_vectors()[spaces_before(corpus)] if corpus.documents is not None else None
        slices = list(_slices(corpus.indptr))

        def score(part: Sequence[tuple[int, int]]) -> None:
            work = Workspace(np.float32)
            with np.errstate(over="ignore", invalid="ignore"):  # looked at once, in the end
                for lo, hi in part:
                    a, b = int(corpus.indptr[lo]), int(corpus.indptr[hi])
                    x = np.take(vectors, word[a:b], axis=0, out=work("x", b - a, self.shape.channels), mode="clip")
                    x += self._space_vectors()[0] if space is None else space[a:b]
                    found[a:b] = self._blocks(x, corpus.lengths[lo:hi], work)

        n = min(threads, len(slices))
        if n == 1:
            score(slices)
            return
        with ThreadPoolExecutor(n, thread_name_prefix="espalier") as pool:
            list(pool.map(score, (slices[k::n] for k in range(n))))

    def _blocks(self, x: Floats, lengths: Ints, work: Workspace) -> Floats:
        """Return the scores of tokens whose first layer is x."""
        borders, i = Borders(lengths), self.shape.convolved
        for k, ((w, bias), dilation) in enumerate(zip(self._halves(), self.shape.dilations, strict=True)):
            Z, _ = convolved(x, w, bias, self.weights.get(f"down{k}"), dilation, borders, work)
            gate = np.tanh(Z[:, i:], out=Z[:, i:])  # a σ(g) = a / 2 · (1 + tanh(g / 2))
            gate += 1
            gated = np.multiply(Z[:, :i], gate, out=work("gated", len(x), i))
            up = self.weights.get(f"up{k}")
            x += gated if up is None else np.matmul(gated, up, out=work("raised", *x.shape))
        scores: Floats = x @ self.weights["output"]
        scores += self.weights["output_bias"]
        return scores

    def _halves(self) -> list[tuple[Floats, Floats]]:
        """Return half the weights of each block: what its gate asks for, without a further step."""
        if not self._blocks_halved:
            names = range(len(self.shape.dilations))
            halves = [(self.weights[f"block{k}"] * HALF, self.weights[f"bias{k}"] * HALF) for k in names]
            self._blocks_halved.append(halves)
        return self._blocks_halved[0]

    def _space_vectors(self) -> Floats:
        """Return what each kind of space adds, and the bias with it, float32[3, c]."""
        if not self._spaces:
            rest = self.weights["input"][GROUPS * self.shape.embedding :]
            with np.errstate(over="ignore", invalid="ignore"):
                self._spaces.append(self.weights["space"] @ rest + self.weights["input_bias"])
        return self._spaces[0]

    def _vectors(self, corpus: Corpus) -> tuple[Floats, NDArray[Any]]:
        """Return a vector for each word that occurs, and which of them each token is."""
        word: NDArray[Any] = corpus.token_ids
        types: Sequence[str] = corpus.types
        if len(types) > len(word):  # a few sequences of a large corpus
            used, word = np.unique(word, return_inverse=True)
            types = [types[k] for k in used.tolist()]
        memory = self._memory[0] if self._memory else self._forget()
        rows = np.fromiter((memory.row.get(w, -1) for w in types), np.int64, len(types))
        new = np.flatnonzero(rows < 0)
        vectors = memory.vectors[rows]
        if len(new):
            words = [types[k] for k in new.tolist()]
            vectors[new] = self._projected(words)
            if not all(memory.add(w, vectors[k]) for w, k in zip(words, new.tolist(), strict=True)):
                self._forget()
        return vectors, word

    def _forget(self) -> _Memory:
        memory = _Memory(self.shape.channels)
        self._memory[:] = [memory]
        return memory

    def _projected(self, words: Sequence[str]) -> Floats:
        """Return what the first layer makes of words, a few thousand at a time."""
        first = self.weights["input"][: GROUPS * self.shape.embedding]
        parts = (hashed_words(words[k : k + SLICE], self.shape.buckets) for k in range(0, len(words), SLICE))
        with np.errstate(over="ignore", invalid="ignore"):
            return np.concatenate([pooled(self.weights["table"], part) @ first for part in parts])


def _slices(indptr: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield ranges of sequences with about `SLICE` tokens each, or one sequence that has more."""
    lo, N = 0, len(indptr) - 1
    while lo < N:
        hi = max(int(np.searchsorted(indptr, indptr[lo] + SLICE, side="right")) - 1, lo + 1)
        yield lo, hi
        lo = hi
