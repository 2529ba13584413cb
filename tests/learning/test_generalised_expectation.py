"""Generalised expectation and the cross-entropy of a CRF: against enumeration, closed forms and finite differences."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from chain_rules import RULES, every_labelling, grounded_of, log_scores

from espalier.errors import InputError
from espalier.learning.generalised_expectation import ExpectationCriterion
from espalier.learning.likelihood import ChainLikelihood, SoftLikelihood
from espalier.models.linear import Pairs
from feature_matrices import random_matrix

TOKENS = [["x", "y", "x"], ["."], [], ["y", "x"], ["x", ".", "y", "y"]]
L = 3


def model_of(seed, *, forbid=False, weight=1.0):
    """A random feature matrix on TOKENS, with all pairs and some learned transitions."""
    rng = np.random.default_rng(seed)
    indptr = np.append(0, np.cumsum([len(words) for words in TOKENS])).astype(np.int64)
    matrix = random_matrix(rng, n_tokens=int(indptr[-1]))
    pairs = Pairs.observed(matrix, rng.integers(0, L, indptr[-1]).astype(np.int16), L)
    learned, allowed, start = rng.random((L, L)) < 0.7, np.ones((L, L), bool), np.ones(L, bool)
    if forbid:
        allowed[0, 1] = start[2] = False
    likelihood = SoftLikelihood(matrix, indptr, pairs, learned, start, allowed, weight)
    return likelihood, matrix, indptr, rng


def counts_of(likelihood, matrix, indptr, i, y):
    """φ(x_i, y) of one labelling, by the definition."""
    table = np.zeros((matrix.n_attributes, L))
    flat = matrix.to_csr().toarray()
    for t, label in enumerate(y):
        table[:, label] += flat[indptr[i] + t]
    steps = np.zeros((L, L))
    for a, b in pairwise(y):
        steps[a, b] += 1
    pairs = likelihood.pairs
    return np.append(table[pairs.attributes(), pairs.label], steps[likelihood.from_label, likelihood.to_label])


def slopes(f, w, chosen, h=1e-5):
    """Central differences of f at w."""
    return [(f(w + h * np.eye(len(w))[k]) - f(w - h * np.eye(len(w))[k])) / (2 * h) for k in chosen]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("options", [{}, {"distance": "kl"}, {"exact": True}, {"distance": "kl", "exact": True}])
def test_gradient_equals_differences_of_the_value(seed, options):
    likelihood, _, _, rng = model_of(seed, forbid=seed % 2 == 1)
    grounded = grounded_of("\n".join(RULES), TOKENS)
    J = grounded.features.J
    targets = rng.uniform(0.05, 0.6, J) + grounded.features.bound
    criterion = ExpectationCriterion(likelihood, grounded, targets, rng.uniform(0.5, 5, J), **options)
    w = rng.normal(size=likelihood.n_parameters)
    value, gradient = criterion(w)
    assert value > 0
    chosen = rng.choice(len(w), 6, replace=False)
    expected = slopes(lambda at: criterion(at)[0], w, chosen)
    np.testing.assert_allclose(gradient[chosen], expected, atol=1e-5 * max(1.0, np.abs(gradient).max()))


@pytest.mark.parametrize("seed", range(3))
def test_value_and_covariances_equal_enumeration(seed):
    likelihood, matrix, indptr, rng = model_of(seed, forbid=True)
    grounded = grounded_of("\n".join(RULES[:5]), TOKENS)
    J, w = grounded.features.J, rng.normal(size=likelihood.n_parameters)
    weights, targets = rng.uniform(0.5, 2, J), np.full(J, -2.0)  # everything is too much
    batch, size = likelihood.potentials(w), grounded.opportunities.sum(axis=0)
    expected, covariance = np.zeros(J), np.zeros((J, len(w)))
    for i in range(len(TOKENS)):
        ys, values = every_labelling(grounded, i)
        p = np.exp(log_scores(batch[i], ys))
        p /= p.sum()
        phi = np.array([counts_of(likelihood, matrix, indptr, i, y) for y in ys])
        expected += p @ values
        covariance += (p[:, None] * values).T @ phi - np.outer(p @ values, p @ phi)
    means = expected / size
    value, gradient = ExpectationCriterion(likelihood, grounded, targets, weights)(w)
    assert value == pytest.approx(weights @ (means + 2.0) ** 2, abs=1e-8)
    np.testing.assert_allclose(gradient, (2 * weights * (means + 2.0) / size) @ covariance, atol=1e-5)
    np.testing.assert_allclose(ExpectationCriterion(likelihood, grounded, targets, weights).means(w), means, atol=1e-9)


def test_distances_by_hand():
    likelihood, *_ = model_of(0)
    grounded = grounded_of('X: token in "x" -> a\nSome: count(a) <= 1', TOKENS)
    zero = np.zeros(likelihood.n_parameters)
    # Weights of zero: every labelling is as likely as any other, and an x is not a in two cases of three.
    uniform = 2 / 3

    def value(target, **options):
        weights = np.array([3.0, 0.0])
        return ExpectationCriterion(likelihood, grounded, np.array([target, 1.0]), weights, **options)(zero)[0]

    assert value(0.5) == pytest.approx(3 * (uniform - 0.5) ** 2)
    assert value(0.0, distance="kl") == pytest.approx(-3 * np.log(1 - uniform))
    tau = 0.25
    divergence = tau * np.log(tau / uniform) + (1 - tau) * np.log((1 - tau) / (1 - uniform))
    assert value(tau, distance="kl") == pytest.approx(3 * divergence)
    assert value(0.9) == value(0.9, distance="kl") == 0.0  # rules say what is too much
    assert value(0.9, exact=True) == pytest.approx(3 * (0.9 - uniform) ** 2)


def test_rules_without_opportunities_cost_nothing():
    likelihood, *_ = model_of(0)
    grounded = grounded_of('Never: token in "absent" -> a', TOKENS)
    criterion = ExpectationCriterion(likelihood, grounded, np.zeros(1), np.ones(1), exact=True)
    value, gradient = criterion(np.ones(likelihood.n_parameters))
    assert value == 0.0
    assert not gradient.any()


def test_wrong_arguments():
    likelihood, *_ = model_of(0)
    grounded = grounded_of('X: token in "x" -> a\nSome: count(a) <= 1', TOKENS)
    with pytest.raises(InputError, match="distance is 'l1'"):
        ExpectationCriterion(likelihood, grounded, np.zeros(2), np.ones(2), distance="l1")
    with pytest.raises(InputError, match=r"rule 'X': a target of 1\.0 is no rate"):
        ExpectationCriterion(likelihood, grounded, np.array([1.0, 0.0]), np.ones(2), distance="kl")
    ExpectationCriterion(likelihood, grounded, np.array([0.5, 1.0]), np.ones(2), distance="kl")  # counts are no rates


# The cross-entropy to a distribution.


@pytest.mark.parametrize("seed", range(3))
def test_cross_entropy_equals_enumeration_and_its_gradient_differences(seed):
    likelihood, *_, rng = model_of(seed, forbid=True, weight=0.3)
    w, other = rng.normal(size=(2, likelihood.n_parameters))
    target, total = likelihood.potentials(other), 0.0
    batch = likelihood.potentials(w)
    grounded = grounded_of("X: first in a", TOKENS)
    marginals, steps = np.zeros((len(batch.unary), L)), np.zeros((L, L))
    for i, words in enumerate(TOKENS):
        ys, _ = every_labelling(grounded, i)
        q, p = (np.exp(log_scores(b[i], ys)) for b in (target, batch))
        q, p = q / q.sum(), p / p.sum()
        total -= 0.3 * float(q[q > 0] @ np.log(p[q > 0]))
        for y, one in zip(ys, q, strict=True):
            for t in range(len(words)):
                marginals[batch.indptr[i] + t, y[t]] += one
                if t:
                    steps[y[t - 1], y[t]] += one
    likelihood.fit_to(marginals, steps)
    value, gradient = likelihood(w)
    assert value == pytest.approx(total, abs=1e-5)
    chosen = rng.choice(len(w), 8, replace=False)
    np.testing.assert_allclose(gradient[chosen], slopes(lambda at: likelihood(at)[0], w, chosen), atol=1e-5)
    assert np.abs(likelihood(other)[1]).max() < 1e-5  # nothing is nearer to q than q


def test_certain_labels_are_the_likelihood():
    likelihood, matrix, indptr, rng = model_of(5)
    y = rng.integers(0, L, indptr[-1]).astype(np.int16)
    learned = np.zeros((L, L), bool)
    learned[likelihood.from_label, likelihood.to_label] = True
    plain = ChainLikelihood(matrix, indptr, y, likelihood.pairs, learned, np.ones(L, bool), np.ones((L, L), bool))
    steps = np.zeros((L, L))
    for a, b in pairwise(indptr):
        np.add.at(steps, (y[a : b - 1][: max(b - a - 1, 0)], y[a + 1 : b]), 1)
    likelihood.fit_to(np.eye(L)[y], steps)
    w = rng.normal(size=likelihood.n_parameters)
    assert likelihood(w)[0] == pytest.approx(plain(w)[0], abs=1e-6)
    np.testing.assert_allclose(likelihood(w)[1], plain(w)[1], atol=1e-5)


def test_without_a_target_the_loss_is_flat():
    likelihood, *_, rng = model_of(1)
    value, gradient = likelihood(rng.normal(size=likelihood.n_parameters))
    assert value == pytest.approx(0.0, abs=1e-9)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-6)
