"""L-BFGS, and OWL-QN where an L1 norm is added: minimise f(x) + l1 ‖x‖₁.

Direction: the limited-memory quasi-Newton step (Nocedal & Wright 2006, algorithm 7.4), from the inner products of the
history (`kernels/history`). Step: strong Wolfe conditions by bracketing and cubic interpolation (ibid., algorithms 3.5
and 3.6). With l1 > 0: Andrew & Gao (2007), the pseudo-gradient, the direction cut to its orthant, and backtracking.

Stops like CRFsuite, so that runs can be compared: when ‖∇‖ < epsilon max(1, ‖x‖), or when `period` iterations have
lowered the objective by less than the share `delta` of it; and at max_iterations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.kernels import LANES, aligned
from espalier.kernels.history import combine, difference, dot, inner_products
from espalier.parallel import run_chunks

__all__ = ["Minimum", "Options", "minimise"]

Float = NDArray[np.float64]
Objective = Callable[[Float], tuple[float, Float]]

SUFFICIENT, CURVATURE = 1e-4, 0.9
"""The Wolfe constants: how much of the promised decrease is enough, how much slope may be left."""

MOST_TRIALS = 60
CHUNK = 8192
"""Elements of a vector that one thread takes at a time."""

HISTORY_BYTES = 4 * 2**20
MEMORY = 14, 40
"""Every step remembered saves passes over the data: of 121 on a small corpus 7 steps more save 11, 33 more save 45."""


@dataclass(frozen=True, slots=True)
class Options:
    """When to stop and how many steps to remember; None: as many as HISTORY_BYTES hold, within MEMORY."""

    max_iterations: int = 10_000
    epsilon: float = 1e-5
    period: int = 10
    delta: float = 1e-5
    memory: int | None = None
    threads: int = 1


@dataclass(slots=True)
class Minimum:
    """What was found: the point, its value, and how the search went."""

    x: Float
    value: float
    reason: str
    iterations: int = 0
    values: list[float] = field(default_factory=list)


class _History:
    """The last m steps s and gradient changes y, in units of their own, with all their inner products."""

    def __init__(self, n: int, memory: int | None, threads: int) -> None:
        self.n, self.threads = n, threads
        self.n_padded = -(-n // LANES) * LANES
        self.m = memory or min(max(MEMORY[0], HISTORY_BYTES // (4 * max(self.n_padded, 1))), MEMORY[1])
        self.rows = aligned(2 * self.m, self.n_padded, dtype=np.int16)  # s in the even rows, y in the odd ones
        self.units = np.zeros(2 * self.m)
        self.gram = np.zeros((2 * self.m, 2 * self.m))
        self.slots: list[int] = []  # oldest first
        self.chunks = [(a, min(a + CHUNK, self.n_padded)) for a in range(0, self.n_padded, CHUNK)]
        self.slope = aligned(self.n_padded)
        self.with_slope = np.zeros(2 * self.m)
        self.out = aligned(self.n_padded)

    def forget(self) -> None:
        self.slots = []

    def update(self, x: Float, x_old: Float, g: Float, g_old: Float, slope: Float) -> None:
        """Store s = x - x_old, y = g - g_old, in the oldest place if all are taken; `slope` is where to go from.

        A step without positive curvature s·y says nothing and is not kept.
        """
        free = [k for k in range(self.m) if k not in self.slots]
        slot = free[0] if free else self.slots.pop(0)
        s, y = self.rows[2 * slot], self.rows[2 * slot + 1]
        self.units[2 * slot], self.units[2 * slot + 1] = difference(x, x_old, s), difference(g, g_old, y)
        self.slope[: self.n] = slope
        parts = np.zeros((len(self.chunks), 2 * self.m, 3))
        used = 2 * max(slot, *self.slots, 0) + 2  # places fill up from the first

        def chunk(c: int) -> None:
            inner_products(*self.chunks[c], self.rows[:used], s, y, self.slope, parts[c, :used])

        run_chunks(chunk, len(self.chunks), self.threads)
        products = parts.sum(axis=0) * self.units[:, None]
        products[:, :2] *= self.units[2 * slot : 2 * slot + 2]
        self.with_slope = products[:, 2]
        if products[2 * slot + 1, 0] > 1e-10 * math.sqrt(products[2 * slot, 0] * products[2 * slot + 1, 1]):
            self.slots.append(slot)
            for row, column in ((2 * slot, 0), (2 * slot + 1, 1)):
                self.gram[row, :] = self.gram[:, row] = products[:, column]

    def direction(self) -> Float:
        """Return -H slope: the two loops on coefficients, then one sweep over the history, which is not empty."""
        weights = np.zeros(2 * self.m)  # of the history rows; the slope's own weight stays apart
        gram, with_slope = self.gram, self.with_slope
        alpha = {}
        for k in reversed(self.slots):
            s, y = 2 * k, 2 * k + 1
            alpha[k] = (with_slope[s] + weights @ gram[:, s]) / gram[s, y]
            weights[y] -= alpha[k]
        newest = self.slots[-1]
        gamma = gram[2 * newest, 2 * newest + 1] / gram[2 * newest + 1, 2 * newest + 1]
        weights *= gamma
        for k in self.slots:
            s, y = 2 * k, 2 * k + 1
            beta = (gamma * with_slope[y] + weights @ gram[:, y]) / gram[s, y]
            weights[s] += alpha[k] - beta
        weights *= -self.units
        used = 2 * max(self.slots) + 2

        def chunk(c: int) -> None:
            combine(*self.chunks[c], self.rows[:used], weights, self.slope, -gamma, self.out)

        run_chunks(chunk, len(self.chunks), self.threads)
        return self.out[: self.n]


def minimise(
    f: Objective,
    x: Float,
    *,
    l1: float = 0.0,
    options: Options | None = None,
    progress: Callable[[Minimum], None] | None = None,
) -> Minimum:
    """Minimise f(x) + l1 ‖x‖₁ from x; f returns its value and gradient. `progress` sees every iteration."""
    o = options or Options()
    x = np.array(x, dtype=np.float64)
    value, g = f(x)
    if not np.isfinite(value) or not np.isfinite(g).all():
        raise InputError(
            "the objective or its gradient is not finite at the starting point", hint="look for nan in the input"
        )
    value += l1 * float(np.abs(x).sum())
    slope = _pseudo_gradient(x, g, l1)
    state = Minimum(x, value, "", values=[value])
    history = _History(len(x), o.memory, o.threads)
    if _small(slope, x, o.epsilon):
        state.reason = "the start is a minimum"
        return state
    while state.iterations < o.max_iterations:
        d = history.direction() if history.slots else -slope
        if l1:
            d = np.where(d * slope < 0, d, 0.0)
        descent = dot(d, slope)
        if not descent < 0:
            history.forget()
            d, descent = -slope, -dot(slope, slope)
        first = 1.0 if history.slots else 1.0 / math.sqrt(-descent)
        found = _backtrack(f, x, value, slope, d, first, l1) if l1 else _wolfe(f, x, value, d, descent, first)
        if found is None:
            if history.slots:  # a poor model of the curvature: try once more along the gradient
                history.forget()
                continue
            state.reason = "no step lowers the objective any more"
            break
        new_x, new_value, new_g = found
        new_slope = _pseudo_gradient(new_x, new_g, l1)
        history.update(new_x, x, new_g, g, new_slope)
        x, value, g, slope = new_x, new_value, new_g, new_slope
        state.x, state.value = x, value
        state.iterations += 1
        state.values.append(value)
        if progress is not None:
            progress(state)
        if _small(slope, x, o.epsilon):
            state.reason = "the gradient is small"
            break
        if len(state.values) > o.period and state.values[-1 - o.period] - value < o.delta * abs(value):
            state.reason = "the objective no longer falls"
            break
    else:
        state.reason = "max_iterations reached"
    return state


def _small(slope: Float, x: Float, epsilon: float) -> bool:
    return bool(dot(slope, slope) < epsilon**2 * max(1.0, dot(x, x)))


def _pseudo_gradient(x: Float, g: Float, l1: float) -> Float:
    """Return the steepest slope of f + l1 ‖·‖₁: where x is 0, the side that descends, if any does."""
    if not l1:
        return g
    at_zero = np.where(g + l1 < 0, g + l1, np.where(g - l1 > 0, g - l1, 0.0))
    return np.where(x != 0, g + l1 * np.sign(x), at_zero)


Found = tuple[Float, float, Float] | None


def _backtrack(f: Objective, x: Float, value: float, slope: Float, d: Float, step: float, l1: float) -> Found:
    """Halve the step until f + l1 ‖·‖₁ falls enough; weights that change sign stop at 0 (OWL-QN)."""
    orthant = np.where(x != 0, np.sign(x), -np.sign(slope))
    for _ in range(MOST_TRIALS):
        new = x + step * d
        new[new * orthant < 0] = 0.0
        new_value, g = f(new)
        new_value += l1 * float(np.abs(new).sum())
        if new_value <= value + SUFFICIENT * dot(slope, new - x):
            return new, new_value, g
        step *= 0.5
    return None


def _wolfe(f: Objective, x: Float, value: float, d: Float, descent: float, step: float) -> Found:
    """Find a step that satisfies the strong Wolfe conditions, or the best that lowers f (algorithms 3.5 and 3.6)."""
    low, low_value, low_slope = 0.0, value, descent
    high: float | None = None
    high_value = high_slope = 0.0
    best: Found = None
    for _ in range(MOST_TRIALS):
        new = x + step * d
        new_value, g = f(new)
        new_slope = dot(g, d)
        finite = math.isfinite(new_value) and math.isfinite(new_slope)
        if not finite or new_value > value + SUFFICIENT * step * descent or new_value >= low_value:
            high, high_value, high_slope = step, new_value, new_slope
        else:
            best = new, new_value, g
            if abs(new_slope) <= -CURVATURE * descent:
                return best
            if new_slope * (1.0 if high is None else high - low) >= 0:
                high, high_value, high_slope = low, low_value, low_slope
            low, low_value, low_slope = step, new_value, new_slope
        if high is None:
            step *= 2.0
        elif not finite:
            step = 0.5 * (low + high)
        else:
            step = _cubic(low, low_value, low_slope, high, high_value, high_slope)
        if abs(step - low) <= 1e-15 * max(abs(step), abs(low)):
            break
    return best


def _cubic(a: float, fa: float, ga: float, b: float, fb: float, gb: float) -> float:
    """Return the minimum of the cubic through two points with slopes, kept inside the bracket (eq. 3.59)."""
    width = b - a
    d1 = ga + gb - 3.0 * (fb - fa) / width
    root = d1 * d1 - ga * gb
    if root < 0.0 or not math.isfinite(root):
        return a + 0.5 * width
    d2 = math.copysign(math.sqrt(root), width)
    denominator = gb - ga + 2.0 * d2
    at = b - width * (gb + d2 - d1) / denominator if denominator else a + 0.5 * width
    margin = 0.1 * abs(width)
    inside = min(max(at, min(a, b) + margin), max(a, b) - margin)
    return inside if math.isfinite(inside) else a + 0.5 * width
