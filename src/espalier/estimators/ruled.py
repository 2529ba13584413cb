"""Rules as an estimator is given them: a set or its text, compiled for the labels of the training set."""

from __future__ import annotations

from espalier.corpus import Labels
from espalier.errors import Argument, InputError, RuleError
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import RuleSet

__all__ = ["compiled_rules", "rule_set"]


def rule_set(rules: RuleSet | str) -> RuleSet:
    """Return rules as a set."""
    chosen = RuleSet.from_text(rules) if isinstance(rules, str) else rules
    if not isinstance(chosen, RuleSet):
        raise InputError(f"rules are a RuleSet or its text, not {type(rules).__name__}")
    return chosen


def compiled_rules(rules: RuleSet | str, labels: Labels) -> Compiled:
    """Compile rules; a label that only the training set lacks is the likeliest reason of a failure."""
    chosen = rule_set(rules)
    try:
        return compile_rules(chosen, labels)
    except RuleError as error:
        listing = Argument("fit", "labels", said="pass labels= to fit")
        raise error.noted("if the training set happens to lack it, ", listing) from None
