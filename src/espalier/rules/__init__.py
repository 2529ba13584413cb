"""Rules: what a labelling should obey, written as text or in Python, with a price for breaking it.

`rules(text)` and the functions of the algebra build the nodes of `espalier.rules.nodes`; a `RuleSet` gives
them names and penalties; `violations` and `degree` are what they mean.
"""

from espalier.rules.generators import count_templates, relation_templates
from espalier.rules.language import (
    any_token,
    before,
    change_only,
    count,
    excludes,
    fields,
    first,
    followed_by,
    following,
    label,
    last,
    length,
    once,
    precedes,
    previous,
    required,
    requires,
    span,
    text,
    token,
    tokens,
    when,
)
from espalier.rules.meaning import Violation, degree, degrees, violations
from espalier.rules.ruleset import Rule, RuleSet, rules

__all__ = [
    "Rule",
    "RuleSet",
    "Violation",
    "any_token",
    "before",
    "change_only",
    "count",
    "count_templates",
    "degree",
    "degrees",
    "excludes",
    "fields",
    "first",
    "followed_by",
    "following",
    "label",
    "last",
    "length",
    "once",
    "precedes",
    "previous",
    "relation_templates",
    "required",
    "requires",
    "rules",
    "span",
    "text",
    "token",
    "tokens",
    "violations",
    "when",
]
