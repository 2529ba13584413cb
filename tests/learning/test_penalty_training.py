"""Penalties trained on held-out sequences, against enumeration and SciPy."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.learning.penalty_training import (
    HeldOut,
    Plane,
    minimise_planes,
    train_perceptron_penalties,
    train_svm_penalties,
)
from espalier.potentials import ChainBatch, Potentials
from espalier.rules import RuleSet
from espalier.rules.compile import Compiled, compile_rules
from espalier.rules.meaning import degrees
from oracles import chain_score

NAMES = Labels(["x", "y", "z"])
TOKENS = [["a", "b", ".", "c"], ["b", "c", "a"], ["c", ".", "a", "b"], ["a"]]
GOLD = [["x", "x", "x", "y"], ["y", "y", "x"], ["y", "y", "x", "x"], ["x"]]
TEXT = 'Once: each field once\nA: token in "a" -> x\nBorder: change only after token in "."\nNever: token in "q" -> x'
CORPUS = Corpus.from_tokens(TOKENS, GOLD, vocabulary=NAMES)


def potentials(seed: int, noise: float = 2.0) -> list[Potentials]:
    """Scores that lean towards the gold labels, so that there is something to keep and something to mend."""
    rng = np.random.default_rng(seed)
    trans, start, end = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=3)
    rows = [noise * rng.normal(size=(len(words), 3)) for words in TOKENS]
    for row, y in zip(rows, GOLD, strict=True):
        row[np.arange(len(y)), NAMES.encode(y)] += 1.0
    return [Potentials(row, trans, start, end) for row in rows]


def part_of(scores: list[Potentials], compiled: Compiled, corpus: Corpus = CORPUS) -> HeldOut:
    return HeldOut.of(ChainBatch.of(scores), corpus, compiled)


def enumerated(scores: Potentials, words: list[str], rules: RuleSet) -> list[tuple[tuple[int, ...], float, np.ndarray]]:
    every = product(range(3), repeat=len(words))
    return [(y, chain_score(scores, y), degrees(rules, words, NAMES.decode(y))) for y in every]


def price(rho: np.ndarray, d: np.ndarray) -> float:
    return math.fsum(float(r) * int(k) for r, k in zip(rho, d, strict=True) if k)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("options", ["", " [penalty 0.5]", " [hard]"])
@pytest.mark.parametrize("averaged", [True, False])
def test_perceptron_against_enumeration(seed: int, batch: int, options: str, averaged: bool) -> None:
    rules = RuleSet.from_text(TEXT.replace("-> x\nBorder", f"-> x{options}\nBorder"))
    scores, compiled = potentials(seed), compile_rules(rules, NAMES)
    part = part_of(scores, compiled)
    found = train_perceptron_penalties([part], compiled, epochs=3, rate=0.3, batch=batch, averaged=averaged)
    learned = np.array([rule.penalty is None for rule in rules])
    rho, total, steps = np.where(learned, 0.0, rules.penalties), np.zeros(4), 0
    tables = [enumerated(p, words, rules) for p, words in zip(scores, TOKENS, strict=True)]
    for _ in range(3):
        for a in range(0, 4, batch):
            change = np.zeros(4)
            for i in range(a, min(a + batch, 4)):
                guess = max(tables[i], key=lambda entry: entry[1] - price(rho, entry[2]))
                change += guess[2] - degrees(rules, TOKENS[i], GOLD[i])
            rho = np.where(learned, np.maximum(rho + 0.3 * change, 0.0), rho)
            total, steps = total + np.where(learned, rho, 0.0), steps + 1
    expected = total / steps if averaged else rho
    np.testing.assert_allclose(found, np.where(learned, expected, rules.penalties), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("C", "fixed"), [(0.3, ""), (2.0, ""), (0.5, " [penalty 0.5]")])
def test_svm_against_enumeration(seed: int, C: float, fixed: str) -> None:
    """The objective with all labellings written out, minimised by SciPy as a quadratic program with slacks."""
    rules = RuleSet.from_text(TEXT.replace("-> x\nBorder", f"-> x{fixed}\nBorder"))
    scores, compiled = potentials(seed, noise=1.0), compile_rules(rules, NAMES)
    found = train_svm_penalties([part_of(scores, compiled)], compiled, C=C, tolerance=1e-6)
    learned = np.array([rule.penalty is None for rule in rules])
    assert found[~learned].tolist() == rules.penalties[~learned].tolist()
    slopes, offsets, owner = [], [], []
    for i, (p, words, names) in enumerate(zip(scores, TOKENS, GOLD, strict=True)):
        gold = NAMES.encode(names)
        d_gold, s_gold = degrees(rules, words, names), chain_score(p, gold)
        for y, s, d in enumerated(p, words, rules):
            wrong = sum(a != b for a, b in zip(y, gold, strict=True))
            slopes.append((d - d_gold)[learned])
            offsets.append(wrong + s - s_gold - rules.penalties[~learned] @ (d - d_gold)[~learned])
            owner.append(i)
    A, b, n = np.array(slopes, float), np.array(offsets), int(learned.sum())
    slack = np.eye(4)[owner]

    def objective(rho: np.ndarray) -> float:
        return 0.5 * rho @ rho + C * sum((b - A @ rho)[np.array(owner) == i].max() for i in range(4))

    best = minimize(
        lambda v: 0.5 * v[:n] @ v[:n] + C * v[n:].sum(),
        np.append(np.zeros(n), np.full(4, b.max())),
        jac=lambda v: np.append(v[:n], np.full(4, C)),
        bounds=[(0, None)] * (n + 4),
        constraints={
            "type": "ineq",
            "fun": lambda v: A @ v[:n] + slack @ v[n:] - b,
            "jac": lambda _: np.hstack([A, slack]),
        },
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    )
    assert objective(found[learned]) == pytest.approx(best.fun, rel=1e-5, abs=1e-5)
    np.testing.assert_allclose(found[learned], best.x[:n], atol=5e-3)


@pytest.mark.parametrize("seed", range(6))
def test_planes_against_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    J, K, C = 7, 5, float(rng.uniform(0.1, 3.0))
    A, b = rng.normal(size=(J, K)) * 10.0 ** rng.integers(-1, 2, size=K), rng.normal(size=J) + 1.0
    rho, bound = minimise_planes([Plane(a, float(c)) for a, c in zip(A, b, strict=True)], C)
    best = minimize(
        lambda v: 0.5 * v[:K] @ v[:K] + C * v[K],
        np.append(np.zeros(K), max(b.max(), 0.0)),
        bounds=[(0, None)] * (K + 1),
        constraints={"type": "ineq", "fun": lambda v: A @ v[:K] + v[K] - b},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    value = 0.5 * rho @ rho + C * max(0.0, (b - A @ rho).max())
    assert (rho >= 0).all()
    assert value == pytest.approx(best.fun, rel=1e-5, abs=1e-6)
    assert value - 2e-6 * max(1.0, value) <= bound <= best.fun + 1e-6


def test_sequences_that_teach_nothing() -> None:
    """No label, or labels that a hard rule or the base forbids: left out; unknown labels are filled in by the base."""
    rules = RuleSet.from_text('H: token in "a" -> x [hard]\nB: token in "b" -> y')
    compiled = compile_rules(rules, NAMES)
    gold = [["y", None], [None, "y"], [None, None], ["x", "z"], []]
    corpus = Corpus.from_tokens([["a", "b"]] * 4 + [[]], gold, vocabulary=NAMES)
    unary = np.array([[3.0, 1.0, 0.0], [0.0, 1.0, -np.inf]])
    scores = [Potentials(unary)] * 4 + [Potentials(np.zeros((0, 3)))]
    part = HeldOut.of(ChainBatch.of(scores), corpus, compiled)
    assert part.y.tolist() == [0, 1]
    assert part.degrees.tolist() == [[0, 0]]
    assert part.scores.tolist() == [4.0]
    empty = HeldOut.of(ChainBatch.of(scores[:1]), corpus[[2]], compiled)
    assert train_perceptron_penalties([empty], compiled).tolist() == [math.inf, 0.0]
    assert train_svm_penalties([empty], compiled).tolist() == [math.inf, 0.0]


def test_only_labelled_corpora_of_the_same_labels() -> None:
    compiled = compile_rules(RuleSet.from_text("O: each field once"), NAMES)
    with pytest.raises(InputError, match="compiled for"):
        HeldOut.of(ChainBatch.of(potentials(0)), Corpus.from_tokens(TOKENS), compiled)
