"""Why no labelling is possible, and which one breaks least.

`conflict` names hard rules that exclude each other: a deletion filter drops rule after rule while the rest stays
infeasible. What remains is irreducible (without any one of them a labelling is possible), though another irreducible
set may be smaller. Each test is one A* search with zero scores, so that it only asks whether a labelling exists.

`relaxed` finds the labelling with the least total degree of hard rules and, among those, the best penalised score: hard
rules get a finite price, raised until no lower degree is possible. Most infeasible sequences need to break one rule
once; then one decoding is enough.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.decoders import astar
from espalier.decoders.base import Problem, Problems, evaluate
from espalier.decoders.batch import decode_problems
from espalier.decoders.certify import Status
from espalier.decoders.many import auto
from espalier.errors import InfeasibleError, Place
from espalier.potentials import Potentials

__all__ = ["Conflict", "conflict", "relaxed", "write_relaxed"]

MOST_NODES = 100_000  # of each search

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


def relaxed(problems: Problems, *, threads: int | None = None) -> list[NDArray[np.int16] | None]:
    """Return the labels with the least total degree of hard rules, of each problem, decoded at a finite price.

    For problems that are known to be infeasible: what breaks hard rules by 1 breaks them least. Where a search ends at
    `MOST_NODES` they are the best that it found, which break few. None where the potentials forbid every labelling.
    """
    labels: list[NDArray[np.int16] | None] = [None] * len(problems)
    price = np.array([_worth(own) for own in np.split(problems.batch.unary, problems.batch.indptr[1:-1])])
    least, open_ = np.ones(len(problems), np.int64), np.ones(len(problems), bool)
    while open_.any():
        own = price[open_].min()  # an answer does not depend on what else there is, so nor does its price
        chosen = np.flatnonzero(open_ & (price == own))
        softened = problems.chosen(chosen).with_hard(own)
        found = decode_problems(softened, max_nodes=MOST_NODES, threads=threads)
        for n, i in enumerate(chosen.tolist()):
            answer = softened.certified(found, n)
            labels[i] = answer.labels
            if answer.labels is not None and answer.certificate.proven:
                problem = problems.one(i)
                degree = int(evaluate(problem, answer.labels).degrees[list(problem.hard)].sum())
                if degree > least[i]:
                    least[i] = _least_degree(problem, degree)
                open_[i] = degree > least[i]
            else:
                open_[i] = False
        price[chosen] *= 4.0
    return labels


def write_relaxed(
    labels: NDArray[np.int16], problems: Problems, chosen: Sequence[int], *, threads: int | None = None
) -> None:
    """Write the labels that break hard rules least into those of a batch, int16[M], for some of its problems."""
    if not chosen:
        return
    ends = problems.batch.indptr.tolist()
    for i, y in zip(chosen, relaxed(problems.chosen(np.array(chosen)), threads=threads), strict=True):
        if y is None:
            raise InfeasibleError(Place(i), " has no labelling that its scores allow", hint="look for what is -inf")
        labels[ends[i] : ends[i + 1]] = y


def _worth(unary: Float) -> float:
    """Return what a label may be worth, as a power of 4: a price that is often enough at once."""
    known = unary[np.isfinite(unary)]
    most = float(np.ptp(known)) if len(known) else 1.0
    return float(4.0 ** math.ceil(math.log(max(1.0, most), 4.0)))


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
