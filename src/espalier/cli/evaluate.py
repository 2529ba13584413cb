"""`espalier evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.console import note, progress, say, say_json
from espalier.cli.files import UTF_8, Encoding, From, Model, keep_apart, labelled_records, read_all, refuse_stdout

__all__ = ["evaluate"]


def evaluate(
    model: Model,
    data: Annotated[list[Path], typer.Option("--data", "-d", metavar="FILE", help="Labelled records; - is stdin.")],
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
    json: Annotated[bool, typer.Option("--json", help="Write the figures as JSON.")] = False,
) -> None:
    """Compare a model's labels with given ones: token accuracy, F1 of fields, whole records."""
    from espalier.cli.labelling import open_extractor
    from espalier.cli.report_page import report_page
    from espalier.cli.tables import report_table
    from espalier.io.files import write_chunks
    from espalier.recipes.judging import judge

    refuse_stdout({"--report": report})
    keep_apart([model, *data], {"--report": report})
    extractor = open_extractor(model)
    name = ", ".join(map(str, data))
    documents = labelled_records(read_all(data, format, encoding), name)
    with progress("labelling"):
        judged = judge(extractor, documents, strict=strict, leaves=leaves)
        if report is not None:
            write_chunks(report, [report_page(f"{model} on {name}", judged, extractor)], "utf-8")
    if report is not None:
        note(f"the report is in {report}")
    if json:
        say_json(judged.report.to_dict())
    else:
        say(*report_table(judged.report))
