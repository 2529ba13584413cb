"""Rules by the hundred: the templates of two papers, filled in for every label or pair of labels.

`count_templates`: linear constraints on counts (Anzaroot, Passos, Belanger & McCallum, 2014, section 5).
`relation_templates`: five relations between labels (Fersini, Messina, Felici & Roth, 2014, eq. 17-21).

Both only propose. Learning prunes them and sets their penalties; every rule here comes without one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import combinations, permutations

from espalier.errors import RuleError, nearest
from espalier.rules.language import before as order
from espalier.rules.language import count, first, label, last, precedes, token, when
from espalier.rules.language import followed_by as followed
from espalier.rules.nodes import Fields, Node, levels
from espalier.rules.ruleset import Rule
from espalier.tags import OUTSIDE

__all__ = ["COUNT_KINDS", "RELATION_KINDS", "count_templates", "relation_templates"]

COUNT_KINDS = ("singleton", "pairwise", "hierarchical")
RELATION_KINDS = ("adjacency", "precedence", "state change", "begin-end", "presence")


def count_templates(
    labels: Iterable[str],
    kinds: Collection[str] = COUNT_KINDS,
    bounds: Iterable[int] = range(4),
) -> Iterator[Rule]:
    """Yield the count constraints over the fields of the labels (tags, paths or plain names).

    singleton    : n(i) <= 1, for every field i, at every level of a hierarchy.
    pairwise     : n(i) + n(j) for i < j and n(i) - n(j) for i != j, each <= b and >= b for every b of `bounds`.
                   Left out: the sum with >= 0, which always holds, and the difference with >= 0, which is the
                   opposite difference with <= 0.
    hierarchical : e(i, j) = n(i) - n(j) <= 0 and >= 0, over the single elements of the paths.

    All counts are of segments (B- marks). For P paths, E elements and the default bounds: P, 21 P (P - 1) / 2
    and E (E - 1) rules. Labels without a hierarchy have no hierarchical ones: they would be pairwise again.
    """
    _check(kinds, COUNT_KINDS)
    paths = _paths(labels)
    bounds = list(bounds)
    if "singleton" in kinds:
        for i in paths:
            yield Rule(f"n({i}) <= 1", count(i) <= 1)
    if "pairwise" in kinds:
        for b in bounds:
            for i, j in combinations(paths, 2):
                yield Rule(f"n({i}) + n({j}) <= {b}", count(i) + count(j) <= b)
                if b != 0:
                    yield Rule(f"n({i}) + n({j}) >= {b}", count(i) + count(j) >= b)
            for i, j in permutations(paths, 2):
                yield Rule(f"n({i}) - n({j}) <= {b}", count(i) - count(j) <= b)
                if b != 0:
                    yield Rule(f"n({i}) - n({j}) >= {b}", count(i) - count(j) >= b)
    if "hierarchical" in kinds and any("/" in path for path in paths):
        elements = sorted({element for path in paths for element in path.split("/")})
        for i, j in combinations(elements, 2):
            yield Rule(f"e({i}, {j}) <= 0", count(i) - count(j) <= 0)
            yield Rule(f"e({i}, {j}) >= 0", count(i) - count(j) >= 0)


def relation_templates(
    labels: Iterable[str],
    delimiters: Sequence[str] = (".", ",", ";", ":"),
    kinds: Collection[str] = RELATION_KINDS,
) -> Iterator[Rule]:
    """Yield the relations between every ordered pair of fields A, B.

    adjacency    : A at t implies B at t + 1 (eq. 17), a statement about tokens; A = B is included.
    precedence   : A at t implies B somewhere after t (eq. 18).
    state change : a delimiter at t implies A at t - 1 and B at t + 1 (eq. 19); one rule a delimiter.
    begin-end    : A at the first token implies B at the last (eq. 20); A = B is included.
    presence     : where A appears, B does not appear before it (eq. 21).
    followed     : not in the paper and not among the default: what stands behind a segment of A is B. It
                   serves fields of several tokens, for which adjacency of A and another B never holds.
    """
    _check(kinds, (*RELATION_KINDS, "followed"))
    paths = _paths(labels)
    same = [(a, a) for a in paths]
    pairs = list(permutations(paths, 2))
    for kind in kinds:
        for a, b in [*same, *pairs] if kind in ("adjacency", "begin-end", "state change") else pairs:
            if kind != "state change":
                yield Rule(f"{kind}: {a} {b}", _relation(kind, a, b))
                continue
            for mark in delimiters:
                at = when(token.isin(mark))
                yield Rule(f"{kind} {mark!r}: {a} {b}", at.then_previous(a) & at.then_next(b))


def _relation(kind: str, a: str, b: str) -> Node:
    if kind == "adjacency":
        return when(label(a)).then_next(b)
    if kind == "precedence":
        return precedes(a, b)
    if kind == "begin-end":
        return when(first(a)).then(last(b))
    if kind == "presence":
        return order(a, b)
    return followed(a, b)


def _paths(labels: Iterable[str]) -> list[str]:
    """Return the path of every level of the labels, sorted, without `O`."""
    paths = sorted({path for name in labels for path in levels(name)} - {OUTSIDE})
    if not paths:
        raise RuleError("no labels to fill the templates with")
    Fields(tuple(paths))  # refuses names that no rule can hold
    return paths


def _check(kinds: Collection[str], known: Sequence[str]) -> None:
    if isinstance(kinds, str):
        raise RuleError(f"kinds is a collection of names, such as ({kinds!r},)")
    for kind in kinds:
        if kind not in known:
            raise RuleError(f"unknown template {kind!r}", hint=nearest(kind, known, f"known: {', '.join(known)}"))
