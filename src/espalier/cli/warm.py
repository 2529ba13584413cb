"""`espalier warm`."""

from __future__ import annotations

import sys
from time import monotonic
from typing import Annotated

import typer

from espalier.cli.console import note, progress, say

__all__ = ["warm"]


def warm(
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", metavar="N", min=1, help="Processes; by default one a core.")
    ] = None,
) -> None:
    """Compile now what commands need to be quick, so that no later command waits for it.

    This takes about a minute. Without it each command compiles what it
    needs when it is first run. The result is kept on disk until Espalier,
    NumPy or Numba is updated.

    Examples:
        espalier warm
        espalier warm --jobs 2
    """
    from espalier.cli.warming import STEPS, compile_for
    from espalier.cluster.processes import ordered_map
    from espalier.parallel import choose_threads

    begin = monotonic()
    several = choose_threads(10**9) if jobs is None else jobs
    with progress("compiling") as news:
        for n, _ in enumerate(ordered_map(compile_for, STEPS, jobs=several), 1):
            so_far = f"{n} of {len(STEPS)}, {STEPS[n - 1]}"
            news(so_far)
            if not sys.stderr.isatty():  # no moving sign there, and a log should not be silent for so long
                note(f"compiled {so_far}", always=True)
    say(f"compiled: {', '.join(STEPS)}")
    note(f"{monotonic() - begin:.0f} s")
