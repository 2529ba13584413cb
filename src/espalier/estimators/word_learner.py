"""`WordLearner`: raw text tells a model with features which words are used alike; the labels alone say what they mean.

    1  classes of the words of all text, raw and labelled (`features.word_classes`), become features of the model
    2  it learns from the labels, under its rules if it has any
    3  with rules and few labels it then labels the raw text and learns from these guesses, too, all of them together
       with the weight of a few labelled sequences

Guesses without rules teach a model what it believes already, its mistakes as firmly as the rest, and mostly the label
of what it does not know. Classes make no guess. `bench/raw_text.py` compares the ways.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError, ResultWarning
from espalier.estimators.abilities import scores_chains
from espalier.estimators.base import SequenceLabeller, check_number, fresh
from espalier.estimators.ccm import CCM
from espalier.estimators.codl import label_pool
from espalier.estimators.unlabelled import Map, TaughtLabeller
from espalier.features.extract import FeatureExtractor
from espalier.features.fields import default_templates
from espalier.features.word_classes import WordClasses
from espalier.learning.codl import pseudo_labelled

__all__ = ["WordLearner", "WordStep"]

Float = NDArray[np.float64]

_NAME = "raw"
_OWN = (f"classes:{_NAME}", f"vector:{_NAME}")


@dataclass(frozen=True, slots=True)
class WordStep:
    """The record of one model. step : 1 has classes of words, 2 has learned from guesses under rules, too.

    words : how many have a class. score : on held-out data; None without.
    """

    step: int
    words: int
    score: float | None = None


@dataclass(eq=False, repr=False)
class WordLearner(TaughtLabeller):
    """Classes of words from raw text as features; with rules and few labels also guesses, of little weight.

    Parameters
    ----------
    model : an unfitted model with features, such as a CRF, or a CCM around one; it is copied, never fitted itself.
    clusters, dimensions, min_count : of the classes, see `WordClasses.learn`; less text makes fewer of them, and
        less than the labelled text none.
    guesses : how many labelled sequences all guesses of the raw text count as, together; 0 makes none. Only a model of
        chains under rules guesses.
    few : with more labelled sequences than this there are no guesses: labels know better.
    keep : with `dev`, which model to keep: "best", the one without raw text included, or "last".
    progress : called with every `WordStep`.
    map : gives the parts of the raw text to the function that guesses the labels of one, as for `CoDL`.

    Notes
    -----
    After `fit`: `model_` (a fitted copy of `model`), `history_` (`WordStep`s), `cycle_` (the step whose model was kept,
    0 for the one without raw text), `score_` and `supervised_score_` (token accuracy on `dev`, None without).

    Examples
    --------
    >>> import espalier as es
    >>> X, y = [["plum", "in", "Ely"], ["pear", "near", "Wye"]], [["what", "O", "where"], ["what", "O", "where"]]
    >>> fruit, places = ["plum", "fig", "pear", "quince", "apple"], ["Ely", "Wye", "Rye", "Ulm", "Pau"]
    >>> raw = [[what, word, where] for what in fruit for word in ("in", "near") for where in places]
    >>> model = es.WordLearner(es.CRF(), clusters=[4], dimensions=2).fit(X, y, unlabelled=raw)
    >>> model.predict([["quince", "in", "Rye"]])
    [['what', 'O', 'where']]
    """

    kind = "words"

    model: Any
    _: KW_ONLY
    clusters: Sequence[int] = (16, 64)
    dimensions: int = 25
    min_count: int = 2
    guesses: float = 5.0
    few: int = 30
    keep: str = "best"
    progress: Callable[[WordStep], None] | None = None
    map: Map = map

    def _models(
        self, corpus: Corpus, weight: Float | None, pool: Corpus, held: Corpus | None
    ) -> Iterator[tuple[SequenceLabeller | None, WordStep | None]]:
        """Yield the model without raw text, with classes of words, and with guesses."""
        classes = self._classes(corpus, pool)
        if held is not None or classes is None:
            yield _fitted(fresh(self.model), corpus, weight, held), None
        else:
            yield None, None  # without held-out data nobody could choose it
        if classes is None:
            return
        worded = _fitted(_with_classes(fresh(self.model), classes), corpus, weight, held)
        yield worded, WordStep(1, len(classes.words))
        guesses = isinstance(worded, CCM) and scores_chains(worded.base)
        if self.guesses and len(corpus) <= self.few and guesses:
            yield self._guessing(worded, corpus, weight, pool), WordStep(2, len(classes.words))

    def _classes(self, corpus: Corpus, pool: Corpus) -> WordClasses | None:
        """Learn the classes of the words of all text, fewer where there is less; None if there is next to nothing."""
        # Less text than the labels have adds noise rather than words.
        enough = pool.n_tokens >= max(corpus.n_tokens, 1)
        for share in (1, 2, 4, 8) if enough else ():
            sizes = list(dict.fromkeys(max(2, int(size) // share) for size in self.clusters))
            D = max(2, self.dimensions // share)
            try:
                return WordClasses.learn([pool, corpus], clusters=sizes, dimensions=D, min_count=self.min_count)
            except InputError:  # fewer words than that
                continue
        if pool.n_tokens:
            least = f"{pool.n_tokens} tokens, beside {corpus.n_tokens} with labels"
            what = f"there is too little raw text to learn from ({least}): the labels alone teach"
            warnings.warn(what, ResultWarning, stacklevel=4)
        return None

    def _guessing(self, worded: Any, corpus: Corpus, weight: Float | None, pool: Corpus) -> SequenceLabeller:
        """Return the model that has learned from its labels of the pool under the rules, too."""
        guessed, own = pseudo_labelled(pool, label_pool(worded, pool, self.map), worded.labels_)
        if not len(guessed):
            return worded  # type: ignore[no-any-return]
        each = min(1.0, self.guesses / len(guessed))
        learned = worded.base_.fit_guessed(corpus, weight, guessed, each * own)
        return worded.with_base(learned)  # type: ignore[no-any-return]

    def check_parameters(self) -> None:
        """Raise InputError for a parameter that makes no sense."""
        check_number("guesses", self.guesses)
        check_number("few", self.few, whole=True)
        check_number("dimensions", self.dimensions, 1, whole=True)
        check_number("min_count", self.min_count, 1, whole=True)
        if not len(self.clusters):
            raise InputError(f"clusters is {self.clusters!r}", hint="expected whole numbers, such as [16, 64]")
        for size in self.clusters:
            check_number("clusters", size, 1, whole=True)
        own = _base(self.model).get_params(deep=False)
        if "features" not in own:
            name = type(_base(self.model)).__name__
            raise InputError(f"{name} has no features, which classes of words could be", hint="give a CRF, or use CoDL")
        if own.get("prior") is not None:
            raise InputError("a model with a prior has the features of that", hint="leave out prior, or use CoDL")

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""
        header, arrays = super().state()
        return header | {"clusters": [int(size) for size in self.clusters]}, arrays

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""
        super().restore(header, arrays)
        self.clusters = tuple(header.get("clusters", self.clusters))
        self.model = fresh(self.model_)


def _base(model: Any) -> Any:
    return model.base if isinstance(model, CCM) else model


def _fitted(model: Any, corpus: Corpus, weight: Float | None, held: Corpus | None) -> SequenceLabeller:
    more = {"dev": held} if isinstance(model, CCM) else {}
    found: SequenceLabeller = model.fit(corpus, sample_weight=weight, **more)
    return found


def _with_classes(model: Any, classes: WordClasses) -> Any:
    """Give an unfitted model the classes as further features; those of an earlier text make room."""
    base = _base(model)
    features = base.get_params(deep=False)["features"]
    if not isinstance(features, FeatureExtractor):
        features = FeatureExtractor(default_templates() if features is None else features)
    own = [t for t in features.templates if not any(part.field.text in _OWN for part in t.parts)]
    of_class, vector = classes.fields(_NAME)
    added = (of_class @ -1, of_class @ 0, of_class @ 1, vector @ 0)
    base.set_params(features=FeatureExtractor([*own, *added], features.min_count))
    return model
