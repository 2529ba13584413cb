"""`HMM`: the hidden Markov model, trained by counting (see `espalier.models.hmm` for the formulas).

Generative and quick to learn from a handful of labels; what CoDL and EM start from.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, ModelFileError
from espalier.estimators.base import (
    SequenceLabeller,
    as_corpus,
    check_sample_weight,
    fresh,
    labelled_corpus,
    say_if_broken,
    words_alone,
)
from espalier.features.word_classes import WordClasses
from espalier.inference import Posterior, posterior
from espalier.models.hmm import (
    HMMCounts,
    HMMParameters,
    Smoothing,
    Vocabulary,
    check_transition_classes,
    estimate,
    interpolate,
    log_joint,
    log_prior,
)
from espalier.potentials import ChainBatch
from espalier.store import below, pack_strings, unpack_strings

__all__ = ["HMM"]

Self = TypeVar("Self", bound="HMM")


@dataclass(eq=False, repr=False)
class HMM(SequenceLabeller):
    """A first-order hidden Markov model; its potentials are natural-log probabilities.

    Parameters
    ----------
    smoothing : "backoff" (rare and unknown words by shape and suffix) or "additive".
    normalise : what counts as one word: "none", "lower" (case), or "classes" (case, years, numbers by length, ranges).
    start_alpha, transition_alpha : added to the counts of first labels and of transitions.
    emission_alpha : added to the counts of words, additive smoothing only.
    backoff_weight, class_weight : how many tokens the word classes, and the prior on those, are worth; back-off only.
    word_classes : None, or `WordClasses` of unlabelled text: rare and unknown words by their clusters too (back-off
        only); the model then knows all their words. A class_weight of about 10 suits them.
    transition_classes : None, "punctuation" or "sentences": one transition matrix for each kind of token before (see
        `espalier.models.hmm.classes_of_transitions`).
    pooling_weight : how many transitions the common matrix is worth, with transition classes only.
    threads : None chooses by size; results do not depend on it.

    Notes
    -----
    After `fit`: `counts_`, `vocabulary_` and `parameters_`; a loaded model has no `counts_`.

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"]], [["who", "O", "where"], ["who", "O", "where"]]
    >>> es.HMM().fit(X, y).predict([["Bob", "in", "Ulm"]])
    [['who', 'O', 'where']]
    """

    kind = "hmm"

    smoothing: str = "backoff"
    _: KW_ONLY
    normalise: str = "classes"
    start_alpha: float = 0.1
    transition_alpha: float = 0.3
    emission_alpha: float = 0.3
    backoff_weight: float = 1000.0
    class_weight: float = 1.0
    word_classes: WordClasses | None = None
    transition_classes: str | None = None
    pooling_weight: float = 3.0
    threads: int | None = None

    def fit(
        self: Self,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
        vocabulary: Vocabulary | None = None,
    ) -> Self:
        """Learn from sequences X and label lists y (None: unknown label); X may be a Corpus that has labels.

        labels : fixes the label names and their order, so that labels absent from this training set exist too.
        vocabulary : words to know besides those of X, from unlabelled text for instance; its own `normalise` must be
        that of this model.
        """
        smoothing = self._smoothing()
        check_transition_classes(self.transition_classes)
        corpus = words_alone(labelled_corpus(X, y, labels), self)
        say_if_broken(corpus)
        assert corpus.labels is not None
        if vocabulary is None:
            vocabulary = Vocabulary((), self.normalise)
        elif vocabulary.normalise != self.normalise:
            raise InputError(f"the vocabulary has normalise={vocabulary.normalise!r}, the model {self.normalise!r}")
        self.counts_ = HMMCounts.from_labels(
            corpus,
            vocabulary.classified(self.word_classes).extended(corpus),
            check_sample_weight(sample_weight, len(corpus)),
            self.transition_classes,
        )
        self.parameters_ = estimate(self.counts_, smoothing, corpus.labels)
        self.labels_ = corpus.labels
        self.training_digest_ = corpus.digest()
        return self

    def _smoothing(self) -> Smoothing:
        """Return the smoothing that the parameters describe; a parameter that makes no sense is an error."""
        if self.word_classes is not None and self.smoothing == "additive":
            raise InputError("additive smoothing knows no word classes", hint="choose smoothing='backoff'")
        return Smoothing(
            self.smoothing,
            start=self.start_alpha,
            trans=self.transition_alpha,
            emission=self.emission_alpha,
            backoff=self.backoff_weight,
            classes=self.class_weight,
            pooled=self.pooling_weight,
        )

    def fit_with_pool(self: Self, labelled: Corpus, weight: Any, pool: Corpus) -> Self:
        """Return an unfitted copy fitted to labels; the words of the pool are known words."""
        words = Vocabulary((), self.normalise).extended(pool)
        return fresh(self).fit(labelled, sample_weight=weight, vocabulary=words)

    def mixed(
        self: Self, labelled: Corpus, weight: Any, guessed: Corpus, guessed_weight: NDArray[np.float64], gamma: float
    ) -> Self:
        """Return gamma times the probabilities of this model plus (1 - gamma) times those of guessed labels.

        Algorithm 2 of Chang, Ratinov and Roth (2012). The labelled sequences are not counted anew.
        """
        return self.interpolated(self.with_counts(self.count_labels(guessed, guessed_weight)), gamma)

    def count(self, pool: Corpus, *, hard: bool = False, threads: int | None = None) -> tuple[HMMCounts, float]:
        """Return the counts expected in unlabelled text, and its log likelihood.

        hard : count the best labelling of each sequence instead, and return the log probability of these.
        """
        own = self.parameters_
        if not hard:
            found = posterior(own.potentials(pool), threads=threads)
            return self.counts_under(pool, found), float(found.log_z.sum())
        y, scores = own.tag(pool, threads)
        guessed = replace(pool, y=y, labels=self.labels_, documents=None)
        return self.count_labels(guessed, None), float(scores.sum())

    def count_labels(self, labelled: Corpus, weight: NDArray[np.float64] | None) -> HMMCounts:
        """Return the counts of labels, over the words that the model knows."""
        own = self.parameters_
        return HMMCounts.from_labels(labelled, own.vocabulary, weight, own.transition_classes)

    def counts_under(self, pool: Corpus, posterior: Posterior) -> HMMCounts:
        """Return the counts expected under a distribution over the labellings of a pool."""
        own = self.parameters_
        return HMMCounts.from_marginals(pool, own.vocabulary, posterior, own.transition_classes)

    def with_counts(self: Self, counts: HMMCounts) -> Self:
        """Return a fitted copy whose probabilities are estimated from other counts; `counts_` is left out."""
        return self._with(estimate(counts, self._smoothing(), self.labels_))

    def interpolated(self: Self, other: Self, gamma: float) -> Self:
        """Return gamma times the probabilities of this model plus (1 - gamma) times those of another."""
        return self._with(interpolate(self.parameters_, other.parameters_, gamma))

    def _with(self: Self, parameters: HMMParameters) -> Self:
        other = copy.copy(self)
        other.parameters_ = parameters
        other.__dict__.pop("counts_", None)  # these probabilities were not estimated from them
        return other

    def log_joint(self, counts: HMMCounts) -> float:
        """Return log P(x, y) of the sequences that were counted."""
        return log_joint(self.parameters_, counts)

    def log_prior(self) -> float:
        """Return the log of the Dirichlet prior that additive smoothing stands for; 0 for other smoothing."""
        return log_prior(self.parameters_, self._smoothing())

    @property
    def vocabulary_(self) -> Vocabulary:
        """The words the model knows."""
        self.check_fitted()
        return self.parameters_.vocabulary

    def potentials(self, X: Any) -> ChainBatch:
        """Return the potentials of every sequence: log P(x, y) in parts."""
        self.check_fitted()
        return self.parameters_.potentials(as_corpus(X))

    def tag(self, X: Any) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Return the best label ids, int16[M], and the sequence borders, int64[N + 1]."""
        corpus = as_corpus(X)
        return self.parameters_.tag(corpus, self.threads)[0], corpus.indptr

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        model = self.parameters_
        text, offsets = pack_strings(model.vocabulary.words)
        arrays: dict[str, NDArray[Any]] = {
            "start": model.start, "trans": model.trans, "emission": model.emission,
            "words/text": text, "words/offsets": offsets,
        }  # fmt: skip
        arrays |= {f"unknown/{name}": table for name, table in model.unknown.items()}
        if model.vocabulary.word_classes is not None:
            arrays |= {f"classes/{key}": array for key, array in model.vocabulary.word_classes.to_state().items()}
        header = {"normalise": model.vocabulary.normalise, "transition_classes": model.transition_classes}
        return header, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        words = unpack_strings(arrays["words/text"], arrays["words/offsets"])
        classes, unknown = (below(prefix, arrays) for prefix in ("classes/", "unknown/"))
        self.word_classes = WordClasses.from_state(classes) if classes else None
        self.normalise, self.transition_classes = header["normalise"], header["transition_classes"]
        vocabulary = Vocabulary(tuple(words), self.normalise, self.word_classes)
        L, shapes = len(header["labels"]), [arrays[name].shape for name in ("start", "trans", "emission")]
        if shapes != [(L,), (max(shapes[1][0], 1), L, L), (len(words), L)]:
            raise ModelFileError(f"probabilities of shapes {shapes} are not those of {L} labels and {len(words)} words")
        # Word classes are made anew from the words; a file whose tables do not fit them is of another making.
        for name, table in unknown.items():
            if name not in vocabulary.groupings or table.shape != (len(vocabulary.groupings[name].sizes), L):
                raise ModelFileError(f"the word classes {name!r} of this file are not those of this version")
        if any(
            x.dtype != np.float64 for x in (arrays["start"], arrays["trans"], arrays["emission"], *unknown.values())
        ):
            raise ModelFileError("probabilities are stored as float64, and these are not")
        # In the order of the vocabulary, so that sums come out the same to the last bit.
        ordered = {name: unknown[name] for name in vocabulary.groupings if name in unknown}
        self.parameters_ = HMMParameters(
            vocabulary, arrays["start"], arrays["trans"], arrays["emission"], ordered, self.transition_classes
        )
