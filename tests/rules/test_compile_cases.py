"""Random problems for the compiled forms, shared by the other `test_compile_*` files, and checks that they vary.

A problem is a rule set, the labels it is compiled for, and cases: tokens with a labelling, often no valid IOB2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Labels
from espalier.rules import Rule, RuleSet
from espalier.rules import nodes as n
from espalier.rules import phrases as ph
from espalier.rules import predicates as p
from espalier.rules.compile import Compiled, Grounded, compile_rules

WORDS = ("x", "y", ".", ",", "12")
LABEL_SETS = {
    "plain": ("a", "b", "c", "O"),
    "tags": ("O", "B-a", "I-a", "B-b", "I-b"),
    "paths": ("s/p", "s/q", "s", "p", "O"),
    "hierarchy": ("O", "B-s", "I-s", "B-s/B-p", "I-s/B-p", "I-s/I-p", "B-s/I-p", "I-s/I-q", "B-p", "I-p"),
    "mixed": ("a", "B-a", "I-a/B-b", "a/b", "O"),
    "one": ("a",),
}
FAST = settings(deadline=None, derandomize=True, max_examples=60)

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
        ph.Phrases(("x y", "y. 12")),
        ph.Phrases(("x",), role="ends"),
    ]
)


def _compound(inner: st.SearchStrategy[p.Condition]) -> st.SearchStrategy[p.Condition]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(p.AllOf, several),
        st.builds(p.AnyOf, several),
        st.builds(p.NoneOf, inner),
        st.builds(p.Near, st.sampled_from([-1, 1]), inner),
        st.builds(p.Window, st.integers(-3, 0), st.integers(0, 2), inner),
        st.builds(
            lambda one, other, sign, role: ph.PhrasePattern(ph.InOrder((one, ph.Repeat(other, sign))), role),
            *(inner, inner, st.sampled_from(["?", "*", "+"]), st.sampled_from(ph.ROLES)),
        ),
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
        st.builds(n.Followed, fields, fields),
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
    """Rules for some labels, and many pairs of tokens and a labelling; the first has no token, the second one."""

    rules: RuleSet
    labels: Labels
    cases: tuple[tuple[tuple[str, ...], tuple[int, ...]], ...]

    @property
    def compiled(self) -> Compiled:
        return compile_rules(self.rules, self.labels)

    def grounded(self) -> Iterator[tuple[Grounded, tuple[int, ...], list[str | None]]]:
        """Yield each case grounded, with its labels as numbers and names."""
        compiled = self.compiled
        for tokens, y in self.cases:
            yield compiled.ground(tokens), y, self.labels.decode(y)


@st.composite
def problems(draw: st.DrawFn, kinds=tuple(LABEL_SETS), nodes=nodes, once=(False, False, True), most=3) -> Problem:
    """Draw 1..most rules over one of the label sets. Cases come from a seed: drawing them one by one takes longer."""
    kind = draw(st.sampled_from(kinds))
    names = LABEL_SETS[kind]
    drawn = draw(st.lists(st.tuples(nodes(kind), st.sampled_from(once)), min_size=1, max_size=most))
    rules = RuleSet(Rule(f"r{k}", node, 1.0, flag) for k, (node, flag) in enumerate(drawn))
    random = Random(draw(st.integers(0, 2**32)))
    lengths = [0, 1, *(random.randint(1, 7) for _ in range(18))]
    cases = [(tuple(random.choices(WORDS, k=T)), tuple(random.choices(range(len(names)), k=T))) for T in lengths]
    return Problem(rules, Labels(names), tuple(cases))


def test_every_node_type_and_form_is_drawn() -> None:
    types: set[type[n.Node]] = set()
    forms: set[str] = set()

    @FAST
    @given(problems())
    def collect(problem: Problem) -> None:
        types.update(type(inner) for rule in problem.rules for inner in n.walk(rule.node))
        forms.update(problem.compiled.form)

    collect()
    assert types == set(n.NODE_TYPES)
    assert forms == {"local", "linear", "monitor"}
