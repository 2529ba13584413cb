"""Pages of the documentation as blocks, and what it takes to run them: Python blocks and shell lines, in order.

`python tests/docs/doc_pages.py docs/tutorial.md` runs a page where the examples are, and writes anew what it shows.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from espalier.cli import main

ROOT = Path(__file__).resolve().parents[2]
NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")


class Block(NamedTuple):
    """A fenced block: its language and its text."""

    language: str
    text: str


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def blocks(text: str) -> list[Block]:
    found = re.findall(r"^( *)```(\w+)\n(.*?)^\1```$", text, re.DOTALL | re.MULTILINE)
    return [Block(language, re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)) for indent, language, body in found]


def run_python(code: str, name: str, names: dict[str, object]) -> str:
    """Run a block and return what it prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, name, "exec"), names)
    return out.getvalue()


def run_line(line: str) -> str:
    """Run one shell line and return what it prints; `espalier` runs in this process, which is much faster."""
    if not line.startswith("espalier "):
        return subprocess.run(line, shell=True, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="utf-8", newline="\n", write_through=True)
    with contextlib.redirect_stdout(out):
        assert main(shlex.split(line)[1:]) == 0, line
    return raw.getvalue().decode("utf-8")


def run_page(name: str, *, skip: tuple[str, ...] = ()) -> Iterator[tuple[str, str, str]]:
    """Run a page; yield each block that ran, what it printed, and the `text` block right below it ("" if none).

    Python blocks share their names. Lines that begin with one of `skip` are not run.
    """
    names: dict[str, object] = {}
    all_blocks = [*blocks(page(name)), Block("", "")]
    for (language, body), below in pairwise(all_blocks):
        shown = below.text if below.language == "text" else ""
        if language == "python":
            yield body, run_python(body, name, names), shown
        elif language == "sh":
            lines = [line for line in body.splitlines() if not line.startswith(skip or ("\0",))]
            if lines:
                yield body, "".join(map(run_line, lines)), shown


def renewed(name: str, *, skip: tuple[str, ...] = ()) -> str:
    """Return the page with every text block below a block that prints as it is printed now."""
    text = page(name)
    for block, printed, shown in run_page(name, skip=skip):
        if shown:
            kept = "".join(printed.splitlines(keepends=True)[: shown.count("\n") - 1]) + "...\n"
            now = kept if shown.endswith("...\n") else printed
            head = f"{block}```\n\n```text\n"
            assert head + shown in text, block
            text = text.replace(head + shown, head + now)
    return text


def same(shown: str, printed: str, tolerance: float = 0.0) -> bool:
    """Is this what was printed, figures within a tolerance? A last line `...` stands for anything."""
    if shown.endswith("...\n"):
        shown = shown.removesuffix("...\n")
        printed = "".join(printed.splitlines(keepends=True)[: shown.count("\n")])
    if not tolerance:
        return shown == printed
    return _words(shown) == _words(printed) and all(
        abs(ours - theirs) <= tolerance
        for ours, theirs in zip(_figures(shown), _figures(printed), strict=True)
    )  # fmt: skip


def _words(text: str) -> list[str]:
    """The text without figures, and without what depends on their width: blanks and bars."""
    return re.sub(r"[━ ]+", " ", NUMBER.sub("0", text)).split()


def _figures(text: str) -> list[float]:
    return [float(figure) for figure in NUMBER.findall(text)]


def copy_examples(target: Path) -> None:
    shutil.copytree(ROOT / "examples", target / "examples")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        copy_examples(Path(folder))
        os.chdir(folder)
        changed = renewed(sys.argv[1], skip=("pip ", "espalier warm", "espalier examples"))
        os.chdir(ROOT)
    (ROOT / sys.argv[1]).write_text(changed, encoding="utf-8")
