"""Every table that can be computed anew, by name; its module is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable

from espalier.errors import InputError, nearest
from espalier.papers.tables.protocol import Table
from espalier.registry import Registered, ours

__all__ = ["ALL", "BY_NAME_ONLY", "TABLES", "find_tables"]

TABLES = Registered("tables", Table)
"""Tables by name: ours in the order of the papers, then those that other packages bring."""

BY_NAME_ONLY = ("conll04", "names", "ours", "ours-confusion", "ours-umass")
"""Tables of ours that are no paper's: like those of others they are computed only when they are asked for."""

ALL = "all"
"""A name for every table, those that are no paper's, too."""


def find_tables(names: Iterable[str] = ()) -> list[Table]:
    """Return the named tables, each once and in the order of `TABLES`; if none is named, those of the papers.

    names : a table that nobody has registered is named by its place, `module:object`.
    """
    chosen = [name for given in names for name in (TABLES if given == ALL else (given,))]
    for name in chosen:
        if ":" not in name and name not in TABLES:
            raise InputError(f"no table is named {name!r}", hint=nearest(name, TABLES, f"tables: {', '.join(TABLES)}"))
    if not chosen:
        return [TABLES[name] for name in ours("tables") if name not in BY_NAME_ONLY]
    order = {name: n for n, name in enumerate(TABLES)}
    return [TABLES.named(name) for name in sorted(dict.fromkeys(chosen), key=lambda name: order.get(name, len(order)))]
