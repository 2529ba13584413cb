"""Marginals of one short chain and of its pairs, against the sum over all labellings."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from espalier.decoders import probabilities
from espalier.decoders.probabilities import label_and_pair_marginals
from espalier.potentials import ChainBatch, Potentials


def enumerated(p: Potentials) -> tuple[np.ndarray, np.ndarray]:
    T, L = p.unary.shape
    labels, pairs, total = np.zeros((T, L)), np.zeros((T, L, L)), 0.0
    for y in product(range(L), repeat=T):
        score = p.start[y[0]] + p.end[y[-1]] + sum(p.unary[t, y[t]] for t in range(T))
        for t in range(1, T):
            score += p.trans[y[t - 1], y[t]] if p.trans.ndim == 2 else p.trans[t - 1, y[t - 1], y[t]]
        weight = np.exp(score)
        total += weight
        for t in range(T):
            labels[t, y[t]] += weight
            if t:
                pairs[t, y[t - 1], y[t]] += weight
    return labels / total, pairs / total


@pytest.mark.parametrize("by_token", [False, True])
@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("loaded", [False, True])
def test_marginals_are_sums_over_all_labellings(
    by_token: bool, length: int, loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probabilities, "are_loaded", lambda n: loaded)
    rng = np.random.default_rng(length + 10 * by_token)
    trans = rng.normal(size=(length - 1, 3, 3) if by_token else (3, 3))
    if not by_token:
        trans[0, 1] = trans[2, 1] = -np.inf
    unary = rng.normal(size=(length, 3))
    unary[0, 2] = -np.inf
    potentials = Potentials(unary, trans, rng.normal(size=3), rng.normal(size=3))
    labels, pairs = label_and_pair_marginals(ChainBatch.of([potentials]))
    expected, expected_pairs = enumerated(potentials)
    np.testing.assert_allclose(labels, expected, atol=1e-12)
    np.testing.assert_allclose(pairs, expected_pairs, atol=1e-12)
