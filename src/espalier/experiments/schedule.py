"""Which cells one process computes, and in which order: those that share what they learn, the longest first.

Cells of equal settings and run learn the same models, whatever table they are in, and a process remembers those; so
they go to one process, one after the other. The longest bundle is handed out first, so that all processes end at about
the same time: no later than 4/3 of the best schedule (Graham, 1969).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from espalier.experiments.cache import Cache, configuration
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Table

__all__ = ["Job", "bundles", "expected_minutes", "expected_seconds"]

Job: TypeAlias = "tuple[Table, Cell, Data, Cache | None]"


def bundles(todo: Sequence[Job]) -> list[list[Job]]:
    """Return the cells in bundles, each for one process, those that take longest first."""
    found: dict[str, list[Job]] = {}
    for job in todo:
        found.setdefault(_shared(job[0], job[1]), []).append(job)
    # Cells of one bundle but for the first cost little where they share everything; the sum is an upper bound.
    return sorted(found.values(), key=lambda bundle: -sum(map(expected_seconds, bundle)))


def _shared(table: Table, cell: Cell) -> str:
    """Return what a cell has in common with those that learn the same."""
    return table.together or json.dumps([cell.settings, cell.run], sort_keys=True)


def expected_minutes(tables: Iterable[Table], data: Data, cache: Cache) -> dict[str, float]:
    """Return what each table takes on one core, by name: from the cells that are kept, as far as there are any."""
    return {
        table.name: sum(expected_seconds((table, cell, data, cache)) for cell in table.to_run()) / 60.0
        for table in tables
    }


def expected_seconds(job: Job) -> float:
    """Return what a cell took when it was last computed, by whatever code; else its share of what the table takes."""
    table, cell, data, cache = job
    kept = None if cache is None else Cache(cache.directory, stale=True).load(configuration(table, cell, data))[0]
    return 60.0 * table.minutes / max(sum(1 for _ in table.to_run()), 1) if kept is None else kept.seconds
