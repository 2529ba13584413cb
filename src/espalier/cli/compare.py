"""`espalier compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from espalier.cli.console import complain, counted, plain_table, progress, say, say_json
from espalier.cli.files import labelled_records, read_all
from espalier.cli.options import UTF_8, Data, Encoding, From, Json
from espalier.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["compare"]

SIGNIFICANT = 0.05
_FEW = 30  # records; with fewer the bootstrap promises too much


def compare(
    first: Annotated[Path, typer.Argument(metavar="A", help="A model file, or citations: the bundled one.")],
    second: Annotated[Path, typer.Argument(metavar="B", help="Another model file.")],
    data: Data,
    resamples: Annotated[int, typer.Option("--resamples", metavar="N", help="Draws of the bootstrap.")] = 10_000,
    format: From = None,
    encoding: Encoding = UTF_8,
    json: Json = False,
) -> None:
    """Is one model better than another on these records, or is it chance?

    Both label the same records; the difference is tested by a paired bootstrap
    over records and by Wilcoxon's signed-rank test.

    Examples:
        espalier compare citations mine.espalier -d test.xml
        espalier compare old.espalier new.espalier -d test.xml --json
    """
    from espalier.loading import open_extractor
    from espalier.recipes.judging import compare_models

    if resamples < 100:
        raise InputError(f"--resamples {resamples}: at least 100 draws are needed")
    models = [open_extractor(first), open_extractor(second)]
    documents = labelled_records(read_all(data, format, encoding), ", ".join(map(str, data)))
    with progress("labelling"):
        rows = compare_models(models[0], models[1], documents, resamples)
    if len(documents) < _FEW:
        complain(f"the models are compared on {counted(len(documents), 'record')} only; {_FEW} or more tell more")
    if json:
        say_json({"a": str(first), "b": str(second), "metrics": rows})
    else:
        say(*comparison_table(str(first), str(second), rows))


def comparison_table(first: str, second: str, rows: Sequence[dict[str, Any]]) -> list[RenderableType]:
    """Lay the rows out, and say in words what they mean."""
    from rich.text import Text

    laid = plain_table("", ">A", ">B", ">B - A", ">95 % interval", ">p (bootstrap)", ">p (Wilcoxon)", whole=True)
    for row in rows:
        colour = "" if not _is_sure(row) else "green" if row["difference"] > 0 else "red"
        laid.add_row(
            str(row["metric"]).replace("_", " "), f"{100 * row['a']:.2f}", f"{100 * row['b']:.2f}",
            Text(f"{100 * row['difference']:+.2f}", colour), f"{100 * row['low']:+.2f} .. {100 * row['high']:+.2f}",
            f"{row['p_bootstrap']:.4f}", f"{row['p_wilcoxon']:.4f}",
        )  # fmt: skip
    return [Text(f"A {first}    B {second}", "dim"), "", laid, "", _in_words(rows)]


def _is_sure(row: dict[str, Any]) -> bool:
    """Do both tests and the interval say that there is a difference?"""
    tested = max(row["p_bootstrap"], row["p_wilcoxon"]) < SIGNIFICANT
    return bool(tested and (row["low"] > 0 or row["high"] < 0))


def _in_words(rows: Sequence[dict[str, Any]]) -> str:
    better = [
        f"{'B' if row['difference'] > 0 else 'A'} is better in {str(row['metric']).replace('_', ' ')}"
        for row in rows
        if _is_sure(row)
    ]
    return f"{'; '.join(better)} (p < {SIGNIFICANT})" if better else "the difference may be chance"
