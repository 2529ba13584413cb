"""Learning what confidences are worth, from answers to held-out texts that are known to be right or wrong.

The texts come in sets: some like those that the model was trained on, and sets of kinds that it has not seen, where it
promises too much or too little. Each set counts as much as the first, whatever its size, so that the map that is
learned is a compromise between home and elsewhere; where a text stands between them is told by its signs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus
from espalier.document import Document
from espalier.errors import InputError, listed
from espalier.estimators.base import as_corpus
from espalier.estimators.held_out import data_pair
from espalier.extract.answers import Answers, FieldNames
from espalier.extract.confidence import (
    FEW,
    FEWEST,
    KINDS,
    SIGNS,
    Calibration,
    Correction,
    Curve,
    Familiarity,
    Verdicts,
    steady_logit,
)
from espalier.metrics.reliability import calibration

if TYPE_CHECKING:
    from espalier.extract.extraction import Extraction
    from espalier.extract.extractor import Extractor

__all__ = ["Trial", "errors", "isotonic", "learn_calibration", "say_if_few", "say_if_unknown", "sets_of", "tried"]

Float = NDArray[np.float64]

BATCH = 1024
"""Texts that are answered at a time."""

LEAST = 25
"""The fewest answers behind a point of a fitted map."""

MANY = 400
"""With fewer answers the map is logistic: blocks of so few make one answer of many, and tell right from wrong worse."""

FLATTEST = 0.1
"""The least slope of a correction: an answer that is more probable is never less sure."""


class Trial(NamedTuple):
    """A set of held-out texts that was answered: verdicts by kind ("field", "record"), and signs, float64[N, 4].

    signs is None where the model gives none.
    """

    verdicts: Mapping[str, Verdicts]
    signs: Float | None

    @property
    def size(self) -> int:
        """How many texts there are."""
        return len(self.verdicts["record"].sure)

    def chosen(self, texts: NDArray[np.int64]) -> Trial:
        """Return some of the texts."""
        number = np.full(self.size, -1)
        number[texts] = np.arange(len(texts))
        verdicts = {}
        for kind, (sure, right, text, label) in self.verdicts.items():
            kept = number[text] >= 0
            verdicts[kind] = Verdicts(sure[kept], right[kept], number[text[kept]], label[kept])
        return Trial(verdicts, None if self.signs is None else self.signs[texts])

    def promised(self, fitted: Calibration) -> dict[str, Verdicts]:
        """Return the verdicts with calibrated confidences."""
        found = {}
        for kind, (sure, right, text, label) in self.verdicts.items():
            map_ = fitted.of_records if kind == "record" else fitted.of_fields
            signs = None if self.signs is None else self.signs[text]
            found[kind] = Verdicts(map_(sure, signs), right, text, label)
        return found


def sets_of(dev: Any, unseen: Any) -> list[list[Document]]:
    """Return the documents of each set of texts that somebody passed."""
    if isinstance(unseen, Corpus | Document) or (unseen and all(isinstance(one, Document) for one in unseen)):
        raise InputError("unseen is one set of texts", hint="pass a list of sets: unseen=[texts]")
    return [_documents(texts) for texts in (dev, *unseen)]


def _documents(given: Any) -> list[Document]:
    """Return documents of whatever has them: a Corpus, a pair (X, y), one of them alone."""
    X, y = data_pair(given, "dev")
    if y is not None:
        X = as_corpus(X, y)
    documents = list(X.to_documents() if isinstance(X, Corpus) else [X] if isinstance(X, Document) else X)
    if not all(isinstance(document, Document) for document in documents):
        what = "calibrate takes documents with labels, a Corpus, or a pair (X, y)"
        raise InputError(what, hint="es.read gives documents")
    return documents


def say_if_unknown(names: FieldNames, sets: Iterable[Iterable[Document]]) -> str:
    """Return a complaint about fields of labelled texts that a model does not have, else nothing."""
    known = {path.split("/")[0] for path in (*names.known, *names.fields)}
    seen = dict.fromkeys(span.label for documents in sets for document in documents for span in document.spans or ())
    lost = [label for label in seen if label.split("/")[0] not in known]
    if not lost:
        return ""
    return f"the texts have fields that the model does not have, so no answer is right there: {listed(lost)}"


def tried(extractor: Extractor, given: Iterable[Document] | Corpus) -> Trial:
    """Answer held-out texts with raw probabilities, and say what was right."""
    documents = _documents(given)
    labelled = [document for document in documents if document.spans is not None and not document.unknown]
    if not labelled:
        if any(document.spans for document in documents):
            what = "every text with labels has a token whose label is unknown (None)"
            raise InputError(what, hint="confidences are compared with texts that are labelled as a whole")
        raise InputError("no text has labels, so there is nothing to compare confidences with")
    raw = copy(extractor)
    raw.calibration = Calibration(counted=extractor.calibration.counted)
    found: list[Extraction] = []
    signs: list[Float] = []
    for start in range(0, len(labelled), BATCH):
        answers = raw.answers(labelled[start : start + BATCH])
        found += raw.extractions(answers)
        if isinstance(answers, Answers):
            signs.append(answers.signs(raw.field_names))
    return Trial(raw.judge(found, labelled), np.concatenate(signs) if signs else None)


class _Pool(NamedTuple):
    """The answers of one kind of all trials: probability, float64[n], right, bool[n], weight, signs of the text."""

    p: Float
    right: NDArray[np.bool_]
    weight: Float
    signs: Float


def learn_calibration(trials: Sequence[Trial], *, counted: bool = True) -> Calibration:
    """Learn maps of confidences, and what texts are usual, from one or more sets.

    counted : were they answered under rules that count?

    With few texts the map has no more than a slope and a shift, so that the order of answers stays as it is.
    """
    signs = [np.zeros((len(trial.verdicts["record"].sure), len(SIGNS))) for trial in trials]
    usual = None
    if all(trial.signs is not None for trial in trials) and sum(map(len, signs)) >= FEWEST:
        signs = [trial.signs for trial in trials if trial.signs is not None]
        usual = Familiarity.learn(np.concatenate(signs), np.concatenate(_weights(trials)))
    curves, corrections = dict[str, Curve](), dict[str, Correction]()
    for kind in KINDS:
        pool = _pooled(trials, kind, signs)
        if not len(pool.p):
            continue
        correction = _learn_correction(pool, usual, with_signs=sum(map(len, signs)) >= FEW)
        p = pool.p
        if usual is not None:
            corrections[kind], p = correction, correction(p, usual.standard(pool.signs))
        if len(p) >= MANY:
            curves[kind] = isotonic(p, pool.right, weights=pool.weight)
        elif usual is None:
            curves[kind] = _as_curve(correction)
    return Calibration(curves.get("field"), curves.get("record"), usual, corrections, counted)


def say_if_few(trials: Sequence[Trial], thing: str) -> str:
    """Return a complaint if the first set has few texts, else nothing; thing : what a text is called."""
    texts = trials[0].size
    each = f"1 {thing} says" if texts == 1 else f"{texts} {thing}s say"
    return f"{each} little about confidences; {FEW} and more are better" if texts < FEW else ""


def errors(trials: Sequence[Trial], fitted: Calibration | None = None) -> dict[str, tuple[float, float]]:
    """Return how far confidences of the first set are from the truth, by kind: before and after calibration.

    After: each half of the set is judged by what the other half and the other sets teach. fitted : the calibration
    that the model had.
    """
    first, *others = trials
    number = np.arange(first.size)
    halves = [(first.chosen(number[number % 2 == h]), first.chosen(number[number % 2 != h])) for h in (0, 1)]
    after = [own.promised(learn_calibration([rest, *others])) for own, rest in halves if own.size and rest.size]
    before = first.promised(fitted or Calibration())
    found = {}
    for kind in KINDS:
        sure, right = (np.concatenate([half[kind][k] for half in after]) for k in (0, 1)) if after else ((), ())
        if len(sure):
            found[kind] = (calibration(before[kind].sure, before[kind].right).error, calibration(sure, right).error)
    return found


def _weights(trials: Sequence[Trial]) -> list[Float]:
    """Return what each text of each set counts: those of a set together as much as those of the first."""
    sizes = [len(trial.verdicts["record"].sure) for trial in trials]
    return [np.full(size, sizes[0] / max(size, 1)) for size in sizes]


def _pooled(trials: Sequence[Trial], kind: str, signs: Sequence[Float]) -> _Pool:
    weights = _weights(trials)
    return _Pool(
        np.concatenate([trial.verdicts[kind].sure for trial in trials]),
        np.concatenate([trial.verdicts[kind].right for trial in trials]),
        np.concatenate([own[trial.verdicts[kind].text] for own, trial in zip(weights, trials, strict=True)]),
        np.concatenate([own[trial.verdicts[kind].text] for own, trial in zip(signs, trials, strict=True)]),
    )


def _learn_correction(pool: _Pool, usual: Familiarity | None, *, with_signs: bool) -> Correction:
    """Fit a correction by logistic regression; what few answers say hardly counts against leaving p as it is.

    with_signs : do the signs of the text count? Without, an answer that is more probable is never less sure.
    """
    from scipy.optimize import minimize

    asked = usual.standard(pool.signs) if usual is not None and with_signs else np.zeros((len(pool.p), 0))
    X = np.column_stack([steady_logit(pool.p), asked, np.ones(len(pool.p))])
    start = np.eye(1, X.shape[1])[0]  # leaves p as it is

    def loss(b: Float) -> tuple[float, Float]:
        s = X @ b
        value = pool.weight @ (np.logaddexp(0.0, s) - pool.right * s) + 0.5 * ((b - start) ** 2).sum()
        return float(value), X.T @ (pool.weight * (1.0 / (1.0 + np.exp(-s)) - pool.right)) + b - start

    bounds = [(FLATTEST, None), *[(None, None)] * (X.shape[1] - 1)]
    b = np.round(minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x, 6)
    weights = b[1:-1] if asked.shape[1] else np.zeros(len(SIGNS))
    return Correction(float(b[0]), weights, float(b[-1]), 1.0 if usual is None else _most(pool, usual))


def _most(pool: _Pool, usual: Familiarity) -> float:
    """Return how sure an answer to an unfamiliar text may be: the share of right ones among those held out.

    It is drawn towards the share of all by one answer. Where none was held out nobody knows: half the share of all.
    """
    far = usual.distances(pool.signs) > usual.limit
    share = pool.weight @ pool.right / pool.weight.sum()
    hits = (pool.weight * pool.right)[far].sum()
    return round(float((hits + share) / (pool.weight[far].sum() + 1) if far.any() else share / 2), 6)


def _as_curve(correction: Correction) -> Curve:
    """Return a correction that asks for no signs as points, closer together where the map is steeper."""
    raw = (1.0 - np.cos(np.linspace(0.0, np.pi, 101))) / 2.0
    return Curve(np.round(raw, 6), np.round(correction(raw, np.zeros((len(raw), len(SIGNS)))), 6))


def isotonic(
    confidences: ArrayLike, right: ArrayLike, *, weights: ArrayLike | None = None, least: int = LEAST
) -> Curve:
    """Return the map from confidences to how often such answers are right.

    Parameters
    ----------
    confidences : float[n] in 0..1.
    right : bool[n].
    weights : float[n], how much each answer counts; None: 1.
    least : answers behind each point, where there are so many.

    Raises
    ------
    InputError : without an answer, or with other numbers of both.
    """
    p, hit = np.asarray(confidences, np.float64), np.asarray(right, np.float64)
    if p.ndim != 1 or p.shape != hit.shape or not len(p):
        raise InputError(
            f"{p.shape} confidences and {hit.shape} verdicts", hint="a map needs as many of both, at least one"
        )
    from scipy.optimize import isotonic_regression

    weight = np.ones(len(p)) if weights is None else np.asarray(weights, np.float64)
    # Equal confidences belong together, whatever their number.
    _, place, n = np.unique(p, return_inverse=True, return_counts=True)
    mass = np.bincount(place, weight)
    blocks = isotonic_regression(np.bincount(place, weight * hit) / mass, weights=mass).blocks
    edges = _wide_enough(np.append(0, np.cumsum(n))[blocks], least)
    order = np.argsort(p, kind="stable")
    size = np.add.reduceat(weight[order], edges[:-1])
    shares = (np.add.reduceat((weight * hit)[order], edges[:-1]) + weight @ hit / weight.sum()) / (size + 1)
    means = np.add.reduceat((weight * p)[order], edges[:-1]) / size
    return Curve(np.round(means, 6), np.asarray(np.round(np.maximum.accumulate(shares), 6), np.float64))


def _wide_enough(edges: NDArray[np.int64], least: int) -> NDArray[np.int64]:
    """Join blocks with fewer answers than `least` to the next ones, the last of them to the one before."""
    kept = [0]
    for edge in edges[1:].tolist():
        if edge - kept[-1] >= least:
            kept.append(edge)
    if kept[-1] != edges[-1]:
        kept = [*(kept[:-1] if len(kept) > 1 else kept), int(edges[-1])]
    return np.array(kept, np.int64)
