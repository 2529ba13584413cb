"""L-BFGS and OWL-QN on problems whose minima are known, and against SciPy."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.errors import InputError
from espalier.learning.lbfgs import Options, minimise

TIGHT = Options(max_iterations=2000, epsilon=1e-9, delta=0.0)


def quadratic(n, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    A = A @ A.T + 0.1 * np.eye(n)
    b = rng.normal(size=n)
    return A, b, lambda x: (float(0.5 * x @ A @ x - b @ x), A @ x - b)


@pytest.mark.parametrize("n", [1, 2, 9, 60])
def test_quadratic_has_the_solution_of_its_equations(n):
    A, b, f = quadratic(n)
    found = minimise(f, np.zeros(n), options=TIGHT)
    np.testing.assert_allclose(found.x, np.linalg.solve(A, b), atol=1e-5)


def rosenbrock(x):
    value = np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
    g = np.zeros_like(x)
    g[:-1] = -400 * x[:-1] * (x[1:] - x[:-1] ** 2) - 2 * (1 - x[:-1])
    g[1:] += 200 * (x[1:] - x[:-1] ** 2)
    return float(value), g


@pytest.mark.parametrize("memory", [1, 3, 6, 20])
def test_rosenbrock(memory):
    found = minimise(rosenbrock, np.full(8, -1.2), options=Options(memory=memory, epsilon=1e-10, delta=0.0))
    np.testing.assert_allclose(found.x, 1.0, atol=1e-5)


def test_direction_is_that_of_the_two_loop_recursion():
    """One step after a few updates, against the textbook's recursion written out."""
    from espalier.learning.lbfgs import _History

    rng = np.random.default_rng(2)
    _, _, f = quadratic(21, seed=3)
    history = _History(21, 4, 1)
    pairs = []
    x = rng.normal(size=21)
    g = f(x)[1]
    for _ in range(7):  # more than it remembers
        new = x + 0.3 * rng.normal(size=21)
        new_g = f(new)[1]
        history.update(new, x, new_g, g, new_g)
        pairs = [*pairs, (new - x, new_g - g)][-4:]
        x, g = new, new_g
    q, alphas = g.copy(), []
    for s, y in reversed(pairs):
        alphas.append(s @ q / (s @ y))
        q -= alphas[-1] * y
    s, y = pairs[-1]
    q *= s @ y / (y @ y)
    for (s, y), a in zip(pairs, reversed(alphas), strict=True):
        q += s * (a - y @ q / (s @ y))
    # The history is in single precision.
    np.testing.assert_allclose(history.direction(), -q, rtol=1e-4, atol=1e-5 * np.abs(q).max())


@pytest.mark.parametrize("l1", [0.1, 1.0, 3.0])
def test_l1_of_a_separable_problem_is_soft_thresholding(l1):
    rng = np.random.default_rng(1)
    target, scale = rng.normal(size=30) * 3, rng.random(30) + 0.5
    found = minimise(
        lambda x: (float(0.5 * np.sum(scale * (x - target) ** 2)), scale * (x - target)),
        np.zeros(30), l1=l1, options=TIGHT,
    )  # fmt: skip
    expected = np.sign(target) * np.maximum(np.abs(target) - l1 / scale, 0)
    np.testing.assert_allclose(found.x, expected, atol=1e-5)
    assert (found.x[expected == 0] == 0).all()


def test_l1_satisfies_the_subgradient_conditions():
    A, b, f = quadratic(15, seed=5)
    found = minimise(f, np.zeros(15), l1=0.8, options=TIGHT)
    g = A @ found.x - b
    zero = found.x == 0
    assert (np.abs(g[zero]) <= 0.8 + 1e-6).all()
    np.testing.assert_allclose(g[~zero], -0.8 * np.sign(found.x[~zero]), atol=1e-5)


def test_agrees_with_scipy_on_logistic_regression():
    from scipy.optimize import minimize

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 25)), rng.integers(0, 2, 200) * 2 - 1

    def f(w):
        margin = y * (X @ w)
        p = 1 / (1 + np.exp(margin))
        return float(np.log1p(np.exp(-margin)).sum() + 0.5 * w @ w), X.T @ (-y * p) + w

    ours = minimise(f, np.zeros(25), options=TIGHT)
    assert ours.value == pytest.approx(minimize(f, np.zeros(25), jac=True).fun, rel=1e-8)


def test_threads_do_not_change_a_digit():
    _, _, f = quadratic(50)
    results = [minimise(f, np.zeros(50), options=Options(threads=t)).x for t in (1, 2)]
    assert np.array_equal(*results)


def test_stopping_reasons():
    A, b, f = quadratic(5)
    assert minimise(f, np.linalg.solve(A, b)).reason == "the start is a minimum"
    assert minimise(f, np.zeros(5), options=Options(max_iterations=1)).reason == "max_iterations reached"
    assert minimise(f, np.zeros(5), options=Options(epsilon=1e-3, delta=0.0)).reason == "the gradient is small"
    slow = minimise(rosenbrock, np.full(8, -1.2), options=Options(delta=0.5, period=3))
    assert slow.reason == "the objective no longer falls"


def test_values_fall_and_progress_sees_them():
    seen = []
    found = minimise(rosenbrock, np.full(4, -1.2), progress=lambda state: seen.append(state.value))
    assert seen == found.values[1:]
    assert (np.diff(found.values) < 0).all()


def test_a_start_that_is_not_finite_is_an_error():
    with pytest.raises(InputError, match="not finite"):
        minimise(lambda x: (float("nan"), x), np.zeros(2))


def test_objectives_that_end_in_a_wall_are_survived():
    """Beyond 1 the function is infinite: the line search steps back inside."""

    def f(x):
        inside = x[0] < 1
        return (float(-np.log(1 - x[0]) - 3 * x[0]) if inside else np.inf, np.array([1 / (1 - x[0]) - 3]))

    with np.errstate(divide="ignore"):
        assert minimise(f, np.zeros(1), options=TIGHT).x[0] == pytest.approx(2 / 3, abs=1e-5)
