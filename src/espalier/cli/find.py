"""`espalier find`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from espalier.cli.console import complain, counted, note, progress
from espalier.cli.files import STANDARD, UTF_8, Encoding, Output, keep_apart
from espalier.errors import InputError, nearest

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
    """
    from espalier.cli.inputs import Inputs
    from espalier.text_files import write_chunks

    chosen = _format(format, output)
    keep_apart(files, {"--output": output})
    inputs = Inputs(files, "auto", encoding)
    with progress("finding", quiet=output == STANDARD and sys.stdout.isatty()) as news:
        chunks = _written(inputs, chosen, lambda: news(f"{inputs.read:,} references"))
        write_chunks(sys.stdout.buffer if output == STANDARD else output, chunks, "utf-8")
    inputs.tell_unsure()
    if inputs.bad:
        complain(inputs.bad.told("reference", inputs.read, "found"))
        raise typer.Exit(1)
    if output != STANDARD:
        note(f"{counted(inputs.read, 'reference')} → {output}")


def _format(format: str | None, output: Path) -> str:
    if format is not None and format not in _FORMATS:
        near = nearest(format, _FORMATS, f"there are {', '.join(_FORMATS)}")
        raise InputError(f"unknown format {format!r}", hint=near)
    return format or {".json": "json", ".jsonl": "jsonl"}.get(output.suffix.lower(), "text")


def _written(inputs: Any, format: str, news: Any) -> Iterator[str]:
    """Yield the text of the output, piece by piece."""
    from espalier.cli.inputs import source_of

    before, empty = "[\n", "[]\n"
    for item in inputs.references():
        news()
        if format == "text":
            yield " ".join(item.text.split()) + "\n"
            continue
        row = json.dumps({"text": item.text, **source_of(item)}, ensure_ascii=False)
        yield row + "\n" if format == "jsonl" else before + row
        before, empty = ",\n", "\n]\n"
    if format == "json":
        yield empty
