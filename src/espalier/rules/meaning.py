"""What rules mean: the degree d(x, y) of every node, in plain Python. The oracle of everything else.

    d(x, y) = Σ amounts of `violations(node, tokens, labels)`          (eq. 2 of Chang, Ratinov & Roth, 2012)

Amounts stand where they happen, so that an explanation can point at a token; position None means that only
the whole labelling tells.

| node    | violation                                                            | position           | amount |
|---------|----------------------------------------------------------------------|--------------------|--------|
| Implies | the label at t + offset is not among the fields                      | t                  | 1      |
|         | inside a phrase, another segment of the fields than at t - 1         | t                  | 1      |
| Change  | a border before t where the condition does not hold at t             | t                  | 1      |
| Once    | a second, third, ... segment of one field                            | its first token    | 1      |
| Length  | a segment with too few tokens                                        | its first token    | 1      |
|         | a token beyond the longest length                                    | that token         | 1      |
| Linear  | `<=`, all coefficients positive: what pushes the sum past the bound  | the token that does| excess |
|         | otherwise max(0, a.n - b), max(0, b - a.n) or abs(a.n - b)           | None               | amount |
| Before  | a `first` segment begins after a `second` segment has ended          | its first token    | 1      |
| Followed| the label right behind a `first` segment is not among `second`     | its last token     | 1      |
| Later   | the last `first` segment has no `second` segment after it            | its first token    | 1      |
| Exists  | no token satisfies the condition                                     | None               | 1      |
| If      | the violations of `then` if `condition` has degree 0, else none      |                    |        |
| All     | the violations of all parts: degrees add                             |                    |        |
| Any     | the violations of the part with the smallest degree (the first such) |                    |        |
| Not     | the part has degree 0                                                | None               | 1      |

Segments come from the marks of IOB2 tags; unmarked labels form runs. Segments of every level of a hierarchy
count. A token without a label (None: nobody knows) is in no segment and violates nothing. Beyond the ends of
the sequence nothing is in a field, as with `O`: a rule that asks for a field there is violated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any as Anything
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, counted
from espalier.rules import nodes as n
from espalier.rules.predicates import Condition
from espalier.rules.ruleset import Rule, RuleSet
from espalier.tags import Segment, is_tag, parse_tag, segments

__all__ = ["MEANINGS", "Violation", "degree", "degrees", "violations", "violations_of"]


class Violation(NamedTuple):
    """A rule is violated by `amount` at token `position` (None: by the labelling as a whole)."""

    position: int | None
    amount: int


class _Reading:
    """One labelled sequence; its segments are cut when a rule first asks for them."""

    def __init__(self, tokens: Sequence[str], labels: Sequence[str | None], text: str | None) -> None:
        if len(tokens) != len(labels):
            raise InputError(f"{counted(len(tokens), 'token')} but {counted(len(labels), 'label')}")
        self.tokens, self.labels = tokens, labels
        self.text = " ".join(tokens) if text is None else text
        self._segments: list[Segment] | None = None

    @property
    def segments(self) -> list[Segment]:
        if self._segments is None:
            self._segments = self._cut()
        return self._segments

    def _cut(self) -> list[Segment]:
        known = set(self.labels)
        # An unmarked label continues whatever it can, at every level of its path: runs.
        tag = {label: label if label is None or is_tag(label) else "I-" + label.replace("/", "/I-") for label in known}
        return segments([tag[label] for label in self.labels])

    def of(self, fields: n.Fields) -> list[Segment]:
        return [s for s in self.segments if fields.has_path(s.label)]

    def holds(self, condition: Condition, t: int) -> bool:
        return condition.holds(self.tokens, t, self.text)


def violations(
    rule: n.Node | Rule, tokens: Sequence[str], labels: Sequence[str | None], *, text: str | None = None
) -> list[Violation]:
    """Return where and how far the labelling violates a rule, in reading order, the whole labelling last.

    tokens, labels : str[T]; labels may be fields, paths or IOB2 tags, None where unknown. Without `text` the
    text is the tokens joined by one space.
    """
    return _ordered(rule, _Reading(tokens, labels, text))


def violations_of(
    rules: Iterable[n.Node | Rule], tokens: Sequence[str], labels: Sequence[str | None], *, text: str | None = None
) -> list[list[Violation]]:
    """Return the violations of several rules by one labelling; see `violations`."""
    reading = _Reading(tokens, labels, text)
    return [_ordered(rule, reading) for rule in rules]


def degree(rule: n.Node | Rule, tokens: Sequence[str], labels: Sequence[str | None], *, text: str | None = None) -> int:
    """Return d(x, y), the sum of the amounts."""
    return sum(v.amount for v in violations(rule, tokens, labels, text=text))


def degrees(
    rules: RuleSet, tokens: Sequence[str], labels: Sequence[str | None], *, text: str | None = None
) -> NDArray[np.int64]:
    """Return the degree of every rule of a set, int64[K]."""
    reading = _Reading(tokens, labels, text)
    return np.array([sum(v.amount for v in _ordered(rule, reading)) for rule in rules], dtype=np.int64)


def _ordered(rule: n.Node | Rule, r: _Reading) -> list[Violation]:
    node = rule.node if isinstance(rule, Rule) else rule
    found = sorted(_meaning(node, r), key=lambda v: len(r.tokens) if v.position is None else v.position)
    if isinstance(rule, Rule) and rule.once and found:
        return [Violation(found[0].position, 1)]
    return found


def _meaning(node: n.Node, r: _Reading) -> list[Violation]:
    return MEANINGS[type(node)](node, r)


def _degree(node: n.Node, r: _Reading) -> int:
    return sum(v.amount for v in _meaning(node, r))


def _implies(node: n.Implies, r: _Reading) -> list[Violation]:
    found = []
    T = len(r.labels)
    for t, label in enumerate(r.labels):
        there = t + node.offset
        other = r.labels[there] if 0 <= there < T else None
        unknown = 0 <= there < T and other is None
        # A token nobody has labelled meets `given` only if everything does.
        given = node.given == n.ANYTHING or (label is not None and node.given.has_label(label))
        if given and not unknown and not node.fields.has_label(other) and r.holds(node.condition, t):
            found.append(Violation(t, 1))
    goes_on = node.phrase_goes_on
    if goes_on is not None:
        whole = r.of(node.fields)
        for t in range(1, T):
            apart = not any(s.start < t < s.end for s in whole)
            inside = all(r.labels[u] is not None and node.fields.has_label(r.labels[u]) for u in (t - 1, t))
            if apart and inside and r.holds(goes_on, t):
                found.append(Violation(t, 1))
    return found


def _change(node: n.Change, r: _Reading) -> list[Violation]:
    borders = [t for t in range(1, len(r.labels)) if _border(r.labels[t - 1], r.labels[t])]
    return [Violation(t, 1) for t in borders if not r.holds(node.condition, t)]


def _border(before: str | None, label: str | None) -> bool:
    """Does a segment begin or end between two neighbouring labels?  Unknown labels show no border."""
    if before is None or label is None:
        return False
    return n.levels(before) != n.levels(label) or any(mark == "B" for mark, _ in parse_tag(label))


def _once(node: n.Once, r: _Reading) -> list[Violation]:
    groups = [[s for s in r.segments if s.label in one] for one in node.fields.groups(s.label for s in r.segments)]
    return [Violation(s.start, 1) for group in groups for s in group[1:]]


def _length(node: n.Length, r: _Reading) -> list[Violation]:
    found = []
    for s in r.of(node.fields):
        if node.comparison != "<=" and s.end - s.start < node.bound:
            found.append(Violation(s.start, 1))
        if node.comparison != ">=":
            found.extend(Violation(t, 1) for t in range(s.start + node.bound, s.end))
    return found


def _linear(node: n.Linear, r: _Reading) -> list[Violation]:
    T = len(r.tokens)
    steps = [0] * T  # what each token adds to a.n; segments count at their first token
    for term in node.terms:
        if term.unit == "segments":
            where: Iterable[int] = (s.start for s in r.of(term.fields))
        elif term.fields == n.ANYTHING:
            where = range(T)
        else:
            where = (t for t in range(T) if r.labels[t] is not None and term.fields.has_label(r.labels[t]))
        for t in where:
            steps[t] += term.coefficient
    total, bound = sum(steps), node.bound
    if node.comparison == "<=" and all(term.coefficient > 0 for term in node.terms):
        return _pushed_past(steps, bound)
    missed = {"<=": max(0, total - bound), ">=": max(0, bound - total), "==": abs(total - bound)}[node.comparison]
    return [Violation(None, missed)] if missed else []


def _pushed_past(steps: Sequence[int], bound: int) -> list[Violation]:
    """Split max(0, Σ steps - bound) over the tokens that cause it; all steps are >= 0."""
    found = [Violation(None, -bound)] if bound < 0 else []  # violated before the first token
    total = 0
    for t, step in enumerate(steps):
        excess = max(0, total + step - max(bound, 0)) - max(0, total - max(bound, 0))
        if excess:
            found.append(Violation(t, excess))
        total += step
    return found


def _before(node: n.Before, r: _Reading) -> list[Violation]:
    first_end = min((s.end for s in r.of(node.second)), default=len(r.tokens))
    return [Violation(s.start, 1) for s in r.of(node.first) if s.start >= first_end]


def _followed(node: n.Followed, r: _Reading) -> list[Violation]:
    found = []
    for s in r.of(node.first):
        unknown = s.end < len(r.labels) and r.labels[s.end] is None
        behind = r.labels[s.end] if s.end < len(r.labels) else None
        if not unknown and not node.second.has_label(behind):
            found.append(Violation(s.end - 1, 1))
    return found


def _later(node: n.Later, r: _Reading) -> list[Violation]:
    last = max(r.of(node.first), key=lambda s: s.end, default=None)
    if last is None or any(s.start >= last.end for s in r.of(node.second)):
        return []
    return [Violation(last.start, 1)]


def _exists(node: n.Exists, r: _Reading) -> list[Violation]:
    found = any(r.holds(node.condition, t) for t in range(len(r.tokens)))
    return [] if found else [Violation(None, 1)]


def _if(node: n.If, r: _Reading) -> list[Violation]:
    return _meaning(node.then, r) if _degree(node.condition, r) == 0 else []


def _all(node: n.All, r: _Reading) -> list[Violation]:
    return [v for part in node.parts for v in _meaning(part, r)]


def _any(node: n.Any, r: _Reading) -> list[Violation]:
    return min((_meaning(part, r) for part in node.parts), key=lambda found: sum(v.amount for v in found))


def _not(node: n.Not, r: _Reading) -> list[Violation]:
    return [Violation(None, 1)] if _degree(node.part, r) == 0 else []


MEANINGS: dict[type[n.Node], Callable[[Anything, _Reading], list[Violation]]] = {
    n.Implies: _implies,
    n.Change: _change,
    n.Once: _once,
    n.Length: _length,
    n.Linear: _linear,
    n.Before: _before,
    n.Followed: _followed,
    n.Later: _later,
    n.Exists: _exists,
    n.If: _if,
    n.All: _all,
    n.Any: _any,
    n.Not: _not,
}
"""One entry for each node type; a test keeps it total."""
