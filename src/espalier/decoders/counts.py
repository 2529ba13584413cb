"""Rules that only count: the form that the lane kernels decode.

Most rule sets come down to three kinds of charges: for a label at a token (token rules), for a change of label into a
token (punctuation), and for counts of segments and tokens of each label (each field once, at most one venue, a title
required ...). `CountForm.of` recognises such a set; what it cannot express goes the general way.

A feature value[f, i, j] fits if it depends on the target j alone, but for i = j: then it is `token[f, j]` for every
token of label j, plus `open[f, j]` where a run of j begins. Only transitions that the potentials allow are asked, so
IOB2 tags fit too: what an invalid transition would count does not matter.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.rules.compile import Compiled

__all__ = ["Conditions", "CountForm"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Conditions:
    """Where the conditions of a rule set hold, as patterns: most tokens have none or the same few.

    pattern : int64[M], the pattern of each token; patterns : bool[P, B], the conditions that hold in each.
    """

    pattern: Int
    patterns: NDArray[np.bool_]

    @classmethod
    def of(cls, bits: NDArray[np.bool_]) -> Conditions:
        """Number the different rows of bits : bool[M, B] (see `Compiled.ground_bits`)."""
        packed = np.packbits(bits, axis=1)
        padding = np.zeros((len(bits), -packed.shape[1] % 8), np.uint8)
        words = np.ascontiguousarray(np.concatenate([packed, padding], axis=1)).view(np.uint64)
        if words.shape[1] > 1:
            _, first, pattern = np.unique(words, axis=0, return_index=True, return_inverse=True)
        else:
            code = words[:, 0] if words.shape[1] else np.zeros(len(bits), np.uint64)
            _, first, pattern = np.unique(code, return_index=True, return_inverse=True)
        return cls(pattern.reshape(-1).astype(np.int64), bits[first])


@dataclass(frozen=True, slots=True, eq=False)
class CountForm:
    """A rule set as charges, for one set of penalties.

    unary_bits, unary_charges : int64[U] and float64[U, L]; what a label pays where condition number `bit` holds.
    change_bits, change_prices : int64[V] and float64[V]; what a change of label into such a token pays.
    label_ptr, label_row, label_open, label_token : the rows that each label counts in, by label.
    bound, price : float64[R]; gate : int64[R], the condition that switches a row on at the first token, -1: always.
    rising : bool[R], rows without negative coefficients.
    """

    unary_bits: Int
    unary_charges: Float
    change_bits: Int
    change_prices: Float
    label_ptr: Int
    label_row: Int
    label_open: Float
    label_token: Float
    bound: Float
    price: Float
    gate: Int
    rising: NDArray[np.bool_]

    @classmethod
    def of(cls, compiled: Compiled, penalties: Float, trans: Float, start: Float) -> CountForm | None:
        """Return the form for potentials with these transitions, or None if a rule with a price does not fit."""
        if any(form == "monitor" and rho > 0 for form, rho in zip(compiled.form, penalties, strict=True)):
            return None
        L = len(start)
        charges: list[tuple[int, Float]] = []
        changes: list[tuple[int, float]] = []
        different = ~np.eye(L, dtype=bool)
        for table in compiled.local_tables():
            rho = float(penalties[table.rule])
            if rho == 0:
                continue
            if table.unary is not None:
                charges.append((table.bit, _priced(table.unary, rho)))
                continue
            assert table.pair is not None
            assert table.first is not None
            amount = int(table.pair[0, 1]) if L > 1 else 0
            if table.first.any() or not np.array_equal(table.pair, amount * different):
                return None
            changes.append((table.bit, float(_priced(np.array([amount]), rho)[0])))
        rows = _rows(compiled, penalties, trans, start)
        if rows is None:
            return None
        return cls(
            np.array([bit for bit, _ in charges], np.int64),
            np.array([charge for _, charge in charges]).reshape(-1, L),
            np.array([bit for bit, _ in changes], np.int64),
            np.array([price for _, price in changes], np.float64),
            *rows,
        )

    def pattern_charges(self, patterns: NDArray[np.bool_], width: int) -> tuple[Float, Float]:
        """Return what each pattern of conditions charges, float64[P, width] for labels and float64[P] for a change."""
        charges = np.zeros((len(patterns), width))
        charges[:, : self.unary_charges.shape[1]] = _sums(patterns[:, self.unary_bits], self.unary_charges)
        return charges, _sums(patterns[:, self.change_bits], self.change_prices[:, None])[:, 0]

    def row_prices(self, indptr: Int, conditions: Conditions) -> Float:
        """Return the price of every row for each sequence, float64[N, R], or [1, R] if all pay the same.

        A gate holds at every token of a sequence or at none, so the first is asked.
        """
        if (self.gate < 0).all():
            return self.price[None]
        first_bits = np.zeros((len(indptr) - 1, conditions.patterns.shape[1]), bool)
        present = np.diff(indptr) > 0
        first_bits[present] = conditions.patterns[conditions.pattern[indptr[:-1][present]]]
        on = np.concatenate([first_bits, np.ones((len(first_bits), 1), bool)], axis=1)[:, self.gate]
        return np.where(on, self.price, 0.0)


def _sums(on: NDArray[np.bool_], charges: Float) -> Float:
    """Σ of the charges that are on; an infinite one forbids."""
    hard = np.isinf(charges)
    total = on.astype(np.float64) @ np.where(hard, 0.0, charges)
    return np.where(on.astype(np.float64) @ hard > 0, np.inf, total)


def _priced(amounts: NDArray[np.int64], rho: float) -> Float:
    """Amounts times a penalty, where 0 · inf is 0."""
    return np.asarray(np.where(amounts > 0, np.inf, 0.0) if np.isinf(rho) else amounts * rho, np.float64)


Rows = tuple[Int, Int, Float, Float, Float, Float, Int, NDArray[np.bool_]]


def _rows(compiled: Compiled, penalties: Float, trans: Float, start: Float) -> Rows | None:
    """Split the linear rows that have a price into counts of runs and of tokens of each label."""
    form = compiled.linear
    used = np.flatnonzero(penalties[form.rule] > 0)
    L = len(start)
    counted = np.tensordot(form.coefficients[used].astype(np.float64), form.values.astype(np.float64), axes=1)
    allowed = np.isfinite(np.concatenate([trans, start[None]]))
    entered = allowed & ~np.eye(L + 1, L, dtype=bool)
    stays = np.diagonal(allowed[:L])
    inner = np.diagonal(counted[:, :L], axis1=1, axis2=2)  # [R, L]: j after j
    low = np.where(entered, counted, np.inf).min(axis=1)
    high = np.where(entered, counted, -np.inf).max(axis=1)
    reached = entered.any(axis=0)
    if (low < high)[:, reached].any():
        return None
    outer = np.where(reached, low, inner)
    token = np.where(stays, inner, outer)  # a label that cannot follow itself: every run is one token long
    opened = outer - token
    row, label = np.nonzero((opened != 0) | (token != 0))
    by_label = np.lexsort((row, label))
    row, label = row[by_label], label[by_label]
    return (
        np.searchsorted(label, np.arange(L + 1)).astype(np.int64),
        row.astype(np.int64),
        opened[row, label],
        token[row, label],
        form.bound[used].astype(np.float64),
        penalties[form.rule[used]],
        form.gate[used],
        np.asarray(((opened + token >= 0) & (token >= 0)).all(axis=1), bool),
    )
