"""The figures that the page of claims is made from, as a file: places with their runs, and by test sequence.

A place knows the code and the data that it came from, by digests. Where one of them differs from what is here now,
`changed` says so; whether the figure differs, too, is known when the cell has been computed again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from espalier.errors import FormatError
from espalier.papers.claims.claim import Spot
from espalier.papers.tables.data import Data
from espalier.papers.tables.protocol import Place, Table
from espalier.papers.tables.runner import Done
from espalier.text_files import write_chunks

__all__ = ["KeptPlace", "cells_for", "changed", "kept_places", "read_places", "write_places"]

DIGITS = 6


@dataclass(frozen=True, slots=True)
class KeptPlace:
    """The figures of a place run by run; up, down : their ratio by test sequence, summed over runs, empty if not known.

    by : the cell that measured it. code, data : digests of what it came from.
    """

    figures: tuple[float, ...]
    up: tuple[float, ...]
    down: tuple[float, ...]
    scale: float
    by: Place
    code: str
    data: Mapping[str, str]


def kept_places(
    tables: Iterable[Table], done: Iterable[Done], data: Data, wanted: Iterable[Spot]
) -> dict[Spot, KeptPlace]:
    """Return the wanted places of computed cells."""
    by_name, asked = {table.name: table for table in tables}, set(wanted)
    runs: dict[Spot, dict[int, Any]] = {}
    for cell, outcome in done:
        for (row, column), figure in outcome.figures.items():
            spot = Spot(cell.table, row, column)
            if spot in asked:
                ratio = outcome.ratios.get((row, column))
                runs.setdefault(spot, {})[cell.run] = (figure, ratio, (cell.row, cell.column), outcome.code)
    found = {}
    for spot, several in runs.items():
        table, one = by_name[spot.table], [several[run] for run in sorted(several)]
        if len(one) < sum((cell.row, cell.column) == one[0][2] for cell in table.to_run()):
            continue  # not all runs yet: their mean would be that of other subsets
        ratios = [ratio for _, ratio, _, _ in one if ratio is not None]
        up: tuple[float, ...] = ()
        down: tuple[float, ...] = ()
        scale = 1.0
        if len(ratios) == len(one):
            up, down = (
                tuple(map(sum, zip(*parts, strict=True)))
                for parts in zip(*((r.up, r.down) for r in ratios), strict=True)
            )
            scale = ratios[0].scale
        digests = {split: data.digest(split) for split in table.needs}
        codes = {code for *_, code in one}
        code = codes.pop() if len(codes) == 1 else ""
        figures = tuple(round(figure, DIGITS) for figure, *_ in one)
        found[spot] = KeptPlace(figures, up, down, scale, one[0][2], code, digests)
    return found


def cells_for(tables: Iterable[Table], wanted: Iterable[Spot]) -> set[Spot]:
    """Return the cells that may measure the wanted places: each its own, or those nearby that fill it along."""
    by_name, found = {table.name: table for table in tables}, set[Spot]()
    for spot in (spot for spot in wanted if spot.table in by_name):
        table = by_name[spot.table]
        found |= {Spot(table.name, *cell) for cell in _nearest(spot, table.cells or tuple(table.places))}
    return found


def _nearest(spot: Spot, cells: Sequence[Place]) -> Sequence[Place]:
    """Return the cells of a place; if none has it, those of its row, else of its column and domain, else all."""
    domain = spot.row.partition(",")[0]
    rules: tuple[Callable[[Place], bool], ...] = (
        lambda cell: cell == (spot.row, spot.column),
        lambda cell: cell[0] == spot.row,
        lambda cell: cell[1] == spot.column and cell[0].partition(",")[0] == domain,
        lambda cell: cell[1] == spot.column,
    )
    return next((chosen for rule in rules if (chosen := [cell for cell in cells if rule(cell)])), cells)


def changed(spot: Spot, one: KeptPlace, table: Table, data: Data) -> bool:
    """Has the code or the data of a place changed since it was computed?"""
    return one.code != table.code or one.data != {split: data.digest(split) for split in table.needs}


def write_places(path: Path, places: Mapping[Spot, KeptPlace]) -> None:
    """Write places as JSON, a line each; what many have in common is written once."""
    shared: list[Any] = []

    def number(value: Any) -> int:
        if value not in shared:
            shared.append(value)
        return shared.index(value)

    rows = [
        [*spot, list(one.by), list(one.figures), _whole(one.up), number(_whole(one.down)), one.scale, number(one.code),
         number(dict(one.data))]
        for spot, one in sorted(places.items())
    ]  # fmt: skip
    lines = [json.dumps(one, separators=(",", ":")) for one in (*shared, *rows)]
    cut = len(shared)
    text = '{"shared":[\n' + ",\n".join(lines[:cut]) + '\n],"places":[\n' + ",\n".join(lines[cut:]) + "\n]}\n"
    write_chunks(path, [text], "utf-8")


def _whole(numbers: Iterable[float]) -> list[float]:
    """Return whole numbers as such: they are counts."""
    return [int(one) if float(one).is_integer() else round(float(one), DIGITS) for one in numbers]


def read_places(path: Path) -> dict[Spot, KeptPlace]:
    """Read what `write_places` wrote."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        shared = found["shared"]
        return {
            Spot(table, row, column): KeptPlace(
                tuple(figures), tuple(up), tuple(shared[down]), float(scale), (by[0], by[1]), shared[code], shared[data]
            )
            for table, row, column, by, figures, up, down, scale, code, data in found["places"]
        }
    except (OSError, ValueError, TypeError, KeyError, IndexError) as error:
        raise FormatError(f"these are no cells of claims: {error}", path=str(path)) from None
