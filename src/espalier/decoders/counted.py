"""Probabilities of answers under rules that count: `each field once`, `a title required`, `at most 4 tokens`.

    p(y) ∝ exp( s(x, y) - Σ_r price_r max(0, a_r · n(y) - b_r) )

Summed exactly over a chain whose states are a label and, for each row r that is at stake in a text, its count as far as
it matters: up to the bound, beyond which every step pays. A row is at stake where the chain alone may well break it;
this is told by an upper bound on that probability, from the marginals p of the chain:

    at most one      P(n > 1) <= E[n] - max_t p(y_t tells of n)    because P(n >= 1) is at least any of them
    at most b        P(n > b) <= E[n] / (b + 1)
    at least one     P(n < 1) <= 1 - max_t p(y_t tells of n)

Rows beside those, and rows that both rise and fall (`count(a) <= count(b)`), are left out. Cost of a text:
O(T S L²) for S counts together, in NumPy, many texts at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.certify import scores_of
from espalier.decoders.counts import Conditions, CountForm
from espalier.decoders.probabilities import label_and_pair_marginals
from espalier.inference import marginals
from espalier.kernels import are_loaded
from espalier.potentials import ChainBatch

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

CELLS = 1 << 21
"""Numbers of one pass, at most."""


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
            for found in _Texts(own, rows, prices[which], y[batch.tokens_of(which)]).posteriors():
                text = which[found.text]
                tokens[batch.tokens_of(text)], whole[text] = found.tokens, found.whole
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


@dataclass(frozen=True, slots=True)
class _Found:
    """The probabilities of some texts: text : int64[n], their numbers; tokens : end to end; whole : float64[n]."""

    text: Int
    tokens: Float
    whole: Float


class _Texts:
    """Texts of one matrix of transitions, what each row costs in each, and their labels."""

    def __init__(self, batch: ChainBatch, rows: _Rows, prices: Float, y: Int16) -> None:
        self.batch, self.rows, self.prices, self.y = batch, rows, prices, y
        self.lengths = np.diff(batch.indptr)
        self.text = np.repeat(np.arange(len(batch)), self.lengths)
        self.charged = self._charged()

    def _charged(self) -> NDArray[np.float64]:
        """Return what the labels pay for each row, float64[N, R]."""
        y, first = self.y.astype(np.int64), self.batch.indptr[:-1]
        begins = np.ones(len(y), bool)
        begins[1:] = y[1:] != y[:-1]
        begins[first] = True
        counts = np.add.reduceat(self.rows.token.T[y] + self.rows.open.T[y] * begins[:, None], first)
        over = np.where(self.rows.least, self.rows.bound - counts, counts - self.rows.bound)
        return np.multiply(self.prices, over, out=np.zeros(over.shape), where=over > 0)

    def at_stake(self) -> list[tuple[int, ...]]:
        """Return the rows at stake in each text, the likeliest first, as many as there are states for."""
        rows, first = self.rows, self.batch.indptr[:-1]
        if are_loaded(len(self.y)):
            p = marginals(self.batch, threads=1)
        else:
            each = (self.batch.chosen(np.array([i])) for i in range(len(self.batch)))
            p = np.concatenate([label_and_pair_marginals(own)[0] for own in each])
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

    def posteriors(self) -> Iterator[_Found]:
        """Yield the probabilities of the texts where a row is at stake, texts with counts of one size together."""
        staked = self.at_stake()
        groups: dict[tuple[int, ...], list[int]] = {}
        for i, several in enumerate(staked):
            if several:
                groups.setdefault(tuple(self.rows.bound[list(several)].tolist()), []).append(i)
        for bounds, texts in groups.items():
            texts.sort(key=lambda i: self.lengths[i])
            states = int(np.prod(np.array(bounds) + 1))
            for some in _pieces(texts, self.lengths, states * self.batch.n_labels):
                yield self._posterior(np.array(some), np.array([staked[i] for i in some]), bounds)

    def _posterior(self, texts: Int, several: Int, bounds: tuple[int, ...]) -> _Found:
        """Return the probabilities of texts; several : int64[n, r], the rows of each, all with these bounds."""
        batch, y = self.batch.chosen(texts), self.y[self.batch.tokens_of(texts)].astype(np.int64)
        tokens, log_z = _Machine(batch, self.rows, several, bounds, self.prices[texts[:, None], several]).posterior(y)
        charged = self.charged[texts[:, None], several].sum(axis=1)
        scores = scores_of(batch, y) - charged
        possible = np.isfinite(scores) & np.isfinite(log_z)
        ratio = np.subtract(scores, log_z, out=np.full(len(scores), -np.inf), where=possible)
        whole = np.exp(np.minimum(ratio, 0.0))
        return _Found(texts, np.clip(tokens, 0.0, 1.0), whole)


def _pieces(texts: Sequence[int], lengths: Int, width: int) -> Iterator[list[int]]:
    """Cut texts, shortest first, into pieces whose tables are not too large."""
    piece: list[int] = []
    for i in texts:
        if piece and (len(piece) + 1) * int(lengths[i]) * width > CELLS:
            yield piece
            piece = []
        piece.append(i)
    yield piece


class _Machine:
    """Forward and backward over labels and counts, n texts at a time, with scaled probabilities.

    Counts of the r rows of a text are one number s. `into[k]` and `pays[k]`, [n, S, L], say where label j leads from s,
    and with which weight: k = 0 inside a run, k = 1 where it begins.
    """

    def __init__(self, batch: ChainBatch, rows: _Rows, several: Int, bounds: tuple[int, ...], prices: Float) -> None:
        self.batch, self.n, self.L = batch, len(batch), batch.n_labels
        sizes, bound = tuple(b + 1 for b in bounds), np.array(bounds)[:, None, None]
        self.S = int(np.prod(sizes))
        counts = np.stack(np.unravel_index(np.arange(self.S), sizes))  # [r, S]
        least = rows.least[several]  # [n, r]
        self.into, self.pays = list[Int](), list[Float]()
        for added in (rows.token, rows.token + rows.open):
            total = counts[:, :, None] + added[several][:, :, None, :]  # [n, r, S, L]
            over = np.maximum(total - bound, 0) * ~least[:, :, None, None]
            following = np.moveaxis(np.minimum(total, bound), 1, 0)
            self.into.append(np.ravel_multi_index(tuple(following), sizes))
            self.pays.append(_weights(prices, over))
        self.finish = _weights(prices, (bound[:, 0] - counts) * least[:, :, None])  # [n, S]
        self.flat = [into * self.L + np.arange(self.L) for into in self.into]
        for flat in self.flat:
            flat += (np.arange(self.n) * (self.S * self.L))[:, None, None]
        self.lengths = np.diff(batch.indptr)
        # Every path has one transition less than tokens: what all transitions have in common does not matter.
        finite = batch.trans[0][np.isfinite(batch.trans[0])]
        self.shift = float(finite.max(initial=-np.inf)) if len(finite) else 0.0
        self.step = np.exp(batch.trans[0] - self.shift)
        self.stay = np.diagonal(self.step).copy()
        np.fill_diagonal(self.step, 0.0)
        self.unary, self.peak = self._unary()

    def _unary(self) -> tuple[Float, Float]:
        """Return the scores of tokens as weights, [T, n, L], 0 behind the end, and what was taken out of each text."""
        scores = self.batch.unary.copy()
        first, last = self.batch.indptr[:-1], self.batch.indptr[1:] - 1
        scores[first] += self.batch.start
        scores[last] += self.batch.end
        top = scores.max(axis=1)
        top[~np.isfinite(top)] = 0.0
        weights = np.zeros((int(self.lengths.max()), self.n, self.L))
        text = np.repeat(np.arange(self.n), self.lengths)
        weights[np.arange(len(scores)) - first[text], text] = np.exp(scores - top[:, None])
        return weights, np.add.reduceat(top, first) + self.shift * (self.lengths - 1)

    def posterior(self, y: Int) -> tuple[Float, Float]:
        """Return p(y_t) of the labels of all tokens, end to end, and log Z of each text."""
        T, first = len(self.unary), self.batch.indptr[:-1]
        alpha, log_z = self._forward()
        shares = np.zeros(len(y))
        beta = np.zeros((self.n, self.S, self.L))
        for t in range(T - 1, -1, -1):
            ends, here = self.lengths - 1 == t, np.flatnonzero(self.lengths > t)
            beta = np.where(ends[:, None, None], self.finish[:, :, None], beta)
            label = y[first[here] + t]
            own, other = alpha[t][here], beta[here]
            total = np.einsum("nsl,nsl->n", own, other)
            mine = np.einsum("ns,ns->n", own[np.arange(len(here)), :, label], other[np.arange(len(here)), :, label])
            shares[first[here] + t] = np.divide(mine, total, out=np.zeros(len(here)), where=total > 0)
            if t:
                beta = self._back(beta * self.unary[t][:, None, :])
        return shares, log_z

    def _forward(self) -> tuple[list[Float], Float]:
        alpha = np.zeros((self.n, self.S, self.L))
        alpha[:, 0] = 1.0
        found, log_z = list[Float](), self.peak.copy()
        for t, unary in enumerate(self.unary):
            begun = alpha @ self.step if t else alpha
            moved = self._moved(begun, 1)
            if t:
                moved += self._moved(alpha * self.stay, 0)
            alpha = moved * unary[:, None, :]
            scale = alpha.sum(axis=(1, 2))
            here = self.lengths > t
            with np.errstate(divide="ignore"):
                log_z[here] += np.log(scale[here])
            alpha /= np.where(scale > 0, scale, 1.0)[:, None, None]
            found.append(alpha)
            ends = self.lengths - 1 == t
            with np.errstate(divide="ignore"):
                log_z[ends] += np.log(np.einsum("nsl,ns->n", alpha[ends], self.finish[ends]))
        return found, log_z

    def _moved(self, mass: Float, kind: int) -> Float:
        """Return the mass where the counts of its labels lead it."""
        weights = (mass * self.pays[kind]).reshape(-1)
        total = np.bincount(self.flat[kind].reshape(-1), weights, minlength=mass.size)
        return np.asarray(total.reshape(mass.shape), np.float64)

    def _back(self, ahead: Float) -> Float:
        """Return the weight of all that can follow, from that of what follows with its own score."""
        begun, inside = (self.pays[k] * np.take_along_axis(ahead, self.into[k], axis=1) for k in (1, 0))
        back = begun @ self.step.T + inside * self.stay
        peak = back.max(axis=(1, 2), keepdims=True)
        return np.asarray(back / np.where(peak > 0, peak, 1.0), np.float64)


def _weights(prices: Float, amounts: NDArray[np.int64]) -> Float:
    """Return exp of minus the prices, [n, r], times the amounts, [n, r, ...]: [n, ...]; 0 · inf is 0."""
    price = prices.reshape(prices.shape + (1,) * (amounts.ndim - 2))
    charged = np.multiply(price, amounts, out=np.zeros(amounts.shape), where=amounts > 0)
    return np.asarray(np.exp(-charged.sum(axis=1)), np.float64)
