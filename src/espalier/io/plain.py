"""Plain text, unlabelled: one record per line, or blocks separated by blank lines.

`meta["line"]` is the line a record starts on, so an answer can be put beside its input. Blank lines are
skipped (their absence shows in the line numbers) or, with `blank="keep"`, give empty documents.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from espalier.document import Document
from espalier.errors import Argument, InputError
from espalier.io.common import Tokeniser, Writing, tokeniser
from espalier.text_files import Lines

__all__ = ["read", "write"]


def read(
    lines: Lines, *, blocks: bool = False, blank: str = "skip", tokenise: Tokeniser = "default"
) -> Iterator[Document]:
    """Yield one document a line, or with `blocks` one a block, its lines joined by line breaks."""
    if blank not in ("skip", "keep"):
        raise InputError(f"blank must be 'skip' or 'keep', not {blank!r}")
    if blocks and blank == "keep":
        raise InputError("blank='keep' is for records that are lines", hint="between blocks a blank line separates")
    split = tokeniser(tokenise)
    for number, text in _blocks(lines) if blocks else lines:
        if text.strip() or blank == "keep":
            with lines.at(number):
                lines.admit(len(text))
                yield Document(text, split(text), meta={"line": number})


def _blocks(lines: Lines) -> Iterator[tuple[int, str]]:
    block: list[str] = []
    first = 0
    for number, line in lines:
        if line.strip():
            first = first if block else number
            block.append(line)
        elif block:
            yield first, "\n".join(block)
            block = []
    if block:
        yield first, "\n".join(block)


def write(
    documents: Iterable[Document], *, blocks: bool = False, blank: str = "skip", lossy: bool = False
) -> Iterator[str]:
    """Yield the texts; labels, line breaks inside a line and blank records are refused unless `lossy`."""
    for number, document in enumerate(documents):
        writing = Writing(document, number, lossy)
        text = document.text
        if document.spans is not None or document.unknown:
            inline = Argument("write", "format", "inline")
            writing.loses(
                "it is labelled, and plain text has no labels", "writes the text alone", (inline, " has them")
            )
        if blocks:
            rows = text.split("\n")
            if text.strip() and not all(row.strip() for row in rows):
                writing.loses("its text has a blank line, which separates blocks", "leaves blank lines out")
                rows = [row for row in rows if row.strip()]
        else:
            rows = [text.replace("\n", " ")]
            if "\n" in text:
                blocks_of_lines = ("pass ", Argument("write", "blocks", True))
                writing.loses("its text has a line break, and a record is a line", "writes a space", blocks_of_lines)
        if any(row.endswith("\r") for row in rows):
            writing.loses("a line of its text ends with a carriage return", "drops it")
            rows = [row.rstrip("\r") for row in rows]
        if not text.strip() and (blocks or blank != "keep"):
            keep = (Argument("write", "blank", "keep"), " writes a blank line")
            writing.loses("its text is blank", "leaves it out", keep)
            continue
        yield "\n".join(rows) + ("\n\n" if blocks else "\n")
