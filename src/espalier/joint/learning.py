"""What data says about rules across layers: prices by counting and by training, and which labels join which segments.

counting    ρ_k = log( (kept_k + a) / (violated_k + b) ), as `learning.penalties` has it within one sequence
training    ρ = max(0, ρ + η (d(ŷ) - d(y))) after every problem, the mean over all steps: the perceptron of
            `learning.penalty_training`, with the scores of all layers frozen
discovery   a label of pairs that nearly always joins the same kinds of segments becomes a rule `r joins h and t`
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.joint.meaning import degrees, occasions
from espalier.joint.problem import Assignment, JointProblem
from espalier.joint.rules import Joins, JointRule, JointRules
from espalier.learning.penalties import Tally, log_odds
from espalier.rules.nodes import Fields
from espalier.rules.ruleset import KEPT_PRIOR, VIOLATED_PRIOR

__all__ = ["count_joint_penalties", "discover_joins", "train_joint_penalties"]

Float = NDArray[np.float64]


def count_joint_penalties(
    rules: JointRules,
    answers: Iterable[tuple[JointProblem, Assignment]],
    *,
    kept_prior: float = KEPT_PRIOR,
    violated_prior: float = VIOLATED_PRIOR,
) -> JointRules:
    """Return the rules with counted prices, for those that have none.

    answers : problems with the right labels (`JointProblem.assignment`); their own rules are not looked at.
    """
    violated, possible = np.zeros(len(rules)), np.zeros(len(rules))
    for problem, y in answers:
        ruled = problem.with_rules(rules)
        violated += degrees(ruled, y)
        possible += occasions(ruled, y)
    prices = log_odds(Tally(violated, possible - violated), kept_prior, violated_prior)
    return _priced(rules, prices)


def train_joint_penalties(
    rules: JointRules,
    answers: Sequence[tuple[JointProblem, Assignment]],
    *,
    epochs: int = 5,
    rate: float = 0.5,
) -> JointRules:
    """Return the rules with prices learned by the perceptron, for those that have none."""
    if epochs < 1 or not rate > 0:
        raise InputError(f"epochs is {epochs} and rate is {rate}", hint="both must be positive")
    free = np.array([rule.penalty is None for rule in rules])
    now, total, steps = rules.penalties, np.zeros(len(rules)), 0
    for _ in range(epochs):
        for problem, gold in answers:
            ruled = problem.with_rules(_priced(rules, now))
            found = ruled.decode()
            if found.names is not None:
                more = degrees(ruled, ruled.assignment(found.names)) - degrees(ruled, gold)
                now = np.where(free, np.maximum(now + rate * more, 0.0), now)
            total += np.where(free, now, 0.0)
            steps += 1
    return _priced(rules, total / max(steps, 1))


def discover_joins(
    pairs: Iterable[tuple[str, str, str]], *, nothing: str = "none", support: int = 10, share: float = 0.95
) -> JointRules:
    """Return which labels of pairs join which kinds of segments, at counted prices.

    pairs : label, kind of the head, kind of the tail, of all pairs in labelled text. A rule names, for each side, the
    fewest kinds that cover `share` of a label's pairs; a label with fewer than `support` pairs, or one that joins
    anything with anything, makes no rule. nothing : the label of pairs that are not joined.
    """
    seen = list(pairs)
    kinds = [{pair[side] for pair in seen} for side in (1, 2)]
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for label, head, tail in seen:
        if label != nothing:
            found[label].append((head, tail))
    rules = []
    for label in sorted(found):
        sides = [_covering(Counter(pair[side] for pair in found[label]), share) for side in (0, 1)]
        if len(found[label]) < support or all(set(s) == k for s, k in zip(sides, kinds, strict=True)):
            continue
        kept = sum(pair[side] in sides[side] for pair in found[label] for side in (0, 1))
        counted = Tally(np.array([2.0 * len(found[label]) - kept]), np.array([float(kept)]))
        node = Joins(Fields((label,)), Fields(tuple(sides[0])), Fields(tuple(sides[1])))
        rules.append(JointRule(label, node, float(log_odds(counted)[0])))
    return JointRules(tuple(rules))


def _covering(counts: Counter[str], share: float) -> list[str]:
    """Return the fewest kinds that make up this share, the most frequent first."""
    chosen: list[str] = []
    for kind, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        if sum(counts[k] for k in chosen) >= share * counts.total():
            break
        chosen.append(kind)
    return chosen


def _priced(rules: JointRules, prices: Float) -> JointRules:
    """Return the rules with these prices, where they have none of their own."""
    free = {r.name: float(price) for r, price in zip(rules, prices, strict=True) if r.penalty is None}
    return rules.with_penalties(free)
