"""`espalier label`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.cli.console import Pace, complain, counted, in_options, progress
from espalier.cli.files import (
    STANDARD,
    UTF_8,
    Bad,
    Encoding,
    Least,
    Lossy,
    Model,
    Output,
    RawCells,
    finish,
    iter_documents,
    keep_apart,
    opened,
    output_format,
    source_name,
    write_documents,
)  # fmt: skip
from espalier.cli.slips import unopened
from espalier.errors import EspalierError, FormatError, InputError

if TYPE_CHECKING:
    from espalier.cli.labelling import Answered, LabelJob
    from espalier.document import Document

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
    source: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format of the input, if the guess is wrong.")
    ] = None,
    encoding: Encoding = UTF_8,
    lossy: Lossy = False,
    min_confidence: Least = 0.0,
    review: Annotated[
        Path | None,
        typer.Option(
            "--review",
            metavar="FILE",
            help="Where to write what --min-confidence leaves out, as extractions; - is stdout.",
        ),
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show what the rules changed; for tables.")] = False,
    k: Annotated[
        int,
        typer.Option("-k", metavar="K", min=1, max=100, help="Readings of each record; for extractions and tables."),
    ] = 1,
    raw_cells: RawCells = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes to label on; the records are the same.")
    ] = 1,
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
    """
    from espalier.cli.labelling import LabelJob, open_extractor
    from espalier.loading import model_file

    to_terminal = output == STANDARD and sys.stdout.isatty()
    chosen = output_format(output, format or ("table" if to_terminal else None), "--format", _OWN)
    _check(chosen, explain, k, min_confidence, review, raw_cells)
    keep_apart([*files, model], {"--output": output, "--review": review})
    inputs, whole = _Inputs(files, source, encoding, placed=chosen == "table"), chosen in _OWN
    job = LabelJob(open_extractor(model), model_file(model), k, min_confidence, whole, jobs)
    pace = Pace("records")
    with progress("labelling", quiet=to_terminal) as news, opened(review) as stream:
        answers = job.answers(inputs.documents(), lambda n: news(pace.news(n)), stream)
        _write(answers, output, chosen, job, explain=explain, lossy=lossy, raw_cells=raw_cells)
    done = f"{counted(inputs.read - job.low, 'labelled record')} as {chosen} → {output}"
    failed = inputs.bad.told("record", inputs.read, "labelled") if inputs.bad else None
    finish(inputs.read, job.low, review, failed, None if output == STANDARD else done)


_OWN = ("table", "extractions", "csv")


def _check(format: str, explain: bool, k: int, least: float, review: Path | None, raw_cells: bool) -> None:
    """Refuse options that would do nothing."""
    if explain and format != "table":
        raise InputError("--explain draws for people", hint=f"it goes with --format table, not {format}")
    if k > 1 and format not in ("table", "extractions"):
        raise InputError(f"-k {k}: {format} has no place for other readings", hint="use --format extractions or table")
    if raw_cells and format != "csv":
        raise InputError("--raw-cells is for --format csv", hint=f"{format} has no cells")
    if review is not None and not least:
        raise InputError("--review needs --min-confidence: how sure a record must be to need no review")


def _write(
    answers: Iterator[Answered], output: Path, format: str, job: LabelJob, *,
    explain: bool, lossy: bool, raw_cells: bool,
) -> None:  # fmt: skip
    """Write labelled records as a table, as extractions, as CSV, or in a data format."""
    from espalier.cli.labelling import csv_lines, extraction_line
    from espalier.text_files import write_chunks

    if format in ("extractions", "csv"):
        whole = (answer for _, answer in answers if answer is not None)
        lines = (
            csv_lines(whole, job.extractor.labels, safe=not raw_cells)
            if format == "csv"
            else map(extraction_line, whole)
        )
        write_chunks(sys.stdout.buffer if output == STANDARD else output, lines, "utf-8")
    elif format == "table":
        from espalier.cli.show import write_table

        rows = ((document.meta[_PLACE], answer, document) for document, answer in answers if answer is not None)
        write_table(rows, output, job.extractor, explained=explain)
    else:
        write_documents((document for document, _ in answers), output, format, lossy=lossy)


_PLACE = "place"


def _placed(document: Document, path: Path, number: int) -> Document:
    """Return a document that knows where it stands: the line, of plain text, else the number of the record."""
    line = document.meta.get("line") if document.spans is None else None
    place = f"{source_name(path)}:{line}" if isinstance(line, int) else f"{source_name(path)}, record {number}"
    return replace(document, meta={**document.meta, _PLACE: place})


@dataclass(slots=True)
class _Inputs:
    """The files to label, how many records were `read`, and how many records or files were `bad`.

    placed : has every record its place in its meta data? For tables, which write no meta data.
    """

    files: list[Path]
    format: str | None
    encoding: str
    placed: bool = False
    read: int = 0
    bad: Bad = field(default_factory=Bad)

    def documents(self) -> Iterator[Document]:
        """Yield the documents of all files; what is bad is named and counted, and the next one follows."""
        for path in self.files:
            try:
                yield from self._of(path)
            except (EspalierError, OSError) as error:
                self._complain(error, path)
        if self.bad and not self.read:  # an error, so that a file that was to be written stays as it was
            raise InputError("no record could be read")

    def _of(self, path: Path) -> Iterator[Document]:
        refused: list[FormatError] = []
        before = self.read + self.bad.records
        try:
            for document in iter_documents(path, self.format, encoding=self.encoding, refused=refused):
                self.bad.drain(refused, _words)
                self.read += 1
                number = self.read + self.bad.records - before
                yield _placed(document, path, number) if self.placed else document
        finally:
            self.bad.drain(refused, _words)
        if self.read + self.bad.records == before:
            raise InputError(f"{source_name(path)}: there is no record in it")

    def _complain(self, error: EspalierError | OSError, path: Path) -> None:
        self.bad.files += 1
        if isinstance(error, OSError):
            complain(str(unopened(error, path)))
        else:
            rest = f"; the rest of {error.path or path} was not read" if isinstance(error, FormatError) else ""
            complain(_words(error) + rest)


def _words(error: EspalierError) -> str:
    return in_options(error, "label")
