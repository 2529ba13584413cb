"""Transition scores as 'a constant a column plus exceptions', the form the lane kernels take.

    exp(trans[i, j]) = base[j] + δ(i, j),   δ = 0 except for listed pairs

A column from which nothing is forbidden has base 1: a transition never seen in training weighs 0, and only the
weighted ones are exceptions. A column with forbidden entries has base 0 and lists what is allowed. Base 1 subtracts
where a weight is negative; far below zero the difference would lose digits, so such a column gets base 0 too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["LARGEST", "Transitions"]

CANCELS_BELOW = -12.0
"""exp(-12) ≈ 6e-6 leaves ten good digits of sixteen after the subtraction."""

LARGEST = 250.0
"""Beyond this a product of two exponentials may leave the range of doubles: the log-space kernel takes over."""


def _has_base_one(trans: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns forbid nothing and subtract nothing that matters?  (-inf is below any bound.)"""
    return np.asarray(trans.min(axis=0) > CANCELS_BELOW)


@dataclass(frozen=True, slots=True, eq=False)
class Transitions:
    """One transition matrix, ready for `forward_backward_lanes`.

    trans : float64[L, L]; base : float64[L]; source, target : int32[n], the exceptions in column order;
    in_ptr : int64[L + 1] over them; out_ptr, out_target, out_slot : the same by row, out_slot being the index in
    column order.
    """

    trans: NDArray[np.float64]
    base: NDArray[np.float64]
    in_ptr: NDArray[np.int64]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    out_ptr: NDArray[np.int64]
    out_target: NDArray[np.int32]
    out_slot: NDArray[np.int64]

    @classmethod
    def of(cls, trans: NDArray[np.float64], always: NDArray[np.bool_] | None = None) -> Transitions:
        """Find bases and exceptions; `always` marks pairs to list even at weight 0 (those being learned)."""
        L = len(trans)
        one = _has_base_one(trans)
        listed = np.where(one[None, :], trans != 0, np.isfinite(trans))
        if always is not None:
            listed |= always & np.isfinite(trans)
        target, source = np.nonzero(listed.T)
        by_row = np.lexsort((target, source))
        return cls(
            trans,
            one.astype(np.float64),
            np.searchsorted(target, np.arange(L + 1)).astype(np.int64),
            source.astype(np.int32),
            target.astype(np.int32),
            np.searchsorted(source[by_row], np.arange(L + 1)).astype(np.int64),
            target[by_row].astype(np.int32),
            by_row.astype(np.int64),
        )

    def updated(self, trans: NDArray[np.float64], always: NDArray[np.bool_]) -> Transitions:
        """Exchange the weights; bases and exceptions are found anew only if a column's base must change.

        Only pairs of `always` may differ from the old weights.
        """
        if np.array_equal(_has_base_one(trans), self.base > 0):
            return replace(self, trans=trans)
        return Transitions.of(trans, always)

    def exponentials(self) -> NDArray[np.float64]:
        """e^w of every exception, in column order; cut off at `LARGEST`, beyond which no kernel looks at it."""
        return np.asarray(np.exp(np.minimum(self.trans[self.source, self.target], LARGEST)))

    def deltas(self) -> NDArray[np.float64]:
        """δ of every exception, in column order."""
        return self.exponentials() - self.base[self.target]

    def arguments(self) -> tuple[NDArray[np.generic], ...]:
        """Return what `forward_backward_lanes` takes between `end_exp` and `rows`."""
        delta = self.deltas()
        return (
            self.base, self.in_ptr, self.source, delta,
            self.out_ptr, self.out_target, delta[self.out_slot], self.out_slot,
        )  # fmt: skip
