"""Random decoding problems small enough to enumerate, and their enumeration from the reference meaning."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

from espalier.corpus import Labels
from espalier.decoders.base import Problem
from espalier.potentials import Potentials
from espalier.rules import Rule, RuleSet
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees
from oracles import Enumeration, backwards, labellings
from strategies import score_arrays

WORDS = ("x", "y", ",", "12")
VOCABULARIES = (
    ("a", "b"),
    ("a", "b", "c"),
    ("a", "b", "O"),
    ("B-a", "I-a", "O"),
    ("B-a", "I-a", "B-b", "I-b"),
    ("O", "B-s/B-q", "I-s/B-q", "I-s/I-q"),
    ("O", "B-s", "I-s", "B-s/B-q", "I-s/B-q", "I-s/I-q"),
)
MOST_LABELLINGS = 81

conditions = st.sampled_from(
    [
        p.ALWAYS,
        p.FIRST,
        p.LAST,
        p.Words(("x",)),
        p.Words((",",)),
        p.Near(-1, p.Words((",",))),
        p.Near(1, p.Words(("x",))),
        p.Pattern(r"\d+"),
    ]
)
comparisons = st.sampled_from(["<=", ">=", "=="])


def rule_nodes(names: list[str]) -> st.SearchStrategy[n.Node]:
    """Draw rules of every node type about the given fields."""
    fields = st.one_of(
        st.builds(n.Fields, st.lists(st.sampled_from(names), min_size=1, max_size=2).map(tuple), st.booleans()),
        st.just(n.ANY_FIELD),
    )
    terms = st.lists(
        st.builds(n.Term, st.sampled_from([-2, -1, 1, 2]), st.sampled_from(["segments", "tokens"]), fields),
        min_size=1,
        max_size=3,
        unique_by=lambda term: (term.unit, term.fields),
    ).map(tuple)
    simple = st.one_of(
        st.builds(n.Implies, conditions, fields, fields, st.sampled_from([-1, 0, 1])),
        st.builds(n.Implies, conditions, fields),
        st.builds(n.Change, conditions),
        st.builds(n.Once, fields),
        st.builds(n.Length, fields, comparisons, st.integers(1, 3)),
        st.builds(n.Linear, terms, comparisons, st.integers(-1, 3)),
        st.builds(n.Before, fields, fields),
        st.builds(n.Followed, fields, fields),
        st.builds(n.Later, fields, fields),
        st.builds(n.Exists, conditions),
    )

    def more(inner: st.SearchStrategy[n.Node]) -> st.SearchStrategy[n.Node]:
        several = st.lists(inner, min_size=2, max_size=2).map(tuple)
        return st.one_of(
            st.builds(n.All, several), st.builds(n.Any, several), st.builds(n.Not, inner), st.builds(n.If, inner, inner)
        )

    return st.recursive(simple, more, max_leaves=3)


def known(vocabulary: tuple[str, ...]) -> list[str]:
    return sorted(n.known_fields(vocabulary))


@st.composite
def problems(
    draw: st.DrawFn, *, exact: bool = False, min_tokens: int = 0, hard: bool = True, most_rules: int = 4
) -> Problem:
    """Draw a problem; integer scores and penalties with `exact`, so that ties are common and sums exact."""
    vocabulary = draw(st.sampled_from(VOCABULARIES))
    L = len(vocabulary)
    T = draw(st.integers(min_tokens, max(t for t in range(6) if L**t <= MOST_LABELLINGS)))
    by_position = draw(st.booleans())
    shapes = [(T, L), (max(T - 1, 0), L, L) if by_position else (L, L), (L,), (L,)]
    potentials = Potentials(*(draw(score_arrays(shape, exact=exact)) for shape in shapes))
    soft = st.integers(0, 3).map(float) if exact else st.one_of(st.just(0.0), st.floats(0.0, 5.0))
    penalty = st.one_of(soft, soft, st.just(math.inf)) if hard else soft
    drawn = draw(st.lists(st.tuples(rule_nodes(known(vocabulary)), penalty, st.booleans()), max_size=most_rules))
    rules = RuleSet(Rule(f"r{k}", node, rho, once) for k, (node, rho, once) in enumerate(drawn))
    tokens = draw(st.lists(st.sampled_from(WORDS), min_size=T, max_size=T))
    return Problem(potentials, compile_rules(rules, Labels(vocabulary)).ground(tokens))


def enumerated(problem: Problem) -> Enumeration[tuple[int, ...]]:
    """Every labelling with its penalised score, straight from the meaning of the rules."""
    tokens, names = problem.grounded.tokens, problem.labels.names

    def gain(y: tuple[int, ...]) -> float:
        found = degrees(problem.rules, tokens, [names[i] for i in y])
        return -math.fsum(float(rho) * int(d) for rho, d in zip(problem.penalties, found, strict=True) if d)

    return labellings(problem.potentials).reweighted(gain)


def ranked(problem: Problem) -> list[tuple[tuple[int, ...], float]]:
    """The allowed labellings, best first, ties in the common order."""
    return enumerated(problem).ranked(backwards)


def problem_from(
    text: str, tokens: str | list[str], labels: str | list[str], unary: object = None, **arrays: object
) -> Problem:
    """Make a problem by hand; scores are zero unless given."""
    words = tokens.split() if isinstance(tokens, str) else tokens
    vocabulary = Labels(labels.split() if isinstance(labels, str) else labels)
    scores = np.zeros((len(words), len(vocabulary))) if unary is None else unary
    return Problem(Potentials(scores, **arrays), compile_rules(RuleSet.from_text(text), vocabulary).ground(words))
