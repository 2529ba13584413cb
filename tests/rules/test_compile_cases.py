"""Random problems for the compiled forms, which the other `test_compile_*` files share, and checks that they are varied.

A problem is a rule set, the labels it is compiled for, tokens, and several labellings, many of them no valid IOB2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hypothesis import find, settings
from hypothesis import strategies as st

from espalier.corpus import Labels
from espalier.rules import Rule, RuleSet
from espalier.rules import nodes as n
from espalier.rules import predicates as p
from espalier.rules.compile import Compiled, compile_rules

WORDS = ("x", "y", ".", ",", "12")
LABEL_SETS = {
    "plain": ("a", "b", "c", "O"),
    "tags": ("O", "B-a", "I-a", "B-b", "I-b"),
    "paths": ("s/p", "s/q", "s", "p", "O"),
    "hierarchy": ("O", "B-s", "I-s", "B-s/B-p", "I-s/B-p", "I-s/I-p", "B-s/I-p", "I-s/I-q", "B-p", "I-p"),
    "mixed": ("a", "B-a", "I-a/B-b", "a/b", "O"),
    "one": ("a",),
}
FAST = settings(deadline=None, derandomize=True, max_examples=300)

atoms = st.sampled_from(
    [
        p.Words(("x", "12")),
        p.Words(("y",), fold=False),
        p.Pattern(r"\d+"),
        p.Shape("x"),
        p.Named("punctuation", p.BUILT_IN["punctuation"]),
        p.Text("x y"),
        p.Text(r"\. "),
        p.ALWAYS,
        p.FIRST,
        p.LAST,
        p.At(1, -2),
        p.At(-2, 1),
        p.At(2, 3),
    ]
)


def _compound(inner: st.SearchStrategy[p.Condition]) -> st.SearchStrategy[p.Condition]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(p.AllOf, several),
        st.builds(p.AnyOf, several),
        st.builds(p.NoneOf, inner),
        st.builds(p.Near, st.sampled_from([-1, 1]), inner),
    )


conditions = st.recursive(atoms, _compound, max_leaves=3)
comparisons = st.sampled_from(["<=", ">=", "=="])
exists = st.builds(n.Exists, conditions)
every_token = st.builds(n.Linear, st.just((n.Term(1, "tokens", n.ANYTHING),)), comparisons, st.integers(-1, 6))
on_input = st.recursive(
    st.one_of(exists, every_token),
    lambda inner: st.one_of(
        st.builds(n.Not, inner),
        st.builds(n.If, inner, inner),
        st.builds(n.All, st.tuples(inner, inner)),
        st.builds(n.Any, st.tuples(inner, inner)),
    ),
    max_leaves=3,
)


@cache
def field_sets(kind: str) -> st.SearchStrategy[n.Fields]:
    known = sorted(n.known_fields(LABEL_SETS[kind]))
    some = st.lists(st.sampled_from(known), min_size=1, max_size=2).map(tuple)
    return st.one_of(st.builds(n.Fields, some, st.booleans()), st.sampled_from([n.ANYTHING, n.ANY_FIELD]))


@cache
def terms(kind: str) -> st.SearchStrategy[tuple[n.Term, ...]]:
    term = st.builds(
        n.Term, st.sampled_from([1, 1, 2, -1, -2]), st.sampled_from(["segments", "tokens"]), field_sets(kind)
    )
    return st.lists(term, min_size=1, max_size=3, unique_by=lambda t: (t.unit, t.fields)).map(tuple)


@cache
def local_leaves(kind: str) -> st.SearchStrategy[n.Node]:
    fields = field_sets(kind)
    return st.one_of(
        st.builds(n.Implies, conditions, fields, fields, st.sampled_from([-1, 0, 1])),
        st.builds(n.Change, conditions),
        st.builds(n.Length, fields, comparisons, st.just(1)),
        st.builds(
            lambda f, u, c: n.Linear((n.Term(2, u, f),), c, 0),
            fields,
            st.sampled_from(["segments", "tokens"]),
            comparisons,
        ),
    )


@cache
def linear_leaves(kind: str) -> st.SearchStrategy[n.Node]:
    counted = st.builds(n.Linear, terms(kind), comparisons, st.integers(-3, 3))
    return st.one_of(st.builds(n.Once, field_sets(kind)), counted, exists, exists.map(n.Not))


def gated(leaves: st.SearchStrategy[n.Node]) -> st.SearchStrategy[n.Node]:
    """Leaves, sums of them, and both where the input satisfies something."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(st.builds(n.If, on_input, inner), st.builds(n.All, st.tuples(inner, inner))),
        max_leaves=3,
    )


@cache
def nodes(kind: str) -> st.SearchStrategy[n.Node]:
    fields = field_sets(kind)
    leaves = st.one_of(
        local_leaves(kind),
        linear_leaves(kind),
        st.builds(n.Length, fields, comparisons, st.integers(1, 4)),
        st.builds(n.Before, fields, fields),
        st.builds(n.Later, fields, fields),
        on_input,
    )

    def compound(inner: st.SearchStrategy[n.Node]) -> st.SearchStrategy[n.Node]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        return st.one_of(
            st.builds(n.All, several), st.builds(n.Any, several), st.builds(n.Not, inner), st.builds(n.If, inner, inner)
        )

    return st.recursive(leaves, compound, max_leaves=4)


@dataclass(frozen=True)
class Problem:
    rules: RuleSet
    labels: Labels
    tokens: tuple[str, ...]
    labellings: tuple[tuple[int, ...], ...]

    @property
    def compiled(self) -> Compiled:
        return compile_rules(self.rules, self.labels)

    def names(self, y: tuple[int, ...]) -> list[str | None]:
        return self.labels.decode(y)


@st.composite
def problems(draw: st.DrawFn, kinds=tuple(LABEL_SETS), nodes=nodes, once=(False, False, True), most=3) -> Problem:
    """Draw 1..most rules over one of the label sets, 0..7 tokens, and up to six labellings."""
    kind = draw(st.sampled_from(kinds))
    names = LABEL_SETS[kind]
    drawn = draw(st.lists(st.tuples(nodes(kind), st.sampled_from(once)), min_size=1, max_size=most))
    tokens = tuple(draw(st.lists(st.sampled_from(WORDS), max_size=7)))
    labelling = st.lists(st.integers(0, len(names) - 1), min_size=len(tokens), max_size=len(tokens)).map(tuple)
    rules = RuleSet(Rule(f"r{k}", node, 1.0, flag) for k, (node, flag) in enumerate(drawn))
    return Problem(rules, Labels(names), tokens, tuple(draw(st.lists(labelling, min_size=1, max_size=6))))


def test_every_node_type_is_drawn() -> None:
    for node_type in n.NODE_TYPES:
        find(
            nodes("tags"),
            lambda node, wanted=node_type: any(type(inner) is wanted for inner in n.walk(node)),
            settings=settings(deadline=None, derandomize=True, max_examples=5000, database=None),
        )


def test_every_form_is_drawn() -> None:
    for form in ("local", "linear", "monitor"):
        find(
            problems(),
            lambda problem, wanted=form: wanted in problem.compiled.form,
            settings=settings(deadline=None, derandomize=True, max_examples=5000, database=None),
        )
