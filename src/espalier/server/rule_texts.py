"""Rules as people write them: what a text says line by line, what each rule costs now, and who says so.

A penalty comes from the slider, else from the text, else from the model if it has learned one for this very rule, else
it is the library's default. A rule that is switched off costs 0: it stays compiled, and its violations are counted.
Word lists in files are not read: a page must not open files of the machine that it runs on.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache
from typing import Literal

from espalier.corpus import Labels
from espalier.errors import RuleError
from espalier.recipes.rule_files import Checked, check_rules
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.ruleset import DEFAULT_PENALTY, Rule, RuleSet
from espalier.server.failures import Failure
from espalier.server.labellers import Labeller
from espalier.server.tasks import RuleState

__all__ = ["PriceSource", "applied", "check_text", "compiled_rules", "price_of", "pruned", "sound"]

MOST_RULES = 1000

PriceSource = Literal["slider", "text", "model", "default"]
"""Who says what a rule costs."""


@lru_cache(maxsize=64)
def check_text(text: str, labels: Labels) -> Checked:
    """Return the rules of a text that can be read, and what is wrong with the others."""
    return check_rules(text, labels, most=MOST_RULES)


def sound(text: str, labels: Labels) -> RuleSet:
    """Return the rules of a text; a mistake is an answer that names its place."""
    checked = check_text(text, labels)
    if checked.mistakes:
        first = checked.mistakes[0]
        raise Failure(400, first.what, first.hint, f"rules, line {first.line}, column {first.column}")
    return checked.rules


def pruned(state: RuleState, rules: Collection[str]) -> RuleState:
    """Leave out what a state says about rules that are not there."""
    penalties = {name: value for name, value in state.penalties.items() if name in rules}
    return replace(state, penalties=penalties, off=tuple(name for name in dict.fromkeys(state.off) if name in rules))


def applied(state: RuleState, labeller: Labeller) -> Compiled:
    """Return the rules of a state, compiled for the labels of a model, with the penalties that hold now."""
    compiled = compiled_rules(state.text, labeller.labels)
    prices = {rule.name: price_of(rule, state, labeller)[0] for rule in compiled.rules}
    prices |= {name: 0.0 for name in state.off if name in prices}
    return replace(compiled, rules=compiled.rules.with_penalties(prices))


@lru_cache(maxsize=16)
def compiled_rules(text: str, labels: Labels) -> Compiled:
    """Return the rules of a text, compiled; a mistake is an answer."""
    rules = sound(text, labels)
    try:
        return compile_rules(rules, labels)
    except RuleError as error:
        place = f"rules, line {error.line}, column {error.column}" if error.line else "rules"
        raise Failure(400, error.what, error.hint, place) from None


def price_of(rule: Rule, state: RuleState, labeller: Labeller) -> tuple[float, PriceSource]:
    """Return what a rule costs, and who says so."""
    if rule.name in state.penalties:
        chosen = state.penalties[rule.name]
        return math.inf if chosen is None else chosen, "slider"
    if rule.penalty is not None:
        return rule.penalty, "text"
    node, learned = labeller.learned.get(rule.name, (None, 0.0))
    return (learned, "model") if node == rule.node else (DEFAULT_PENALTY, "default")
