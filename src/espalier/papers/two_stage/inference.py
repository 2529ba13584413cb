"""Two-stage inference (eq. 22-29 of Fersini, Messina, Felici & Roth, 2014).

    stage one    Z* = max_y s(y)                                    Viterbi; no rule is heard
    stage two    min_y Σ_k c_k σ_k(y)    s.t.  Z* - s(y) <= allowed loss

σ_k is 1 if y violates rule k at all (count="rules"), or the degree d_k, one σ for every violated clause of the rule
(count="violations"). Among the cheapest labellings the one with the best score is taken. Hard rules hold, whatever
they cost.

The paper asks for s(y) >= τ Z*, which no labelling meets if log-potentials are negative and τ < 1. So the loss is
limited instead: Z* - s(y) <= (1 - τ) |Z*|, the same where Z* is positive; or, since |Z*| means little for scores
that can be shifted freely, to an absolute `slack` in natural-log units.

Two exact solvers. "search": prefixes by rising (cost, loss), over (token, label, monitor states, rules broken); a
prefix whose best completion loses too much is dropped; of equal keys one with no smaller loss than another popped
before it is. The first complete labelling is the answer, as costs and losses only grow. "ilp": the lattice and
degrees of `ilp` with the loss as a row, σ_k binary with d_k <= M_k σ_k, solved by HiGHS for the cost, then for the
score at that cost, each to its tolerance of 1e-9. "auto" searches, and turns to HiGHS after `max_nodes` prefixes.

Rules broken are those of the Decoding; its certificate speaks of the penalised score, which stage two does not
maximise. Ties: as the solver meets them, the same way every time.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.decoders.base import (
    Decoder,
    Decoding,
    Problem,
    certify,
    checked_count,
    evaluate,
    infeasible,
    nothing_found,
    price,
)
from espalier.decoders.certify import WorkDone, tolerance
from espalier.decoders.ilp import MAX_COLUMNS, UNIT, Expression, Program, ProgramLattice, checked_seconds, degree_of
from espalier.decoders.joint import labels_of
from espalier.decoders.reduced import Losses
from espalier.errors import InputError
from espalier.inference import viterbi

__all__ = ["COUNTS", "SOLVERS", "TWO_STAGE", "TwoStageAnswer", "decode", "solve"]

Float = NDArray[np.float64]

METHOD = "two_stage"
COUNTS = ("rules", "violations")
SOLVERS = ("auto", "search", "ilp")


class TwoStageAnswer(NamedTuple):
    """What stage two found.

    labels : int16[T], None if no labelling within the allowed loss keeps the hard rules, or none was found;
    cost : Σ_k c_k σ_k; score : s(y), without penalties; top : Z*; allowed : the largest loss; violated : names of the
    rules that y breaks; proven : no labelling within the allowed loss costs less, or as much with a better score.
    """

    labels: NDArray[np.int16] | None
    cost: float
    score: float
    top: float
    allowed: float
    violated: tuple[str, ...]
    proven: bool
    work: WorkDone


def decode(
    problem: Problem,
    *,
    k: int = 1,
    tau: float = 0.9,
    slack: float | None = None,
    costs: ArrayLike | None = None,
    count: str = "rules",
    solver: str = "auto",
    max_nodes: int = 20_000,
    max_columns: int = MAX_COLUMNS,
    time_limit: float | None = None,
) -> Decoding:
    """Return the labelling of `solve`, which takes the same options, with the penalised score it happens to have."""
    if k != 1:
        raise InputError(f"k is {k!r}, but two-stage inference finds one labelling", hint="use 'astar' for the k best")
    found = solve(
        problem,
        tau=tau,
        slack=slack,
        costs=costs,
        count=count,
        solver=solver,
        max_nodes=max_nodes,
        max_columns=max_columns,
        time_limit=time_limit,
    )
    _, [bound] = viterbi(problem.folded, allow_infeasible=True)
    work = found.work._replace(viterbi=found.work.viterbi + 1)
    if bound == -math.inf:
        return infeasible(problem, METHOD, work)
    if found.labels is None:
        return nothing_found(problem, float(bound), METHOD, work)
    return certify(problem, found.labels, float(bound), METHOD, work)


def solve(
    problem: Problem,
    *,
    tau: float = 0.9,
    slack: float | None = None,
    costs: ArrayLike | None = None,
    count: str = "rules",
    solver: str = "auto",
    max_nodes: int = 20_000,
    max_columns: int = MAX_COLUMNS,
    time_limit: float | None = None,
) -> TwoStageAnswer:
    """Break the cheapest rules at little loss of score.

    tau : in [0, 1]; 1 allows no loss. slack : the allowed loss itself, instead of tau. costs : float64[K], what each
    rule costs, the problem's penalties if None. max_nodes : for the search; max_columns, time_limit (seconds for each
    of two programs) : for HiGHS.
    """
    losses = Losses(problem.potentials)
    allowed = _allowed(losses.top, tau, slack)
    task = _Task(problem, _costs(problem, costs), losses, allowed, _one_of(count, COUNTS, "count"))
    _one_of(solver, SOLVERS, "solver")
    checked_count(max_nodes, "max_nodes")
    checked_seconds(time_limit)
    program = Program(max_columns)
    if losses.top == -math.inf:
        return task.result(None, True, WorkDone(viterbi=1))
    nodes = 0
    if solver != "ilp" or problem.T == 0:
        y, nodes, finished = _search(task, max_nodes)
        if finished or solver == "search":
            return task.result(y, finished, WorkDone(viterbi=1, nodes=nodes))
    y, proven, more = _program(task, program, time_limit)
    return task.result(y, proven, WorkDone(viterbi=1, nodes=nodes + more))


class _Task:
    """A problem, the cost of every rule (inf for hard ones), the allowed loss, and what is counted."""

    def __init__(self, problem: Problem, costs: Float, losses: Losses, allowed: float, count: str) -> None:
        self.problem, self.costs, self.losses, self.allowed = problem, costs, losses, allowed
        self.once = count == "rules"

    @property
    def paid(self) -> list[int]:
        """The rules that cost something."""
        return [int(k) for k in np.flatnonzero(self.costs > 0)]

    def cost(self, y: NDArray[np.int16]) -> float:
        """Return Σ_k c_k σ_k(y) from the meaning of the rules."""
        degrees = evaluate(self.problem, y).degrees
        return price(np.minimum(degrees, 1) if self.once else degrees, self.costs)

    def result(self, y: NDArray[np.int16] | None, proven: bool, work: WorkDone) -> TwoStageAnswer:
        """Describe a labelling, or that there is none."""
        top, allowed = self.losses.top, self.allowed
        if y is None:
            return TwoStageAnswer(None, math.inf, -math.inf, top, allowed, (), proven, work)
        score, degrees, _ = evaluate(self.problem, y)
        violated = tuple(self.problem.rules.names[k] for k in np.flatnonzero(degrees))
        return TwoStageAnswer(y, self.cost(y), score, top, allowed, violated, proven, work)


def _one_of(value: str, known: tuple[str, ...], name: str) -> str:
    if value not in known:
        raise InputError(f"unknown {name} {value!r}", hint=f"use one of {', '.join(map(repr, known))}")
    return value


def _costs(problem: Problem, costs: ArrayLike | None) -> Float:
    """Return the checked costs; a hard rule stays hard."""
    if costs is None:
        return problem.penalties
    return np.where(np.isposinf(problem.penalties), np.inf, problem.with_penalties(costs).penalties)


def _allowed(top: float, tau: float, slack: float | None) -> float:
    """Return the largest loss: (1 - τ) |Z*|, which is eq. (23) where Z* > 0, or the given slack."""
    if slack is not None:
        if not slack >= 0:
            raise InputError(f"slack is {slack!r}", hint="expected zero or more")
        return float(slack)
    if not 0 <= tau <= 1:
        raise InputError(f"tau is {tau!r}", hint="expected a number from 0 to 1")
    return (1.0 - tau) * abs(top) if tau < 1 else 0.0


class _Prefix(NamedTuple):
    """Labels of tokens 0..t, the last of them `label`; t = -1 is the empty prefix."""

    t: int
    label: int
    states: tuple[Hashable, ...]
    cost: float
    parent: _Prefix | None


_BROKEN = object()
"""The state of a rule that is paid for, if it is paid only once."""


class _Charges:
    """The monitors of all rules that cost something, side by side."""

    def __init__(self, task: _Task) -> None:
        self._T, self._once = task.problem.T, task.once
        self._monitors = [(task.problem.grounded.monitor(k), float(task.costs[k])) for k in task.paid]

    def start(self) -> _Prefix:
        """Return the empty prefix."""
        states, cost = [], 0.0
        for monitor, each in self._monitors:
            state, paid = self._pay(monitor.initial, monitor.final(monitor.initial) if self._T == 0 else 0, each)
            states.append(state)
            cost += paid
        return _Prefix(-1, -1, tuple(states), cost, None)

    def extend(self, prefix: _Prefix, j: int) -> _Prefix:
        """Return the prefix with one more label, its cost what the monitors charge on the way, and at the end."""
        states, cost, t = [], prefix.cost, prefix.t + 1
        for (monitor, each), state in zip(self._monitors, prefix.states, strict=True):
            if state is not _BROKEN:
                state, amount = monitor.step(state, t, prefix.label, j)
                if t == self._T - 1:
                    amount += monitor.final(state)
                state, paid = self._pay(state, amount, each)
                cost += paid
            states.append(state)
        return _Prefix(t, j, tuple(states), cost, prefix)

    def _pay(self, state: Hashable, amount: int, each: float) -> tuple[Hashable, float]:
        if not amount:
            return state, 0.0
        return (_BROKEN, each) if self._once else (state, each * amount)


def _search(task: _Task, max_nodes: int) -> tuple[NDArray[np.int16] | None, int, bool]:
    """Return the labels (None if there are none), the prefixes popped, and whether the search came to its end."""
    T, losses, charges = task.problem.T, task.losses, _Charges(task)
    limit = task.allowed + tolerance(losses.top)
    # Costs are compared to nine digits: the same rules, paid in another order, must not differ by rounding.
    heap: list[tuple[float, float, int, int, _Prefix]] = []
    least: dict[tuple[int, int, tuple[Hashable, ...]], float] = {}
    prefix, loss, nodes, pushed = charges.start(), 0.0, 0, 0
    if prefix.cost < math.inf:
        heap.append((round(prefix.cost, 9), loss, 1, 0, prefix))
    while heap:
        if nodes >= max_nodes:
            return None, nodes, False
        nodes += 1
        _, loss, _, _, prefix = heappop(heap)
        if prefix.t + 1 == T:
            return np.array(labels_of(prefix), np.int16), nodes, True
        key = (prefix.t, prefix.label, prefix.states)
        if loss >= least.get(key, math.inf):
            continue
        least[key] = loss
        for step, j in zip(*losses.sorted_row(prefix.t + 1, prefix.label), strict=True):
            if loss + step > limit:
                break
            following = charges.extend(prefix, j)
            if following.cost < math.inf:
                pushed += 1
                heappush(heap, (round(following.cost, 9), loss + step, -following.t, pushed, following))
    return None, nodes, True


def _program(task: _Task, program: Program, time_limit: float | None) -> tuple[NDArray[np.int16] | None, bool, int]:
    """Return the labels (None if there are none), whether they are proven best, and HiGHS' nodes; T >= 1."""
    floor = task.losses.top - task.allowed
    lattice = ProgramLattice.of(task.problem.potentials, floor)
    x = lattice.add_to(program)
    program.add_row(Expression(x, UNIT * lattice.score), lower=UNIT * (floor - tolerance(floor)))  # eq. (23)
    terms: list[tuple[float, Expression]] = []
    for k in task.paid:
        degree = degree_of(task.problem.grounded, k, lattice, program, x)
        if math.isinf(task.costs[k]):
            program.add_row(degree, upper=0.0)
            continue
        if task.once:
            sigma = program.add_columns(1, integral=True)
            program.add_row(degree, Expression(sigma, np.array([-degree.most])), upper=0.0)  # eq. (26)
            degree = Expression(sigma, np.ones(1))
        terms.append((-float(task.costs[k]), degree))
    cheapest = program.maximise(terms, time_limit=time_limit)  # eq. (22)
    if cheapest.x is None:
        return None, cheapest.infeasible, cheapest.nodes
    y = lattice.labels(cheapest.x)
    cost = task.cost(y)
    if terms:
        parts = [Expression(part.columns, -UNIT * weight * part.values) for weight, part in terms]
        # No slack of our own: HiGHS has its tolerance, and a bound a hair above zero led it to a wrong optimum.
        program.add_row(*parts, upper=UNIT * cost)
    best = program.maximise([(1.0, Expression(x, lattice.score))], time_limit=time_limit)
    nodes = cheapest.nodes + best.nodes
    if best.x is not None:
        y = lattice.labels(best.x)
    return y, cheapest.optimal and best.optimal, nodes


TWO_STAGE = Decoder(METHOD, decode, False, "fewest broken rules near Viterbi's score")
