"""The best labels of many chains, eight sequences in one sweep: where their score rows lie, who shares a sweep.

For chains whose tokens share one matrix of transitions. Scores are sums of rows that lie in tables, one for each
weight, word type or token; `kernels.tagging` adds them up and finds the labels. Sequences of similar length go
together, so that few lanes are empty; very long ones go alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InfeasibleError, Place
from espalier.inference import viterbi
from espalier.kernels import LANES, References, aligned, padded
from espalier.parallel import balanced, run_chunks
from espalier.potentials import Potentials

__all__ = ["MatrixRows", "rows_of", "rows_of_types", "tag_rows"]

TOKENS_A_CHUNK = 4096
LONGEST_IN_LANES = 16_384
"""Tokens of a sequence: a longer one is tagged by itself, because lanes beside it would be as long, and empty."""

Float = NDArray[np.float64]


class MatrixRows(NamedTuple):
    """tokens : what the row kernels ask about the tokens of a matrix; tables : what the addresses in it point into."""

    tokens: References
    tables: tuple[Float, ...]


def rows_of_types(scores: Float, types: NDArray[np.integer[Any]]) -> MatrixRows:
    """Lay out one row for every word type, scores : float64[V, L]; token m has that of types[m]."""
    V, L = scores.shape
    table = aligned(V, padded(L))
    table[:, :L] = scores
    return rows_of(table, types)


def rows_of(table: Float, types: NDArray[np.integer[Any]]) -> MatrixRows:
    """Say the same of rows that lie in a table already, float64[V, padded(L)]."""
    address = table.ctypes.data + 8 * table.shape[1] * np.arange(len(table))
    refs = (np.arange(len(types) + 1), types.astype(np.int32), np.zeros(0))
    no_weights = (np.zeros(1, np.int64), np.zeros(0, np.int16), np.zeros(0))
    return MatrixRows(References(*refs, address, *no_weights), (table,))


def tag_rows(
    indptr: NDArray[np.int64],
    rows: MatrixRows,
    trans: Float,
    start: Float,
    end: Float,
    threads: int,
    *,
    allow_infeasible: bool = False,
) -> tuple[NDArray[np.int16], Float]:
    """Return the best labels, int16[M], and each sequence's score, float64[N], where scores are sums of rows.

    allow_infeasible : a sequence without any labelling has the score -inf, and labels that mean nothing.
    """
    from espalier.kernels.tagging import sum_rows, tag_lanes

    order, steps = _by_length(indptr)
    M = int(indptr[-1])
    path, scores = np.zeros(M, np.int16), np.zeros(len(indptr) - 1)
    into, width = np.ascontiguousarray(trans.T), padded(len(start))
    chunks = balanced(steps, max(M // TOKENS_A_CHUNK, 1))

    def chunk(c: int) -> None:
        tag_lanes(*chunks[c], order, indptr, rows.tokens, start, end, into, width, path, scores)

    run_chunks(chunk, len(chunks), threads)
    for i in np.flatnonzero(np.diff(indptr) > LONGEST_IN_LANES).tolist():
        lo, hi = int(indptr[i]), int(indptr[i + 1])
        unary = aligned(hi - lo, width, empty=True)
        sum_rows(lo, hi, rows.tokens, unary)
        found = viterbi(Potentials(unary[:, : len(start)], trans, start, end), threads=1, allow_infeasible=True)
        path[lo:hi], scores[i] = np.maximum(found.labels, 0), found.scores[0]
    impossible = np.flatnonzero(np.isneginf(scores))
    if len(impossible) and not allow_infeasible:
        raise InfeasibleError(Place(int(impossible[0])), " has no labelling with a finite score")
    return path, scores


def _by_length(indptr: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Put sequences of similar length together, eight to a group; empty and long ones are left out, -1 fills the last.

    Returns order : int64[8 G], and steps : int64[G + 1], the sums of the groups' lengths.
    """
    lengths = np.diff(indptr)
    order = np.argsort(lengths, kind="stable")
    first, last = np.searchsorted(lengths[order], (1, LONGEST_IN_LANES + 1)).tolist()
    order = order[first:last]
    n_groups = -(-len(order) // LANES)
    longest = lengths[order[np.minimum(LANES * np.arange(1, n_groups + 1), len(order)) - 1]]
    order = np.concatenate([order, np.full(LANES * n_groups - len(order), -1)])
    return order, np.concatenate([[0], np.cumsum(longest)])
