"""A report on one model and one labelled file as a page: figures, fields, confusions, confidence, and the mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from espalier.pages import Line, draw_lines, heat_table, page, section, table

if TYPE_CHECKING:
    from espalier.document import Document
    from espalier.extract.extractor import Extractor
    from espalier.metrics import Report
    from espalier.recipes.judging import Judged

__all__ = ["report_page"]

_MOST_MISTAKES = 50


def report_page(title: str, judged: Judged, extractor: Extractor) -> str:
    """Return the page about an extractor and the records that it was judged by."""
    from espalier.metrics import confusion

    documents, gold, predicted, report = judged
    table_of = confusion(gold, predicted)
    mistakes = [[g, p, str(n)] for g, p, n in table_of.mistakes()[:20]]
    body = [
        _headline(report),
        section("Fields", [_fields(report)], "Precision, recall and F1 of whole fields, in percent."),
        section("Confusion", [heat_table(table_of.labels, table_of.counts.tolist(), "given ↓ found →")]),
        section("Commonest confusions", [table(["given", "found", "tokens"], mistakes)]),
        *_reliability(extractor, documents),
        section("Records with mistakes", [_wrong(judged)], "Tokens that differ, in brackets."),
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


def _reliability(extractor: Extractor, documents: Sequence[Document]) -> list[str]:
    """How often a field is right, by how sure the extractor was of it."""
    from espalier.metrics import calibration

    known = [document for document in documents if not document.unknown]
    verdicts = extractor.judge(extractor.extract_many(known), known)["field"]
    if not len(verdicts.sure):
        return []
    measured = calibration(verdicts.sure, verdicts.right)
    points = [(b.confidence, b.accuracy) for b in measured.bins if b.confidence is not None and b.accuracy is not None]
    lines = [Line("measured", points), Line("ideal", [(0.0, 0.0), (1.0, 1.0)], dashed=True)]
    chart = draw_lines("Reliability", lines, x="confidence of a field", y="share that is right").figure()
    return [
        section("Confidence", [chart], f"Expected calibration error {measured.error:.4f} over {measured.n} fields.")
    ]


def _wrong(judged: Judged) -> str:
    from espalier.recipes.judging import wrong_records

    rows = [[str(i + 1), str(tokens), text] for i, tokens, text in wrong_records(judged)[:_MOST_MISTAKES]]
    return table(["record", "wrong tokens", "text"], rows)
