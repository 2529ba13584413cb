"""`espalier evaluate`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.console import complain, note, progress, say, say_json
from espalier.cli.files import keep_apart, labelled_records, read_all, refuse_stdout
from espalier.cli.options import UTF_8, Data, Encoding, From, Json, Model
from espalier.tags import OUTSIDE, path_of

__all__ = ["evaluate"]


def evaluate(
    model: Model,
    data: Data,
    format: From = None,
    encoding: Encoding = UTF_8,
    strict: Annotated[
        bool, typer.Option("--strict", help="Count only fields that open with their own B- tag.")
    ] = False,
    leaves: Annotated[bool, typer.Option("--leaves", help="Judge innermost fields instead of every level.")] = False,
    report: Annotated[
        Path | None,
        typer.Option(
            "--report", metavar="PAGE.HTML", help="Also write a page: fields, confusions, confidence, mistakes."
        ),
    ] = None,
    errors: Annotated[
        int,
        typer.Option("--errors", metavar="N", min=0, help="Also show N records with mistakes, those with most first."),
    ] = 0,
    json: Json = False,
) -> None:
    """Compare a model's labels with given ones: token accuracy, F1 of fields, whole records.

    Examples:
        espalier evaluate -m citations -d test.xml
        espalier evaluate -m mine.espalier -d test.xml --report page.html --errors 10
    """
    from espalier.cli.tables import mistake_table, report_table
    from espalier.loading import open_extractor
    from espalier.recipes.judging import judge, wrong_records
    from espalier.recipes.report_page import report_page
    from espalier.text_files import write_chunks

    refuse_stdout({"--report": report})
    keep_apart([model, *data], {"--report": report})
    extractor = open_extractor(model)
    name = ", ".join(map(str, data))
    documents = labelled_records(read_all(data, format, encoding), name)
    with progress("labelling"):
        judged = judge(extractor, documents, strict=strict, leaves=leaves)
        if report is not None:
            write_chunks(report, [report_page(f"{model} on {name}", judged, extractor)], "utf-8")
    _tell_unknown([*extractor.labels, *extractor.model.labels_], judged.gold, name)
    if report is not None:
        note(f"the report is in {report}")
    wrong = wrong_records(judged) if errors else []
    if json:
        shown = [{"record": i + 1, "tokens": tokens, "text": text} for i, tokens, text in wrong[:errors]]
        say_json({**judged.report.to_dict(), **({"errors": shown} if errors else {})})
    else:
        say(*report_table(judged.report), *(mistake_table(wrong, errors) if errors else []))


def _tell_unknown(known: Iterable[str], gold: Iterable[Iterable[str | None]], name: str) -> None:
    """Say which labels the data have and the model does not: it never gives them, and all of them count as missed."""
    given = {path_of(label) for labels in gold for label in labels if label is not None} - {OUTSIDE}
    if unknown := sorted(given - {path_of(label) for label in known}):
        complain(f"{name}: labels that the model does not have, so that they count as missed: {', '.join(unknown)}")
