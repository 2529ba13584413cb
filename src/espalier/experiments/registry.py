"""Every table that can be computed anew, by name: `ccm12-table3` is `TABLE` of the module `ccm12_table3`."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from espalier.errors import InputError, did_you_mean
from espalier.experiments.protocol import Table

__all__ = ["ALL", "BY_NAME_ONLY", "NAMES", "find_tables"]

NAMES = (
    "ccm12-table3",
    "ccm12-table4",
    "ccm12-table5",
    "ccm12-table6",
    "ccm12-table7",
    "ccm12-table8",
    "ccm12-table9",
    "ccm12-table10",
    "ccm12-figure2",
    "ccm12-figure3",
    "ccm12-figure4",
    "ccm12-figure5",
    "codl07",
    "sr10-table1",
    "sdd14-table1",
    "sdd14-table2",
    "sdd14-table3",
    "ilp14",
    "ours",
    "ours-confusion",
)
"""A closed list, in the order of the papers; a new table is a module and a line here."""

BY_NAME_ONLY = ("ours", "ours-confusion")
"""Tables that are no paper's and take long: computed only when they are asked for."""

ALL = "all"
"""A name for every table, those of `BY_NAME_ONLY` too."""


def find_tables(names: Iterable[str] = ()) -> list[Table]:
    """Return the named tables, each once and in the order of `NAMES`; if none is named, those of the papers."""
    chosen = [name for given in names for name in (NAMES if given == ALL else (given,))]
    for name in chosen:
        if name not in NAMES:
            raise InputError(
                f"no table is named {name!r}{did_you_mean(name, NAMES) or '; tables: ' + ', '.join(NAMES)}"
            )
    return [_table(name) for name in NAMES if (name in chosen if chosen else name not in BY_NAME_ONLY)]


def _table(name: str) -> Table:
    table = import_module(f"espalier.experiments.{name.replace('-', '_')}").TABLE
    assert isinstance(table, Table)
    assert table.name == name
    return table
