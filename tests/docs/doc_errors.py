"""The rows of docs/errors.md: code, and the error it raises. `python tests/docs/doc_errors.py` writes them anew."""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from doc_pages import ROOT, blocks, page, run_python

from espalier.cli import main

NAME = "docs/errors.md"


class Row(NamedTuple):
    """Code, the class of the error (or the exit code), and the first line of its message."""

    code: str
    kind: str
    message: str


def _first(said: str) -> str:
    """The first line of a message, or what stands in the frame that Typer draws around what it refuses."""
    framed = [line.strip("│ ") for line in said.splitlines() if line.startswith("│")]
    return " ".join(framed) or said.splitlines()[0]


def rows(text: str) -> list[Row]:
    """Return the rows of all tables of code."""
    found = re.findall(r"^\| `((?:espalier|es\.|model\.|Parser\.)[^|]*)` \| (.*?)\| (.*?)\|$", text, re.MULTILINE)
    return [Row(code, kind.strip(" `"), _decoded(message.strip())) for code, kind, message in found]


@contextlib.contextmanager
def stage() -> Iterator[dict[str, object]]:
    """Run the page's first block in an empty directory; yields its names."""
    names: dict[str, object] = {}
    [setting] = [block.text for block in blocks(page(NAME)) if block.language == "python"]
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        try:
            run_python(setting, NAME, names)
            yield names
        finally:
            os.chdir(before)


def raised(code: str, names: dict[str, object]) -> Row:
    """Run the code of a row and return what came of it."""
    if code.startswith("espalier "):
        err = io.StringIO()
        with contextlib.redirect_stderr(err), contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
            exit_code = main(shlex.split(code)[1:])
        return Row(code, str(exit_code), _first(err.getvalue() or "nothing\n"))
    try:
        eval(code, names)
    except Exception as error:
        return Row(code, type(error).__name__, str(error).splitlines()[0])
    return Row(code, "nothing", "no error")


def written(row: Row) -> str:
    """Return a row of the table; a message is code, so that nothing in it is read as Markdown."""
    kind = row.kind if row.kind.isdigit() else f"`{row.kind}`"
    ticks = "``" if "`" in row.message else "`"
    return f"| `{row.code}` | {kind} | {ticks}{row.message.replace('|', chr(92) + '|')}{ticks} |"


def _decoded(message: str) -> str:
    return message.strip("`").replace("\\|", "|")


def renewed(text: str) -> str:
    """Return the page with every row as it is."""
    with stage() as names:
        for row in rows(text):
            pattern = rf"^\| `{re.escape(row.code)}` \|.*$"
            text = re.sub(pattern, lambda _, row=row: written(raised(row.code, names)), text, flags=re.MULTILINE)
    return text


if __name__ == "__main__":
    Path(ROOT / NAME).write_text(renewed(page(NAME)), encoding="utf-8")
