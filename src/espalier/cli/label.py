"""`espalier label`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.cli.console import complain, note, progress
from espalier.cli.files import STANDARD, iter_documents, output_format, write_documents
from espalier.errors import EspalierError, InputError

if TYPE_CHECKING:
    from espalier.document import Document

__all__ = ["label"]


def label(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Text, a record a line, or labelled records.")],
    model: Annotated[Path, typer.Option("--model", "-m", metavar="MODEL", help="A model file.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="Where to write; - is stdout.")
    ] = STANDARD,
    format: Annotated[
        str | None,
        typer.Option("--format", "-f", metavar="FORMAT", help="A data format, or table, which is for people."),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format of the input, if the guess is wrong.")
    ] = None,
    lossy: Annotated[bool, typer.Option("--lossy", help="Accept what the output format cannot express.")] = False,
) -> None:
    """Label records with a model; labels that are there already are replaced."""
    from espalier.cli.labelling import label_documents
    from espalier.cli.show import write_shown
    from espalier.estimators.persist import load

    to_terminal = output == STANDARD and sys.stdout.isatty()
    chosen = format or ("table" if to_terminal else None)
    chosen = "table" if chosen == "table" else output_format(output, chosen, "--format")
    labeller, failed = load(model), list[Path]()
    with progress("labelling", quiet=to_terminal) as news:
        labelled = label_documents(labeller, _readable(files, source, failed), lambda n: news(f"{n:,} records"))
        if chosen == "table":
            write_shown(labelled, output, labeller.labels_)
        else:
            write_documents(labelled, output, chosen, lossy=lossy)
    if failed:
        raise typer.Exit(1)
    if output != STANDARD:
        note(f"labelled records as {chosen} → {output}")


def _readable(files: list[Path], source: str | None, failed: list[Path]) -> Iterator[Document]:
    """Yield the documents of all files; a file that cannot be read (further) is named, and the next one follows."""
    found = False
    for path in files:
        try:
            for document in iter_documents(path, source):
                found = True
                yield document
        except (EspalierError, OSError) as error:
            complain(str(error) if isinstance(error, EspalierError) else f"{path}: {error.strerror}")
            failed.append(path)
    if failed and not found:  # an error, so that a file that was to be written stays as it was
        raise InputError("no record could be read")
