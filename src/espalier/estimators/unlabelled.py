"""What the learners from unlabelled text share: the pool, held-out data, and a fitted model that answers for them.

Such text may hurt, so the supervised model stays in the race: a learner shows every model that it makes to a `Guard`.
With a score on held-out data the guard keeps the best one, the supervised model included, and says when nothing has
become better for a while. Without a score it can tell nothing: it keeps the last model and makes no claim.

Every learner is a generator of models, the supervised one first (`TaughtLabeller._models`), and `fit` is the one loop
that looks at them.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import EspalierError, InputError, ResultWarning
from espalier.estimators.base import SequenceLabeller, as_corpus, check_progress, check_sample_weight, labelled_corpus
from espalier.estimators.held_out import held_out
from espalier.estimators.persist import nested, unnested
from espalier.parallel import balanced
from espalier.potentials import ChainBatch, OtherBatch

__all__ = ["Guard", "Map", "TaughtLabeller", "checked_pool", "in_parts"]

Self = TypeVar("Self", bound="TaughtLabeller")
Model = TypeVar("Model")
Result = TypeVar("Result")
Map = Callable[[Callable[[Corpus], Any], Iterable[Corpus]], Iterable[Any]]
"""What gives parts of a pool to a function and yields the results in order, as the built-in `map` does."""

TOKENS_A_PART = 100_000
"""A pool is labelled in parts of about so many tokens, whatever does it: only one part's scores need be in memory."""


class Guard(Generic[Model]):
    """Keeps one of the models it has seen, of which the first is the supervised one.

    model, cycle : the kept model and its number, 0 for the supervised one; score : of the kept model, and
    supervised_score : of the first, both None without a score; stop : has the last `patience` models brought nothing?
    """

    model: Model

    def __init__(
        self, score: Callable[[Model], float] | None = None, *, keep: str = "best", patience: int | None = None
    ) -> None:
        """Start without a model.

        score : higher is better. keep : "best" (ties go to the earlier model) or "last"; without a score always the
        last. patience : models in a row without a new best score before `stop`; None never stops.
        """
        if keep not in ("best", "last"):
            raise InputError(f"keep is {keep!r}", hint="expected 'best' or 'last'")
        if patience is not None and (isinstance(patience, bool) or not isinstance(patience, int) or patience < 1):
            raise InputError(f"patience is {patience!r}", hint="expected None or a whole number of at least 1")
        self._score, self._keep, self._patience = score, keep, patience
        self.score: float | None = None
        self.supervised_score: float | None = None
        self._best: float | None = None
        self.seen, self.cycle, self._best_cycle = -1, 0, 0

    def see(self, model: Model) -> float | None:
        """Take the next model; return its score, None without one."""
        self.seen += 1
        score = None if self._score is None else float(self._score(model))
        if not self.seen:
            self.supervised_score = score
        better = score is not None and (self._best is None or score > self._best)
        if better:
            self._best, self._best_cycle = score, self.seen
        if better or score is None or self._keep == "last":
            self.model, self.cycle, self.score = model, self.seen, score
        return score

    @property
    def stop(self) -> bool:
        """Have the last `patience` models brought no new best score?"""
        if self._patience is None or self._best is None:
            return False
        return self.seen - self._best_cycle >= self._patience


class TaughtLabeller(SequenceLabeller):
    """An estimator that teaches a model with unlabelled text; the model, `model_`, then does all the labelling.

    After `fit`, besides `model_`: `history_` (one record a cycle), `cycle_` (the one whose model was kept, 0 for the
    supervised model), `score_` and `supervised_score_` (on held-out data, None without). A loaded model has none of
    these four.
    """

    keep: str
    progress: Callable[[Any], None] | None = None
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
        check_progress(self.progress)
        if not callable(chosen := getattr(self, "map", map)):
            raise InputError(f"map is {chosen!r}", hint="expected a function such as the built-in map")
        corpus, pool = labelled_corpus(X, y, labels), checked_pool(unlabelled, type(self).__name__)
        held = None if dev is None else held_out(dev, corpus.labels)
        weight, history = check_sample_weight(sample_weight, len(corpus)), []
        score = None if held is None else lambda model: self._answering(model).score(held)
        guard = Guard[Any](score, keep=self.keep, patience=getattr(self, "patience", None))
        for model, record in self._models(corpus, weight, pool, held):
            found = guard.see(model)
            if record is not None:
                history.append(replace(record, score=found))
                if self.progress is not None:
                    self.progress(history[-1])
            if guard.stop:
                break
        self._keep(guard, history)
        return self

    @abstractmethod
    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""

    @abstractmethod
    def _models(
        self, corpus: Corpus, weight: NDArray[np.float64] | None, pool: Corpus, held: Corpus | None
    ) -> Iterator[tuple[Any, Any]]:
        """Yield the supervised model, then one a cycle, each with the record of its cycle, whose score `fit` adds.

        A record may be None, and then is none in `history_`.
        """

    def _answering(self, model: Any) -> SequenceLabeller:
        """Return the part of a model that labels new text."""
        found: SequenceLabeller = model
        return found

    def _keep(self, guard: Guard[Any], history: Sequence[Any]) -> None:
        """Take the model that the guard has kept, and what led to it."""
        self.model_, self.cycle_, self.history_ = guard.model, guard.cycle, list(history)
        self.score_, self.supervised_score_ = guard.score, guard.supervised_score
        self.labels_, self.training_digest_ = self.model_.labels_, self.model_.training_digest_

    @property
    def labeller_(self) -> SequenceLabeller:
        """The fitted model that answers: `model_`, or a part of it."""
        self.check_fitted()
        return self._answering(self.model_)

    def potentials(self, X: Any) -> ChainBatch | OtherBatch:
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

    def explain(self, tokens: Sequence[str]) -> Any:
        """Return the answers for one sequence without and with the rules, and the rules that make the difference."""
        self.check_fitted()
        return self.model_.explain(tokens)

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


def in_parts(function: Callable[[Corpus], Result], pool: Corpus, map: Map) -> Iterator[Result]:
    """Yield function(part) of each part of a pool of about `TOKENS_A_PART` tokens, with no more words than it has."""
    cuts = balanced(pool.indptr, max(pool.n_tokens // TOKENS_A_PART, 1)) or [(0, len(pool))]
    results = iter(map(function, (_part(pool, *cut) for cut in cuts)))
    for n, (first, _) in enumerate(cuts):
        try:
            result = next(results)
        except StopIteration:
            what = f"map returned {n} results for {len(cuts)} parts"
            raise InputError(what, hint="expected one for each, in order") from None
        except EspalierError as error:  # which numbers the sequences of its part
            if not first:
                raise
            raise type(error)(f"in the part that begins with sequence {first}: {error}") from error
        yield result


def _part(pool: Corpus, lo: int, hi: int) -> Corpus:
    if hi - lo == len(pool):
        return pool
    part = pool[lo:hi]
    used, ids = np.unique(part.token_ids, return_inverse=True)
    types = tuple(part.types[k] for k in used.tolist())
    return replace(part, token_ids=ids.reshape(-1).astype(np.int32), types=types)
