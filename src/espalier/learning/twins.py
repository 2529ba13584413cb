"""Twins: attributes that stand on exactly the same tokens learn as one.

Rare words have many (the word, its lower form, its suffixes, its neighbours' words ...), each with the same data and
so, under an L2 penalty, the same weight w. k twins act as one attribute of weight u = k w and penalty l2 u² / k. In the
variable v = u / √k the penalty is plainly l2 v², and v moves as w would: the loss, the penalty and the steps of L-BFGS
are unchanged, only the vectors are shorter. (Twins also share an L1 penalty, l1 |u|, but each coordinate of v would
need its own; so the trainer leaves twins apart then.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.features.matrix import FeatureMatrix
from espalier.kernels.twins import fingerprints, keep_representatives
from espalier.models.pairs import Pairs

__all__ = ["Twins"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Twins:
    """A matrix with one attribute for each set of twins.

    matrix : the smaller matrix; group : int64[A], the new attribute of each old one; size : int64[new A], the twins
    in each.
    """

    matrix: FeatureMatrix
    group: NDArray[np.int64]
    size: NDArray[np.int64]

    @classmethod
    def apart(cls, matrix: FeatureMatrix) -> Twins:
        """Leave every attribute by itself."""
        return cls(matrix, np.arange(matrix.n_attributes), np.ones(matrix.n_attributes, np.int64))

    @classmethod
    def merge(cls, matrix: FeatureMatrix) -> Twins:
        """Find the twins of a matrix; real-valued ones are left as they are."""
        if len(matrix.token_values) or len(matrix.bundle_values):
            return cls.apart(matrix)
        A = matrix.n_attributes
        arrays = (matrix.token_indptr, matrix.token_refs, matrix.bundle_indptr, matrix.bundle_ids, A)
        random = np.random.default_rng(0).integers(1, 2**64, matrix.n_tokens, dtype=np.uint64)
        _, first, group = np.unique(fingerprints(*arrays, random), return_index=True, return_inverse=True)
        # Number the groups in the order of their first attributes, so that neighbours stay neighbours.
        rank = np.empty(len(first), np.int64)
        rank[np.argsort(first)] = np.arange(len(first))
        group = rank[group]
        new_id = np.full(A, -1, np.int64)
        new_id[first] = rank
        merged = FeatureMatrix(len(first), *keep_representatives(*arrays, new_id, len(first)))
        return cls(merged, group, np.bincount(group, minlength=len(first)))

    def scale(self, pairs: Pairs) -> Float:
        """√k of the attribute of every pair: u = scale · v."""
        return np.sqrt(np.repeat(self.size, np.diff(pairs.ptr)))

    def expand(self, pairs: Pairs, u: Float) -> tuple[Pairs, Float]:
        """Return the pairs and weights of all attributes: each twin gets its share u / k."""
        lengths = np.diff(pairs.ptr)[self.group]
        ptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        source = np.arange(ptr[-1]) + np.repeat(pairs.ptr[self.group] - ptr[:-1], lengths)
        share = np.repeat(self.size[self.group], lengths)
        return Pairs.of(pairs.n_labels, ptr, pairs.label[source]), u[source] / share
