"""A `ConvCRF` over labelled and unlabelled sequences together: what learners from expectations train.

A distribution over the labellings of the pool is learned by its marginals and its expected transitions, exactly as by
a CRF. The criterion of generalised expectation has derivatives by the scores of the pool, and the net passes them on;
each step sees one piece of the pool, and takes it for the whole.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.abilities import Expecting
from espalier.estimators.base import fresh
from espalier.estimators.conv_learned import Lessons, lessons, with_pool
from espalier.features.hashed import hashed_words, spaces_before
from espalier.inference import Posterior, posterior
from espalier.learning.chain_loss import Chain, SoftLabels, Targets, chain_loss
from espalier.learning.generalised_expectation import ScoreCriterion
from espalier.learning.net_training import Gradients
from espalier.models.conv import Borders, ConvShape, NetInput, Parameters, Workspace
from espalier.models.conv_gradients import Dropout, backward, forward
from espalier.potentials import ChainBatch

if TYPE_CHECKING:
    from espalier.estimators.conv_crf import ConvCRF

__all__ = ["ConvProblem"]

Float = NDArray[np.float64]

PIECE = 64
"""Sequences of the pool that a step looks at."""


class ConvProblem:
    """The training problem of one net, a labelled corpus and a pool; see `abilities.SoftProblem`."""

    def __init__(
        self, net: ConvCRF, labelled: Corpus, pool: Corpus, sample_weight: Float | None, pool_weight: float
    ) -> None:
        """Keep them."""
        net.check_parameters()
        self.net, self.labelled, self.pool = net, labelled, pool
        self.sample_weight, self.pool_weight = sample_weight, pool_weight
        self.last: ConvCRF | None = None

    def supervised(self) -> tuple[ConvCRF, float]:
        """Return the net of the labels alone, and the log likelihood of the labels."""
        assert self.labelled.labels is not None
        self.last = fresh(self.net)
        self.last.fit(self.labelled, sample_weight=self.sample_weight, labels=self.labelled.labels.names)
        return self.last, self._goodness(self.last)

    def refit(self, batch: ChainBatch, posterior: Posterior) -> tuple[ConvCRF, float]:
        """Return the net fitted to the labels and to a distribution over the pool's labellings, and its goodness."""
        known = self._lessons()
        L, first = posterior.marginals.shape[1], known.corpus.n_tokens
        everything = with_pool(known, self.pool, self.pool_weight)
        rows = np.zeros((everything.corpus.n_tokens, L), np.float32)
        rows[first:] = posterior.marginals
        taught = np.arange(len(everything.weight)) >= len(known.weight)
        steps = np.zeros((len(taught), L, L), np.float32)
        steps[taught] = _transitions(batch)
        columns = np.tile(np.arange(L, dtype=np.int16), (len(rows), 1))
        weight = everything.weight
        learned = Lessons(
            everything.corpus, np.where(taught, 0.0, weight), SoftLabels(columns, rows), np.where(taught, weight, 0.0),
            steps,
        )  # fmt: skip
        model = self._going_on()
        assert self.labelled.labels is not None
        model.learn(learned, self.labelled.labels)
        return self._done(model), self._goodness(model)

    def fit_expecting(self, criterion: ScoreCriterion, guessed: NDArray[np.int16], max_iterations: int) -> Expecting:
        """Return the net fitted to the labels and to what is expected of the pool, after so many steps."""
        assert self.labelled.labels is not None
        model = self._going_on()
        before = criterion.means_of(model.potentials(self.pool))
        if not len(guessed) or not max_iterations:
            return Expecting(None, before, before, [])
        known = self._lessons()
        plan = model.plan(len(known.weight))
        each = -(-len(known.weight) // plan.batch_of(len(known.weight)))
        plan = replace(plan, epochs=0, crf_epochs=-(-max_iterations // each), min_steps=0)
        scale = 1.0 / float((known.weight * known.corpus.lengths).sum())  # as the loss, which is of one token
        term = _pool_term(criterion, self.pool, model, scale)
        model.learn(known, self.labelled.labels, plan=plan, term=term)
        self._done(model)
        values = [seen.loss for seen in model.history_]
        return Expecting(model, before, criterion.means_of(model.potentials(self.pool)), values)

    def _lessons(self) -> Lessons:
        return lessons(self.labelled, self.sample_weight, self.net.copies, self.net.seed, self.net.replay)

    def _going_on(self) -> ConvCRF:
        """Return a copy of the last net that begins where it ended."""
        if self.last is None:
            raise InputError("there is no net to go on with", hint="ask for the supervised one first")
        model = copy.copy(self.last)
        model.warm_start = True
        return model

    def _done(self, model: ConvCRF) -> ConvCRF:
        model.warm_start = self.net.warm_start
        self.last = model
        return model

    def _goodness(self, model: ConvCRF) -> float:
        """Return the log likelihood of the labels."""
        batch, corpus = model.potentials(self.labelled), self.labelled
        assert corpus.y is not None
        weight = np.ones(len(corpus)) if self.sample_weight is None else self.sample_weight
        chain = Chain(batch.trans[0], batch.start, batch.end)
        return -chain_loss(batch.unary, Targets(corpus.lengths, corpus.y, weight), chain)[0]


def _transitions(batch: ChainBatch) -> Float:
    """Return the expected transitions of each sequence, float64[N, L, L]."""
    found = np.zeros((len(batch), batch.n_labels, batch.n_labels))
    for i in np.flatnonzero(np.diff(batch.indptr)).tolist():
        found[i] = posterior(batch.chosen([i]), threads=1).transitions.sum(axis=0)
    return found


def _pool_term(
    criterion: ScoreCriterion, pool: Corpus, model: ConvCRF, scale: float
) -> Callable[[Parameters, int], Gradients]:
    """Return the gradients of a criterion as a function of weights and the step: piece after piece of the pool."""
    shape, work = model.net_.shape, Workspace(np.float32)
    allowed = [np.isfinite(model.net_.weights[name]) for name in ("trans", "start", "end")]
    pieces = []
    for first in range(0, len(pool), PIECE):
        piece = pool[first : first + PIECE]
        if piece.n_tokens:
            grounded = criterion.grounded.features.ground(piece)
            own = ScoreCriterion(
                grounded, criterion.targets, criterion.weights,
                distance=criterion.distance, exact=criterion.exact, threads=criterion.threads,
            )  # fmt: skip
            pieces.append((piece.indptr, _read(piece, shape), own))

    def gradients(weights: Parameters, step: int) -> Gradients:
        indptr, batch, own = pieces[step % len(pieces)]
        scores, kept = forward(weights, shape, batch, work, Dropout(np.random.default_rng(0), 0, 0, 0, 0, 0))
        names = ("trans", "start", "end")
        trans, start, end = (
            np.where(ok, weights[name], -np.inf).astype(np.float64) for name, ok in zip(names, allowed, strict=True)
        )
        classes = np.zeros(len(scores), np.int32)
        _, slope, steps = own.slopes(ChainBatch(indptr, scores.astype(np.float64), trans[None], classes, start, end))
        slope, steps = scale * slope, scale * steps
        found = backward(weights, shape, batch, slope.astype(np.float32), kept, work)
        there = np.diff(indptr) > 0
        first, last = slope[indptr[:-1][there]].sum(0), slope[indptr[1:][there] - 1].sum(0)
        for name, g, ok in zip(names, (steps, first, last), allowed, strict=True):
            found[name] = np.where(ok, g, 0.0).astype(np.float32)
        return found

    return gradients


def _read(corpus: Corpus, shape: ConvShape) -> NetInput:
    """Return a few sequences as the net reads them."""
    used, word = np.unique(corpus.token_ids, return_inverse=True)
    words = hashed_words([corpus.types[k] for k in used.tolist()], shape.buckets)
    return NetInput(words, word, spaces_before(corpus), Borders(corpus.lengths))
