"""Gibbs and Metropolis sampling over labellings, for any rule; annealed for the best labelling.

    p_τ(y) ∝ exp( S(y) / τ ),    S(y) = s(x, y) - Σ_k ρ_k d_k(x, y)        (Singh, Yao, Riedel & McCallum, 2010)

One sweep resamples every label given all others (Gibbs), then some windows of neighbouring labels: a window is drawn
from the potentials alone, given the labels around it, and accepted with probability exp(-Δ penalties / τ), which is
the Metropolis-Hastings ratio for that proposal. Windows let the chain cross what single labels cannot, such as the
transitions that IOB2 forbids. Global rules are charged through their monitors, rerun from the change until they meet
the old run: O(1) steps for most changes, O(T) at worst.

`decode` cools τ geometrically and keeps the best labellings seen; hard rules cost a large finite price meanwhile.
HEURISTIC unless the answer reaches the folded Viterbi's score. `sample` holds τ = 1 and keeps every hard rule; where
hard rules cut the labellings into islands that no window spans, it sees the starting island only. Randomness comes
from the generator given, and ties are kept as they were found.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from espalier import inference
from espalier.decoders import astar
from espalier.decoders.base import (
    Decoder,
    Decoding,
    Problem,
    certify_all,
    checked_count,
    evaluate,
    generator,
    infeasible,
    nothing_found,
)
from espalier.decoders.certify import WorkDone
from espalier.decoders.joint import Joint, States, transition
from espalier.errors import InfeasibleError, InputError
from espalier.potentials import Potentials

__all__ = ["GIBBS", "decode", "sample"]

Float = NDArray[np.float64]


def decode(
    problem: Problem,
    *,
    k: int = 1,
    rng: np.random.Generator | int = 0,
    sweeps: int = 60,
    window: int = 20,
    hot: float = 1.0,
    cold: float = 0.2,
) -> Decoding:
    """Return the k best labellings seen while τ cools from `hot` to `cold` over the sweeps."""
    checked_count(k, "k")
    checked_count(sweeps, "sweeps")
    if not 0 < cold <= hot < math.inf:
        raise InputError("temperatures fall from hot to cold, both above 0", hint=f"found hot={hot}, cold={cold}")
    start = inference.viterbi(problem.folded, allow_infeasible=True)
    top = float(start.scores[0])
    if top == -math.inf:
        return infeasible(problem, "gibbs", WorkDone(viterbi=1))
    chain = _Chain(problem, start.labels.tolist(), generator(rng), window, Joint.of(problem, _finite_prices(problem)))
    seen = {tuple(chain.y): chain.score()}
    for tau in np.geomspace(hot, cold, sweeps):
        chain.sweep(float(tau))
        seen[tuple(chain.y)] = chain.score()
        if len(seen) > 64 * k:
            seen = dict(_best(seen, k))
    work = WorkDone(viterbi=1, nodes=chain.moves)
    ranked = [(y, evaluate(problem, y).score) for y, _ in _best(seen, k)]
    kept = [(y, top) for y, score in sorted(ranked, key=lambda pair: -pair[1]) if score > -math.inf]
    if not kept:
        return nothing_found(problem, top, "gibbs", work, heuristic=True)
    return certify_all(problem, kept, "gibbs", work, heuristic=True)


def sample(
    problem: Problem,
    n: int,
    rng: np.random.Generator | int,
    *,
    burn: int = 50,
    thin: int = 1,
    window: int = 4,
) -> NDArray[np.int16]:
    """Return n labellings, int16[n, T], every `thin` sweeps after `burn` sweeps; neighbours are correlated."""
    checked_count(n, "n", least=0)
    checked_count(burn, "burn", least=0)
    checked_count(thin, "thin")
    start = astar.decode(problem)
    if start.labels is None:
        raise InfeasibleError("no labelling to start from: every one found breaks a hard rule or is forbidden")
    chain = _Chain(problem, start.labels.tolist(), generator(rng), window, Joint.of(problem))
    for _ in range(burn):
        chain.sweep(1.0)
    y = np.empty((n, problem.T), np.int16)
    for r in range(n):
        for _ in range(thin):
            chain.sweep(1.0)
        y[r] = chain.y
    return y


def _best(seen: dict[tuple[int, ...], float], k: int) -> list[tuple[tuple[int, ...], float]]:
    return sorted(seen.items(), key=lambda pair: (-pair[1], pair[0][::-1]))[:k]


def _finite_prices(problem: Problem) -> Float:
    """Return penalties with hard rules at a price no single label is worth."""
    unary = np.where(np.isfinite(problem.potentials.unary), problem.potentials.unary, 0.0)
    trans = np.where(np.isfinite(problem.potentials.trans), problem.potentials.trans, 0.0)
    worth = np.ptp(unary, axis=1).max(initial=0.0) + 2 * float(np.ptp(trans) if trans.size else 0.0)
    return np.where(np.isposinf(problem.penalties), 10.0 + 2 * worth, problem.penalties)


@dataclass(slots=True)
class _Run:
    """The monitors rerun over tokens a..b-1: states and costs behind each, and what changes in all."""

    a: int
    states: list[States]
    costs: list[float]
    end: float
    change: float


@dataclass(slots=True)
class _Chain:
    """The state of the Markov chain: labels, and the states and costs of the monitors behind every token."""

    problem: Problem
    y: list[int]
    rng: np.random.Generator
    window: int
    joint: Joint
    potentials: Potentials = field(init=False)
    states: list[States] = field(init=False)  # states[t] in front of token t; the last one at the end
    costs: list[float] = field(init=False)
    end: float = field(init=False)
    moves: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        checked_count(self.window, "window")
        self.potentials = self.problem.folded
        self.states, self.costs = [self.joint.initial], []
        i = -1
        for t, j in enumerate(self.y):
            states, cost = self.joint.step(self.states[t], t, i, j)
            self.states.append(states)
            self.costs.append(cost)
            i = j
        self.end = self.joint.final(self.states[-1])

    def score(self) -> float:
        """Return the penalised score of the current labels at the chain's own prices."""
        return self.potentials.score(self.y) - math.fsum(self.costs) - self.end

    def sweep(self, tau: float) -> None:
        """Resample every label once, then about as many windows as cover the sequence."""
        T = len(self.y)
        for t in range(T):
            self._resample(t, tau)
        for _ in range(T // self.window + 1 if self.window > 1 and T > 1 else 0):
            self._propose(tau)

    def _resample(self, t: int, tau: float) -> None:
        """Draw y_t given all other labels."""
        weight = self._given_neighbours(t)
        runs: dict[int, _Run] = {}
        for j in np.flatnonzero(weight > -np.inf).tolist():
            if j != self.y[t]:
                runs[j] = self._rerun(t, [j])
                weight[j] -= runs[j].change
        self.moves += 1
        j = _categorical(weight / tau, self.rng)
        if j in runs:
            self._accept([j], runs[j])

    def _propose(self, tau: float) -> None:
        """Draw a window from the potentials, and accept it by what the global rules say."""
        T = len(self.y)
        size = int(self.rng.integers(2, min(self.window, T) + 1)) if self.window < T else T
        a = int(self.rng.integers(0, T - size + 1))
        labels = self._window(a, a + size, tau)
        self.moves += 1
        if labels == self.y[a : a + size]:
            return
        run = self._rerun(a, labels)
        if run.change <= 0 or self.rng.random() < math.exp(-run.change / tau):
            self._accept(labels, run)

    def _given_neighbours(self, t: int) -> Float:
        """Return the scores of each label at t between its neighbours, float64[L]."""
        p, y = self.potentials, self.y
        before = p.start if t == 0 else transition(p, t)[y[t - 1]]
        after = p.end if t + 1 == len(y) else transition(p, t + 1)[:, y[t + 1]]
        weight: Float = before + p.unary[t] + after
        return weight

    def _window(self, a: int, b: int, tau: float) -> list[int]:
        """Draw labels of tokens a..b-1 from the potentials at temperature τ, given the labels around them."""
        p, y = self.potentials, self.y
        beta = [(p.end if b == len(y) else transition(p, b)[:, y[b]]) / tau]
        for t in range(b - 1, a, -1):
            beta.append(_log_sum_rows((transition(p, t) + p.unary[t]) / tau + beta[-1]))
        labels: list[int] = []
        for t in range(a, b):
            before = labels[-1] if labels else (y[a - 1] if a else -1)
            step = p.start if before < 0 else transition(p, t)[before]
            labels.append(_categorical((step + p.unary[t]) / tau + beta.pop(), self.rng))
        return labels

    def _rerun(self, a: int, labels: list[int]) -> _Run:
        """Run the monitors with other labels from token a on until nothing differs from the old run."""
        y, T, b = self.y, len(self.y), a + len(labels)
        run = _Run(a, [], [], self.end, 0.0)
        states, i = self.states[a], y[a - 1] if a else -1
        for t in range(a, T):
            j = labels[t - a] if t < b else y[t]
            states, cost = self.joint.step(states, t, i, j)
            run.states.append(states)
            run.costs.append(cost)
            run.change += cost - self.costs[t]
            # The same label and states at token t have the same future.
            if t >= b - 1 and j == y[t] and states == self.states[t + 1]:
                return run
            i = j
        run.end = self.joint.final(states)
        run.change += run.end - self.end
        return run

    def _accept(self, labels: list[int], run: _Run) -> None:
        """Replace the labels and what the monitors made of them."""
        a = run.a
        self.y[a : a + len(labels)] = labels
        self.states[a + 1 : a + 1 + len(run.states)] = run.states
        self.costs[a : a + len(run.costs)] = run.costs
        self.end = run.end


def _log_sum_rows(scores: Float) -> Float:
    """Return log Σ_j exp scores[i, j], float64[L]."""
    top = scores.max(axis=1, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        sums: Float = np.log(np.exp(scores - shift).sum(axis=1)) + shift[:, 0]
    return sums


def _categorical(log_weights: Float, rng: np.random.Generator) -> int:
    """Draw an index in proportion to exp(log_weights); at least one is finite."""
    cumulated = np.exp(log_weights - log_weights.max()).cumsum()
    # Below the last value even after rounding, so that no weight of zero and nothing beyond the end is drawn.
    u = min(rng.random() * cumulated[-1], np.nextafter(cumulated[-1], 0.0))
    return int(np.searchsorted(cumulated, u, side="right"))


GIBBS = Decoder("gibbs", decode, False, "annealed sampling; any rule", sample=sample)
