"""One row for each rule form: its example, what it is lowered to, its occasions; and where its conditions hold.

`FORMS` has a row for every node type, and a test keeps it total. A lowering that a form does not have is None. One that
it has only under some condition says which, for the table in `docs/rules.md`, and returns None where it does not hold.

    local       charges on pairs of neighbouring labels
    linear      rows a . n(y) <= b over counts of the labelling
    machine     reads the labelling from left to right; a form that is always local needs none
    occasions   the rule that is violated exactly on the occasions to keep this one; None: a sequence is one occasion

Where conditions hold is found by a `Plan`: every distinct part of every condition once, for a whole corpus in arrays.
A word condition is asked once for each word type. Nodes that say nothing about labels (*input-only* nodes) are settled
here, too: `Satisfied(node)` is the token condition that holds everywhere or nowhere in a sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.rules import forms as m
from espalier.rules import nodes as n
from espalier.rules.forms import Charge, Counts, Inequality, Machine, PathTable
from espalier.rules.meaning import degree
from espalier.rules.phrases import PhrasePattern, Phrases
from espalier.rules.predicates import (
    ALWAYS,
    LAST,
    AllOf,
    AnyOf,
    At,
    Condition,
    Near,
    NoneOf,
    Text,
    Window,
    WordCondition,
)
from espalier.rules.ruleset import Rule
from espalier.tags import OUTSIDE

__all__ = [
    "FORMS",
    "Form",
    "Lowering",
    "Plan",
    "Satisfied",
    "Sequences",
    "both",
    "charges",
    "holds_when_empty",
    "inequalities",
    "input_only",
    "occasions",
    "support_table",
]

Bits = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Satisfied(Condition):
    """The sequence satisfies an input-only node; the same at every token."""

    node: n.Node

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Does it?"""
        return degree(self.node, tokens, [None] * len(tokens), text=text) == 0


def input_only(node: n.Node) -> bool:
    """Is the node's degree the same for all labellings of a sequence?"""
    if isinstance(node, n.Linear):
        return all(term.unit == "tokens" and term.fields == n.ANYTHING for term in node.terms)
    if isinstance(node, n.All | n.Any):
        return all(input_only(part) for part in node.parts)
    if isinstance(node, n.If):
        return input_only(node.condition) and input_only(node.then)
    return isinstance(node, n.Exists) or (isinstance(node, n.Not) and input_only(node.part))


def holds_when_empty(condition: Condition) -> bool:
    """Does it hold in a sequence without tokens?  Only conditions on whole sequences can."""
    return isinstance(condition, Satisfied) and degree(condition.node, [], []) == 0


def both(one: Condition, other: Condition) -> Condition:
    """Return the conjunction, without the trivial part."""
    if ALWAYS in (one, other):
        return other if one == ALWAYS else one
    return one & other


@dataclass(frozen=True, slots=True, eq=False)
class Sequences:
    """N sequences of M tokens as arrays: what conditions are evaluated on.

    indptr : int64[N + 1]; token_ids : int[M] into `types`; text(i) is the text of sequence i.
    """

    indptr: NDArray[np.int64]
    token_ids: NDArray[np.int32]
    types: tuple[str, ...]
    text: Callable[[int], str]
    sequence: NDArray[np.int64] = field(init=False)
    position: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        """Derive which sequence every token is in, and where."""
        if len(self.indptr) == 2:
            sequence, position = np.zeros(len(self.token_ids), np.int64), np.arange(len(self.token_ids))
        else:
            lengths = np.diff(self.indptr)
            sequence = np.repeat(np.arange(len(lengths)), lengths)
            position = np.arange(self.indptr[-1]) - np.repeat(self.indptr[:-1], lengths)
        object.__setattr__(self, "sequence", sequence)
        object.__setattr__(self, "position", position)

    @classmethod
    def of_tokens(cls, tokens: Sequence[str], text: str | None) -> Sequences:
        """One sequence; without `text` its tokens are joined by one space."""
        index = {word: k for k, word in enumerate(dict.fromkeys(tokens))}
        ids = np.array([index[word] for word in tokens], dtype=np.int32)
        whole = " ".join(tokens) if text is None else text
        return cls(np.array([0, len(tokens)], dtype=np.int64), ids, tuple(index), lambda i: whole)

    @classmethod
    def of_corpus(cls, corpus: Corpus) -> Sequences:
        """All sequences of a corpus, with the texts of its documents if there are any."""
        documents = corpus.documents

        def text(i: int) -> str:
            return " ".join(corpus.tokens(i)) if documents is None else documents[i].text

        return cls(corpus.indptr, corpus.token_ids, corpus.types, text)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """T of every sequence, int64[N]."""
        return np.diff(self.indptr)

    def tokens(self, i: int) -> list[str]:
        """Return the tokens of sequence i."""
        return [self.types[k] for k in self.token_ids[self.indptr[i] : self.indptr[i + 1]].tolist()]


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """Every distinct part of some conditions, parts before wholes; made once, so that grounding hashes nothing.

    steps : a condition, or an input-only node, with the numbers of the steps it is made of.
    outputs : the step of each condition.
    """

    steps: tuple[tuple[Condition | n.Node, tuple[int, ...]], ...]
    outputs: tuple[int, ...]

    @classmethod
    def of(cls, conditions: Sequence[Condition]) -> Plan:
        """Take the conditions apart."""
        numbers: dict[Condition | n.Node, int] = {}
        steps: list[tuple[Condition | n.Node, tuple[int, ...]]] = []

        def number(item: Condition | n.Node) -> int:
            if item not in numbers:
                inner = tuple(number(part) for part in _inner(item))
                numbers[item] = len(steps)
                steps.append((item, inner))
            return numbers[item]

        outputs = tuple(number(condition) for condition in conditions)
        return cls(tuple(steps), outputs)

    def ground(self, batch: Sequences) -> Bits:
        """Return where each of the B conditions holds, bool[M, B]."""
        bits = np.zeros((len(batch.token_ids), len(self.outputs)), bool)
        found: dict[int, Bits | None] = {}
        for b, k in enumerate(self.outputs):
            where = self._where(k, batch, found)
            if where is not None:
                bits[:, b] = where
        return bits

    def _where(self, k: int, batch: Sequences, found: dict[int, Bits | None]) -> Bits | None:
        """Return where step k holds, None if nowhere; found : what is known of the steps."""
        if k not in found:
            item, inner = self.steps[k]
            known: list[Bits] = []
            for part in inner:
                where = self._where(part, batch, found)
                if where is not None:
                    known.append(where)
                elif isinstance(item, AllOf | Near | Window):  # in most texts most conditions hold nowhere
                    break
                else:
                    by_token = isinstance(self.steps[part][0], Condition)
                    known.append(np.zeros(len(batch.token_ids if by_token else batch.lengths), bool))
            else:
                where = _tokens(item, known, batch) if isinstance(item, Condition) else _sequences(item, known, batch)
            found[k] = where
        return found[k]


def _inner(item: Condition | n.Node) -> tuple[Condition | n.Node, ...]:
    """Return what a condition or an input-only node is made of."""
    match item:
        case Satisfied():
            return (item.node,)
        case Condition():
            return item.inner()
        case n.Exists():
            return (item.condition,)
        case n.All() | n.Any():
            return item.parts
        case n.Not():
            return (item.part,)
        case n.If():
            return (item.condition, item.then)
    return ()


def _tokens(condition: Condition, inner: list[Bits], batch: Sequences) -> Bits | None:
    """Return where a condition holds, bool[M], given the same of its parts; None may stand for nowhere."""
    match condition:
        case WordCondition():
            return _words(condition, batch)
        case At(first, last):
            T = batch.lengths[batch.sequence]
            above = batch.position >= (first if first >= 0 else first + T)
            return above & (batch.position <= (last if last >= 0 else last + T))
        case Near():
            return _shifted(inner[0], condition.offset, batch)
        case Window(first, last):
            return _within(inner[0], first, last, batch)
        case Phrases():
            return condition.where(batch.indptr, batch.token_ids, batch.types)
        case PhrasePattern():
            return condition.where(inner, batch.position == 0)
        case AllOf():
            return reduce(np.bitwise_and, inner)
        case AnyOf():
            return reduce(np.bitwise_or, inner)
        case NoneOf():
            return ~inner[0]
        case Satisfied():
            return inner[0][batch.sequence]
        case Text():
            found = [T > 0 and condition.holds((), 0, batch.text(i)) for i, T in enumerate(batch.lengths)]
            return np.array(found, dtype=bool)[batch.sequence]
    # Somebody's own condition: ask it token by token.
    tokens = [batch.tokens(i) for i in range(len(batch.lengths))]
    where = zip(batch.sequence.tolist(), batch.position.tolist(), strict=True)
    return np.array([condition.holds(tokens[i], t, batch.text(i)) for i, t in where], dtype=bool)


def _sequences(node: n.Node, inner: list[Bits], batch: Sequences) -> Bits:
    """Return which sequences satisfy an input-only node, bool[N], given the same of its parts."""
    match node:
        case n.Exists():
            return np.bincount(batch.sequence, inner[0], minlength=len(batch.lengths)) > 0
        case n.All():
            return reduce(np.bitwise_and, inner)
        case n.Any():
            return reduce(np.bitwise_or, inner)
        case n.Not():
            return ~inner[0]
        case n.If():
            return ~inner[0] | inner[1]
        case n.Linear(terms, comparison, bound):
            total = sum(term.coefficient for term in terms) * batch.lengths
            verdicts: dict[str, Bits] = {"<=": total <= bound, ">=": total >= bound, "==": total == bound}
            return verdicts[comparison]
    raise TypeError(f"{type(node).__name__} depends on labels")


def _words(condition: WordCondition, batch: Sequences) -> Bits | None:
    """Ask once for each word type that occurs; a part of a corpus shares the types of the whole."""
    if len(batch.types) <= len(batch.token_ids):
        found = condition.accepted(batch.types)
        return np.array(found, bool)[batch.token_ids] if any(found) else None
    accepted = np.zeros(len(batch.types), bool)
    used = np.flatnonzero(np.bincount(batch.token_ids, minlength=len(accepted)))
    accepted[used] = condition.accepted([batch.types[k] for k in used.tolist()])
    return accepted[batch.token_ids]


def _shifted(bits: Bits, offset: int, batch: Sequences) -> Bits:
    """Return bits[t + offset], False where that token is in another sequence or in none."""
    M = len(bits)
    if len(batch.indptr) == 2:
        found, n = np.zeros(M, bool), max(M - abs(offset), 0)
        if offset < 0:
            found[M - n :] = bits[:n]
        else:
            found[:n] = bits[M - n :]
        return found
    there = np.arange(M) + offset
    inside = (there >= 0) & (there < M)
    there[~inside] = 0
    inside &= batch.sequence[there] == batch.sequence if M else inside
    return inside & bits[there]


def _within(bits: Bits, first: int, last: int, batch: Sequences) -> Bits:
    """Return whether bits[u] is true for some u from t + first to t + last in the sequence of t."""
    upto = np.append(0, np.cumsum(bits))
    t, begin, end = np.arange(len(bits)), batch.indptr[batch.sequence], batch.indptr[batch.sequence + 1]
    return np.asarray(upto[np.clip(t + last + 1, begin, end)] > upto[np.clip(t + first, begin, end)])


# What each rule form is lowered to.


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
        return machine if machine.most is not None and machine.most <= 1 else m.Smallest([machine], 1)

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
        own = Charge(node.condition, matrix + (given & wrong))
        goes_on = node.phrase_goes_on
        if goes_on is None:
            return [own]
        apart = np.outer(np.append(~wrong, False), ~wrong) & (table.continued(node.fields) == 0)
        return [own, Charge(goes_on, matrix + apart)]
    if node.offset == -1:
        return [Charge(node.condition, matrix + np.outer(np.append(wrong, beyond), given))]
    last = Charge(both(LAST, node.condition), matrix + given * beyond)
    return [Charge(Near(-1, node.condition), matrix + np.outer(np.append(given, False), wrong)), last]


def _implies_occasions(node: n.Implies) -> n.Node:
    if node.fields == n.ANYTHING:  # asks for nothing: never violated, and no occasion
        return node
    # Whatever the label is, it is O or it is in a field.
    outside = n.Fields((OUTSIDE,))
    return n.All(tuple(n.Implies(node.condition, one, node.given, node.offset) for one in (outside, n.ANY_FIELD)))


def _change_local(node: n.Change, table: PathTable) -> list[Charge]:
    return [Charge(NoneOf(node.condition), table.borders().astype(np.int64))]


# Segments.


def _once_groups(node: n.Once, table: PathTable) -> list[Counts]:
    """Return, for each field that may be there once, how many of its segments open, int64[L + 1, L] each."""
    each = table.inside.astype(np.int64) - table.kept
    groups = ([path in group for path in table.paths] for group in node.fields.groups(table.paths))
    opened = [each[:, :, np.array(group, bool)].sum(axis=2) for group in groups]
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
