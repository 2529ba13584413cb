"""SampleRank against a naive walk (whole labellings scored anew at every proposal), and worked by hand."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.features.matrix import FeatureMatrix
from espalier.metrics import segment_scores
from espalier.papers.samplerank.training import (
    HARD,
    Pass,
    Proposals,
    RuleTables,
    SegmentTables,
    Truth,
    Walk,
    mean_size,
    truth_weights,
)
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees
from espalier.rules.ruleset import RuleSet

LABELS = Labels(["x", "y", "O"])
RULES = RuleSet.from_text("""
    Word:  token in "a" -> x
    Once:  each field once
    Stop:  change only after is punctuation   [penalty 2]
""")


class Uniform:
    """xorshift64* in whole numbers."""

    def __init__(self, state: int) -> None:
        self.x = state

    def __call__(self) -> float:
        mask = 2**64 - 1
        self.x ^= self.x >> 12
        self.x = (self.x ^ (self.x << 25)) & mask
        self.x ^= self.x >> 27
        return ((self.x * 2685821657736338717 & mask) >> 11) / 2**53


def naive_walk(corpus, attributes, gold, kappa, sweeps, margin, omega, proposals, orders, uniform, start):
    """Return the weights by key after every proposal, and the final labels; every labelling is scored from scratch."""
    w: dict = defaultdict(float)
    history = []
    labels = [list(y) for y in start]
    L = len(LABELS)

    def features(i, y):
        f: dict = defaultdict(float)
        for t, label in enumerate(y):
            for name in attributes[i][t]:
                f["pair", name, label] += 1
            if t:
                f["trans", y[t - 1], label] += 1
        if proposals.boundaries:
            f["start", y[0]] += 1
            f["end", y[-1]] += 1
        return f

    def loss(i, y):
        known = [g for g in gold[i] if g >= 0]
        wrong = sum(g >= 0 and g != label for g, label in zip(gold[i], y, strict=True))
        if not proposals.by_segments:
            return wrong
        if not known:
            return 1.0
        names = [LABELS.decode(gold[i])], [LABELS.decode(y)]
        return 1 - segment_scores(*names, leaves=True).micro.f1 + 1e-6 * wrong

    def truth(i, y, score):
        p = RULES.penalties
        kept = -2 * float(p @ degrees(RULES, corpus.tokens(i), LABELS.decode(y)))
        return -kappa[i][0] * loss(i, y) + kappa[i][1] * score + kappa[i][2] * kept

    for order in orders:
        for i in order:
            T, y = len(labels[i]), labels[i]
            for _ in range(sweeps[i] * T):
                lo = int(uniform() * T)
                hi = lo + 1 if proposals.block == 1 else min(lo + 1 + int(uniform() * proposals.block), T)
                z = list(y)
                if hi == lo + 1:
                    z[lo] = (y[lo] + 1 + int(uniform() * (L - 1))) % L
                else:
                    z[lo:hi] = [int(uniform() * L)] * (hi - lo)
                fz, fy = features(i, z), features(i, y)
                better = sum(w[k] * v for k, v in fz.items()) - sum(w[k] * v for k, v in fy.items())
                truer = truth(i, z, better) - truth(i, y, 0.0)
                if abs(truer) > 1e-9 and math.copysign(1, truer) * better <= margin[i]:
                    for key in {*fz, *fy}:
                        w[key] += math.copysign(1, truer) * proposals.alpha * omega[i] * (fz[key] - fy[key])
                if better >= 0 or uniform() < math.exp(better / proposals.temperature):
                    y[:] = z
                history.append(dict(w))
    return history, labels


@st.composite
def problems(draw: st.DrawFn):
    tokens = draw(st.lists(st.lists(st.sampled_from(["a", "b", "."]), max_size=4), min_size=1, max_size=3))
    corpus = Corpus.from_tokens(tokens)
    gold = [draw(st.lists(st.integers(-1, 2), min_size=len(s), max_size=len(s))) for s in tokens]
    truths = st.sampled_from(["labelled", "self", "cons", "self+cons", "model+cons"])
    kappa = [
        (1.0, 0.0, 0.0) if name == "labelled" else truth_weights(name, 10.0, 2.0)
        for name in draw(st.lists(truths, min_size=len(tokens), max_size=len(tokens)))
    ]
    return corpus, gold, kappa


@settings(deadline=None, derandomize=True, max_examples=60)
@given(problems(), st.integers(1, 3), st.booleans(), st.booleans(), st.sampled_from([0.0, 1.0]), st.integers(0, 9))
def test_against_the_naive_walk(problem, block, by_segments, boundaries, margin, seed) -> None:
    corpus, gold, kappa = problem
    N, L = len(corpus), len(LABELS)
    vocabulary = {"word=" + word: k for k, word in enumerate(["a", "b", "."])} | {"bias": 3}
    attributes = [[["bias", f"word={token}"] for token in corpus.tokens(i)] for i in range(N)]
    matrix = FeatureMatrix.from_attributes(attributes, vocabulary)
    # Whole numbers and a power of two, so that ties are ties for both.
    proposals = Proposals(block, 1.5, 0.5, by_segments, boundaries)
    sweeps, margins, omega = np.full(N, 3), np.full(N, margin), np.arange(1.0, N + 1)
    truth = Truth(
        np.array([g for labels in gold for g in labels], np.int16), np.array(kappa), sweeps, margins, omega,
        RuleTables.of(compile_rules(RULES, LABELS), corpus),
    )  # fmt: skip
    walk = Walk(
        matrix, corpus.indptr, (np.ones(L, bool), np.ones((L, L), bool)), SegmentTables.of(LABELS),
        proposals, np.random.default_rng(seed),
    )  # fmt: skip
    cuts = corpus.indptr[1:-1]
    start = [y.tolist() for y in np.split(walk.y, cuts)]
    rng = np.random.default_rng(seed)
    uniform = Uniform(int(rng.integers(1, 2**63, 1, dtype=np.uint64)[0]))
    orders = [rng.permutation(N).tolist() for _ in range(2)]
    passes = [walk.run(truth, np.arange(N)) for _ in range(2)]
    history, labels = naive_walk(
        corpus, attributes, gold, kappa, sweeps, margins, omega, proposals, orders, uniform, start
    )
    assert [y.tolist() for y in np.split(walk.y, cuts)] == labels
    assert sum(p.proposals for p in passes) == len(history) == walk.steps
    last = history[-1] if history else {}
    mean = {key: sum(w.get(key, 0.0) for w in history) / len(history) for key in last}
    for weights, expected in ((walk.weights, last), (walk.averaged(), mean)):
        w, trans, first, end = weights
        found = {("pair", name, j): w[k * L + j] for name, k in vocabulary.items() for j in range(L)}
        found |= {("trans", i, j): trans[i, j] for i in range(L) for j in range(L)}
        found |= {("start", j): first[j] for j in range(L)} | {("end", j): end[j] for j in range(L)}
        for key, value in found.items():
            assert value == pytest.approx(expected.get(key, 0.0), abs=1e-9), key


def one_token(margin: float, kappa: tuple[float, float, float], gold: int, omega: float = 1.0) -> tuple[Walk, Pass]:
    """One token with one attribute, two labels; it begins as label 0, and the only proposal is label 1."""
    matrix = FeatureMatrix.from_attributes([[["f"]]], {"f": 0})
    labels = Labels(["x", "y"])
    walk = Walk(
        matrix, np.array([0, 1]), (np.ones(2, bool), np.ones((2, 2), bool)), SegmentTables.of(labels),
        Proposals(alpha=3.0), np.random.default_rng(0),
    )  # fmt: skip
    rules = RuleTables.of(compile_rules(RuleSet.from_text("R: first in y"), labels), Corpus.from_tokens([["a"]]))
    truth = Truth(
        np.array([gold], np.int16), np.array([kappa]), np.array([1]), np.array([margin]), np.array([omega]), rules
    )
    return walk, walk.run(truth, np.array([0]))


def test_the_update_by_hand() -> None:
    """Both labels score 0, a tie; gold is y, so the proposal is better: +3 for y, -3 for x, and the walk moves."""
    walk, done = one_token(0.0, (1.0, 0.0, 0.0), gold=1)
    assert walk.weights[0].tolist() == [-3.0, 3.0]
    assert (done, walk.y.tolist()) == (Pass(1, 1, 1), [1])
    walk, done = one_token(0.0, (1.0, 0.0, 0.0), gold=0)  # the proposal is worse: the opposite; a tie is accepted
    assert walk.weights[0].tolist() == [3.0, -3.0]
    walk, done = one_token(0.0, (1.0, 0.0, 0.0), gold=-1)  # nothing is known, nothing is learned
    assert (walk.weights[0].tolist(), done.updates) == ([0.0, 0.0], 0)
    walk, done = one_token(0.0, (0.0, 0.0, 1.0), gold=-1)  # the rule wants y
    assert walk.weights[0].tolist() == [-3.0, 3.0]
    walk, done = one_token(0.0, (0.0, 1.0, 1.0), gold=-1, omega=0.5)
    assert walk.weights[0].tolist() == [-1.5, 1.5]
    walk, done = one_token(0.0, (1.0, 0.0, 0.0), gold=1, omega=0.0)
    assert done == Pass(0, 0, 0)


def test_a_margin_asks_for_more() -> None:
    """After one update the scores are 6 apart; the next proposal, back to x, teaches only within the margin."""
    for margin, expected in ((5.0, [-3.0, 3.0]), (6.0, [-6.0, 6.0])):
        walk, _ = one_token(margin, (1.0, 0.0, 0.0), gold=1)
        truth = Truth(
            np.array([1], np.int16), np.array([(1.0, 0.0, 0.0)]), np.array([1]), np.array([margin]), np.ones(1),
            RuleTables.none(1, 2),
        )  # fmt: skip
        walk.run(truth, np.array([0]))
        assert walk.weights[0].tolist() == expected


def test_averages_by_hand() -> None:
    """The weights after the first and the second proposal: 3, then 6."""
    walk, _ = one_token(6.0, (1.0, 0.0, 0.0), gold=1)
    assert walk.averaged()[0].tolist() == [-3.0, 3.0]
    truth = Truth(
        np.array([1], np.int16), np.array([(1.0, 0.0, 0.0)]), np.array([1]), np.array([6.0]), np.ones(1),
        RuleTables.none(1, 2),
    )  # fmt: skip
    walk.run(truth, np.array([0]))
    assert walk.averaged()[0].tolist() == [-4.5, 4.5]
    walk.restart(walk.averaged())
    assert walk.steps == 0
    assert walk.averaged()[0].tolist() == [-4.5, 4.5]


def test_forbidden_labellings_are_never_visited() -> None:
    labels = Labels(["B-x", "I-x", "O"])
    tokens = [["a", "b", "c", "d"]]
    matrix = FeatureMatrix.from_attributes([[[w] for w in tokens[0]]], {w: k for k, w in enumerate("abcd")})
    walk = Walk(
        matrix, np.array([0, 4]), labels.allowed(), SegmentTables.of(labels), Proposals(block=2),
        np.random.default_rng(1),
    )  # fmt: skip
    gold = np.array([2, 0, 1, 2], np.int16)
    truth = Truth(gold, np.array([(1.0, 0.0, 0.0)]), np.array([1]), np.array([1.0]), np.ones(1), RuleTables.none(4, 3))
    start, follow = labels.allowed()
    for _ in range(100):
        walk.run(truth, np.array([0]))
        assert start[walk.y[0]]
        assert follow[walk.y[:-1], walk.y[1:]].all()
    assert not np.isnan(np.concatenate([part.ravel() for part in walk.averaged()])).any()
    assert walk.model(walk.averaged()).tag(matrix, np.array([0, 4]))[0].tolist() == gold.tolist()


def test_hard_rules_are_strong_and_odd_ones_are_named() -> None:
    corpus = Corpus.from_tokens([["a"]])
    tables = RuleTables.of(compile_rules(RuleSet.from_text("R: first in y [hard]"), ["x", "y"]), corpus)
    assert tables.unary_charge[tables.unary_pattern].tolist() == [[HARD, 0.0]]
    odd = RuleSet.from_text("Fine: first in y\nLong: length(each field) >= 3")
    with pytest.raises(InputError, match=r"rule 'Long' looks further.*rules.without\('Long'\)"):
        RuleTables.of(compile_rules(odd, ["x", "y"]), corpus)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_size_of_a_token(weighted: bool) -> None:
    """A token without attributes, one with a bundle of two and one of its own, one with one."""
    values = ([2.0, 1.0, 3.0], [1.0, 0.5]) if weighted else ((), ())
    matrix = FeatureMatrix(3, [0, 0, 2, 3], [3, 2, 0], [0, 2], [0, 1], *map(np.array, values))
    flat = matrix.to_csr().toarray()
    assert mean_size(matrix) == pytest.approx((flat**2).sum() / 3)
    assert mean_size(FeatureMatrix(0, [0], [], [0], [])) == 0


@pytest.mark.parametrize(
    ("name", "weights"),
    [("self", (1, 0, 0)), ("cons", (0, 0, 1)), ("self+cons", (1, 0, 7)), ("model+cons", (0, 1, 9))],
)
def test_truth_weights(name: str, weights: tuple[float, ...]) -> None:
    assert truth_weights(name, 7.0, 9.0) == weights
