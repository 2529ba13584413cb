"""Copies of a project: made while a server works on it, and put in place of what is there."""

from __future__ import annotations

import os
import shutil
from datetime import datetime, timezone
from pathlib import Path

from espalier.errors import InputError
from espalier.server.database import FILE, Database, ProjectLock, check_file, copy_file

__all__ = ["back_up", "restore"]


def back_up(project: Path, target: Path) -> Path:
    """Copy a project as it is at this moment to a file that is not there yet, whole or not at all; return it."""
    source = project / FILE
    if not source.exists():
        raise InputError(f"{project} is not a project: there is no {FILE}", hint="say which with --project")
    if target.exists():
        raise InputError(f"{target} is there already", hint="choose another name, or move it away")
    part = target.with_name(f".{target.name}.part")
    part.unlink(missing_ok=True)
    try:
        copy_file(source, part)
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror}", hint="choose another place") from None
    finally:
        part.unlink(missing_ok=True)
    return target


def restore(project: Path, source: Path) -> Path | None:
    """Put a copy in place of a project; return where the project that was there lies now, None if there was none."""
    if not source.is_file():
        raise InputError(f"{source}: there is no such file", hint="name a file that serve --backup has written")
    try:
        check_file(source)
    except InputError as error:
        raise InputError(error.what, hint="name a file that serve --backup has written") from None
    try:
        project.mkdir(parents=True, exist_ok=True)
        lock = ProjectLock(project)
    except OSError as error:
        raise InputError(f"{project}: cannot be a project: {error.strerror}", hint="choose another --project") from None
    try:
        return _replaced(project, source)
    except OSError as error:
        raise InputError(
            f"{project}: cannot be written: {error.strerror}", hint="look at its disk and rights"
        ) from None
    finally:
        lock.release()


def _replaced(project: Path, source: Path) -> Path | None:
    """Copy first, move the old files aside then: killed in between, either project is whole."""
    target, part = project / FILE, project / f".{FILE}.part"
    shutil.copyfile(source, part)
    with open(part, "rb+") as file:
        os.fsync(file.fileno())
    aside = None
    if target.exists():
        stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S-%f")
        aside = project / f"before-restore-{stamp}"
        aside.mkdir()
        for name in (FILE, f"{FILE}-wal", f"{FILE}-shm"):
            if (project / name).exists():
                os.replace(project / name, aside / name)
    os.replace(part, target)
    Database(project, member=True).close()  # brings an older one to this version
    return aside
