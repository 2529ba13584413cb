"""Why no labelling is possible, and which one breaks least.

`conflict` names hard rules that exclude each other: a deletion filter drops rule after rule while the rest stays
infeasible. What remains is irreducible (without any one of them a labelling is possible), though another irreducible
set may be smaller. Each test is one A* search with zero scores, so that it only asks whether a labelling exists.

`relax` finds the labelling with the least total degree of hard rules and, among those, the best penalised score: hard
rules get a finite price, raised until no lower degree is possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.decoders import astar
from espalier.decoders.base import Decoding, Problem, Status, evaluate
from espalier.decoders.batch import decode_one
from espalier.potentials import Potentials

__all__ = ["Conflict", "conflict", "relax"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Conflict:
    """rules : names of hard rules that exclude each other, none if the potentials alone forbid every labelling.

    proven : is the set irreducible?  False if a search ran out of nodes; a rule may then be there without need.
    """

    rules: tuple[str, ...]
    proven: bool


def conflict(problem: Problem, *, max_nodes: int = 100_000) -> Conflict | None:
    """Return hard rules that exclude each other; None if a labelling exists or none could be proven impossible."""
    flat = problem.with_potentials(_flat(problem.potentials))
    if _possible(flat, problem.hard, max_nodes) is not False:
        return None
    kept, proven = list(problem.hard), True
    for k in problem.hard:
        fewer = [other for other in kept if other != k]
        possible = _possible(flat, fewer, max_nodes)
        if possible is False:
            kept = fewer
        elif possible is None:
            proven = False
    return Conflict(tuple(problem.rules.names[k] for k in kept), proven)


def relax(problem: Problem, *, max_nodes: int = 100_000) -> Decoding | None:
    """Return the labelling with the least total degree of hard rules, decoded at the finite price that finds it.

    The score of the result is that of the softened problem. None if the potentials forbid every labelling, or if
    the budget ends a search.
    """
    hard = list(problem.hard)
    only = np.zeros(problem.rules.K)
    only[hard] = 1.0
    least = decode_one(Problem(_flat(problem.potentials), problem.grounded, only), max_nodes=max_nodes)
    if least.status is not Status.OPTIMAL:
        return None
    degree = round(-least.score)
    unary = problem.potentials.unary[np.isfinite(problem.potentials.unary)]
    price = max(1.0, float(np.ptp(unary)) if len(unary) else 0.0)  # what a label may be worth: often enough at once
    while True:
        softened = problem.with_penalties(np.where(np.isposinf(problem.penalties), price, problem.penalties))
        found = decode_one(softened, max_nodes=max_nodes)
        if found.status is not Status.OPTIMAL or found.labels is None:
            return None
        if int(evaluate(problem, found.labels).degrees[hard].sum()) == degree:
            return found
        price *= 4.0


def _possible(problem: Problem, hard: list[int] | tuple[int, ...], max_nodes: int) -> bool | None:
    """Is there a labelling that keeps these hard rules alone?  None: unknown within the budget."""
    penalties = np.zeros(problem.rules.K)
    penalties[list(hard)] = np.inf
    found = astar.decode(problem.with_penalties(penalties), max_nodes=max_nodes)
    if found.labels is not None:
        return True
    return False if found.status is Status.INFEASIBLE else None


def _flat(potentials: Potentials) -> Potentials:
    """Keep only what the potentials forbid."""

    def flat(array: Float) -> Float:
        return np.where(np.isneginf(array), -np.inf, 0.0)

    return Potentials(flat(potentials.unary), flat(potentials.trans), flat(potentials.start), flat(potentials.end))
