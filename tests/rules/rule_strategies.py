"""Random rules and labellings, small enough to check by eye."""

from __future__ import annotations

from hypothesis import strategies as st

from espalier.rules import nodes as n
from espalier.rules import phrases as ph
from espalier.rules import predicates as p
from espalier.rules.text import KEYWORDS

LABELS = ("a", "b", "c", "O")
WORDS = ("x", "y", ".", ",", "12")

odd_names = st.sampled_from(["a/b", "person-first", "two words", 'quo"te', "back\\slash", "été", "3rd", "tab\t"])
names = st.one_of(st.sampled_from(["a", "b", "title"]), st.sampled_from(sorted(KEYWORDS)), odd_names)
field_sets = st.one_of(
    st.builds(n.Fields, st.lists(names, min_size=1, max_size=3).map(tuple), st.booleans()),
    st.sampled_from([n.ANYTHING, n.ANY_FIELD]),
)
words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S", "Zs", "Cc"]), min_size=1, max_size=4)
patterns = st.sampled_from(["a", r"\d+", "a/b", r"[/#\"]+", r"\\/", r"(19|20)\d\d", "(?i)x|y", "a{2,3}", r"\.\]", "#"])
atoms = st.one_of(
    st.builds(p.Words, st.lists(words, min_size=1, max_size=3).map(tuple), st.booleans()),
    st.builds(
        ph.Phrases,
        st.lists(words.filter(str.strip), min_size=1, max_size=3).map(tuple),
        st.booleans(),
        st.just(""),
        st.sampled_from(ph.ROLES),
    ),
    st.builds(p.Pattern, patterns),
    st.builds(p.Text, patterns),
    st.builds(p.Shape, words.map(p.shape_of)),
    st.sampled_from(sorted(p.BUILT_IN)).map(lambda name: p.Named(name, p.BUILT_IN[name])),
    st.sampled_from([p.FIRST, p.LAST, p.ALWAYS, p.At(2, 5), p.At(-3, -1), p.At(1, -2)]),
)


def _more_conditions(inner: st.SearchStrategy[p.Condition]) -> st.SearchStrategy[p.Condition]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(p.AllOf, several),
        st.builds(p.AnyOf, several),
        st.builds(p.NoneOf, inner),
        st.builds(p.Near, st.sampled_from([-1, 1]), inner),
        st.builds(p.Window, st.integers(-9, 0), st.integers(0, 9), inner),
        st.builds(ph.PhrasePattern, phrase_patterns(inner), st.sampled_from(ph.ROLES)),
    )


def phrase_patterns(elements: st.SearchStrategy[p.Condition]) -> st.SearchStrategy[ph.PhrasePart]:
    """Patterns over tokens that are never empty."""

    def larger(inner: st.SearchStrategy[ph.PhrasePart]) -> st.SearchStrategy[ph.PhrasePart]:
        several = st.lists(inner, min_size=2, max_size=3).map(tuple)
        signs = st.sampled_from(["?", "*", "+"])
        return st.one_of(
            st.builds(ph.InOrder, several), st.builds(ph.Either, several), st.builds(ph.Repeat, inner, signs)
        )

    anything = st.recursive(elements, larger, max_leaves=4)
    return st.builds(lambda part, one: ph.InOrder((part, one)), anything, elements)


conditions = st.recursive(atoms, _more_conditions, max_leaves=5)
comparisons = st.sampled_from(["<=", ">=", "=="])
terms = st.lists(
    st.builds(
        n.Term,
        st.integers(-3, 3).filter(bool),
        st.sampled_from(["segments", "tokens"]),
        field_sets,
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda term: (term.unit, term.fields),
).map(tuple)
simple = st.one_of(
    st.builds(n.Implies, conditions, field_sets, field_sets, st.sampled_from([-1, 0, 1])),
    st.builds(n.Implies, conditions, field_sets),
    st.builds(n.Change, conditions),
    conditions.map(lambda c: n.Change(p.Near(-1, c) | c)),
    st.builds(n.Once, field_sets),
    st.builds(n.Length, field_sets, comparisons, st.integers(1, 9)),
    st.builds(n.Linear, terms, comparisons, st.integers(-3, 3)),
    st.builds(n.Before, field_sets, field_sets),
    st.builds(n.Followed, field_sets, field_sets),
    st.builds(n.Later, field_sets, field_sets),
    st.builds(n.Exists, conditions),
)


def _more_nodes(inner: st.SearchStrategy[n.Node]) -> st.SearchStrategy[n.Node]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(n.All, several), st.builds(n.Any, several), st.builds(n.Not, inner), st.builds(n.If, inner, inner)
    )


rule_nodes = st.recursive(simple, _more_nodes, max_leaves=5)
plain_labellings = st.lists(st.sampled_from(LABELS), max_size=7)
