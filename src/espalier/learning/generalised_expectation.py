"""Generalised expectation criteria: what a CRF's expectations on unlabelled text should be (Mann and McCallum 2010).

    h(w) = Σ_j weight_j · D(τ_j, m_j(w)),      m_j(w) = Σ_n E_w[f_j(x_n, y)] / (opportunities of j in the corpus)

for features f of `learning.expectations`: m is the rate at which a rule is violated, or the mean of a count. D is

    squared     (m - τ)²
    kl          τ log(τ / m) + (1 - τ) log((1 - τ) / (1 - m))             for rates, which lie between 0 and 1

and 0 for m below τ unless the target is `exact`: rules say what is too much, not what is too little.

The gradient is ∂h/∂w = Σ_n Cov_w(v · f(x_n, y), φ(x_n, y)) for the model's own features φ, with v_j = ∂h/∂E[f_j]. No
lattice of pairs of positions is needed: Cov(v · f, φ) = d/dε E_ε[φ] at ε = 0 for p_ε ∝ p e^{ε v · f}, whose potentials
are the model's, moved. It is taken as a central difference of two forward-backward passes, with v scaled to length
one at its largest; the error is O(ε²), below 1e-7 of the marginals. An evaluation costs three passes, O(M L²).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.inference import posterior
from espalier.learning.expectations import GroundedFeatures
from espalier.learning.likelihood import SoftLikelihood
from espalier.potentials import ChainBatch

__all__ = ["DISTANCES", "ExpectationCriterion", "ScoreCriterion"]

Float = NDArray[np.float64]

EPSILON = 1e-4
"""The step of the difference: ε² and the rounding of doubles, 1e-16 / ε, are both far below single precision."""

DISTANCES = ("squared", "kl")
CERTAIN = 1e-9
"""Rates nearer to 0 or 1 than this count as this: the divergence stays finite there, and flat."""


class ScoreCriterion:
    """h and its derivatives by the scores of one unlabelled corpus, whatever model they come from.

    Parameters
    ----------
    grounded : the features on the corpus.
    targets : float64[J], what m should be at most.
    weights : float64[J].
    distance : "squared" or "kl"; of counts, which are no rates, always the square.
    exact : targets are to be met from below, too.
    threads : None chooses by size.
    """

    def __init__(
        self,
        grounded: GroundedFeatures,
        targets: Float,
        weights: Float,
        *,
        distance: str = "squared",
        exact: bool = False,
        threads: int | None = None,
    ) -> None:
        """Check the targets."""
        if distance not in DISTANCES:
            raise InputError(f"distance is {distance!r}", hint=f"expected {' or '.join(map(repr, DISTANCES))}")
        self.grounded, self.distance, self.threads = grounded, distance, threads
        self.size = grounded.opportunities.sum(axis=0)
        self.used = self.size > 0
        self.targets, self.weights, self.exact = targets, np.where(self.used, weights, 0.0), exact
        self.rates = np.full(len(targets), distance == "kl") & ~grounded.features.counts
        wrong = np.flatnonzero(self.rates & ~((targets >= 0) & (targets < 1)))
        if len(wrong):
            name = grounded.features.names[wrong[0]]
            raise InputError(
                f"rule {name!r}: a target of {targets[wrong[0]]} is no rate", hint="kl takes 0 <= target < 1"
            )

    def slopes(self, batch: ChainBatch) -> tuple[float, Float, Float]:
        """Return h of potentials and its derivatives by their unary scores, float64[M, L], and transitions."""
        value, slope = self._distance(self.means_of(batch))
        v = np.divide(slope, self.size, out=np.zeros_like(slope), where=self.used)
        largest = float(np.abs(v).max(initial=0.0))
        if largest == 0.0:
            return value, np.zeros_like(batch.unary), np.zeros_like(batch.trans[0])
        unit = v / largest
        (up, up_steps), (down, down_steps) = (
            self._marginals(batch, -EPSILON * unit),
            self._marginals(batch, EPSILON * unit),
        )
        scale = largest / (2.0 * EPSILON)
        return value, scale * (up - down), scale * (up_steps - down_steps)

    def means_of(self, batch: ChainBatch) -> Float:
        """Return m of potentials, float64[J]; 0 where there is no opportunity."""
        group = np.zeros(len(batch), np.int64)
        moved = self.grounded.move(batch, np.zeros((1, len(self.size))))
        found = posterior(moved.batch, threads=self.threads)
        expected = self.grounded.expected(found, moved, group, 1)[0]
        return np.asarray(np.divide(expected, self.size, out=np.zeros_like(expected), where=self.used))

    def _marginals(self, batch: ChainBatch, multipliers: Float) -> tuple[Float, Float]:
        """Return the marginals and expected transitions of potentials moved by multipliers."""
        moved = self.grounded.move(batch, multipliers[None])
        found = moved.unmoved(posterior(moved.batch, threads=self.threads), 1)
        return found.marginals, found.transitions[0]

    def _distance(self, means: Float) -> tuple[float, Float]:
        """Return Σ weight · D, and its derivative by each mean, float64[J]."""
        counted = np.ones(len(means), bool) if self.exact else means > self.targets
        weights = np.where(counted, self.weights, 0.0)
        values, slopes = (means - self.targets) ** 2, 2.0 * (means - self.targets)
        tau, m = self.targets[self.rates], np.clip(means[self.rates], CERTAIN, 1.0 - CERTAIN)
        with np.errstate(divide="ignore", invalid="ignore"):
            hit = np.where(tau > 0, tau * np.log(tau / m), 0.0)
        values[self.rates] = hit + (1.0 - tau) * np.log((1.0 - tau) / (1.0 - m))
        slopes[self.rates] = np.where(m == means[self.rates], (m - tau) / (m * (1.0 - m)), 0.0)
        return float(weights @ values), weights * slopes


class ExpectationCriterion(ScoreCriterion):
    """h and its gradient for one unlabelled corpus; call it with a weight vector.

    likelihood : the model on this corpus; only its potentials and feature counts are used. The rest is as above.
    """

    def __init__(
        self, likelihood: SoftLikelihood, grounded: GroundedFeatures, targets: Float, weights: Float, **options: Any
    ) -> None:
        """Check the targets."""
        super().__init__(grounded, targets, weights, threads=likelihood.threads, **options)
        self.likelihood = likelihood

    @classmethod
    def over(cls, likelihood: SoftLikelihood, criterion: ScoreCriterion) -> ExpectationCriterion:
        """Return a criterion of scores as one of weights."""
        own = criterion
        return cls(likelihood, own.grounded, own.targets, own.weights, distance=own.distance, exact=own.exact)

    def means(self, w: Float) -> Float:
        """Return m under weights w, float64[J]; 0 where there is no opportunity."""
        return self.means_of(self.likelihood.potentials(w))

    def __call__(self, w: Float) -> tuple[float, Float]:
        """Return h(w) and its gradient."""
        value, unary, steps = self.slopes(self.likelihood.potentials(w))
        if not unary.any() and not steps.any():
            return value, np.zeros(self.likelihood.n_parameters)
        return value, self.likelihood.counts(unary, steps)
