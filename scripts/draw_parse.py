"""Draw the picture of the README: what `espalier parse` shows of the first example references.

    python scripts/draw_parse.py [OUT]        writes docs/images/parse.svg, or another file

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
PICTURE = ROOT / "docs" / "images" / "parse.svg"
SHOWN = 6
"""How many references are in the picture."""


def picture() -> str:
    """Return the picture as SVG, the same every time."""
    os.chdir(ROOT)
    first = islice(read_references(Path("examples/references.txt")), SHOWN)
    console = Console(record=True, width=100, file=StringIO(), force_terminal=True, highlight=False)
    console.print("$ espalier parse examples/references.txt\n", style="bold")
    parser = load("citations")
    rows = ((f"line {reference.line}", parser.parse(reference.text), reference.text) for reference in first)
    print_table(console, rows, parser)
    svg = console.export_svg(title="", theme=SVG_EXPORT_THEME, unique_id="parse")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    return re.sub(r"font-family: (?:Fira Code, monospace|arial);", "font-family: monospace;", svg)


if __name__ == "__main__":
    out = Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else PICTURE
    out.parent.mkdir(exist_ok=True)
    out.write_text(picture(), encoding="utf-8")
