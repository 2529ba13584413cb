"""The ladder: the cheapest method that proves its answer, and the name of the rung on which it did.

    viterbi   local rules folded into the potentials. Penalties are never negative, so an answer that breaks no global
              rule cannot be beaten: most sequences end here
    dual      Lagrangian multipliers on rules in linear form; compiled, with a search behind it, where they only count
    search    a short A*, pruned by the best labelling known, with a beam to better that; any rule
    search    A* again, as long as the caller allows
    ilp       an integer program in HiGHS, where it is small

Every rung hands on its best labelling and its bound. The first on which the two meet, or which proves that no
labelling is possible, is the last; if none does, the best labelling is BOUNDED by the lowest bound. Every rule has a
monitor and every problem Viterbi's bound, so no rule is left to a method that proves nothing.

Why the compiled rung comes first, on 367 references with 138 hierarchical tags under 601 generated count rules: it
takes 14 ms a reference and proves 364; the general dual, A* and the integer program took 340 ms and proved 366. On
citations that break a rule HiGHS needs 28 ms (all rules soft) to 1 s (one hard), the compiled rung 0.02 to 0.03 ms.

Ties: Viterbi's labelling, first in the common order, if it breaks no global rule; otherwise whichever optimal
labelling the rung meets, the same one every time (unless `seconds` end a rung).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.decoders import astar, dual, ilp, viterbi
from espalier.decoders.base import Decoding, Problem, certify, checked_count, evaluate, infeasible, nothing_found
from espalier.decoders.batch import CountDecoder
from espalier.decoders.certify import Status, WorkDone
from espalier.decoders.counts import Conditions
from espalier.errors import InputError

__all__ = ["auto"]

MAX_PASSES = 50  # of dual decomposition: more rarely close a gap that is still open
COUNT_NODES = 65_536  # of the compiled search: of what it leaves, A* proves more than a longer one does
SHORT_SEARCH = 2_000
MAX_COLUMNS, ILP_SECONDS = 50_000, 10.0  # of an integer program, where the caller sets no time

_NAMES = {"astar": "search"}  # rungs that are not called as their decoder is


def auto(
    problem: Problem,
    *,
    k: int = 1,
    max_nodes: int = 100_000,
    seconds: float | None = None,
    known: Sequence[int] | NDArray[Any] | None = None,
    bound: float = math.inf,
) -> Decoding:
    """Return the best labelling, or the k best, by the cheapest method that proves it.

    max_nodes : prefixes that a search may expand; 0 ends the ladder below the searches. seconds : no rung begins
    after them, and searches and the integer program stop at them (None: no limit, but ten seconds for the program).
    The certificate's method is "auto: " and the rung; its work is that of all rungs together. The k best come from
    Viterbi where that proves them, and otherwise from A*.

    known, bound : a labelling to better, and a score that none exceeds, where somebody has found them (k = 1 only).
    """
    checked_count(k, "k")
    budget = _Budget.of(max_nodes, seconds)
    best = _named(viterbi.decode(problem, k=k), WorkDone())
    if k == 1 and known is not None and best.status is not Status.INFEASIBLE:
        best = _from_known(problem, best, known, bound)
    for rung in _rungs(problem, budget) if k == 1 else _k_best_rungs(problem, k, budget):
        if _is_proven(problem, best, k) or budget.is_spent():
            break
        found = rung(best)
        if found is not None:
            best = _joined(problem, best, found, k)
    return best


@dataclass(frozen=True, slots=True)
class _Budget:
    """nodes : of a search; stop : when to begin nothing more, by `time.perf_counter`."""

    nodes: int
    stop: float

    @classmethod
    def of(cls, max_nodes: int, seconds: float | None) -> _Budget:
        if seconds is not None and not seconds > 0:
            raise InputError(f"seconds is {seconds!r}", hint="expected a positive number, or None for no limit")
        stop = math.inf if seconds is None else time.perf_counter() + seconds
        return cls(checked_count(max_nodes, "max_nodes", least=0), stop)

    def is_spent(self) -> bool:
        return time.perf_counter() >= self.stop

    def seconds(self) -> float | None:
        """Return what is left, at least a millisecond; None: no limit."""
        return None if self.stop == math.inf else max(self.stop - time.perf_counter(), 1e-3)


Rung: TypeAlias = Callable[[Decoding], "Decoding | None"]
"""Takes the best answer so far and returns its own; None if the problem is too large for it."""


def _rungs(problem: Problem, budget: _Budget) -> Iterator[Rung]:
    """Yield the rungs above Viterbi that this problem has."""
    counts = _count_decoder(problem)
    linear = all(problem.grounded.compiled.form[r] == "linear" for r in problem.globals)
    if counts is not None:
        yield lambda _: _counted(problem, counts, budget)
    elif linear:
        yield lambda _: dual.decode(problem, max_iterations=MAX_PASSES)
    if not budget.nodes:
        return
    yield lambda best: _search(problem, best, budget, min(budget.nodes, SHORT_SEARCH))
    if budget.nodes > SHORT_SEARCH:
        yield lambda best: _search(problem, best, budget, budget.nodes)
    yield lambda best: _ilp(problem, best, budget)


def _k_best_rungs(problem: Problem, k: int, budget: _Budget) -> Iterator[Rung]:
    """Yield the rungs that rank labellings."""
    if budget.nodes:
        yield lambda _: astar.decode(problem, k=k, max_nodes=budget.nodes, seconds=budget.seconds())


def _from_known(problem: Problem, best: Decoding, known: Sequence[int] | NDArray[Any], bound: float) -> Decoding:
    """Begin from a labelling that somebody else has found, if it is better than Viterbi's."""
    lower = min(bound, best.certificate.bound)
    y = known if best.labels is None or evaluate(problem, known).score > best.score else best.labels
    return certify(problem, y, lower, best.certificate.method, best.certificate.work)


def _is_proven(problem: Problem, found: Decoding, k: int) -> bool:
    """Are these the k best, or is nothing possible?  A list cut short by a budget may be short of some."""
    if found.status is Status.INFEASIBLE:
        return True
    complete = k == 1 or len(found.alternatives) == k - 1 or not problem.globals
    return complete and all(one.status is Status.OPTIMAL for one in found)


def _joined(problem: Problem, best: Decoding, found: Decoding, k: int) -> Decoding:
    """Keep the better labelling and the lower bound of two answers; of two lists the later."""
    later = _named(found, best.certificate.work)
    if k > 1 or _is_proven(problem, found, k):
        return later
    bound = min(best.certificate.bound, found.certificate.bound)
    y = (found if found.score > best.score else best).labels
    if y is None:
        return nothing_found(problem, bound, later.certificate.method, later.certificate.work)
    return certify(problem, y, bound, later.certificate.method, later.certificate.work)


def _named(found: Decoding, before: WorkDone) -> Decoding:
    """Write the rung's name, and the work of those below it, into the certificates of an answer."""
    spent = found.certificate.work
    work = WorkDone(before.viterbi + spent.viterbi, before.nodes + spent.nodes)
    name = _NAMES.get(found.certificate.method, found.certificate.method)
    certificate = replace(found.certificate, method=f"auto: {name}", work=work)
    return replace(
        found, certificate=certificate, alternatives=tuple(_named(one, before) for one in found.alternatives)
    )


def _count_decoder(problem: Problem) -> CountDecoder | None:
    """Return the compiled decoder, if the rules only count and the transitions are the same everywhere."""
    p = problem.potentials
    if p.trans.ndim != 2:
        return None
    # Copies, because kernels are compiled for writable arrays.
    return CountDecoder.of(problem.grounded.compiled, problem.penalties, p.trans, np.array(p.start), np.array(p.end))


def _counted(problem: Problem, decoder: CountDecoder, budget: _Budget) -> Decoding:
    """Soft-DD, and A* with its bound where that leaves a gap."""
    unary, conditions = np.array(problem.potentials.unary), Conditions.of(problem.grounded.bits)
    found = decoder.decode(
        np.array([0, problem.T]), unary, conditions, threads=1, max_nodes=min(budget.nodes, COUNT_NODES)
    )
    score, bound = float(found.scores[0]), float(found.bounds[0])
    work = WorkDone(int(found.rounds[0]), int(found.nodes[0]))
    method = "search" if work.nodes else "dual"
    if score > -math.inf:
        return certify(problem, found.labels, bound, method, work)
    return infeasible(problem, method, work) if bound == score else nothing_found(problem, bound, method, work)


def _search(problem: Problem, best: Decoding, budget: _Budget, nodes: int) -> Decoding:
    return astar.decode(problem, max_nodes=nodes, known=best.labels, seconds=budget.seconds())


def _ilp(problem: Problem, best: Decoding, budget: _Budget) -> Decoding | None:
    """The integer program of the labels that may be in a labelling better than the best known."""
    lattice = ilp.ProgramLattice.of(problem.folded, best.score)
    hopeful = np.zeros((problem.T, problem.L), bool)
    hopeful[lattice.t, lattice.j] = True
    unary = np.where(hopeful, problem.potentials.unary, -np.inf)
    smaller = problem.with_potentials(replace(problem.potentials, unary=unary))
    try:
        return ilp.decode(smaller, time_limit=budget.seconds() or ILP_SECONDS, max_columns=MAX_COLUMNS)
    except InputError:  # too many columns: nothing else about its input can be wrong
        return None
