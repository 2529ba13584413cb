"""What the compiled passes leave open, one sequence at a time: A*, then an integer program.

    astar   pruned by the best labelling known, with a beam to better that; any rule
    ilp     an integer program in HiGHS, where it is small

Both take every rule, and hand on their best labelling and their bound. The first at which the two meet, or which proves
that no labelling is possible, is the last; otherwise the best labelling is BOUNDED by the lowest bound.

Of 1,000 random problems of up to 32 tokens over all forms of rules the compiled passes prove 945, A* within 2,000 nodes
41, and each of the two that come last the other 14, in 80 ms a problem (A*) and a second (the program).
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np

from espalier.decoders import astar, ilp, viterbi
from espalier.decoders.base import Decoding, Problem, certify, nothing_found
from espalier.decoders.certify import Status, WorkDone
from espalier.errors import InputError

__all__ = ["climb", "climb_for_several"]

MAX_COLUMNS, ILP_SECONDS = 50_000, 10.0  # of an integer program, where the caller sets no time


def climb(problem: Problem, best: Decoding, max_nodes: int, seconds: float | None = None) -> Decoding:
    """Return the best labelling, or a better one than `best`, whose bound none exceeds.

    seconds : neither method begins after them, and both stop at them (None: no limit, but ten seconds for the program).
    The work is that of all methods together.
    """
    stop = math.inf if seconds is None else time.perf_counter() + seconds
    for rung in (_astar, _program):
        left = stop - time.perf_counter()
        if left <= 0 or _is_settled(best):
            break
        found = rung(problem, best, max_nodes, None if seconds is None else max(left, 1e-3))
        if found is not None:
            best = _better(problem, best, found)
    return best


def climb_for_several(problem: Problem, k: int, max_nodes: int, seconds: float | None = None) -> Decoding:
    """Return the k best labellings: Viterbi's list where that is proven, else those of A*."""
    best = viterbi.decode(problem, k=k)
    complete = len(best.alternatives) == k - 1 or not problem.globals or best.labels is None
    if _is_settled(best) and complete and all(one.certificate.proven for one in best.alternatives):
        return best
    return astar.decode(problem, k=k, max_nodes=max_nodes, seconds=seconds) if max_nodes else best


def _is_settled(found: Decoding) -> bool:
    return found.certificate.proven or found.status is Status.INFEASIBLE


def _astar(problem: Problem, best: Decoding, max_nodes: int, seconds: float | None) -> Decoding:
    return astar.decode(problem, max_nodes=max_nodes, known=best.labels, seconds=seconds)


def _program(problem: Problem, best: Decoding, _: int, seconds: float | None) -> Decoding | None:
    """The integer program of the labels that may be in a labelling better than the best known."""
    lattice = ilp.ProgramLattice.of(problem.folded, best.score)
    hopeful = np.zeros((problem.T, problem.L), bool)
    hopeful[lattice.t, lattice.j] = True
    unary = np.where(hopeful, problem.potentials.unary, -np.inf)
    smaller = problem.with_potentials(replace(problem.potentials, unary=unary))
    try:
        return ilp.decode(smaller, time_limit=seconds or ILP_SECONDS, max_columns=MAX_COLUMNS)
    except InputError:  # too many columns: nothing else about its input can be wrong
        return None


def _better(problem: Problem, best: Decoding, found: Decoding) -> Decoding:
    """Keep the better labelling and the lower bound of two answers."""
    before, spent = best.certificate.work, found.certificate.work
    work = WorkDone(before.viterbi + spent.viterbi, before.nodes + spent.nodes)
    if _is_settled(found):
        return replace(found, certificate=replace(found.certificate, work=work))
    y, method = (found if found.score > best.score else best).labels, found.certificate.method
    bound = min(best.certificate.bound, found.certificate.bound)
    return nothing_found(problem, bound, method, work) if y is None else certify(problem, y, bound, method, work)
