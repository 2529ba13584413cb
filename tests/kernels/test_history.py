"""The sweeps over an L-BFGS history against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.kernels.history import combine, difference, dot, inner_products


@pytest.mark.parametrize("n", [0, 1, 7, 16, 33, 5000])
def test_dot(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=n), rng.normal(size=n)
    assert dot(a, b) == pytest.approx(float(a @ b), abs=1e-9)


@pytest.mark.parametrize("n", [8, 4096, 5000])
def test_sweeps_over_parts_add_up(n):
    rng = np.random.default_rng(n)
    rows, (a, b) = rng.integers(-32767, 32768, (6, n)), rng.integers(-32767, 32768, (2, n))
    g = rng.normal(size=n)
    short, half = rows.astype(np.int16), n // 16 * 8
    parts = np.ones((2, 6, 3))
    inner_products(0, half, short, a.astype(np.int16), b.astype(np.int16), g, parts[0])
    inner_products(half, n, short, a.astype(np.int16), b.astype(np.int16), g, parts[1])
    sums = parts.sum(axis=0)
    assert np.array_equal(sums[:, :2], np.stack([rows @ a, rows @ b], axis=1))  # whole numbers below 2^53
    np.testing.assert_allclose(sums[:, 2], rows @ g, rtol=1e-9, atol=1e-6)
    weights, out = rng.normal(size=6), np.zeros(n)
    combine(0, half, short, weights, g, 0.3, out)
    combine(half, n, short, weights, g, 0.3, out)
    np.testing.assert_allclose(out, 0.3 * g + weights @ rows, atol=1e-8)


@pytest.mark.parametrize("scale", [0.0, 1e-300, 1e-3, 1.0, 1e300])
def test_difference_is_right_to_half_a_unit(scale):
    rng = np.random.default_rng(3)
    a, b = scale * rng.normal(size=50), scale * rng.normal(size=50)
    out = np.full(56, 7, dtype=np.int16)
    unit = difference(a, b, out)
    assert unit == pytest.approx(np.abs(a - b).max() / 32767)
    assert np.abs(out[:50] * unit - (a - b)).max() <= 0.5001 * unit
    assert (out[50:] == 7).all()  # what pads the row stays as it was
