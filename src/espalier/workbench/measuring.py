"""What a model is worth on labelled records: figures, confusions, reliability, mistakes; two models with significance.

Models are judged as they are used here: with the rules of the task as they stand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from espalier.citations.training import learned_from
from espalier.corpus import Labels
from espalier.document import Document, Span
from espalier.extract.extraction import Extraction
from espalier.metrics import calibration, confusion, evaluate
from espalier.recipes.judging import METRICS, compare_answers
from espalier.server.answers import flat_tokens, places
from espalier.server.failures import Failure
from espalier.server.tasks import REFERENCES, ProjectTask
from espalier.tags import OUTSIDE, path_of
from espalier.workbench.bench import Bench
from espalier.workbench.fields import checked_spans
from espalier.workbench.given_labels import own_labels_of
from espalier.workbench.records import Stored
from espalier.workbench.shapes.tasks import (
    Comparison,
    ComparisonRow,
    ConfusionShape,
    Reliability,
    ReportAnswer,
    WrongRecord,
)

__all__ = ["Gold", "compare", "corrected", "labelled", "measure"]

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Gold:
    """Documents with the labels that are right, and the numbers of the records they are, None for a file's."""

    documents: list[Document]
    ids: list[int | None]


def _seen(bench: Bench, task: ProjectTask, gold: Gold, model: int | None) -> int:
    """Return how many of these records a model has learned from: in this project, or before it was bundled."""
    if model is None:
        return 0
    version = bench.models.get(task.name, model)
    known = [i in version.seen for i in gold.ids]
    if gold.ids[0] is None and version.seen:
        texts = {one.document.text for one in bench.records.all(task.name, corrected=True) if one.id in version.seen}
        known = [document.text in texts for document in gold.documents]
    if task.name == REFERENCES and version.source != "uploaded":  # those trained here begin at the bundled one
        known = [a or b for a, b in zip(known, learned_from(gold.documents), strict=True)]
    return sum(known)


def corrected(bench: Bench, task: ProjectTask) -> Gold:
    """Return the corrected records of a task."""
    stored = bench.records.all(task.name, corrected=True)
    if not stored:
        raise Failure(
            409, "no record of this task is corrected yet", "correct some first, or measure on a labelled file"
        )
    bench.check_many(len(stored))
    return Gold([one.document for one in stored], [one.id for one in stored])


def labelled(bench: Bench, task: ProjectTask, documents: Sequence[Document]) -> Gold:
    """Return the labelled documents of a file, under the task's labels; partly unknown ones judge nobody."""
    found = []
    for i, document in enumerate(own_labels_of(task, documents)):
        if document.spans is not None and not document.unknown:
            try:
                spans = checked_spans(task, document, document.spans)
            except Failure as failure:
                raise failure.at(f"record {i + 1} of the file") from None
            found.append(Document(document.text, document.tokens, spans))
    if not found:
        raise Failure(400, "no record of the file is labelled", "there is nothing to compare with")
    bench.check_many(len(found))
    return Gold(found, [None] * len(found))


def _said(bench: Bench, task: ProjectTask, gold: Gold, model: int | None) -> list[Extraction]:
    """Return what a model says about the documents; answers about stored records are kept."""
    if gold.ids[0] is None:
        return bench.of_documents(task, gold.documents, model)
    stored = [Stored(i, d, None) for i, d in zip(gold.ids, gold.documents, strict=True) if i is not None]
    return bench.said(task, stored, model)


def _plain(documents: Sequence[Document], spans: Sequence[Sequence[Span]]) -> list[list[str]]:
    """Return the field of each token, without marks: what people see is what is compared."""
    tagged = (Document(d.text, d.tokens, tuple(s)).tags or [] for d, s in zip(documents, spans, strict=True))
    return [[path_of(tag) if tag else OUTSIDE for tag in tags] for tags in tagged]


def measure(bench: Bench, task: ProjectTask, model: int | None, gold: Gold, most: int) -> ReportAnswer:
    """Return every figure of a model on labelled documents, and its mistakes, the worst first."""
    said = _said(bench, task, gold, model)
    got = [answer.spans for answer in said]
    right = [document.spans or () for document in gold.documents]
    expected, predicted = _plain(gold.documents, right), _plain(gold.documents, got)
    report = evaluate(expected, predicted)
    names = Labels([*task.fields, OUTSIDE])
    table = confusion(expected, predicted, labels=names)
    used = [j for j in range(len(names)) if table.counts[j].any() or table.counts[:, j].any()]
    wrong = [sum(a != b for a, b in zip(e, p, strict=True)) for e, p in zip(expected, predicted, strict=True)]
    worst = sorted((i for i, n in enumerate(wrong) if n), key=lambda i: -wrong[i])
    figures = report.to_dict()
    return ReportAnswer(
        model=model,
        records=len(gold.documents),
        tokens=report.n_tokens,
        seen=_seen(bench, task, gold, model),
        **{name: figures[name] for name in METRICS},
        per_field=figures["per_field"],
        confusion=ConfusionShape(labels=[names[j] for j in used], counts=table.counts[np.ix_(used, used)].tolist()),
        reliability=_reliability(said, right),
        wrong=len(worst),
        errors=[_mistake(gold, said, got, wrong, i) for i in worst[:most]],
    )


def _reliability(said: Sequence[Extraction], right: Sequence[Sequence[Span]]) -> Reliability | None:
    """Compare the confidence of every field with whether just that field was expected; None without any field."""
    sure, correct = [], []
    for answer, spans in zip(said, right, strict=True):
        known = set(spans)
        for f in answer.fields:
            sure.append(f.confidence)
            correct.append(Span(f.start, f.end, f.label) in known)
    return Reliability(**calibration(sure, correct).to_dict()) if sure else None


def _mistake(
    gold: Gold, said: Sequence[Extraction], got: Sequence[Sequence[Span]], wrong: Sequence[int], i: int
) -> WrongRecord:
    document = gold.documents[i]
    return WrongRecord(
        id=gold.ids[i],
        text=document.text,
        tokens=flat_tokens(document),
        wrong_tokens=wrong[i],
        confidence=said[i].confidence,
        expected=places(document.spans or ()),
        got=places(got[i]),
    )


def compare(bench: Bench, task: ProjectTask, a: int, b: int, gold: Gold) -> Comparison:
    """Return a row for each metric: both figures, the difference with its interval, and two p-values."""
    expected = _plain(gold.documents, [document.spans or () for document in gold.documents])
    sides = [[answer.spans for answer in _said(bench, task, gold, model)] for model in (a, b)]
    first, second = (_plain(gold.documents, side) for side in sides)
    rows = compare_answers(expected, first, second, RESAMPLES)
    seen_a, seen_b = (_seen(bench, task, gold, model) for model in (a, b))
    return Comparison(
        a=a, b=b, records=len(gold.documents), seen_a=seen_a, seen_b=seen_b, rows=[ComparisonRow(**row) for row in rows]
    )
