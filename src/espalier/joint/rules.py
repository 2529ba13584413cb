"""Rules across layers: what they say, and how they are written.

    Live:   live-in joins person and location                                       [hard]
    Noun:   person of entities -> noun, name of words                               [penalty 2]
    Same:   same token -> same field of entities where token ~ /[A-Z].*/            [penalty 1.5]
    Speak:  same token -> same speaker of lines

One rule on each line, as in `espalier.rules.text`: a name and a colon, the rule, and its price in brackets. A rule
without a price costs 1 until one is counted or trained. `GRAMMAR` is the whole language; `joint.meaning` says what each
form means.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, RuleError, nearest
from espalier.rules.nodes import Fields
from espalier.rules.predicates import ALWAYS, Condition
from espalier.rules.reader import Scope, print_condition
from espalier.rules.ruleset import DEFAULT_PENALTY
from espalier.rules.text import LineReader, parse_rules, print_fields, print_name

__all__ = ["GRAMMAR", "Across", "Joins", "JointRule", "JointRules", "Same"]

GRAMMAR = r"""
line    = name ":" ( joins | across | same ) [ "[" ( "hard" | "penalty" number ) "]" ]
joins   = fields "joins" fields "and" fields
across  = fields "of" name "->" fields "of" name
same    = "same" "token" "->" "same" ( "field" | fields ) "of" name [ "where" condition ]
"""
"""EBNF; `fields`, `name` and `condition` are those of `espalier.rules.text`."""

_KEYWORDS = ("joins", "and", "of", "same", "token", "field", "where", "hard", "penalty")


@dataclass(frozen=True, slots=True)
class Joins:
    """A pair with one of these labels has a segment of `head` as its first place, and one of `tail` as its second."""

    labels: Fields
    head: Fields
    tail: Fields

    def __str__(self) -> str:
        """Return the text form."""
        return f"{print_fields(self.labels)} joins {print_fields(self.head)} and {print_fields(self.tail)}"


@dataclass(frozen=True, slots=True)
class Across:
    """A token that is in `given` in one layer is in `fields` in the other."""

    given: Fields
    layer: str
    fields: Fields
    other: str

    def __str__(self) -> str:
        """Return the text form."""
        here = f"{print_fields(self.given)} of {print_name(self.layer)}"
        return f"{here} -> {print_fields(self.fields)} of {print_name(self.other)}"


@dataclass(frozen=True, slots=True)
class Same:
    """Neighbours among equal tokens of a layer agree on their field; on these fields only, if any are named."""

    fields: Fields | None
    layer: str
    condition: Condition = ALWAYS

    def __str__(self) -> str:
        """Return the text form."""
        what = "field" if self.fields is None else print_fields(self.fields)
        where = "" if self.condition == ALWAYS else f" where token {print_condition(self.condition)}"
        return f"same token -> same {what} of {print_name(self.layer)}{where}"


JointNode: TypeAlias = Joins | Across | Same


@dataclass(frozen=True, slots=True)
class JointRule:
    """One rule across layers; penalty : natural-log units, >= 0, inf is hard, None leaves it to be learned."""

    name: str
    node: JointNode
    penalty: float | None = None

    def __post_init__(self) -> None:
        """Check the penalty."""
        if self.penalty is not None and not self.penalty >= 0:
            raise RuleError(f"rule {self.name!r}: penalty {self.penalty} must be zero or more (inf for a hard rule)")

    def __str__(self) -> str:
        """Return the rule's line of text."""
        price = {None: "", math.inf: "  [hard]"}.get(self.penalty, f"  [penalty {self.penalty!r}]")
        return f"{print_name(self.name)}: {self.node}{price}"


@dataclass(frozen=True, slots=True)
class JointRules:
    """Rules across layers, in order; names differ."""

    rules: tuple[JointRule, ...] = ()

    @classmethod
    def from_text(cls, text: str) -> JointRules:
        """Read one rule on each line."""
        found = parse_rules(text, Scope(directory=None), _JointReader, _KEYWORDS)
        return cls(tuple(JointRule(rule.name, rule.node, rule.penalty) for rule in found))

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in order."""
        return tuple(rule.name for rule in self.rules)

    @property
    def penalties(self) -> NDArray[np.float64]:
        """What one unit of each costs, float64[K]."""
        return np.array([DEFAULT_PENALTY if r.penalty is None else r.penalty for r in self.rules], dtype=np.float64)

    def with_penalties(self, penalties: Mapping[str, float | None]) -> JointRules:
        """Return the rules with other prices, by name; None leaves one to be learned."""
        for name in penalties:
            if name not in self.names:
                raise InputError(f"no rule is named {name!r}", hint=nearest(name, self.names))
        return JointRules(tuple(replace(r, penalty=penalties.get(r.name, r.penalty)) for r in self.rules))

    def __iter__(self) -> Iterator[JointRule]:
        """Iterate over the rules."""
        return iter(self.rules)

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.rules)

    def __str__(self) -> str:
        """Return the text form."""
        return "\n".join(map(str, self.rules))


class _JointReader(LineReader):
    """Recursive descent over the lexemes of one rule across layers."""

    example = "Live: live-in joins person and location"
    known = ("hard", "penalty")
    said = "hard and penalty 2.5"

    def rule(self) -> JointNode:
        """Read a rule without its name and its price."""
        return self.same() if self.take("same", "token") else self.joined()

    def same(self) -> Same:
        """Read what follows `same token`."""
        self.need("->")
        self.need("same")
        fields = None if self.take("field") else self.fields()
        self.need("of")
        layer = self.name("the name of a layer")
        return Same(fields, layer, self.condition() if self.take("where") else ALWAYS)

    def joined(self) -> Joins | Across:
        """Read a rule that begins with fields."""
        fields = self.fields()
        if self.take("joins"):
            head = self.fields()
            self.need("and")
            return Joins(fields, head, self.fields())
        if not self.take("of"):
            self.expected("'joins' or 'of'")
        layer = self.name("the name of a layer")
        self.need("->")
        then = self.fields()
        self.need("of")
        return Across(fields, layer, then, self.name("the name of a layer"))
