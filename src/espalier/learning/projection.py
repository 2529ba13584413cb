"""The projection of a chain onto expectation constraints: the posterior regularisation of Ganchev et al. (2010).

    minimise over q and ξ >= 0   KL(q ‖ p) + c · ξ      subject to  E_q[f] <= b + ξ                c = inf: no slack

for p(y) ∝ exp s(y) and features f of `learning.expectations`. The optimum is q(y) ∝ p(y) exp(-λ · f(y)) with the λ of

    maximise over 0 <= λ <= c    D(λ) = log Z(0) - log Z(λ) - λ · b               ∂D/∂λ = E_q[f] - b

which is concave. Constraints hold for each sequence (Ganchev et al.: as many small duals as sequences) or in sum over
all (alternating projections, Bellare et al. 2009: one dual). Both are the same loop over *groups* of sequences, each
with a row of λ; every pass moves the potentials and runs forward-backward over the groups that are not done.

The loop is a projected gradient with a metric: if violations came as rare independent events, E(λ) = E(0) e^{-λ}, then
(E - b) / E would be Newton's step, so the gradient is divided by |E| (for counts by no less than a guessed spread); one
factor a group corrects the length (Barzilai and Borwein 1988), and a step that does not raise D enough is halved
(Birgin, Martínez and Raydan 2000, monotone).

D(λ) bounds the divergence of every q that keeps the constraints, which is at most max_y -log p(y): once D is above that
there is no such q, and `InfeasibleError` is proven. Memory O(M L + C' L²); a pass costs O(M L²).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import InfeasibleError, InputError, ResultWarning
from espalier.inference import Posterior, posterior, viterbi
from espalier.learning.expectations import GroundedFeatures
from espalier.parallel import balanced, choose_threads, run_chunks
from espalier.potentials import ChainBatch

__all__ = ["Projection", "paid", "project"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]

ENOUGH = 1e-4
"""The share of the promised increase that a step must bring."""

COUNT_SPREAD, RARE = 0.1, 1e-6
"""The least spread that is assumed of a count, whose mean may be 0, and of a violation, for each opportunity."""

MOST_HALVINGS, MOST_ITERATIONS = 40, 200
TOKENS_A_CHUNK = 2048


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """q, and what it took: for G groups (one, or the N sequences) and J features.

    batch : q as potentials; posterior : its marginals and expected transitions, by the transition classes of p.
    multipliers, expectations, limits : float64[G, J], λ, E_q[f] and b; divergence, gap : float64[G], KL(q ‖ p), and by
    how much KL(q ‖ p) + c · ξ may be above the optimum (with c = inf: for what q exceeds, see `excess`).
    converged : bool[G]; iterations : of the longest search.
    """

    batch: ChainBatch
    posterior: Posterior
    multipliers: Float
    expectations: Float
    limits: Float
    divergence: Float
    gap: Float
    converged: NDArray[np.bool_]
    iterations: int

    @property
    def excess(self) -> Float:
        """By how much each constraint is missed, float64[G, J]."""
        return np.maximum(self.expectations - self.limits, 0.0)


def paid(excess: Float, price: Float) -> Float:
    """Return excess times price, where nothing costs nothing and what a hard rule forbids counts by tolerance alone."""
    return np.where((excess > 0) & np.isfinite(price), excess * np.where(np.isfinite(price), price, 0.0), 0.0)


def project(
    batch: ChainBatch,
    grounded: GroundedFeatures,
    rates: ArrayLike = 0.0,
    *,
    slack: ArrayLike = np.inf,
    scope: str = "corpus",
    tolerance: float = 1e-3,
    max_iterations: int = MOST_ITERATIONS,
    start: Float | None = None,
    threads: int | None = None,
) -> Projection:
    """Return the distribution nearest to a batch that keeps its features' limits in expectation.

    rates : float64[J] or one number, what may be violated for each opportunity (see `GroundedFeatures.limits`).
    slack : float64[J] or one number, c: the price of a unit beyond the limit, inf for none. scope : "corpus" or
    "sequence". tolerance : of the optimality conditions, in violations for each opportunity. start : multipliers to
    begin with, those of an earlier projection of the same sequences. A search that stops early is a warning.
    """
    N, J = len(grounded), grounded.features.J
    if not np.array_equal(grounded.indptr, batch.indptr):
        raise InputError(f"potentials of {len(batch)} sequences, features of {N}, or of other lengths")
    if scope not in ("corpus", "sequence"):
        raise InputError(f"scope is {scope!r}", hint="expected 'corpus' or 'sequence'")
    most = np.broadcast_to(np.asarray(slack, np.float64), (J,))
    if not (most >= 0).all():
        raise InputError(f"slack is {slack!r}", hint="expected prices of at least 0, inf for no slack")
    limits = grounded.limits(rates)
    if scope == "sequence":
        found = _by_sequence(batch, grounded, limits, most, tolerance, max_iterations, start, threads)
    else:
        dual = _Dual(batch, grounded, limits, np.zeros(N, np.int64), most, threads)
        found = dual.solve(start, tolerance, max_iterations)
    left = int((~found.converged).sum())
    if left:
        warnings.warn(
            f"{left} of {len(found.converged)} projections did not converge in {found.iterations} iterations; "
            "raise max_iterations or tolerance, or allow more slack",
            ResultWarning,
            stacklevel=2,
        )
    return found


def _by_sequence(
    batch: ChainBatch, grounded: GroundedFeatures, limits: Float, slack: Float,
    tolerance: float, max_iterations: int, start: Float | None, threads: int | None,
) -> Projection:  # fmt: skip
    """Solve chunks of sequences in threads, and put them together again."""
    M, N, C, L = len(batch.unary), len(batch), len(batch.trans), batch.n_labels
    chunks = balanced(batch.indptr, max(M // TOKENS_A_CHUNK, 1))
    parts: list[Projection | None] = [None] * len(chunks)

    def chunk(c: int) -> None:
        own = np.arange(*chunks[c])
        features, scores = grounded.part(own, batch)
        dual = _Dual(scores, features, limits[own], np.arange(len(own)), slack, 1, first=chunks[c][0])
        parts[c] = dual.solve(None if start is None else start[own], tolerance, max_iterations)

    run_chunks(chunk, len(chunks), choose_threads(M, threads))
    found = [part for part in parts if part is not None]
    offsets = np.cumsum([0, *(len(part.batch.trans) for part in found)]).tolist()
    classes = [part.batch.trans_class + offset for part, offset in zip(found, offsets, strict=False)]
    transitions = np.zeros((C, L, L))
    for part in found:
        transitions += part.posterior.transitions

    def joined(name: str, *shape: int) -> Float:
        return np.concatenate([np.zeros((0, *shape)), *(getattr(part, name) for part in found)])

    def stacked(name: str, *shape: int) -> Float:
        return np.concatenate([np.zeros((0, *shape)), *(getattr(part.posterior, name) for part in found)])

    moved = replace(
        batch, unary=np.concatenate([np.zeros((0, L)), *(part.batch.unary for part in found)]),
        trans=np.concatenate([np.zeros((0, L, L)), *(part.batch.trans for part in found)]) if N else batch.trans,
        trans_class=np.concatenate([np.zeros(0, np.int32), *classes]).astype(np.int32),
    )  # fmt: skip
    J = limits.shape[1]
    after = Posterior(stacked("log_z"), stacked("marginals", L), transitions, stacked("entropy"))
    return Projection(
        moved, after, joined("multipliers", J), joined("expectations", J), limits, joined("divergence"), joined("gap"),
        joined("converged").astype(bool), max((part.iterations for part in found), default=0),
    )  # fmt: skip


def _sums(group: Int, values: Float, G: int) -> Float:
    """Return the sum of the values of each group, float64[G]."""
    return np.bincount(group, values, G).astype(np.float64)


class _Dual:
    """The duals of G groups of sequences.

    group : int64[N], rising; limits : float64[N, J]; slack : float64[J], c; first : the number of the first group's
    sequence, None where a group is the whole corpus. bound, size : float64[G, J], b and the opportunities; scale :
    float64[G, J], what the spread of a feature is at least; at_zero : float64[G], log Z(0).
    """

    def __init__(
        self, batch: ChainBatch, grounded: GroundedFeatures, limits: Float, group: Int, slack: Float,
        threads: int | None, first: int | None = None,
    ) -> None:  # fmt: skip
        self.batch, self.grounded, self.group, self.slack, self.threads = batch, grounded, group, slack, threads
        self.first, self.G = first, int(group[-1]) + 1 if len(group) else 0

        def added(values: Float) -> Float:
            total = np.zeros((self.G, values.shape[1]))
            np.add.at(total, group, values)
            return total

        self.bound, self.size = added(limits), added(grounded.opportunities)
        self.scale = 1e-9 + np.where(grounded.features.counts, COUNT_SPREAD, RARE) * self.size
        self.at_zero = _sums(group, posterior(batch, threads=threads).log_z, self.G)
        self.dearest = self._dearest(added(grounded.largest()))

    def _dearest(self, most: Float) -> Float:
        """Return what D + log Z(0) of a group cannot exceed if its constraints can be kept, float64[G].

        That is minus the score of its worst possible labelling, and the price of the most that slack may pay for. most
        : float64[G, J], what f cannot exceed.
        """
        turned = {name: -getattr(self.batch, name) for name in ("unary", "trans", "start", "end")}
        forbidding: dict[str, Any] = {
            name: np.where(np.isposinf(array), -np.inf, array) for name, array in turned.items()
        }
        worst = _sums(self.group, viterbi(replace(self.batch, **forbidding)).scores, self.G)
        most_paid = np.where(np.isinf(self.slack), 0.0, self.slack) * np.maximum(most - self.bound, 0.0)
        dearest = worst + most_paid.sum(axis=1)
        return np.asarray(dearest + 1e-6 * (1.0 + np.abs(dearest)))

    def evaluate(self, chosen: Int, multipliers: Float) -> tuple[Float, Float]:
        """Return D without its constant, and E[f], of groups by number."""
        n = len(chosen)
        features, scores, own = self.grounded, self.batch, self.group
        if n < self.G:
            members = np.flatnonzero(np.isin(own, chosen))
            features, scores = features.part(members, scores)
            own = np.searchsorted(chosen, own[members])
        moved = features.move(scores, multipliers, own)
        found = posterior(moved.batch, threads=self.threads)
        expected = features.expected(found, moved, own, n)
        return -_sums(own, found.log_z, n) - (multipliers * self.bound[chosen]).sum(axis=1), expected

    def solve(self, start: Float | None, tolerance: float, max_iterations: int) -> Projection:
        """Return the projection; start : multipliers to begin with."""
        begin = np.zeros_like(self.bound) if start is None else np.clip(start, 0.0, self.slack)
        multipliers, converged, iterations = self.ascend(begin, tolerance, max_iterations)
        bound, slack, group, G = self.bound, self.slack, self.group, self.G
        moved = self.grounded.move(self.batch, multipliers, group)
        found = posterior(moved.batch, threads=self.threads)
        expected = self.grounded.expected(found, moved, group, G)
        divergence = self.at_zero - _sums(group, found.log_z, G) - (multipliers * expected).sum(axis=1)
        price = np.where(np.isinf(slack), 0.0, slack)
        gap = (multipliers * (bound - expected) + price * np.maximum(expected - bound, 0.0)).sum(axis=1)
        after = moved.unmoved(found, len(self.batch.trans))
        return Projection(moved.batch, after, multipliers, expected, bound, divergence, gap, converged, iterations)

    def residual(self, multipliers: Float, expected: Float, groups: Int) -> Float:
        """Return how far some groups are from their optimum: the largest slope that λ could still follow, as a rate."""
        slope, size = expected - self.bound[groups], self.size[groups]
        rate = np.divide(slope, size, out=np.zeros_like(slope), where=size > 0)
        up = np.where(multipliers < self.slack, np.maximum(rate, 0.0), 0.0)
        down = np.where(multipliers > 0, np.maximum(-rate, 0.0), 0.0)
        return np.asarray(np.maximum(up, down).max(axis=1, initial=0.0))

    def ascend(self, multipliers: Float, tolerance: float, max_iterations: int) -> tuple[Float, NDArray[np.bool_], int]:
        """Maximise D of every group at once; return λ, which groups converged, and the iterations of the slowest."""
        everything = np.arange(len(multipliers))
        multipliers, bound = multipliers.copy(), self.bound
        value, expected = self.evaluate(everything, multipliers) if len(everything) else (np.zeros(0), bound)
        length = np.ones(len(everything))
        busy = np.flatnonzero(self.residual(multipliers, expected, everything) > tolerance)
        iteration = 0
        while len(busy) and iteration < max_iterations:
            iteration += 1
            old, slope = multipliers[busy], (expected - bound)[busy]
            metric = np.maximum(np.abs(expected[busy]), self.scale[busy])
            direction = np.clip(old + length[busy, None] * slope / metric, 0.0, self.slack) - old
            stuck = self.climb(busy, old, direction, slope, multipliers, value, expected)
            step, bend = multipliers[busy] - old, slope - (expected - bound)[busy]
            curved, long = (step * bend).sum(axis=1), (step * step * metric).sum(axis=1)
            length[busy] = np.clip(np.divide(long, curved, out=np.full(len(busy), 1e3), where=curved > 0), 1e-2, 1e3)
            hopeless = busy[value[busy] > self.dearest[busy]]
            if len(hopeless):
                raise self._unbounded(int(hopeless[0]), int((expected - bound)[hopeless[0]].argmax()))
            busy = busy[(self.residual(multipliers[busy], expected[busy], busy) > tolerance) & ~stuck]
        return multipliers, self.residual(multipliers, expected, everything) <= tolerance, iteration

    def climb(
        self, busy: Int, old: Float, direction: Float, slope: Float, multipliers: Float, value: Float, expected: Float
    ) -> NDArray[np.bool_]:
        """Step uphill, halving where D does not rise enough; write λ, D and E. Return which groups could not step."""
        promised = (slope * direction).sum(axis=1)
        waiting, share = np.arange(len(busy)), 1.0
        for _ in range(MOST_HALVINGS):
            groups = busy[waiting]
            trial = old[waiting] + share * direction[waiting]
            new_value, new_expected = self.evaluate(groups, trial)
            rounding = 1e-12 * np.abs(value[groups])
            good = new_value >= value[groups] + ENOUGH * share * promised[waiting] - rounding
            done = groups[good]
            multipliers[done], value[done], expected[done] = trial[good], new_value[good], new_expected[good]
            waiting, share = waiting[~good], 0.5 * share
            if not len(waiting):
                break
        return np.isin(np.arange(len(busy)), waiting)

    def _unbounded(self, g: int, j: int) -> InfeasibleError:
        """Return the error where D of a group grows beyond all bounds, most for feature j."""
        where = "the corpus" if self.first is None else f"sequence {self.first + g}"
        return InfeasibleError(
            f"no distribution keeps the limits of {where}, that of rule {self.grounded.features.names[j]!r} among them",
            hint="give a finite slack, a larger rate, or leave a rule out",
        )
