"""The door to work over processes and machines: what `jobs` means, and the only place that imports it.

`jobs=None`, the default everywhere, learns in this process and in threads, which is nearly always best on one machine;
`espalier.distributed` is then never imported.
"""

from __future__ import annotations

from types import ModuleType

import numpy as np

from espalier.errors import InputError

__all__ = ["check_jobs", "over_processes"]


def check_jobs(jobs: int | None) -> None:
    """Raise unless jobs is None (no parts at all), a number of processes, or -1 for all that there are."""
    whole = isinstance(jobs, (int, np.integer)) and not isinstance(jobs, bool)
    if jobs is not None and not (whole and (jobs >= 1 or jobs == -1)):
        raise InputError(
            f"jobs is {jobs!r}", hint="expected None, a number of processes, or -1 for as many as there are"
        )


def over_processes() -> ModuleType:
    """Return the package that works in parts; its names are the ways in, one for each learner with `jobs`."""
    from espalier import distributed

    return distributed
