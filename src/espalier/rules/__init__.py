"""Rules: what a labelling should obey, written as text or in Python, with a price for breaking it.

`rules(text)` and the functions of the algebra build the nodes of `espalier.rules.nodes`; a `RuleSet` gives
them names and penalties; `violations` and `degree` are what they mean.
"""

import sys
from types import ModuleType

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
    text_matches,
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
    "text_matches",
    "token",
    "tokens",
    "violations",
    "when",
]


class _Rules(ModuleType):
    """Lets `espalier.rules(text)` parse rules: the package and its main function share a name."""

    __call__ = staticmethod(rules)


sys.modules[__name__].__class__ = _Rules
