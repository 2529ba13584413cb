"""`espalier convert`."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from espalier.cli.console import complain, counted, note, progress
from espalier.cli.files import (
    STANDARD,
    iter_documents,
    keep_apart,
    output_format,
    reference_format,
    source_name,
    write_documents,
    write_text,
)
from espalier.cli.options import UTF_8, Encoding, Format, From, Lossy
from espalier.errors import FormatError, InputError, unopened

if TYPE_CHECKING:
    from espalier.citations.bibliographies import Bibliography, Entry
    from espalier.document import Document

__all__ = ["convert"]


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The file to read; - is stdin.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; - is stdout.")],
    source_format: From = None,
    target_format: Format = None,
    encoding: Encoding = UTF_8,
    lossy: Lossy = False,
    repair: Annotated[bool, typer.Option("--repair", help="Mend unbalanced tags, and name each place.")] = False,
) -> None:
    """Turn one data format into another; what would be lost is refused unless you accept it.

    The output is always UTF-8.

    Formats: jsonl, conll, inline, hierarchical, tei, doccano, prodigy, label_studio, plain.

    A bibliography (BibTeX, RIS, CSL-JSON, EndNote XML, MODS, refer, NBIB) is
    turned into any format of espalier parse: convert refs.bib refs.ris.

    Examples:
        espalier convert labelled.conll labelled.jsonl
        espalier convert refs.bib refs.ris
    """
    from espalier.documents.sources import bibliography_in

    kind = bibliography_in(source, sys.stdin.buffer if source == STANDARD else None)
    if source_format is None and kind is not None and not kind.refused:
        _convert_bibliography(source, kind, target, target_format, encoding)
        return
    _refuse_running_text(source, kind, target, target_format)
    chosen = output_format(target, target_format, "--to")
    keep_apart([source], {"OUT": target})
    options = {"repair": True} if repair else {}
    count = 0
    with progress("converting") as news:

        def documents() -> Iterator[Document]:
            nonlocal count
            for document in iter_documents(source, source_format, encoding=encoding, **options):
                count += 1
                if count % 1000 == 0:
                    news(f"{count:,} records")
                yield document
            if not count:  # an error, so that a file that was to be written stays as it was
                raise InputError(f"{source_name(source)}: there is no record in it")

        write_documents(documents(), target, chosen, lossy=lossy)
    note(f"{counted(count, 'record')} as {chosen} → {target}")


def _refuse_running_text(source: Path, kind: Bibliography | None, target: Path, format: str | None) -> None:
    """Tell who wants records of references, and has none yet, what makes them. kind : of bibliography, if it is one."""
    from espalier.citations.formats import FORMATS, format_of_file
    from espalier.documents.sources import refuse_unread
    from espalier.io import FORMATS as DATA
    from espalier.io import format_by_name

    name = target.name if format is None else f"x.{format.lower()}"
    if format_by_name(name) or format in DATA:
        return
    found = format_of_file(name)
    wanted = format if format in FORMATS else None if found is None else found.name
    if source != STANDARD and not os.path.exists(source):
        raise unopened(FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT)), source)
    if wanted is not None:
        if kind is not None:
            refuse_unread(kind, source_name(source))
        option = "" if format is None else f" -f {format}"
        raise InputError(
            f"{source_name(source)} is no bibliography, and only these are turned into {wanted}",
            hint=f"references in running text are read by: espalier parse {source} -o {target}{option}",
        )


def _convert_bibliography(source: Path, kind: Bibliography, target: Path, format: str | None, encoding: str) -> None:
    """Write the entries of a bibliography in another format; those that cannot be read are named."""
    from espalier.citations.bibliographies import read_bibliography
    from espalier.citations.formats import FORMATS, write

    chosen = reference_format(format, target, "--to")
    options: dict[str, Any] = {"safe": True} if "safe" in FORMATS[chosen].options else {}
    keep_apart([source], {"OUT": target})
    count, refused = 0, list[FormatError]()

    def entries() -> Iterator[Entry]:
        nonlocal count
        stream = sys.stdin.buffer if source == STANDARD else source
        for entry in read_bibliography(stream, encoding=encoding, refused=refused):
            count += 1
            yield entry
        if refused and not count:
            raise refused[0]

    write_text(target, write(entries(), chosen, **options))
    for error in refused:
        complain(str(error))
    if refused:
        complain(f"entries written: {count}; entries left out: {len(refused)}")
        raise typer.Exit(1)
    note(f"{counted(count, 'entry', 'entries')} of {kind.called} as {chosen} → {target}")
