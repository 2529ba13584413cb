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

from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled

__all__ = ["CountForm"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


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
    def of(cls, compiled: Compiled, penalties: Float, batch: ChainBatch) -> CountForm | None:
        """Return the form, or None if a rule with a price does not fit."""
        if len(batch.trans) != 1 or any(
            form == "monitor" and rho > 0 for form, rho in zip(compiled.form, penalties, strict=True)
        ):
            return None
        L = batch.n_labels
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
        rows = _rows(compiled, penalties, batch)
        if rows is None:
            return None
        return cls(
            np.array([bit for bit, _ in charges], np.int64),
            np.array([charge for _, charge in charges]).reshape(-1, L),
            np.array([bit for bit, _ in changes], np.int64),
            np.array([price for _, price in changes], np.float64),
            *rows,
        )

    def row_prices(self, first_bits: NDArray[np.bool_]) -> Float:
        """Return the price of every row for each sequence, float64[N, R]; first_bits : bool[N, B] of first tokens."""
        on = np.concatenate([first_bits, np.ones((len(first_bits), 1), bool)], axis=1)[:, self.gate]
        return np.where(on, self.price, 0.0)


def _priced(amounts: NDArray[np.int64], rho: float) -> Float:
    """Amounts times a penalty, where 0 · inf is 0."""
    return np.where(amounts > 0, np.inf, 0.0) if np.isinf(rho) else amounts * rho


Rows = tuple[Int, Int, Float, Float, Float, Float, Int, NDArray[np.bool_]]


def _rows(compiled: Compiled, penalties: Float, batch: ChainBatch) -> Rows | None:
    """Split the linear rows that have a price into counts of runs and of tokens of each label."""
    form = compiled.linear
    used = np.flatnonzero(penalties[form.rule] > 0)
    L = batch.n_labels
    counted = np.tensordot(form.coefficients[used].astype(np.float64), form.values.astype(np.float64), axes=1)
    allowed = np.concatenate([np.isfinite(batch.trans[0]), np.isfinite(batch.start)[None]])
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
        ((opened + token >= 0) & (token >= 0)).all(axis=1) if len(used) else np.zeros(0, bool),
    )
