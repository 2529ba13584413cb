"""The files that a command reads and writes: none may be both, and no two outputs may be one file.

A file is replaced once its new content is complete, so a command that was told to write where it reads would leave
nothing of what it was given, perhaps the only copy. Who types such a thing has made a slip.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from itertools import combinations
from pathlib import Path

from espalier.cli.files import STANDARD
from espalier.errors import InputError

__all__ = ["keep_apart", "refuse_stdout"]

_STDIN, _STDOUT = 0, 1


def keep_apart(reads: Iterable[str | Path | None], writes: Mapping[str, Path | None]) -> None:
    """Refuse an output that is the same file as an input or as another output; call it before anything is read.

    writes : by the option or argument that names each. Links are followed, symbolic and hard, and `-` is the file that
    stdin or stdout was redirected to, if it was. Devices and pipes hold nothing that could be lost. What is not there
    is no input: a name may as well be that of a task or of a bundled model.
    """
    outputs = {option: path for option, path in writes.items() if path is not None}
    given = [Path(path) for path in reads if path is not None]
    inputs = {_identity(path, _STDIN): path for path in given if path == STANDARD or os.path.exists(path)}
    for option, path in outputs.items():
        source = inputs.get(_identity(path, _STDOUT))
        if source is not None:
            raise InputError(
                f"{option} {path} is the same file as {source}, which is read", hint="name another to write"
            )
    for (one, path), (other, second) in combinations(outputs.items(), 2):
        if _identity(path, _STDOUT) == _identity(second, _STDOUT):
            raise InputError(f"{one} {path} and {other} {second} are the same file", hint="name two")


def refuse_stdout(writes: Mapping[str, Path | None]) -> None:
    """Refuse `-` for outputs, by the option that names each, of a command whose stdout has something else to say."""
    for option, path in writes.items():
        if path == STANDARD:
            raise InputError(f"{option} -: the figures are written to stdout", hint="name a file for the page")


def _identity(path: Path, standard: int) -> object:
    """Return what all names of one file have in common; `standard` is the descriptor that `-` stands for."""
    try:
        found = os.fstat(standard) if path == STANDARD else os.stat(path)
    except OSError:  # not there yet
        return standard if path == STANDARD else os.path.realpath(path)
    if stat.S_ISREG(found.st_mode):
        return found.st_dev, found.st_ino
    return standard if path == STANDARD else object()
