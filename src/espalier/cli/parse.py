"""`espalier parse`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from espalier.citations.formats import FORMATS, KEEPS
from espalier.cli.console import Pace, counted, progress
from espalier.cli.files import STANDARD, UTF_8, Encoding, Least, Output, RawCells, finish, keep_apart, reference_format
from espalier.errors import InputError

__all__ = ["parse"]

_TABLE = "table"
"""Not a format of files but what people read: fields in colour under their names."""

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        metavar="FORMAT",
        help=f"{', '.join(FORMATS)}, the end of a file's name (bib), or {_TABLE}; else by OUT's name, or a table "
        "(in a pipe: jsonl).",
    ),
]
Review = Annotated[
    Path | None,
    typer.Option(
        "--review", metavar="FILE", help="Where to write what --min-confidence leaves out, as jsonl; - is stdout."
    ),
]


def parse(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Documents, bibliographies or pasted text; folders; patterns.")
    ],
    format: Format = None,
    output: Output = STANDARD,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", metavar="MODEL", help="A model file, instead of the bundled one.")
    ] = None,
    min_confidence: Least = 0.0,
    review: Review = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what the rules changed; for tables.")] = False,
    k: Annotated[
        int, typer.Option("-k", metavar="K", min=1, max=100, help="Readings of each reference; for jsonl and tables.")
    ] = 1,
    raw_cells: RawCells = False,
    layout: Annotated[
        str, typer.Option("--input", metavar="LAYOUT", help="lines, blocks (blank lines or numbers between), or auto.")
    ] = "auto",
    encoding: Encoding = UTF_8,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes to parse on; the records are the same.")
    ] = 1,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an --output that was stopped; finished batches are kept.")
    ] = False,
) -> None:
    """Parse references into records: authors, title, container, pages, date ... with confidences.

    espalier parse refs.txt shows them, -o refs.bib writes BibTeX; - is stdin.
    espalier parse paper.pdf finds the list in a document first: PDF, DOCX,
    HTML, LaTeX. BibTeX, RIS, CSL-JSON, EndNote XML, MODS, refer and NBIB are read
    as they are and not parsed.

    The confidence of --min-confidence is that of the record times that of
    the cut, where references were run together. Files and references that
    cannot be read are named, and the exit code is then 1.

    In csv the columns that begin with work. have clean values (work.title,
    work.pages); the others have the words of the reference, for checking. A
    cell that a spreadsheet would take for a formula (it begins with = + - or
    @) gets an apostrophe in front; for programs there is --raw-cells.
    """
    chosen = reference_format(format, output, "--format", _TABLE)
    _check(chosen, explain, k, min_confidence, review, raw_cells)
    keep_apart([*files, model], {"--output": output, "--review": review})
    from espalier.cli.inputs import Inputs
    from espalier.cli.parsing import ParseJob, open_parser

    if model is not None:
        from espalier.loading import model_file

        model = model_file(model)
    to_terminal = output == STANDARD and sys.stdout.isatty()
    inputs = Inputs(files, layout, encoding)
    # Processes have parsers of their own, and begin sooner if this one does not read the model first.
    parser = open_parser(model) if jobs == 1 or chosen == _TABLE else None
    job = ParseJob(
        parser, inputs, k=k, least=min_confidence, review=review, raw_cells=raw_cells, explained=explain,
        model=model, jobs=jobs, resume=resume,
    )  # fmt: skip
    pace = Pace("references")
    with progress("parsing", quiet=to_terminal) as news:
        job.write(output, chosen, lambda n: news(pace.news(n, inputs.share_of(n))))
    inputs.tell_unsure()
    done = f"{counted(inputs.read - job.low, 'record')} as {chosen} → {output}"
    failed = inputs.bad.told("reference", inputs.read, "parsed") if inputs.bad else None
    finish(inputs.read, job.low, review, failed, None if output == STANDARD else done)


def _check(format: str, explain: bool, k: int, least: float, review: Path | None, raw_cells: bool) -> None:
    """Refuse options that would do nothing."""
    keeps, options = (FORMATS[format].keeps, FORMATS[format].options) if format in FORMATS else (KEEPS, ())
    if explain and format != _TABLE:
        raise InputError("--explain draws for people", hint=f"it goes with --format table, not {format}")
    if k > 1 and "alternatives" not in keeps:
        raise InputError(f"-k {k}: {format} has no place for other readings", hint="use --format jsonl or table")
    if raw_cells and "safe" not in options:
        raise InputError("--raw-cells is for --format csv", hint=f"{format} has no cells")
    if review is not None and not least:
        raise InputError("--review needs --min-confidence: how sure a record must be to need no review")
