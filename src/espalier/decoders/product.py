"""Exact dynamic programming over the product automaton of the global rules.

    p(y | x) ∝ exp( s(x, y) - Σ_k ρ_k d_k(x, y) )

Best labelling, k best, log partition, marginals and independent samples, for any rule whose lattice fits (see
`lattice`). Cost O(E) of the lattice's E edges, times k log for the k best. The common order of ties: every entry of
the k-best table carries its rank in that order among all entries of its layer, and equal scores go by rank.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Decoding, Problem, certify_all, checked_count
from espalier.decoders.certify import WorkDone
from espalier.decoders.lattice import Lattice, Layer, build
from espalier.errors import InfeasibleError

__all__ = [
    "ProductPosterior",
    "decode",
    "log_partition",
    "log_sum",
    "posterior",
    "sample",
]

Float = NDArray[np.float64]


class ProductPosterior(NamedTuple):
    """log_z : log Σ_y exp S(y); marginals : p(y_t = l), float64[T, L]."""

    log_z: float
    marginals: Float


def decode(problem: Problem, *, k: int = 1, max_edges: int | None = None) -> Decoding:
    """Return the k best labellings."""
    checked_count(k, "k")
    lattice = build(problem, max_edges)
    return certify_all(problem, _k_best(lattice, k), "product", WorkDone(nodes=lattice.nodes))


class _Entries(NamedTuple):
    """Partial labellings that end in a layer, up to k a node: node, score, rank in the order of ties, entry before."""

    node: NDArray[np.int64]
    score: Float
    rank: NDArray[np.int64]
    before: NDArray[np.int64]


def _k_best(lattice: Lattice, k: int) -> list[tuple[list[int], float]]:
    """Return the k best paths with their scores, best first."""
    entries = _Entries(np.zeros(1, np.int64), np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64))
    history = []
    for layer in lattice.layers:
        entries = _extend(entries, layer, k)
        history.append(entries)
    total = entries.score + lattice.final[entries.node]
    order = np.lexsort((entries.rank, -total))[:k]
    ranked = []
    for e in order[total[order] > -math.inf]:
        y, entry = [], int(e)
        for layer, then in zip(reversed(lattice.layers), reversed(history), strict=True):
            y.append(int(layer.label[then.node[entry]]))
            entry = int(then.before[entry])
        ranked.append((y[::-1], float(total[e])))
    return ranked


def _extend(entries: _Entries, layer: Layer, k: int) -> _Entries:
    """Carry every entry over every edge and keep the k best of each node."""
    count = np.bincount(entries.node, minlength=int(layer.source.max(initial=-1)) + 1)
    first = np.concatenate([[0], np.cumsum(count)])
    copies = count[layer.source]  # entries are sorted by node, so those of a source are a stretch
    edge = np.repeat(np.arange(len(layer.source)), copies)
    offset = np.arange(len(edge)) - np.repeat(np.cumsum(copies) - copies, copies)
    before = first[layer.source[edge]] + offset
    score = entries.score[before] + layer.score[edge]
    node = layer.target[edge].astype(np.int64)
    order = np.lexsort((entries.rank[before], -score, node))
    node, score, before = node[order], score[order], before[order]
    starts = np.flatnonzero(np.diff(node, prepend=-1))
    within = np.arange(len(node)) - np.repeat(starts, np.diff(starts, append=len(node)))
    kept = within < k
    node, score, before = node[kept], score[kept], before[kept]
    rank = np.empty(len(node), np.int64)
    rank[np.lexsort((entries.rank[before], layer.label[node]))] = np.arange(len(node))
    return _Entries(node, score, rank, before)


def log_sum(index: NDArray[np.integer], values: Float, n: int) -> Float:
    """Return log Σ exp of the values of each index, float64[n]; -inf where there are none."""
    top = np.full(n, -np.inf)
    np.maximum.at(top, index, values)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.bincount(index, np.exp(values - shift[index]), minlength=n)) + shift


def _forward(lattice: Lattice) -> tuple[list[Float], float]:
    """Return log Σ exp of the paths into every node, a list of float64[S] with the root's first, and log_z."""
    alpha = [np.zeros(1)]
    for layer in lattice.layers:
        alpha.append(log_sum(layer.target, alpha[-1][layer.source] + layer.score, len(layer.label)))
    last = alpha[-1] + lattice.final
    log_z = float(log_sum(np.zeros(len(last), np.int64), last, 1)[0])
    if log_z == -math.inf:
        raise InfeasibleError("every labelling breaks a hard rule or is forbidden: there is no distribution over them")
    return alpha, log_z


def log_partition(problem: Problem, *, max_edges: int | None = None) -> float:
    """Return log Σ_y exp S(y)."""
    return _forward(build(problem, max_edges))[1]


def posterior(problem: Problem, *, max_edges: int | None = None) -> ProductPosterior:
    """Return log_z and the marginals under the rules."""
    lattice = build(problem, max_edges)
    alpha, log_z = _forward(lattice)
    marginals = np.zeros((problem.T, problem.L))
    beta = lattice.final
    for t in range(problem.T - 1, -1, -1):
        layer = lattice.layers[t]
        weight = np.exp(alpha[t + 1] + beta - log_z)
        marginals[t] = np.bincount(layer.label, weight, minlength=problem.L)
        beta = log_sum(layer.source, layer.score + beta[layer.target], len(alpha[t]))
    return ProductPosterior(log_z, marginals)


def sample(problem: Problem, n: int, rng: np.random.Generator, *, max_edges: int | None = None) -> NDArray[np.int16]:
    """Return n independent labellings, int16[n, T], drawn from the end backwards."""
    checked_count(n, "n", least=0)
    lattice = build(problem, max_edges)
    alpha, log_z = _forward(lattice)
    y = np.empty((n, problem.T), np.int16)
    at = _draw(np.exp(alpha[-1] + lattice.final - log_z), np.zeros(n, np.int64), np.array([0, len(lattice.final)]), rng)
    for t in range(problem.T - 1, -1, -1):
        layer = lattice.layers[t]
        y[:, t] = layer.label[at]
        weight = np.exp(alpha[t][layer.source] + layer.score - alpha[t + 1][layer.target])
        into = np.searchsorted(layer.target, np.arange(len(layer.label) + 1))
        at = layer.source[_draw(weight, at, into, rng)].astype(np.int64)
    return y


def _draw(
    weight: Float, group: NDArray[np.int64], bounds: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw one index of each given group, group g being bounds[g]:bounds[g + 1], in proportion to its weight."""
    total = np.concatenate([[0.0], np.cumsum(weight)])
    low, high = bounds[group], bounds[group + 1]
    u = total[low] + rng.random(len(group)) * (total[high] - total[low])
    # Rounding up to the end of the group would pick what lies behind it, or a weight of zero.
    u = np.minimum(u, np.nextafter(total[high], -np.inf))
    drawn: NDArray[np.int64] = np.searchsorted(total, u, side="right") - 1
    return drawn
