"""Compiled rules: a rule set lowered for a set of labels, once; grounded on the tokens of a sequence, in microseconds.

Every rule gets the cheapest form that is exact for it:

    local     sums over labels and pairs of neighbours, folded into the potentials       (`rules.forms`)
    linear    rows a . n(y) <= b over counts of the labelling                            (`rules.forms`)
    monitor   a left-to-right machine                                                    (`rules.forms`)

and a monitor whatever its form; some rules together become a product automaton (`rules.automaton`). Penalties are in
none of these: learning one never compiles anything again. Soft penalties enter by product, hard ones by mask, because
0 · inf is not a number. `rules.lowering` says which form becomes what.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import UNKNOWN, Corpus, Labels
from espalier.errors import InputError, RuleError
from espalier.lazy import cached_property
from espalier.rules import lowering, meaning
from espalier.rules.forms import Bits, Inequality, LinearForm, LocalForm, Machine, PathTable, Row, Smallest, State
from espalier.rules.lowering import Plan, Sequences, holds_when_empty
from espalier.rules.nodes import conditions_of
from espalier.rules.predicates import ALWAYS, Condition, Named, parts
from espalier.rules.ruleset import RuleSet

if TYPE_CHECKING:
    from espalier.rules.automaton import Automaton

__all__ = ["Compiled", "Grounded", "GroundedMonitor", "LocalTable", "Row", "compile_rules", "degrees_of"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]
T = TypeVar("T")

MOST_KEPT = 256  # tables of a rule set that are kept for the next decoding


class LocalTable(NamedTuple):
    """What a local rule charges at every token where condition number `bit` holds.

    Either `unary`, int64[L], for the token's label; or `pair`, int64[L, L], for the pair that enters the token, with
    `first`, int64[L], for the label of a first token.
    """

    rule: int
    bit: int
    unary: Int | None
    pair: Int | None
    first: Int | None


@dataclass(frozen=True, eq=False)
class Compiled:
    """A rule set compiled for a set of labels.

    form : "local", "linear" or "monitor" for each of the K rules.
    conditions : the B conditions on tokens that any form looks at; they are referred to by number.
    kept : see `remember`; copies with other penalties share it.
    """

    rules: RuleSet
    labels: Labels
    form: tuple[str, ...]
    conditions: tuple[Condition, ...]
    plan: Plan
    machines: tuple[Machine, ...]
    local: LocalForm
    linear: LinearForm
    kept: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @property
    def K(self) -> int:
        """The number of rules."""
        return len(self.form)

    @cached_property
    def penalties(self) -> Float:
        """What each rule costs, float64[K]: those of the rules; to be read only."""
        return self.rules.penalties

    @property
    def features(self) -> NDArray[np.int16]:
        """How much feature f counts when label j follows i (i = L: j is the first label), int16[F, L + 1, L]."""
        return self.linear.values

    def ground(self, tokens: Sequence[str], text: str | None = None) -> Grounded:
        """Meet the tokens of one sequence; without `text` its text is the tokens joined by one space."""
        if isinstance(tokens, str):
            raise InputError("tokens are a string, not a list of tokens", hint="split it first")
        if not self.conditions:
            return Grounded(self, tuple(tokens), text, np.zeros((len(tokens), 0), bool))
        return Grounded(self, tuple(tokens), text, self.plan.ground(Sequences.of_tokens(tokens, text)))

    def ground_corpus(self, corpus: Corpus) -> list[Grounded]:
        """Meet every sequence of a corpus; a condition on words is evaluated once for each word type."""
        bits = self.ground_bits(corpus)
        texts = [None] * len(corpus) if corpus.documents is None else [d.text for d in corpus.documents]
        ends = corpus.indptr.tolist()
        return [
            Grounded(self, tuple(corpus.tokens(i)), texts[i], bits[ends[i] : ends[i + 1]]) for i in range(len(corpus))
        ]

    def ground_bits(self, corpus: Corpus) -> Bits:
        """Return where the conditions hold in a corpus of M tokens, bool[M, B]."""
        if not self.conditions:
            return np.zeros((corpus.n_tokens, 0), bool)
        return self.plan.ground(Sequences.of_corpus(corpus))

    def local_tables(self) -> list[LocalTable]:
        """Return the charges of all local rules; those of one rule add up."""
        form = self.local
        unary = zip(form.unary_rule.tolist(), form.unary_bit.tolist(), form.unary, strict=True)
        pair = zip(form.pair_rule.tolist(), form.pair_bit.tolist(), form.pair, form.first, strict=True)
        found = [LocalTable(k, bit, row, None, None) for k, bit, row in unary]
        found += [LocalTable(k, bit, None, matrix, first) for k, bit, matrix, first in pair]
        return sorted(found, key=lambda charge: charge.rule)

    def automaton(self, rules: Sequence[int], max_states: int = 200_000) -> Automaton:
        """Return the product automaton of some rules, by number; a `SizeError` if it has more than max_states."""
        from espalier.rules.automaton import build_automaton

        chosen = [(k, self.rules[k].name, self.machines[k]) for k in self._chosen(rules)]
        return build_automaton(chosen, self._always, len(self.labels), max_states)

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returned when this key was first asked for: tables that no penalty changes.

        A learner decodes thousands of times under the same rules. Too many tables are forgotten all at once.
        """
        if key not in self.kept:
            made = make()
            if len(self.kept) >= MOST_KEPT:
                self.kept.clear()
            self.kept[key] = made
            return made
        found: T = self.kept[key]
        return found

    def latest(self, name: str, key: Hashable, make: Callable[[], T]) -> T:
        """Return what `make` returned for this key, if it is one of the last three of this name: tables of one model.

        A model decodes with the same penalties and transitions again and again, experts with those of the first, of
        all, and of both kinds in one batch; a learner changes them at every step.
        """
        last: tuple[tuple[Hashable, T], ...] = self.kept.get(("latest", name), ())
        found = next((value for known, value in last if known == key), None)
        if found is None:
            found = make()
            self.kept["latest", name] = ((key, found), *last[:2])
        return found

    def _chosen(self, rules: Sequence[int]) -> list[int]:
        wrong = next((k for k in rules if not 0 <= k < self.K), None)
        if wrong is not None or len(set(rules)) < len(rules):
            what = "twice in the list" if wrong is None else f"not 0..{self.K - 1}: {wrong}"
            raise InputError("rules of an automaton are chosen by number, each once", hint=f"one is {what}")
        return [int(k) for k in rules]

    @property
    def _always(self) -> frozenset[int]:
        return frozenset(b for b, condition in enumerate(self.conditions) if condition == ALWAYS)

    def check_penalties(self, penalties: ArrayLike | None) -> Float:
        """Return penalties as float64[K], those of the rules if None; or say what is wrong."""
        if penalties is None:  # checked when the rules were made
            return self.penalties
        rho = np.asarray(penalties, dtype=np.float64)
        if rho.shape != (self.K,):
            raise InputError(f"penalties have shape {rho.shape}", hint=f"expected one for each of {self.K} rules")
        wrong = np.flatnonzero(~(rho >= 0))
        if len(wrong):
            name = self.rules[int(wrong[0])].name
            raise InputError(f"rule {name!r}: penalty {rho[wrong[0]]} must be zero or more (inf for a hard rule)")
        return rho


@dataclass(frozen=True, slots=True, eq=False)
class GroundedMonitor:
    """The machine of a rule on the tokens of one sequence.

    Σ_t increments of `step` + `final` is the degree of the rule, for every labelling.
    """

    machine: Machine
    bits: Sequence[Sequence[bool]]

    @property
    def initial(self) -> State:
        """The state before the first token; hashable."""
        return self.machine.initial

    def step(self, state: State, t: int, i: int, j: int) -> tuple[State, int]:
        """Read label j at token t after label i (-1 at the first token); return the next state and the increment."""
        return self.machine.step(state, self.bits[t], i, j)

    def final(self, state: State) -> int:
        """Return what only the end tells."""
        return self.machine.final(state)

    def degree(self, y: Sequence[int]) -> int:
        """Read a whole labelling."""
        state, total, i = self.initial, 0, -1
        for t, j in enumerate(y):
            state, increment = self.step(state, t, i, j)
            total, i = total + increment, j
        return total + self.final(state)


@dataclass(frozen=True, eq=False)
class Grounded:
    """A compiled rule set that has met the tokens of one sequence.

    bits : bool[T, B], where its conditions hold.
    """

    compiled: Compiled
    tokens: tuple[str, ...]
    text: str | None
    bits: Bits

    @property
    def T(self) -> int:
        """The number of tokens."""
        return len(self.tokens)

    def local_unary(self, k: int) -> Int:
        """Return what local rule k charges for label l at token t, int64[T, L]."""
        return self._charged(k)[0]

    def local_pair(self, k: int) -> Int | None:
        """Return what local rule k charges for y_{t-1} = i, y_t = j, int64[T, L, L], row 0 unused; None if nothing."""
        return self._charged(k)[1]

    def _charged(self, k: int) -> tuple[Int, Int | None]:
        form = self.compiled.form[k]
        if form != "local":
            raise InputError(f"rule {self.compiled.rules[k].name!r} is not local", hint=f"its form is {form!r}")
        return self.compiled.local.charged(self.bits, np.eye(self.compiled.K, dtype=np.int64)[k])

    @cached_property
    def _bit_rows(self) -> list[list[bool]]:
        rows: list[list[bool]] = self.bits.tolist()
        return rows

    def monitor(self, k: int) -> GroundedMonitor:
        """Return the monitor of rule k, whatever its form."""
        return GroundedMonitor(self.compiled.machines[k], self._bit_rows)

    @cached_property
    def active(self) -> Int:
        """The numbers of the rows of `compiled.linear` that apply to these tokens."""
        gate = self.compiled.linear.gate
        if self.T:
            on = np.append(self.bits[0], True)  # gate -1 is always on
        else:
            on = np.array([holds_when_empty(c) for c in self.compiled.conditions] + [True])
        return np.flatnonzero(on[gate])

    @cached_property
    def rows(self) -> list[Row]:
        """The rows a . n(y) <= b of the linear rules that apply to these tokens."""
        form = self.compiled.linear
        return [Row(int(form.rule[r]), form.coefficients[r], int(form.bound[r])) for r in self.active]

    def _labels(self, y: Sequence[int] | NDArray[Any]) -> Int:
        ids = np.asarray(y, dtype=np.int64)
        if ids.shape != (self.T,):
            raise InputError(f"{self.T} tokens, but labels of shape {ids.shape}")
        wrong = np.flatnonzero((ids < UNKNOWN) | (ids >= len(self.compiled.labels)))
        if len(wrong):
            t = int(wrong[0])
            raise InputError(
                f"token {t} has label {ids[t]}", hint=f"expected {UNKNOWN}..{len(self.compiled.labels) - 1}"
            )
        return ids


def compile_rules(rules: RuleSet, labels: Sequence[str]) -> Compiled:
    """Lower every rule to its cheapest exact form; a rule that names an unknown field is an error."""
    labels = labels if isinstance(labels, Labels) else Labels(labels)
    rules.check(labels)
    _check_predicates(rules)
    to = lowering.Lowering(PathTable.of(labels.names))
    form: list[str] = []
    machines: list[Machine] = []
    charged: list[tuple[int, int, Int]] = []
    rows: list[tuple[int, int, Inequality]] = []
    for k, rule in enumerate(rules):
        machine = to.rule(rule)
        machines.append(machine)
        # min(1, sum) is no sum, unless the sum is never larger.
        adds_up = not rule.once or not isinstance(machine, Smallest)
        charges = lowering.charges(rule.node, to.table) if adds_up else None
        inequalities = lowering.inequalities(rule.node, to.table) if adds_up and charges is None else None
        if charges is not None:
            charged.extend((k, to.number(c.condition), c.matrix) for c in charges)
        elif inequalities is not None:
            rows.extend((k, to.gate(row.gates), row) for row in inequalities)
        form.append("local" if charges is not None else "linear" if inequalities is not None else "monitor")
    L = len(labels)
    return Compiled(
        rules,
        labels,
        tuple(form),
        tuple(to.numbers),
        Plan.of(tuple(to.numbers)),
        tuple(machines),
        LocalForm.of(charged, L),
        LinearForm.of(rows, L),
    )


def _check_predicates(rules: RuleSet) -> None:
    """Refuse two functions of one name: equal conditions are evaluated once, and names make them equal."""
    functions: dict[str, object] = {}
    for rule in rules:
        for condition in (part for whole in conditions_of(rule.node) for part in parts(whole)):
            if isinstance(condition, Named):
                known = functions.setdefault(condition.name, condition.function)
                if known is not condition.function:
                    raise RuleError(
                        f"rule {rule.name!r}: two different functions are named {condition.name!r}", hint="rename one"
                    )


def degrees_of(grounded: Grounded, y: Sequence[int] | NDArray[Any]) -> Int:
    """Return the degree of every rule for a labelling, int64[K], each by its cheapest form.

    Labels may be unknown (-1); then the reference meaning is asked, because forms read known labels only.
    """
    compiled = grounded.compiled
    ids = grounded._labels(y)
    if (ids == UNKNOWN).any():
        names = compiled.labels.decode(ids.tolist())
        return meaning.degrees(compiled.rules, grounded.tokens, names, text=grounded.text)
    degrees = compiled.local.degrees(grounded.bits, ids, compiled.K)
    degrees += compiled.linear.excess(ids, grounded.active, compiled.K)
    for k, form in enumerate(compiled.form):
        if form == "monitor":
            degrees[k] = grounded.monitor(k).degree(ids.tolist())
    return degrees
