"""One server for each project: a lock that goes with its process, however that ends.

The lock is SQLite's own, on an empty file beside the project's: it works on every system, and while a server has it,
others may still read the project's file, to copy it.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from espalier.errors import InputError

__all__ = ["LOCK", "ProjectLock"]

LOCK = "workbench.lock"


class ProjectLock:
    """The right to serve a project, until it is given back."""

    def __init__(self, directory: Path) -> None:
        """Take the lock of a project directory; somebody else's is an InputError."""
        try:
            self._held = sqlite3.connect(directory / LOCK, timeout=0.5, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as error:
            hint = "give yourself the right to write it, or choose another --project"
            raise InputError(f"{directory}: cannot be written: {error}", hint=hint) from None
        try:
            self._held.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            self._held.close()
            if "locked" not in str(error):
                hint = "give yourself the right to write it, or choose another --project"
                raise InputError(f"{directory}: cannot be written: {error}", hint=hint) from None
            hint = "use that one, stop it, or choose another --project"
            raise InputError(f"{directory} is in use by another server", hint=hint) from None

    def release(self) -> None:
        """Let another server have the project."""
        self._held.close()
