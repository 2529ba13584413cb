"""What tables 7 and 8 of Chang, Ratinov and Roth (2012) share: one hard rule at a time, 5 labelled sequences.

`None` has no rules. `all` has every rule of the task with learned penalties: the paper's figures there are those of its
table 3, not of hard rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from espalier.experiments.ccm12 import METRIC, PENALTIES, SOURCE, needs
from espalier.experiments.ccm12_semi import ALL, HARD, NONE, codl_of, plan, scores
from espalier.experiments.data import Data
from espalier.experiments.protocol import Cell, Table

__all__ = ["LABELLED", "SEMI", "SUPERVISED", "rules_table"]

LABELLED = 5
SUPERVISED, SEMI = "supervised", "semi-supervised"


def settings_of(domain: str, row: str, column: str) -> dict[str, Any]:
    """Return what the cell of a place is computed with."""
    rules = NONE if row == "None" else row
    penalties = PENALTIES if rules == ALL else HARD
    codl = None if column == SUPERVISED else codl_of(domain, LABELLED)
    return plan(domain, LABELLED, rules=rules, penalties=penalties, codl=codl)


def measure(data: Data, cell: Cell) -> float:
    """Train as the place says, and test."""
    return scores(data, cell).ruled


def rules_table(name: str, domain: str, figures: Mapping[str, tuple[float, float]], minutes: float) -> Table:
    """Return the table of a domain; figures : rule -> the paper's, supervised and semi-supervised."""
    return Table(
        name=name,
        title=f"One hard rule at a time, {LABELLED} labelled sequences, {domain}",
        source=SOURCE,
        metric=METRIC,
        minutes=minutes,
        needs=needs(domain, pool=True),
        published={row: dict(zip((SUPERVISED, SEMI), pair, strict=True)) for row, pair in figures.items()},
        settings=partial(settings_of, domain),
        measure=measure,
        quick=(SUPERVISED,),
        charts={"gains": "points of token accuracy over no rules"},
    )
