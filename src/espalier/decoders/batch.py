"""Decode many sequences under rules: Viterbi for all, more work only for the few that break a rule.

    1. Charge local rules in the potentials; Viterbi, eight sequences at a time. Penalties are never negative, so an
       answer that breaks no other rule is optimal: most sequences end here.
    2. For the others a few rounds of Soft-DD, again eight at a time: bound and answer meet for nearly all.
    3. A* with the bound of the last multipliers for what is left.
    4. Rule sets that do not fit `CountForm` are decoded one by one with `auto`.

Every answer carries its bound; `optimal` says where the two meet.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus
from espalier.decoders.base import GAP, Problem, Status
from espalier.decoders.counts import CountForm
from espalier.decoders.table import auto
from espalier.errors import InputError
from espalier.kernels.charged import charge_counts, charged_viterbi, lay_out, soft_dual
from espalier.kernels.rows import padded
from espalier.kernels.search import count_search
from espalier.kernels.vector import LANES, aligned
from espalier.models.lanes import Lanes
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled

__all__ = ["BatchDecoding", "decode_batch"]

TOKENS_A_CHUNK = 4096

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class BatchDecoding:
    """The best labellings of N sequences under rules.

    labels : int16[M]; scores, bounds : float64[N]; rounds, nodes : int64[N], Viterbi passes and search nodes spent.
    A sequence that no labelling satisfies has score and bound -inf.
    """

    labels: NDArray[np.int16]
    scores: Float
    bounds: Float
    rounds: Int
    nodes: Int

    @property
    def optimal(self) -> NDArray[np.bool_]:
        """Where the answer is proven to be the best, bool[N]; an infeasible sequence has none."""
        return ~_is_open(self.scores, self.bounds) & np.isfinite(self.scores)


def _is_open(scores: Float, bounds: Float) -> NDArray[np.bool_]:
    """Is the bound still above the score, by more than rounding?  (From -inf every finite bound is far away.)"""
    slack = GAP * np.maximum(1.0, np.abs(np.where(np.isfinite(scores), scores, 0.0)))
    return np.asarray(bounds > scores + slack)


def decode_batch(
    batch: ChainBatch,
    compiled: Compiled,
    corpus: Corpus,
    penalties: ArrayLike | None = None,
    *,
    bits: NDArray[np.bool_] | None = None,
    threads: int | None = None,
    max_rounds: int = 20,
    max_nodes: int = 65_536,
) -> BatchDecoding:
    """Decode every sequence of a batch under a compiled rule set.

    corpus : the tokens of the batch; bits : `compiled.ground_bits(corpus)` if it is at hand already.
    max_rounds : of Soft-DD; max_nodes : of A* (0 leaves unproven answers as they are).
    """
    rho = compiled.check_penalties(penalties)
    if len(corpus) != len(batch) or not np.array_equal(corpus.indptr, batch.indptr):
        raise InputError(f"{len(batch)} sequences of potentials but {len(corpus)} of tokens, or of other lengths")
    bits = compiled.ground_bits(corpus) if bits is None else bits
    form = CountForm.of(compiled, rho, batch)
    if form is None:
        return _one_by_one(batch, compiled, corpus, rho, max_nodes)
    return _Counting(batch, form, bits, choose_threads(len(batch.unary), threads)).decode(max_rounds, max_nodes)


def _one_by_one(batch: ChainBatch, compiled: Compiled, corpus: Corpus, rho: Float, max_nodes: int) -> BatchDecoding:
    N = len(batch)
    labels = np.full(len(batch.unary), -1, np.int16)
    scores, bounds = np.full(N, -np.inf), np.full(N, -np.inf)
    rounds, nodes = np.zeros(N, np.int64), np.zeros(N, np.int64)
    for i, grounded in enumerate(compiled.ground_corpus(corpus)):
        found = auto(Problem(batch[i], grounded, rho), max_nodes=max_nodes)
        rounds[i], nodes[i] = found.certificate.work.viterbi, found.certificate.work.nodes
        if found.labels is not None and found.certificate.status is not Status.INFEASIBLE:
            labels[batch.indptr[i] : batch.indptr[i + 1]] = found.labels
            scores[i], bounds[i] = found.score, found.certificate.bound
    return BatchDecoding(labels, scores, bounds, rounds, nodes)


class _Counting:
    """One batch under a `CountForm`, laid out in lanes."""

    def __init__(self, batch: ChainBatch, form: CountForm, bits: NDArray[np.bool_], threads: int) -> None:
        self.batch, self.form, self.threads = batch, form, threads
        self.lanes = lanes = Lanes.of(batch.indptr)
        L = batch.n_labels
        self.rows = aligned(lanes.n_rows, padded(L))
        self.change = aligned(lanes.n_rows)
        self.path = np.empty(lanes.n_rows, np.int16)
        trans = batch.trans[0]
        moves = np.concatenate([trans.T, np.diagonal(trans)[None]])
        np.fill_diagonal(moves, -np.inf)  # staying is handled apart; trans.T is copied by concatenate
        self.moves = np.ascontiguousarray(moves)
        self.charge_of_token, self.charges = _patterns(bits[:, form.unary_bits], form.unary_charges)
        change_of_token = np.zeros(len(bits))
        for bit, price in zip(form.change_bits, form.change_prices, strict=True):
            change_of_token[bits[:, bit]] += price
        self.change_of_token = change_of_token
        present = np.diff(batch.indptr) > 0
        first_bits = np.zeros((len(batch), bits.shape[1]), bool)
        first_bits[present] = bits[batch.indptr[:-1][present]]
        self.price = form.row_prices(first_bits)

    def decode(self, max_rounds: int, max_nodes: int) -> BatchDecoding:
        form, lanes, batch = self.form, self.lanes, self.batch
        N = len(batch)
        place = np.full(N, -1, np.int64)  # the row of each sequence's first token
        used = np.flatnonzero(lanes.sequence >= 0)
        place[lanes.sequence[used]] = LANES * lanes.group_ptr[used // LANES] + used % LANES
        scores = self._viterbi()
        free = np.zeros(N)
        free[lanes.sequence[used]] = scores[used]
        bounds, primal = free.copy(), free.copy()
        rounds, nodes = np.ones(N, np.int64), np.zeros(N, np.int64)
        charge_counts(
            0, N, place, np.diff(batch.indptr), self.path,
            form.label_ptr, form.label_row, form.label_open, form.label_token, form.bound, self.price, primal,
        )  # fmt: skip
        empty = place < 0
        bounds[empty] = primal[empty]  # nothing to choose
        open_ = np.flatnonzero(_is_open(primal, bounds))
        if len(open_):
            open_ = open_[np.argsort(np.diff(batch.indptr)[open_], kind="stable")]
            self._dual(open_, place, primal, bounds, rounds, nodes, max_rounds, max_nodes)
        return BatchDecoding(self.path[lanes.row_of_token], primal, bounds, rounds, nodes)

    def _viterbi(self) -> Float:
        lanes, batch = self.lanes, self.batch
        scores = np.zeros(len(lanes.lengths))
        chunks = balanced(lanes.group_ptr, max(len(batch.unary) // TOKENS_A_CHUNK, 1))

        def chunk(c: int) -> None:
            lo, hi = chunks[c]
            lay_out(
                LANES * lanes.group_ptr[lo], LANES * lanes.group_ptr[hi], lanes.token_of_row, batch.unary,
                self.charge_of_token, self.charges, self.change_of_token, self.rows, self.change,
            )  # fmt: skip
            charged_viterbi(
                lo, hi, lanes.group_ptr, lanes.lengths, batch.start, batch.end, self.moves, self.rows, self.change,
                self.path, scores,
            )  # fmt: skip

        run_chunks(chunk, len(chunks), self.threads)
        return scores

    def _dual(
        self, open_: Int, place: Int, primal: Float, bounds: Float, rounds: Int, nodes: Int, max_rounds: int,
        max_nodes: int,
    ) -> None:  # fmt: skip
        """Soft-DD on the sequences `open_`, then A* on those that it leaves unproven; updates all arrays."""
        form, batch = self.form, self.batch
        lengths = np.diff(batch.indptr)
        multipliers = np.zeros((len(open_), len(form.bound)))
        own_primal, own_bound, own_rounds = primal[open_], bounds[open_], rounds[open_]
        price = np.ascontiguousarray(self.price[open_])
        chunks = balanced(np.arange(len(open_) + 1), max(len(open_) // 64, 1))
        common = (batch.start, batch.end, self.moves, self.rows, self.change)
        rules = (form.label_ptr, form.label_row, form.label_open, form.label_token, form.bound)

        def chunk(c: int) -> None:
            s = slice(*chunks[c])
            soft_dual(
                place[open_[s]], lengths[open_[s]], *common, *rules, price[s], max_rounds, GAP,
                multipliers[s], own_primal[s], own_bound[s], self.path, own_rounds[s],
            )  # fmt: skip
            for k in range(*chunks[c]):
                if _is_open(own_primal[k], own_bound[k]) and max_nodes > 0:
                    i = open_[k]
                    own_primal[k], bound, nodes[i] = count_search(
                        place[i], lengths[i], *common, *rules, price[k], multipliers[k], form.rising, max_nodes,
                        own_primal[k], self.path,
                    )  # fmt: skip
                    own_bound[k] = min(own_bound[k], bound)

        run_chunks(chunk, len(chunks), self.threads)
        primal[open_], bounds[open_], rounds[open_] = own_primal, own_bound, own_rounds


def _patterns(bits: NDArray[np.bool_], charges: Float) -> tuple[NDArray[np.int64], Float]:
    """Return the pattern of conditions at each token, int64[M], and the summed charges of each, float64[., L]."""
    if bits.shape[1] > 62:  # too many for one number a token: sum the charges token by token
        return np.arange(len(bits)), _sums(bits, charges)
    code = bits @ (1 << np.arange(bits.shape[1], dtype=np.int64))
    found, pattern = np.unique(code, return_inverse=True)
    return pattern.astype(np.int64), _sums(found[:, None] >> np.arange(bits.shape[1]) & 1 > 0, charges)


def _sums(bits: NDArray[np.bool_], charges: Float) -> Float:
    """Σ of the charges whose bit is set; an infinite one forbids."""
    hard = np.isinf(charges)
    total = bits.astype(np.float64) @ np.where(hard, 0.0, charges)
    total[(bits.astype(np.float64) @ hard) > 0] = np.inf
    return np.ascontiguousarray(total)
