"""Decode many sequences under rules: eight at a time where the rules only count, one by one where they do not.

`CountDecoder` takes whole batches with one transition matrix under rules that fit `CountForm`; everything else climbs
the ladder of `auto`, sequence by sequence. Every answer carries its bound; `optimal` says where the two meet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus
from espalier.decoders.auto import auto
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
        return _one_by_one(batch, compiled, corpus, rho, max_nodes)
    conditions = Conditions.of(compiled.ground_bits(corpus))
    return decoder.decode(
        batch.indptr, batch.unary, conditions, threads=threads, max_rounds=max_rounds, max_nodes=max_nodes
    )


def _one_by_one(batch: ChainBatch, compiled: Compiled, corpus: Corpus, rho: Float, max_nodes: int) -> BatchDecoding:
    """Climb the ladder for each sequence; what has no labelling gets the label -1."""
    N = len(batch)
    labels = np.full(len(batch.unary), -1, np.int16)
    scores, bounds = np.empty(N), np.empty(N)
    rounds, nodes = np.zeros(N, np.int64), np.zeros(N, np.int64)
    for i, grounded in enumerate(compiled.ground_corpus(corpus)):
        found = auto(Problem(batch[i], grounded, rho), max_nodes=max_nodes)
        rounds[i], nodes[i] = found.certificate.work.viterbi, found.certificate.work.nodes
        scores[i], bounds[i] = found.score, found.certificate.bound
        if found.labels is not None:
            labels[batch.indptr[i] : batch.indptr[i + 1]] = found.labels
    return BatchDecoding(labels, scores, bounds, rounds, nodes)
