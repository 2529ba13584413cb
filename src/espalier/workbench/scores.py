"""Scores of single records, kept apart and put together again.

A model of chains has one table of transitions, which its records share; where transitions depend on the place, each
record has its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from espalier.potentials import ChainBatch

__all__ = ["alone", "joined", "size"]


def alone(batch: ChainBatch, i: int) -> ChainBatch:
    """Return the scores of sequence i as a batch of its own, with its own memory."""
    if len(batch.trans) > 1:
        return ChainBatch.of([batch[i]])
    span = slice(int(batch.indptr[i]), int(batch.indptr[i + 1]))
    indptr = np.array([0, span.stop - span.start], np.int64)
    return ChainBatch(indptr, batch.unary[span].copy(), batch.trans, batch.trans_class[span], batch.start, batch.end)


def joined(parts: Sequence[ChainBatch]) -> ChainBatch:
    """Lay the scores of single sequences, all of one model, end to end."""
    if any(len(part.trans) > 1 for part in parts):
        return ChainBatch.of([part[0] for part in parts])
    first = parts[0]
    unary = np.concatenate([part.unary for part in parts])
    indptr = np.cumsum([0, *(len(part.unary) for part in parts)]).astype(np.int64)
    return ChainBatch(indptr, unary, first.trans, np.zeros(len(unary), np.int32), first.start, first.end)


def size(part: ChainBatch) -> int:
    """Return about how many bytes the scores of one sequence take."""
    return int(part.unary.nbytes) + (int(part.trans.nbytes) if len(part.trans) > 1 else 0) + 1000
