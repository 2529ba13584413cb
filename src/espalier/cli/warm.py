"""`espalier warm`."""

from __future__ import annotations

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
    """Compile all inner loops now, so that no later command waits for them.

    Commands compile what they need when they need it, once; that takes
    some seconds each. The result is kept on disk until Espalier, NumPy
    or Numba is updated.
    """
    from espalier.cli.warming import STEPS, compile_for
    from espalier.cluster.processes import ordered_map
    from espalier.parallel import choose_threads

    begin = monotonic()
    several = choose_threads(10**9) if jobs is None else jobs
    with progress("compiling") as news:
        for n, _ in enumerate(ordered_map(compile_for, STEPS, jobs=several), 1):
            news(f"{n} of {len(STEPS)}")
    say(f"compiled: {', '.join(STEPS)}")
    note(f"{monotonic() - begin:.0f} s")
