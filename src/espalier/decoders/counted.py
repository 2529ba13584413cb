"""Probabilities of answers under rules that count: `each field once`, `a title required`, `at most 4 tokens`.

    p(y) ∝ exp( s(x, y) - Σ_r price_r max(0, a_r · n(y) - b_r) )

Summed exactly over a chain whose states are a label and, for each row r that is at stake in a text, its count as far as
it matters: up to the bound, beyond which every step pays. A row is at stake where the chain alone may well break it;
this is told by an upper bound on that probability, from the marginals p of the chain:

    at most one      P(n > 1) <= E[n] - max_t p(y_t tells of n)    because P(n >= 1) is at least any of them
    at most b        P(n > b) <= E[n] / (b + 1)
    at least one     P(n < 1) <= 1 - max_t p(y_t tells of n)

Rows beside those, and rows that both rise and fall (`count(a) <= count(b)`), are left out. Cost of a text:
O(T S L²) for S counts together; the sums are those over any chain (`kernels.chain`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.certify import scores_of
from espalier.decoders.counts import Conditions, CountForm
from espalier.inference import marginals
from espalier.potentials import ChainBatch
from espalier.rules.forms import priced

if TYPE_CHECKING:
    from espalier.kernels.chain import NodeColumns

__all__ = ["counted_probabilities"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Int16 = NDArray[np.int16]

SURE = 0.99
"""From this probability on an answer leaves no mass that would matter, and is not looked at."""

LEAST = 0.005
"""Rows whose charge moves less probability are not at stake."""

STATES = 256
"""Counts together, at most; further rows at stake are left out, the least likely first."""


def counted_probabilities(
    batch: ChainBatch, form: CountForm, conditions: Conditions, y: Int16, tokens: Float, whole: Float
) -> tuple[Float, Float]:
    """Return p(y_t) of every token's label, float64[M], and p(y) of every labelling, float64[N], under counts too.

    batch : scores that have paid for local rules; tokens, whole : the same probabilities under it alone.
    """
    rows = _Rows.of(form, batch.n_labels)
    chosen = np.flatnonzero((whole < SURE) & (np.diff(batch.indptr) > 0))
    if not len(rows.bound) or not len(chosen):
        return tokens, whole
    tokens, whole = tokens.copy(), whole.copy()
    prices = np.broadcast_to(form.row_prices(batch.indptr, conditions), (len(batch), len(form.price)))[:, rows.number]
    if batch.temperature is not None:
        prices = prices / batch.temperature[:, None]
    for few in np.array_split(chosen, -(-len(chosen) // 256)):
        part = batch.chosen(few).tempered()
        for sequences, own in part.by_class() or [(np.arange(len(few)), part)]:
            if len(own.trans) > 1:  # transitions that change within a text: rare, and left as it is
                continue
            which = few[sequences]
            texts = _Texts(own, rows, prices[which], y[batch.tokens_of(which)])
            for i, (text, several) in enumerate(zip(which.tolist(), texts.at_stake(), strict=True)):
                if several:
                    part_of = slice(batch.indptr[text], batch.indptr[text + 1])
                    tokens[part_of], whole[text] = texts.posterior(i, np.array(several))
    return tokens, whole


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows that only rise or only fall: number, int64[R], in the form; what a token and the opening of a run add.

    token, open : int64[R, L], never negative; bound : int64[R], counts that matter; least : bool[R], asks for so many
    at least.
    """

    number: Int
    token: Int
    open: Int
    bound: Int
    least: NDArray[np.bool_]

    @classmethod
    def of(cls, form: CountForm, L: int) -> _Rows:
        R = len(form.price)
        token, open_ = np.zeros((R, L)), np.zeros((R, L))
        label = np.repeat(np.arange(L), np.diff(form.label_ptr))
        token[form.label_row, label], open_[form.label_row, label] = form.label_token, form.label_open
        sign = form.drift.astype(np.float64)[:, None]
        token, outer, bound = token * sign, (token + open_) * sign, form.bound * form.drift
        # A row that falls asks for at least -bound; one that rises may have a bound below 0, and always pays then.
        whole = (token == np.round(token)).all(axis=1) & (outer == np.round(outer)).all(axis=1)
        used = np.flatnonzero((form.drift != 0) & whole & (bound >= 0) & (form.price > 0) & (outer + token).any(axis=1))
        used = used[(form.drift[used] > 0) | (bound[used] > 0)]
        inner, opened = token[used].astype(np.int64), (outer - token)[used].astype(np.int64)
        return cls(used, inner, opened, bound[used].astype(np.int64), form.drift[used] < 0)


class _Texts:
    """Texts of one matrix of transitions, what each row costs in each, and their labels."""

    def __init__(self, batch: ChainBatch, rows: _Rows, prices: Float, y: Int16) -> None:
        self.batch, self.rows, self.prices, self.y = batch, rows, prices, y
        self.charged = self._charged()
        self.scores = scores_of(batch, y)

    def _charged(self) -> NDArray[np.float64]:
        """Return what the labels pay for each row, float64[N, R]."""
        y, first = self.y.astype(np.int64), self.batch.indptr[:-1]
        begins = np.ones(len(y), bool)
        begins[1:] = y[1:] != y[:-1]
        begins[first] = True
        counts = np.add.reduceat(self.rows.token.T[y] + self.rows.open.T[y] * begins[:, None], first)
        over = np.where(self.rows.least, self.rows.bound - counts, counts - self.rows.bound)
        return priced(over, self.prices)

    def at_stake(self) -> list[tuple[int, ...]]:
        """Return the rows at stake in each text, the likeliest first, as many as there are states for."""
        rows, first = self.rows, self.batch.indptr[:-1]
        p = marginals(self.batch, threads=1, allow_infeasible=True)
        before = np.vstack([np.zeros((1, p.shape[1])), p[:-1]])
        before[first] = 0.0
        opens = np.minimum(p, 1.0 - before)  # an upper bound of: this label, and not before
        expected = np.add.reduceat(p @ rows.token.T + opens @ rows.open.T, first)
        some = np.minimum(np.maximum.reduceat(p @ self._within().T.astype(np.float64), first), 1.0)
        broken = np.where(rows.bound == 1, expected - some, expected / (rows.bound + 1))
        broken = np.where(rows.least, np.where(rows.bound == 1, 1.0 - some, 1.0), broken)
        moved = np.clip(broken, 0.0, 1.0) * -np.expm1(-self.prices)
        moved[self.charged > 0] = 2.0  # what the answer pays for counts
        found = []
        for weights in moved:
            several, states = list[int](), 1
            for r in np.argsort(-weights, kind="stable").tolist():
                if weights[r] < LEAST or states * (rows.bound[r] + 1) > STATES:
                    break
                several.append(r)
                states *= int(rows.bound[r]) + 1
            found.append(tuple(sorted(several)))
        return found

    def _within(self) -> NDArray[np.bool_]:
        """Return the labels that tell of a count, bool[R, L]: those that count, and those that only follow such ones.

        I- tags count nothing, but there is one only where a B- tag was.
        """
        found = (self.rows.token + self.rows.open) > 0
        into = np.isfinite(self.batch.trans[0]) & ~np.eye(self.batch.n_labels, dtype=bool)
        follows = ~np.isfinite(self.batch.start) & into.any(axis=0)
        for _ in range(3):  # levels of a hierarchy
            elsewhere = (~found).astype(np.float64) @ into.astype(np.float64) > 0
            found = found | (follows & ~elsewhere)
        return found

    def posterior(self, i: int, several: Int) -> tuple[Float, float]:
        """Return the probabilities of the labels of text i and of all of them together; several : the rows at stake."""
        from espalier.kernels.chain import forward_backward

        lattice = self.lattice(i, several)
        log_z, entropy, nodes = np.zeros(1), np.zeros(1), np.empty(len(lattice.score))
        forward_backward(lattice, 0, 1, log_z, nodes, np.zeros(len(lattice.edge)), entropy)
        a, b = self.batch.indptr[i], self.batch.indptr[i + 1]
        shares = nodes.reshape(b - a, -1, self.batch.n_labels).sum(axis=1)
        score = self.scores[i] - self.charged[i, several].sum()
        whole = np.exp(min(score - log_z[0], 0.0)) if np.isfinite(score) and np.isfinite(log_z[0]) else 0.0
        return np.minimum(shares[np.arange(b - a), self.y[a:b]], 1.0), float(whole)

    def lattice(self, i: int, several: Int) -> NodeColumns:
        """Return text i as columns of S counts times L labels; the counts of the rows are one number, s."""
        from espalier.kernels.chain import NodeColumns

        batch, rows, L, prices = self.batch, self.rows, self.batch.n_labels, self.prices[i, several]
        a, b = int(batch.indptr[i]), int(batch.indptr[i + 1])
        bound, least = rows.bound[several], rows.least[several]
        sizes = tuple((bound + 1).tolist())
        counts = np.indices(sizes).reshape(len(several), -1)  # [r, S]
        S, into, paid = counts.shape[1], list[Int](), list[Float]()
        for added in (rows.token[several], rows.token[several] + rows.open[several]):  # inside a run, where it begins
            total = counts[:, :, None] + added[:, None, :]  # [r, S, L]
            into.append(np.ravel_multi_index(tuple(np.minimum(total, bound[:, None, None])), sizes))
            paid.append(_charge(prices, np.maximum(total - bound[:, None, None], 0) * ~least[:, None, None]))
        finish = _charge(prices, (bound[:, None] - counts) * least[:, None])  # [S]
        score = np.repeat(batch.unary[a:b, None], S, axis=1)
        first = np.full((S, L), -np.inf)
        first[into[1][0], np.arange(L)] = batch.start - paid[1][0]
        score[0] += first
        score[-1] += batch.end - finish[:, None]
        stays = np.eye(L, dtype=bool)
        target = np.where(stays, into[0][:, None, :], into[1][:, None, :]) * L + np.arange(L)  # [S, L, L]
        edge = batch.trans[0] - np.where(stays, paid[0][:, None, :], paid[1][:, None, :])
        source = np.broadcast_to(np.arange(S * L).reshape(S, L, 1), edge.shape)
        kept = edge > -np.inf
        order = np.argsort(target[kept], kind="stable")
        T, none = b - a, np.zeros(1, np.int64)
        ends = np.append(0, np.cumsum(np.bincount(target[kept], minlength=S * L)))
        return NodeColumns(
            np.array([0, T]), S * L * np.arange(T + 1), score.reshape(-1), np.zeros(T, np.int32), none, ends,
            source[kept][order].astype(np.int32), edge[kept][order],
        )  # fmt: skip


def _charge(prices: Float, amounts: NDArray[np.int64]) -> Float:
    """Return the prices, [r], times the amounts, [r, ...], added up; 0 · inf is 0."""
    price = prices.reshape(-1, *(1,) * (amounts.ndim - 1))
    return np.asarray(np.multiply(price, amounts, out=np.zeros(amounts.shape), where=amounts > 0).sum(axis=0))
