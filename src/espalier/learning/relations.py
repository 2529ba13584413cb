"""What labelled sequences say of a rule, as a cost, and a small set of rules chosen by a covering programme.

The cost of a rule reads eq. (30) of Fersini, Messina, Felici & Roth (2014): with D clauses (`discovery_clauses`) that
hold and D' that do not,

    c = -log( (D' + 1) / (D + D' + 2) )

the negative log probability that the relation is broken. (As printed, the equation takes the logarithm of the share
that holds, which is negative and nearest to 0 for the best rules; minimised, it would pay for breaking them.) So c is
positive, in natural-log units, grows with the share that holds and with the number of clauses behind it, and one
added on each side keeps a relation that never fails finite.

`cover` is our reading of their 'sequence of minimum-cost satisfiability problems', which looks for the cheapest logic
formulas that separate the samples of one class from all others. The classes are right labellings and a model's wrong
ones; rule k *separates* wrong labelling i if that breaks the rule and the right labelling of the same tokens keeps it:

    min Σ_k cost_k x_k    s.t.    Σ_k separates[k, i] x_k >= min(depth, Σ_k separates[k, i])  for all i,    x in {0, 1}

Of rules that separate the same labellings one is enough, so the cheapest stays before the programme begins; what the
others of the answer imply is never in it, as it would only cost. HiGHS solves it; some thousand rules over some
hundred labellings take about a second.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.decoders.base import checked_count
from espalier.errors import EspalierError, InputError
from espalier.learning.discovery_clauses import Clauses
from espalier.rules.ruleset import Rule

__all__ = ["DELIMITERS", "Relation", "counted", "cover"]

DELIMITERS = (".", ",", ";", ":")
MAX_NODES = 10_000


class Relation(NamedTuple):
    """A rule and what the labelled sequences say about it.

    template : the kind of relation; support, broken : clauses that apply and hold, and that do not.
    """

    rule: Rule
    template: str
    support: int
    broken: int

    @property
    def confidence(self) -> float:
        """The share of clauses that hold; 0 if the rule never applies."""
        return self.support / max(self.support + self.broken, 1)

    @property
    def cost(self) -> float:
        """What breaking it costs, in natural-log units (eq. 30)."""
        return -math.log((self.broken + 1) / (self.support + self.broken + 2))


def counted(rule: Rule, template: str, clauses: Clauses) -> Relation:
    """Return a rule with the number of its clauses in a corpus."""
    broken = int(clauses.broken.sum())
    return Relation(rule, template, int(clauses.applies.sum()) - broken, broken)


def cover(separates: ArrayLike, costs: ArrayLike, depth: int = 1) -> NDArray[np.int64]:
    """Return the cheapest rules that separate every labelling that any rule separates, by number, in order.

    separates : bool[K, N]; costs : float64[K], above 0; depth : how many rules each labelling asks for, if there are
    so many. Ties go to the rule named first.
    """
    table, prices = np.asarray(separates, bool), np.asarray(costs, np.float64)
    if table.ndim != 2 or prices.shape != (len(table),) or not (np.isfinite(prices) & (prices > 0)).all():
        raise InputError("cover takes a table bool[K, N] and K finite costs above 0")
    checked_count(depth, "depth")
    rules = _different(table, prices)
    if not len(rules):
        return rules
    columns = _different(table[rules].T, np.ones(table.shape[1]))  # equal labellings ask for the same
    return np.sort(rules[_solve(table[np.ix_(rules, columns)], prices[rules], depth)])


def _different(rows: NDArray[np.bool_], prices: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the cheapest row of each group of equal rows, without empty ones."""
    order = np.argsort(prices, kind="stable")
    order = order[rows[order].any(axis=1)]
    if not len(order):
        return order
    _, first = np.unique(np.packbits(rows[order], axis=1), axis=0, return_index=True)
    chosen: NDArray[np.int64] = np.sort(order[first])
    return chosen


def _solve(table: NDArray[np.bool_], prices: NDArray[np.float64], depth: int) -> NDArray[np.int64]:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    needed = np.minimum(table.sum(axis=0), depth)
    # A touch dearer for later rules, or HiGHS would choose between equal ones as it pleases.
    touch = 1e-4 * prices.min() * np.arange(len(prices)) / (len(prices) ** 2)
    found = milp(
        prices + touch,
        integrality=np.ones(len(prices)),
        bounds=Bounds(0, 1),
        constraints=LinearConstraint(csr_array(table.T.astype(np.float64)), lb=needed),
        options={"node_limit": MAX_NODES, "mip_rel_gap": 1e-9},
    )
    if found.x is None:
        raise EspalierError(f"HiGHS found no covering: {found.message}")
    return np.flatnonzero(found.x > 0.5)
