"""Distributions under rules, exactly: sums over the product automaton of the global rules.

    p(y | x) ∝ exp( s(x, y) - Σ_k ρ_k d_k(x, y) )

Log partition, marginals and independent samples, for any rule whose lattice fits (see `lattice`), by the recurrences
that sum over chains (`kernels.chain`). Cost O(E) of the lattice's E edges.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem, checked_count
from espalier.decoders.lattice import build, posterior_of, require_possible

__all__ = ["ProductPosterior", "log_partition", "posterior", "sample"]

Float = NDArray[np.float64]


class ProductPosterior(NamedTuple):
    """log_z : log Σ_y exp S(y); marginals : p(y_t = l), float64[T, L]."""

    log_z: float
    marginals: Float


def log_partition(problem: Problem, *, max_edges: int | None = None) -> float:
    """Return log Σ_y exp S(y)."""
    return posterior_of(build(problem, max_edges)).log_z


def posterior(problem: Problem, *, max_edges: int | None = None) -> ProductPosterior:
    """Return log_z and the marginals under the rules."""
    lattice = build(problem, max_edges)
    found, (T, L) = posterior_of(lattice), (problem.T, problem.L)
    token = np.repeat(np.arange(T), [len(layer.label) for layer in lattice.layers])
    marginals = np.bincount(token * L + lattice.labels, found.nodes, T * L)
    return ProductPosterior(found.log_z, np.asarray(marginals, np.float64).reshape(T, L))


def sample(problem: Problem, n: int, rng: np.random.Generator, *, max_edges: int | None = None) -> NDArray[np.int16]:
    """Return n independent labellings, int16[n, T], drawn from the end backwards."""
    from espalier.kernels import chain

    checked_count(n, "n", least=0)
    lattice = build(problem, max_edges)
    columns, log_z = lattice.columns(), np.append(lattice.final[:1], -np.inf)[:1]  # no node at all: impossible
    uniforms, places = np.empty((n, problem.T)), np.zeros((n, problem.T), np.int32)
    for t in range(problem.T - 1, -1, -1):
        uniforms[:, t] = rng.random(n)
    if problem.T:
        chain.sample(columns, 0, 1, uniforms, places, log_z)
    require_possible(float(log_z[0]))
    return np.asarray(lattice.labels[columns.nodes[:-1] + places])
