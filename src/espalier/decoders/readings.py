"""The k best labellings of many sequences under rules: a compiled list for all, the ladder for what it leaves open.

`kernels.readings` lists labellings in falling order of a bound until the k best of the list are the k best of all.
Where two of them score the same, or the list ends before that, the sequence is decoded by itself (`auto`), which has
its own order of ties.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem
from espalier.decoders.batch import folded_decoder
from espalier.decoders.certify import GAP
from espalier.decoders.counts import Conditions
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled
from espalier.rules.lowering import Bits

__all__ = ["Ranked", "k_best_batch"]


class Ranked(NamedTuple):
    """One of the best labellings: labels : int16[T]; bound : on its score, given those before it; the method."""

    labels: NDArray[np.int16]
    bound: float
    method: str


def k_best_batch(
    batch: ChainBatch,
    compiled: Compiled,
    bits: Bits,
    k: int,
    problem: Callable[[int], Problem],
    *,
    threads: int | None = None,
) -> list[list[Ranked]]:
    """Return the k best labellings of every sequence, best first, under the penalties of the rules.

    bits : `compiled.ground_bits` of the tokens; problem(i) is the problem of sequence i by itself. An empty sequence
    has none. A list is shorter where fewer labellings are possible.
    """
    conditions = Conditions.of(bits)
    folded, decoder = folded_decoder(batch, compiled, compiled.rules.penalties, conditions)
    ends = batch.indptr.tolist()
    if decoder.parts.rest:
        return [_one_by_one(problem(i), k) if ends[i] < ends[i + 1] else [] for i in range(len(batch))]
    chain = folded.batch
    states, scores, rest = decoder.rank(chain.indptr, chain.unary, conditions, chain.trans_class, k, threads)
    labels = np.append(folded.labels, -1)[states].astype(np.int16)
    found: list[list[Ranked]] = []
    for i, clear in enumerate(_clear(scores, rest).tolist()):
        a, b = ends[i], ends[i + 1]
        if a == b:
            found.append([])
        elif not clear:
            found.append(_one_by_one(problem(i), k))
        else:
            several = zip(labels[:, a:b], scores[i].tolist(), strict=True)
            found.append([Ranked(y, score, "list") for y, score in several if score > -np.inf])
    return found


def _clear(scores: NDArray[np.float64], rest: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Is every listed score above the next one, and the last above the rest, by more than rounding?  bool[N]."""
    following = np.concatenate([scores[:, 1:], rest[:, None]], axis=1)
    finite = np.where(np.isfinite(scores), scores, 0.0)
    ahead = finite - following > GAP * np.maximum(1.0, np.abs(finite))
    # Fewer labellings than asked for are all there are only if nothing is left.
    return np.asarray(np.where(np.isfinite(scores), ahead, np.isneginf(rest)[:, None]).all(axis=1))


def _one_by_one(problem: Problem, k: int) -> list[Ranked]:
    from espalier.decoders.auto import auto

    found = auto(problem, k=k)
    several = [(one.labels, one.certificate) for one in found]
    return [Ranked(y, certificate.bound, certificate.method) for y, certificate in several if y is not None]
