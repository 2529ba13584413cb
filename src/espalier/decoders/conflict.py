"""Why no labelling is possible, and which one breaks least.

`conflict` names hard rules that exclude each other: a deletion filter drops rule after rule while the rest stays
infeasible. What remains is irreducible (without any one of them a labelling is possible), though another irreducible
set may be smaller. Each test is one A* search with zero scores, so that it only asks whether a labelling exists.

`relax` finds the labelling with the least total degree of hard rules and, among those, the best penalised score: hard
rules get a finite price, raised until no lower degree is possible. Most infeasible sequences need to break one rule
once; then one decoding is enough. `relax_batch` does without proof, for whole batches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.decoders import astar
from espalier.decoders.base import Decoding, Problem, evaluate
from espalier.decoders.batch import decode_batch
from espalier.decoders.certify import Status
from espalier.decoders.many import auto
from espalier.potentials import ChainBatch, Potentials
from espalier.rules.compile import Compiled

__all__ = ["Conflict", "conflict", "relax", "relax_batch"]

MOST_NODES = 100_000  # of each search
RELAXED, RELAXED_NODES = 3, 8192  # Viterbi passes and nodes for a labelling that breaks few hard rules

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Conflict:
    """rules : names of hard rules that exclude each other, none if the potentials alone forbid every labelling.

    proven : is the set irreducible?  False if a search ran out of nodes; a rule may then be there without need.
    """

    rules: tuple[str, ...]
    proven: bool


def conflict(problem: Problem) -> Conflict | None:
    """Return hard rules that exclude each other; None if a labelling exists or none could be proven impossible."""
    flat = problem.with_potentials(_flat(problem.potentials))
    if _possible(flat, problem.hard) is not False:
        return None
    kept, proven = list(problem.hard), True
    for k in problem.hard:
        fewer = [other for other in kept if other != k]
        possible = _possible(flat, fewer)
        if possible is False:
            kept = fewer
        elif possible is None:
            proven = False
    return Conflict(tuple(problem.rules.names[k] for k in kept), proven)


def relax(problem: Problem) -> Decoding | None:
    """Return the labelling with the least total degree of hard rules, decoded at the finite price that finds it.

    For problems that are known to be infeasible: what breaks hard rules by 1 breaks them least. The score of the result
    is that of the softened problem. None if the potentials forbid every labelling, or if a search ends at `MOST_NODES`.
    """
    unary = problem.potentials.unary[np.isfinite(problem.potentials.unary)]
    price = max(1.0, float(np.ptp(unary)) if len(unary) else 0.0)  # what a label may be worth: often enough at once
    least = 1
    while True:
        softened = problem.with_penalties(np.where(np.isposinf(problem.penalties), price, problem.penalties))
        found = auto(softened, max_nodes=MOST_NODES)
        if found.status is not Status.OPTIMAL or found.labels is None:
            return None
        degree = int(evaluate(problem, found.labels).degrees[list(problem.hard)].sum())
        if degree > least:
            least = _least_degree(problem, degree)
        if degree <= least:
            return found
        price *= 4.0


def relax_batch(
    batch: ChainBatch, compiled: Compiled, corpus: Corpus, penalties: Float, *, threads: int | None = None
) -> NDArray[np.int16]:
    """Return labels that break few hard rules, int16[M], of sequences for which no labelling keeps them all.

    Hard rules get a finite price, Soft-DD `RELAXED` Viterbi passes a sequence, and the search some nodes.
    -1 where the potentials forbid every labelling.
    """
    finite = batch.unary[np.isfinite(batch.unary)]
    price = 4.0 * max(1.0, float(np.ptp(finite)) if len(finite) else 0.0)
    softened = np.where(np.isposinf(penalties), price, penalties)
    return decode_batch(
        batch, compiled, corpus, softened, threads=threads,
        max_rounds=RELAXED - 1, max_nodes=RELAXED_NODES, climb=False,
    ).labels  # fmt: skip


def _least_degree(problem: Problem, known: int) -> int:
    """Return the least total degree of the hard rules, scores aside: by a bound if that reaches what is known."""
    only = np.where(np.isposinf(problem.penalties), 1.0, 0.0)
    flat = Problem(_flat(problem.potentials), problem.grounded, only)
    for nodes in (0, MOST_NODES):
        found = auto(flat, max_nodes=nodes)
        bound = math.ceil(-found.certificate.bound - 1e-6)
        if bound >= known or found.status is Status.OPTIMAL:
            return bound
    return known  # nobody knows of less


def _possible(problem: Problem, hard: list[int] | tuple[int, ...]) -> bool | None:
    """Is there a labelling that keeps these hard rules alone?  None: unknown within `MOST_NODES`."""
    penalties = np.zeros(problem.rules.K)
    penalties[list(hard)] = np.inf
    found = astar.decode(problem.with_penalties(penalties), max_nodes=MOST_NODES)
    if found.labels is not None:
        return True
    return False if found.status is Status.INFEASIBLE else None


def _flat(potentials: Potentials) -> Potentials:
    """Keep only what the potentials forbid."""

    def flat(array: Float) -> Float:
        return np.where(np.isneginf(array), -np.inf, 0.0)

    return Potentials(flat(potentials.unary), flat(potentials.trans), flat(potentials.start), flat(potentials.end))
