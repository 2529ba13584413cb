"""A CRF whose labels of one leaf learn from each other: what is known of the names of authors serves those of editors.

    w(a, y) = v(a, y) + s(a, leaf y)          t(x, y) = v(x, y) + s(leaf x, leaf y)          l2 (‖v‖² + ‖s‖²)

a : an attribute; the leaf of `I-venue/I-editor/I-person/B-person-last` is `B-person-last`. An attribute that was seen
with one label has a weight for all labels of that leaf, and a transition between two leaves one for all their labels
that may follow each other. Added up, v and s are the weights of an ordinary CRF, so prediction costs what it does
there, and so does a step of training but for two sums over the weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Labels
from espalier.errors import InputError
from espalier.estimators.crf import CRF, TrainingSet
from espalier.kernels.history import dot
from espalier.learning.lbfgs import Options, minimise
from espalier.learning.likelihood import ChainLikelihood, Twins
from espalier.models.linear import ChainModel, Pairs

__all__ = ["SharedCRF", "leaves"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class SharedCRF(CRF):
    """A CRF with weights for leaves beside those for labels; parameters as for `CRF`, but l1 and warm_start."""

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        super().check_parameters()
        if self.l1 or self.warm_start:
            raise InputError("a SharedCRF knows neither l1 nor warm_start", hint="use l2 alone, or a CRF")

    def train(self, data: TrainingSet) -> ChainModel:
        """Find the weights."""
        leaf, twins = leaves(data.labels), Twins.merge(data.matrix)
        pairs = _closed_pairs(Pairs.observed(twins.matrix, data.y, data.n_labels), leaf)
        learned = data.allowed & _closed_transitions(data.observed_transitions, leaf)
        likelihood = ChainLikelihood(
            twins.matrix, data.indptr, data.y, pairs, learned, data.start_allowed, data.allowed,
            data.sample_weight, self.threads,
        )  # fmt: skip
        weights = _Weights.of(likelihood, leaf, twins.scale(pairs))

        def objective(v: Float) -> tuple[float, Float]:
            value, gradient = likelihood(weights.total(v))
            return value + self.l2 * dot(v, v), weights.parts(gradient) + (2.0 * self.l2) * v

        options = Options(
            max_iterations=self.max_iterations, epsilon=self.epsilon, delta=self.delta, period=self.period,
            threads=likelihood.threads,
        )  # fmt: skip
        self.minimum_ = minimise(objective, np.zeros(weights.size), options=options, progress=self.progress)
        u = weights.total(self.minimum_.x)
        trans = np.where(data.allowed, 0.0, -np.inf)
        trans[likelihood.from_label, likelihood.to_label] = u[len(pairs) :]
        first = np.where(data.start_allowed, 0.0, -np.inf)
        return ChainModel(*twins.expand(pairs, u[: len(pairs)]), trans, first, np.zeros(data.n_labels))


def leaves(labels: Labels) -> Int:
    """Return the number of each label's leaf, int64[L]: its last mark and name."""
    return np.unique([name.rsplit("/", 1)[-1] for name in labels], return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Weights:
    """u = scale · (v + s[group]), for n weights u of the CRF and as many v, then G weights s of leaves.

    scale : float64[n]; group : int64[n], which s belongs to each.
    """

    scale: Float
    group: Int

    @classmethod
    def of(cls, likelihood: ChainLikelihood, leaf: Int, scale: Float) -> _Weights:
        """Group the pairs by attribute and leaf, the transitions by both leaves; scale : of the pairs."""
        pairs, L = likelihood.pairs, likelihood.pairs.n_labels
        # Transitions come behind the last attribute, as those of attribute A + the leaf they come from.
        source = np.append(pairs.attributes(), pairs.n_attributes + leaf[likelihood.from_label])
        target = leaf[np.append(pairs.label, likelihood.to_label).astype(np.int64)]
        group = np.unique(source * L + target, return_inverse=True)[1].astype(np.int64)
        return cls(np.append(scale, np.ones(len(likelihood.from_label))), group)

    @property
    def size(self) -> int:
        """Return n + G."""
        return len(self.group) + int(self.group.max(initial=-1)) + 1

    def total(self, v: Float) -> Float:
        """Return u."""
        n = len(self.group)
        return self.scale * (v[:n] + v[n:][self.group])

    def parts(self, gradient: Float) -> Float:
        """Return the gradient by v and s from that by u."""
        own = self.scale * gradient
        return np.append(own, np.bincount(self.group, own, self.size - len(own)))


def _closed_pairs(pairs: Pairs, leaf: Int) -> Pairs:
    """Return the pairs of each attribute with all labels of the leaves that it has a pair with."""
    seen = np.zeros((pairs.n_attributes, int(leaf.max(initial=-1)) + 1), bool)
    seen[pairs.attributes(), leaf[pairs.label]] = True
    whole = seen[:, leaf]
    ptr = np.append(0, np.cumsum(whole.sum(axis=1))).astype(np.int64)
    return Pairs.of(pairs.n_labels, ptr, np.nonzero(whole)[1].astype(np.int16))


def _closed_transitions(observed: NDArray[np.bool_], leaf: Int) -> NDArray[np.bool_]:
    """Return which transitions are between leaves of an observed one, bool[L, L]."""
    seen = np.zeros((int(leaf.max(initial=-1)) + 1,) * 2, bool)
    i, j = np.nonzero(observed)
    seen[leaf[i], leaf[j]] = True
    return np.asarray(seen[np.ix_(leaf, leaf)])
