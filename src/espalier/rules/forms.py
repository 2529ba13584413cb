"""What rules become: sums over pairs of neighbouring labels, and rows over counts of the whole labelling.

The segments open at a token are the levels of its label, so two neighbouring labels i, j tell everything that happens
between them; the labelling before i does not matter (`PathTable`). Arrays over pairs have shape [L + 1, L]: row i,
column j, and row L (also row -1) where j is the first label of the sequence.

    local     d(x, y) = Σ_t Σ_c [condition_c holds at t] · matrix_c[y_{t-1}, y_t]                        `LocalForm`
    linear    d(x, y) = Σ_rows max(0, a . n(y) - b),  n_f(y) = Σ_t value[f, y_{t-1}, y_t]                `LinearForm`

Penalties of local rules go straight into the potentials, and Viterbi pays for them. A condition may speak about other
tokens, so rules that look at the next label are local, too: token t + 1 asks what held at token t. Rows may be limited
to sequences whose input satisfies a node, their *gate*. Both forms are made once for a rule set; only conditions and
gates look at tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.rules.nodes import Fields, Node, levels
from espalier.rules.predicates import Condition
from espalier.tags import OUTSIDE, is_tag, parse_tag

__all__ = ["Charge", "Inequality", "LinearForm", "LocalForm", "PathTable", "Row"]

Bits = NDArray[np.bool_]
Counts = NDArray[np.int64]
Price = NDArray[Any]
"""int64 or float64."""


@dataclass(frozen=True, slots=True, eq=False)
class PathTable:
    """The segments of L labels.

    paths : the P paths a segment can have.
    inside : bool[L, P], label j has a segment of path p around it.
    kept : bool[L + 1, L, P], the segment of path p around i goes on at j.
    """

    names: tuple[str, ...]
    paths: tuple[str, ...]
    inside: NDArray[np.bool_]
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, names: Sequence[str]) -> PathTable:
        """Tabulate the labels."""
        L = len(names)
        open_paths = [levels(name) if name != OUTSIDE else () for name in names]
        # An unmarked label continues whatever it can; B- never continues anything.
        fresh = [[is_tag(name) and mark == "B" for mark, _ in parse_tag(name)] for name in names]
        paths = tuple(dict.fromkeys(path for label in open_paths for path in label))
        column = {path: p for p, path in enumerate(paths)}
        inside = np.zeros((L, len(paths)), bool)
        kept = np.zeros((L + 1, L, len(paths)), bool)
        for j, label in enumerate(open_paths):
            inside[j, [column[path] for path in label]] = True
            alive = label[: fresh[j].index(True)] if True in fresh[j] else label
            for i, before in enumerate(open_paths):
                for path, other in zip(alive, before, strict=False):
                    if path != other:
                        break
                    kept[i, j, column[path]] = True
        return cls(tuple(names), paths, inside, kept)

    @property
    def L(self) -> int:
        """The number of labels."""
        return len(self.names)

    def has_label(self, fields: Fields) -> NDArray[np.bool_]:
        """Return which labels put a token into the fields, bool[L]."""
        return np.array([fields.has_label(name) for name in self.names], dtype=bool)

    def has_path(self, fields: Fields) -> NDArray[np.bool_]:
        """Return which paths belong to the fields, bool[P]."""
        return np.array([fields.has_path(path) for path in self.paths], dtype=bool)

    def around(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields around label j, int64[L]."""
        total: Counts = self.inside[:, self.has_path(fields)].sum(axis=1, dtype=np.int64)
        return total

    def continued(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields that go on from i to j, int64[L + 1, L]."""
        total: Counts = self.kept[:, :, self.has_path(fields)].sum(axis=2, dtype=np.int64)
        return total

    def opened(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields that begin with j after i, int64[L + 1, L]."""
        return self.around(fields) - self.continued(fields)

    def closed(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields that end with i before j, int64[L + 1, L]."""
        before = np.append(self.around(fields), 0)
        return before[:, None] - self.continued(fields)

    def borders(self) -> NDArray[np.bool_]:
        """Return between which labels a segment begins or ends, bool[L + 1, L]; none before the first token."""
        on = self.kept.sum(axis=2)
        depth = self.inside.sum(axis=1)
        found: NDArray[np.bool_] = (on != depth) | (on != np.append(depth, 0)[:, None])
        found[-1] = False
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Charge:
    """Where `condition` holds at t, the pair (y_{t-1}, y_t) costs matrix[y_{t-1}, y_t].

    matrix : int64[L + 1, L], >= 0; row L (or -1) where y_t is the first label.
    """

    condition: Condition
    matrix: Counts


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


@dataclass(frozen=True, slots=True, eq=False)
class Inequality:
    """Σ coefficient · (sum of matrix over the labelling) <= bound, where the input satisfies all gates.

    terms : (coefficient, int64[L + 1, L]) each.
    """

    terms: tuple[tuple[int, Counts], ...]
    bound: int
    gates: tuple[Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """coefficients . n(y) <= bound; rule number `rule` is violated by the excess. coefficients : int64[F]."""

    rule: int
    coefficients: Counts
    bound: int


@dataclass(frozen=True, slots=True, eq=False)
class LinearForm:
    """The R rows of all linear rules of a set, over F features.

    values : int16[F, L + 1, L]; how much feature f counts when label j follows i (i = L: j is the first label).
    rule, bound : int64[R]; coefficients : int64[R, F].
    gate : int64[R], the number of the condition that switches a row on, -1 for rows that are always on.
    """

    values: NDArray[np.int16]
    rule: Counts
    coefficients: Counts
    bound: Counts
    gate: Counts

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

    def counts(self, y: Counts) -> Counts:
        """Return n(y), int64[F]."""
        before = np.append(-1, y)[:-1]  # -1 is the row of the first label
        counted: Counts = self.values[:, before, y].sum(axis=1, dtype=np.int64)
        return counted

    def excess(self, y: Counts, active: Counts, K: int) -> Counts:
        """Return the degrees of the linear rules, int64[K], by the active rows; zero for other rules."""
        degrees = np.zeros(K, np.int64)
        over = self.coefficients[active] @ self.counts(y) - self.bound[active]
        np.add.at(degrees, self.rule[active], np.maximum(over, 0))
        return degrees
