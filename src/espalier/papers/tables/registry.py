"""Every table that can be computed anew, by name; its module is imported when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable

from espalier.errors import InputError, nearest
from espalier.papers.tables.protocol import Table
from espalier.registry import Registered, ours

__all__ = ["ALL", "BY_NAME_ONLY", "GROUPS", "TABLES", "find_tables", "group_of"]

TABLES = Registered("tables", Table)
"""Tables by name: ours in the order of the papers, then those that other packages bring."""

BY_NAME_ONLY = ("conll04", "names", "ours", "ours-confusion", "ours-umass")
"""Tables of ours that are no paper's: like those of others they are computed only when they are asked for."""

ALL = "all"
"""A name for every table, those that are no paper's, too."""

LIKE, OWN, BESTS = "like-for-like", "our-inputs", "bests"
GROUPS = (LIKE, OWN, BESTS)
"""Names for the tables of a page each: with the inputs of the papers, with ours, and what is no paper's."""

INPUTS = "-inputs"
ABOUT_INPUTS = (
    *("ccm12-choices", "ccm12-section5.2", "ccm12-decoders", "ccm12-smoothing", "ccm12-reasons", "sr10-update"),
    *("sdd14-orders", "sdd14-soft-dd", "sdd14-gaps", "sdd14-segmenter", "sdd14-figure2", "sdd14-repeated"),
)
"""Tables that have the papers' inputs, or are about them, whose names do not end so."""


def group_of(name: str) -> str:
    """Return the group of a table of ours."""
    if name in BY_NAME_ONLY:
        return BESTS
    return LIKE if name.endswith(INPUTS) or name in ABOUT_INPUTS else OWN


def find_tables(names: Iterable[str] = ()) -> list[Table]:
    """Return the named tables, each once and in the order of `TABLES`; if none is named, those of the papers.

    names : of tables or groups; a table that nobody has registered is named by its place, `module:object`.
    """
    chosen = [name for given in names for name in _meant(given)]
    for name in chosen:
        if ":" not in name and name not in TABLES:
            raise InputError(f"no table is named {name!r}", hint=nearest(name, TABLES, f"tables: {', '.join(TABLES)}"))
    if not chosen:
        return [TABLES[name] for name in ours("tables") if name not in BY_NAME_ONLY]
    order = {name: n for n, name in enumerate(TABLES)}
    return [TABLES.named(name) for name in sorted(dict.fromkeys(chosen), key=lambda name: order.get(name, len(order)))]


def _meant(given: str) -> Iterable[str]:
    """Return the names of the tables that a name stands for."""
    if given in GROUPS:
        return [name for name in ours("tables") if group_of(name) == given]
    return TABLES if given == ALL else (given,)
