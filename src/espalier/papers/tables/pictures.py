"""Pictures of tables, drawn from their figures: which ones, a table declares (`Table.charts`).

    curves       a line for each row over columns that are numbers, the paper's figures dashed; one picture for a group
                 of rows ("citations, HMM" is in group "citations"), without rows that have half of the columns or fewer
    gains        what each row has more than the first one, a bar for each column
    reduction    the share of errors that a row X-CCM has less than the row X
    losses       what rows with fewer columns than the first of their group have less than that, where all have figures
    confusion    counts of columns in rows, as shades

Pages and documents show the same drawings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from espalier.errors import InputError
from espalier.pages import Bars, Drawing, Line, draw_bars, draw_heat, draw_lines
from espalier.papers.tables.protocol import Place, Result, Table

__all__ = ["Picture", "pictures"]

PAPER = "paper"
RULED = "-CCM"


class Picture(NamedTuple):
    """A drawing with the name of its file, without suffix."""

    name: str
    drawing: Drawing


def pictures(table: Table, results: Sequence[Result], charts: Mapping[str, str] | None = None) -> list[Picture]:
    """Return the pictures that a table declares, or the given ones, as far as there are figures for them.

    charts : kind of picture -> what its axis is called. Results of other tables are passed over.
    """
    own = [result for result in results if result.table == table.name]
    found: list[Picture] = []
    for kind, axis in (table.charts if charts is None else charts).items():
        if kind not in _KINDS:
            raise InputError(f"table {table.name} declares a chart {kind!r}", hint=f"there are {', '.join(_KINDS)}")
        found += _KINDS[kind](table, own, axis)
    return found


def _groups(results: Sequence[Result]) -> dict[str, dict[str, list[Result]]]:
    """Return group -> name -> results, in order: "citations, HMM" is HMM of the group "citations"."""
    groups: dict[str, dict[str, list[Result]]] = {}
    for result in results:
        group, comma, name = result.row.partition(", ")
        group, name = (group, name) if comma else ("", group)
        groups.setdefault(group, {}).setdefault(name, []).append(result)
    return groups


def _named(table: Table, group: str) -> tuple[str, str]:
    """Return the file's name and the title of a picture of a group of rows."""
    return (f"{table.name}-{group}", f"{table.name}, {group}") if group else (table.name, table.name)


def _curves(table: Table, results: Sequence[Result], axis: str) -> Iterator[Picture]:
    groups = _groups([result for result in results if _is_number(result.column)])
    for group, every in groups.items():
        most = max(map(len, every.values()))
        if most < 2 or (len(every) == 1 and len(groups) > 1):  # a row of its own, such as one of seconds
            continue
        rows = {name: row for name, row in every.items() if 2 * len(row) > most}
        ours = [Line(name, [(float(r.column), r.ours) for r in row]) for name, row in rows.items()]
        file, title = _named(table, group)
        yield Picture(file, draw_lines(title, [*ours, *_published(rows)], x=axis, y=table.metric, evenly=True))


def _published(rows: Mapping[str, Sequence[Result]]) -> list[Line]:
    """Return the paper's lines, as those of the rows that they stand beside; the same figures are drawn once."""
    owners: dict[tuple[tuple[float, float], ...], list[int]] = {}
    for k, row in enumerate(rows.values()):
        points = tuple((float(r.column), r.paper) for r in row if r.paper is not None)
        if len(points) > 1:
            owners.setdefault(points, []).append(k)
    names = list(rows)
    return [
        Line(PAPER if len(own) > 1 else f"{names[own[0]]}, {PAPER}", points, dashed=True, like=own[0])
        for points, own in owners.items()
    ]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _gains(table: Table, results: Sequence[Result], axis: str) -> Iterator[Picture]:
    places = _places(results)
    rows, columns = _distinct(results)
    series = []
    for column in columns:
        base = places.get((rows[0], column))
        if base is None:
            continue
        beside = [places.get((row, column)) for row in rows[1:]]
        series.append(
            Bars(
                column,
                [None if r is None else r.ours - base.ours for r in beside],
                [None if r is None or r.paper is None or base.paper is None else r.paper - base.paper for r in beside],
            )
        )
    if len(rows) > 1 and series:
        yield Picture(table.name, draw_bars(table.name, rows[1:], series, x=axis, given=PAPER))


def _reduction(table: Table, results: Sequence[Result], axis: str) -> Iterator[Picture]:
    for group, rows in _groups(results).items():
        pairs = [(name, name + RULED) for name in rows if name + RULED in rows]
        columns = list(dict.fromkeys(r.column for row in rows.values() for r in row))
        series = []
        for plain, ruled in pairs:
            before, after = ({r.column: r for r in rows[name]} for name in (plain, ruled))
            both = [(before.get(column), after.get(column)) for column in columns]
            series.append(Bars(ruled, [_less(pair, "ours") for pair in both], [_less(pair, "paper") for pair in both]))
        if series:
            file, title = _named(table, group)
            groups = [f"{column} labelled" for column in columns]
            yield Picture(f"{file}-errors", draw_bars(f"{title}: errors", groups, series, x=axis, given=PAPER))


def _less(pair: tuple[Result | None, Result | None], which: str) -> float | None:
    """Return by how many percent the errors of the second figure are fewer than those of the first."""
    before, after = (None if result is None else getattr(result, which) for result in pair)
    return None if before is None or after is None or before >= 100.0 else 100.0 * (after - before) / (100.0 - before)


def _losses(table: Table, results: Sequence[Result], axis: str) -> Iterator[Picture]:
    for group, rows in _groups(results).items():
        first, whole = next(iter(rows.items()))
        names = [name for name, row in rows.items() if len(row) < len(whole)]
        places = {(name, r.column): r.ours for name, row in rows.items() for r in row}
        # A row that lacks what most others have is no part left out.
        columns = [r.column for r in whole if 2 * sum((name, r.column) in places for name in names) > len(names)]
        names = [name for name in names if all((name, column) in places for column in columns)]
        if names and columns:
            series = [
                Bars(f"{column} labelled", [places[first, column] - places[name, column] for name in names])
                for column in columns
            ]
            file, title = _named(table, group)
            yield Picture(f"{file}-parts", draw_bars(f"{title}: {first} and less", names, series, x=axis))


def _confusion(table: Table, results: Sequence[Result], axis: str) -> Iterator[Picture]:
    places = _places(results)
    rows, columns = _distinct(results)
    if all((row, column) in places for row in rows for column in columns) and rows:
        counts = [[places[row, column].ours for column in columns] for row in rows]
        yield Picture(table.name, draw_heat(table.name, rows, columns, counts, x=axis))


def _places(results: Sequence[Result]) -> dict[Place, Result]:
    return {(result.row, result.column): result for result in results}


def _distinct(results: Sequence[Result]) -> tuple[list[str], list[str]]:
    """Return the rows and the columns, each once and in order."""
    return list(dict.fromkeys(r.row for r in results)), list(dict.fromkeys(r.column for r in results))


_KINDS: Mapping[str, Callable[[Table, Sequence[Result], str], Iterator[Picture]]] = {
    "curves": _curves, "gains": _gains, "reduction": _reduction, "losses": _losses, "confusion": _confusion,
}  # fmt: skip
