"""The sweeps over an L-BFGS history against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from espalier.kernels.history import combine, dot, inner_products


@pytest.mark.parametrize("n", [0, 1, 7, 16, 33, 5000])
def test_dot(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=n), rng.normal(size=n)
    assert dot(a, b) == pytest.approx(float(a @ b), abs=1e-9)


@pytest.mark.parametrize("n", [8, 4096, 5000])
def test_sweeps_over_parts_add_up(n):
    rng = np.random.default_rng(n)
    rows, (a, b), g = rng.normal(size=(6, n)), rng.normal(size=(2, n)), rng.normal(size=n)
    rows, a, b = rows.astype(np.float32), a.astype(np.float32), b.astype(np.float32)
    half = n // 16 * 8
    parts = np.ones((2, 6, 3))
    inner_products(0, half, rows, a, b, g, parts[0])
    inner_products(half, n, rows, a, b, g, parts[1])
    wide = rows.astype(np.float64)
    exact = np.stack([wide @ a.astype(np.float64), wide @ b.astype(np.float64), wide @ g], axis=1)
    np.testing.assert_allclose(parts.sum(axis=0), exact, atol=1e-9)
    weights, out = rng.normal(size=6), np.zeros(n)
    combine(0, half, rows, weights, g, 0.3, out)
    combine(half, n, rows, weights, g, 0.3, out)
    np.testing.assert_allclose(out, 0.3 * g + weights @ wide, atol=1e-9)
