"""Random decoding problems for the linear-programming decoders, and their answers by enumeration."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from espalier.corpus import Labels
from espalier.decoders.base import Problem
from espalier.potentials import Potentials
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees
from espalier.rules.ruleset import Rule, RuleSet
from oracles import labellings
from strategies import score_arrays

# The fields `a` and `b` as runs, as IOB2 tags, and `b` inside `a`.
VOCABULARIES = (("a", "b", "O"), ("B-a", "I-a", "B-b"), ("B-a/B-b", "I-a/B-b", "I-a/I-b"), ("a", "b"))
SOFT = (0.0, 0.5, 1.25, 4.0)

field_sets = st.sampled_from([n.Fields(("a",)), n.Fields(("b",)), n.Fields(("a", "b")), n.Fields(("a",), True)])
conditions = st.sampled_from([p.ALWAYS, p.FIRST, p.LAST, p.Words(("x",)), p.Near(-1, p.Words(("x",)))])
comparisons = st.sampled_from(["<=", ">=", "=="])
terms = st.lists(
    st.builds(n.Term, st.sampled_from([-2, -1, 1, 2]), st.sampled_from(["segments", "tokens"]), field_sets),
    min_size=1,
    max_size=3,
    unique_by=lambda term: (term.unit, term.fields),
).map(tuple)
local_nodes = st.one_of(st.builds(n.Implies, conditions, field_sets), st.builds(n.Change, conditions))
counting = st.one_of(st.builds(n.Once, field_sets), st.builds(n.Linear, terms, comparisons, st.integers(-1, 3)))
linear_nodes = st.one_of(
    counting,
    st.builds(n.If, st.builds(n.Exists, conditions), counting),
    st.lists(counting, min_size=2, max_size=2).map(lambda parts: n.All(tuple(parts))),
)
other_nodes = st.one_of(
    st.builds(n.Length, field_sets, comparisons, st.integers(1, 3)),
    st.builds(n.Before, field_sets, field_sets),
    st.builds(n.Followed, field_sets, field_sets),
    st.builds(n.Later, field_sets, field_sets),
    st.builds(n.Implies, conditions, field_sets, field_sets, st.sampled_from([-1, 1])),
)
all_nodes = st.recursive(
    local_nodes | counting | other_nodes,
    lambda inner: st.one_of(
        st.builds(n.If, inner, inner),
        st.builds(n.Not, inner),
        st.lists(inner, min_size=2, max_size=2).map(lambda parts: n.Any(tuple(parts))),
    ),
    max_leaves=3,
)


def problem_of(potentials, labels, rules, tokens=None, penalties=None):
    """A problem with tokens "x" unless others are given."""
    tokens = ["x"] * potentials.n_tokens if tokens is None else tokens
    return Problem(potentials, compile_rules(rules, Labels(labels)).ground(tokens), penalties)


@st.composite
def problems(draw, nodes, *, prices=(*SOFT, math.inf), max_tokens=4, exact=False, once=(False,)):
    """Draw 0..max_tokens tokens, 1..3 rules, potentials with and without -inf."""
    labels = draw(st.sampled_from(VOCABULARIES))
    T, L = draw(st.integers(0, max_tokens)), len(labels)
    shapes = [(T, L), draw(st.sampled_from([(L, L), (max(T - 1, 0), L, L)])), (L,), (L,)]
    potentials = Potentials(*(draw(score_arrays(shape, exact=exact)) for shape in shapes))
    drawn = draw(st.lists(st.tuples(nodes, st.sampled_from(prices), st.sampled_from(once)), min_size=1, max_size=3))
    rules = RuleSet(Rule(f"r{k}", *each) for k, each in enumerate(drawn))
    tokens = draw(st.lists(st.sampled_from(["x", "y"]), min_size=T, max_size=T))
    return problem_of(potentials, labels, rules, tokens)


class Answer(NamedTuple):
    """One labelling: its score under the potentials, its degrees, and its score minus penalties."""

    y: tuple[int, ...]
    model_score: float
    degrees: np.ndarray
    score: float


def enumerated(problem) -> list[Answer]:
    """Every labelling that the potentials allow."""
    found = []
    for y, score in labellings(problem.potentials).items:
        if score > -math.inf:
            names = [problem.labels.names[i] for i in y]
            d = degrees(problem.rules, problem.grounded.tokens, names)
            paid = sum(rho * int(each) for rho, each in zip(problem.penalties, d, strict=True) if each)
            found.append(Answer(y, score, d, score - paid))
    return found


def optimum(problem) -> float:
    """The best score minus penalties of all labellings, -inf if every one is forbidden."""
    return max((answer.score for answer in enumerated(problem)), default=-math.inf)
