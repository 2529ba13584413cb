"""`espalier parse`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.citations.formats import FORMATS, KEEPS
from espalier.cli.console import STDOUT, Pace, Stopped, complain, counted, progress
from espalier.cli.files import (
    STANDARD,
    check_answers,
    finish,
    keep_apart,
    opened,
    reference_files,
    reference_format,
    tell_unsure,
    write_text,
)  # fmt: skip
from espalier.cli.options import (
    UTF_8,
    Encoding,
    Explain,
    Jobs,
    Least,
    OtherModel,
    Output,
    RawCells,
    Readings,
    Review,
)  # fmt: skip
from espalier.errors import InputError

if TYPE_CHECKING:
    from espalier.citations.batches import Order, Written
    from espalier.citations.parse_job import ParseJob
    from espalier.citations.parser import Parser
    from espalier.citations.unfinished import Unfinished
    from espalier.documents.sources import ReferenceFiles

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


def parse(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Documents, bibliographies or pasted text; folders; patterns.")
    ],
    format: Format = None,
    output: Output = STANDARD,
    model: OtherModel = None,
    min_confidence: Least = 0.0,
    review: Review = None,
    explain: Explain = False,
    k: Readings = 1,
    raw_cells: RawCells = False,
    layout: Annotated[
        str, typer.Option("--input", metavar="LAYOUT", help="lines, blocks (blank lines or numbers between), or auto.")
    ] = "auto",
    encoding: Encoding = UTF_8,
    jobs: Jobs = 1,
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

    Examples:
        espalier parse refs.txt -o refs.bib
        espalier parse paper.pdf -f jsonl --min-confidence 0.9 --review unsure.jsonl
    """
    chosen = reference_format(format, output, "--format", _TABLE)
    keeps, options = (FORMATS[chosen].keeps, FORMATS[chosen].options) if chosen in FORMATS else (KEEPS, ())
    check_answers(
        chosen, explain, k, min_confidence, review, raw_cells, several="alternatives" in keeps, cells="safe" in options,
        more="jsonl",
    )  # fmt: skip
    keep_apart([*files, model], {"--output": output, "--review": review})
    from espalier.citations.batches import Order
    from espalier.citations.parser import Parser, bundled_parser
    from espalier.loading import model_file

    model = None if model is None else model_file(model)
    sources = reference_files(files, layout, encoding)
    # Processes have parsers of their own, and begin sooner if this one does not read the model first.
    alone = jobs == 1 or chosen == _TABLE
    parser = None if not alone else bundled_parser() if model is None else Parser.from_file(model)
    order = Order(chosen, k, min_confidence, review is not None, raw_cells)
    kept = None
    if output != STANDARD and chosen != _TABLE and STANDARD not in files:
        kept = _kept(sources, output, order, model, layout, encoding, resume)
    elif resume:
        raise InputError("--resume goes on with an --output FILE that was made of files")
    pace, quiet = Pace("references"), output == STANDARD and sys.stdout.isatty()
    with opened(review) as stream, progress("parsing", quiet=quiet) as news, _stopping(kept, output):
        job = _job(parser if jobs == 1 else None, order, jobs, model)
        job.review, job.review_name = stream, STDOUT if review == STANDARD else str(review)
        before = kept.before() if kept is not None and resume else []
        batches = job.batches(sources.references(), lambda n: news(pace.news(n, sources.share_of(n))), kept, before)
        _write(batches, output, chosen, parser, explain)
    tell_unsure(sources)
    done = f"{counted(sources.read - job.low, 'record')} as {chosen} → {output}"
    finish(sources, job.low, review, "parsed", None if output == STANDARD else done)


def _job(parser: Parser | None, order: Order, jobs: int, model: Path | None) -> ParseJob:
    """Return the job: in this process if it has a parser, else in several."""
    from espalier.citations.batches import write_batch
    from espalier.citations.parse_job import SHARED_BATCH, ParseJob

    if parser is not None:
        return ParseJob.here(parser, order)
    from espalier.cluster.labeller import LabellerSpec, with_labeller
    from espalier.cluster.processes import ordered_map
    from espalier.cluster.rows import model_path, parser_of

    spec = LabellerSpec.of(parser_of, model_path(model))
    return ParseJob(
        order, partial(ordered_map, partial(with_labeller, spec, write_batch, order), jobs=jobs), SHARED_BATCH
    )


def _kept(
    sources: ReferenceFiles, output: Path, order: Order, model: Path | None, layout: str, encoding: str, resume: bool
) -> Unfinished:
    """Return where finished batches are kept; what a run before has left is told if nobody goes on with it."""
    from espalier.citations.parser import bundled_file
    from espalier.citations.unfinished import Unfinished, asked_for
    from espalier.documents.sources import listed_files

    files, version = listed_files(sources.files), import_module("espalier").__version__
    model = bundled_file() if model is None else model
    kept = Unfinished(output, asked_for(version, files, model, order, layout, encoding))
    if kept.path.exists() and not resume:
        complain(f"{kept.path} was left by a run that was stopped; begun anew (--resume would have gone on)")
    return kept


@contextmanager
def _stopping(kept: Unfinished | None, output: Path) -> Iterator[None]:
    """Let finished batches go when all is written; who stops it is told what is kept."""
    if kept is None:
        yield
        return
    try:
        yield
    except KeyboardInterrupt:
        kept.close(finished=False)
        nothing = f"stopped; nothing was finished yet, and {output} is as it was"
        several = f"stopped; references that are kept in {kept.path}: {kept.count}. To go on, add --resume"
        raise Stopped(several if kept.count else nothing) from None
    except BaseException:
        kept.close(finished=False)
        raise
    kept.close(finished=True)


def _write(batches: Iterator[Written], output: Path, format: str, parser: Parser | None, explain: bool) -> None:
    """Write records as a table for people, or in a format."""
    if format == _TABLE:
        from espalier.cli.show import write_table
        from espalier.documents.sources import place_of

        assert parser is not None
        pairs = chain.from_iterable(batch.pairs for batch in batches)
        rows = ((place_of(item, with_doubt=True), record, record.text) for item, record in pairs)
        write_table(rows, output, parser, explained=explain)
        return
    from espalier.citations.batches import put_together

    write_text(output, put_together(batches, format))
