"""`espalier compare`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from espalier.cli.console import progress, say, say_json
from espalier.cli.files import UTF_8, Encoding, read_all
from espalier.errors import InputError

__all__ = ["compare"]

METRICS = ("token_accuracy", "field_f1", "exact")


def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A model file, or citations: the bundled one.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another model file.")],
    data: Annotated[list[Path], typer.Option("--data", "-d", metavar="FILE", help="Labelled records; - is stdin.")],
    resamples: Annotated[int, typer.Option("--resamples", metavar="N", help="Draws of the bootstrap.")] = 10_000,
    format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format of the records, if the guess is wrong.")
    ] = None,
    encoding: Encoding = UTF_8,
    json: Annotated[bool, typer.Option("--json", help="Write the figures as JSON.")] = False,
) -> None:
    """Is one model better than another on these records, or is it chance?

    Both label the same records; the difference is tested by a paired bootstrap over records and by Wilcoxon's
    signed-rank test.
    """
    from espalier.cli.comparison import compared, comparison_table
    from espalier.cli.labelling import load_model

    if resamples < 100:
        raise InputError(f"--resamples {resamples}: at least 100 draws are needed")
    models = [load_model(first), load_model(second)]
    documents = read_all(data, format, encoding)
    with progress("labelling"):
        rows = compared(models, documents, ", ".join(map(str, data)), METRICS, resamples)
    if json:
        say_json({"a": str(first), "b": str(second), "metrics": rows})
    else:
        say(*comparison_table(str(first), str(second), rows))
