"""Linear rules: degrees that are sums of max(0, a . n(y) - b) over counts n(y) of the whole labelling.

A *feature* counts something about pairs of neighbouring labels ("a segment of this path opens", "a token is in this
field"): n_f(y) = Σ_t value[f, y_{t-1}, y_t]. A rule owns one or more rows a . n(y) <= b; `>=` is negated and `==`
gives two rows. Rows may be limited to sequences whose input satisfies a node, their *gate*. Features and rows are
made once a rule set; only gates look at tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.rules import nodes as n
from espalier.rules.grounding import input_only
from espalier.rules.paths import Counts, PathTable

__all__ = ["LOWERINGS", "SUPPORT", "UNSUPPORTED", "Inequality", "LinearForm", "Row", "groups", "inequalities"]


@dataclass(frozen=True, slots=True, eq=False)
class Inequality:
    """Σ coefficient · (sum of matrix over the labelling) <= bound, where the input satisfies all gates.

    terms : (coefficient, int64[L + 1, L]) each.
    """

    terms: tuple[tuple[int, Counts], ...]
    bound: int
    gates: tuple[n.Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """coefficients . n(y) <= bound; rule number `rule` is violated by the excess. coefficients : int64[F]."""

    rule: int
    coefficients: NDArray[np.int64]
    bound: int


@dataclass(frozen=True, slots=True, eq=False)
class LinearForm:
    """The R rows of all linear rules of a set, over F features.

    values : int16[F, L + 1, L]; how much feature f counts when label j follows i (i = L: j is the first label).
    rule, bound : int64[R]; coefficients : int64[R, F].
    gate : int64[R], the number of the condition that switches a row on, -1 for rows that are always on.
    """

    values: NDArray[np.int16]
    rule: NDArray[np.int64]
    coefficients: NDArray[np.int64]
    bound: NDArray[np.int64]
    gate: NDArray[np.int64]

    @classmethod
    def of(cls, found: Sequence[tuple[int, int, Inequality]], L: int) -> LinearForm:
        """Stack (rule, gate, inequality); equal matrices become one feature."""
        index: dict[bytes, int] = {}
        matrices: list[Counts] = []
        for _, _, inequality in found:
            for _, matrix in inequality.terms:
                if index.setdefault(matrix.tobytes(), len(matrices)) == len(matrices):
                    matrices.append(matrix)
        coefficients = np.zeros((len(found), len(matrices)), np.int64)
        for r, (_, _, inequality) in enumerate(found):
            for coefficient, matrix in inequality.terms:
                coefficients[r, index[matrix.tobytes()]] += coefficient
        return cls(
            np.array(matrices, np.int16).reshape(-1, L + 1, L),
            np.array([k for k, _, _ in found], np.int64),
            coefficients,
            np.array([inequality.bound for _, _, inequality in found], np.int64),
            np.array([gate for _, gate, _ in found], np.int64),
        )

    def counts(self, y: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return n(y), int64[F]."""
        before = np.append(-1, y)[:-1]  # -1 is the row of the first label
        counted: NDArray[np.int64] = self.values[:, before, y].sum(axis=1, dtype=np.int64)
        return counted

    def excess(self, y: NDArray[np.int64], active: NDArray[np.int64], K: int) -> NDArray[np.int64]:
        """Return the degrees of the linear rules, int64[K], by the active rows; zero for other rules."""
        degrees = np.zeros(K, np.int64)
        over = self.coefficients[active] @ self.counts(y) - self.bound[active]
        np.add.at(degrees, self.rule[active], np.maximum(over, 0))
        return degrees


def inequalities(node: n.Node, table: PathTable) -> list[Inequality] | None:
    """Return the rows of a linear node, None if the node is not linear."""
    lower = LOWERINGS.get(type(node))
    return None if lower is None else lower(node, table)


def groups(node: n.Once, table: PathTable) -> list[Counts]:
    """Return, for each field that may be there once, how many of its segments open, int64[L + 1, L] each."""
    if node.fields.negated:
        names = [path for path in table.paths if node.fields.has_path(path)]
        return [_opened_path(path, table) for path in names]
    return [table.opened(n.Fields((name,))) for name in node.fields.names]


def _opened_path(path: str, table: PathTable) -> Counts:
    p = table.paths.index(path)
    return table.inside[:, p].astype(np.int64) - table.kept[:, :, p]


def _once(node: n.Once, table: PathTable) -> list[Inequality]:
    return [Inequality(((1, opened),), 1) for opened in groups(node, table) if opened.any()]


def _linear(node: n.Linear, table: PathTable) -> list[Inequality]:
    counted = [
        (t.coefficient, table.opened(t.fields) if t.unit == "segments" else _every_row(table.has_label(t.fields)))
        for t in node.terms
    ]
    signs = {"<=": (1,), ">=": (-1,), "==": (1, -1)}[node.comparison]
    return [Inequality(tuple((sign * a, m) for a, m in counted), sign * node.bound) for sign in signs]


def _every_row(labels: NDArray[np.bool_]) -> Counts:
    return np.tile(labels.astype(np.int64), (len(labels) + 1, 1))


def _input(node: n.Node, table: PathTable) -> list[Inequality] | None:
    """A node of degree 0 or 1 that only the input decides: 0 <= -1, where the node does not hold."""
    return [Inequality((), -1, (n.Not(node),))] if input_only(node) else None


def _if(node: n.If, table: PathTable) -> list[Inequality] | None:
    then = inequalities(node.then, table) if input_only(node.condition) else None
    return None if then is None else [replace(row, gates=(node.condition, *row.gates)) for row in then]


def _all(node: n.All, table: PathTable) -> list[Inequality] | None:
    found: list[Inequality] = []
    for part in node.parts:
        inner = inequalities(part, table)
        if inner is None:
            return None
        found.extend(inner)
    return found


LOWERINGS: dict[type[n.Node], Callable[[Any, PathTable], list[Inequality] | None]] = {
    n.Once: _once,
    n.Linear: _linear,
    n.Exists: _input,
    n.If: _if,
    n.All: _all,
    n.Not: _input,
}
UNSUPPORTED: tuple[type[n.Node], ...] = (n.Implies, n.Change, n.Length, n.Before, n.Later, n.Any)
SUPPORT: dict[type[n.Node], str] = {
    n.Once: "yes",
    n.Linear: "yes",
    n.Exists: "yes",
    n.If: "condition on the input, linear part",
    n.All: "of linear parts",
    n.Not: "of a condition on the input",
}
"""Every node type is a key of LOWERINGS or in UNSUPPORTED; a test keeps it so."""
