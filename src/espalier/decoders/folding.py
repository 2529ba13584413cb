"""Fold short-sighted rules into the potentials: lengths of segments, and pairs of labels under a condition.

The product automaton of such rules (`rules.automaton`) has few states s, each behind one label l(s): with "length(each
field) >= 3", label a becomes a¹, a², a³⁺. Over states instead of labels the chain pays for the rules by itself:

    trans'[c, s, s'] = trans[c, l(s), l(s')] - ρ · increments(s, s', class c)     if s' follows s, else -inf

with one matrix for every combination of a transition class and a class of conditions that occurs. What the first token
pays and allows goes into its unary scores, what the end pays into the end scores. Everything else that decodes chains
then works as before, on S states.

Rules that look far (order, exclusion) are not folded: few answers break them, and all would pay for their states.
Cost: O(C S²) once, O(M S) a batch, and Viterbi's S² / L² times the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.counts import Conditions, CountForm, priced
from espalier.potentials import ChainBatch
from espalier.rules import nodes as n
from espalier.rules.compile import Compiled

if TYPE_CHECKING:
    from espalier.rules.automaton import Automaton

__all__ = ["Folded", "fold"]

MOST_STATES = 64  # besides one for each label
MOST_VALUES = 4_000_000  # of all matrices together
SHORT_SIGHTED = (n.Implies, n.Change, n.Length, n.If, n.All, n.Exists)

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Folded:
    """Potentials over S states that pay for some rules.

    labels : int64[S], the label behind each state; on_empty : what the rules cost where there are no tokens.
    form : the other rules, where nothing was folded and that is known already.
    """

    batch: ChainBatch
    labels: Int
    rules: tuple[int, ...]
    on_empty: float
    form: CountForm | None = None


def fold(batch: ChainBatch, compiled: Compiled, rho: Float, conditions: Conditions) -> Folded:
    """Fold the short-sighted rules that do not fit `CountForm`; without any, the batch stays what it is."""
    L = batch.n_labels
    form = CountForm.prepared(compiled, rho, batch.trans, batch.start)
    plain = Folded(batch, np.arange(L), (), 0.0, form)
    wanted = _wanted(compiled, rho, form.rest)
    automaton = _automaton(compiled, wanted, L)
    if automaton is None:
        return plain
    if automaton.n_states - 1 > L:  # a change of state is no change of label any more, so those rules move, too
        changes = [k for k in _pair_rules(compiled, rho) if k not in automaton.rules]
        automaton = _automaton(compiled, [*automaton.rules, *changes], L) or automaton
    classes = automaton.classes(conditions.patterns)[conditions.pattern].astype(np.int64)
    kinds = batch.trans_class.astype(np.int64) * (1 << len(automaton.bits)) + classes
    later = np.ones(len(kinds), bool)
    later[batch.indptr[:-1][np.diff(batch.indptr) > 0]] = False
    used, number = np.unique(kinds[later], return_inverse=True)
    if len(used) * automaton.n_states**2 > MOST_VALUES:
        return plain
    return _folded(batch, automaton, rho, classes, later, used, number)


def _wanted(compiled: Compiled, rho: Float, rest: Sequence[int]) -> list[int]:
    """Return the rules that are worth folding: they look at neighbours, or at the length of a segment."""
    return [
        k
        for k in rest
        if rho[k] > 0 and all(isinstance(each, SHORT_SIGHTED) for each in n.walk(compiled.rules[k].node))
    ]


def _pair_rules(compiled: Compiled, rho: Float) -> list[int]:
    return sorted({table.rule for table in compiled.local_tables() if table.pair is not None and rho[table.rule] > 0})


def _automaton(compiled: Compiled, rules: Sequence[int], L: int) -> Automaton | None:
    """Return the automaton of as many of the rules as stay small, taken in order; None if of none."""
    if not rules:
        return None
    return compiled.remember(("folded", tuple(rules)), lambda: _built(compiled, rules, 1 + L + MOST_STATES))


def _built(compiled: Compiled, rules: Sequence[int], limit: int) -> Automaton | None:
    from espalier.rules.automaton import SizeError

    try:
        return compiled.automaton(rules, limit)
    except SizeError:
        pass
    best: Automaton | None = None
    kept: list[int] = []
    for k in rules:
        try:
            best = compiled.automaton([*kept, k], limit)
            kept.append(k)
        except SizeError:
            continue
    return best


def _folded(
    batch: ChainBatch, automaton: Automaton, rho: Float, classes: Int, later: NDArray[np.bool_], used: Int, number: Int
) -> Folded:
    prices = _totals(automaton.increment_rows, rho[list(automaton.rules)])[automaton.increment_ids]  # [S + 1, C, L]
    labels = automaton.label[1:].astype(np.int64)
    S, n_classes = len(labels), automaton.next.shape[1]
    trans = np.full((max(len(used), 1), S, S), -np.inf)
    for k, (kind, c) in enumerate(zip(*divmod(used, n_classes), strict=True)):
        s, j = np.indices((S, batch.n_labels))
        trans[k, s, automaton.next[1:, c] - 1] = batch.trans[kind][labels[:, None], j] - prices[1:, c]
    unary = batch.unary[:, labels]
    first = np.flatnonzero(~later)
    begun = np.full((n_classes, S), -np.inf)
    for c in range(n_classes):
        begun[c, automaton.next[0, c] - 1] = -prices[0, c]
    unary[first] += begun[classes[first]]
    start = np.where(np.isneginf(begun).all(axis=0), -np.inf, batch.start[labels])
    final = _totals(automaton.final, rho[list(automaton.rules)])
    end = batch.end[labels] - final[1:]
    kinds = np.zeros(len(unary), np.int32)
    kinds[later] = number
    chain = ChainBatch(batch.indptr, unary, trans, kinds, start, end)
    return Folded(chain, labels, automaton.rules, float(final[0]))


def _totals(amounts: NDArray[np.int32], rho: Float) -> Float:
    """Σ over rules of amounts : int[U, n] times ρ; 0 · inf is 0."""
    return np.asarray(
        sum((priced(amounts[:, k].astype(np.int64), r) for k, r in enumerate(rho.tolist())), np.zeros(len(amounts)))
    )
