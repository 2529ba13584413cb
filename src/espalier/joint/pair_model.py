"""A log-linear classifier of pairs of places: what the words in and around them say about the relation between them.

    p(r | x, head, tail) ∝ exp w_r . f(x, head, tail),      trained by L-BFGS on the likelihood minus l2/2 |w|²

It does not look at the entities' labels unless they are given (`kinds`), so that it can be trained apart from the model
of the entities; rules join the two when something is decided.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError

__all__ = ["PairClassifier", "PairExample", "pair_features"]

Float = NDArray[np.float64]

NEAR = 8
"""Tokens between two places that are read one by one; of a longer stretch the ends count."""


class PairExample(NamedTuple):
    """Two places of a text, each (start, end) in tokens; kinds : the labels of both, where they are known."""

    tokens: Sequence[str]
    head: tuple[int, int]
    tail: tuple[int, int]
    kinds: tuple[str, str] | None = None


def pair_features(example: PairExample) -> Iterator[str]:
    """Yield the attributes of a pair."""
    tokens, head, tail, kinds = example
    words = [token.lower() for token in tokens]
    first, second = sorted((head, tail))
    order = "<" if head == first else ">"
    between = words[first[1] : second[0]]
    yield f"order={order}"
    yield f"distance={order}{min(len(between), 12) if len(between) < 6 else 6 + min(len(between), 30) // 6}"
    for name, (start, end) in (("head", head), ("tail", tail)):
        yield f"{name}={'_'.join(words[start:end])}"
        yield from (f"{name}:{word}" for word in words[start:end])
        yield f"{name} last={words[end - 1]}"
        yield f"{name} shape={_shape(tokens[end - 1])}"
        yield f"{name} length={min(end - start, 4)}"
        for k in (1, 2):
            yield f"{name} before{k}={order}{_at(words, start - k)}"
            yield f"{name} after{k}={order}{_at(words, end + k - 1)}"
        yield f"{name} around={_at(words, start - 1)} {_at(words, end)}"
    shown = between if len(between) <= NEAR else [*between[: NEAR // 2], "...", *between[-NEAR // 2 :]]
    yield f"between={order}{' '.join(shown)}" if len(between) <= 4 else f"between={order}long"
    yield from {f"in={order}{word}" for word in between}
    yield from {f"in2={order}{a} {b}" for a, b in itertools.pairwise(shown)}
    yield f"commas={order}{min(between.count(','), 3)}"
    yield f"capitals={order}{min(sum(token[:1].isupper() for token in tokens[first[1] : second[0]]), 4)}"
    if kinds is not None:
        yield f"kinds={kinds[0]} {kinds[1]}"
        yield f"kinds={kinds[0]} {kinds[1]} {order}"
        yield f"kinds={kinds[0]} {kinds[1]} commas={order}{min(between.count(','), 3)}"
        yield from {f"kinds={kinds[0]} {kinds[1]} {order}{word}" for word in between}


def _at(words: Sequence[str], t: int) -> str:
    return words[t] if 0 <= t < len(words) else "<>"


def _shape(token: str) -> str:
    return "".join(
        dict.fromkeys("X" if c.isupper() else "x" if c.islower() else "9" if c.isdigit() else c for c in token)
    )


class PairClassifier:
    """p(label | pair) for pairs of places.

    Parameters
    ----------
    l2
        How much large weights cost.
    min_count
        Attributes that are seen less often are left out.
    max_iterations
        Steps of L-BFGS.

    Examples
    --------
    >>> from espalier.joint.pair_model import PairClassifier, PairExample
    >>> tokens = "Ann lives in Ulm".split()
    >>> pairs = [PairExample(tokens, (0, 1), (3, 4)), PairExample(tokens, (3, 4), (0, 1))]
    >>> model = PairClassifier(min_count=1).fit(pairs, ["live-in", "none"])
    >>> [model.labels_[j] for j in model.log_probabilities(pairs).argmax(axis=1)]
    ['live-in', 'none']
    """

    def __init__(self, l2: float = 1.0, min_count: int = 2, max_iterations: int = 100) -> None:
        """Keep the parameters."""
        self.l2, self.min_count, self.max_iterations = l2, min_count, max_iterations

    def fit(self, pairs: Sequence[PairExample], labels: Sequence[str]) -> PairClassifier:
        """Learn from pairs and their labels."""
        from espalier.learning.lbfgs import Options, minimise

        if len(pairs) != len(labels) or not pairs:
            raise InputError(f"{len(pairs)} pairs, but {len(labels)} labels", hint="give one label for each pair")
        rows = [list(pair_features(pair)) for pair in pairs]
        counts = Counter(name for row in rows for name in row)
        self.labels_ = sorted(set(labels))
        self.attributes_ = {
            name: k for k, name in enumerate(sorted(n for n, c in counts.items() if c >= self.min_count))
        }
        X = self._matrix(rows)
        Y = np.zeros((len(pairs), len(self.labels_)))
        Y[np.arange(len(pairs)), [self.labels_.index(label) for label in labels]] = 1.0
        shape = (X.shape[1], len(self.labels_))

        def objective(flat: Float) -> tuple[float, Float]:
            W = flat.reshape(shape)
            log_p = _log_softmax(X @ W)
            loss = -float((log_p * Y).sum()) + 0.5 * self.l2 * float(flat @ flat)
            gradient = X.T @ (np.exp(log_p) - Y) + self.l2 * W
            return loss, np.ascontiguousarray(gradient).ravel()

        found = minimise(objective, np.zeros(shape[0] * shape[1]), options=Options(max_iterations=self.max_iterations))
        self.weights_ = found.x.reshape(shape)
        return self

    def log_probabilities(self, pairs: Sequence[PairExample]) -> Float:
        """Return log p(label | pair), float64[pairs, labels], in the order of `labels_`."""
        if not pairs:
            return np.zeros((0, len(self.labels_)))
        return _log_softmax(self._matrix([list(pair_features(pair)) for pair in pairs]) @ self.weights_)

    def _matrix(self, rows: list[list[str]]) -> Any:
        """Return which attributes each pair has, as a sparse matrix; a constant one comes last."""
        from scipy.sparse import csr_array

        bias, known = len(self.attributes_), self.attributes_
        columns = [[*(known[name] for name in row if name in known), bias] for row in rows]
        indptr = np.cumsum([0, *map(len, columns)])
        indices = np.fromiter((c for row in columns for c in row), np.int64, int(indptr[-1]))
        return csr_array((np.ones(len(indices)), indices, indptr), shape=(len(rows), bias + 1))


def _log_softmax(scores: Float) -> Float:
    top = scores.max(axis=1, keepdims=True)
    result: Float = scores - top - np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
    return result
