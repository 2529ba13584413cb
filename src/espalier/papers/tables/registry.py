"""Every table that can be computed anew, by name; its module is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from espalier.errors import InputError, nearest
from espalier.papers.tables.protocol import Table

__all__ = ["ALL", "BY_NAME_ONLY", "NAMES", "find_tables"]

MODULES = (
    ("ccm12_tables", tuple(f"ccm12-table{number}" for number in range(3, 11))),
    ("ccm12_inputs", tuple(f"ccm12-table{number}-inputs" for number in (3, 4, 6, 7, 8, 9))),
    ("ccm12_inputs", ("ccm12-choices", "ccm12-section5.2", "ccm12-decoders", "ccm12-smoothing")),
    ("ccm12_reasons", ("ccm12-reasons",)),
    ("ccm12_figures", tuple(f"ccm12-figure{number}" for number in range(2, 6))),
    ("ccm12_inputs", ("ccm12-table5-inputs", "ccm12-table10-inputs")),
    ("ccm12_inputs", tuple(f"ccm12-figure{number}-inputs" for number in range(2, 6))),
    ("codl07", ("codl07", "codl07-inputs", "codl07-curves", "codl07-curves-inputs")),
    ("sr10", ("sr10-table1",)),
    ("sdd14_tables", ("sdd14-table1", "sdd14-table2", "sdd14-table3", "sdd14-segmenter", "sdd14-rounds")),
    ("ilp14", ("ilp14", "ilp14-inputs")),
    ("sr10", ("sr10-inputs", "sr10-update")),
    ("sdd14_tables", ("sdd14-levels",)),
    ("sdd14_inputs", ("sdd14-inputs", "sdd14-orders", "sdd14-soft-dd", "sdd14-gaps")),
    ("sdd14_inputs", ("sdd14-table3-inputs", "sdd14-figure2")),
    ("conll04", ("conll04",)),
    ("names", ("names",)),
    ("ours", ("ours", "ours-confusion")),
    ("ours_umass", ("ours-umass",)),
)
"""The modules, and the names of tables that each has among its `TABLES`: a closed list in the order of the papers."""

NAMES = tuple(name for _, names in MODULES for name in names)

BY_NAME_ONLY = ("conll04", "names", "ours", "ours-confusion", "ours-umass")
"""Tables that are no paper's: computed only when they are asked for."""

ALL = "all"
"""A name for every table, those of `BY_NAME_ONLY` too."""


def find_tables(names: Iterable[str] = ()) -> list[Table]:
    """Return the named tables, each once and in the order of `NAMES`; if none is named, those of the papers."""
    chosen = [name for given in names for name in (NAMES if given == ALL else (given,))]
    for name in chosen:
        if name not in NAMES:
            raise InputError(f"no table is named {name!r}", hint=nearest(name, NAMES, f"tables: {', '.join(NAMES)}"))
    return [_table(name) for name in NAMES if (name in chosen if chosen else name not in BY_NAME_ONLY)]


def _table(name: str) -> Table:
    module = next(module for module, names in MODULES if name in names)
    tables: tuple[Table, ...] = import_module(f"espalier.papers.tables.{module}").TABLES
    return next(table for table in tables if table.name == name)
