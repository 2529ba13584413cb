"""`learning.clause_rules`: rules that say when a relation holds, counted by the meaning of rules."""

from __future__ import annotations

import pytest

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.papers.two_stage.clause_rules import learn_clauses
from espalier.papers.two_stage.mining import mine
from espalier.rules import meaning
from espalier.rules.generators import RELATION_KINDS
from espalier.rules.ruleset import RuleSet

BOOK = (["A", ".", "T", ".", "P"], ["author", "author", "title", "title", "press"])
PAPER = (["A", ",", "T", ".", "J"], ["author", "author", "title", "title", "journal"])
LONE = (["T", ".", "J"], ["title", "title", "journal"])


def corpus(*kinds: tuple[list[str], list[str]]) -> Corpus:
    tokens, labels = zip(*kinds, strict=True)
    return Corpus.from_tokens(list(tokens), list(labels))


def texts(kind: str, data: Corpus) -> set[str]:
    return {str(relation.rule).partition('": ')[2] for relation in learn_clauses(data, [kind])}


def test_a_relation_that_holds_under_a_condition_is_found_with_it() -> None:
    dated = (["A", ".", "T", ".", "P", "1999"], ["author", "author", "title", "title", "press", "date"])
    data = corpus(*[dated] * 8, *[PAPER] * 8)
    found = texts("precedence", data)
    assert {"if press required then title followed later by date", "author followed later by title"} <= found
    assert "if count(date) <= 0 then title followed later by journal" in found
    assert not any("title followed later by date" in str(r.rule) for r in mine(data, ["precedence"]))


def test_the_field_that_a_relation_asks_for_is_no_condition() -> None:
    found = texts("precedence", corpus(*[BOOK] * 8, *[PAPER] * 8))
    assert not any("press required then title followed later by press" in text for text in found)
    assert not any("press required then last in press" in text for text in texts("begin-end", corpus(*[BOOK] * 8)))


def test_a_state_change_names_the_mark_and_the_label_before() -> None:
    data = corpus(*[BOOK] * 8, *[LONE] * 8)
    found = texts("state change", data)
    assert 'label author and token in "." -> next title' in found or (
        'label author and token in ".", ",", ";", ":" -> next title' in found
    )


def test_a_state_change_costs_once_a_delimiter() -> None:
    data = corpus(*[BOOK] * 8)
    for relation in learn_clauses(data, ["state change"]):
        wrong = ["press", "title", "press", "author", "author"]
        assert meaning.degree(relation.rule.node, BOOK[0], wrong) <= 2  # there are two delimiters


@pytest.mark.parametrize("kind", RELATION_KINDS)
def test_support_and_breaches_are_those_of_the_meaning(kind: str) -> None:
    data = corpus(*[BOOK] * 7, *[PAPER] * 6, *[LONE] * 9)
    for relation in learn_clauses(data, [kind], min_confidence=0.6, min_support=2):
        broken = [
            i for i in range(len(data)) if meaning.degree(relation.rule.node, data.tokens(i), data.label_names(i))
        ]
        assert (relation.broken > 0) == bool(broken)
        assert relation.support >= 2
        assert relation.confidence >= 0.6


def test_rules_can_be_written_and_read_again() -> None:
    found = [relation.rule for relation in learn_clauses(corpus(*[BOOK] * 8, *[PAPER] * 8, *[LONE] * 8))]
    assert found
    assert [rule.node for rule in RuleSet.from_text("\n".join(map(str, found)))] == [rule.node for rule in found]


def test_unknown_labels_are_refused() -> None:
    with pytest.raises(InputError):
        learn_clauses(Corpus.from_tokens([["a"]], [[None]]))
