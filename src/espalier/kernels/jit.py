"""`njit` of Numba, one line on stderr when something is compiled for the first time, and quick loading of the rest.

Compiled code is kept on disk, so each kind of work is compiled once after installing. `ESPALIER_QUIET=1` leaves the
line out.

Before Numba loads a function from the disk, it gets ready to compile: it imports everything that compiled code may
call, SciPy's linear algebra among it, and reads the tables of types. That takes a third of a second, and code that is
compiled needs none of it. So it is left out; who really compiles has it done by the compiler. That leans on the inside
of Numba, so it is done with versions that were tried, and any other one is left as it is.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import numba
from numba.core import event
from numba.core.runtime import rtsys

__all__ = ["njit"]

QUIET = "ESPALIER_QUIET"
"""A variable of the environment; processes that are started later inherit it, so that one of them speaks for all."""

TRIED = (0, 60), (0, 68)
"""The first and the last version of Numba whose compiled code was loaded so, with the same answers."""


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return the decorator that compiles a function, as Numba's does; compiled code is loaded without the compiler."""

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = numba.njit(**options)(function)
        cache: Any = getattr(dispatcher, "_cache", None)
        if options.get("cache") and hasattr(cache, "load_overload") and is_tried(numba.__version__):
            cache.load_overload = _Loader(cache.load_overload)
        return dispatcher

    return decorate


def is_tried(version: str) -> bool:
    """Was a version of Numba tried?"""
    numbers = version.split(".")[:2]
    if not all(number.isdecimal() for number in numbers):
        return False
    return TRIED[0] <= tuple(map(int, numbers)) <= TRIED[1]


class _Loader:
    """Loads what a function has on disk; Numba calls it with its lock held, so that no thread sees the target so."""

    def __init__(self, load: Callable[[Any, Any], Any]) -> None:
        self._load = load

    def __call__(self, signature: Any, target: Any) -> Any:
        """Return the compiled code for a signature, None if there is none."""
        rtsys.initialize(target)  # what compiled code calls to allocate memory
        target.refresh = _nothing  # hides the method of the class
        try:
            return self._load(signature, target)
        finally:
            vars(target).pop("refresh", None)


def _nothing() -> None:
    pass


class _Teller(event.Listener):
    """Says what is going on when the first kernel is compiled; what comes from the disk is no event."""

    def on_start(self, event: Any) -> None:
        """Say it, if nobody has."""
        function = getattr(event.data.get("dispatcher"), "py_func", None)
        ours = (getattr(function, "__module__", None) or "").startswith("espalier.")
        if ours and not os.environ.get(QUIET):
            os.environ[QUIET] = "1"
            what = "compiling what this kind of work needs, up to half a minute; each kind is compiled once"
            sys.stderr.write(f"espalier: {what} ('espalier warm' compiles all kinds)\n")
            sys.stderr.flush()

    def on_end(self, event: Any) -> None:
        """Say nothing more."""


event.register("numba:compile", _Teller())
