"""Weights of experts: likelihood against enumeration, gradient against differences, optimum against a grid."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.learning.expert_weights import PRIOR, ExpertScores, learn_weights, likelihood
from espalier.potentials import ChainBatch, sum_of_potentials


def batch(rng: np.random.Generator, L: int, lengths: list[int], forbidden: float = 0.1) -> ChainBatch:
    """Draw scores with forbidden entries and 1..3 transition classes."""
    C, M = int(rng.integers(1, 4)), sum(lengths)

    def scores(*shape: int) -> np.ndarray:
        return np.where(rng.random(shape) < forbidden, -np.inf, 2 * rng.normal(size=shape))

    classes = rng.integers(0, C, M).astype(np.int32)
    return ChainBatch(np.cumsum([0, *lengths]), scores(M, L), scores(C, L, L), classes, scores(L), scores(L))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(1, 3),
    st.lists(st.integers(0, 4), min_size=1, max_size=3),
    st.lists(st.floats(0.01, 3), min_size=1, max_size=3),
    st.sampled_from([0, 64]),
)
def test_every_labelling_has_the_sum_of_the_scores(
    seed: int, L: int, lengths: list[int], weights: list[float], many: int
) -> None:
    rng = np.random.default_rng(seed)
    parts = [batch(rng, L, lengths) for _ in weights]
    with pytest.MonkeyPatch.context() as patch:  # above so many classes only those that occur are kept
        patch.setattr("espalier.potentials.MANY_CLASSES", many)
        whole = sum_of_potentials(parts, weights)
    for i, T in enumerate(lengths):
        for y in np.ndindex(*[L] * T):
            expected = sum(w * part[i].score(y) for w, part in zip(weights, parts, strict=True))
            assert whole[i].score(y) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_a_sum_of_many_batches_has_the_classes_that_occur() -> None:
    rng = np.random.default_rng(0)
    lengths = [5, 3]
    classes = rng.integers(0, 3, sum(lengths)).astype(np.int32)
    parts = [replace(batch(rng, 2, lengths), trans=rng.normal(size=(3, 2, 2)), trans_class=classes) for _ in range(12)]
    whole = sum_of_potentials(parts)  # 3^12 tuples, of which three occur
    assert len(whole.trans) <= 64
    assert whole[0].score([0, 1, 1, 0, 1]) == pytest.approx(sum(part[0].score([0, 1, 1, 0, 1]) for part in parts))


def test_batches_of_different_sequences() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="not of the same sequences"):
        sum_of_potentials([batch(rng, 2, [3]), batch(rng, 2, [4])])


def held_out(seed: int, K: int, L: int = 3, n: int = 6, forbidden: float = 0.0) -> ExpertScores:
    """Draw experts that know the true labels, more or less."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, 5, n).tolist()
    y = rng.integers(0, L, sum(lengths)).astype(np.int16)
    ends = np.cumsum([0, *lengths])
    gold = [[str(j) for j in y[a:b]] for a, b in pairwise(ends)]
    corpus = Corpus.from_tokens([["w"] * T for T in lengths], gold)
    order = [int(name) for name in corpus.labels.names]
    experts = []
    for k in range(K):
        one = batch(rng, len(order), lengths, forbidden)
        one.unary[np.arange(len(y)), corpus.y] += 1.5 / (k + 1)
        experts.append(one)
    return ExpertScores.of(experts, corpus)


def tables(part: ExpertScores) -> list[tuple[int, np.ndarray]]:
    """Return of each sequence the number of its true labelling, and what every labelling scores with each expert."""
    found, L, ends = [], part.batches[0].n_labels, part.batches[0].indptr
    for i in range(len(part)):
        gold = tuple(part.y[ends[i] : ends[i + 1]].tolist())
        every = list(product(range(L), repeat=len(gold)))
        found.append((every.index(gold), np.array([[b[i].score(y) for y in every] for b in part.batches])))
    return found


def enumerated(part: list[tuple[int, np.ndarray]], v: np.ndarray) -> float:
    total = 0.0
    for gold, scores in part:
        values = v @ scores
        total += values[gold] - np.log(np.exp(values - values.max()).sum()) - values.max()
    return total


@pytest.mark.parametrize("K", [1, 2, 3])
@pytest.mark.parametrize("forbidden", [0.0, 0.08])
def test_the_likelihood_and_its_gradient(K: int, forbidden: float) -> None:
    parts = [held_out(seed, K, forbidden=forbidden) for seed in (1, 2)]
    assert sum(map(len, parts)) >= 2
    v = np.array([0.7, 0.4, 1.3])[:K]
    value, gradient = likelihood(parts, v)
    known = [tables(part) for part in parts]
    assert value == pytest.approx(sum(enumerated(table, v) for table in known))
    for k in range(K):
        step = np.eye(K)[k] * 1e-5
        slope = sum(enumerated(table, v + step) - enumerated(table, v - step) for table in known) / 2e-5
        assert gradient[k] == pytest.approx(slope, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_a_grid(seed: int) -> None:
    part = held_out(seed, 2, n=12)
    weights, heat = learn_weights([part])
    known = tables(part)
    assert weights[0] == 1

    def value(v: np.ndarray) -> float:
        return enumerated(known, v) - 0.5 * PRIOR * float(((v - 0.5) ** 2).sum())

    found = np.array([1 / heat, weights[1] / heat])
    grid = max(value(np.array([a, b])) for a in np.linspace(0.05, 3, 25) for b in np.linspace(1e-6, 3, 25))
    assert value(found) >= grid - 1e-9
    for a, b in ((1e-3, 0), (-1e-3, 0), (0, 1e-3), (0, -1e-3)):
        near = np.maximum(found + np.array([a, b]), [0.05, 1e-6])
        assert value(found) >= value(near) - 1e-9


def test_an_expert_that_says_nothing_true_is_not_heard() -> None:
    part = held_out(3, 2, n=30)
    wrong = part.batches[1]
    wrong.unary[np.arange(len(part.y)), part.y] -= 8.0
    weights, _ = learn_weights([part])
    assert weights.tolist() == [1.0, 0.0]


def test_a_first_expert_that_says_nothing_true_keeps_a_little_voice() -> None:
    part = held_out(3, 2, n=30)
    part.batches[0].unary[np.arange(len(part.y)), part.y] -= 8.0
    weights, heat = learn_weights([part])
    assert heat == pytest.approx(20.0)
    assert np.isfinite(weights).all()


def test_a_temperature_that_is_given_stays() -> None:
    weights, heat = learn_weights([held_out(1, 2)], temperature=2.0)
    assert heat == pytest.approx(2.0)
    assert weights[0] == 1


def test_sequences_with_unknown_or_forbidden_labels_are_left_out() -> None:
    rng = np.random.default_rng(5)
    lengths = [2, 0, 3, 1]
    corpus = Corpus.from_tokens([["w"] * T for T in lengths], [["0", "1"], [], ["1", None, "0"], ["1"]])
    one = batch(rng, 2, lengths, 0.0)
    assert len(ExpertScores.of([one], corpus)) == 2
    one.unary[5, corpus.y[5]] = -np.inf
    kept = ExpertScores.of([one], corpus)
    assert len(kept) == 1
    assert kept.y.tolist() == corpus.y[:2].tolist()
    one.unary[0] = -np.inf
    with pytest.raises(InputError, match="no held-out sequence has all its labels"):
        learn_weights([ExpertScores.of([one], corpus)])
