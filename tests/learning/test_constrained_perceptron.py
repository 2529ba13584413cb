"""Perceptron training under rules against a plain implementation that enumerates labellings."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest

from espalier.corpus import Corpus, Labels
from espalier.errors import InfeasibleError
from espalier.features.extract import FeatureExtractor
from espalier.features.matrix import FeatureMatrix
from espalier.learning.constrained_perceptron import ConstrainedTraining, train_constrained
from espalier.learning.perceptron import all_pairs, train_perceptron
from espalier.models.linear import ChainModel
from espalier.rules import RuleSet
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees

TOKENS = [["a", "b", ".", "c"], ["b", "c", "a"], ["c", ".", "a", "b"], ["a"]]
GOLD = [["x", "x", "x", "y"], ["y", "y", "x"], ["y", "y", "x", "x"], ["x"]]
NAMES = Labels(["x", "y", "z"])
RULES = RuleSet.from_text('Once: each field once\nA: token in "a" -> x\nBorder: change only after token in "."')
WEIGHT = np.array([1.0, 0.7, 1.9, 0.3])  # unequal, so that scores do not tie after the first steps


def features(corpus: Corpus) -> FeatureMatrix:
    return FeatureExtractor(["lower"], 1).fit_transform(corpus)[1]


def train(
    corpus: Corpus, rules: RuleSet, rho: list[float], learned: list[bool], **options: object
) -> ConstrainedTraining:
    L = len(NAMES)
    matrix = features(corpus)
    return train_constrained(
        matrix, corpus, all_pairs(matrix.n_attributes, L), np.ones(L, bool), np.ones((L, L), bool),
        compile_rules(rules, NAMES), np.array(rho), np.array(learned, bool), np.random.default_rng(3), **options,
    )  # fmt: skip


def enumerate_training(
    tokens: list[list[str]],
    gold: list[list[str | None]],
    rules: RuleSet,
    rho: np.ndarray,
    learned: np.ndarray,
    epochs: int,
) -> tuple[dict[tuple[str, str], float], np.ndarray]:
    """Train by the definition, with dictionaries; return the mean weights (words and transitions) and penalties."""
    w: dict[tuple[str, str], float] = {}
    total: dict[tuple[str, str], float] = {}
    rho_total, steps = np.zeros(len(rho)), 0
    rng = np.random.default_rng(3)

    def parts(words: list[str], y: tuple[str, ...]) -> list[tuple[str, str]]:
        return [("word " + word, label) for word, label in zip(words, y, strict=True)] + list(pairwise(y))

    def best(words: list[str], known: list[str | None]) -> tuple[str, ...]:
        def value(y: tuple[str, ...]) -> float:
            price = sum(r * d for r, d in zip(rho, degrees(rules, words, y), strict=True) if d)
            return sum(w.get(part, 0.0) for part in parts(words, y)) - price

        fits = [
            y
            for y in product(NAMES.names, repeat=len(words))
            if all(k in (None, label) for k, label in zip(known, y, strict=True))
        ]
        # The common order of ties: the lowest label at the last token, then at the one before.
        return max(sorted(fits, key=lambda y: y[::-1]), key=lambda y: round(value(y), 9))

    for _ in range(epochs):
        for i in rng.permutation(len(tokens)):
            words, steps = tokens[i], steps + 1
            guess, target = best(words, [None] * len(words)), best(words, gold[i])
            for sign, y in ((WEIGHT[i], target), (-WEIGHT[i], guess)):
                for part in parts(words, y):
                    w[part] = w.get(part, 0.0) + sign
            change = WEIGHT[i] * (degrees(rules, words, guess) - degrees(rules, words, target))
            if guess != target:
                rho = np.where(learned, np.maximum(rho + change, 0.0), rho)
            for part, value in w.items():
                total[part] = total.get(part, 0.0) + value
            rho_total += np.where(learned, rho, 0.0)
    return {part: value / steps for part, value in total.items()}, np.where(learned, rho_total / steps, rho)


def weights_by_name(model: ChainModel, corpus: Corpus) -> dict[tuple[str, str], float]:
    index = FeatureExtractor(["lower"], 1).fit_transform(corpus)[0]
    names, attributes = index.names(), model.pairs.attributes()
    found = {
        ("word " + names[a][-1], NAMES[int(j)]): float(v)
        for a, j, v in zip(attributes, model.pairs.label, model.w, strict=True)
    }
    return found | {(NAMES[i], NAMES[j]): float(model.trans[i, j]) for i in range(3) for j in range(3)}


@pytest.mark.parametrize("gold", [GOLD, [["x", None, "x", None], GOLD[1], [None, "y", None, "x"], ["x"]]])
@pytest.mark.parametrize(
    ("rho", "learned"),
    [
        ([0.0, 0.0, 0.0], [True, True, True]),
        ([0.0, 0.35, 0.0], [True, False, True]),
        ([0.85, 0.35, 1.15], [False, False, False]),
        ([0.0, math.inf, 0.0], [True, False, True]),
    ],
)
def test_against_enumeration(gold: list[list[str | None]], rho: list[float], learned: list[bool]) -> None:
    corpus = Corpus.from_tokens(TOKENS, gold, vocabulary=NAMES)
    found = train(corpus, RULES, rho, learned, epochs=4, sample_weight=WEIGHT)
    weights, penalties = enumerate_training(TOKENS, gold, RULES, np.array(rho), np.array(learned), 4)
    np.testing.assert_allclose(found.penalties, penalties, atol=1e-9)
    ours = weights_by_name(found.model, corpus)
    for part in weights.keys() | ours.keys():
        assert ours.get(part, 0.0) == pytest.approx(weights.get(part, 0.0), abs=1e-9), part


def test_a_rule_that_guesses_break_gets_dearer_and_one_that_gold_breaks_stays_free() -> None:
    """The sign, by meaning: violations are never rewarded."""
    corpus = Corpus.from_tokens(TOKENS, GOLD, vocabulary=NAMES)
    rules = RuleSet.from_text('Kept: token in "a" -> x\nBroken: token in "a" -> y\nNever: token in "q" -> x')
    found = train(corpus, rules, [0.0] * 3, [True] * 3, epochs=5)
    kept, broken, never = found.penalties
    assert broken == never == 0.0
    assert kept >= 0.0
    # All zero weights guess x everywhere; "y" is right, so the rule for it is learned from the first mistake on.
    one = Corpus.from_tokens([["q"]], [["y"]], vocabulary=NAMES)
    found = train(
        one, RuleSet.from_text('Y: token in "q" -> y\nX: token in "q" -> x'), [0.0, 0.0], [True, True], epochs=1
    )
    assert found.penalties.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("averaged", [True, False])
def test_without_a_price_it_is_the_perceptron(averaged: bool) -> None:
    gold = [["x", None, "x", "y"], *GOLD[1:]]
    corpus = Corpus.from_tokens([*TOKENS, [], ["a"]], [*gold, [], [None]], vocabulary=NAMES)
    matrix, L = features(corpus), len(NAMES)
    plain = train_perceptron(
        matrix, corpus.indptr, corpus.y, all_pairs(matrix.n_attributes, L), np.ones(L, bool), np.ones((L, L), bool),
        np.random.default_rng(3), epochs=6, averaged=averaged, boundaries=True,
    )  # fmt: skip
    found = train(corpus, RULES, [0.0] * 3, [False] * 3, epochs=6, averaged=averaged, boundaries=True)
    assert found.mistakes == plain.mistakes
    for name in ("w", "trans", "start", "end"):
        np.testing.assert_array_equal(getattr(found.model, name), getattr(plain.model, name))
    assert found.penalties.tolist() == [0.0] * 3


def test_rules_that_nothing_satisfies_leave_the_plain_answer() -> None:
    corpus = Corpus.from_tokens(TOKENS, GOLD, vocabulary=NAMES)
    rules = RuleSet.from_text('A: token in "a" -> x\nB: token in "a" -> y')
    found = train(corpus, rules, [math.inf, math.inf], [False, False], epochs=3)
    assert np.isfinite(found.model.w).all()
    assert found.penalties.tolist() == [math.inf, math.inf]


def test_impossible_labels_are_an_error() -> None:
    corpus = Corpus.from_tokens([["a", "b"]], [["x", "y"]], vocabulary=NAMES)
    matrix = features(corpus)
    with pytest.raises(InfeasibleError, match="sequence 0"):
        train_constrained(
            matrix, corpus, all_pairs(matrix.n_attributes, 3), np.zeros(3, bool), np.ones((3, 3), bool),
            compile_rules(RULES, NAMES), np.zeros(3), np.zeros(3, bool), np.random.default_rng(0),
        )  # fmt: skip
