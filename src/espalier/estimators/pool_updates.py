"""How a base model learns from a pool with guessed labels: one function for each way, chosen by `base_update`.

    interpolate, HMM          γ P₀ + (1 - γ) P_U of all probabilities, P_U estimated from the pool alone
    interpolate, Perceptron   train on the pool, then on the labels from (1 - γ) times those weights
    pool                      train on labels and pool (with `copies`, on copies of it), each guess with weight ω

Chang, Ratinov and Roth (2012), algorithm 2 and section 6.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.base import again, fresh
from espalier.estimators.em import with_parameters
from espalier.estimators.hmm import HMM
from espalier.estimators.linear import training_set
from espalier.estimators.perceptron import Perceptron
from espalier.learning.codl import joined
from espalier.learning.recombination import recombined
from espalier.models.hmm import HMMCounts, estimate, interpolate

__all__ = ["Update", "base_update", "mixed"]

Float = NDArray[np.float64]
Update: TypeAlias = Callable[[Corpus, Float], Any]
"""From guessed sequences and their weights, float64[N], to a fitted base."""


def base_update(
    how: str, base: Any, corpus: Corpus, weight: Float | None, *, gamma: float, pool_weight: float
) -> Update:
    """Return the update of a base that was fitted on the labelled corpus."""
    if how == "pool":
        return lambda pseudo, belief: _pooled(base, corpus, weight, pseudo, pool_weight * belief)
    if how != "interpolate":
        raise InputError(f"update is {how!r}; expected 'interpolate' or 'pool'")
    if isinstance(base, HMM):
        return lambda pseudo, belief: _counted(base, pseudo, belief, gamma)
    if isinstance(base, Perceptron):
        return lambda pseudo, belief: _continued(base, corpus, weight, pseudo, belief, gamma)
    raise InputError(
        f"update='interpolate' is for an HMM or a Perceptron, not for a {type(base).__name__}; choose update='pool'"
    )


def _pooled(base: Any, corpus: Corpus, weight: Float | None, pseudo: Corpus, belief: Float) -> Any:
    """Train on both together; a base with `warm_start` begins at the supervised model's weights.

    A base with `copies` learns from those of the pool alone: guesses that it learns as they are it would only repeat.
    """
    assert corpus.labels is not None
    examples, names = joined(corpus, pseudo), corpus.labels.names
    weights = np.concatenate([np.ones(len(corpus)) if weight is None else weight, belief])
    copies = getattr(base, "copies", 0)
    if not copies:
        return again(base).fit(examples, sample_weight=weights, labels=names)
    guessed = slice(len(corpus), len(examples))
    examples, weights = recombined(examples, copies, weights, np.random.default_rng(0))
    taught = np.delete(np.arange(len(examples)), guessed)
    model = again(base).set_params(copies=0).fit(examples[taught], sample_weight=weights[taught], labels=names)
    return model.set_params(copies=copies)


def _counted(base: HMM, pseudo: Corpus, belief: Float, gamma: float) -> HMM:
    """Mix the supervised model with the counts of the guessed sequences."""
    supervised = base.parameters_
    return mixed(
        base, HMMCounts.from_labels(pseudo, supervised.vocabulary, belief, supervised.transition_classes), gamma
    )


def mixed(base: HMM, counts: HMMCounts, gamma: float) -> HMM:
    """Mix the probabilities of the supervised model with those that counts of the pool make."""
    learned = estimate(counts, base._smoothing(), base.labels_)
    return with_parameters(base, interpolate(base.parameters_, learned, gamma))


def _continued(
    base: Perceptron, corpus: Corpus, weight: Float | None, pseudo: Corpus, belief: Float, gamma: float
) -> Perceptron:
    """Train on the pool, and from (1 - gamma) times those weights on the labels, over the attributes of both."""
    index, _ = base._extractor().fit_transform(joined(corpus, pseudo))
    pool = fresh(base)._train(training_set(pseudo, index.transform(pseudo), belief))
    share = 1 - gamma
    # -inf (forbidden) times 0 would be nan; the trainer forbids anew by itself.
    trans, start = (np.where(np.isfinite(part), part, 0.0) for part in (pool.trans, pool.start))
    begin = replace(pool, w=share * pool.w, trans=share * trans, start=share * start, end=share * pool.end)
    model = fresh(base)
    model.model_ = model._train(training_set(corpus, index.transform(corpus), weight), begin)
    model.index_, model.labels_, model.training_digest_ = index, base.labels_, base.training_digest_
    return model
