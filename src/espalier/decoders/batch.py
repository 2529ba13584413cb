"""Decode many sequences under rules: eight at a time where the rules only count, one by one where they do not.

`CountDecoder` takes whole batches with one transition matrix under rules that fit `CountForm`; everything else, and
what its search leaves unproven, climbs the ladder of `auto`, sequence by sequence. Every answer carries its
bound; `optimal` says where the two meet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus
from espalier.decoders.auto import SHORT_SEARCH, auto
from espalier.decoders.base import Problem
from espalier.decoders.counts import BatchDecoding, Conditions, CountDecoder
from espalier.errors import InputError
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled

__all__ = ["BatchDecoding", "CountDecoder", "decode_batch"]

Float = NDArray[np.float64]


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

    corpus : the tokens of the batch. max_nodes : of each search (0 leaves unproven answers alone). max_rounds : of
    Soft-DD, and threads : both for rules that only count.
    """
    rho = compiled.check_penalties(penalties)
    if len(corpus) != len(batch) or not np.array_equal(corpus.indptr, batch.indptr):
        raise InputError(f"{len(batch)} sequences of potentials but {len(corpus)} of tokens, or of other lengths")
    decoder = None
    if len(batch.trans) == 1:
        decoder = CountDecoder.of(compiled, rho, batch.trans[0], batch.start, batch.end)
    if decoder is None:
        found = _nothing(batch)
        open_ = np.arange(len(batch))
    else:
        conditions = Conditions.of(compiled.ground_bits(corpus))
        found = decoder.decode(
            batch.indptr, batch.unary, conditions, threads=threads, max_rounds=max_rounds, max_nodes=max_nodes
        )
        open_ = np.flatnonzero(~found.optimal & (found.bounds > -np.inf)) if max_nodes else np.zeros(0, np.int64)
        max_nodes = min(max_nodes, SHORT_SEARCH)  # what is open after the compiled search, A* proves soon or never
    for i, grounded in zip(open_.tolist(), compiled.ground_corpus(corpus[open_]), strict=True):
        _climb(i, Problem(batch[i], grounded, rho), found, batch, max_nodes)
    return found


def _nothing(batch: ChainBatch) -> BatchDecoding:
    """Return what is known before anything is decoded; a sequence without a labelling keeps the label -1."""
    N = len(batch)
    spent = np.zeros(N, np.int64)
    return BatchDecoding(
        np.full(len(batch.unary), -1, np.int16), np.full(N, -np.inf), np.full(N, np.inf), spent, spent.copy()
    )


def _climb(i: int, problem: Problem, found: BatchDecoding, batch: ChainBatch, max_nodes: int) -> None:
    """Climb the ladder for sequence i, and write down what that betters."""
    answer = auto(problem, max_nodes=max_nodes)
    found.rounds[i] += answer.certificate.work.viterbi
    found.nodes[i] += answer.certificate.work.nodes
    found.bounds[i] = min(found.bounds[i], answer.certificate.bound)
    if answer.labels is not None and answer.score >= found.scores[i]:
        found.labels[batch.indptr[i] : batch.indptr[i + 1]] = answer.labels
        found.scores[i] = answer.score
