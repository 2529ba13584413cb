"""A report on one model and one labelled file as a page: figures, fields, confusions, confidence, and the mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from espalier.pages import Line, heat_table, line_chart, page, section, table

if TYPE_CHECKING:
    from espalier.document import Document
    from espalier.estimators.base import SequenceLabeller
    from espalier.metrics import Report
    from espalier.recipes.judging import Judged

__all__ = ["report_page"]

_MOST_MISTAKES = 50


def report_page(title: str, judged: Judged, model: SequenceLabeller) -> str:
    """Return the page about a model and the records that it was judged by."""
    from espalier.metrics import confusion

    documents, gold, predicted, report = judged
    table_of = confusion(gold, predicted)
    mistakes = [[g, p, str(n)] for g, p, n in table_of.mistakes()[:20]]
    body = [
        _headline(report),
        section("Fields", [_fields(report)], "Precision, recall and F1 of whole fields, in percent."),
        section("Confusion", [heat_table(table_of.labels, table_of.counts.tolist(), "given ↓ found →")]),
        section("Commonest confusions", [table(["given", "found", "tokens"], mistakes)]),
        *_reliability(model, documents, gold, predicted),
        section("Records with mistakes", [_wrong(documents, gold, predicted)], "Tokens that differ, in brackets."),
    ]
    return page(title, body)


def _headline(report: Report) -> str:
    figures = (("token accuracy", report.token_accuracy), ("field F1", report.field_f1), ("exact", report.exact))
    rows = [[name, f"{100 * value:.2f}"] for name, value in figures]
    rows += [["records", str(report.n_sequences)], ["tokens", str(report.n_tokens)]]
    return table(["", ""], rows)


def _fields(report: Report) -> str:
    scores = {**report.segments.per_field, "all (micro)": report.segments.micro, "all (macro)": report.segments.macro}
    rows = [
        [name, *(f"{100 * x:.1f}" for x in (score.precision, score.recall, score.f1)), str(score.support)]
        for name, score in scores.items()
    ]
    return table(["field", "precision", "recall", "F1", "support"], rows)


def _reliability(
    model: SequenceLabeller,
    documents: Sequence[Document],
    gold: Sequence[Sequence[Any]],
    predicted: Sequence[Sequence[str]],
) -> list[str]:
    """How often a token's label is right, by how sure the model was of it."""
    from espalier.metrics import calibration

    place = {name: j for j, name in enumerate(model.labels_)}
    sure: list[float] = []
    right: list[bool] = []
    marginals = model.predict_marginals([document.words for document in documents])
    for probabilities, truth, found in zip(marginals, gold, predicted, strict=True):
        for row, g, p in zip(probabilities, truth, found, strict=True):
            if g is not None:
                sure.append(min(max(float(row[place[p]]), 0.0), 1.0))
                right.append(g == p)
    measured = calibration(sure, right)
    points = [(b.confidence, b.accuracy) for b in measured.bins if b.confidence is not None and b.accuracy is not None]
    lines = [Line("measured", points), Line("ideal", [(0.0, 0.0), (1.0, 1.0)], dashed=True)]
    chart = line_chart("Reliability", lines, x="confidence of a token's label", y="share that is right")
    return [
        section("Confidence", [chart], f"Expected calibration error {measured.error:.4f} over {measured.n} tokens.")
    ]


def _wrong(documents: Sequence[Document], gold: Sequence[Sequence[Any]], predicted: Sequence[Sequence[str]]) -> str:
    rows = []
    for i, (document, truth, found) in enumerate(zip(documents, gold, predicted, strict=True)):
        wrong = [g is not None and g != p for g, p in zip(truth, found, strict=True)]
        if any(wrong):
            words = (
                f"[{word}: {g} → {p}]" if bad else word
                for word, g, p, bad in zip(document.words, truth, found, wrong, strict=True)
            )
            rows.append((sum(wrong), [str(i + 1), str(sum(wrong)), " ".join(words)]))
    rows.sort(key=lambda row: -row[0])
    return table(["record", "wrong tokens", "text"], [row for _, row in rows[:_MOST_MISTAKES]])
