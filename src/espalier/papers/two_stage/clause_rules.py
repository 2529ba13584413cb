"""Relations with conditions: for each relation between labels, the clauses under which it holds (`dnf`), as rules.

`relations.mine` keeps a relation if it holds nearly always. Here each relation is a class in the sense of Fersini,
Messina, Felici & Roth (2014): its samples are the places where it has something to say, positive where it holds, and a
formula in disjunctive normal form says when that is. Each clause becomes one rule:

| kind         | samples                | attributes                        | a clause as a rule                 |
|--------------|------------------------|-----------------------------------|------------------------------------|
| adjacency    | tokens                 | its label is A                    | `label A -> next B`                |
| state change | delimiters             | its label is A; it is the mark d  | `label A and token d -> next B`    |
| precedence   | sequences with B       | A occurs; the first label is A    | `if .. then B followed later by C` |
| begin-end    | sequences              | A occurs; the first label is A    | `if .. then last in B`             |
| presence     | sequences with B and C | A occurs; the first label is A    | `if .. then B before C`            |

A state change costs once a delimiter, as in the paper. There a delimiter is a state of its own and A stands before it;
here it has the label of the field that it ends, and that label is A. An empty clause is the relation without a
condition. That the field occurs which a relation asks for is no condition: `if journal required then title followed
later by journal` holds nearly always, and no longer says that a journal is missing. Support, confidence and cost are
those of the finished rule (`relations.counted`).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.learning.discovery_clauses import ClauseCounter
from espalier.learning.relations import DELIMITERS, Relation, counted
from espalier.papers.two_stage.dnf import Conjunction, learn_dnf
from espalier.rules import nodes as n
from espalier.rules.generators import RELATION_KINDS
from espalier.rules.language import before, count, first, last, precedes
from espalier.rules.predicates import ALWAYS, Condition, Words
from espalier.rules.ruleset import Rule
from espalier.tags import OUTSIDE

__all__ = ["learn_clauses"]

Bool = NDArray[np.bool_]
Build = Callable[[Sequence[tuple[int, bool]]], "n.Node | None"]


class _Samples(NamedTuple):
    """Where a relation has something to say: attributes bool[N, J], positive bool[N], and the rule of a clause."""

    name: str
    attributes: Bool
    positive: Bool
    rule: Build


def learn_clauses(
    corpus: Corpus,
    kinds: Collection[str] = RELATION_KINDS,
    *,
    min_support: int = 5,
    min_confidence: float = 0.9,
    max_literals: int = 3,
    max_clauses: int = 4,
    delimiters: Sequence[str] = DELIMITERS,
) -> list[Relation]:
    """Return the rules of all clauses, by kind and relation, each with its support and what breaks it.

    corpus : labelled, all labels known. min_support, min_confidence, max_literals, max_clauses : of each formula
    (`dnf.learn_dnf`). As with `mine`, a rule that is broken in every sequence that it applies to is left out.
    """
    if corpus.y is None or corpus.labels is None or (corpus.y < 0).any():
        raise InputError("clauses are learned from sequences with all their labels")
    counter, found = ClauseCounter(corpus), []
    seen: set[n.Node] = set()
    for kind in kinds:
        for samples in _KINDS[kind](corpus, delimiters):
            for clause in learn_dnf(
                samples.attributes, samples.positive, confidence=min_confidence, min_support=min_support,
                max_literals=max_literals, max_clauses=max_clauses,
            ):  # fmt: skip
                node = samples.rule(clause.literals)
                if node is None or node in seen:
                    continue
                seen.add(node)
                clauses = counter.count(node)
                relation = counted(Rule(_name(kind, samples.name, clause, len(seen)), node), kind, clauses)
                if ((clauses.applies > 0) & (clauses.broken == 0)).any():
                    found.append(relation)
    return found


def _name(kind: str, relation: str, clause: Conjunction, number: int) -> str:
    return f"{kind}: {relation}, {number}" if clause.literals else f"{kind}: {relation}"


# Labels of neighbouring tokens.


class _Tokens(NamedTuple):
    """All tokens: the fields, bool[M, P], of each of them and of the one behind it, which has none at the end."""

    paths: list[str]
    here: Bool
    behind: Bool
    words: NDArray[Any]


def _tokens(corpus: Corpus) -> _Tokens:
    paths, here = _paths(corpus)
    behind = np.zeros_like(here)
    behind[:-1] = here[1:]
    behind[corpus.indptr[1:][corpus.lengths > 0] - 1] = False
    words = np.array([word for i in range(len(corpus)) for word in corpus.tokens(i)], object)
    return _Tokens(paths, here, behind, words)


def _paths(corpus: Corpus) -> tuple[list[str], Bool]:
    """Return the paths of the fields, and which tokens are in each, bool[M, P]."""
    assert corpus.labels is not None
    assert corpus.y is not None
    names = corpus.labels.names
    paths = sorted({path for name in names for path in n.levels(name)} - {OUTSIDE})
    table = np.array([[path in n.levels(name) for path in paths] for name in names], bool).reshape(len(names), -1)
    inside: Bool = table[corpus.y]
    return paths, inside


def _adjacency(corpus: Corpus, _: Sequence[str]) -> Iterator[_Samples]:
    tokens = _tokens(corpus)
    for b, path in enumerate(tokens.paths):
        yield _Samples(path, tokens.here, tokens.behind[:, b], _neighbour(tokens.paths, path, ()))


def _state_change(corpus: Corpus, delimiters: Sequence[str]) -> Iterator[_Samples]:
    tokens = _tokens(corpus)
    marks = np.stack([tokens.words == mark for mark in delimiters], axis=1)
    at = np.flatnonzero(marks.any(axis=1))
    attributes = np.concatenate([tokens.here[at], marks[at]], axis=1)
    for b, path in enumerate(tokens.paths):
        yield _Samples(path, attributes, tokens.behind[at, b], _neighbour(tokens.paths, path, tuple(delimiters)))


def _neighbour(paths: Sequence[str], conclusion: str, marks: tuple[str, ...]) -> Build:
    """Return what makes a rule about the next token of a clause about labels and marks of this one."""

    def build(literals: Sequence[tuple[int, bool]]) -> n.Node | None:
        given, allowed = n.ANYTHING, [True] * len(marks)
        named = [(paths[j], wanted) for j, wanted in literals if j < len(paths)]
        wanted_paths, other = [p for p, w in named if w], tuple(p for p, w in named if not w)
        if len(wanted_paths) > 1 or (wanted_paths and other):  # one label before: what else is said is in it, or not
            return None
        if wanted_paths or other:
            given = n.Fields(tuple(wanted_paths) or other, negated=not wanted_paths)
        for j, wanted in literals:
            if j >= len(paths):
                allowed = [kept and ((k == j - len(paths)) == wanted) for k, kept in enumerate(allowed)]
        left = tuple(mark for mark, kept in zip(marks, allowed, strict=True) if kept)
        condition: Condition = Words(left) if marks else ALWAYS
        return n.Implies(condition, n.Fields((conclusion,)), given, 1) if left or not marks else None

    return build


# Whole sequences.


class _Sequences(NamedTuple):
    """What conditions may ask: fields that occur, and the first label; bool[N, 2 P]."""

    paths: list[str]
    occurs: Bool
    attributes: Bool
    counter: ClauseCounter


def _sequences(corpus: Corpus) -> _Sequences:
    paths, inside = _paths(corpus)
    ids = np.repeat(np.arange(len(corpus)), corpus.lengths)
    occurs = np.zeros((len(corpus), len(paths)), bool)
    np.logical_or.at(occurs, ids, inside)
    begins = np.zeros_like(occurs)
    some = corpus.lengths > 0
    begins[some] = inside[corpus.indptr[:-1][some]]
    return _Sequences(paths, occurs, np.concatenate([occurs, begins], axis=1), ClauseCounter(corpus))


def _ordered(relation: Callable[[str, str], n.Node]) -> Callable[[Corpus, Sequence[str]], Iterator[_Samples]]:
    def samples(corpus: Corpus, _: Sequence[str]) -> Iterator[_Samples]:
        whole = _sequences(corpus)
        for b, c in permutations(whole.paths, 2):
            yield from _about(whole, f"{b} {c}", relation(b, c), c)

    return samples


def _begin_end(corpus: Corpus, _: Sequence[str]) -> Iterator[_Samples]:
    whole = _sequences(corpus)
    for b in whole.paths:
        yield from _about(whole, b, last(b), b)


def _about(whole: _Sequences, name: str, node: n.Node, wanted: str) -> Iterator[_Samples]:
    """Yield the samples of a relation; wanted : the field that it asks for, whose presence is no condition."""
    clauses = whole.counter.count(node)
    at = np.flatnonzero(clauses.applies > 0)
    if len(at):
        attributes = whole.attributes[at]
        attributes[:, whole.paths.index(wanted)] = False
        yield _Samples(name, attributes, clauses.broken[at] == 0, _conditional(whole.paths, node))


def _conditional(paths: Sequence[str], then: n.Node) -> Build:
    """Return what puts the conditions of a clause before a relation."""

    def build(literals: Sequence[tuple[int, bool]]) -> n.Node:
        parts: list[n.Node] = []
        for j, wanted in literals:
            path, begins = paths[j % len(paths)], j >= len(paths)
            if begins:
                parts.append(first(n.Fields((path,), negated=not wanted)))
            else:
                parts.append(count(path) >= 1 if wanted else count(path) <= 0)
        if not parts:
            return then
        return n.If(parts[0] if len(parts) == 1 else n.All(tuple(parts)), then)

    return build


_KINDS: dict[str, Callable[[Corpus, Sequence[str]], Iterator[_Samples]]] = {
    "adjacency": _adjacency,
    "precedence": _ordered(precedes),
    "state change": _state_change,
    "begin-end": _begin_end,
    "presence": _ordered(before),
}
