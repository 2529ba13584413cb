"""`espalier examples`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from espalier.cli.console import counted, say
from espalier.errors import InputError

__all__ = ["examples"]

# In a wheel the examples are part of the package; in a copy of the repository they stand at its root.
_PLACES = (Path(__file__).parents[1] / "examples", Path(__file__).parents[3] / "examples")


def examples(
    folder: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where to; by default ./examples.")
    ] = Path("examples"),
) -> None:
    """Write the example files that the pages use: references, adverts, rules, a job.

    Files that are there already stay as they are.

    Examples:
        espalier examples
        espalier examples --output try
    """
    source = next((place for place in _PLACES if place.is_dir()), None)
    if source is None:
        raise InputError("the examples are not installed", hint="install Espalier again from its wheel")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file", hint="name a folder for the examples")
    written, kept, same = 0, 0, 0
    for file in sorted(source.rglob("*")):
        target = folder / file.relative_to(source)
        if not file.is_file() or "__pycache__" in file.parts:
            continue
        if target.exists():
            unchanged = target.read_bytes() == file.read_bytes()
            same, kept = same + unchanged, kept + (not unchanged)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.read_bytes())
        written += 1
    others = f"; {kept} of yours differ, and stay" if kept else ""
    there = f"{'' if kept else 'all '}{counted(same, 'file')} are in {folder} already"
    say(Text((f"{counted(written, 'file')} written to {folder}" if written else there) + others))
    say(Text(f"try: espalier parse {folder / 'references.txt'}"))
