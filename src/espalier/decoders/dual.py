"""Dual decomposition: hard DD and Soft-DD (algorithms 1 and 2 of Anzaroot, Passos, Belanger & McCallum, 2014).

Rules in linear form are R rows a_r . n(y) <= b_r, where n(y) counts events of neighbouring labels and every unit
of excess costs c_r. With s the potentials that know the local rules already:

    max_y  s(y) - Σ_r c_r max(0, a_r . n(y) - b_r)                                        (their eq. 5)
    D(λ) = max_y [ s(y) - Σ_r λ_r a_r . n(y) ] + Σ_r λ_r b_r,   0 <= λ_r <= c_r           (their eq. 4 and 7)

D(λ) is one Viterbi pass with start and trans shifted by -Aᵀλ, and never less than the maximum. A projected
subgradient method lowers it:  λ <- clip(λ + η (A n(y) - b), 0, c). For the y that attains D(λ),

    D(λ) - S(y) = Σ_r  (c_r - λ_r) excess_r  where a row is exceeded,  λ_r slack_r  where it is kept,

so the gap is 0, and y optimal, exactly under the paper's conditions: each row holds with equality, or is kept with
λ_r = 0, or is exceeded with λ_r = c_r. A hard rule has c_r = inf: then this is algorithm 1. The answer is the best y
met, the bound the lowest D. The gap stays open (BOUNDED) where the linear relaxation has no integral optimum, and
where the optimum attains D(λ) only together with others, at a single λ: ties hide it.

Hard rows that exclude each other make D unbounded. The multipliers then grow along a ray that proves it (Farkas):
if every y that the potentials allow has Σ_hard λ_r (a_r . n(y) - b_r) > 0, none keeps all rows. One Viterbi pass over
potentials of 0 and -inf checks that, at passes 1, 2, 4, 8, ... as long as no labelling keeps the hard rows.

Time O(I (T L² + F (T + L²) + R F)) for I passes, F features. Departures from the paper: their λ is -λ here; they do
not print a step size, so "sdd14" is the textbook's rate / t; "polyak" (the default) aims at the best known
labelling, and counts only the multipliers that can move. Ties: which of several optimal labellings comes out depends
on the path of λ; with no rule violated it is Viterbi's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import (
    Decoder,
    Decoding,
    Problem,
    Verdict,
    certify,
    checked_count,
    infeasible,
    nothing_found,
    refusal,
)
from espalier.decoders.certify import WorkDone, tolerance
from espalier.errors import InputError
from espalier.kernels import chain
from espalier.potentials import ChainBatch, Potentials
from espalier.rules.compile import Compiled

__all__ = ["DUAL", "STEPS", "accepts", "decode"]

Float = NDArray[np.float64]

METHOD = "dual"
STEPS = ("polyak", "sdd14")
"""The step-size schedules."""

_STALLED = 1e-9  # a Polyak factor this small moves nothing any more
_MARGIN = 1e-6  # far above the rounding of a sum of counts times multipliers of at most 1


def accepts(compiled: Compiled) -> Verdict:
    """Take local and linear rules; name the first other one."""
    return refusal(compiled, ("local", "linear"), "dual decomposition")


def decode(
    problem: Problem,
    *,
    k: int = 1,
    step: str = "polyak",
    max_iterations: int = 200,
    rate: float = 1.0,
    shrink: float = 0.7,
    cap: float = 6.0,
    gap: float = 0.0,
) -> Decoding:
    """Return the best labelling that projected subgradient steps meet, with the dual bound.

    step : "polyak", η = a min(D - best, cap) / |g|² where a starts at `rate` and is multiplied by `shrink` whenever D
    does not fall from one pass to the next; or "sdd14", η = rate / t. A larger `shrink` closes more gaps in more
    passes; without `cap` hard rules overshoot.
    max_iterations : Viterbi passes over the potentials; 1 is plain Viterbi with a certificate.
    gap : stop as soon as bound - score is no more.
    If no labelling met keeps the hard rules there are no labels: INFEASIBLE if that is proven, otherwise BOUNDED.
    """
    _check(problem, k, step, rate, shrink, cap, gap)
    rows = _rows(problem)
    search = _Subgradient(problem.folded, rows, step, rate, shrink, cap)
    for passes in range(1, checked_count(max_iterations, "max_iterations") + 1):
        search.evaluate()
        if search.bound == -math.inf or search.proves_infeasible(passes):
            return infeasible(problem, METHOD, search.work)
        if search.closed(gap) or not search.move(passes):
            break
    if search.best > -math.inf:
        return certify(problem, search.labels, search.bound, METHOD, search.work)
    return nothing_found(problem, search.bound, METHOD, search.work)


def _check(problem: Problem, k: int, step: str, rate: float, shrink: float, cap: float, gap: float) -> None:
    """Refuse what cannot be done, with the reason."""
    if k != 1:
        raise InputError(f"k is {k!r}, but dual decomposition finds one labelling", hint="use 'astar' for the k best")
    if step not in STEPS:
        raise InputError(f"unknown step {step!r}", hint=f"use {' or '.join(map(repr, STEPS))}")
    for name, value in (("rate", rate), ("cap", cap)):
        if not value > 0:
            raise InputError(f"{name} is {value!r}", hint="expected a positive number")
    if not 0 < shrink < 1:
        raise InputError(f"shrink is {shrink!r}", hint="expected a number between 0 and 1")
    if not gap >= 0:
        raise InputError(f"gap is {gap!r}", hint="expected zero or more")
    for r in problem.globals:  # a rule that costs nothing may have any form
        if problem.grounded.compiled.form[r] != "linear":
            raise InputError(
                f"rule {problem.rules.names[r]!r} is not a linear rule", hint="use 'astar' or 'ilp' for it"
            )


@dataclass(frozen=True, slots=True)
class _Rows:
    """R rows A n(y) <= b that cost c per unit.

    value : float64[F, L + 1, L], how much feature f counts when label j follows i (i = L: j is the first);
    A : float64[R, F]; b, c : float64[R], c > 0, inf for hard rows.
    """

    value: Float
    A: Float
    b: Float
    c: Float

    def shift(self, multipliers: Float) -> Float:
        """Return Aᵀλ as what each step costs, float64[L + 1, L]."""
        cost: Float = np.tensordot(multipliers @ self.A, self.value, axes=1)
        return cost

    def excess(self, y: NDArray[np.int16]) -> Float:
        """Return A n(y) - b, float64[R]."""
        before = np.concatenate([[self.value.shape[2]], y[:-1]]) if len(y) else y
        counts: Float = self.value[:, before, y].sum(axis=1)
        return self.A @ counts - self.b


def _rows(problem: Problem) -> _Rows:
    """Collect the rows that cost something."""
    grounded = problem.grounded
    rows = [row for row in grounded.rows if problem.penalties[row.rule] > 0]
    value = np.asarray(grounded.compiled.features, dtype=np.float64)
    A = np.array([row.coefficients for row in rows], dtype=np.float64).reshape(len(rows), len(value))
    used = np.flatnonzero(A.any(axis=0))  # features of other rules cost time only
    b = np.array([row.bound for row in rows], dtype=np.float64)
    c = problem.penalties[[row.rule for row in rows]] if rows else np.zeros(0)
    return _Rows(value[used], A[:, used], b, c)


class _Viterbi:
    """Viterbi on one sequence with start and trans shifted; the arrays are allocated once."""

    def __init__(self, potentials: Potentials) -> None:
        batch = ChainBatch.of([potentials])
        self.labels = np.empty(potentials.n_tokens, np.int16)
        self._score = np.empty(1)
        self._batch = batch
        self._trans, self._start = batch.trans.copy(), batch.start.copy()
        arrays = (batch.indptr, batch.unary, self._trans, batch.trans_class, self._start, batch.end)
        self._arguments = (*arrays, 0, 1, self.labels, self._score)

    def __call__(self, shift: Float) -> float:
        """Write the best labels of the potentials minus `shift` : float64[L + 1, L], and return their score."""
        np.subtract(self._batch.trans, shift[:-1], out=self._trans)
        np.subtract(self._batch.start, shift[-1], out=self._start)
        chain.viterbi(*self._arguments)
        return float(self._score[0])


class _Subgradient:
    """The state of the method: multipliers, lowest dual value, best labelling."""

    def __init__(self, potentials: Potentials, rows: _Rows, step: str, rate: float, shrink: float, cap: float) -> None:
        self.bound, self.best = math.inf, -math.inf
        self.labels = np.zeros(potentials.n_tokens, np.int16)
        self._potentials, self._rows = potentials, rows
        self._viterbi = _Viterbi(potentials)
        self._passes = 0
        self._step, self._factor, self._shrink, self._cap = step, rate, shrink, cap
        self._dual = math.inf
        self._multipliers = np.zeros(len(rows.b))
        self._hard = np.isposinf(rows.c)

    @property
    def work(self) -> WorkDone:
        return WorkDone(viterbi=self._passes)

    def closed(self, gap: float) -> bool:
        """Is the best labelling within `gap` of the bound, or optimal?"""
        return self.best > -math.inf and self.bound - self.best <= max(gap, tolerance(self.best))

    def evaluate(self) -> None:
        """Compute D(λ) and the score of the labels that attain it; keep the best of both."""
        rows = self._rows
        shifted = self._viterbi(rows.shift(self._multipliers))
        self._passes += 1
        if shifted == -math.inf:
            self.bound = -math.inf
            return
        y = self._viterbi.labels
        self._excess = rows.excess(y)
        before, self._dual = self._dual, shifted + float(self._multipliers @ rows.b)
        if self._step == "polyak" and self._dual >= before:
            self._factor *= self._shrink
        self.bound = min(self.bound, self._dual)
        over = self._excess > 0  # rows kept cost nothing, and 0 * inf is nan
        score = self._dual + float(self._multipliers @ self._excess) - float(rows.c[over] @ self._excess[over])
        if score > self.best:
            self.best, self.labels = score, y.copy()

    def move(self, passes: int) -> bool:
        """Step along the subgradient and project; False if nothing can move any more."""
        lam, c, g = self._multipliers, self._rows.c, self._excess
        g = np.where((lam <= 0) & (g < 0) | (lam >= c) & (g > 0), 0.0, g)
        length = float(g @ g)
        if length == 0 or self._factor < _STALLED:
            return False
        if self._step == "polyak":
            eta = self._factor * min(self._dual - self.best, self._cap) / length
        else:
            eta = self._factor / passes
        self._multipliers = np.clip(lam + eta * g, 0.0, c)
        return True

    def proves_infeasible(self, passes: int) -> bool:
        """Do the multipliers prove that no labelling keeps all hard rows?  Asked at powers of two only."""
        if self.best > -math.inf or passes & (passes - 1):
            return False
        p, b = self._potentials, self._rows.b
        lam = np.where(self._hard, self._multipliers, 0.0)
        if not lam.any():
            return False
        lam /= lam.max()
        unary, trans, start, end = (np.where(np.isneginf(a), a, 0.0) for a in (p.unary, p.trans, p.start, p.end))
        self._passes += 1
        most = _Viterbi(Potentials(unary, trans, start, end))(self._rows.shift(lam)) + float(lam @ b)
        return most < -_MARGIN


DUAL = Decoder("dual", decode, False, "Lagrangian multipliers on local and linear rules", accepts)
