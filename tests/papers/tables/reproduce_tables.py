"""A small table with its own data, and data directories: what the tests of the runner share."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Place, Table


def write_split(directory: Path, split: str, records: list[Mapping[str, Any]]) -> Path:
    name, part = split.split("/")
    path = directory / name / "normalised" / f"{part}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def settings(row: str, column: str) -> dict[str, Any]:
    return {"factor": {"half": 0.5, "twice": 2.0, "broken": 0.0, "fatal": -1.0}[row]}


def measure(data: Data, cell: Cell) -> float | dict[Place, float]:
    """A figure that depends on everything it may depend on: row, column, run and data."""
    tokens = data.corpus("toy/train", None).n_tokens
    if cell.settings["factor"] == 0:
        raise ValueError("no factor")
    if cell.settings["factor"] < 0:
        os._exit(1)
    value = cell.settings["factor"] * tokens * int(cell.column) + cell.run
    if cell.column == "3":
        return {(cell.row, "3"): value, (cell.row, "extra"): -value}
    return value


def table(*rows: str) -> Table:
    figures = {"1": 1.5, "3": 2.5, "extra": None}
    return Table(
        name="toy",
        title="A toy",
        source="nobody",
        metric="points",
        minutes=0.01,
        needs=("toy/train",),
        published=dict.fromkeys(rows or ("half", "twice"), figures),
        settings=settings,
        measure=measure,
        cells=tuple((row, column) for row in rows or ("half", "twice") for column in ("1", "3")),
        once=frozenset({"1"}),
        quick=("3",),
    )
