"""EM and hard EM for models estimated from counts, such as the HMM: the baselines of learning from unlabelled text.

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

Here is what does not depend on the model, which must be one that is estimated from counts (`Counted`). A step
costs one forward-backward (or Viterbi) pass, O(M L²), and the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from espalier.errors import InputError

__all__ = ["Counted", "EMIteration", "em"]


@dataclass(frozen=True, slots=True)
class EMIteration:
    """The record of one iteration: its number, the objective of its model, and the model's score on held-out data.

    score : None without held-out data.
    """

    iteration: int
    objective: float
    score: float | None = None


class Counted(Protocol):
    """What `em` asks of a model, such as an HMM. counts_ : those of the labels, which add up and can be multiplied."""

    counts_: Any

    def with_counts(self: Model, counts: Any) -> Model:
        """Return the model estimated from counts."""

    def interpolated(self: Model, other: Model, gamma: float) -> Model:
        """Return gamma times this model plus (1 - gamma) times the other."""

    def log_joint(self, counts: Any) -> float:
        """Return the log probability of what was counted."""

    def log_prior(self) -> float:
        """Return the log of the prior."""


Model = TypeVar("Model", bound=Counted)


def em(
    supervised: Model,
    count: Callable[[Model], tuple[Any, float]],
    *,
    gamma: float | None = None,
    pool_weight: float = 1.0,
) -> Generator[tuple[Model, float]]:
    """Yield the supervised model with its objective, then one model an iteration, for as long as they are asked for.

    supervised : fitted to the labels, with words that cover the pool. count : from a model to its counts of the pool,
    and the log likelihood of the pool. gamma : None adds the counts of the pool, times pool_weight, to those of the
    labels; a number mixes probabilities instead, and the pool's weight plays no part.
    """
    if gamma is not None and not 0 <= gamma <= 1:
        raise InputError(f"gamma is {gamma!r}", hint="expected None or a number from 0 to 1")
    labelled, model = supervised.counts_, supervised
    while True:
        counts, fit = count(model)
        yield model, model.log_joint(labelled) + pool_weight * fit + model.log_prior()
        if gamma is None:
            model = supervised.with_counts(labelled + pool_weight * counts)
        else:
            model = supervised.interpolated(supervised.with_counts(counts), gamma)
