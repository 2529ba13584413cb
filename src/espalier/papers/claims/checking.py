"""Do the figures that the page of claims is made from still come out of the code and the data that are here?

A place whose code or data have changed since is computed again. If the figures are the same, only its digests move on;
if they differ, that is said, place by place. So a figure is stale when computing it again gives another one, and the
digests only say where to look.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from espalier.papers.claims.claim import Spot
from espalier.papers.claims.kept import KeptPlace, changed, kept_places
from espalier.papers.tables.cache import Cache
from espalier.papers.tables.data import Data
from espalier.papers.tables.registry import find_tables
from espalier.papers.tables.runner import FailedCell, reproduce

__all__ = ["CellsChecked", "Difference", "check"]

SAME = 1e-3
"""Figures that differ by less are the same: sums in another order."""

CLOCKED = ("seconds", "ms a")
"""Words of rows and columns whose figures no machine gives twice."""


class Difference(NamedTuple):
    """A place, its figures as kept and as they come out now."""

    spot: Spot
    kept: tuple[float, ...]
    now: tuple[float, ...]

    def __str__(self) -> str:
        """Say what was and what is."""
        kept, now = (", ".join(f"{figure:.3f}" for figure in figures) for figures in (self.kept, self.now))
        return f"{', '.join(self.spot)}: kept {kept}; now {now}"


class CellsChecked(NamedTuple):
    """How many places were computed again, which differ, what failed, and all places as they should be kept now."""

    computed: int
    differences: list[Difference]
    failures: tuple[FailedCell, ...]
    places: dict[Spot, KeptPlace]


def check(
    places: Mapping[Spot, KeptPlace],
    data: Data,
    *,
    sample: int | None = None,
    jobs: int = 1,
    cache: Cache | None = None,
    news: Callable[[str], None] | None = None,
) -> CellsChecked:
    """Compute places again: those that code or data of other digests made, or `sample` of all, evenly spread."""
    steady = [spot for spot in sorted(places) if not any(word in f"{spot.row} {spot.column}" for word in CLOCKED)]
    tables = {name: find_tables([name])[0] for name in dict.fromkeys(spot.table for spot in steady)}
    if sample is None:
        chosen = [spot for spot in steady if changed(spot, places[spot], tables[spot.table], data)]
    else:
        chosen = steady[:: max(1, len(steady) // sample)][:sample]
    cells = {(spot.table, *places[spot].by) for spot in chosen}
    used = [table for name, table in tables.items() if any(name == cell[0] for cell in cells)]
    found = reproduce(
        used, data, jobs=jobs, cache=cache, news=news, chosen=lambda cell: (cell.table, cell.row, cell.column) in cells
    )
    now = kept_places(used, found.done, data, chosen)
    different = [
        Difference(spot, places[spot].figures, one.figures) for spot, one in now.items() if _differs(places[spot], one)
    ]
    moved = {spot: replace(places[spot], code=one.code, data=one.data) for spot, one in now.items()}
    moved |= {one.spot: now[one.spot] for one in different}
    return CellsChecked(len(now), different, found.failures, dict(places) | moved)


def _differs(kept: KeptPlace, now: KeptPlace) -> bool:
    pairs = zip(kept.figures, now.figures, strict=False)
    return len(kept.figures) != len(now.figures) or any(abs(a - b) > SAME for a, b in pairs)
