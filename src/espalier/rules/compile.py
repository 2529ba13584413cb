"""Compiled rules: a rule set lowered for a set of labels, once; grounded on the tokens of a sequence, in microseconds.

Every rule gets the cheapest form that is exact for it:

    local     sums over labels and pairs of neighbours, folded into the potentials       (`rules.local`)
    linear    rows a . n(y) <= b over counts of the labelling                            (`rules.linear`)
    monitor   a left-to-right machine                                                    (`rules.monitors`)

and a monitor whatever its form; some rules together become a product automaton (`rules.automaton`). Penalties are in
none of these: learning one never compiles anything again. Soft penalties enter by product, hard ones by mask, because
0 · inf is not a number.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, RuleError
from espalier.rules import linear, local, monitors
from espalier.rules.automaton import Automaton, build_automaton, estimate_size
from espalier.rules.combinators import Capped
from espalier.rules.grounded import Grounded, degrees_of
from espalier.rules.grounding import Batch, Bits, Plan, Satisfied
from espalier.rules.linear import Inequality, LinearForm, Row
from espalier.rules.local import LocalForm
from espalier.rules.machines import Machine
from espalier.rules.monitors import Context, build_rule
from espalier.rules.nodes import NODE_TYPES, All, Node, conditions_of
from espalier.rules.paths import PathTable
from espalier.rules.predicates import ALWAYS, Condition, Named, parts
from espalier.rules.ruleset import RuleSet

__all__ = ["Compiled", "Grounded", "LocalTable", "Row", "compile_rules", "degrees_of", "support_table"]

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
        return self.rules.K

    @property
    def features(self) -> NDArray[np.int16]:
        """How much feature f counts when label j follows i (i = L: j is the first label), int16[F, L + 1, L]."""
        return self.linear.values

    def ground(self, tokens: Sequence[str], text: str | None = None) -> Grounded:
        """Meet the tokens of one sequence; without `text` its text is the tokens joined by one space."""
        if isinstance(tokens, str):
            raise InputError("tokens are a string, not a list of tokens; split it first")
        return Grounded(self, tuple(tokens), text, self.plan.ground(Batch.of_tokens(tokens, text)))

    def ground_corpus(self, corpus: Corpus) -> list[Grounded]:
        """Meet every sequence of a corpus; conditions on words are evaluated once a word type."""
        bits = self.ground_bits(corpus)
        texts = [None] * len(corpus) if corpus.documents is None else [d.text for d in corpus.documents]
        ends = corpus.indptr.tolist()
        return [
            Grounded(self, tuple(corpus.tokens(i)), texts[i], bits[ends[i] : ends[i + 1]]) for i in range(len(corpus))
        ]

    def ground_bits(self, corpus: Corpus) -> Bits:
        """Return where the conditions hold in a corpus of M tokens, bool[M, B]."""
        return self.plan.ground(Batch.of_corpus(corpus))

    def local_tables(self) -> list[LocalTable]:
        """Return the charges of all local rules; those of one rule add up."""
        form = self.local
        unary = zip(form.unary_rule.tolist(), form.unary_bit.tolist(), form.unary, strict=True)
        pair = zip(form.pair_rule.tolist(), form.pair_bit.tolist(), form.pair, form.first, strict=True)
        found = [LocalTable(k, bit, row, None, None) for k, bit, row in unary]
        found += [LocalTable(k, bit, None, matrix, first) for k, bit, matrix, first in pair]
        return sorted(found, key=lambda charge: charge.rule)

    def automaton_size(self, rules: Sequence[int], limit: int = 200_000) -> int | None:
        """Return a number of states that the automaton of these rules does not exceed.

        None if the number grows with the sequence, or a single part of a rule has more than `limit` states.
        """
        chosen = self._chosen(rules)
        machines = [self.machines[k] for k in chosen]
        return self.remember(
            ("size", tuple(chosen), limit), lambda: estimate_size(machines, self._always, len(self.labels), limit)
        )

    def automaton(self, rules: Sequence[int], max_states: int = 200_000) -> Automaton:
        """Return the product automaton of some rules, by number; a `SizeError` if it has more than max_states."""
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

    def _chosen(self, rules: Sequence[int]) -> list[int]:
        wrong = next((k for k in rules if not 0 <= k < self.K), None)
        if wrong is not None or len(set(rules)) < len(rules):
            what = "twice in the list" if wrong is None else f"not 0..{self.K - 1}: {wrong}"
            raise InputError(f"rules of an automaton are chosen by number, each once; one is {what}")
        return [int(k) for k in rules]

    @property
    def _always(self) -> frozenset[int]:
        return frozenset(b for b, condition in enumerate(self.conditions) if condition == ALWAYS)

    def check_penalties(self, penalties: ArrayLike | None) -> Float:
        """Return penalties as float64[K], those of the rules if None; or say what is wrong."""
        rho = self.rules.penalties if penalties is None else np.asarray(penalties, dtype=np.float64)
        if rho.shape != (self.K,):
            raise InputError(f"penalties have shape {rho.shape}; there are {self.K} rules")
        wrong = np.flatnonzero(~(rho >= 0))
        if len(wrong):
            name = self.rules[int(wrong[0])].name
            raise InputError(f"rule {name!r}: penalty {rho[wrong[0]]} must be zero or more (inf for a hard rule)")
        return rho


def compile_rules(rules: RuleSet, labels: Sequence[str]) -> Compiled:
    """Lower every rule to its cheapest exact form; a rule that names an unknown field is an error."""
    labels = labels if isinstance(labels, Labels) else Labels(labels)
    rules.check(labels)
    _check_predicates(rules)
    context = Context(PathTable.of(labels.names))
    form: list[str] = []
    machines: list[Machine] = []
    charged: list[tuple[int, int, Int]] = []
    rows: list[tuple[int, int, Inequality]] = []
    for k, rule in enumerate(rules):
        machine = build_rule(rule, context)
        machines.append(machine)
        # min(1, sum) is no sum, unless the sum is never larger.
        adds_up = not rule.once or not isinstance(machine, Capped)
        charges = local.charges(rule.node, context.table) if adds_up else None
        inequalities = linear.inequalities(rule.node, context.table) if adds_up and charges is None else None
        if charges is not None:
            charged.extend((k, context.number(c.condition), c.matrix) for c in charges)
        elif inequalities is not None:
            rows.extend((k, _gate(row.gates, context), row) for row in inequalities)
        form.append("local" if charges is not None else "linear" if inequalities is not None else "monitor")
    L = len(labels)
    return Compiled(
        rules,
        labels,
        tuple(form),
        tuple(context.numbers),
        Plan.of(tuple(context.numbers)),
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
                        f"rule {rule.name!r}: two different functions are named {condition.name!r}; rename one"
                    )


def _gate(gates: tuple[Node, ...], context: Context) -> int:
    """Return the number of the condition that all gates are satisfied, -1 if there are none."""
    if not gates:
        return -1
    return context.number(Satisfied(gates[0] if len(gates) == 1 else All(gates)))


def support_table() -> dict[str, dict[str, str]]:
    """Return what each lowering does with each node type: node name -> lowering -> "yes", "no" or under what condition.

    "monitor" reads any rule from left to right; "automaton" is a monitor whose states are bounded.
    """
    return {
        node.__name__: {
            "local": local.SUPPORT.get(node, "no"),
            "linear": linear.SUPPORT.get(node, "no"),
            "monitor": "yes",
            "automaton": monitors.SUPPORT.get(node, "yes"),
        }
        for node in NODE_TYPES
    }
