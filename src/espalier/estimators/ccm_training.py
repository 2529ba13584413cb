"""How `CCM` trains its base: alone, fold by fold for penalties that need unseen sequences, or under the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.estimators.base import fresh
from espalier.potentials import ChainBatch
from espalier.rules.compile import Compiled

if TYPE_CHECKING:  # what only training needs is imported where it trains: whoever labels never waits for it
    from espalier.estimators.perceptron import Perceptron
    from espalier.learning.penalty_training import HeldOut

__all__ = ["chains", "cross_fitted", "fit_base", "fit_under_rules", "held_out"]

Float = NDArray[np.float64]


def fit_base(base: Any, corpus: Corpus, weight: Float | None) -> Any:
    """Return a copy of the base, fitted to a labelled corpus."""
    assert corpus.labels is not None
    return fresh(base).fit(corpus, sample_weight=weight, labels=corpus.labels.names)


def chains(base: Any, X: Any) -> ChainBatch:
    """Return the potentials of a fitted base; segments are refused."""
    batch = base.potentials(X)
    if not isinstance(batch, ChainBatch):
        raise InputError(f"{type(base).__name__} scores segments; rules need a model of chains, such as CRF()")
    return batch


def held_out(base: Any, corpus: Corpus, compiled: Compiled) -> HeldOut:
    """Return gold labels beside the potentials of a base that has not seen them."""
    from espalier.learning.penalty_training import HeldOut

    return HeldOut.of(chains(base, corpus), corpus, compiled)


def cross_fitted(base: Any, corpus: Corpus, weight: Float | None, compiled: Compiled, folds: int) -> list[HeldOut]:
    """Return every sequence of the corpus beside the potentials of a base fitted on the other folds.

    Sequence i is in fold i modulo `folds`.
    """
    fold = np.arange(len(corpus)) % folds
    parts = []
    for k in range(folds):
        rest = fold != k
        other = fit_base(base, corpus[rest], None if weight is None else weight[rest])
        parts.append(held_out(other, corpus[~rest], compiled))
    return parts


def fit_under_rules(
    base: Perceptron,
    corpus: Corpus,
    weight: Float | None,
    compiled: Compiled,
    penalties: Float,
    learned: NDArray[np.bool_],
) -> tuple[Perceptron, Float]:
    """Return a copy of the base trained under the rules, and the penalties; `learned` ones change with the weights."""
    from espalier.estimators.linear import training_set
    from espalier.learning.constrained_perceptron import train_constrained
    from espalier.learning.perceptron import all_pairs
    from espalier.models.pairs import Pairs

    base = fresh(base)
    base._check_parameters()
    index, matrix = base._extractor().fit_transform(corpus)
    data = training_set(corpus, matrix, weight)
    observed = base.pairs == "observed"
    pairs = Pairs.observed(matrix, data.y, data.n_labels) if observed else all_pairs(matrix.n_attributes, data.n_labels)
    training = train_constrained(
        matrix, corpus, pairs, data.start_allowed, data.allowed, compiled, penalties, learned,
        np.random.default_rng(base.seed), epochs=base.epochs, averaged=base.averaged, shuffle=base.shuffle,
        boundaries=base.boundaries, sample_weight=weight,
    )  # fmt: skip
    assert corpus.labels is not None
    base.model_, base.index_, base.mistakes_ = training.model, index, training.mistakes
    base.labels_, base.training_digest_ = corpus.labels, corpus.digest()
    return base, training.penalties
