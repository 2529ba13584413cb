"""EM and hard EM for the hidden Markov model: the baselines of learning from unlabelled text.

With c_L the counts of the labelled sequences, U the pool and ω its weight, each step goes uphill on

    soft   Σ c_L log θ + ω Σ_{x in U} log Σ_y P(x, y; θ) + log prior(θ)
    hard   Σ c_L log θ + ω Σ_{x in U} log max_y P(x, y; θ) + log prior(θ)

by counting the pool under the current model (expected counts, or those of the best labelling) and estimating anew from
c_L + ω c_U (Dempster, Laird and Rubin 1977; the weight is Nigam et al. 2000, EM-λ). *Additive* smoothing with one
transition matrix is the mode under a Dirichlet prior, log prior = Σ α log θ over every event that may happen (α₁ of
first labels, α of transitions, α₂ of words and the one share for all unknown words). Then, and only then, the objective
never falls. Back-off smoothing and transition classes draw their prior from the counts themselves; the objective is
reported without a prior, usually rises, and nothing is promised.

With gamma the step is that of Chang, Ratinov and Roth (2012, section 5.3): θ = γ θ_L + (1 - γ) θ_U, the mixture of the
supervised model's probabilities with those estimated from the pool alone. It holds on to the labels.

A step costs one forward-backward (or Viterbi) pass, O(M L²), over processes if wanted, and O(V L) for the estimate.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.learning.pool_counts import pool_counter
from espalier.models.hmm import HMMCounts, HMMParameters, Smoothing, estimate, interpolate

__all__ = ["EMIteration", "Step", "em", "log_joint", "log_prior"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class EMIteration:
    """The record of one iteration: its number, the objective of its model, and the model's score on held-out data.

    score : None without held-out data.
    """

    iteration: int
    objective: float
    score: float | None = None


class Step(NamedTuple):
    """A model on the way, and its objective."""

    parameters: HMMParameters
    objective: float


def em(
    labelled: HMMCounts,
    pool: Corpus,
    smoothing: Smoothing,
    labels: Labels,
    *,
    hard: bool = False,
    gamma: float | None = None,
    pool_weight: float = 1.0,
    threads: int | None = None,
    jobs: int | None = None,
) -> Generator[Step]:
    """Yield the supervised model, then one model an iteration, for as long as they are asked for.

    labelled : counts over a vocabulary that covers the pool. gamma : None adds the counts of the pool, times
    pool_weight, to those of the labels; a number mixes probabilities instead, and the pool's weight plays no part.
    jobs : None counts the pool as a whole; a number counts its parts in so many processes (`learning.pool_counts`),
    which end when the generator is closed.
    """
    if gamma is not None and not 0 <= gamma <= 1:
        raise InputError(f"gamma is {gamma!r}; expected None or a number from 0 to 1")
    supervised = parameters = estimate(labelled, smoothing, labels)
    with pool_counter(pool, labelled.vocabulary, labels, hard=hard, threads=threads, jobs=jobs) as count:
        while True:
            counts, fit = count(parameters)
            prior = log_prior(parameters, smoothing)
            yield Step(parameters, log_joint(parameters, labelled) + pool_weight * fit + prior)
            if gamma is None:
                parameters = estimate(labelled + pool_weight * counts, smoothing, labels)
            else:
                parameters = interpolate(supervised, estimate(counts, smoothing, labels), gamma)


def log_joint(parameters: HMMParameters, counts: HMMCounts) -> float:
    """Return Σ c log θ: log P(x, y) of the sequences that were counted; -inf if one is impossible."""
    names = ("start", "trans", "emission")
    return sum(_weighted_logs(getattr(counts, name), getattr(parameters, name)) for name in names)


def log_prior(parameters: HMMParameters, smoothing: Smoothing) -> float:
    """Return log of the Dirichlet prior that additive smoothing stands for, but for a constant; 0 for other smoothing.

    The events of a row are those with a probability above zero: valid tags, and whatever the labels did.
    """
    if smoothing.kind != "additive" or parameters.transition_classes is not None:
        return 0.0
    words = np.vstack([parameters.emission, parameters.unknown["any"][:1]])
    events = ((smoothing.start, parameters.start), (smoothing.trans, parameters.trans), (smoothing.emission, words))
    return sum(_weighted_logs(np.where(theta > 0, alpha, 0.0), theta) for alpha, theta in events)


def _weighted_logs(weights: Float, probabilities: Float) -> float:
    """Return Σ weight · log probability, where a weight of 0 counts nothing and an impossible event -inf."""
    used = weights > 0
    p = probabilities[used]
    return float(weights[used] @ np.log(p)) if (p > 0).all() else -np.inf
