"""The tables of `docs/rules.md`, made from the code: `python scripts/rules_tables.py docs/rules.md`.

Two tables stand in the page between `<!-- begin NAME -->` and `<!-- end NAME -->`: which form a kind of rule can be
lowered to, and which kinds each decoder takes.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from espalier.decoders.table import DECODERS
from espalier.errors import InputError, nearest
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.lowering import FORMS, support_table
from espalier.rules.ruleset import RuleSet

_LABELS = ("title", "place", "number", "O")


def lowering() -> str:
    """Return the table of node types: an example, its form, and what each lowering does with the type."""
    forms = support_table()
    examples = {node.__name__: form.example for node, form in FORMS.items()}
    rows = [
        (f"`{name}`", f"`{text}`", _compiled(text).form[0], *forms[name].values()) for name, text in examples.items()
    ]
    return _table(("rule form", "example", "which is", *forms["Implies"]), rows)


def decoders() -> str:
    """Return the table of decoders: how each works, and of which node types it refuses the example."""
    rows = []
    for decoder in DECODERS.values():
        refused = [f"`{node.__name__}`" for node, f in FORMS.items() if not decoder.accepts(_compiled(f.example)).ok]
        exact = "yes" if decoder.exact else "no"
        rows.append((f"`{decoder.name}`", exact, decoder.summary, ", ".join(refused) or "none"))
    return _table(("method", "exact", "how", "examples it refuses"), rows)


def _compiled(example: str) -> Compiled:
    return compile_rules(RuleSet.from_text(f"Example: {example}"), _LABELS)


def fill(page: str) -> str:
    """Return the page with its tables made anew; a marker that nothing is known for, or no marker, is an error."""
    tables = {"lowering": lowering, "decoders": decoders}

    def fresh(match: re.Match[str]) -> str:
        name = match[1]
        if name not in tables:
            raise InputError(f"no table is named {name!r}", hint=nearest(name, tables, f"known: {', '.join(tables)}"))
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
