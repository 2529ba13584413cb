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
from espalier.decoders.counts import Conditions, CountForm
from espalier.decoders.table import auto
from espalier.errors import InputError
from espalier.kernels.charged import charge_counts, charged_viterbi, lay_out, soft_dual
from espalier.kernels.rows import padded
from espalier.kernels.search import count_search
from espalier.kernels.vector import LANES, aligned
from espalier.lanes import Lanes
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled

__all__ = ["BatchDecoding", "CountDecoder", "decode_batch"]

TOKENS_A_CHUNK = 4096
SEQUENCES_A_CHUNK = 64
FIRST_NODES = 1024

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
    threads: int | None = None,
    max_rounds: int = 20,
    max_nodes: int = 65_536,
) -> BatchDecoding:
    """Decode every sequence of a batch under a compiled rule set.

    corpus : the tokens of the batch. max_rounds : of Soft-DD; max_nodes : of A* (0 leaves unproven answers alone).
    """
    rho = compiled.check_penalties(penalties)
    if len(corpus) != len(batch) or not np.array_equal(corpus.indptr, batch.indptr):
        raise InputError(f"{len(batch)} sequences of potentials but {len(corpus)} of tokens, or of other lengths")
    decoder = None
    if len(batch.trans) == 1:
        decoder = CountDecoder.of(compiled, rho, batch.trans[0], batch.start, batch.end)
    if decoder is None:
        return _one_by_one(batch, compiled, corpus, rho, max_nodes)
    conditions = Conditions.of(compiled.ground_bits(corpus))
    return decoder.decode(
        batch.indptr, batch.unary, conditions, threads=threads, max_rounds=max_rounds, max_nodes=max_nodes
    )


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


@dataclass(frozen=True, slots=True, eq=False)
class CountDecoder:
    """A `CountForm` and the transitions of a model, ready for any number of batches.

    moves : float64[L + 1, L]; transitions by target, -inf on the diagonal, then the diagonal.
    """

    form: CountForm
    moves: Float
    start: Float
    end: Float

    @classmethod
    def of(cls, compiled: Compiled, rho: Float, trans: Float, start: Float, end: Float) -> CountDecoder | None:
        """Return the decoder, or None if the rules do not only count."""
        form = CountForm.of(compiled, rho, trans, start)
        if form is None:
            return None
        # By rows in memory, which the kernel reads by address.
        moves = np.ascontiguousarray(np.concatenate([trans.T, np.diagonal(trans)[None]]))
        moves[np.arange(len(start)), np.arange(len(start))] = -np.inf
        return cls(form, moves, start, end)

    def decode(
        self,
        indptr: Int,
        unary: Float,
        conditions: Conditions,
        *,
        threads: int | None = None,
        max_rounds: int = 20,
        max_nodes: int = 65_536,
    ) -> BatchDecoding:
        """Decode N sequences of M tokens; unary : float64[M, L]; conditions : where those of the rules hold."""
        return _Work(self, indptr, unary, conditions, choose_threads(len(unary), threads)).decode(max_rounds, max_nodes)


class _Work:
    """One batch on its way: Viterbi for all in chunks, then the sequences that are still open, laid out anew."""

    def __init__(self, decoder: CountDecoder, indptr: Int, unary: Float, conditions: Conditions, threads: int) -> None:
        self.decoder, self.form, self.threads = decoder, decoder.form, threads
        self.indptr, self.unary, self.pattern = indptr, np.ascontiguousarray(unary), conditions.pattern
        self.lengths = np.diff(indptr)
        self.charges, self.prices = self.form.pattern_charges(conditions.patterns, padded(unary.shape[1]))
        self.price = self.form.row_prices(indptr, conditions)
        form = self.form
        self.counting = (form.label_ptr, form.label_row, form.label_open, form.label_token, form.bound)

    def decode(self, max_rounds: int, max_nodes: int) -> BatchDecoding:
        N, lanes = len(self.lengths), Lanes.of(self.indptr)
        place = _places(lanes, N)
        path, bounds = np.empty(lanes.n_rows, np.int16), np.zeros(N)
        scores = self._viterbi(lanes, path)
        used = np.flatnonzero(lanes.sequence >= 0)
        bounds[lanes.sequence[used]] = scores[used]
        primal = bounds.copy()
        charge_counts(0, N, place, self.lengths, path, *self.counting, self.price, primal)
        bounds[self.lengths == 0] = primal[self.lengths == 0]  # nothing to choose
        found = BatchDecoding(path[lanes.row_of_token], primal, bounds, np.ones(N, np.int64), np.zeros(N, np.int64))
        open_ = np.flatnonzero(_is_open(primal, bounds))
        if len(open_):
            self._settle(open_, found, max_rounds, max_nodes)
        return found

    def _viterbi(self, lanes: Lanes, path: NDArray[np.int16]) -> Float:
        decoder = self.decoder
        scores = np.zeros(len(lanes.lengths))
        chunks = balanced(lanes.group_ptr, max(len(self.unary) // TOKENS_A_CHUNK, 1))

        def chunk(c: int) -> None:
            lo, hi = chunks[c]
            rows, change = self._lay_out(lanes.token_of_row[LANES * lanes.group_ptr[lo] : LANES * lanes.group_ptr[hi]])
            charged_viterbi(
                lo, hi, lanes.group_ptr, lanes.lengths, decoder.start, decoder.end, decoder.moves, rows, change,
                path, scores,
            )  # fmt: skip

        run_chunks(chunk, len(chunks), self.threads)
        return scores

    def _lay_out(self, tokens: Int) -> tuple[Float, Float]:
        """Return the charged rows of these tokens (-1: none) and the prices of a change into each."""
        n = len(tokens)
        rows, change = aligned(n, self.charges.shape[1], empty=True), np.empty(n)
        lay_out(0, n, tokens, self.unary, self.pattern, self.charges, self.prices, rows, change)
        return rows, change

    def _settle(self, open_: Int, found: BatchDecoding, max_rounds: int, max_nodes: int) -> None:
        """Soft-DD on the sequences `open_`, then A* on those that it leaves unproven; updates what was found."""
        open_ = open_[np.argsort(self.lengths[open_], kind="stable")]
        lengths, decoder, form = self.lengths[open_], self.decoder, self.form
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        token = np.arange(indptr[-1]) + np.repeat(self.indptr[open_] - indptr[:-1], lengths)
        rows, change = self._lay_out(token)
        place, path = indptr[:-1], found.labels[token]
        primal, bound, rounds = found.scores[open_], found.bounds[open_], found.rounds[open_]
        price = np.ascontiguousarray(np.broadcast_to(self.price, (len(self.lengths), len(form.bound)))[open_])
        multipliers = np.zeros(price.shape)
        common = (decoder.start, decoder.end, decoder.moves, rows, change, *self.counting)
        chunks = balanced(indptr, max(len(open_) // SEQUENCES_A_CHUNK, 1))

        def chunk(c: int) -> None:
            s = slice(*chunks[c])
            soft_dual(
                place[s], lengths[s], *common, price[s], max_rounds, GAP, multipliers[s], primal[s], bound[s], path,
                rounds[s],
            )  # fmt: skip
            for k in np.flatnonzero(_is_open(primal[s], bound[s])) + s.start if max_nodes else ():
                size = min(FIRST_NODES, max_nodes)  # most searches are small: begin with little memory
                while True:
                    primal[k], proven, made = count_search(
                        place[k], lengths[k], *common, price[k], multipliers[k], form.rising, size, primal[k], path
                    )
                    bound[k] = min(bound[k], proven)
                    found.nodes[open_[k]] += made
                    if size == max_nodes or not _is_open(primal[k], bound[k]):
                        break
                    size = min(8 * size, max_nodes)

        run_chunks(chunk, len(chunks), self.threads)
        found.labels[token] = path
        found.scores[open_], found.bounds[open_], found.rounds[open_] = primal, bound, rounds


def _places(lanes: Lanes, n: int) -> Int:
    """Return the row of each sequence's first token (0 for empty sequences)."""
    place = np.zeros(n, np.int64)
    used = np.flatnonzero(lanes.sequence >= 0)
    place[lanes.sequence[used]] = LANES * lanes.group_ptr[used // LANES] + used % LANES
    return place
