"""Vec operations against NumPy, lane by lane."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numba import njit

from espalier.kernels import aligned
from espalier.kernels import vector as v

lanes = hnp.arrays(np.float64, 8, elements=st.floats(-1e6, 1e6))


@njit
def arithmetic(a, b, c, out):
    x, y, z = v.load(a.ctypes.data), v.load(b.ctypes.data), v.load(c.ctypes.data)
    p = out.ctypes.data
    v.store(p, x + y)
    v.store(p + 64, x - y)
    v.store(p + 128, x * y)
    v.store(p + 192, v.fma(x, y, z))
    v.store(p + 256, v.maximum(x, y))
    v.store(p + 320, v.where_positive(x, y))
    v.store(p + 384, v.splat(c[0]))
    out[7, 0] = v.total(x)
    v.write(p + 448 + 8, v.read(a.ctypes.data + 8))


@njit
def exponentials(a, out):
    v.store(out.ctypes.data, v.exp(v.load(a.ctypes.data)))


@njit
def transposed(a, out):
    v.transpose(a.ctypes.data, a.shape[1] * 8, out.ctypes.data, out.shape[1] * 8)


@njit
def shorts(a, out):
    v.store(out.ctypes.data, v.load_i16(a.ctypes.data))


def test_short_whole_numbers():
    a, out = np.array([0, 1, -1, 32767, -32768, 5, -300, 12], dtype=np.int16), np.zeros(8)
    shorts(a, out)
    assert np.array_equal(out, a)


@njit
def integers(small, large, out):
    v.write_i32(small.ctypes.data, v.read_i32(small.ctypes.data + 4))
    out[0], out[1] = small[0], v.read_i64(large.ctypes.data + 8)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(lanes, lanes, lanes)
def test_arithmetic(a, b, c):
    out = np.zeros((8, 8))
    arithmetic(a, b, c, out)
    assert np.array_equal(out[0], a + b)
    assert np.array_equal(out[1], a - b)
    assert np.array_equal(out[2], a * b)
    np.testing.assert_allclose(out[3], a * b + c, rtol=1e-12, atol=1e-3)
    assert np.array_equal(out[4], np.maximum(a, b))
    assert np.array_equal(out[5], np.where(a > 0, b, 0.0))
    assert np.array_equal(out[6], np.full(8, c[0]))
    assert out[7, 0] == pytest.approx(a.sum(), abs=1e-6)
    assert out[7, 1] == a[1]


def test_infinities_pass_through():
    a, b = np.array([-np.inf, 1, -np.inf, 0, 0, 0, 0, 0.0]), np.array([1, -np.inf, -np.inf, 0, 0, 0, 0, 0.0])
    out = np.zeros((8, 8))
    with np.errstate(invalid="ignore"):
        arithmetic(a, b, b, out)
    assert out[0][2] == -np.inf
    assert np.array_equal(out[4][:3], [1, 1, -np.inf])


@settings(deadline=None, derandomize=True, max_examples=100)
@given(hnp.arrays(np.float64, 8, elements=st.floats(-707.9, 700)))
def test_exp_is_within_two_units_in_the_last_place(a):
    out = np.zeros(8)
    exponentials(a, out)
    expected = np.exp(a)
    assert (np.abs(out - expected) <= 2 * np.spacing(expected)).all()


def test_exp_ends_at_zero():
    out = np.ones(8)
    exponentials(np.array([-np.inf, -709.0, -1e300, -708.5, 0.0, 1.0, -1.0, 700.0]), out)
    assert np.array_equal(out[:5], [0, 0, 0, 0, 1])


def test_transpose_of_a_block_in_a_larger_array():
    rng = np.random.default_rng(0)
    a, out = rng.normal(size=(8, 13)), np.zeros((8, 9))
    transposed(a, out)
    assert np.array_equal(out[:, :8], a[:, :8].T)


def test_integers():
    out = np.zeros(2, np.int64)
    integers(np.array([1, -5], np.int32), np.array([1, 2**40], np.int64), out)
    assert out.tolist() == [-5, 2**40]


@pytest.mark.parametrize("shape", [(0, 16), (3, 16), (1,)])
def test_aligned_arrays_start_on_a_cache_line(shape):
    array = aligned(*shape)
    assert array.shape == shape
    assert array.ctypes.data % 64 == 0 or array.size == 0
    assert not array.any()
