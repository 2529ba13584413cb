"""Rules: what a labelling should obey, written as text or in Python, with a price for breaking it.

`rules(text)` and the functions of the algebra build the nodes of `espalier.rules.nodes`; a `RuleSet` gives
them names and penalties; `violations` and `degree` are what they mean.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

from espalier.lazy import on_use
from espalier.rules import language
from espalier.rules.language import *  # noqa: F403 (every function of the algebra, so that its list stands once)
from espalier.rules.meaning import Violation, degree, degrees, violations
from espalier.rules.ruleset import Rule, RuleSet, rules

if TYPE_CHECKING:
    from espalier.rules.generators import count_templates, relation_templates

__all__ = [
    "Rule",
    "RuleSet",
    "Violation",
    "count_templates",
    "degree",
    "degrees",
    "relation_templates",
    "rules",
    "violations",
]
__all__ += language.__all__


class _Rules(ModuleType):
    """Lets `espalier.rules(text)` parse rules: the package and its main function share a name."""

    __call__ = staticmethod(rules)


sys.modules[__name__].__class__ = _Rules
__getattr__, __dir__ = on_use(__name__, {"count_templates": "generators", "relation_templates": "generators"})
