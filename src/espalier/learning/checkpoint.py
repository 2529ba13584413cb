"""A training run on disk: what an interrupted run goes on from, to the same bits as if it had never stopped.

The file is one of `espalier.store`: weights, moments of the search, their average, the best epoch so far, the history.
A key says of which run: a digest of the data, the plan and the weights at the start. A file of another run is refused.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier import store
from espalier.errors import InputError
from espalier.learning.net_training import NetData, Progress, Run, TrainingPlan
from espalier.models.conv import ConvShape

__all__ = ["resumed", "run_key", "stored"]

KIND = "net_training"
_TABLES = ("weights", "m", "v", "mean", "best")


def run_key(shape: ConvShape, plan: TrainingPlan, data: NetData, run: Run) -> str:
    """Return a digest of everything that decides what a run finds."""
    digest = hashlib.sha256(repr((asdict(shape), asdict(plan))).encode())

    def add(array: NDArray[Any]) -> None:
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).data)

    for field in fields(data):
        value = getattr(data, field.name)
        if isinstance(value, np.ndarray):
            add(value)
        elif value is not None:
            for inner in fields(value):
                add(getattr(value, inner.name))
    for table in (run.weights, run.search.centre):
        for name in sorted(table):
            add(table[name])
    return digest.hexdigest()


def stored(path: str | os.PathLike[str], key: str, run: Run) -> None:
    """Write a run to a file, whole or not at all."""
    header = {
        "kind": KIND, "key": key, "epoch": run.epoch, "since": run.since, "best_score": run.best_score,
        "steps": run.search.steps, "history": [list(seen) for seen in run.history],
    }  # fmt: skip
    arrays: dict[str, NDArray[Any]] = {}
    for table, held in zip(_TABLES, (run.weights, run.search.m, run.search.v, run.mean, run.best), strict=True):
        arrays |= {f"{table}/{name}": array for name, array in (held or {}).items()}
    store.save(path, header, arrays)


def resumed(path: str | os.PathLike[str], key: str, run: Run) -> bool:
    """Bring a run to where the file has it; False if there is no file."""
    if not Path(path).exists():
        return False
    header, arrays = store.load(path)
    if header.get("kind") != KIND or header.get("key") != key:
        raise InputError(
            f"{os.fspath(path)!r} was written by a run with other data or parameters",
            hint="name another file for the checkpoint, or delete this one",
        )
    tables: dict[str, dict[str, NDArray[Any]]] = {table: {} for table in _TABLES}
    for full, array in arrays.items():
        table, name = full.split("/", 1)
        tables[table][name] = np.array(array)
    run.weights.update(tables["weights"])
    run.search.m, run.search.v, run.search.steps = tables["m"], tables["v"], header["steps"]
    run.mean, run.best = tables["mean"] or None, tables["best"] or None
    run.epoch, run.since, run.best_score = header["epoch"], header["since"], header["best_score"]
    run.history = [Progress(*seen) for seen in header["history"]]
    return True
