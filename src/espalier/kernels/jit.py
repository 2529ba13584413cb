"""`njit` of Numba, and one line on stderr when something is compiled for the first time.

Compiled code is kept on disk, so this happens once after installing. `ESPALIER_QUIET=1` leaves the line out.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from numba import njit
from numba.core import event

__all__ = ["njit"]

QUIET = "ESPALIER_QUIET"
"""A variable of the environment; processes that are started later inherit it, so that one of them speaks for all."""


class _Teller(event.Listener):
    """Says what is going on when the first kernel is compiled; what comes from the disk is no event."""

    def on_start(self, event: Any) -> None:
        """Say it, if nobody has."""
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        ours = (getattr(function, "__module__", None) or "").startswith("espalier.")
        if ours and not os.environ.get(QUIET):
            os.environ[QUIET] = "1"
            what = "compiling the inner loops of this kind of work, once for this machine; this takes some seconds"
            sys.stderr.write(f"espalier: {what} ('espalier warm' compiles those of every kind)\n")
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        """Say nothing more."""


event.register("numba:compile", _Teller())
