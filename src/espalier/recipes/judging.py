"""A model against labels, and two models against each other, with what chance would do."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from espalier.errors import InputError
from espalier.tags import is_tag, path_of

if TYPE_CHECKING:
    from espalier.document import Document
    from espalier.metrics import Report

__all__ = [
    "METRICS",
    "RESAMPLES",
    "Judged",
    "Wrong",
    "compare_answers",
    "compare_models",
    "gold_of",
    "interval",
    "judge",
    "labelled_only",
    "tags_of",
    "wrong_records",
]

METRICS = ("token_accuracy", "field_f1", "exact")
"""The figures that two models are compared by."""

RESAMPLES = 10_000
"""Draws of the bootstrap."""


class Judged(NamedTuple):
    """Labelled documents, their labels in the form that the model predicts, its own, and how they compare."""

    documents: list[Document]
    gold: list[list[str | None]]
    predicted: list[list[str]]
    report: Report


def labelled_only(documents: Sequence[Document]) -> list[Document]:
    """Return the documents that have labels to compare with; none is an error."""
    labelled = [document for document in documents if document.spans is not None]
    if not labelled:
        raise InputError("no record is labelled, so there is nothing to compare with")
    return labelled


def gold_of(documents: Sequence[Document], *answers: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """Return labels in the form that the answers have: tags or plain names."""
    from espalier.corpus import Corpus

    marks = all(is_tag(label) for label in set().union(*(y for side in answers for y in side)))
    return Corpus.from_documents(documents, marks=marks).all_labels()


def tags_of(model: Any, documents: Sequence[Document]) -> list[list[str]]:
    """Return the labels that a model or an extractor gives to every token."""
    from espalier.extract.extractor import Extractor

    return (model if isinstance(model, Extractor) else Extractor(model)).tags(documents)


def judge(model: Any, documents: Sequence[Document], **reading: bool) -> Judged:
    """Compare a model's labels with those of documents; those without labels are left out.

    Parameters
    ----------
    model : a fitted estimator, or an Extractor.
    documents : some of them labelled.
    **reading : how fields are counted, see `espalier.evaluate`.

    Returns
    -------
    Judged
    """
    from espalier.metrics import evaluate

    labelled = labelled_only(documents)
    predicted = tags_of(model, labelled)
    gold = gold_of(labelled, predicted)
    return Judged(labelled, gold, predicted, evaluate(gold, predicted, **reading))


class Wrong(NamedTuple):
    """A record with mistakes: its number among those judged, from 0, its wrong tokens, its text with these marked."""

    record: int
    tokens: int
    text: str


def wrong_records(judged: Judged) -> list[Wrong]:
    """Return the records with mistakes, those with the most wrong tokens first: `in [Ely: price → place]`.

    Neighbours with the same mistake are one. Marks (B-, I-) are shown only where the field is right and they are not.
    """
    found = []
    for i, (document, truth, answer) in enumerate(zip(*judged[:3], strict=True)):
        pairs = [_mistake(g, p) for g, p in zip(truth, answer, strict=True)]
        if any(pairs):
            runs = groupby(zip(document.words, pairs, strict=True), lambda one: one[1])
            parts = ((" ".join(word for word, _ in run), pair) for pair, run in runs)
            text = " ".join(words if pair is None else f"[{words}: {pair}]" for words, pair in parts)
            found.append(Wrong(i, sum(pair is not None for pair in pairs), text))
    return sorted(found, key=lambda wrong: -wrong.tokens)


def _mistake(given: str | None, found: str) -> str | None:
    """Return the label that was given and the one that was found, if they differ."""
    if given is None or given == found:
        return None
    fields = path_of(given), path_of(found)
    return " → ".join((given, found) if fields[0] == fields[1] else fields)


def compare_models(a: Any, b: Any, documents: Sequence[Document], resamples: int = RESAMPLES) -> list[dict[str, Any]]:
    """Is one fitted model, or extractor, better than another on labelled documents, or is it chance?

    Returns
    -------
    list of dict
        What `compare_answers` returns.
    """
    labelled = labelled_only(documents)
    first, second = tags_of(a, labelled), tags_of(b, labelled)
    return compare_answers(gold_of(labelled, first, second), first, second, resamples)


def compare_answers(
    gold: Any, a: Sequence[Sequence[str]], b: Sequence[Sequence[str]], resamples: int = RESAMPLES
) -> list[dict[str, Any]]:
    """Compare two models' answers with the labels that are right.

    Returns
    -------
    list of dict
        For each of METRICS both figures, the difference with its interval, and the p-values of a paired bootstrap
        over sequences and of Wilcoxon's signed-rank test.
    """
    import numpy as np

    from espalier.metrics import paired_bootstrap, sequence_scores, wilcoxon

    rows = []
    for metric in METRICS:
        drawn = paired_bootstrap(gold, a, b, metric=metric, n_resamples=resamples)
        scores = np.array([sequence_scores(gold, labels, metric=metric) for labels in (a, b)])
        known = ~np.isnan(scores).any(axis=0)
        test = wilcoxon(scores[0][known], scores[1][known])
        row = {name: getattr(drawn, name) for name in ("metric", "a", "b", "difference", "low", "high")}
        rows.append(row | {"p_bootstrap": drawn.p_value, "p_wilcoxon": test.p_value})
    return rows


def interval(gold: Any, predicted: Sequence[Sequence[str]], metric: str, level: float = 0.95) -> tuple[float, float]:
    """Return where a model's figure may lie: the interval of a bootstrap over sequences.

    Parameters
    ----------
    gold, predicted : labels that are right, and the model's.
    metric : one of METRICS.
    level : how often the interval is to hold.

    Returns
    -------
    tuple of float
        The lower and the upper end.
    """
    from espalier.metrics import paired_bootstrap

    nothing = [["?" for _ in labels] for labels in predicted]  # never right: the difference is the figure
    drawn = paired_bootstrap(gold, nothing, predicted, metric=metric, level=level, n_resamples=2000)
    return drawn.low, drawn.high
