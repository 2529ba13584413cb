"""What SQLite says when a disk is full or a file is damaged, in words that say what to do."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from espalier.errors import InputError
from espalier.workbench.failures import Failure

__all__ = ["StorageFailure", "storage_failure", "unusable"]

_RESTORE = "put a backup in its place: espalier serve --project DIR --restore FILE"

_RIGHTS = "give yourself the right to write there, or choose another --project"

_KNOWN = (  # what SQLite says, the status of an answer, what is wrong, and what to do
    ("disk is full", 507, "the disk is full", "make room on it; what was confirmed before is stored"),
    ("disk i/o error", 507, "the disk cannot be written or read", "look at the disk; what was confirmed is stored"),
    ("readonly", 507, "the project cannot be written", _RIGHTS),
    ("unable to open", 507, "the project cannot be opened", _RIGHTS),
    ("malformed", 500, "the project is damaged", _RESTORE),
    ("not a database", 500, "this is not a project of the workbench", "choose another --project"),
    ("locked", 503, "the project is in use by another server", "use that one, stop it, or choose another --project"),
)  # fmt: skip


class StorageFailure(Failure):
    """The project's file cannot be used as it should."""


def _said(error: sqlite3.Error) -> tuple[int, str, str]:
    text = str(error)
    for sign, status, what, hint in _KNOWN:
        if sign in text.lower():
            return status, what, hint
    return 500, f"the project's file: {text}", "its server's messages say more"


def storage_failure(error: sqlite3.Error) -> StorageFailure:
    """Return the answer of a request that met this."""
    return StorageFailure(*_said(error))


def unusable(path: Path, error: sqlite3.Error) -> InputError:
    """Return why a server cannot start on a file."""
    _, what, hint = _said(error)
    return InputError(f"{path}: {what}", hint=hint)
