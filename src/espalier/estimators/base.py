"""What every estimator shares: parameters the scikit-learn way, input in any accepted form and checked, saving.

`clone`, `Pipeline`, `KFold` and `GridSearchCV` ask for `get_params`, `set_params` and a few attributes, not for a base
class; so none is imported, and a process that only predicts never pays for scikit-learn.
"""

from __future__ import annotations

import copy
import inspect
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import UNKNOWN, Corpus, Labels
from espalier.document import Document
from espalier.errors import (
    Argument,
    InfeasibleError,
    InputError,
    LabelError,
    NotFittedError,
    Place,
    ResultWarning,
    RuleError,
    counted,
    in_order,
    nearest,
    shortened,
)
from espalier.estimators.persist import checked_path, pack, register
from espalier.inference import k_best, marginals, viterbi
from espalier.potentials import ChainBatch, OtherBatch
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import RuleSet
from espalier.store import save

__all__ = [
    "Estimator",
    "SequenceLabeller",
    "again",
    "allowed_moves",
    "as_corpus",
    "check_kept",
    "check_labelled",
    "check_number",
    "check_progress",
    "check_sample_weight",
    "compiled_rules",
    "fresh",
    "is_estimator",
    "labelled_corpus",
    "listener",
    "one_sequence",
    "rule_set",
    "say_if_broken",
    "say_jobs_are_gone",
    "words_alone",
]

Self = TypeVar("Self", bound="Estimator")
Labeller = TypeVar("Labeller", bound="SequenceLabeller")
Model = TypeVar("Model")
Bool = NDArray[np.bool_]


class Estimator:
    """Parameters by the names of the constructor's arguments; it stores them, as a dataclass does, and no more."""

    @classmethod
    def _parameters(cls) -> list[str]:
        signature = inspect.signature(cls.__init__)
        return [name for name in signature.parameters if name != "self"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep` also those inside: `base__l2`, in a list `experts__0__l2`."""
        params = {name: getattr(self, name) for name in self._parameters()}
        if deep:
            for name, value in list(params.items()):
                for prefix, one in _nested(name, value):
                    params |= {f"{prefix}__{inner}": v for inner, v in one.get_params().items()}
        return params

    def set_params(self: Self, **params: Any) -> Self:
        """Set parameters; `base__l2` reaches into nested estimators."""
        known = self._parameters()
        nested: dict[str, dict[str, Any]] = {}
        for key, value in params.items():
            name, _, inner = key.partition("__")
            if name not in known:
                near = nearest(name, known, f"parameters: {', '.join(known)}")
                raise InputError(f"{type(self).__name__} has no parameter {name!r}", hint=near)
            if inner:
                nested.setdefault(name, {})[inner] = value
            else:
                setattr(self, name, value)
        for name, values in nested.items():
            held = getattr(self, name)
            if isinstance(held, list | tuple):
                _set_in_list(type(self).__name__, name, held, values)
                continue
            if not is_estimator(held):
                raise InputError(
                    f"{type(self).__name__} has {name}={held!r}, which has no parameters {', '.join(values)}"
                )
            held.set_params(**values)
        return self

    def __repr__(self) -> str:
        """Show the parameters that differ from their defaults."""
        defaults = inspect.signature(type(self).__init__).parameters
        shown = [
            f"{name}={_shown(value)}"
            for name, value in self.get_params(deep=False).items()
            if not _same(value, defaults[name].default)
        ]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn, which is there if it asks, that samples are not rows of a table.

        Nor are label lists its classes: of a "classifier", cv=5 would mean folds that are stratified by them.
        """
        from sklearn.utils import InputTags, Tags, TargetTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False, multi_output=True),
            input_tags=InputTags(two_d_array=False, string=True),
        )


def is_estimator(value: Any) -> bool:
    """Does a parameter hold an estimator of its own?"""
    return hasattr(value, "get_params") and not isinstance(value, type)


def _nested(name: str, value: Any) -> list[tuple[str, Any]]:
    """Return the estimators that a parameter holds, alone or in a list, with the names of their places."""
    if isinstance(value, list | tuple):
        return [(f"{name}__{i}", one) for i, one in enumerate(value) if is_estimator(one)]
    return [(name, value)] if is_estimator(value) else []


def _set_in_list(owner: str, name: str, held: Sequence[Any], values: Mapping[str, Any]) -> None:
    """Set parameters of estimators in a list, `0__l2` those of the first."""
    known = dict(_nested(name, held))
    for key, value in values.items():
        place, _, inner = key.partition("__")
        if f"{name}__{place}" not in known or not inner:
            shown = ", ".join(f"{prefix}__..." for prefix in known) or "none"
            raise InputError(f"{owner} has no parameter {name}__{key}", hint=f"parameters of {name}: {shown}")
        known[f"{name}__{place}"].set_params(**{inner: value})


def fresh(estimator: Model) -> Model:
    """Return an unfitted copy with the same parameters, those of nested estimators too, as scikit-learn's `clone`.

    Other values are shared, not copied: rules, templates and extractors do not change.
    """
    if not is_estimator(estimator):
        raise InputError(
            f"{estimator!r} is not an estimator", hint="give an object such as HMM(), with get_params and fit"
        )
    params = estimator.get_params(deep=False)  # type: ignore[attr-defined]
    return type(estimator)(**{name: _fresh_value(value) for name, value in params.items()})


def _fresh_value(value: Any) -> Any:
    """Return a parameter, estimators in it unfitted."""
    if isinstance(value, list | tuple) and any(map(is_estimator, value)):
        return [fresh(one) for one in value]
    return fresh(value) if is_estimator(value) else value


def again(estimator: Model) -> Model:
    """Return a copy of a fitted estimator to fit once more: as it is if it has `warm_start`, else fresh."""
    params = estimator.get_params() if is_estimator(estimator) else {}  # type: ignore[attr-defined]
    warm = any(value is True for name, value in params.items() if name.split("__")[-1] == "warm_start")
    return copy.copy(estimator) if warm else fresh(estimator)


def _shown(value: Any) -> str:
    """Return a parameter for a repr; of many templates, such as a loaded model has, the number."""
    text = repr(value)
    if len(text) <= 400:
        return text
    several = isinstance(value, list | tuple)
    return f"<{len(value)} {type(value[0]).__name__.lower()}s>" if several else shortened(text, 400)


def _same(a: Any, b: Any) -> bool:
    """Equality that survives arrays and odd types."""
    try:
        return bool(a is b or a == b)
    except (ValueError, TypeError):
        return False


def as_corpus(X: Any, y: Sequence[Sequence[str | None]] | None = None, *, vocabulary: Labels | None = None) -> Corpus:
    """Make a corpus of what a user may pass: a Corpus, documents, or token lists; y are label lists.

    vocabulary : the label names and their order, whatever those of a labelled Corpus are.
    """
    if isinstance(X, Corpus):
        return _renumbered(X, vocabulary) if y is None else X.with_labels(y, vocabulary)
    hint = "expected a Corpus or a list of token lists"
    if not hasattr(X, "__len__"):  # a stream is used up by whoever looks at it
        raise InputError(f"X is {type(X).__name__}", hint=hint)
    several = in_order(X, "X", hint)
    if several and isinstance(several[0], Document):
        corpus = Corpus.from_documents(several, vocabulary=vocabulary)
        return corpus if y is None else corpus.with_labels(y, vocabulary)
    return Corpus.from_tokens(several, y, vocabulary=vocabulary)


def _renumbered(corpus: Corpus, vocabulary: Labels | None) -> Corpus:
    """Return a corpus with its labels numbered as in the vocabulary; a label in use that it lacks is an error."""
    if vocabulary is None or corpus.y is None or corpus.labels is None or corpus.labels == vocabulary:
        return corpus
    used = np.unique(corpus.y[corpus.y >= 0])
    ids = np.full(len(corpus.labels) + 1, UNKNOWN, np.int16)  # the last is that of unknown labels, -1
    ids[used] = vocabulary.encode([corpus.labels.names[i] for i in used])
    return replace(corpus, y=ids[corpus.y], labels=vocabulary)


def check_labelled(corpus: Corpus) -> None:
    """Raise if there is nothing to learn from."""
    if len(corpus) == 0 or corpus.n_tokens == 0:
        raise InputError("the training corpus is empty", hint="give at least one sequence with at least one token")
    if corpus.y is None or corpus.labels is None:
        raise InputError("fit needs labels: pass y, or a Corpus that has them")
    if (corpus.y < 0).all():
        raise LabelError("every label is unknown", hint="at least one token must be labelled")


def check_kept(known: Iterable[str], labels: Iterable[str]) -> None:
    """Refuse to forget labels of a prior."""
    kept = set(labels)
    lost = [name for name in known if name not in kept]
    if lost:
        what = f"the prior knows the label {lost[0]!r}, which this training set would forget"
        raise InputError(what, hint="fit with labels= all labels")


def labelled_corpus(X: Any, y: Sequence[Sequence[str | None]] | None, labels: Sequence[str] | None) -> Corpus:
    """Return the labelled sequences, their label names fixed by `labels` if given; without any label it is an error."""
    corpus = as_corpus(X, y, vocabulary=None if labels is None else Labels(labels))
    check_labelled(corpus)
    return corpus


def words_alone(corpus: Corpus, model: Any) -> Corpus:
    """Return the corpus, or say that a model would not see the features that somebody gave with its tokens."""
    if corpus.given is not None:
        what = f"{type(model).__name__} knows words alone, and the tokens of X are features of your own"
        raise InputError(what, hint="pass words, or use a CRF, which takes both")
    return corpus


class SequenceLabeller(Estimator, ABC):
    """The base class of every model of sequences: it labels with a chain, or decodes by itself.

    To write a model of your own, derive from this class and give it a `kind`, the name by which model files know it;
    `fit`, which sets `labels_` and `training_digest_`; `potentials`; `state` and `restore`. Everything else is here:
    prediction, marginals, k best, saving, and what `CCM`, `Experts` and the learners from unlabelled text ask of any
    model. What only some of them ask for is in `espalier.estimators.abilities`.

    After `fit`: `labels_` (the label names in order), `classes_` (the same as an array, for scikit-learn) and
    `training_digest_` (a fingerprint of the data).
    """

    kind: ClassVar[str]
    threads: int | None = None
    labels_: Labels
    training_digest_: str

    if not TYPE_CHECKING:  # else every attribute would be one

        def __getattr__(self, name: str) -> Any:
            """Say of what only `fit` finds that there was none yet."""
            if name.endswith("_") and not name.startswith("_") and "labels_" not in self.__dict__:
                what = f"this {type(self).__name__} is not fitted yet, so it has no {name}"
                raise NotFittedError(what, hint="call fit first")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __init_subclass__(cls, **options: Any) -> None:
        """Register the kind of a new model, so that files which hold one can be loaded."""
        super().__init_subclass__(**options)
        if "kind" in cls.__dict__:  # not that of a parent
            register(cls)

    @abstractmethod
    def fit(
        self: Labeller,
        X: Any,
        y: Sequence[Sequence[str | None]] | None = None,
        sample_weight: Any = None,
        labels: Sequence[str] | None = None,
    ) -> Labeller:
        """Learn from sequences X and label lists y (None: unknown label); X may be a Corpus that has labels.

        sample_weight : one number for each sequence. labels : fixes the label names and their order.
        """

    @abstractmethod
    def potentials(self, X: Any) -> ChainBatch | OtherBatch:
        """Return the potentials of every sequence: what any decoder takes, if they are those of chains."""

    def chain_potentials(self, X: Any, who: str) -> ChainBatch:
        """Return the potentials, which must be those of chains; who : asks for them, such as "rules need"."""
        batch = self.potentials(X)
        if not isinstance(batch, ChainBatch):
            raise InputError(f"{type(self).__name__} is no model of chains", hint=f"{who} one, such as CRF()")
        return batch

    @abstractmethod
    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file must hold besides parameters and labels: JSON and arrays."""

    @abstractmethod
    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take back what `state` gave."""

    def tag(self, X: Any) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Return the best label ids, int16[M], and the sequence borders, int64[N + 1]."""
        batch = self.potentials(X)
        return viterbi(batch, threads=self.threads).labels, batch.indptr

    def fit_with_pool(self: Labeller, labelled: Corpus, weight: NDArray[np.float64] | None, pool: Corpus) -> Labeller:
        """Return a copy fitted to labels that knows the words of unlabelled text, too, if the model has a use for them.

        A model that is fitted already, to the same labels, and has no use for words returns itself.
        """
        return self if hasattr(self, "labels_") else fresh(self).fit(labelled, sample_weight=weight)

    def fit_guessed(
        self: Labeller,
        labelled: Corpus,
        weight: NDArray[np.float64] | None,
        guessed: Corpus,
        guessed_weight: NDArray[np.float64],
    ) -> Labeller:
        """Return a copy fitted to labelled sequences and to others with guessed labels, each with its weight.

        A model with `warm_start` begins where this one ended.
        """
        assert labelled.labels is not None
        weights = np.concatenate([np.ones(len(labelled)) if weight is None else weight, guessed_weight])
        return again(self).fit(labelled + guessed, sample_weight=weights, labels=labelled.labels.names)

    @property
    def classes_(self) -> NDArray[np.str_]:
        """The label names as an array."""
        self.check_fitted()
        return np.asarray(self.labels_.names)

    def check_fitted(self) -> None:
        """Raise NotFittedError before `fit`."""
        if not hasattr(self, "labels_"):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet", hint="call fit first")

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn whether `fit` has been called."""
        return hasattr(self, "labels_")

    def predict(self, X: Any) -> list[list[str]]:
        """Return the best labels of each sequence.

        Parameters
        ----------
        X : token lists, documents, or a Corpus.

        Returns
        -------
        list of label lists, one label a token.
        """
        self.check_fitted()
        ids, indptr = self.tag(X)
        names = np.asarray(self.labels_.names, dtype=object)[ids].tolist()
        return LabelLists(names[a:b] for a, b in zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True))

    def predict_single(self, tokens: Sequence[str]) -> list[str]:
        """Return the best labels of one sequence.

        Parameters
        ----------
        tokens : one list of tokens, or one Document.

        Returns
        -------
        list of labels, one a token.

        Examples
        --------
        >>> import espalier as es
        >>> model = es.CRF().fit([["Plum", "35"], ["Pear", "40"]], [["fruit", "price"]] * 2)
        >>> model.predict_single(["Plum", "40"])
        ['fruit', 'price']
        """
        with one_sequence(tokens, "predict_single"):
            return self.predict([tokens])[0]

    def predict_marginals(self, X: Any) -> list[NDArray[np.float64]]:
        """Return P(label | sequence) of each token.

        Parameters
        ----------
        X : token lists, documents, or a Corpus.

        Returns
        -------
        float64[T, L] for each sequence; columns follow `labels_`.
        """
        self.check_fitted()
        batch = self.potentials(X)
        if isinstance(batch, ChainBatch):
            batch = batch.tempered()
        return np.split(marginals(batch, threads=self.threads), batch.indptr[1:-1]) if len(batch) else []

    def predict_k(self, X: Any, k: int) -> list[list[tuple[list[str], float]]]:
        """Return the k best labellings of each sequence with their scores.

        Parameters
        ----------
        X : token lists, documents, or a Corpus.
        k : how many; fewer come back where fewer exist.

        Returns
        -------
        for each sequence pairs of a label list and its score, best first.
        """
        self.check_fitted()
        batch = self.potentials(X)
        if not len(batch):
            return []
        found = k_best(batch, k, threads=self.threads)
        names = np.asarray(self.labels_.names, dtype=object)
        return [
            [
                (names[found.labels[r, a:b]].tolist(), float(found.scores[i, r]))
                for r in range(k)
                if found.scores[i, r] > -np.inf
            ]
            for i, (a, b) in enumerate(zip(batch.indptr[:-1], batch.indptr[1:], strict=True))
        ]

    def explain(self, tokens: Sequence[str]) -> Any:
        """Explain the answer for one sequence: without rules, with the model's own if it has any, and what those do.

        Parameters
        ----------
        tokens : of the sequence.

        Returns
        -------
        Explanation : print it.
        """
        from espalier.decoders.api import explain

        self.check_fitted()
        with one_sequence(tokens, "explain"):
            batch = self.chain_potentials([tokens], "explain needs")
        words = tokens.words if isinstance(tokens, Document) else [str(token) for token in tokens]
        return explain(batch[0], tokens=words, labels=self.labels_, valid_tags=False)

    def score(self, X: Any, y: Sequence[Sequence[str | None]] | None = None) -> float:
        """Return the token accuracy.

        Parameters
        ----------
        X : token lists, documents, or a Corpus.
        y : label lists; None where X has labels: a Corpus, or documents with spans.

        Returns
        -------
        float : from 0 to 1.
        """
        from espalier.metrics import token_accuracy

        if y is not None:  # X may be attributes, too
            return token_accuracy(y, self.predict(X))
        corpus = as_corpus(X)
        if corpus.y is None:
            raise InputError("score needs y, or X with labels: a Corpus, or documents with spans")
        return token_accuracy(corpus.all_labels(), self.predict(corpus))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file that `espalier.load` reads; it holds data only, never code.

        Parameters
        ----------
        path : of the file; one that exists is replaced.
        """
        save(checked_path(path), *pack(self))


def rule_set(rules: RuleSet | str) -> RuleSet:
    """Return rules as a set."""
    chosen = RuleSet.from_text(rules) if isinstance(rules, str | os.PathLike) else rules
    if not isinstance(chosen, RuleSet):
        raise InputError(f"rules are a RuleSet or its text, not {type(rules).__name__}")
    return chosen


def compiled_rules(rules: RuleSet | str, labels: Labels) -> Compiled:
    """Compile rules; a label that only the training set lacks is the likeliest reason of a failure."""
    chosen = rule_set(rules)
    try:
        return compile_rules(chosen, labels)
    except RuleError as error:
        listing = Argument("fit", "labels", said="pass labels= to fit")
        raise error.noted("if the training set happens to lack it, ", listing) from None


# Checks of what people pass to estimators; each raises InputError, with what was expected.


def check_sample_weight(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Return weights, float64[N], finite and not negative; None stays None."""
    if sample_weight is None:
        return None
    hint = f"expected {counted(n, 'number')}, one for each sequence"
    try:
        weight = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"sample_weight is {sample_weight!r}", hint=hint) from None
    if weight.shape != (n,):
        raise InputError(f"sample_weight has shape {weight.shape}", hint=hint)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InputError("sample_weight must be finite and not negative")
    if n and not weight.any():
        raise InputError("every sample_weight is 0, so nothing would be learned", hint="give one sequence a weight")
    return weight


def check_number(name: str, value: Any, least: float = 0, *, whole: bool = False) -> None:
    """Raise InputError unless a parameter is a finite number (or a whole one) of at least `least`."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not np.isfinite(value) or value < least:
        what = "a whole number" if whole else "a number"
        raise InputError(f"{name} is {value!r}", hint=f"expected {what} of at least {least}")


def say_jobs_are_gone(jobs: Any, instead: str) -> None:
    """Warn of the parameter `jobs`, which does nothing now and is not there in the next release; instead : what to do.

    To be called by `check_parameters`, which `fit` calls.
    """
    if jobs is not None:
        what = f"jobs={jobs!r} has no effect, and the next release has no such parameter: {instead}"
        warnings.warn(what, FutureWarning, stacklevel=4)


class LabelLists(list[list[str]]):
    """Label lists, one a sequence: a list, which NumPy takes for an array of N lists and not for a ragged table.

    So what joins the answers of several folds, such as scikit-learn's `cross_val_predict`, can join these.
    """

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[np.object_]:
        """Return the lists as one array of objects, object[N]."""
        found = np.empty(len(self), object)
        found[:] = list(self)
        return found


def check_progress(progress: Any) -> None:
    """Raise InputError unless `progress` can be called, or is True, False or None."""
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        raise InputError(
            f"progress is {progress!r}", hint="expected a function, such as print, True for a log, or None"
        )


def listener(progress: Any, who: str) -> Callable[[Any], None] | None:
    """Return what hears of every step: the function given; for True, and for None where it is wanted, the log.

    The log is that of Python, `logging.getLogger("espalier")`: True writes at the level INFO, None at DEBUG.
    """
    if callable(progress):
        return progress  # type: ignore[no-any-return]
    import logging

    log, level = logging.getLogger("espalier"), logging.INFO if progress else logging.DEBUG
    if progress is False or not log.isEnabledFor(level):
        return None
    return lambda state: log.log(level, "%s: %s", who, _said(state))


def _said(state: Any) -> str:
    """Return the state of a search or of a cycle in words."""
    names = [each.name for each in fields(state)] if is_dataclass(state) else []
    found = {name.replace("_", " "): getattr(state, name) for name in names} or {"value": state}
    shown = {name: value for name, value in found.items() if isinstance(value, int | float)}
    return ", ".join(f"{name} {value:.6g}" for name, value in shown.items())


@contextmanager
def one_sequence(tokens: Any, who: str) -> Iterator[None]:
    """Say of several sequences, or of a text, that they are not the one sequence that is asked for.

    Only where they are refused: a token may be a list, too, of ready attributes.
    """
    try:
        yield
    except InputError:
        if isinstance(tokens, str):
            raise InputError(f"{who} takes a list of tokens, not a string", hint="an Extractor takes texts") from None
        if isinstance(tokens, Corpus) or all(isinstance(token, list | tuple | Document) for token in tokens):
            raise InputError(f"{who} takes one sequence, not several", hint="call it for each of them") from None
        raise


# Tags of a training set in an order that IOB2 does not know: what is a slip, and what cannot be learned at all.


def say_if_broken(corpus: Corpus, stacklevel: int = 3) -> None:
    """Warn of an I- that continues nothing: one slip, and a model may give such tags everywhere.

    Behind a label that is unknown nobody can tell.
    """
    if corpus.y is None or corpus.labels is None or not corpus.n_tokens:
        return
    start, follow = corpus.labels.allowed()
    first = np.zeros(corpus.n_tokens, bool)
    first[corpus.indptr[:-1][corpus.lengths > 0]] = True
    before = np.append(np.int16(UNKNOWN), corpus.y[:-1])
    known = (corpus.y >= 0) & (first | (before >= 0))
    wrong = np.flatnonzero(known & ~np.where(first, start[corpus.y], follow[before, corpus.y]))
    if len(wrong):
        name = corpus.labels.names[corpus.y[wrong[0]]]
        rest = f" ({len(wrong)} such tokens in all)" if len(wrong) > 1 else ""
        what = f"{_place(corpus, int(wrong[0]))}: {name!r} continues nothing{rest}, so the model may do the same"
        warnings.warn(f"{what}; if it is a slip, give the token {_opening(name)!r}", ResultWarning, stacklevel)


def allowed_moves(corpus: Corpus) -> tuple[Bool, Bool, Bool]:
    """Return `corpus.moves()`; a label that nothing leads to is an error.

    That is an I-x behind an unknown label, where there is no label B-x.
    """
    assert corpus.y is not None
    assert corpus.labels is not None
    start, allowed, observed = corpus.moves()
    reached = start.copy()
    while (more := reached | allowed[reached].any(axis=0)).sum() > reached.sum():
        reached = more
    lost = np.flatnonzero((corpus.y >= 0) & ~reached[corpus.y])
    if len(lost):
        name = corpus.labels.names[corpus.y[lost[0]]]
        what = f": {name!r} continues a field, and no known label begins one"
        hint = f"pass labels= to fit, all label names, with {_opening(name)!r} among them"
        raise InfeasibleError(_place(corpus, int(lost[0])), what, hint=hint)
    return start, allowed, observed


def _place(corpus: Corpus, m: int) -> Place:
    """Return where token m of all tokens stands."""
    i = int(np.searchsorted(corpus.indptr, m, "right")) - 1
    return Place(i, m - int(corpus.indptr[i]))


def _opening(name: str) -> str:
    """Return the tag that begins what this one continues, at its innermost level."""
    outer, _, inner = name.rpartition("I-")
    return f"{outer}B-{inner}"
