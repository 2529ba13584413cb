"""Exact decoding under the full citation rules against plain Viterbi, ILP and the approximate decoders.

auto      every sequence decoded exactly and proven, averaged over all, against our own Viterbi on the same potentials
ilp       the same answers from HiGHS, on the sequences whose plain answer breaks a rule
dual      Viterbi passes that Soft-DD and hard DD need (published: 1.83 and 5.21), and how often they fall short
beam      how often a beam of 5, 20 misses the optimum among those sequences
umass     the count rules of Anzaroot et al. (2014) on hierarchical tags: share proven, time
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import espalier as es
from espalier.kernels.charged import lay_out
from espalier.kernels.rows import padded
from espalier.lanes import Lanes
from espalier.models.chain import decode_rows
from espalier.potentials import ChainBatch

RULES = Path(es.__file__).parent / "tasks" / "citations.rules"


def plain_viterbi(batch: ChainBatch) -> np.ndarray:
    """Plain Viterbi of a batch of potentials, in lanes, on one thread: the yardstick."""
    lanes = Lanes.of(batch.indptr)
    pattern, charges = np.zeros(len(batch.unary), np.int64), np.zeros((1, padded(batch.n_labels)))
    prices, change = np.zeros(1), np.zeros(lanes.n_rows)

    def score(lo: int, hi: int, rows: np.ndarray) -> None:
        lay_out(lo, hi, lanes.token_of_row, batch.unary, pattern, charges, prices, rows, change)

    return decode_rows(batch.indptr, lanes, score, batch.trans[0], batch.start, batch.end, 1)[0]
