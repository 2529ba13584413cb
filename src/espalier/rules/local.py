"""Local rules: degrees that are sums over single labels and pairs of neighbouring labels.

    d(x, y) = Σ_t Σ_c [condition_c holds at t] · matrix_c[y_{t-1}, y_t]

so that penalties go straight into the potentials and Viterbi pays for them. A condition may speak about other tokens,
so rules that look at the next label are local, too: token t + 1 asks what held at token t.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.rules import nodes as n
from espalier.rules.grounding import Bits, Satisfied, both, input_only
from espalier.rules.paths import Counts, PathTable
from espalier.rules.predicates import ALWAYS, LAST, AllOf, At, Condition, Near, NoneOf

__all__ = ["CHARGES", "SUPPORT", "UNSUPPORTED", "Charge", "LocalForm", "charges", "single", "weights"]

Price = NDArray[Any]
"""int64 or float64."""


@dataclass(frozen=True, slots=True, eq=False)
class Charge:
    """Where `condition` holds at t, the pair (y_{t-1}, y_t) costs matrix[y_{t-1}, y_t].

    matrix : int64[L + 1, L], >= 0; row L (or -1) where y_t is the first label.
    """

    condition: Condition
    matrix: Counts


def charges(node: n.Node, table: PathTable) -> list[Charge] | None:
    """Return the charges of a local node, None if the node is not local."""
    lower = CHARGES.get(type(node))
    found = None if lower is None else lower(node, table)
    return None if found is None else [c for c in found if c.matrix.any()]


def single(condition: Condition) -> bool:
    """Can it hold at one token of a sequence at most?"""
    if isinstance(condition, AllOf):
        return any(single(part) for part in condition.conditions)
    return isinstance(condition, At) and condition.first == condition.last


def weights(node: n.Linear, table: PathTable) -> Counts:
    """Return what the pair (y_{t-1}, y_t) adds to a . n(y), int64[L + 1, L]."""
    total = np.zeros((table.L + 1, table.L), np.int64)
    for term in node.terms:
        counted = table.opened(term.fields) if term.unit == "segments" else table.has_label(term.fields)
        total += term.coefficient * counted
    return total


def _implies(node: n.Implies, table: PathTable) -> list[Charge]:
    given, wrong = table.has_label(node.given), ~table.has_label(node.fields)
    beyond = not node.fields.has_label(None)  # is a label asked for where there is none?
    matrix = np.zeros((table.L + 1, table.L), np.int64)
    if node.offset == 0:
        return [Charge(node.condition, matrix + (given & wrong))]
    if node.offset == -1:
        return [Charge(node.condition, matrix + np.outer(np.append(wrong, beyond), given))]
    last = Charge(both(LAST, node.condition), matrix + given * beyond)
    return [Charge(Near(-1, node.condition), matrix + np.outer(np.append(given, False), wrong)), last]


def _change(node: n.Change, table: PathTable) -> list[Charge]:
    return [Charge(NoneOf(node.condition), table.borders().astype(np.int64))]


def _linear(node: n.Linear, table: PathTable) -> list[Charge] | None:
    """What must not be there at all costs its amount wherever it is."""
    amounts = weights(node, table)
    if node.bound != 0 or ((amounts < 0).any() and (amounts > 0).any()):
        return None
    signs = {"<=": (1,), ">=": (-1,), "==": (1, -1)}[node.comparison]
    return [Charge(ALWAYS, np.maximum(sign * amounts, 0)) for sign in signs]


def _length(node: n.Length, table: PathTable) -> list[Charge] | None:
    if node.bound > 1:
        return None
    return [] if node.comparison == ">=" else [Charge(ALWAYS, table.continued(node.fields))]


def _if(node: n.If, table: PathTable) -> list[Charge] | None:
    then = charges(node.then, table) if input_only(node.condition) else None
    if then is None:
        return None
    return [Charge(both(Satisfied(node.condition), c.condition), c.matrix) for c in then]


def _all(node: n.All, table: PathTable) -> list[Charge] | None:
    found: list[Charge] = []
    for part in node.parts:
        inner = charges(part, table)
        if inner is None:
            return None
        found.extend(inner)
    return found


CHARGES: dict[type[n.Node], Callable[[Any, PathTable], list[Charge] | None]] = {
    n.Implies: _implies,
    n.Change: _change,
    n.Linear: _linear,
    n.Length: _length,
    n.If: _if,
    n.All: _all,
}
UNSUPPORTED: tuple[type[n.Node], ...] = (n.Once, n.Before, n.Later, n.Exists, n.Any, n.Not)
SUPPORT: dict[type[n.Node], str] = {
    n.Implies: "yes",
    n.Change: "yes",
    n.Linear: "bound 0, one sign",
    n.Length: "bound 1",
    n.If: "condition on the input, local part",
    n.All: "of local parts",
}
"""Every node type is a key of CHARGES or in UNSUPPORTED; a test keeps it so."""


@dataclass(frozen=True, slots=True, eq=False)
class LocalForm:
    """The charges of all local rules of a set, stacked: n unary ones and m that depend on the pair.

    unary_rule, unary_bit : int64[n]; unary : int64[n, L].
    pair_rule, pair_bit : int64[m]; pair : int64[m, L, L] from the second token on; first : int64[m, L] at the first.
    """

    unary_rule: Counts
    unary_bit: Counts
    unary: Counts
    pair_rule: Counts
    pair_bit: Counts
    pair: Counts
    first: Counts

    @classmethod
    def of(cls, charged: Sequence[tuple[int, int, Counts]], L: int) -> LocalForm:
        """Stack (rule, bit, matrix[L + 1, L])."""
        alone = [(m == m[-1]).all() for _, _, m in charged]
        unary = [c for c, lone in zip(charged, alone, strict=True) if lone]
        pair = [c for c, lone in zip(charged, alone, strict=True) if not lone]
        return cls(
            np.array([k for k, _, _ in unary], np.int64),
            np.array([b for _, b, _ in unary], np.int64),
            np.array([m[-1] for _, _, m in unary], np.int64).reshape(-1, L),
            np.array([k for k, _, _ in pair], np.int64),
            np.array([b for _, b, _ in pair], np.int64),
            np.array([m[:-1] for _, _, m in pair], np.int64).reshape(-1, L, L),
            np.array([m[-1] for _, _, m in pair], np.int64).reshape(-1, L),
        )

    def charged(self, bits: Bits, price: Price) -> tuple[Price, Price | None]:
        """Return what labels cost, [T, L], and pairs that enter a token, [T, L, L] (row 0 unused) or None if nothing.

        bits : bool[T, B]; price : [K], per unit of degree, finite; its type is the type of the result.
        """
        unary = (bits[:, self.unary_bit] * price[self.unary_rule]) @ self.unary.astype(price.dtype)
        weight = bits[:, self.pair_bit] * price[self.pair_rule]
        unary[:1] += weight[:1] @ self.first.astype(price.dtype)
        active = np.flatnonzero(weight[1:].any(axis=0))
        if not len(active):
            return unary, None
        T, L = unary.shape
        pair = np.zeros((T, L, L), price.dtype)
        pair[1:] = np.tensordot(weight[1:, active], self.pair[active].astype(price.dtype), axes=1)
        return unary, pair

    def degrees(self, bits: Bits, y: NDArray[np.int64], K: int) -> Counts:
        """Return the degree of every local rule for a labelling y, int64[K]; zero for the others."""
        degrees = np.zeros(K, np.int64)
        np.add.at(degrees, self.unary_rule, (bits[:, self.unary_bit] * self.unary[:, y].T).sum(axis=0))
        if len(y):
            pairs = bits[1:, self.pair_bit] * self.pair[:, y[:-1], y[1:]].T
            np.add.at(degrees, self.pair_rule, pairs.sum(axis=0) + bits[0, self.pair_bit] * self.first[:, y[0]])
        return degrees
