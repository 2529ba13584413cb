"""`espalier label`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.cli.console import Pace, counted, progress
from espalier.cli.files import (
    STANDARD,
    check_answers,
    finish,
    iter_documents,
    keep_apart,
    opened,
    output_format,
    source_name,
    told,
    write_documents,
    write_text,
)  # fmt: skip
from espalier.cli.options import (
    UTF_8,
    Encoding,
    Explain,
    From,
    Jobs,
    Least,
    Lossy,
    Model,
    Output,
    RawCells,
    Readings,
    Review,
)  # fmt: skip

if TYPE_CHECKING:
    from espalier.cluster.labelling import Answered, LabelJob
    from espalier.document import Document
    from espalier.errors import FormatError

__all__ = ["label"]


def label(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Text with one record per line, or labelled records.")
    ],
    model: Model,
    output: Output = STANDARD,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="A data format, csv, table or extractions; else by OUT's name, a table on a terminal, else jsonl.",
        ),
    ] = None,
    source: From = None,
    encoding: Encoding = UTF_8,
    lossy: Lossy = False,
    min_confidence: Least = 0.0,
    review: Review = None,
    explain: Explain = False,
    k: Readings = 1,
    raw_cells: RawCells = False,
    jobs: Jobs = 1,
) -> None:
    """Label records with a model; labels that are there already are replaced.

    --format extractions writes one JSON object per line: the fields with their
    confidences, the confidence of the whole record, what is proven about it,
    the rules that it breaks, and other readings. --format csv writes a line
    per record for spreadsheets: text, confidence, and a column for each field;
    several values of a field are joined by ' | '. A cell that a spreadsheet
    would take for a formula (it begins with = + - or @) gets an apostrophe in
    front; for programs there is --raw-cells.

    A bad record is named and left out, and a file that cannot be read further
    is named; the exit code is then 1.

    Examples:
        espalier label adverts.txt -m orchard.espalier
        espalier label adverts.txt -m orchard.espalier -o adverts.csv
    """
    from espalier.cluster.labelling import LabelJob
    from espalier.loading import model_file, open_extractor
    from espalier.several_files import Several

    to_terminal = output == STANDARD and sys.stdout.isatty()
    chosen = output_format(output, format or ("table" if to_terminal else None), "--format", _OWN)
    check_answers(
        chosen, explain, k, min_confidence, review, raw_cells, several=chosen == "extractions", cells=chosen == "csv",
        more="extractions",
    )  # fmt: skip
    keep_apart([*files, model], {"--output": output, "--review": review})
    inputs = Several(files, told)

    def of(path: Path, refused: list[FormatError]) -> Iterator[Document]:
        before = inputs.read + inputs.bad_records
        for document in iter_documents(path, source, encoding=encoding, refused=refused):
            number = inputs.read + inputs.bad_records + len(refused) - before + 1
            yield _placed(document, path, number) if chosen == "table" else document

    job = LabelJob(open_extractor(model), model_file(model), k, min_confidence, chosen in _OWN, jobs)
    pace = Pace("records")
    with progress("labelling", quiet=to_terminal) as news, opened(review) as stream:
        answers = job.answers(inputs.items(of), lambda n: news(pace.news(n)), stream)
        _write(answers, output, chosen, job, explain=explain, lossy=lossy, raw_cells=raw_cells)
    done = f"{counted(inputs.read - job.low, 'labelled record')} as {chosen} → {output}"
    finish(inputs, job.low, review, "labelled", None if output == STANDARD else done)


_OWN = ("table", "extractions", "csv")


def _write(
    answers: Iterator[Answered], output: Path, format: str, job: LabelJob, *,
    explain: bool, lossy: bool, raw_cells: bool,
) -> None:  # fmt: skip
    """Write labelled records as a table, as extractions, as CSV, or in a data format."""
    from espalier.cluster.labelling import csv_lines, extraction_line

    whole = ((document, answer) for document, answer in answers if answer is not None)
    if format == "csv":
        write_text(output, csv_lines((answer for _, answer in whole), job.extractor.labels, safe=not raw_cells))
    elif format == "extractions":
        write_text(output, (extraction_line(answer) for _, answer in whole))
    elif format == "table":
        from espalier.cli.show import write_table

        rows = ((document.meta[_PLACE], answer, document) for document, answer in whole)
        write_table(rows, output, job.extractor, explained=explain)
    else:
        write_documents((document for document, _ in answers), output, format, lossy=lossy)


_PLACE = "place"


def _placed(document: Document, path: Path, number: int) -> Document:
    """Return a document that knows where it stands: the line, of plain text, else the number of the record."""
    line = document.meta.get("line") if document.spans is None else None
    place = f"{source_name(path)}:{line}" if isinstance(line, int) else f"{source_name(path)}, record {number}"
    return replace(document, meta={**document.meta, _PLACE: place})
