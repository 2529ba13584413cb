"""When does something hold? A formula in disjunctive normal form, learned clause by clause, each by an exact program.

Samples have attributes that hold or do not; some samples are positive, the others negative. A *conjunction* is a few
literals (an attribute, or its negation); it *covers* the samples for which all its literals are true. This is the rule
learner of Fersini, Messina, Felici & Roth (2014, section 3), after Felici & Truemper (2002): a sequence of
minimum-cost satisfiability problems, whose clauses have less and less power. With literals p in {0, 1} and the cover
c_r of sample r, clause by clause:

    max  Σ_r (positive_r - w negative_r) c_r - 0.01 Σ_j p_j
    s.t. c_r <= 1 - p_j        for every literal j that is false for r
         c_r >= 1 - Σ_j p_j    over the literals that are false for r
         Σ_r positive_r c_r >= least support,   Σ_j p_j <= most literals,   an attribute or its negation

The paper's learner separates without errors. Labels have errors, so one negative sample weighs w = confidence / (1 -
confidence): a clause gains exactly if a larger share than `confidence` of what it covers is positive. Positive samples
that a clause covers are counted no more for the next one; negative ones are. The sequence ends where no clause gains.

Equal samples are one row with their number, so a program has as many rows as there are different samples. HiGHS solves
it to the optimum; among equal ones it takes the fewest literals, and those named first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import EspalierError, InputError

__all__ = ["Conjunction", "learn_dnf"]

Bool = NDArray[np.bool_]
Float = NDArray[np.float64]

LITERAL = 0.01
"""What a literal costs, in positive samples."""

FIRST = 1e-5
"""How much of that the last literal costs more than the first: ties are broken the same way every time."""


class Conjunction(NamedTuple):
    """Literals that hold together, (attribute, True or False) each, and how many samples they cover.

    support, broken : positive and negative samples; fresh : positive samples that no conjunction before it covers.
    """

    literals: tuple[tuple[int, bool], ...]
    support: int
    broken: int
    fresh: int

    @property
    def confidence(self) -> float:
        """The share of positive samples among those it covers."""
        return self.support / max(self.support + self.broken, 1)

    def covers(self, attributes: ArrayLike) -> Bool:
        """Return which samples it covers, bool[N]; attributes : bool[N, J]."""
        table = np.asarray(attributes, bool)
        covered: Bool = np.ones(len(table), bool)
        for j, wanted in self.literals:
            covered &= table[:, j] == wanted
        return covered


def learn_dnf(
    attributes: ArrayLike,
    positive: ArrayLike,
    *,
    confidence: float = 0.9,
    min_support: int = 5,
    max_literals: int = 3,
    max_clauses: int = 4,
) -> list[Conjunction]:
    """Return the conjunctions of a formula for positive samples, the strongest first.

    attributes : bool[N, J]; positive : bool[N]. confidence : from 0 to less than 1, see the head of this module. A
    conjunction may be empty: it covers everything.
    """
    table, wanted = np.asarray(attributes, bool), np.asarray(positive, bool)
    if table.ndim != 2 or wanted.shape != (len(table),):
        raise InputError("learn_dnf takes attributes bool[N, J] and N answers")
    if not 0 <= confidence < 1:
        raise InputError(f"confidence is {confidence!r}", hint="expected a share from 0 to less than 1")
    rows, inverse = np.unique(table, axis=0, return_inverse=True)
    inverse = inverse.reshape(-1)  # NumPy 2.0 gave it another shape
    good = np.bincount(inverse[wanted], minlength=len(rows))
    bad = np.bincount(inverse[~wanted], minlength=len(rows))
    weight = confidence / (1.0 - confidence)
    found: list[Conjunction] = []
    left = good.copy()
    while len(found) < max_clauses and left.sum() >= min_support:
        literals = _best(rows, left, bad, weight, min_support, max_literals)
        if literals is None:
            break
        covered = Conjunction(literals, 0, 0, 0).covers(rows)
        found.append(Conjunction(literals, int(good[covered].sum()), int(bad[covered].sum()), int(left[covered].sum())))
        left = np.where(covered, 0, left)
    return found


def _best(
    rows: Bool, good: NDArray[np.int64], bad: NDArray[np.int64], weight: float, min_support: int, max_literals: int
) -> tuple[tuple[int, bool], ...] | None:
    """Return the literals of the best conjunction, None if none gains."""
    gains = good - weight * bad
    if not bad.any():  # nothing to separate from
        return ()
    varied = np.flatnonzero(rows.any(axis=0) & ~rows.all(axis=0))  # others separate nothing
    chosen = _solve(rows[:, varied], good, gains, min_support, max_literals)
    if chosen is None:
        return None
    literals = tuple((int(varied[k // 2]), k % 2 == 0) for k in chosen)
    covered = Conjunction(literals, 0, 0, 0).covers(rows)
    return literals if gains[covered].sum() > LITERAL * len(literals) else None


def _solve(rows: Bool, good: NDArray[np.int64], gains: Float, min_support: int, max_literals: int) -> list[int] | None:
    """Return the chosen literals, 2 j for attribute j and 2 j + 1 for its negation; None if no clause has support."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    R, J = rows.shape
    false = np.stack([~rows, rows], axis=2).reshape(R, 2 * J)  # which literals are false for which row
    # A row without positive samples is never worth covering; one with some may count as support only if it is covered.
    upper, lower = np.flatnonzero(good > 0), np.flatnonzero(gains <= 0)
    at, literal = np.nonzero(false[upper])
    n = len(at)
    ones, count = np.ones(n), np.arange(n)
    caps = csr_array((np.r_[ones, ones], (np.r_[count, count], np.r_[literal, 2 * J + upper[at]])), (n, 2 * J + R))
    floors = np.zeros((len(lower), 2 * J + R))
    floors[:, : 2 * J] = false[lower]
    floors[np.arange(len(lower)), 2 * J + lower] = 1.0
    both = np.zeros((J, 2 * J + R))
    both[np.arange(J), 2 * np.arange(J)] = both[np.arange(J), 2 * np.arange(J) + 1] = 1.0
    few, support = np.zeros((1, 2 * J + R)), np.zeros((1, 2 * J + R))
    few[0, : 2 * J], support[0, 2 * J :] = 1.0, good
    price = LITERAL * (1.0 + FIRST * np.arange(2 * J))
    found = milp(
        np.r_[price, -gains],
        integrality=np.r_[np.ones(2 * J), np.zeros(R)],
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(caps, ub=1.0),
            LinearConstraint(csr_array(floors), lb=1.0),
            LinearConstraint(csr_array(both), ub=1.0),
            LinearConstraint(few, ub=max_literals),
            LinearConstraint(support, lb=min_support),
        ],
        options={"mip_rel_gap": 0.0},
    )
    if found.status == 2:  # infeasible
        return None
    if found.x is None:
        raise EspalierError(f"HiGHS found no clause: {found.message}")
    return [int(k) for k in np.flatnonzero(found.x[: 2 * J] > 0.5)]
