"""Which (attribute, label) pairs carry a weight, and how they are stored: sparse, by attribute.

Weights are one vector w; the pairs of attribute a are w[ptr[a]:ptr[a + 1]], their labels label[ptr[a]:ptr[a + 1]].
Only pairs seen in training have a weight, as in CRFsuite: a table of all of them would be ten times larger and
no more accurate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import ModelFileError
from espalier.features.matrix import FeatureMatrix
from espalier.kernels.layout import padded

__all__ = ["Pairs"]


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """The weighted (attribute, label) pairs.

    n_labels : L; ptr : int64[A + 1]; label : int16[P].
    wide_row : int32[A], the row of a wide attribute in the dense table, -1 for narrow ones;
    wide_attribute : int32[n_wide], the attribute of each such row.
    """

    n_labels: int
    ptr: NDArray[np.int64]
    label: NDArray[np.int16]
    wide_row: NDArray[np.int32]
    wide_attribute: NDArray[np.int32]

    @classmethod
    def of(cls, n_labels: int, ptr: NDArray[np.int64], label: NDArray[np.int16]) -> Pairs:
        """Decide which attributes are wide: those whose weights cost more one by one than as a padded row."""
        vectors = padded(n_labels) // 8
        wide = 2 * np.diff(ptr) >= vectors + 3
        wide_row = np.where(wide, np.cumsum(wide) - 1, -1).astype(np.int32)
        return cls(n_labels, ptr, label, wide_row, np.flatnonzero(wide).astype(np.int32))

    @classmethod
    def checked(cls, n_labels: int, ptr: NDArray[Any], label: NDArray[Any]) -> Pairs:
        """Make pairs of arrays from a file: kernels follow them by address, so everything is looked at first."""
        good = ptr.ndim == 1 and label.ndim == 1 and ptr.dtype == np.int64 and label.dtype == np.int16 and len(ptr) > 0
        good = good and ptr[0] == 0 and ptr[-1] == len(label) and bool((np.diff(ptr) >= 0).all())
        if not good or (len(label) and not 0 <= label.min() <= label.max() < n_labels):
            raise ModelFileError("the (attribute, label) pairs do not fit together")
        return cls.of(n_labels, ptr, label)

    @classmethod
    def observed(cls, matrix: FeatureMatrix, y: NDArray[np.int16], n_labels: int) -> Pairs:
        """List the pairs that occur on labelled tokens."""
        from espalier.kernels.plan import count_pairs, expand_pairs, mark_pairs

        words = (n_labels + 63) // 64
        seen = np.zeros((matrix.n_attributes, words), np.uint64)
        bundle_seen = np.zeros((matrix.n_bundles, words), np.uint64)
        mark_pairs(
            matrix.token_indptr, matrix.token_refs, matrix.bundle_indptr, matrix.bundle_ids,
            matrix.n_attributes, y, seen, bundle_seen,
        )  # fmt: skip
        ptr = np.zeros(matrix.n_attributes + 1, np.int64)
        count_pairs(seen, ptr)
        label = np.empty(ptr[-1], np.int16)
        expand_pairs(seen, ptr, label)
        return cls.of(n_labels, ptr, label)

    def __len__(self) -> int:
        """Return P."""
        return len(self.label)

    @property
    def n_attributes(self) -> int:
        """A."""
        return len(self.ptr) - 1

    @property
    def n_wide(self) -> int:
        """Rows of the dense table."""
        return len(self.wide_attribute)

    def attributes(self) -> NDArray[np.int64]:
        """Return the attribute of every pair."""
        return np.repeat(np.arange(self.n_attributes), np.diff(self.ptr))

    def union(self, other: Pairs) -> Pairs:
        """Return the pairs of both, over the same attributes and labels."""
        L = self.n_labels
        keys = np.union1d(*(p.attributes() * L + p.label for p in (self, other)))
        ptr = np.searchsorted(keys, np.arange(self.n_attributes + 1) * L).astype(np.int64)
        return Pairs.of(L, ptr, (keys % L).astype(np.int16))

    def dense(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weights as a table float64[A, L] (for people and tests; the kernels never need it)."""
        table = np.zeros((self.n_attributes, self.n_labels))
        table[self.attributes(), self.label] = w[: len(self)]
        return table
