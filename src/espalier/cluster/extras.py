"""Packages that only this layer needs, imported when they are: joblib, Dask, fsspec, pyarrow."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from espalier.errors import MissingExtraError

__all__ = ["need"]


def need(module: str) -> Any:
    """Return a module by its dotted name; if its package is not installed, say how to get it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        raise MissingExtraError(
            f"work over several processes needs the package {missing!r}; run: pip install 'espalier[cluster]'"
        ) from error
