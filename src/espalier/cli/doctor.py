"""`espalier doctor`."""

from __future__ import annotations

import typer
from rich.text import Text

from espalier.cli.console import say, say_json
from espalier.cli.options import Json

__all__ = ["doctor"]


def doctor(json: Json = False) -> None:
    """Look at this installation: versions, compiled code, threads, what is missing, and what to do about it.

    The exit code is 1 if something is wrong that keeps commands from
    working. An extra that is not installed is nothing wrong.

    Examples:
        espalier doctor
        espalier doctor --json
    """
    from espalier.installation import examined

    found = examined()
    if json:
        say_json([finding._asdict() for finding in found])
    else:
        wide = max(len(finding.what) for finding in found)
        for finding in found:
            say(Text(f"{finding.sign} {finding.what:{wide}}  {finding.state}"))
            if finding.advice:
                say(Text(f"  {'':{wide}}  → {finding.advice}"))
    if not all(finding.ok for finding in found):
        raise typer.Exit(1)
