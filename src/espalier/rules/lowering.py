"""One row for each rule form: its example, what it is lowered to, and what is an occasion to keep it.

`FORMS` has a row for every node type, and a test keeps it total. A lowering that a form does not have is None. One that
it has only under some condition says which, for the table in `docs/rules.md`, and returns None where it does not hold.

    local       charges on pairs of neighbouring labels
    linear      rows a . n(y) <= b over counts of the labelling
    machine     reads the labelling from left to right; a form that is always local needs none
    occasions   the rule that is violated exactly on the occasions to keep this one; None: a sequence is one occasion
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from espalier.rules import machines as m
from espalier.rules import nodes as n
from espalier.rules.forms import Charge, Counts, Inequality, PathTable
from espalier.rules.grounding import Satisfied, both, holds_when_empty, input_only
from espalier.rules.machines import Machine
from espalier.rules.predicates import ALWAYS, LAST, AllOf, At, Condition, Near, NoneOf
from espalier.rules.ruleset import Rule

__all__ = ["FORMS", "Form", "Lowering", "charges", "inequalities", "occasions", "support_table"]


@dataclass(frozen=True, slots=True, eq=False)
class Lowering:
    """One rule set on its way down: the labels, and the numbers given to conditions so far."""

    table: PathTable
    numbers: dict[Condition, int] = field(default_factory=dict)

    def number(self, condition: Condition) -> int:
        """Return the number of a condition, a new one if it is new."""
        return self.numbers.setdefault(condition, len(self.numbers))

    def gate(self, gates: Sequence[n.Node]) -> int:
        """Return the number of the condition that all these input-only nodes are satisfied, -1 if there are none."""
        if not gates:
            return -1
        return self.number(Satisfied(gates[0] if len(gates) == 1 else n.All(tuple(gates))))

    def rule(self, rule: Rule) -> Machine:
        """Return the machine of a rule; min(1, degree) if it counts once."""
        if not rule.once:
            return self.machine(rule.node, None)
        machine = self.machine(rule.node, 1)
        return machine if machine.most is not None and machine.most <= 1 else m.Capped(machine, 1)

    def machine(self, node: n.Node, cap: int | None) -> Machine:
        """Return the machine of a node; it may stop counting at the cap."""
        found = charges(node, self.table)
        if found is None:
            build = FORMS[type(node)].machine
            assert build is not None, f"{type(node).__name__} is always local"
            machine: Machine = build(node, self, cap)
            return machine
        most = sum(int(f.matrix.max()) for f in found) if all(_single(f.condition) for f in found) else None
        return m.Charges([(self.number(f.condition), f.matrix.tolist()) for f in found], most)


class Form(NamedTuple):
    """What belongs to one node type; see the head of this module.

    local, linear : "yes" or the condition, and the function. bounded : "yes", or when the states of the machine do not
    grow with the sequence.
    """

    example: str
    local: tuple[str, Callable[[Any, PathTable], list[Charge] | None]] | None
    linear: tuple[str, Callable[[Any, PathTable], list[Inequality] | None]] | None
    machine: Callable[[Any, Lowering, int | None], Machine] | None
    occasions: Callable[[Any], n.Node] | None
    bounded: str = "yes"


def charges(node: n.Node, table: PathTable) -> list[Charge] | None:
    """Return the charges of a local node, None if the node is not local."""
    lowered = FORMS[type(node)].local
    found = None if lowered is None else lowered[1](node, table)
    return None if found is None else [c for c in found if c.matrix.any()]


def inequalities(node: n.Node, table: PathTable) -> list[Inequality] | None:
    """Return the rows of a linear node, None if the node is not linear."""
    lowered = FORMS[type(node)].linear
    return None if lowered is None else lowered[1](node, table)


def occasions(node: n.Node) -> n.Node:
    """Return the rule that is violated exactly on the occasions of a rule; its degree is never the smaller one."""
    made = FORMS[type(node)].occasions
    return n.All((node, n.Not(node))) if made is None else made(node)


def support_table() -> dict[str, dict[str, str]]:
    """Return what each lowering does with each node type: node name -> lowering -> "yes", "no" or under what condition.

    "monitor" reads any rule from left to right; "automaton" is a monitor whose states are bounded.
    """
    return {
        node.__name__: {
            "local": "no" if form.local is None else form.local[0],
            "linear": "no" if form.linear is None else form.linear[0],
            "monitor": "yes",
            "automaton": form.bounded,
        }
        for node, form in FORMS.items()
    }


def _single(condition: Condition) -> bool:
    """Can it hold at one token of a sequence at most?"""
    if isinstance(condition, AllOf):
        return any(_single(part) for part in condition.conditions)
    return isinstance(condition, At) and condition.first == condition.last


def _segments(*sets: n.Fields) -> n.Linear:
    """The rule that there is no segment of these fields: its degree counts them."""
    return n.Linear(tuple(n.Term(1, "segments", one) for one in sets), "<=", 0)


def _some(fields: n.Fields) -> n.Linear:
    return n.Linear((n.Term(1, "segments", fields),), ">=", 1)


# Labels of single tokens and of neighbours.


def _implies_local(node: n.Implies, table: PathTable) -> list[Charge]:
    given, wrong = table.has_label(node.given), ~table.has_label(node.fields)
    beyond = not node.fields.has_label(None)  # is a label asked for where there is none?
    matrix = np.zeros((table.L + 1, table.L), np.int64)
    if node.offset == 0:
        return [Charge(node.condition, matrix + (given & wrong))]
    if node.offset == -1:
        return [Charge(node.condition, matrix + np.outer(np.append(wrong, beyond), given))]
    last = Charge(both(LAST, node.condition), matrix + given * beyond)
    return [Charge(Near(-1, node.condition), matrix + np.outer(np.append(given, False), wrong)), last]


def _implies_occasions(node: n.Implies) -> n.Node:
    if node.fields == n.ANYTHING:  # asks for nothing: never violated, and no occasion
        return node
    # Whatever the label is, either the rule is violated or its opposite.
    opposite = n.Fields(node.fields.names, not node.fields.negated)
    return n.All((node, n.Implies(node.condition, opposite, node.given, node.offset)))


def _change_local(node: n.Change, table: PathTable) -> list[Charge]:
    return [Charge(NoneOf(node.condition), table.borders().astype(np.int64))]


# Segments.


def _once_groups(node: n.Once, table: PathTable) -> list[Counts]:
    """Return, for each field that may be there once, how many of its segments open, int64[L + 1, L] each."""
    if node.fields.negated:
        found = [p for p, path in enumerate(table.paths) if node.fields.has_path(path)]
        opened = [table.inside[:, p].astype(np.int64) - table.kept[:, :, p] for p in found]
    else:
        opened = [table.opened(n.Fields((name,))) for name in node.fields.names]
    return [group for group in opened if group.any()]


def _once_linear(node: n.Once, table: PathTable) -> list[Inequality]:
    return [Inequality(((1, opened),), 1) for opened in _once_groups(node, table)]


def _once_machine(node: n.Once, to: Lowering, cap: int | None) -> Machine:
    found = [opened.tolist() for opened in _once_groups(node, to.table)]
    return m.SeenOnce(found) if found else m.Charges((), 0)


def _once_occasions(node: n.Once) -> n.Node:
    return _segments(*([node.fields] if node.fields.negated else [n.Fields((name,)) for name in node.fields.names]))


def _length_local(node: n.Length, table: PathTable) -> list[Charge] | None:
    if node.bound > 1:
        return None
    return [] if node.comparison == ">=" else [Charge(ALWAYS, table.continued(node.fields))]


def _length_machine(node: n.Length, to: Lowering, cap: int | None) -> Machine:
    around, kept = to.table.around(node.fields), to.table.continued(node.fields)
    return m.OpenLengths(around.tolist(), kept.tolist(), node.comparison, node.bound)


def _length_occasions(node: n.Length) -> n.Node:
    segments = _segments(node.fields)
    return segments if node.comparison == ">=" else n.All((segments, n.Length(node.fields, "<=", node.bound)))


# Counts.


def _counted(node: n.Linear, table: PathTable) -> list[tuple[int, Counts]]:
    """Return the coefficient of every term, and what the pair (y_{t-1}, y_t) adds to its count, int64[L + 1, L]."""
    every_row = np.zeros((table.L + 1, table.L), np.int64)
    return [
        (t.coefficient, table.opened(t.fields) if t.unit == "segments" else every_row + table.has_label(t.fields))
        for t in node.terms
    ]


def _linear_signs(node: n.Linear) -> tuple[int, ...]:
    return {"<=": (1,), ">=": (-1,), "==": (1, -1)}[node.comparison]


def _linear_amounts(node: n.Linear, table: PathTable) -> Counts:
    """Return what the pair (y_{t-1}, y_t) adds to a . n(y), int64[L + 1, L]."""
    total = np.zeros((table.L + 1, table.L), np.int64)
    for coefficient, counted in _counted(node, table):
        total += coefficient * counted
    return total


def _linear_local(node: n.Linear, table: PathTable) -> list[Charge] | None:
    """What must not be there at all costs its amount wherever it is."""
    amounts = _linear_amounts(node, table)
    if node.bound != 0 or ((amounts < 0).any() and (amounts > 0).any()):
        return None
    return [Charge(ALWAYS, np.maximum(sign * amounts, 0)) for sign in _linear_signs(node)]


def _linear_linear(node: n.Linear, table: PathTable) -> list[Inequality]:
    counted = _counted(node, table)
    return [
        Inequality(tuple((sign * a, matrix) for a, matrix in counted), sign * node.bound)
        for sign in _linear_signs(node)
    ]


def _linear_machine(node: n.Linear, to: Lowering, cap: int | None) -> Machine:
    amounts = _linear_amounts(node, to.table)
    if (amounts >= 0).all():
        return m.Counter(amounts.tolist(), node.comparison, node.bound)
    if (amounts <= 0).all():
        mirrored = {"<=": ">=", ">=": "<=", "==": "=="}[node.comparison]
        return m.Counter((-amounts).tolist(), mirrored, -node.bound)
    return m.Balance(amounts.tolist(), node.comparison, node.bound)


# Order.


def _before_machine(node: n.Before, to: Lowering, cap: int | None) -> Machine:
    """Once a segment of `second` has closed, every segment of `first` that opens is charged."""
    return m.Switch(on=to.table.closed(node.second).tolist(), charge=to.table.opened(node.first).tolist())


def _before_occasions(node: n.Before) -> n.Node:
    return n.If(_some(node.second), _segments(node.first))


def _followed_local(node: n.Followed, table: PathTable) -> list[Charge]:
    wrong = ~table.has_label(node.second)
    at_end = np.zeros((table.L + 1, table.L), np.int64) + table.around(node.first) * (not node.second.has_label(None))
    return [Charge(ALWAYS, table.closed(node.first) * wrong), Charge(LAST, at_end)]


def _later_machine(node: n.Later, to: Lowering, cap: int | None) -> Machine:
    """On: the rule would be violated if the sequence ended here, inside `first` or before `second` opens again."""
    inside = np.tile(to.table.around(node.first), (to.table.L + 1, 1))
    return m.Switch(on=inside.tolist(), off=to.table.opened(node.second).tolist(), end=1)


def _later_occasions(node: n.Later) -> n.Node:
    return n.If(_some(node.first), n.All((node, n.Not(node))))


# What the input alone decides, and rules made of rules.


def _input_linear(node: n.Node, table: PathTable) -> list[Inequality] | None:
    """A node of degree 0 or 1 that only the input decides: 0 <= -1, where the node does not hold."""
    return [Inequality((), -1, (n.Not(node),))] if input_only(node) else None


def _input_machine(node: n.Node, to: Lowering) -> Machine:
    gate = Satisfied(node)
    return m.Input(to.number(gate), holds_when_empty(gate))


def _if_local(node: n.If, table: PathTable) -> list[Charge] | None:
    then = charges(node.then, table) if input_only(node.condition) else None
    if then is None:
        return None
    return [Charge(both(Satisfied(node.condition), c.condition), c.matrix) for c in then]


def _if_linear(node: n.If, table: PathTable) -> list[Inequality] | None:
    then = inequalities(node.then, table) if input_only(node.condition) else None
    return None if then is None else [replace(row, gates=(node.condition, *row.gates)) for row in then]


def _if_machine(node: n.If, to: Lowering, cap: int | None) -> Machine:
    then = to.machine(node.then, cap)
    if input_only(node.condition):
        gate = Satisfied(node.condition)
        return m.Gated(to.number(gate), holds_when_empty(gate), then)
    return m.Conditional(to.machine(node.condition, 1), then, cap)


def _all_of(lower: Callable[[n.Node, PathTable], list[Any] | None]) -> Callable[[n.All, PathTable], list[Any] | None]:
    """Return the lowering of `All` that joins what each part is lowered to, if all parts can be."""

    def joined(node: n.All, table: PathTable) -> list[Any] | None:
        found: list[Any] = []
        for part in node.parts:
            inner = lower(part, table)
            if inner is None:
                return None
            found.extend(inner)
        return found

    return joined


def _all_machine(node: n.All, to: Lowering, cap: int | None) -> Machine:
    return m.Sum([to.machine(part, cap) for part in node.parts])


def _any_machine(node: n.Any, to: Lowering, cap: int | None) -> Machine:
    """No part needs to count beyond the worst case of the mildest."""
    machines = [to.machine(part, cap) for part in node.parts]
    bounds = [bound for bound in (cap, *(machine.most for machine in machines)) if bound is not None]
    tight = min(bounds, default=None)
    if tight != cap:
        machines = [to.machine(part, tight) for part in node.parts]
    return m.Smallest(machines, tight)


def _not_machine(node: n.Not, to: Lowering, cap: int | None) -> Machine:
    return _input_machine(node, to) if input_only(node) else m.Negated(to.machine(node.part, 1))


FORMS: dict[type[n.Node], Form] = {
    n.Implies: Form(
        example='token in "no" -> number',
        local=("yes", _implies_local),
        linear=None,
        machine=None,
        occasions=_implies_occasions,
    ),
    n.Change: Form(
        example="change only after is punctuation",
        local=("yes", _change_local),
        linear=None,
        machine=None,
        occasions=lambda node: n.All((node, n.Change(NoneOf(node.condition)))),
    ),
    n.Once: Form(
        example="title once",
        local=None,
        linear=("yes", _once_linear),
        machine=_once_machine,
        occasions=_once_occasions,
    ),
    n.Length: Form(
        example="length(title) >= 2",
        local=("bound 1", _length_local),
        linear=None,
        machine=_length_machine,
        occasions=_length_occasions,
    ),
    n.Linear: Form(
        example="count(title) + count(place) <= 1",
        local=("bound 0, one sign", _linear_local),
        linear=("yes", _linear_linear),
        machine=_linear_machine,
        occasions=None,
        bounded="unless counts are subtracted",
    ),
    n.Before: Form(
        example="title before place",
        local=None,
        linear=None,
        machine=_before_machine,
        occasions=_before_occasions,
    ),
    n.Followed: Form(
        example="title followed by place",
        local=("yes", _followed_local),
        linear=None,
        machine=None,
        occasions=lambda node: _segments(node.first),
    ),
    n.Later: Form(
        example="title followed later by place",
        local=None,
        linear=None,
        machine=_later_machine,
        occasions=_later_occasions,
    ),
    n.Exists: Form(
        example='any token in "no"',
        local=None,
        linear=("yes", _input_linear),
        machine=lambda node, to, cap: _input_machine(node, to),
        occasions=None,
    ),
    n.If: Form(
        example='if any token in "no" then number required',
        local=("condition on the input, local part", _if_local),
        linear=("condition on the input, linear part", _if_linear),
        machine=_if_machine,
        occasions=lambda node: n.If(node.condition, occasions(node.then)),
        bounded="if its parts are, and degrees are bounded",
    ),
    n.All: Form(
        example="number required and title once",
        local=("of local parts", _all_of(charges)),
        linear=("of linear parts", _all_of(inequalities)),
        machine=_all_machine,
        occasions=lambda node: n.All(tuple(occasions(part) for part in node.parts)),
        bounded="if its parts are",
    ),
    n.Any: Form(
        example="number required or title once",
        local=None,
        linear=None,
        machine=_any_machine,
        occasions=None,
        bounded="if its parts are, and one degree is bounded",
    ),
    n.Not: Form(
        example="not title once",
        local=None,
        linear=("of a condition on the input", _input_linear),
        machine=_not_machine,
        occasions=None,
        bounded="if its part is",
    ),
}
"""One row for each node type; a test keeps it total."""
