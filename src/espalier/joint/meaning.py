"""What rules across layers mean: their degree, read off an answer from the definition. Written to be obviously right.

    Joins    each pair with one of the labels counts 1 if its head is no segment of the first fields, and 1 more if its
             tail is none of the second
    Across   each token counts 1 that is in the given fields in the one layer, and not in the others in the other
    Same     equal tokens of a layer (the same string, where the condition holds) stand in a row, in reading order over
             all its texts; each two neighbours count 1 if their fields differ. If fields are named, labels of other
             fields are all alike.

A place is a *segment* of some fields if its first token begins one (B-), the others continue it (I-), all in these
fields, and the token behind it does not continue it. Of labels without marks: all its tokens are in the fields, and the
tokens before and behind it are not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.joint.rules import Across, Joins, Same
from espalier.rules.nodes import Fields
from espalier.tags import path_of

if TYPE_CHECKING:
    from espalier.joint.problem import Assignment, JointProblem

__all__ = ["JointViolated", "degrees", "equal_tokens", "is_marked", "is_segment", "occasions", "violations"]


class JointViolated(NamedTuple):
    """Rule `name` is broken in `layer`, by pair or token number `position` (of text `text`), for `price`."""

    name: str
    layer: str
    text: int
    position: int
    price: float


def degrees(problem: JointProblem, y: Assignment) -> NDArray[np.int64]:
    """Return the degree of every rule across layers, int64[K]."""
    names = [[chain.problem.labels.names[j] for j in labels] for chain, labels in zip(problem.chains, y, strict=True)]
    return np.array([sum(1 for _ in _broken(problem, rule.node, names)) for rule in problem.joint_rules], np.int64)


def violations(problem: JointProblem, y: Assignment) -> Iterator[JointViolated]:
    """Yield every unit of degree, rule by rule."""
    names = [[chain.problem.labels.names[j] for j in labels] for chain, labels in zip(problem.chains, y, strict=True)]
    for rule, rho in zip(problem.joint_rules, problem.penalties, strict=True):
        for c, position in _broken(problem, rule.node, names):
            chain = problem.chains[c]
            yield JointViolated(rule.name, chain.layer, chain.text or 0, position, float(rho))


def occasions(problem: JointProblem, y: Assignment) -> NDArray[np.int64]:
    """Return on how many occasions each rule could have been broken, int64[K]: both sides of a pair with the label, a
    token in the given fields, two neighbours among equal tokens.
    """
    names = [[chain.problem.labels.names[j] for j in labels] for chain, labels in zip(problem.chains, y, strict=True)]
    found = []
    for rule in problem.joint_rules:
        node = rule.node
        if isinstance(node, Joins):
            found.append(sum(2 * node.labels.has_label(label) for c, _ in problem.pair_layers() for label in names[c]))
        elif isinstance(node, Across):
            found.append(sum(node.given.has_label(x) for c in problem.chains_of(node.layer) for x in names[c]))
        else:
            found.append(sum(1 for _ in equal_tokens(problem, node)))
    return np.array(found, np.int64)


def _broken(problem: JointProblem, node: Joins | Across | Same, names: list[list[str]]) -> Iterator[tuple[int, int]]:
    """Yield chain and position of every unit of a rule's degree."""
    if isinstance(node, Joins):
        for c, layer in problem.pair_layers():
            for p, label in enumerate(names[c]):
                for side, fields in enumerate((node.head, node.tail)):
                    chain, start, end = problem.place(layer, p, side)
                    marked = is_marked(problem.chains[chain].problem.labels.names)
                    if node.labels.has_label(label) and not is_segment(names[chain], start, end, fields, marked):
                        yield c, p
    elif isinstance(node, Across):
        for a, b in zip(problem.chains_of(node.layer), problem.chains_of(node.other), strict=True):
            for t, (here, there) in enumerate(zip(names[a], names[b], strict=True)):
                if node.given.has_label(here) and not node.fields.has_label(there):
                    yield a, t
    else:
        for (c, t), (after, u) in equal_tokens(problem, node):
            paths = [path_of(names[c][t]), path_of(names[after][u])]
            if node.fields is not None:
                paths = [path if node.fields.has_path(path) else "" for path in paths]
            if paths[0] != paths[1]:
                yield after, u


def is_marked(labels: Sequence[str]) -> bool:
    """Are these labels B-, I- and O tags, rather than plain names?"""
    return any(label[:2] in ("B-", "I-") for label in labels)


def is_segment(names: Sequence[str], start: int, end: int, fields: Fields, marked: bool) -> bool:
    """Are tokens start..end-1 a segment of these fields? marked : are labels B- and I- tags?"""
    inside = [fields.has_path(path_of(name)) for name in names]
    if not all(inside[start:end]):
        return False
    behind = end < len(names) and inside[end]
    if marked:
        continued = [name[:2] == "I-" for name in names]
        begins = names[start][:2] == "B-" and all(continued[start + 1 : end])
        return begins and not (behind and continued[end])
    return not behind and not (start > 0 and inside[start - 1])


def equal_tokens(problem: JointProblem, node: Same) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Yield neighbours among equal tokens of a layer, each as (chain, token)."""
    seen: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for c in problem.chains_of(node.layer):
        grounded = problem.chains[c].problem.grounded
        tokens, text = grounded.tokens, " ".join(grounded.tokens) if grounded.text is None else grounded.text
        for t, token in enumerate(tokens):
            if node.condition.holds(tokens, t, text):
                seen[token].append((c, t))
    for places in seen.values():
        yield from pairwise(places)
