"""Texts to begin with, for the tasks that come with the library; one a line, of our own making."""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

__all__ = ["examples"]


@lru_cache(maxsize=64)
def examples(task: str) -> tuple[str, ...]:
    """Return the texts for a task; none for tasks of your own."""
    file = resources.files("espalier.workbench.examples") / f"{task}.txt"
    if not file.is_file():
        return ()
    return tuple(line for line in file.read_text(encoding="utf-8").split("\n") if line.strip())
