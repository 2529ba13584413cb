"""`espalier evaluate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.console import progress, say, say_json
from espalier.cli.files import UTF_8, Encoding, read_all

__all__ = ["evaluate"]


def evaluate(
    model: Annotated[Path, typer.Option("--model", "-m", metavar="MODEL", help="A model file.")],
    data: Annotated[list[Path], typer.Option("--data", "-d", metavar="FILE", help="Labelled records; - is stdin.")],
    format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format of the records, if the guess is wrong.")
    ] = None,
    encoding: Encoding = UTF_8,
    strict: Annotated[
        bool, typer.Option("--strict", help="Count only fields that open with their own B- tag.")
    ] = False,
    leaves: Annotated[bool, typer.Option("--leaves", help="Judge innermost fields instead of every level.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Write the figures as JSON.")] = False,
) -> None:
    """Compare a model's labels with given ones: token accuracy, F1 of fields, whole records."""
    from espalier.cli.labelling import judge
    from espalier.cli.tables import report_table
    from espalier.estimators.persist import load

    labeller = load(model)
    documents = read_all(data, format, encoding)
    with progress("labelling"):
        report = judge(labeller, documents, ", ".join(map(str, data)), strict=strict, leaves=leaves)
    if json:
        say_json(report.to_dict())
    else:
        say(*report_table(report))
