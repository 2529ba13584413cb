"""`espalier label`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.cli.console import complain, note, progress
from espalier.cli.files import STANDARD, UTF_8, Encoding, iter_documents, output_format, write_documents
from espalier.cli.pace import Pace
from espalier.cli.places import keep_apart
from espalier.cli.wording import counted, in_options
from espalier.errors import EspalierError, FormatError, InputError

if TYPE_CHECKING:
    from espalier.document import Document

__all__ = ["label"]


def label(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE...", help="Text with one record per line, or labelled records.")
    ],
    model: Annotated[
        Path, typer.Option("--model", "-m", metavar="MODEL", help="A model file, or citations: the bundled one.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="Where to write; - is stdout.")
    ] = STANDARD,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="A data format, or table, for people; else by OUT's name, a table on a terminal, and jsonl elsewhere.",
        ),
    ] = None,
    source: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format of the input, if the guess is wrong.")
    ] = None,
    encoding: Encoding = UTF_8,
    lossy: Annotated[bool, typer.Option("--lossy", help="Accept what the output format cannot express.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes to label on; the output is the same.")
    ] = 1,
) -> None:
    """Label records with a model; labels that are there already are replaced.

    A bad record is named and left out, and a file that cannot be read further is named; the exit code is then 1.
    """
    from espalier.cli.labelling import label_documents, load_model, lone_model, tag_elsewhere
    from espalier.cli.show import write_shown
    from espalier.cluster.labeller import LabellerSpec
    from espalier.loading import model_file

    to_terminal = output == STANDARD and sys.stdout.isatty()
    chosen = format or ("table" if to_terminal else None)
    chosen = "table" if chosen == "table" else output_format(output, chosen, "--format")
    keep_apart([*files, model], {"--output": output})
    labeller, inputs, path = load_model(model), _Inputs(files, source, encoding), model_file(model)
    tag = labeller.predict if jobs == 1 else partial(tag_elsewhere, LabellerSpec.of(lone_model, path))
    pace = Pace("records")
    with progress("labelling", quiet=to_terminal) as news:
        labelled = label_documents(tag, inputs.documents(), lambda n: news(pace.news(n)), jobs=jobs)
        if chosen == "table":
            write_shown(labelled, output, labeller.labels_)
        else:
            write_documents(labelled, output, chosen, lossy=lossy)
    if inputs.bad:
        complain(f"records labelled: {inputs.read}; bad records left out and files not read to the end: {inputs.bad}")
        raise typer.Exit(1)
    if output != STANDARD:
        note(f"{counted(inputs.read, 'labelled record')} as {chosen} → {output}")


@dataclass(slots=True)
class _Inputs:
    """The files to label, how many records were `read`, and how many records or files were `bad`."""

    files: list[Path]
    format: str | None
    encoding: str
    read: int = 0
    bad: int = 0

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
        try:
            for document in iter_documents(path, self.format, encoding=self.encoding, refused=refused):
                self._drain(refused)
                self.read += 1
                yield document
        finally:
            self._drain(refused)

    def _drain(self, refused: list[FormatError]) -> None:
        for error in refused:
            complain(in_options(error, "label"))
        self.bad += len(refused)
        refused.clear()

    def _complain(self, error: EspalierError | OSError, path: Path) -> None:
        self.bad += 1
        if isinstance(error, OSError):
            complain(f"{path}: {error.strerror}")
        else:
            rest = f"; the rest of {error.path or path} was not read" if isinstance(error, FormatError) else ""
            complain(in_options(error, "label") + rest)
