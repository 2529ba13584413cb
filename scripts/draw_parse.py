"""Draw the two pictures of the README: the first example references as they stand, and what `espalier parse` shows.

    python scripts/draw_parse.py [FOLDER]        writes before.svg and parse.svg to docs/images, or another folder

The table is the program's own, recorded by Rich and exported without its web fonts: any monospaced font will do.
"""

from __future__ import annotations

import os
import re
import sys
from io import StringIO
from itertools import islice
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME

from espalier.citations.splitting import read_references
from espalier.cli.show import print_table
from espalier.loading import load

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
SHOWN = 6
"""How many references are in the picture."""


def pictures() -> dict[str, str]:
    """Return the pictures as SVG by the names of their files, the same every time."""
    os.chdir(ROOT)
    first = list(islice(read_references(Path("examples/references.txt")), SHOWN))
    before = _console()
    before.print(f"$ head -n {SHOWN} examples/references.txt\n", style="bold")
    for reference in first:
        before.print(reference.text, markup=False)
    after = _console()
    after.print("$ espalier parse examples/references.txt\n", style="bold")
    parser = load("citations")
    rows = ((f"line {reference.line}", parser.parse(reference.text), reference.text) for reference in first)
    print_table(after, rows, parser)
    return {"before.svg": _exported(before, "before"), "parse.svg": _exported(after, "parse")}


def _console() -> Console:
    return Console(record=True, width=100, file=StringIO(), force_terminal=True, highlight=False)


def _exported(console: Console, name: str) -> str:
    svg = console.export_svg(title="", theme=SVG_EXPORT_THEME, unique_id=name)
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"font-family: (?:Fira Code, monospace|arial);", "font-family: monospace;", svg)


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else IMAGES
    folder.mkdir(exist_ok=True)
    for name, svg in pictures().items():
        (folder / name).write_text(svg, encoding="utf-8")
