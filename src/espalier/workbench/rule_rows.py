"""Rules and their mistakes as the page shows them: a row for each rule, with what it costs now and who says so."""

from __future__ import annotations

import math
from collections.abc import Sequence

from espalier.rules.ruleset import Rule
from espalier.rules.text import print_node
from espalier.server.labellers import Labeller
from espalier.server.rule_texts import check_text, compiled_rules, price_of, pruned
from espalier.server.tasks import RuleState
from espalier.workbench.shapes.rules import RuleMistake, RuleRow, Rules

__all__ = ["described"]


def described(state: RuleState, labeller: Labeller, version: int) -> Rules:
    """Return rules and mistakes. version : of what is stored."""
    checked = check_text(state.text, labeller.labels)
    state = pruned(state, checked.rules.names)
    forms: Sequence[str] = [""] * checked.rules.K
    if not checked.mistakes:
        forms = compiled_rules(state.text, labeller.labels).form
    rows = zip(checked.rules, checked.lines, forms, strict=True)
    return Rules(
        text=state.text,
        version=version,
        penalties={name: "hard" if value is None else value for name, value in state.penalties.items()},
        off=list(state.off),
        rules=[_row(rule, lines, form, state, labeller) for rule, lines, form in rows],
        errors=[RuleMistake(line=m.line, column=m.column, message=m.what, hint=m.hint) for m in checked.mistakes],
    )


def _row(rule: Rule, lines: tuple[int, int], form: str, state: RuleState, labeller: Labeller) -> RuleRow:
    price, source = price_of(rule, state, labeller)
    return RuleRow(
        name=rule.name,
        text=print_node(rule.node),
        line=lines[0],
        end_line=lines[1],
        penalty=None if price == math.inf else price,
        hard=price == math.inf,
        source=source,
        once=rule.once,
        on=rule.name not in state.off,
        kind="local" if form == "local" else "global",
    )
