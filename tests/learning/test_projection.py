"""The projection against closed forms, an independent solver on the explicit simplex, and its optimality conditions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from chain_rules import RULES, every_labelling, grounded_of, log_scores, random_batch, rule_sets, sentences
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from espalier.errors import InfeasibleError, InputError, ResultWarning
from espalier.inference import posterior
from espalier.learning.projection import project
from espalier.potentials import ChainBatch

LOCAL, ONCE = 'X: token in "x" -> a', "Once: each field once"
RELAXED = settings(deadline=None, derandomize=True, max_examples=30)


def one_token(p):
    """One token x whose label is a with probability p, else b."""
    unary = np.log([[p, 1 - p, 1e-300]])
    return ChainBatch(np.array([0, 1]), unary, np.zeros((1, 3, 3)), np.zeros(1, np.int32), np.zeros(3), np.zeros(3))


@pytest.mark.parametrize("p", [0.9, 0.3, 0.01])
@pytest.mark.parametrize("rate", [0.05, 0.2, 0.8])
def test_one_token_by_hand(p, rate):
    # The nearest Bernoulli(q) to p(violated) = 1 - p with q <= rate is q = min(1 - p, rate).
    found = project(one_token(p), grounded_of(LOCAL, [["x"]]), rate, tolerance=1e-10)
    q = min(1 - p, rate)
    assert found.expectations[0, 0] == pytest.approx(q, abs=1e-9)
    assert found.multipliers[0, 0] == pytest.approx(np.log((1 - p) / p * (1 - q) / q), abs=1e-6)
    divergence = q * np.log(q / (1 - p)) + (1 - q) * np.log((1 - q) / p)
    assert found.divergence[0] == pytest.approx(divergence, abs=1e-8)
    np.testing.assert_allclose(found.posterior.marginals[0, :2], [1 - q, q], atol=1e-8)


@pytest.mark.parametrize("scope", ["corpus", "sequence"])
def test_zero_bounds_charge_the_whole_price(scope):
    # What may not happen at all always happens a little: every multiplier reaches the price of slack.
    tokens = [["x", "y", "x"], ["x"]]
    batch = random_batch(1, tokens)
    grounded = grounded_of("\n".join(RULES[:3]), tokens)
    found = project(batch, grounded, slack=2.5, scope=scope, tolerance=1e-8)
    possible = grounded.opportunities.sum(axis=0)[None] if scope == "corpus" else grounded.opportunities
    np.testing.assert_allclose(found.multipliers, np.where(possible > 0, 2.5, 0.0))
    assert found.converged.all()


def enumerated(batch, grounded):
    """p, the features of every labelling, and which sequence it is of."""
    everything = [every_labelling(grounded, i) for i in range(len(grounded))]
    p = []
    for i, (ys, _) in enumerate(everything):
        weights = np.exp(log_scores(batch[i], ys))
        p.append(weights / weights.sum())
    return p, [values for _, values in everything]


def solved(p, values, limits, slack):
    """min Σ KL(q_i ‖ p_i) + slack · ξ on the explicit simplices, by SLSQP."""
    sizes = [len(one) for one in p]
    cuts, J = np.cumsum(sizes)[:-1], limits.shape[0]
    all_p, all_values, n = np.concatenate(p), np.concatenate(values), sum(sizes)

    def cost(z):
        q = np.maximum(z[:n], 1e-300)
        return float(q @ np.log(q / all_p) + slack * z[n:].sum())

    def slope(z):
        return np.append(np.log(np.maximum(z[:n], 1e-300) / all_p) + 1, np.full(J, slack))

    member = np.zeros((len(sizes), n + J))
    for i, own in enumerate(np.split(np.arange(n), cuts)):
        member[i, own] = 1
    rows = np.hstack([-all_values.T, np.eye(J)])
    constraints = [
        {"type": "eq", "fun": lambda z: member @ z - 1, "jac": lambda z: member},
        {"type": "ineq", "fun": lambda z: rows @ z + limits, "jac": lambda z: rows},
    ]
    start = np.append(all_p, np.maximum(all_p @ all_values - limits, 0) + 0.1)
    found = minimize(cost, start, jac=slope, bounds=[(0, None)] * (n + J), constraints=constraints, method="SLSQP",
                     options={"maxiter": 300, "ftol": 1e-11})  # fmt: skip
    return found.fun, np.split(found.x[:n], cuts)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    tokens = [["x", "y"], ["y", "x"]]
    text = "\n".join(rng.choice(RULES, 3, replace=False))
    grounded, batch = grounded_of(text, tokens), random_batch(seed, tokens, classes=2)
    return batch, grounded, rng.uniform(0.02, 0.3, grounded.features.J)


@pytest.mark.parametrize("seed", [0, 5])  # where SLSQP, too, goes all the way; with 4 it does on some machines
def test_equals_a_solver_on_the_simplex(seed):
    batch, grounded, rates = random_problem(seed)
    p, values = enumerated(batch, grounded)
    limits = grounded.limits(rates)
    found = project(batch, grounded, rates, slack=3.0, tolerance=1e-7, max_iterations=2000)
    value, q = solved(p, values, limits.sum(axis=0), 3.0)
    assert found.divergence[0] + 3.0 * found.excess.sum() == pytest.approx(value, abs=1e-5)
    expected = sum(one @ v for one, v in zip(q, values, strict=True))
    np.testing.assert_allclose(found.expectations[0], expected, atol=2e-3)
    apart = project(batch, grounded, rates, slack=3.0, scope="sequence", tolerance=1e-7, max_iterations=2000)
    for i in range(2):
        value, _ = solved(p[i : i + 1], values[i : i + 1], limits[i], 3.0)
        assert apart.divergence[i] + 3.0 * apart.excess[i].sum() == pytest.approx(value, abs=1e-5)


@pytest.mark.parametrize("seed", range(20))
def test_primal_and_dual_meet_by_enumeration(seed):
    # Any q bounds the optimum from above and any λ from below (weak duality), so where they meet both are optimal.
    batch, grounded, rates = random_problem(seed)
    found = project(batch, grounded, rates, slack=3.0, tolerance=1e-7, max_iterations=2000)
    (multipliers,), limits = found.multipliers, grounded.limits(rates).sum(axis=0)
    divergence, expected, log_z = 0.0, np.zeros(len(limits)), 0.0
    for p, values in zip(*enumerated(batch, grounded), strict=True):
        weights = p * np.exp(-values @ multipliers)
        q = weights / weights.sum()
        divergence += q @ np.log(q / p)
        expected += q @ values
        log_z += np.log(weights.sum())
    primal = divergence + 3.0 * np.maximum(expected - limits, 0).sum()
    dual = -log_z - multipliers @ limits
    assert primal == pytest.approx(dual, abs=1e-5)
    assert found.divergence[0] == pytest.approx(divergence, abs=1e-9)
    np.testing.assert_allclose(found.expectations[0], expected, atol=1e-9)
    assert found.gap[0] == pytest.approx(primal - dual, abs=1e-9)


@RELAXED
@given(rule_sets, sentences, st.integers(0, 10**6), st.sampled_from(["corpus", "sequence"]), st.floats(0, 0.3))
def test_optimality_conditions(text, tokens, seed, scope, rate):
    grounded, batch = grounded_of(text, tokens), random_batch(seed, tokens)
    found = project(batch, grounded, rate, slack=4.0, scope=scope, tolerance=1e-6, max_iterations=5000)
    assert found.converged.all()
    inside = found.expectations - found.limits
    size = np.maximum(grounded.opportunities.sum(axis=0), 1) if scope == "corpus" else 1
    free = (found.multipliers > 0) & (found.multipliers < 4.0)
    assert (np.abs(inside[free]) <= 1e-5 * np.max(size)).all()
    assert (inside[found.multipliers == 0] <= 1e-5 * np.max(size)).all()
    assert ((found.multipliers >= 0) & (found.multipliers <= 4.0)).all()
    assert (found.divergence >= -1e-9).all()
    assert np.abs(found.gap).max(initial=0.0) < 1e-3
    np.testing.assert_allclose(posterior(found.batch).marginals, found.posterior.marginals, atol=1e-12)


def feasible(values, limits):
    """Is there a distribution with E[f] <= limits?  By a linear programme."""
    found = linprog(np.zeros(len(values)), values.T, limits, np.ones((1, len(values))), [1.0], method="highs")
    return bool(found.status == 0)


@RELAXED
@given(rule_sets, sentences.map(lambda found: found[:1]), st.integers(0, 10**6), st.floats(0.05, 0.4))
def test_infeasible_exactly_where_a_linear_programme_says_so(text, tokens, seed, rate):
    grounded, batch = grounded_of(text, tokens), random_batch(seed, tokens)
    _, values = every_labelling(grounded, 0)
    limits = grounded.limits(rate)[0]
    inner, outer = feasible(values, limits - 0.02), feasible(values, limits + 0.02)
    assume(inner == outer)  # on the very edge rounding decides
    if inner:
        assert project(batch, grounded, rate, tolerance=1e-4, max_iterations=5000).excess.max() <= 1e-3
    else:
        with pytest.raises(InfeasibleError, match="no distribution keeps the limits of sequence 0"):
            project(batch, grounded, rate, scope="sequence", max_iterations=5000)


def test_the_number_of_an_infeasible_sequence_counts_from_the_first():
    tokens = [["y"] * 600] * 7 + [["x"]]
    text = 'A: token in "x" -> a\nB: token in "x" -> b'
    with pytest.raises(InfeasibleError, match=r"of sequence 7, that of rule '(A|B)' among them; give a finite slack"):
        project(random_batch(0, tokens), grounded_of(text, tokens), 0.1, scope="sequence")
    with pytest.raises(InfeasibleError, match="limits of the corpus"):
        project(random_batch(0, tokens[-1:]), grounded_of(text, tokens[-1:]), 0.1)


def test_a_hard_rule_among_soft_ones_is_still_proven_impossible():
    grounded = grounded_of('A: token in "x" -> a\nB: token in "x" -> b\nF: first in O', [["x"]])
    with pytest.raises(InfeasibleError):
        project(random_batch(0, [["x"]]), grounded, 0.1, slack=[np.inf, np.inf, 1.0])


def test_sums_over_the_corpus_bind_less_than_single_sequences():
    # Sequences alike: the same multiplier for all, and the limits of each are those of all.
    tokens = [["x", "y"]] * 5
    one = random_batch(3, tokens[:1])
    batch = ChainBatch(
        np.arange(0, 11, 2), np.tile(one.unary, (5, 1)), one.trans, np.zeros(10, np.int32), one.start, one.end
    )
    grounded = grounded_of(LOCAL, tokens)
    whole = project(batch, grounded, 0.1, tolerance=1e-9)
    apart = project(batch, grounded, 0.1, tolerance=1e-9, scope="sequence")
    np.testing.assert_allclose(apart.multipliers, np.tile(whole.multipliers, (5, 1)), atol=1e-6)
    # Sequences that differ: what is allowed in sum costs no more than what is allowed to each.
    tokens = [["x", "y"], ["x"], ["x", "x", "."]]
    batch, grounded = random_batch(4, tokens), grounded_of(LOCAL + "\n" + ONCE, tokens)
    whole, apart = (project(batch, grounded, 0.1, tolerance=1e-8, scope=scope) for scope in ("corpus", "sequence"))
    assert whole.divergence.sum() <= apart.divergence.sum() + 1e-6


@pytest.mark.parametrize("scope", ["corpus", "sequence"])
def test_threads_chunks_and_warm_starts_change_nothing(scope):
    rng = np.random.default_rng(0)
    tokens = [rng.choice(["x", "y", "."], rng.integers(0, 60)).tolist() for _ in range(150)]
    batch, grounded = random_batch(7, tokens, classes=2), grounded_of("\n".join(RULES[:4]), tokens)
    one = project(batch, grounded, 0.05, slack=3.0, scope=scope, threads=1, tolerance=1e-6)
    two = project(batch, grounded, 0.05, slack=3.0, scope=scope, threads=2, tolerance=1e-6)
    np.testing.assert_array_equal(one.multipliers, two.multipliers)
    np.testing.assert_array_equal(one.posterior.marginals, two.posterior.marginals)
    assert one.posterior.transitions.shape == (2, 3, 3)
    plain = posterior(one.batch)
    np.testing.assert_allclose(plain.marginals, one.posterior.marginals, atol=1e-12)
    np.testing.assert_allclose(plain.log_z, one.posterior.log_z, atol=1e-9)
    np.testing.assert_allclose(plain.transitions.sum(axis=0), one.posterior.transitions.sum(axis=0), atol=1e-8)
    again = project(batch, grounded, 0.05, slack=3.0, scope=scope, start=one.multipliers, tolerance=1e-6)
    assert again.iterations == 0
    np.testing.assert_array_equal(again.multipliers, one.multipliers)


def test_nothing_to_project():
    empty = grounded_of(LOCAL, [])
    batch = ChainBatch(
        np.zeros(1, np.int64), np.zeros((0, 3)), np.zeros((1, 3, 3)), np.zeros(0, np.int32), np.zeros(3), np.zeros(3)
    )
    for scope in ("corpus", "sequence"):
        found = project(batch, empty, scope=scope)
        assert found.posterior.marginals.shape == (0, 3)
        assert found.posterior.transitions.shape == (1, 3, 3)
    tokens = [[], ["y"]]  # a sequence without tokens, and one without opportunities
    found = project(random_batch(0, tokens), grounded_of(LOCAL, tokens), scope="sequence")
    assert found.multipliers.tolist() == [[0.0], [0.0]]
    np.testing.assert_allclose(found.divergence, 0.0, atol=1e-12)


def test_forbidden_labellings_stay_forbidden():
    tokens = [["x", "x", "y"]]
    batch = random_batch(0, tokens, forbid=True)
    found = project(batch, grounded_of("\n".join(RULES[:4]), tokens), 0.1, slack=5.0)
    assert np.isneginf(found.batch.trans[:, 0, 1]).all()
    assert found.posterior.transitions[0, 0, 1] == 0


def test_early_stop_is_a_warning():
    tokens = [["x", "y", "x"]]
    with pytest.warns(ResultWarning, match="1 of 1 projections did not converge in 1 iterations"):
        found = project(random_batch(0, tokens), grounded_of(LOCAL, tokens), 0.01, max_iterations=1, tolerance=1e-9)
    assert not found.converged.any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        project(random_batch(0, tokens), grounded_of(LOCAL, tokens), 0.01)


def test_wrong_arguments():
    tokens = [["x"]]
    batch, grounded = random_batch(0, tokens), grounded_of(LOCAL, tokens)
    with pytest.raises(InputError, match="scope is 'all'"):
        project(batch, grounded, scope="all")
    for slack in (-1.0, np.nan):
        with pytest.raises(InputError, match="slack is"):
            project(batch, grounded, slack=slack)
    with pytest.raises(InputError, match="potentials of 1 sequences, features of 2"):
        project(batch, grounded_of(LOCAL, [["x"], ["y"]]))
