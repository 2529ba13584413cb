"""Sequences laid out for the lane kernels: groups of eight of similar length, one lane each.

Group g owns steps group_ptr[g]..group_ptr[g + 1]-1; step s is rows 8 s .. 8 s + 7, row 8 s + k being lane k's token.
Sorting by length keeps the padding small; rows past the end of a sequence stand for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.kernels.layout import LANES

__all__ = ["Lanes"]


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """Where every sequence and token of a corpus lies.

    group_ptr : int64[G + 1]; lengths, sequence : int64[8 G], tokens and index of the sequence in each lane (0 and -1
    in empty lanes); row_of_token : int64[M]; token_of_row : int64[n_rows], -1 for padding.
    """

    group_ptr: NDArray[np.int64]
    lengths: NDArray[np.int64]
    sequence: NDArray[np.int64]
    row_of_token: NDArray[np.int64]
    token_of_row: NDArray[np.int64]

    @classmethod
    def of(cls, indptr: NDArray[np.int64]) -> Lanes:
        """Arrange the sequences of a corpus; empty ones take no lane."""
        lengths = np.diff(indptr)
        order = np.argsort(lengths, kind="stable")
        order = order[lengths[order] > 0]
        n_groups = -(-len(order) // LANES)
        sequence = np.full(n_groups * LANES, -1, np.int64)
        sequence[: len(order)] = order
        lane_lengths = np.where(sequence >= 0, lengths[sequence], 0) if len(order) else sequence
        steps = lane_lengths.reshape(n_groups, LANES).max(axis=1) if n_groups else np.zeros(0, np.int64)
        group_ptr = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)

        # Token t of the sequence in lane k of group g is row 8 (group_ptr[g] + t) + k.
        lane = np.flatnonzero(sequence >= 0)
        first_row = np.zeros(len(lengths), np.int64)
        first_row[sequence[lane]] = LANES * group_ptr[lane // LANES] + lane % LANES
        within = np.arange(indptr[-1]) - np.repeat(indptr[:-1], lengths)
        row_of_token = np.repeat(first_row, lengths) + LANES * within
        token_of_row = np.full(LANES * group_ptr[-1], -1, np.int64)
        token_of_row[row_of_token] = np.arange(len(row_of_token))
        return cls(group_ptr, lane_lengths, sequence, row_of_token, token_of_row)

    @property
    def n_groups(self) -> int:
        """G."""
        return len(self.group_ptr) - 1

    @property
    def n_rows(self) -> int:
        """Rows in all, padding included."""
        return len(self.token_of_row)
