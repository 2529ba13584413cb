"""Options that several commands have: one name, one meaning, one help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "UTF_8",
    "AnyData",
    "AnyJobs",
    "Data",
    "Encoding",
    "Explain",
    "Format",
    "From",
    "Jobs",
    "Json",
    "Least",
    "Lossy",
    "Model",
    "OtherModel",
    "Output",
    "RawCells",
    "Readings",
    "Review",
]

UTF_8 = "utf-8"
_DATA = typer.Option("--data", "-d", metavar="FILE", help="Labelled records; - is stdin.")
Data = Annotated[list[Path], _DATA]
AnyData = Annotated[list[Path] | None, _DATA]
Encoding = Annotated[
    str,
    typer.Option("--encoding", metavar="NAME", help="The encoding of the input, such as latin-1; by default utf-8."),
]
Explain = Annotated[bool, typer.Option("--explain", help="Show what the rules changed; for tables.")]
Format = Annotated[
    str | None,
    typer.Option("--format", "-f", "--to", metavar="FORMAT", help="What to write, if OUT's name does not say it."),
]
From = Annotated[
    str | None, typer.Option("--from", metavar="FORMAT", help="The format of the input, if the guess is wrong.")
]
_JOBS = typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes; what comes out does not depend on them.")
Jobs = Annotated[int, _JOBS]
AnyJobs = Annotated[int | None, _JOBS]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]
_MODEL = typer.Option("--model", "-m", metavar="MODEL", help="A model file, or citations: the bundled one.")
Model = Annotated[Path, _MODEL]
OtherModel = Annotated[Path | None, _MODEL]
Output = Annotated[Path, typer.Option("--output", "-o", metavar="OUT", help="Where to write; - is stdout.")]


def _between_0_and_1(given: float) -> float:
    if not 0 <= given <= 1:
        hint = f"; did you mean {given / 100:g}?" if 1 < given <= 100 else ""
        raise typer.BadParameter(f"{given:g}: a confidence is a number from 0 to 1{hint}")
    return given


Least = Annotated[
    float,
    typer.Option(
        "--min-confidence",
        metavar="P",
        callback=_between_0_and_1,
        help="Leave out records that are less sure than this, from 0 to 1.",
    ),
]
Lossy = Annotated[bool, typer.Option("--lossy", help="Accept what the output format cannot express.")]
RawCells = Annotated[
    bool, typer.Option("--raw-cells", help="Leave cells of csv as they are, also what a spreadsheet would run.")
]
Readings = Annotated[
    int, typer.Option("-k", metavar="K", min=1, max=100, help="Readings of each record, where the format has a place.")
]
Review = Annotated[
    Path | None,
    typer.Option("--review", metavar="FILE", help="Where to write what --min-confidence leaves out; - is stdout."),
]
