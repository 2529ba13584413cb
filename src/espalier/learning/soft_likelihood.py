"""A CRF's fit to a distribution over labellings instead of labels: the cross-entropy, and its gradient.

    f(w) = Σ_n ω_n ( log Z(x_n; w) - E_{q_n}[s(x_n, y; w)] )             = Σ_n ω_n ( KL(q_n ‖ p_w) + H(q_n) )
    ∂f/∂w_k = Σ_n ω_n ( E_{p_w}[f_k] - E_{q_n}[f_k] )

A chain model sees q only through its marginals and expected transitions, whose feature counts c never change: the
likelihood of known labels with c for the observed counts, at the same cost. Marginals pass through single precision on
their way to counts, as they do in the likelihood itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from espalier.features.matrix import FeatureMatrix
from espalier.kernels.vector import aligned
from espalier.learning.likelihood import ChainLikelihood
from espalier.models.pairs import Pairs
from espalier.potentials import ChainBatch

__all__ = ["SoftLikelihood"]

Float = NDArray[np.float64]


class SoftLikelihood(ChainLikelihood):
    """f and its gradient for one unlabelled corpus; `aim` at a distribution, then call it with a weight vector.

    The parameters are those of `ChainLikelihood`, without labels and with one weight ω for all sequences.
    """

    def __init__(
        self,
        matrix: FeatureMatrix,
        indptr: NDArray[np.int64],
        pairs: Pairs,
        learned: NDArray[np.bool_],
        start_allowed: NDArray[np.bool_],
        allowed: NDArray[np.bool_],
        weight: float = 1.0,
        threads: int | None = None,
    ) -> None:
        """Lay out the corpus."""
        unknown = np.full(matrix.n_tokens, -1, np.int16)
        weights = np.full(len(indptr) - 1, float(weight))
        super().__init__(matrix, indptr, unknown, pairs, learned, start_allowed, allowed, weights, threads)
        self.weight, self.indptr = float(weight), indptr

    def potentials(self, w: Float) -> ChainBatch:
        """Return the potentials of the corpus under weights w."""
        L, lanes = self.pairs.n_labels, self.lanes
        self._set_transitions(w)
        self.plan.prepare(w, self.threads)
        rows = aligned(lanes.n_rows, self.marginals.shape[1], empty=True)
        self._score(0, lanes.n_rows, w, rows, clamped=False)
        start = np.where(self.start_exp > 0, 0.0, -np.inf)
        classes = np.zeros(len(lanes.row_of_token), np.int32)
        unary = np.ascontiguousarray(rows[lanes.row_of_token, :L])
        return ChainBatch(self.indptr, unary, self.transitions.trans[None].copy(), classes, start, np.zeros(L))

    def counts(self, marginals: Float, transitions: Float) -> Float:
        """Return the feature counts of token marginals, float64[M, L], and transitions, float64[L, L]; unweighted."""
        counts = np.empty(self.n_parameters)
        self.marginals[: self.lanes.n_rows] = 0.0
        self.marginals[self.lanes.row_of_token, : self.pairs.n_labels] = marginals
        self._gather(counts, transitions[self.from_label, self.to_label])
        return counts

    def aim(self, marginals: Float, transitions: Float) -> None:
        """Fit this distribution from now on, given by its marginals and its expected transitions."""
        self.observed, self.partial = self.weight * self.counts(marginals, transitions), False
