"""The tables of `docs/rules.md`, made from the code: `python -m espalier.decoders.reference docs/rules.md`.

Two tables stand in the page between `<!-- begin NAME -->` and `<!-- end NAME -->`: which form a kind of rule can be
lowered to, and which kinds each decoder takes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from espalier.decoders.table import DECODERS
from espalier.errors import InputError, did_you_mean
from espalier.rules.compile import Compiled, compile_rules, support_table
from espalier.rules.ruleset import RuleSet

__all__ = ["EXAMPLES", "decoders", "fill", "lowering"]

EXAMPLES = {
    "Implies": 'token in "no" -> number',
    "Change": "change only after is punctuation",
    "Once": "title once",
    "Length": "length(title) >= 2",
    "Linear": "count(title) + count(place) <= 1",
    "Before": "title before place",
    "Later": "title followed later by place",
    "Exists": 'any token in "no"',
    "If": 'if any token in "no" then number required',
    "All": "number required and title once",
    "Any": "number required or title once",
    "Not": "not title once",
}
"""A rule of each node type, by its name."""

_LABELS = ("title", "place", "number", "O")


def lowering() -> str:
    """Return the table of node types: an example, its form, and what each lowering does with the type."""
    forms = support_table()
    rows = [(f"`{name}`", f"`{EXAMPLES[name]}`", _compiled(name).form[0], *forms[name].values()) for name in EXAMPLES]
    return _table(("rule form", "example", "which is", *forms["Implies"]), rows)


def decoders() -> str:
    """Return the table of decoders: how each works, and of which node types it refuses the example."""
    rows = []
    for decoder in DECODERS.values():
        refused = [f"`{name}`" for name in EXAMPLES if not decoder.accepts(_compiled(name)).ok]
        exact = "yes" if decoder.exact else "no"
        rows.append((f"`{decoder.name}`", exact, decoder.summary, ", ".join(refused) or "none"))
    return _table(("method", "exact", "how", "examples it refuses"), rows)


def _compiled(name: str) -> Compiled:
    return compile_rules(RuleSet.from_text(f"Example: {EXAMPLES[name]}"), _LABELS)


def fill(page: str) -> str:
    """Return the page with its tables made anew; a marker that nothing is known for, or no marker, is an error."""
    tables = {"lowering": lowering, "decoders": decoders}

    def fresh(match: re.Match[str]) -> str:
        name = match[1]
        if name not in tables:
            raise InputError(
                f"no table is named {name!r}{did_you_mean(name, tables) or '; known: ' + ', '.join(tables)}"
            )
        return f"<!-- begin {name} -->\n{tables[name]()}\n<!-- end {name} -->"

    filled, found = re.subn(r"<!-- begin (\w+) -->.*?<!-- end \1 -->", fresh, page, flags=re.DOTALL)
    if not found:
        raise InputError("the page has no pair of markers <!-- begin NAME --> and <!-- end NAME -->")
    return filled


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    head = list(head)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


if __name__ == "__main__":
    for place in map(Path, sys.argv[1:]):
        place.write_text(fill(place.read_text(encoding="utf-8")), encoding="utf-8")
