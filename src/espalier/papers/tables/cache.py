"""Finished cells on disk: a JSON file each, named by the hash of everything that the figures depend on.

The configuration of a cell is its table, place, run and settings, and the digests of the data files. The code that
computed it is noted beside the figures: those of other code are stale, and computed anew unless asked for. Files are
written whole or not at all; one that cannot be understood counts as absent, and is said to be so.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Cell, Place, Table
from espalier.text_files import write_chunks

__all__ = ["Cache", "Outcome", "code_digest", "configuration"]


class Outcome(NamedTuple):
    """The figures of a cell, the seconds of one core that it took, and the warnings on the way."""

    figures: Mapping[Place, float]
    seconds: float
    notes: tuple[str, ...] = ()


def configuration(table: Table, cell: Cell, data: Data) -> dict[str, Any]:
    """Return all that a cell's figures depend on, as JSON values; the code of another package's table among them."""
    module = sys.modules[table.measure.__module__]
    foreign = module.__name__.partition(".")[0] != "espalier" and module.__file__ is not None
    return {
        **({"code": hashlib.sha256(Path(str(module.__file__)).read_bytes()).hexdigest()} if foreign else {}),
        "table": cell.table,
        "row": cell.row,
        "column": cell.column,
        "run": cell.run,
        "settings": json.loads(json.dumps(cell.settings, allow_nan=False)),
        "data": {split: data.digest(split) for split in table.needs},
    }


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return a SHA-256 over the sources of the library."""
    root = Path(__file__).resolve().parents[2]
    h = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".toml", ".rules"):
            h.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return h.hexdigest()


@dataclass(frozen=True, slots=True)
class Cache:
    """A directory of finished cells; stale : also take figures that other code computed."""

    directory: Path
    stale: bool = False

    def path(self, settings: Mapping[str, Any]) -> Path:
        """Return the file of a configuration."""
        text = json.dumps(settings, sort_keys=True, allow_nan=False)
        return self.directory / f"{hashlib.sha256(text.encode()).hexdigest()[:40]}.json"

    def load(self, settings: Mapping[str, Any]) -> tuple[Outcome | None, str]:
        """Return what is kept for a configuration, None if nothing usable is; and why not, if that is worth saying."""
        path = self.path(settings)
        try:
            kept = json.loads(path.read_text(encoding="utf-8"))
            figures = {(str(row), str(column)): float(value) for row, column, value in kept["figures"]}
            outcome = Outcome(figures, float(kept["seconds"]), tuple(map(str, kept["notes"])))
            sound = kept["configuration"] == settings and all(map(math.isfinite, figures.values()))
            code = str(kept["code"])
        except FileNotFoundError:
            return None, ""
        except (OSError, ValueError, TypeError, KeyError):
            return None, f"{path}: not a whole result; it is computed anew"
        if not sound:
            return None, f"{path}: the result of something else; it is computed anew"
        return (outcome, "") if self.stale or code == code_digest() else (None, "")

    def store(self, settings: Mapping[str, Any], outcome: Outcome) -> None:
        """Keep an outcome; whoever reads the directory at the same time sees all of it or nothing."""
        self.directory.mkdir(parents=True, exist_ok=True)
        kept = {
            "configuration": settings,
            "code": code_digest(),
            "figures": [[row, column, value] for (row, column), value in outcome.figures.items()],
            "seconds": outcome.seconds,
            "notes": list(outcome.notes),
        }
        write_chunks(self.path(settings), [json.dumps(kept, indent=1) + "\n"], "utf-8")
