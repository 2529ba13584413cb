"""`WordClasses`: what unlabelled text says of words: vectors of the company they keep, and clusters of these.

    n(w, o, c)     how often context word c stands at offset o of word w, o = -context..-1, 1..context
    PPMI           max(0, log n(w, o, c) Σ n(o', c')^¾ / (n(w) n(o, c)^¾))      contexts (o, c); n(w), n(o, c): margins
    vectors        the first D left singular vectors times √ of their values; rows of length one
    clusters       k-means of the rows, once for each size

Counting by position keeps apart what stands before and after, which is what fields of a text differ in; the power ¾
holds rare contexts back (Levy, Goldberg and Dagan, 2015). The place beyond either end of a sequence is a context, too.
M tokens and W words cost O(M · context) for the counts and O(W K D) a round of k-means: seconds for a million tokens.
The same text and seed give the same classes.

As features, `classes:NAME` is the cluster at every size, `vector:NAME` the D numbers as real-valued attributes; both
are made by `fields(NAME)`. As the back-off of the hidden Markov model: see `espalier.models.hmm`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, ModelFileError
from espalier.features.fields import NamedField, check_normalisation, normalised
from espalier.features.matrix import Column, Raw
from espalier.store import put_strings, stored_array, take_strings

__all__ = ["ClassField", "VectorField", "WordClasses", "kmeans"]

Ints = NDArray[np.int64]
Float = NDArray[np.float64]

POWER = 0.75
"""Context counts are raised to this power."""

AT_ONCE = 4096
"""Points whose distances to all centres are held at the same time."""


@dataclass(frozen=True, slots=True, eq=False)
class WordClasses:
    """W words of unlabelled text, normalised, with their clusters and vectors.

    Attributes
    ----------
    words : distinct, most frequent first; normalise : how words of a text become these (`features.fields`).
    sizes : how many clusters there are, S sizes; members : int32[W, S], the cluster of each word at each size.
    vectors : float32[W, D], rows of length one.

    Examples
    --------
    >>> import espalier as es
    >>> text = es.Corpus.from_tokens([["plum", "in", "Ely"], ["pear", "in", "Ely"], ["plum", "of", "Ulm"]] * 9)
    >>> classes = es.WordClasses.learn(text, clusters=[2], dimensions=2)
    >>> sorted(classes.words)[:3], classes.sizes
    (['ely', 'in', 'of'], (2,))
    """

    words: tuple[str, ...]
    sizes: tuple[int, ...]
    members: NDArray[np.int32]
    vectors: NDArray[np.float32]
    normalise: str = "classes"
    _index: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check that everything fits together, and make the arrays read-only."""
        check_normalisation(self.normalise)
        W, S = len(self.words), len(self.sizes)
        members, vectors = np.array(self.members, np.int32), np.array(self.vectors, np.float32)
        if members.shape != (W, S) or vectors.ndim != 2 or len(vectors) != W:
            raise InputError(f"{W} words and {S} sizes, but members {members.shape} and vectors {vectors.shape}")
        if len(set(self.sizes)) != S or (members.size and ((members < 0) | (members >= np.array(self.sizes))).any()):
            raise InputError("word classes: a size is listed twice, or a word is in a cluster that does not exist")
        if not np.isfinite(vectors).all():
            raise InputError("word classes: a vector is not finite")
        index = {word: w for w, word in enumerate(self.words)}
        if len(index) != W:
            raise InputError("word classes: a word is listed twice")
        for name, array in (("members", members), ("vectors", vectors)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "_index", index)

    @classmethod
    def learn(
        cls,
        corpora: Corpus | Iterable[Corpus],
        *,
        clusters: Sequence[int] = (64, 256),
        dimensions: int = 25,
        context: int = 2,
        context_words: int = 3000,
        min_count: int = 3,
        normalise: str = "classes",
        seed: int = 0,
    ) -> WordClasses:
        """Learn the classes of the words that occur at least `min_count` times in all the text; labels are not used.

        clusters : the sizes; dimensions : D; context : how many words each side; context_words : how many of the most
        frequent words count as contexts; seed : of the k-means starts.
        """
        texts = [corpora] if isinstance(corpora, Corpus) else list(corpora)
        sizes = tuple(clusters)
        numbers = {"dimensions": dimensions, "context": context, "context_words": context_words, "min_count": min_count}
        _check({**numbers, **{f"clusters[{i}]": size for i, size in enumerate(sizes)}})
        check_normalisation(normalise)
        words, tokens = _words(texts, normalise, min_count)
        if len(words) <= max(dimensions, *sizes, 0):
            raise InputError(
                f"{len(words)} words occur at least {min_count} times",
                hint=(
                    "more are needed than there are clusters "
                    f"({max(sizes, default=0)}) and dimensions ({dimensions}): give more text, or smaller numbers"
                ),
            )
        n_context = min(context_words, len(words))
        vectors = _vectors(_ppmi(tokens, len(words), n_context, context), dimensions)
        rng = np.random.default_rng(seed)
        members = [kmeans(vectors, size, rng) for size in sizes]
        table = np.stack(members, axis=1) if members else np.zeros((len(words), 0))
        return cls(words, sizes, table.astype(np.int32), vectors.astype(np.float32), normalise)

    def rows(self, words: Iterable[str], *, normal: bool = False) -> Ints:
        """Return the place of each word among `words`, int64[n]; -1 for words that have no class.

        Words are as they stand in a text, or with `normal` already normalised.
        """
        forms = words if normal else normalised(words, self.normalise)
        return np.array([self._index.get(word, -1) for word in forms], np.int64)

    def fields(self, label: str) -> tuple[ClassField, VectorField]:
        """Return the definitions of the fields `classes:label` and `vector:label`, for a `FeatureExtractor`."""
        return ClassField(label, self), VectorField(label, self)

    def to_state(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, for model files."""
        state: dict[str, NDArray[Any]] = {
            "sizes": np.array(self.sizes, np.int64), "members": self.members, "vectors": self.vectors,
        }  # fmt: skip
        put_strings(state, "words", self.words)
        put_strings(state, "normalise", (self.normalise,))
        return state

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> WordClasses:
        """Return the classes that `to_state` described; raise `ModelFileError` if the arrays are not of its making."""
        words, normalise = take_strings(state, "words"), "".join(take_strings(state, "normalise"))
        sizes = tuple(stored_array(state, "sizes", np.int64).tolist())
        members, vectors = (
            stored_array(state, "members", np.int32, ndim=2),
            stored_array(state, "vectors", np.float32, ndim=2),
        )
        try:
            return cls(words, sizes, members, vectors, normalise)
        except InputError as error:
            raise ModelFileError(f"the stored word classes are damaged: {error}") from None

    def __eq__(self, other: object) -> bool:
        """Same words, clusters and vectors."""
        return self is other or (
            isinstance(other, WordClasses)
            and (self.words, self.sizes, self.normalise) == (other.words, other.sizes, other.normalise)
            and np.array_equal(self.members, other.members)
            and np.array_equal(self.vectors, other.vectors)
        )

    def __hash__(self) -> int:
        """Hash by size and normalisation."""
        return hash((len(self.words), self.sizes, self.normalise))

    def __repr__(self) -> str:
        """Say how much there is."""
        return f"<WordClasses: {len(self.words)} words, clusters {self.sizes}, {self.vectors.shape[1]} dimensions>"


@dataclass(frozen=True, slots=True)
class ClassField(NamedField):
    """The clusters of a word: size 256 gives a value such as `256/17`; words without a class have none."""

    classes: WordClasses

    kind = "classes"

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return the clusters of each word, one a size."""
        sizes = np.array(self.classes.sizes, np.int64)
        first = np.append(0, np.cumsum(sizes))
        values = [f"{size}/{k}" for size in self.classes.sizes for k in range(size)]
        rows = self.classes.rows(words)
        numbers = np.where((rows >= 0)[:, None], self.classes.members[rows] + first[:-1], -1)
        return Raw(values, _column(numbers, numbers >= 0))


@dataclass(frozen=True, slots=True)
class VectorField(NamedField):
    """The vector of a word: dimension d is the real-valued attribute `vector:name[d]`."""

    classes: WordClasses

    kind = "vector"
    dense = True

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return the numbers of each word, weights of the values 0..D-1."""
        rows, D = self.classes.rows(words), self.classes.vectors.shape[1]
        dense = np.where((rows >= 0)[:, None], self.classes.vectors[rows].astype(np.float64), 0.0)
        numbers = np.broadcast_to(np.arange(D), dense.shape)
        return Raw([str(d) for d in range(D)], _column(numbers, dense != 0, dense))


def _column(numbers: Ints, kept: NDArray[np.bool_], weights: NDArray[np.float64] | None = None) -> Column:
    """Return the kept numbers of a table as a column."""
    indptr = np.append(0, np.cumsum(kept.sum(axis=1, dtype=np.int64)))
    return Column(indptr, numbers[kept].astype(np.int64), None if weights is None else weights[kept])


def _check(numbers: Mapping[str, Any]) -> None:
    for name, value in numbers.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
            raise InputError(f"{name} is {value!r}", hint="expected a whole number of at least 1")


def _words(texts: Sequence[Corpus], normalise: str, min_count: int) -> tuple[tuple[str, ...], list[tuple[Ints, Ints]]]:
    """Return the frequent words, most frequent first, and each text as word ids (-1: rare) and sequence borders."""
    counts: Counter[str] = Counter()
    forms = []
    for text in texts:
        if not isinstance(text, Corpus):
            raise InputError(
                "expected a Corpus or several", hint=f"found {type(text).__name__}: use `Corpus.from_tokens`"
            )
        form = normalised(text.types, normalise)
        for word, count in zip(form, np.bincount(text.token_ids, minlength=len(form)).tolist(), strict=True):
            counts[word] += count
        forms.append(form)
    ranked = sorted((-count, word) for word, count in counts.items() if count >= min_count)
    words = tuple(word for _, word in ranked)
    index = {word: w for w, word in enumerate(words)}
    tokens = []
    for text, form in zip(texts, forms, strict=True):
        number = np.array([index.get(word, -1) for word in form], np.int64)
        tokens.append((number[text.token_ids], text.indptr))
    return words, tokens


def _ppmi(tokens: Sequence[tuple[Ints, Ints]], W: int, C: int, context: int) -> Any:
    """Return the sparse matrix of PPMI values, [W, 2 · context · (C + 1)]; context C is the place beyond the ends."""
    from scipy.sparse import coo_array

    rows, columns = [], []
    offsets = [o for o in range(-context, context + 1) if o]
    for ids, indptr in tokens:
        lengths = np.diff(indptr)
        left = np.arange(len(ids)) - np.repeat(indptr[:-1], lengths)
        right = np.repeat(lengths, lengths) - 1 - left
        for k, offset in enumerate(offsets):
            inside = left >= -offset if offset < 0 else right >= offset
            there = np.where(inside, ids[np.where(inside, np.arange(len(ids)) + offset, 0)], C)
            # Word ids follow frequency, so the context words are the first C; a rare word (-1) is none.
            kept = (ids >= 0) & (((there >= 0) & (there < C)) | ~inside)
            rows.append(ids[kept])
            columns.append(k * (C + 1) + there[kept])
    row, column = np.concatenate(rows), np.concatenate(columns)
    shape = (W, len(offsets) * (C + 1))
    matrix = coo_array((np.ones(len(row)), (row, column)), shape=shape).tocsr()
    of_word = np.bincount(row, minlength=W).astype(np.float64)
    of_context = np.bincount(column, minlength=shape[1]) ** POWER
    entry_row = np.repeat(np.arange(W), np.diff(matrix.indptr))
    pmi = np.log(matrix.data * of_context.sum() / (of_word[entry_row] * of_context[matrix.indices]))
    matrix.data = np.maximum(pmi, 0.0)
    return matrix


def _vectors(matrix: Any, dimensions: int) -> NDArray[np.float64]:
    """Return the rows of the truncated SVD, float64[W, D], of length one; a word without contexts has zeros."""
    from scipy.sparse.linalg import svds

    if dimensions >= min(matrix.shape):
        raise InputError(
            f"dimensions is {dimensions}", hint=f"this text has {min(matrix.shape)} words or contexts: lower it"
        )
    start = np.random.default_rng(0).normal(size=min(matrix.shape))  # a fixed start, so that the result is too
    u, s, vt = svds(matrix, k=dimensions, v0=start)
    order = np.argsort(-s, kind="stable")
    u, s, vt = u[:, order], s[order], vt[order]
    # Singular vectors have no sign of their own: the largest part of each right one is made positive.
    sign = np.sign(vt[np.arange(dimensions), np.abs(vt).argmax(axis=1)])
    rows = u * (sign * np.sqrt(s))
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    seen = length > 1e-9 * length.max()  # below is what rounding leaves of zero
    return np.asarray(np.divide(rows, length, out=np.zeros_like(rows), where=seen))


def kmeans(points: Float, k: int, rng: np.random.Generator, rounds: int = 50) -> NDArray[np.int64]:
    """Return the cluster of each point, int64[N], in 0..k-1, that minimises Σ_n ‖x_n - c(n)‖²: Lloyd's algorithm.

    points : float64[N, D]; k : at most N. The first centre is drawn evenly, each further one with probability in
    proportion to the squared distance from the centres so far (Arthur and Vassilvitskii, 2007). Then means and
    assignments alternate until no point moves. An empty cluster takes the point that is farthest from its centre, so
    every cluster has a point if k of them differ. Deterministic by its seed; O(N K D) a round.

    Why not SciPy's `kmeans2` from the same start: it adds distances in another order, so near ties fall otherwise. Of
    the 8,863 words of the citation text 65 then end in another of 64 clusters, and 84 in another of 256.
    """
    centres = _seeds(points, k, rng)
    cluster, distance = _nearest(points, centres)
    for _ in range(rounds):
        centres = _means(points, cluster, distance, k)
        moved, distance = _nearest(points, centres)
        if (moved == cluster).all():
            break
        cluster = moved
    return cluster


def _seeds(points: Float, k: int, rng: np.random.Generator) -> Float:
    """Draw k centres among the points, far from one another."""
    chosen = [int(rng.integers(len(points)))]
    distance = _squared(points, points[chosen])[:, 0]
    while len(chosen) < k:
        total = np.cumsum(distance)
        # Where all points are taken (there are repetitions), any will do.
        nth = int(np.searchsorted(total, rng.random() * total[-1], side="right")) if total[-1] > 0 else len(chosen)
        chosen.append(min(nth, len(points) - 1))
        distance = np.minimum(distance, _squared(points, points[chosen[-1:]])[:, 0])
    return points[chosen]


def _means(points: Float, cluster: NDArray[np.int64], distance: Float, k: int) -> Float:
    """Return the mean of every cluster; an empty one gets the point farthest from its centre, each its own."""
    size = np.bincount(cluster, minlength=k)
    sums = np.stack([np.bincount(cluster, column, k) for column in points.T], axis=1)
    empty = np.flatnonzero(size == 0)
    sums[empty] = points[np.argsort(-distance, kind="stable")[: len(empty)]]
    return np.asarray(sums / np.maximum(size, 1)[:, None])


def _nearest(points: Float, centres: Float) -> tuple[NDArray[np.int64], Float]:
    """Return the nearest centre of each point, the first of equals, and the squared distance to it."""
    cluster, distance = np.empty(len(points), np.int64), np.empty(len(points))
    for lo in range(0, len(points), AT_ONCE):
        squared = _squared(points[lo : lo + AT_ONCE], centres)
        cluster[lo : lo + AT_ONCE] = best = squared.argmin(axis=1)
        distance[lo : lo + AT_ONCE] = squared[np.arange(len(best)), best]
    return cluster, distance


def _squared(points: Float, centres: Float) -> Float:
    """Return the squared distances, float64[N, K], never negative."""
    squared = (points**2).sum(axis=1)[:, None] - 2.0 * (points @ centres.T) + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(squared, 0.0))
