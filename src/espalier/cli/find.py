"""`espalier find`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from espalier.cli.console import counted, progress
from espalier.cli.files import STANDARD, finish, keep_apart, reference_files, tell_unsure, write_text
from espalier.cli.options import UTF_8, Encoding, Output
from espalier.errors import InputError, nearest

if TYPE_CHECKING:
    from espalier.documents.sources import ReferenceFiles

__all__ = ["find"]

_FORMATS = ("text", "json", "jsonl")


def find(
    files: Annotated[
        list[Path], typer.Argument(metavar="FILE", help="Documents: PDF, DOCX, HTML, LaTeX, text; folders; patterns.")
    ],
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help="text, json or jsonl (page, place, confidence); else by OUT's name.",
        ),
    ] = None,
    output: Output = STANDARD,
    encoding: Encoding = UTF_8,
) -> None:
    """Find the references of documents: one on each line, as text.

    espalier find paper.pdf shows them; espalier parse paper.pdf also parses
    them. With -f json each has its file, page, line, box on the page (left,
    top, right, bottom, in points from the upper left corner) and how sure
    it is that it is one whole reference.

    A document without a list and one that cannot be read are named, and the
    exit code is then 1, or 2 if there was no other.

    Examples:
        espalier find paper.pdf
        espalier find papers/ -o found.jsonl
    """
    chosen = _format(format, output)
    keep_apart(files, {"--output": output})
    sources = reference_files(files, encoding=encoding)
    with progress("finding", quiet=output == STANDARD and sys.stdout.isatty()) as news:
        write_text(output, _written(sources, chosen, lambda: news(f"{sources.read:,} references")))
    tell_unsure(sources)
    done = f"{counted(sources.read, 'reference')} → {output}"
    finish(sources, 0, None, "found", None if output == STANDARD else done)


def _format(format: str | None, output: Path) -> str:
    if format is not None and format not in _FORMATS:
        near = nearest(format, _FORMATS, f"there are {', '.join(_FORMATS)}")
        raise InputError(f"unknown format {format!r}", hint=near)
    return format or {".json": "json", ".jsonl": "jsonl"}.get(output.suffix.lower(), "text")


def _written(sources: ReferenceFiles, format: str, news: Callable[[], None]) -> Iterator[str]:
    """Yield the text of the output, piece by piece."""
    before, empty = "[\n", "[]\n"
    for item in sources.references():
        news()
        if format == "text":
            yield " ".join(item.text.split()) + "\n"
            continue
        row = json.dumps({"text": item.text, "file": item.file, **item.place()}, ensure_ascii=False)
        yield row + "\n" if format == "jsonl" else before + row
        before, empty = ",\n", "\n]\n"
    if format == "json":
        yield empty
