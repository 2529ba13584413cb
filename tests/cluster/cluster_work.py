"""Functions for other processes, in a module that is imported in a moment."""

from __future__ import annotations

import os
import signal

from espalier.errors import InputError


def square(n: int) -> int:
    return n * n


def trip(n: int) -> int:
    if n == 40:
        raise InputError("stumbled over 40")
    return n


def process_of(n: int) -> int:
    return os.getpid()


def die(n: int) -> int:
    if n == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return n
