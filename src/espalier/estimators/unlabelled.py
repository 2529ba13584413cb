"""What the learners from unlabelled text share: the pool, held-out data, and a fitted model that answers for them."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, ResultWarning
from espalier.estimators.base import SequenceLabeller, as_corpus, check_sample_weight, labelled_corpus
from espalier.estimators.persist import nested, unnested
from espalier.learning.guard import Guard
from espalier.potentials import ChainBatch, SegmentBatch

__all__ = ["TaughtLabeller", "checked_pool", "held_out", "scorer"]


Self = TypeVar("Self", bound="TaughtLabeller")


class TaughtLabeller(SequenceLabeller):
    """An estimator that teaches a model with unlabelled text; the model, `model_`, then does all the labelling.

    After `fit`, besides `model_`: `history_` (one record a cycle), `cycle_` (the one whose model was kept, 0 for the
    supervised model), `score_` and `supervised_score_` (on held-out data, None without). A loaded model has none of
    these four.
    """

    model_: SequenceLabeller
    history_: list[Any]
    cycle_: int
    score_: float | None
    supervised_score_: float | None

    def fit(
        self: Self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
        *,
        unlabelled: Any = None,
        dev: Any = None,
    ) -> Self:
        """Learn from labelled sequences and from unlabelled ones.

        Parameters
        ----------
        X : token lists, documents, or a Corpus that has labels.
        y : label lists, None for an unknown label; None where X has labels.
        sample_weight : of each labelled sequence.
        labels : fixes the label names and their order; needed where rules name a label that X lacks.
        unlabelled : token lists, documents or a Corpus; labels that they happen to have are not looked at.
        dev : held-out data, a labelled Corpus or a pair (X, y), to choose between the supervised model and the later
            ones; without it the last model is kept, and nothing says whether the pool has helped.

        Returns
        -------
        the estimator itself, fitted.
        """
        self.check_parameters()
        corpus, pool, held = labelled_corpus(X, y, labels), checked_pool(unlabelled, type(self).__name__), held_out(dev)
        self._keep(*self._teach(corpus, check_sample_weight(sample_weight, len(corpus)), pool, held))
        return self

    @abstractmethod
    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""

    @abstractmethod
    def _teach(
        self, corpus: Corpus, weight: NDArray[np.float64] | None, pool: Corpus, held: Corpus | None
    ) -> tuple[Guard[Any], Sequence[Any]]:
        """Return the model that was kept, and a record of each cycle."""

    def _keep(self, guard: Guard[Any], history: Sequence[Any]) -> None:
        """Take the model that the guard has kept, and what led to it."""
        self.model_, self.cycle_, self.history_ = guard.model, guard.cycle, list(history)
        self.score_, self.supervised_score_ = guard.score, guard.supervised_score
        self.labels_, self.training_digest_ = self.model_.labels_, self.model_.training_digest_

    @property
    def labeller_(self) -> SequenceLabeller:
        """The fitted model that answers."""
        self.check_fitted()
        return self.model_

    def potentials(self, X: Any) -> ChainBatch | SegmentBatch:
        """Return the potentials of every sequence under the learned model."""
        return self.labeller_.potentials(X)

    def predict_marginals(self, X: Any) -> list[NDArray[np.float64]]:
        """Return P(label | sequence) of each token, float64[T, L] a sequence, as the learned model has it."""
        return self.labeller_.predict_marginals(X)

    def predict_k(self, X: Any, k: int) -> list[list[tuple[list[str], float]]]:
        """Return the k best labellings of each sequence with their scores, as the learned model has them."""
        return self.labeller_.predict_k(X, k)

    def tag(self, X: Any) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Return the best label ids, int16[M], and the sequence borders, int64[N + 1]."""
        return self.labeller_.tag(X)

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        return nested("model", self.model_)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        self.model_ = unnested("model", header, arrays)


def checked_pool(unlabelled: Any, who: str) -> Corpus:
    """Return the unlabelled sequences; labels they happen to have are not looked at. No text at all is a warning."""
    if unlabelled is None:
        raise InputError(f"{who} learns from unlabelled text: pass unlabelled=, token lists or a Corpus")
    pool = as_corpus(unlabelled)
    pool = Corpus(pool.indptr, pool.token_ids, pool.types, documents=pool.documents)
    if not pool.n_tokens:
        warnings.warn(
            f"the unlabelled pool is empty, so {who} learns from the labels alone: the result is the supervised model",
            ResultWarning,
            stacklevel=3,
        )
    return pool


def held_out(dev: Any) -> Corpus | None:
    """Return held-out data as a corpus; dev : a labelled Corpus, a pair (X, y), or None."""
    if dev is None:
        return None
    corpus = as_corpus(*dev) if isinstance(dev, tuple) and len(dev) == 2 else as_corpus(dev)
    if corpus.y is None or not (corpus.y >= 0).any():
        raise InputError("dev has no labels to score against", hint="pass a labelled Corpus or a pair (X, y)")
    return corpus


def scorer(dev: Corpus | None) -> Callable[[SequenceLabeller], float] | None:
    """Return token accuracy on held-out data as a function of a model."""
    return None if dev is None else lambda model: model.score(dev)
