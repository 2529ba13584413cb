"""`espalier warm`."""

from __future__ import annotations

import sys
from time import monotonic

from espalier.cli.console import note, progress, say
from espalier.cli.options import AnyJobs

__all__ = ["warm"]


def warm(
    jobs: AnyJobs = None,
) -> None:
    """Compile now what commands need to be quick, so that no later command waits for it.

    This takes about a minute, by default on all cores. Without it each command compiles what it
    needs when it is first run. The result is kept on disk until Espalier,
    NumPy or Numba is updated.

    Examples:
        espalier warm
        espalier warm --jobs 2
    """
    from espalier.cluster.processes import ordered_map
    from espalier.parallel import choose_threads
    from espalier.warming import STEPS, compile_for

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
