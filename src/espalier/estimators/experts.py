"""`Experts`: two models that vote with their scores.

    s(y) = s₁(y) + weight · s₂(y)                    P(y | x) ∝ exp s₁(y) · exp(s₂(y))^weight: a product of experts

What one of them forbids stays forbidden. A conditional model and a generative one make different mistakes, so the
product tends to be better than either; the fewer labels there are, the more weight a generative one deserves.
Experts may be experts themselves: `Experts(Experts(a, b), c)` has three.

The sum costs O(M L) on top of the two. Where transitions depend on the place, each pair of the experts' transition
classes is a class of the sum: C₁ C₂ matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, ModelFileError
from espalier.estimators.abilities import chain_potentials
from espalier.estimators.base import SequenceLabeller, again, as_corpus, check_number, fresh, labelled_corpus
from espalier.estimators.persist import nested, unnested
from espalier.potentials import ChainBatch

__all__ = ["Experts", "sum_of_potentials"]

Self = TypeVar("Self", bound="Experts")


@dataclass(eq=False, repr=False)
class Experts(SequenceLabeller):
    """The sum of two chain models' potentials.

    Parameters
    ----------
    first, second : estimators of chains, such as CRF and HMM; they are fitted as copies and stay as they are.
    weight : of the second, above 0.
    threads : None chooses by size; results do not depend on it.

    Notes
    -----
    After `fit`: `first_` and `second_`, the fitted experts. A second `fit` goes on with an expert that has
    `warm_start`, and makes the other anew.

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> es.Experts(es.CRF(["lower"]), es.HMM(), weight=0.5).fit(X, y).predict([["Ann", "of", "Ulm"]])
    [['who', 'O', 'where']]
    """

    kind = "experts"
    first_: SequenceLabeller = field(init=False)
    second_: SequenceLabeller = field(init=False)

    first: SequenceLabeller
    second: SequenceLabeller
    weight: float = 1.0
    _: KW_ONLY
    threads: int | None = None

    def fit(
        self: Self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
    ) -> Self:
        """Fit both experts on sequences X and label lists y (None: unknown label); X may be a Corpus that has labels.

        `labels` fixes the label names and their order, so that labels absent from this training set exist too.
        """
        self._check_weight()
        corpus = labelled_corpus(X, y, labels)
        assert corpus.labels is not None
        names = corpus.labels.names
        fitted = [
            self._unfitted(name).fit(corpus, sample_weight=sample_weight, labels=names) for name in ("first", "second")
        ]
        self.first_, self.second_ = fitted
        self.labels_ = corpus.labels
        self.training_digest_ = corpus.digest()
        return self

    def _check_weight(self) -> None:
        check_number("weight", self.weight)
        if self.weight == 0:
            raise InputError("weight is 0", hint="leave the second expert out instead")

    def _unfitted(self, name: str) -> Any:
        """Return the estimator to fit: a fresh copy, or one of the fitted expert if that goes on from where it was."""
        expert: Any = getattr(self, name)
        fitted: Any = getattr(self, f"{name}_", None)
        if type(fitted) is not type(expert):
            return fresh(expert)
        return again(fitted).set_params(**expert.get_params(deep=False))

    def potentials(self, X: Any) -> ChainBatch:
        """Return the weighted sum of the experts' potentials."""
        self.check_fitted()
        self._check_weight()  # it may be set after `fit`
        corpus = as_corpus(X)
        first, second = (chain_potentials(expert, corpus, "experts are") for expert in (self.first_, self.second_))
        return sum_of_potentials(first, second, self.weight)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        (header, arrays), (more, others) = nested("first", self.first_), nested("second", self.second_)
        return header | more, arrays | others

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        self.first_, self.second_ = (unnested(name, header, arrays) for name in ("first", "second"))
        for expert in (self.first_, self.second_):
            if list(expert.labels_.names) != header["labels"]:
                raise ModelFileError("the labels of the model and of its experts differ")
        self.first, self.second = fresh(self.first_), fresh(self.second_)


def sum_of_potentials(first: ChainBatch, second: ChainBatch, weight: float = 1.0) -> ChainBatch:
    """Return first + weight · second, of the same sequences and labels; weight is above 0, and -inf stays -inf."""
    same = np.array_equal(first.indptr, second.indptr) and first.n_labels == second.n_labels
    if not same:
        raise InputError("the two batches are not of the same sequences and labels")
    L, C = first.n_labels, len(second.trans)
    return ChainBatch(
        first.indptr,
        first.unary + weight * second.unary,
        (first.trans[:, None] + weight * second.trans).reshape(-1, L, L),
        first.trans_class * np.int32(C) + second.trans_class,
        first.start + weight * second.start,
        first.end + weight * second.end,
    )
