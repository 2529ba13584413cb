"""Discovery on data small enough to work out by hand, and as a whole on random predictions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier import CRF, HMM
from espalier.corpus import Corpus, Labels
from espalier.errors import InputError, NotFittedError, ResultWarning
from espalier.learning.discovery import TEMPLATES, discover
from espalier.rules import count_templates, degree, relation_templates
from espalier.rules.ruleset import KEPT_PRIOR, VIOLATED_PRIOR, RuleSet
from espalier.tasks.task import load_task

TOKENS = [["x", ",", "y"], ["x", "y", "z"], ["x", "y", "x"], ["z", "z"]]
GOLD = [["a", "a", "b"], ["a", "b", "b"], ["a", "b", "a"], ["b", "b"]]
ANSWERS = [["a", "b", "a"], ["a", "b", "b"], ["a", "b", "a"], ["a", "b"]]
CORPUS = Corpus.from_tokens(TOKENS, GOLD)


def test_importance_by_hand() -> None:
    found = discover(CORPUS, ANSWERS, ("singleton",), importance=2.0, penalties=None, cover=None)
    # a twice: in answers 0 and 2, and in the right labels of sequence 2 alone; b is never there twice.
    assert (found.candidates, found.important, found.sequences) == (2, 1, 4)
    [row] = found.rows
    assert (row.name, row.template, row.text) == ("n(a) <= 1", "singleton", "count(a) <= 1")
    assert (row.gold, row.predicted, row.importance, row.separated) == (1, 2, 2.0, (0,))
    assert (row.support, row.confidence) == (2, 2 / 3)
    assert (row.penalty, row.fixes, row.breaks) == (None, None, None)
    assert discover(CORPUS, ANSWERS, ("singleton",), importance=2.1, penalties=None).rules.K == 0
    assert str(row) == "support 2 (66.7%); broken by 2 predictions, 1 gold labellings"


def test_what_gold_never_breaks_is_infinitely_important_and_what_no_answer_breaks_is_dropped() -> None:
    found = discover(CORPUS, ANSWERS, ("begin-end",), importance=0.1, penalties=None, cover=None)
    # Begins with a, ends with b: broken by the right labels of sequence 2, and by answers 0 and 2; and so on.
    assert {row.name: row.importance for row in found.rows} == {"begin-end: a b": 2.0, "begin-end: a a": 1.0}
    found = discover(CORPUS, [["a", "a", "b"], *ANSWERS[1:3], ["b", "a"]], ("begin-end",), penalties=None)
    assert {row.name: row.importance for row in found.rows} == {"begin-end: b b": math.inf}


@st.composite
def compared(draw):
    label = st.sampled_from(["B-a", "I-a", "B-b", "I-b", "O"])
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    tokens = [draw(st.lists(st.sampled_from(["x", ","]), min_size=T, max_size=T)) for T in lengths]
    gold, answers = ([draw(st.lists(label, min_size=T, max_size=T)) for T in lengths] for _ in range(2))
    return Corpus.from_tokens(tokens, gold, vocabulary=Labels(["B-a", "I-a", "B-b", "I-b", "O"])), answers


@settings(max_examples=40, deadline=None, derandomize=True)
@given(compared(), st.sampled_from([0.5, 1.0, 2.75]))
def test_all_figures_against_the_meaning(data, least):
    corpus, answers = data
    found = discover(corpus, answers, importance=least, min_support=0, cover=None, penalties=None, bounds=(0, 1))
    rows = {row.name: row for row in found.rows}
    seen = set()
    for rule in [*count_templates(corpus.labels, bounds=(0, 1)), *relation_templates(corpus.labels)]:
        gold, predicted = (
            [degree(rule, x, y) > 0 for x, y in zip(corpus, labels, strict=True)]
            for labels in (corpus.all_labels(), answers)
        )
        important = sum(predicted) and (sum(predicted) >= least * sum(gold))
        assert (rule.name in rows) == bool(important and rule.node not in seen)
        seen.add(rule.node)
        if rule.name in rows:
            row = rows[rule.name]
            assert (row.gold, row.predicted) == (sum(gold), sum(predicted))
            assert row.separated == tuple(
                i for i, (g, p) in enumerate(zip(gold, predicted, strict=True)) if p and not g
            )
    assert found.candidates == len(seen)
    small = discover(corpus, answers, importance=least, min_support=0, cover=1, penalties=None, bounds=(0, 1))
    everything, some = ({i for row in d.rows for i in row.separated} for d in (found, small))
    assert everything == some
    assert len(some) >= small.rules.K


def wrong_crf() -> tuple[Corpus, CRF]:
    """A corpus in which a is there once, and a model that has learned otherwise."""
    tokens = [["p", "q", "r", "p"], ["q", "q", "p"], ["p", "r"]] * 3
    gold = [["a", "b", "b", "b"], ["b", "b", "a"], ["a", "b"]] * 3
    taught = [["a", "b", "b", "a"], ["b", "b", "a"], ["a", "b"]] * 3
    return Corpus.from_tokens(tokens, gold), CRF(["word"], l2=0.1).fit(tokens, taught)


@pytest.mark.parametrize("penalties", ["count", "perceptron"])
def test_a_model_gets_penalties_and_examples(penalties: str) -> None:
    corpus, model = wrong_crf()
    found = discover(corpus, model, ("singleton",), penalties=penalties)
    [row] = found.rows
    assert (row.name, row.separated, row.importance) == ("n(a) <= 1", (0, 3, 6), math.inf)
    assert found.rules["n(a) <= 1"].penalty == row.penalty
    assert row.penalty is not None
    assert row.penalty > 0
    if penalties == "count":  # nine sequences keep it, none breaks it
        assert row.penalty == pytest.approx(math.log((9 + KEPT_PRIOR) / VIOLATED_PRIOR))
        # One of the two p becomes b: the right one or the wrong one, as the model likes.
        assert row.fixes is not None
        assert set(row.fixes) | set(row.breaks or ()) <= {0, 3, 6}


def test_fixes_by_enumeration() -> None:
    """Under the rule alone the second p is the cheaper one to relabel, so the sequences are mended."""
    tokens = [["p", "q", "P"]] * 4
    gold = Corpus.from_tokens(tokens, [["a", "b", "b"]] * 4)
    model = CRF(["word"], l2=0.1).fit([*tokens, ["P"], ["p"], ["p"]], [["a", "b", "a"]] * 4 + [["b"], ["a"], ["a"]])
    assert model.predict(tokens)[0] == ["a", "b", "a"]
    [row] = discover(gold, model, ("singleton",), penalties="count").rows
    assert (row.fixes, row.breaks) == ((0, 1, 2, 3), ())


def test_most_useful_first_and_at_most_so_many() -> None:
    found = discover(CORPUS, ANSWERS, importance=1.0, penalties="count", cover=None)
    useful = [len(row.separated) for row in found.rows]
    assert useful == sorted(useful, reverse=True)
    assert [row.name for row in found.rows] == list(found.rules.names)
    few = discover(CORPUS, ANSWERS, importance=1.0, penalties="count", cover=None, max_rules=3)
    assert few.rows == found.rows[:3]
    assert found.only(found.rules.names[:2]).rows == found.rows[:2]


def test_task_file(tmp_path) -> None:
    found = discover(CORPUS, ANSWERS, importance=1.0, cover=None)
    path = tmp_path / "found.toml"
    path.write_text(found.to_task(defaults={"model": "hmm"}), encoding="utf-8")
    task = load_task(path)
    assert (task.labels, task.rules, task.defaults) == (found.labels, found.rules, {"model": "hmm"})
    assert RuleSet.from_text(found.to_rules()) == found.rules
    assert f"# {found.rows[0]}" in found.to_task()
    nothing = discover(CORPUS, GOLD)
    path.write_text(nothing.to_task(), encoding="utf-8")
    assert load_task(path).rules.K == 0


@pytest.mark.parametrize("odd", ["it's '''odd'''", 'a "b"\\c', "tab\tname"])
def test_task_file_with_odd_labels(tmp_path, odd: str) -> None:
    corpus = Corpus.from_tokens([["x", "y"]], [[odd, "b"]])
    found = discover(corpus, [["b", "b"]], ("presence", "pairwise"))
    assert found.rules.K
    path = tmp_path / "odd.toml"
    path.write_text(found.to_task(), encoding="utf-8")
    assert load_task(path).rules == found.rules


def test_unknown_labels_are_unknown_on_both_sides() -> None:
    gold = [["a", None, "b"], *GOLD[1:]]
    found = discover(CORPUS.with_labels(gold), ANSWERS, ("singleton",), importance=1.0, penalties=None, cover=None)
    # Answer 0 is a, unknown, a: the unknown token is in no segment, so a is still there twice.
    assert [(row.name, row.predicted) for row in found.rows] == [("n(a) <= 1", 2)]
    gold = [["a", "a", None], *GOLD[1:]]
    found = discover(CORPUS.with_labels(gold), ANSWERS, ("singleton",), importance=1.0, penalties=None, cover=None)
    assert [(row.name, row.predicted) for row in found.rows] == [("n(a) <= 1", 1)]


def test_labels_that_the_model_lacks_are_named() -> None:
    model = HMM().fit([["x", "y"]], [["a", "b"]])
    with pytest.warns(ResultWarning, match="does not know the labels c;"):
        found = discover(Corpus.from_tokens([["x", "y"]], [["a", "c"]]), model, penalties=None)
    assert found.labels == Labels(["a", "b"])


def test_json_holds_everything() -> None:
    found = discover(CORPUS, [["a", "a", "b"], *ANSWERS[1:3], ["b", "a"]], ("begin-end",)).to_dict()
    assert found["rules"][0]["importance"] == "inf"
    assert set(found) == {"candidates", "important", "sequences", "labels", "rules"}


def test_wrong_use() -> None:
    with pytest.raises(InputError, match="unknown template 'singelton'; did you mean 'singleton'"):
        discover(CORPUS, ANSWERS, ("singelton",))
    with pytest.raises(InputError, match="collection of names"):
        discover(CORPUS, ANSWERS, "singleton")
    with pytest.raises(InputError, match="importance is -1"):
        discover(CORPUS, ANSWERS, importance=-1)
    with pytest.raises(InputError, match="penalties is 'svm'"):
        discover(CORPUS, ANSWERS, penalties="svm")
    with pytest.raises(InputError, match="max_rules is -3"):
        discover(CORPUS, ANSWERS, max_rules=-3)
    with pytest.raises(InputError, match="fitted model of chains"):
        discover(CORPUS, ANSWERS, penalties="perceptron")
    with pytest.raises(InputError, match="empty or has none"):
        discover(Corpus.from_tokens(TOKENS), ANSWERS)
    with pytest.raises(InputError, match="4 sequences but 1 label lists"):
        discover(CORPUS, ANSWERS[:1])
    with pytest.raises(InputError, match="a labelled Corpus or a pair \\(X, y\\), not list"):
        discover(TOKENS, ANSWERS)
    with pytest.raises(NotFittedError):
        discover(CORPUS, HMM())


def test_candidates_of_every_template_are_looked_at() -> None:
    found = discover(CORPUS, ANSWERS, penalties=None)
    each = [discover(CORPUS, ANSWERS, (name,), penalties=None).candidates for name in TEMPLATES]
    assert found.candidates == sum(each)
    assert np.all(np.array(each)[[0, 1, 3, 4, 5, 6, 7]] > 0)
