"""Integer linear programming (section 2.2.1 of Chang, Ratinov & Roth, 2012; eq. 12-16 of Fersini et al., 2014).

    max  Σ_e s_e x_e - Σ_k ρ_k d_k          x_e in {0, 1}, one column for each step e = (t, i, j) of the lattice
    s.t. what enters label j at token t also leaves it, and one step enters token 0           (their eq. 13-14)

The score s_e is that of label j at token t after label i (i = L: j is the first), local rules and the end scores
included. The degree d_k of every other rule is a linear expression over columns:

    linear     d_k = Σ_r z_r,  a_r . n(x) - z_r <= b_r,  z_r >= 0: one slack a row
    monitor    the rule's own left-to-right monitor as a second flow: one column f[e, q] for each step e and each state
               q reachable before it, what enters a state also leaves it, and Σ_q f[e, q] = x_e. Monitors are
               deterministic, so an integral x leaves one flow only: f and z need not be declared integral.

A hard rule is the row d_k <= 0. So every rule of the language is taken, exactly.

A step through which no labelling can reach the score of the Viterbi labelling (with its penalties) is left out:
its best completion, ignoring the global rules, is too low already. Size before that: E = L + (T - 1) L² steps and T L
rows; a linear rule adds one column and row for each of its rows, a monitor rule up to E S columns and E + T L S rows
for S states. `max_columns` limits the sum.

HiGHS proves optimality through `scipy.optimize.milp`; its bound goes into the certificate. Ties: HiGHS decides, the
same way every time, unless no rule is violated; then Viterbi's labelling comes out.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import (
    Decoder,
    Decoding,
    Problem,
    certify,
    checked_count,
    evaluate,
    infeasible,
    nothing_found,
)
from espalier.decoders.certify import WorkDone, tolerance
from espalier.errors import EspalierError, InputError
from espalier.inference import viterbi
from espalier.potentials import Potentials
from espalier.rules.compile import Grounded

__all__ = [
    "ILP",
    "MAX_COLUMNS",
    "UNIT",
    "Expression",
    "Program",
    "ProgramLattice",
    "Solution",
    "checked_seconds",
    "decode",
    "degree_of",
    "trusted",
]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

METHOD = "ilp"
MAX_COLUMNS = 400_000
"""The largest program that is built unless a caller wants more."""

UNIT = 1e3
"""HiGHS works to absolute tolerances of 1e-6; objectives and rows of scores in thousandths make that 1e-9 of ours."""

_TRUST = 1e-6  # how far its bound may lie below a score that it has found


def decode(
    problem: Problem, *, k: int = 1, time_limit: float | None = None, max_columns: int = MAX_COLUMNS
) -> Decoding:
    """Return the best labelling with HiGHS' proof; BOUNDED if `time_limit` seconds were not enough for one."""
    if k != 1:
        raise InputError(f"k is {k!r}, but the integer program finds one labelling", hint="use 'astar' for the k best")
    program, _ = Program(max_columns), checked_seconds(time_limit)
    first, [top] = viterbi(problem.folded, allow_infeasible=True)
    work = WorkDone(viterbi=1)
    floor = -math.inf if top == -math.inf else evaluate(problem, first).score
    if top == -math.inf or (problem.T == 0 and floor == -math.inf):
        return infeasible(problem, METHOD, work)
    if problem.T == 0 or floor >= top - tolerance(top):
        return certify(problem, first, min(top, floor) if problem.T == 0 else top, METHOD, work)

    lattice = ProgramLattice.of(problem.folded, floor)
    x = lattice.add_to(program)
    gains = [(1.0, Expression(x, lattice.score))]
    for rule in problem.globals:
        degree = degree_of(problem.grounded, rule, lattice, program, x)
        if math.isinf(problem.penalties[rule]):
            program.add_row(degree, upper=0.0)
        else:
            gains.append((-float(problem.penalties[rule]), degree))
    solution = program.maximise(gains, time_limit=time_limit)
    if solution.infeasible:
        return infeasible(problem, METHOD, work._replace(nodes=solution.nodes))
    return _best(problem, solution, lattice, first, float(top))


def checked_seconds(time_limit: float | None) -> float | None:
    """Return a time limit that is None or positive."""
    if time_limit is not None and not time_limit > 0:
        raise InputError(f"time_limit is {time_limit!r}", hint="expected a positive number of seconds")
    return time_limit


def _best(
    problem: Problem, solution: Solution, lattice: ProgramLattice, first: NDArray[np.int16], top: float
) -> Decoding:
    """Certify the better of HiGHS' labelling, if it has one, and Viterbi's."""
    work = WorkDone(viterbi=1, nodes=solution.nodes)
    candidates = [first] if solution.x is None else [lattice.labels(solution.x), first]
    scores = [evaluate(problem, y).score for y in candidates]
    y, score = max(zip(candidates, scores, strict=True), key=lambda candidate: candidate[1])
    bound = min(top, solution.bound)
    if score == -math.inf:
        return nothing_found(problem, bound, METHOD, work)
    return certify(problem, y, trusted(bound, score), METHOD, work)


def trusted(bound: float, score: float) -> float:
    """Return HiGHS' bound, which may lie below a score that it has found by its own tolerance."""
    return score if score - _TRUST * max(1.0, abs(score)) <= bound < score else bound


@dataclass(frozen=True, slots=True)
class Expression:
    """Σ_c values[c] column[columns[c]]; on a path it is at most `most`."""

    columns: Int
    values: Float
    most: float = math.inf


class Solution(NamedTuple):
    """x : float64[columns], None if none was found; bound : no solution has a larger value; search nodes."""

    x: Float | None
    bound: float
    nodes: int
    optimal: bool = False
    infeasible: bool = False


class Program:
    """A mixed-integer program that grows: columns in [0, upper], rows lower <= A x <= upper."""

    def __init__(self, max_columns: int = MAX_COLUMNS) -> None:
        """Start empty."""
        self.n_columns = self.n_rows = 0
        self.max_columns = checked_count(max_columns, "max_columns")
        self._columns: list[tuple[int, float, bool]] = []  # how many, upper bound, integral?
        self._entries: list[tuple[Int, Int, Float]] = []  # row, column, value
        self._bounds: list[tuple[int, float, float]] = []  # how many rows, lower, upper

    def add_columns(self, n: int, *, upper: float = 1.0, integral: bool = False, what: str = "the lattice") -> Int:
        """Add n columns in [0, upper] and return their numbers."""
        self.check_room(n, what)
        self._columns.append((n, upper, integral))
        self.n_columns += n
        return np.arange(self.n_columns - n, self.n_columns, dtype=np.int64)

    def check_room(self, n: int, what: str) -> None:
        """Refuse n more columns if they are too many."""
        if self.n_columns + n > self.max_columns:
            raise InputError(
                f"the integer program needs more than max_columns={self.max_columns} columns: {what} adds at least {n} "
                f"to {self.n_columns}",
                hint="raise max_columns, or use another decoder",
            )

    def add_rows(self, n: int, row: Int, column: Int, value: Float | float, *, lower: float, upper: float) -> None:
        """Add n rows with common bounds; row : int64[entries] in 0..n-1."""
        self._entries.append((row + self.n_rows, column, np.broadcast_to(np.float64(value), row.shape)))
        self._bounds.append((n, lower, upper))
        self.n_rows += n

    def add_row(self, *parts: Expression, lower: float = -math.inf, upper: float = math.inf) -> None:
        """Add the row lower <= Σ parts <= upper."""
        column = np.concatenate([part.columns for part in parts])
        value = np.concatenate([part.values for part in parts])
        self.add_rows(1, np.zeros(len(column), np.int64), column, value, lower=lower, upper=upper)

    def maximise(self, gains: Sequence[tuple[float, Expression]], *, time_limit: float | None = None) -> Solution:
        """Maximise Σ weight * expression, to proven optimality if the time is enough."""
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array

        gain = np.zeros(self.n_columns)
        for weight, expression in gains:
            np.add.at(gain, expression.columns, weight * expression.values)
        row, column, value = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        A = csr_array((value, (row, column)), shape=(self.n_rows, self.n_columns))
        rows = [np.repeat([b[side] for b in self._bounds], [b[0] for b in self._bounds]) for side in (1, 2)]
        sizes, upper, integral = zip(*self._columns, strict=True)
        options = {"mip_rel_gap": 0.0} | ({} if time_limit is None else {"time_limit": time_limit})
        result = milp(
            -UNIT * gain,
            integrality=np.repeat(integral, sizes).astype(np.uint8),
            bounds=Bounds(0.0, np.repeat(upper, sizes)),
            constraints=LinearConstraint(A, *rows),
            options=options,
        )
        return _solution(result)


def _solution(result: Any) -> Solution:
    """Read what HiGHS says: 0 optimal, 1 limit reached, 2 infeasible; anything else is an accident."""
    nodes = int(result.mip_node_count or 0)
    if result.status == 2:
        return Solution(None, -math.inf, nodes, infeasible=True)
    if result.status not in (0, 1):
        raise EspalierError(f"HiGHS gave up: {result.message}")
    bound = math.inf if result.mip_dual_bound is None else -float(result.mip_dual_bound) / UNIT
    return Solution(None if result.x is None else np.asarray(result.x), bound, nodes, optimal=result.status == 0)


@dataclass(frozen=True, slots=True)
class ProgramLattice:
    """E steps that labellings may take, by rising t: label j[e] at token t[e] after i[e] (L: none) for score[e]."""

    T: int
    L: int
    t: Int
    i: Int
    j: Int
    score: Float

    @classmethod
    def of(cls, potentials: Potentials, floor: float = -math.inf) -> ProgramLattice:
        """Keep the steps on labellings that score at least `floor`, up to the tolerance of certificates; T >= 1."""
        (T, L), p = potentials.unary.shape, potentials
        step = np.full((T, L + 1, L), -np.inf)
        step[0, L] = p.start + p.unary[0]
        step[1:, :L] = p.trans + p.unary[1:, None]
        step[-1] += p.end
        before, after = np.full((T, L + 1), -np.inf), np.zeros((T, L))
        before[0, L] = 0.0
        for t in range(1, T):
            before[t, :L] = (before[t - 1, :, None] + step[t - 1]).max(axis=0)
        for t in range(T - 1, 0, -1):
            after[t - 1] = (step[t, :L] + after[t]).max(axis=1)
        through = before[:, :, None] + step + after[:, None]
        t_, i, j = np.nonzero((through > -np.inf) & (through >= floor - tolerance(floor)))
        return cls(T, L, t_, i, j, step[t_, i, j])

    def add_to(self, program: Program) -> Int:
        """Add a binary column for each step, and the rows that make them a path (eq. 13-14 of Fersini et al.)."""
        x = program.add_columns(len(self.t), integral=True)
        first = self.t == 0
        program.add_rows(1, np.zeros(first.sum(), np.int64), x[first], 1.0, lower=1.0, upper=1.0)
        enters, leaves = self.t < self.T - 1, ~first
        tail, head = (self.t - 1) * self.L + self.i, self.t * self.L + self.j
        _conserve(program, tail[leaves], x[leaves], head[enters], x[enters])
        return x

    def labels(self, x: Float) -> NDArray[np.int16]:
        """Read the labels off a solution whose leading columns are the steps."""
        taken = np.flatnonzero(x[: len(self.t)] > 0.5)
        y = np.zeros(self.T, np.int16)
        y[self.t[taken]] = self.j[taken]
        return y


def _conserve(program: Program, tail: Int, out: Int, head: Int, into: Int) -> None:
    """What enters a node leaves it: columns `into` enter nodes `head`, columns `out` leave nodes `tail`."""
    nodes, index = np.unique(np.concatenate([head, tail]), return_inverse=True)
    value = np.repeat([1.0, -1.0], [len(head), len(tail)])
    program.add_rows(len(nodes), index, np.concatenate([into, out]), value, lower=0.0, upper=0.0)


def degree_of(grounded: Grounded, k: int, lattice: ProgramLattice, program: Program, x: Int) -> Expression:
    """Return an expression that is at least d_k on every path, and equal to it where it is made small."""
    form = grounded.compiled.form[k]
    if form == "local":
        amount = grounded.local_unary(k)[lattice.t, lattice.j].astype(np.float64)
        pair = grounded.local_pair(k)
        if pair is not None:
            later = lattice.t > 0
            amount[later] += pair[lattice.t[later], lattice.i[later], lattice.j[later]]
        return Expression(x, amount, _most(amount, lattice.t, lattice.T))
    return _linear(grounded, k, lattice, program, x) if form == "linear" else _monitor(grounded, k, lattice, program, x)


def _most(amount: Float, t: Int, T: int) -> float:
    """Bound a sum of one amount a token by the largest of each."""
    largest = np.full(T, -np.inf)
    np.maximum.at(largest, t, amount)
    return float(largest.sum())


def _linear(grounded: Grounded, k: int, lattice: ProgramLattice, program: Program, x: Int) -> Expression:
    """Add a slack z_r >= a_r . n(x) - b_r for each row of the rule; the degree is their sum."""
    columns, most = [np.zeros(0, np.int64)], 0.0
    value = np.asarray(grounded.compiled.features, dtype=np.float64)
    for row in grounded.rows:
        if row.rule == k:
            count = np.tensordot(np.asarray(row.coefficients, np.float64), value, axes=1)[lattice.i, lattice.j]
            excess = max(0.0, _most(count, lattice.t, lattice.T) - row.bound)
            z = program.add_columns(1, upper=excess, what=f"rule {grounded.compiled.rules.names[k]!r}")
            program.add_row(Expression(x, count), Expression(z, np.array([-1.0])), upper=float(row.bound))
            columns.append(z)
            most += excess
    slacks = np.concatenate(columns)
    return Expression(slacks, np.ones(len(slacks)), most)


def _monitor(grounded: Grounded, k: int, lattice: ProgramLattice, program: Program, x: Int) -> Expression:
    """Add the runs of the rule's monitor as a flow beside x; the degree is what its steps charge."""
    monitor, what = grounded.monitor(k), f"rule {grounded.compiled.rules.names[k]!r}"
    steps: dict[tuple[int, int], list[int]] = defaultdict(list)
    for e, (t, i) in enumerate(zip(lattice.t.tolist(), lattice.i.tolist(), strict=True)):
        steps[t, i].append(e)
    label = lattice.j.tolist()
    flow: list[tuple[int, int, int]] = []  # step, node left, node entered; one a column
    amount: list[float] = []
    layer, n_nodes = {(lattice.L, monitor.initial): 0}, 1
    for t in range(lattice.T):
        following: dict[tuple[int, Any], int] = {}
        for (i, state), tail in layer.items():
            for e in steps.get((t, i), ()):
                after, charged = monitor.step(state, t, i if t else -1, label[e])
                if t == lattice.T - 1:
                    charged += monitor.final(after)
                head = following.setdefault((label[e], after), n_nodes + len(following))
                flow.append((e, tail, head))
                amount.append(float(charged))
        layer, n_nodes = following, n_nodes + len(following)
        program.check_room(len(flow), what)  # before the rest is explored
    f = program.add_columns(len(flow), what=what)
    e, tail, head = np.array(flow, dtype=np.int64).T
    both = np.concatenate([e, np.arange(len(x))])
    program.add_rows(len(x), both, np.concatenate([f, x]), np.repeat([1.0, -1.0], [len(f), len(x)]), lower=0, upper=0)
    leaves, enters = lattice.t[e] > 0, lattice.t[e] < lattice.T - 1
    _conserve(program, tail[leaves], f[leaves], head[enters], f[enters])
    return Expression(f, np.array(amount), _most(np.array(amount), lattice.t[e], lattice.T))


ILP = Decoder("ilp", decode, True, "an integer linear program; any rule")
