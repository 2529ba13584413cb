"""The tables of `docs/rules.md`, made from the code: `python -m espalier.decoders.reference docs/rules.md`.

Three tables stand in the page between `<!-- begin NAME -->` and `<!-- end NAME -->`: which form a kind of rule can be
lowered to, which decoder takes an example of each, and what the decoders are.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from espalier.decoders.table import DECODERS
from espalier.errors import InputError, did_you_mean
from espalier.rules.compile import compile_rules, support_table
from espalier.rules.nodes import NODE_TYPES, Node
from espalier.rules.ruleset import RuleSet

__all__ = ["EXAMPLES", "decoders", "decoding", "fill", "lowering"]

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
    """Return the table of node types and lowerings."""
    rows = [(f"`{name}`", *forms.values()) for name, forms in support_table().items()]
    return _table(("rule form", *next(iter(support_table().values()))), rows)


def decoding() -> str:
    """Return the table of node types and decoders: what each says about an example, and that example's form."""
    rows = []
    for node in NODE_TYPES:
        compiled = compile_rules(RuleSet.from_text(f"Example: {_example(node)}"), _LABELS)
        verdicts = ["yes" if decoder.accepts(compiled).ok else "no" for decoder in DECODERS.values()]
        rows.append((f"`{node.__name__}`", f"`{_example(node)}`", compiled.form[0], *verdicts))
    return _table(("rule form", "example", "lowered to", *DECODERS), rows)


def decoders() -> str:
    """Return the table of decoders."""
    rows = [(f"`{d.name}`", "yes" if d.exact else "no", d.summary) for d in DECODERS.values()]
    return _table(("method", "exact", "how"), rows)


def fill(page: str) -> str:
    """Return the page with its tables made anew; a marker that nothing is known for, or no marker, is an error."""
    tables = {"lowering": lowering, "decoding": decoding, "decoders": decoders}

    def fresh(match: re.Match[str]) -> str:
        name = match[1]
        if name not in tables:
            raise InputError(f"no table is named {name!r}{did_you_mean(name, tables) or '; known: ' + ', '.join(tables)}")
        return f"<!-- begin {name} -->\n{tables[name]()}\n<!-- end {name} -->"

    filled, found = re.subn(r"<!-- begin (\w+) -->.*?<!-- end \1 -->", fresh, page, flags=re.DOTALL)
    if not found:
        raise InputError("the page has no pair of markers <!-- begin NAME --> and <!-- end NAME -->")
    return filled


def _example(node: type[Node]) -> str:
    return EXAMPLES[node.__name__]


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Return a Markdown table."""
    head = list(head)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


if __name__ == "__main__":
    for place in map(Path, sys.argv[1:]):
        place.write_text(fill(place.read_text(encoding="utf-8")), encoding="utf-8")
