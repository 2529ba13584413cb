"""Monitors: any rule as a machine that reads a labelling from left to right; total over the language.

Local nodes need no state; counts saturate where the meaning allows; `Not`, conditions of `If` and rules that count
once ask only whether anything is charged, so that their parts are built under the cap 1 (see `combinators`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from espalier.rules import combinators as c
from espalier.rules import machines as m
from espalier.rules import nodes as n
from espalier.rules.grounding import Satisfied, holds_when_empty, input_only
from espalier.rules.linear import groups
from espalier.rules.local import Charge, charges, single, weights
from espalier.rules.machines import Machine, State
from espalier.rules.paths import PathTable
from espalier.rules.predicates import Condition
from espalier.rules.ruleset import Rule

__all__ = ["BUILDERS", "SUPPORT", "Context", "Monitor", "build_rule"]


@dataclass(frozen=True, slots=True, eq=False)
class Monitor:
    """The machine of a rule on the tokens of one sequence.

    Σ_t increments of `step` + `final` is the degree of the rule, for every labelling.
    """

    machine: Machine
    bits: Sequence[Sequence[bool]]

    @property
    def initial(self) -> State:
        """The state before the first token; hashable."""
        return self.machine.initial

    @property
    def states(self) -> int | None:
        """How many states there can be, whatever T; None if their number grows with T."""
        return self.machine.states

    @property
    def bounded(self) -> bool:
        """Is the number of states independent of T?"""
        return self.machine.states is not None

    def step(self, state: State, t: int, i: int, j: int) -> tuple[State, int]:
        """Read label j at token t after label i (-1 at the first token); return the next state and the increment."""
        return self.machine.step(state, self.bits[t], i, j)

    def final(self, state: State) -> int:
        """Return what only the end tells."""
        return self.machine.final(state)


@dataclass(frozen=True, slots=True, eq=False)
class Context:
    """What builders share: the labels, and the numbers given to conditions so far."""

    table: PathTable
    numbers: dict[Condition, int] = field(default_factory=dict)

    def number(self, condition: Condition) -> int:
        """Return the number of a condition, a new one if it is new."""
        return self.numbers.setdefault(condition, len(self.numbers))


def build_rule(rule: Rule, context: Context) -> Machine:
    """Return the machine of a rule; min(1, degree) if it counts once."""
    if not rule.once:
        return _build(rule.node, context, None)
    machine = _build(rule.node, context, 1)
    return machine if machine.most is not None and machine.most <= 1 else c.Capped(machine, 1)


def _build(node: n.Node, context: Context, cap: int | None) -> Machine:
    local = charges(node, context.table)
    return _local(local, context) if local is not None else BUILDERS[type(node)](node, context, cap)


def _local(found: list[Charge], context: Context) -> Machine:
    most = sum(int(f.matrix.max()) for f in found) if all(single(f.condition) for f in found) else None
    return m.Local(tuple((context.number(f.condition), f.matrix.tolist()) for f in found), most)


def _once(node: n.Once, context: Context, cap: int | None) -> Machine:
    found = [opened.tolist() for opened in groups(node, context.table) if opened.any()]
    return m.Once.of(found) if found else m.Local((), 0)


def _length(node: n.Length, context: Context, cap: int | None) -> Machine:
    around, kept = context.table.around(node.fields), context.table.continued(node.fields)
    return m.Length(around.tolist(), kept.tolist(), node.comparison, node.bound)


def _linear(node: n.Linear, context: Context, cap: int | None) -> Machine:
    amounts = weights(node, context.table)
    if (amounts >= 0).all():
        return m.Counter(amounts.tolist(), node.comparison, node.bound)
    if (amounts <= 0).all():
        mirrored = {"<=": ">=", ">=": "<=", "==": "=="}[node.comparison]
        return m.Counter((-amounts).tolist(), mirrored, -node.bound)
    return m.Balance(amounts.tolist(), node.comparison, node.bound)


def _before(node: n.Before, context: Context, cap: int | None) -> Machine:
    table = context.table
    return m.Before(table.opened(node.first).tolist(), table.closed(node.second).tolist())


def _later(node: n.Later, context: Context, cap: int | None) -> Machine:
    table = context.table
    return m.Later(table.around(node.first).tolist(), table.opened(node.second).tolist())


def _exists(node: n.Exists, context: Context, cap: int | None) -> Machine:
    gate = Satisfied(node)
    return m.Input(context.number(gate), holds_when_empty(gate))


def _if(node: n.If, context: Context, cap: int | None) -> Machine:
    then = _build(node.then, context, cap)
    if input_only(node.condition):
        gate = Satisfied(node.condition)
        return c.Gated(context.number(gate), holds_when_empty(gate), then)
    return c.Conditional(_build(node.condition, context, 1), then, cap)


def _all(node: n.All, context: Context, cap: int | None) -> Machine:
    return c.Sum(tuple(_build(part, context, cap) for part in node.parts))


def _any(node: n.Any, context: Context, cap: int | None) -> Machine:
    """No part needs to count beyond the worst case of the mildest."""
    machines = [_build(part, context, cap) for part in node.parts]
    bounds = [bound for bound in (cap, *(machine.most for machine in machines)) if bound is not None]
    tight = min(bounds, default=None)
    if tight != cap:
        machines = [_build(part, context, tight) for part in node.parts]
    return c.Smallest(tuple(machines), tight)


def _not(node: n.Not, context: Context, cap: int | None) -> Machine:
    if input_only(node):
        gate = Satisfied(node)
        return m.Input(context.number(gate), holds_when_empty(gate))
    return c.Negated(_build(node.part, context, 1))


BUILDERS: dict[type[n.Node], Callable[[Any, Context, int | None], Machine]] = {
    n.Once: _once,
    n.Length: _length,
    n.Linear: _linear,
    n.Before: _before,
    n.Later: _later,
    n.Exists: _exists,
    n.If: _if,
    n.All: _all,
    n.Any: _any,
    n.Not: _not,
}
"""One entry for every node type that is not always local; a test keeps it total."""

SUPPORT: dict[type[n.Node], str] = {
    n.Linear: "unless counts are subtracted",
    n.If: "if its parts are, and degrees are bounded",
    n.All: "if its parts are",
    n.Any: "if its parts are, and one degree is bounded",
    n.Not: "if its part is",
}
"""Where the number of states does not grow with T; the node types that are not listed: always."""
