"""`espalier convert`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.cli.console import counted, note, progress
from espalier.cli.files import UTF_8, Encoding, Lossy, iter_documents, keep_apart, output_format, write_documents

if TYPE_CHECKING:
    from espalier.document import Document

__all__ = ["convert"]


def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="The file to read; - is stdin.")],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write; - is stdout.")],
    source_format: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="The format to read, if the guess is wrong.")
    ] = None,
    target_format: Annotated[
        str | None, typer.Option("--to", metavar="FORMAT", help="The format to write, if the name does not say it.")
    ] = None,
    encoding: Encoding = UTF_8,
    lossy: Lossy = False,
    repair: Annotated[bool, typer.Option("--repair", help="Mend unbalanced tags, and name each place.")] = False,
) -> None:
    """Turn one data format into another; what would be lost is refused unless you accept it.

    The output is always UTF-8.

    Formats: jsonl, conll, inline, hierarchical, tei, doccano, prodigy, label_studio, plain.
    """
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

        write_documents(documents(), target, chosen, lossy=lossy)
    note(f"{counted(count, 'record')} as {chosen} → {target}")
