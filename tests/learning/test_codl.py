"""Constraint-driven learning without estimators: the guard, guesses, the k best against enumeration."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus, Labels
from espalier.document import Document
from espalier.errors import InputError
from espalier.estimators.unlabelled import Guard
from espalier.learning.codl import Cycle, Guess, guess_labels, guess_of, pseudo_labelled
from espalier.potentials import ChainBatch, Potentials
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees
from espalier.rules.ruleset import RuleSet
from oracles import labellings

relaxed = settings(deadline=None, derandomize=True, max_examples=40)


# The guard


@pytest.mark.parametrize(
    ("scores", "keep", "patience", "kept", "seen"),
    [
        ([5, 6, 7, 4], "best", None, 2, 3),
        ([5, 6, 7, 4], "last", None, 3, 3),
        ([5, 3, 4, 1], "best", None, 0, 3),  # the supervised model wins
        ([5, 5, 5], "best", None, 0, 2),  # ties go to the earlier one
        ([5, 3, 4, 9], "best", 2, 0, 2),  # gives up before the good one
        ([5, 3, 6, 4, 4, 9], "best", 2, 2, 4),
        ([5, 3, 4, 9], "last", 1, 1, 1),
    ],
)
def test_the_guard_keeps_and_stops(scores: list[int], keep: str, patience: int | None, kept: int, seen: int) -> None:
    guard = Guard(lambda model: scores[model], keep=keep, patience=patience)
    for model in range(len(scores)):
        if guard.stop:
            break
        assert guard.see(model) == scores[model]
    assert (guard.model, guard.cycle, guard.seen) == (kept, kept, seen)
    assert (guard.score, guard.supervised_score) == (scores[kept], scores[0])


def test_without_a_score_the_last_model_is_kept() -> None:
    guard = Guard(keep="best", patience=1)
    assert guard.see("a") is None
    assert guard.see("b") is None
    assert guard.see("c") is None
    assert not guard.stop
    assert (guard.model, guard.cycle, guard.score, guard.supervised_score) == ("c", 2, None, None)


@pytest.mark.parametrize("wrong", [{"keep": "first"}, {"patience": 0}, {"patience": 1.5}, {"patience": True}])
def test_the_guard_checks_its_options(wrong: dict) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        Guard(**wrong)


# Guesses


def test_weights_are_uniform_or_a_softmax() -> None:
    scores = np.array([[math.log(6), math.log(3), math.log(1)], [-700.0, -700.0, -np.inf], [-np.inf] * 3])
    labels, proven = np.zeros((3, 3), np.int16), np.ones(3, bool)
    uniform = guess_of(labels, scores, proven).weight
    np.testing.assert_allclose(uniform.T, [[1 / 3] * 3, [0.5, 0.5, 0], [0, 0, 0]])
    by_score = guess_of(labels, scores, proven, "score").weight
    np.testing.assert_allclose(by_score.T, [[0.6, 0.3, 0.1], [0.5, 0.5, 0], [0, 0, 0]])
    with pytest.raises(InputError, match="weighting is 'rank'"):
        guess_of(labels, scores, proven, "rank")


def test_guesses_become_training_data() -> None:
    labels = Labels(["p", "q"])
    pool = Corpus.from_tokens([["a", "b"], [], ["c"], ["a"]])
    scores = np.array([[0.0, -1.0], [0.0, -np.inf], [0.0, -2.0], [-np.inf, -np.inf]])
    guess = guess_of(np.array([[0, 1, 0, -1], [1, 1, 1, -1]], np.int16), scores, np.ones(4, bool))
    corpus, weight = pseudo_labelled(pool, guess, labels)
    assert list(corpus) == [["a", "b"], [], ["c"], ["a", "b"], ["c"]]
    assert corpus.all_labels() == [["p", "q"], [], ["p"], ["q", "q"], ["q"]]
    assert weight.tolist() == [0.5, 1.0, 0.5, 0.5, 0.5]


def test_documents_go_along() -> None:
    pool = Corpus.from_documents([Document.from_tokens(["a", "b"]), Document.from_tokens(["c"])])
    guess = guess_of(np.array([[0, 1, 1], [1, 1, 0]], np.int16), np.zeros((2, 2)), np.ones(2, bool))
    corpus, _ = pseudo_labelled(pool, guess, Labels(["p", "q"]))
    assert corpus.documents is not None
    assert [d.text for d in corpus.documents] == ["a b", "c", "a b", "c"]
    assert (corpus + corpus).documents == corpus.documents * 2


def test_joined_corpora() -> None:
    labels = Labels(["p", "q"])
    first = Corpus.from_tokens([["a", "b"], ["c"]], [["p", None], ["q"]], vocabulary=labels)
    second = Corpus.from_tokens([["d", "b"], [], ["a"]], [["q", "p"], [], ["p"]], vocabulary=labels)
    both = first + second
    assert list(both) == [["a", "b"], ["c"], ["d", "b"], [], ["a"]]
    assert both.all_labels() == [["p", None], ["q"], ["q", "p"], [], ["p"]]
    with pytest.raises(InputError, match="different labels"):
        _ = first + Corpus.from_tokens([["a"]], [["p"]])
    assert (first + Corpus.from_tokens([["a"]])).y is None


# Parts


def test_guesses_about_parts_are_one_guess() -> None:
    scores = np.array([[0.0, -1.0], [0.0, -np.inf], [-np.inf, -np.inf]])
    labels = np.array([[0, 1, 0, -1], [1, 1, -1, -1]], np.int16)
    whole = replace(guess_of(labels, scores, np.array([True, False, True]), "score"), violations=3)
    borders = [(0, 2, 0, 1, 1), (2, 4, 1, 3, 2)]  # of tokens, of sequences, violations
    parts = [
        replace(guess_of(labels[:, a:b], scores[i:j], whole.proven[i:j], "score"), violations=v)
        for a, b, i, j, v in borders
    ]
    found = Guess.joined(parts)
    assert found.teaches(whole)
    assert not found.teaches(replace(whole, weight=whole.weight[:, ::-1]))
    assert found.cycle(1, None) == whole.cycle(1, None)
    assert found.cycle(1, None) == Cycle(1, 0.0, 1.0, 3, 2 / 3, 1)
    other = np.where(labels < 0, -1, 1 - labels)
    assert found.cycle(2, replace(whole, labels=other)).changed == 0.75  # where there is no label, none changed


# The k best under rules

NAMES = ("p", "q", "r")
RULES = """
    Once:    each field once
    Change:  change only after is punctuation
    Bee:     token in "b" -> q
    Few:     count(p) + count(r) <= 1
    Title:   q required
"""
LENGTH = "Length: length(each field) >= 2"


def compiled_rules(text: str, penalties: list[float]):
    rules = RuleSet.from_text(text)
    return compile_rules(rules.with_penalties(np.array(penalties[: rules.K])), NAMES)


def batch_of(seed: int, sequences: list[list[str]], classes: int) -> tuple[ChainBatch, Corpus]:
    rng = np.random.default_rng(seed)
    corpus = Corpus.from_tokens(sequences)
    M, L = corpus.n_tokens, len(NAMES)
    trans_class = rng.integers(0, classes, M).astype(np.int32)
    parts = rng.normal(size=(M, L)), rng.normal(size=(classes, L, L)), trans_class, rng.normal(size=L), np.zeros(L)
    return ChainBatch(corpus.indptr, *parts), corpus


def ranked(potentials: Potentials, compiled, tokens: list[str]) -> list[tuple[tuple[int, ...], float]]:
    """Every labelling with its price paid by the meaning of the rules, best first."""

    def gain(y: tuple[int, ...]) -> float:
        broken = degrees(compiled.rules, tokens, [NAMES[j] for j in y])
        return -sum(rho * d for rho, d in zip(compiled.rules.penalties, broken, strict=True) if d)

    found = labellings(potentials).reweighted(gain).items
    return sorted(((y, s) for y, s in found if s > -math.inf), key=lambda item: -item[1])


prices = st.lists(st.sampled_from([0.0, 0.7, 3.0, math.inf]), min_size=5, max_size=5)
texts = st.lists(st.lists(st.sampled_from(["a", "b", "."]), max_size=5), min_size=1, max_size=3)


@settings(relaxed, max_examples=25)
@given(
    st.integers(0, 999), texts, prices, st.sampled_from([1, 2, 5]), st.sampled_from([RULES, LENGTH]), st.integers(1, 2)
)
def test_guesses_under_rules_are_the_k_best(seed, sequences, rho, k, text, classes) -> None:
    batch, corpus = batch_of(seed, sequences, classes)
    compiled = compiled_rules(text, rho)
    found = guess_labels(batch, compiled, corpus, k=k, weighting="score")
    assert found.labels.shape == (k, corpus.n_tokens)
    assert found.proven.all()
    for i, (a, b) in enumerate(itertools.pairwise(corpus.indptr.tolist())):
        expected = ranked(batch[i], compiled, sequences[i])
        scores, n = dict(expected), min(k, len(expected))
        got = [tuple(y[a:b].tolist()) for y in found.labels[:n]]
        assert len(set(got)) == n
        assert [scores[y] for y in got] == pytest.approx([s for _, s in expected[:k]])
        assert found.scores[i] == pytest.approx(expected[0][1] if n else -math.inf)
        raw = np.exp([s - expected[0][1] for _, s in expected[:k]])
        np.testing.assert_allclose(found.weight[:n, i], raw / raw.sum(), rtol=1e-6)
        assert (found.labels[n if sequences[i] else 0 :, a:b] == -1).all()
        assert (found.weight[n:, i] == 0).all()


def test_lists_of_sequences_without_any_labelling() -> None:
    batch, corpus = batch_of(3, [["a", "b"], ["b"], []], 1)
    batch.unary[:2] = -np.inf
    found = guess_labels(batch, compiled_rules(RULES, [1.0] * 5), corpus, k=3)  # NumPy's warnings would be errors here
    assert np.isneginf(found.scores[0])
    assert (found.labels[:, :2] == -1).all()
    assert np.isfinite(found.scores[1])
    assert found.proven.all()


def test_k_is_a_whole_number() -> None:
    batch, corpus = batch_of(3, [["a"]], 1)
    with pytest.raises(InputError, match="k is 0"):
        guess_labels(batch, compiled_rules(RULES, [1.0] * 5), corpus, k=0)
