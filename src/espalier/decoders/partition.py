"""Log partition, expectations and entropy under rules, and what they change by when a score or a penalty does.

    p(y) ∝ exp S(y),   S(y) = s(x, y) - Σ_k ρ_k d_k(x, y),   log Z = log Σ_y exp S(y),   H = log Z - E[S]

    ∂ log Z / ∂ unary[t, l] = p(y_t = l)        ∂ log Z / ∂ ρ_k = -E[d_k]
    ∂ H / ∂ θ = -Cov(f_θ, S)                    for a score θ that S adds f_θ(y) times

The chain is unrolled with the product automaton of all rules that are not local (a rule of penalty 0 among them: its
derivative is not 0). Every edge then has a probability, and an expected total score of the paths through it, from one
pass forwards and one backwards: the expectation semiring of Li and Eisner (2009). Cost O(E) for E edges. A rule whose
states grow with the sequence has no automaton; it is refused by its name, never approximated.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Labels
from espalier.decoders.base import Problem
from espalier.decoders.joint import transition
from espalier.decoders.lattice import MAX_EDGES, LatticeTooLarge, priced
from espalier.decoders.product import log_sum
from espalier.decoders.questions import Rules, Scores, problem_of
from espalier.decoders.viterbi import Clamp
from espalier.errors import InfeasibleError, InputError
from espalier.rules.automaton import Automaton, SizeError
from espalier.rules.compile import Compiled

__all__ = ["Expectations", "Slopes", "expectations", "expectations_of"]

Float = NDArray[np.float64]


class Slopes(NamedTuple):
    """Derivatives of one number: unary : float64[T, L]; trans : float64[T - 1, L, L]; penalties : float64[K].

    Start scores are added where the first unary scores are, and end scores where the last ones are.
    """

    unary: Float
    trans: Float
    penalties: Float


class Expectations(NamedTuple):
    """What is expected of p(y) ∝ exp(score minus penalties), and its derivatives.

    log_z : log Σ_y exp S(y); entropy : in natural units; marginals : p(y_t = l), float64[T, L]; pairs :
    p(y_t = i, y_{t+1} = j), float64[T - 1, L, L]; degrees : how often each rule is expected to be broken, float64[K].
    entropy_slopes : the derivatives of the entropy; those of log_z are `log_z_slopes`.
    """

    log_z: float
    entropy: float
    marginals: Float
    pairs: Float
    degrees: Float
    entropy_slopes: Slopes

    @property
    def log_z_slopes(self) -> Slopes:
        """The derivatives of log_z."""
        return Slopes(self.marginals, self.pairs, -self.degrees)


def expectations(
    potentials: Scores,
    rules: Rules = None,
    *,
    tokens: Sequence[str] | None = None,
    labels: Labels | Sequence[str] | None = None,
    penalties: Mapping[str, float] | ArrayLike | None = None,
    text: str | None = None,
    clamp: Clamp | None = None,
    valid_tags: bool | None = None,
    max_edges: int = MAX_EDGES,
) -> Expectations:
    """Return log partition, marginals, expected degrees of the rules and entropy, each with its derivatives.

    Parameters
    ----------
    potentials, rules, tokens, labels, penalties, text, clamp, valid_tags
        As for `decode`, of one sequence.
    max_edges
        The largest lattice.

    Returns
    -------
    Expectations

    Raises
    ------
    InputError
        If a rule has no automaton, or the rules together need a larger lattice: the message names them.
    InfeasibleError
        If every labelling is forbidden.

    Examples
    --------
    >>> import espalier as es
    >>> found = es.expectations([[0.0, 0.0]] * 3, "Once: a once [penalty 1]", tokens=["x"] * 3, labels=["a", "b"])
    >>> round(found.log_z, 4), round(float(found.degrees[0]), 4)  # a b a breaks the rule
    (1.9971, 0.0499)
    """
    given = problem_of(
        potentials, rules, tokens=tokens, labels=labels, penalties=penalties, text=text, clamp=clamp,
        valid_tags=valid_tags,
    )  # fmt: skip
    return expectations_of(given.tempered(), max_edges=max_edges)


class _Layer(NamedTuple):
    """The edges into the nodes of one token: nodes at both ends, scores, labels and what the rules charge on them."""

    source: NDArray[np.int64]
    target: NDArray[np.int64]
    score: Float
    before: NDArray[np.int64]  # the label at the source, -1 at the beginning
    label: NDArray[np.int64]
    charge: NDArray[np.int64]  # the row of `increment_rows`


def expectations_of(problem: Problem, *, max_edges: int = MAX_EDGES) -> Expectations:
    """Return the expectations of a grounded problem; its temperature is not asked."""
    compiled = problem.grounded.compiled
    globals_ = [k for k, form in enumerate(compiled.form) if form != "local"]
    automaton = _automaton(compiled, globals_)
    layers, states = _unrolled(problem, automaton, max_edges)
    end = _end(problem, automaton, states)
    alpha, reached = _forward(layers)
    total = log_sum(np.zeros(len(end), np.int64), alpha[-1] + end, 1)[0]
    if total == -math.inf:
        raise InfeasibleError("every labelling breaks a hard rule or is forbidden: there is no distribution over them")
    last = np.exp(alpha[-1] + end - total)
    finite = np.where(np.isfinite(end), end, 0.0)
    mean = float(last @ (reached[-1] + finite))
    through = last * (reached[-1] + finite - mean)  # of the last nodes: Cov with being there
    sums, slopes = _Sums(problem, automaton), _Sums(problem, automaton)
    sums.finish(automaton.final[states], last)
    slopes.finish(automaton.final[states], -through)
    beta, rest = end, finite
    for t in range(problem.T - 1, -1, -1):
        layer = layers[t]
        ahead = layer.score + beta[layer.target]
        share = np.exp(alpha[t][layer.source] + ahead - total)
        whole = reached[t][layer.source] + layer.score + rest[layer.target]
        sums.add(t, layer, share)
        slopes.add(t, layer, -share * (whole - mean))
        beta = log_sum(layer.source, ahead, len(alpha[t]))
        known = np.isfinite(beta[layer.source])
        weight = np.exp(np.where(known, ahead - np.where(known, beta[layer.source], 0.0), -np.inf))
        rest = np.bincount(layer.source, weight * (layer.score + rest[layer.target]), minlength=len(beta))
    found, entropy_slopes = sums.slopes(), slopes.slopes()
    entropy = max(float(total) - mean, 0.0)
    return Expectations(float(total), entropy, found.unary, found.trans, -found.penalties, entropy_slopes)


def _automaton(compiled: Compiled, rules: list[int]) -> Automaton:
    """Return the product automaton; a rule that has none is refused by its name."""
    try:
        return compiled.remember(("automaton", tuple(rules)), lambda: compiled.automaton(rules))
    except SizeError as error:
        for k in rules:
            try:
                compiled.automaton([k])
            except SizeError as why:
                name = compiled.rules.names[k]
                hint = "leave the rule out; es.decode takes it, since the best labelling needs no sum"
                raise InputError(f"rule {name!r} has no exact expectation: {why.what}", hint=hint) from None
        names = ", ".join(repr(compiled.rules.names[k]) for k in rules)
        what = f"the rules {names} have no exact expectation together: {error.what}"
        raise InputError(what, hint="ask for fewer of them") from None


def _unrolled(problem: Problem, automaton: Automaton, max_edges: int) -> tuple[list[_Layer], NDArray[np.int64]]:
    """Return the layers of the lattice, and the states of the last nodes."""
    p, rho = problem.folded, problem.penalties[list(automaton.rules)]
    cost, states, edges = priced(automaton.increment_rows, rho), np.zeros(1, np.int64), 0
    layers: list[_Layer] = []
    for t, c in enumerate(automaton.classes(problem.grounded.bits).tolist()):
        steps = p.start[None] if t == 0 else transition(p, t)[automaton.label[states]]
        scores = steps + p.unary[t] - cost[automaton.increment_ids[states, c]]
        source, label = np.nonzero(scores > -np.inf)
        following, target = np.unique(automaton.next[states[source], c, label], return_inverse=True)
        before, charge = automaton.label[states[source]], automaton.increment_ids[states[source], c, label]
        layers.append(
            _Layer(
                source,
                target.reshape(-1),
                scores[source, label],
                before.astype(np.int64),
                label,
                charge.astype(np.int64),
            )
        )
        states, edges = following.astype(np.int64), edges + len(source)
        if edges > max_edges:
            names = ", ".join(repr(problem.rules.names[k]) for k in automaton.rules)
            raise LatticeTooLarge(
                f"the rules {names} need more than max_edges = {max_edges} edges on this sequence",
                hint="allow more, or ask for fewer rules",
            )
    return layers, states


def _end(problem: Problem, automaton: Automaton, states: NDArray[np.int64]) -> Float:
    """Return what the end adds to each of the last nodes."""
    charged = -priced(automaton.final, problem.penalties[list(automaton.rules)])[states]
    return charged + problem.folded.end[automaton.label[states]] if problem.T else charged


def _forward(layers: list[_Layer]) -> tuple[list[Float], list[Float]]:
    """Return for every node log Σ exp of the paths into it, and their expected score."""
    alpha: list[Float] = [np.zeros(1)]
    reached: list[Float] = [np.zeros(1)]
    for layer in layers:
        into, n = alpha[-1][layer.source] + layer.score, int(layer.target.max(initial=-1)) + 1
        alpha.append(log_sum(layer.target, into, n))
        weight = np.exp(into - alpha[-1][layer.target])
        scores = weight * (reached[-1][layer.source] + layer.score)
        reached.append(np.bincount(layer.target, scores, minlength=n).astype(np.float64))
    return alpha, reached


class _Sums:
    """Adds up what edges weigh, by label, by pair of labels and by broken rule."""

    def __init__(self, problem: Problem, automaton: Automaton) -> None:
        T, L = problem.T, problem.L
        self.problem, self.automaton = problem, automaton
        self.unary, self.trans = np.zeros((T, L)), np.zeros((max(T - 1, 0), L, L))
        self.degrees = np.zeros(problem.rules.K)

    def add(self, t: int, layer: _Layer, weight: Float) -> None:
        """Count the edges into token t."""
        L = self.problem.L
        self.unary[t] = np.bincount(layer.label, weight, minlength=L)
        if t:
            self.trans[t - 1] = np.bincount(layer.before * L + layer.label, weight, minlength=L * L).reshape(L, L)
        self._charge(self.automaton.increment_rows[layer.charge], weight)

    def finish(self, charged: NDArray[np.int32], weight: Float) -> None:
        """Count what only the end tells."""
        self._charge(charged, weight)

    def _charge(self, charged: NDArray[np.int32], weight: Float) -> None:
        if self.automaton.rules:
            self.degrees[list(self.automaton.rules)] += weight @ charged

    def slopes(self) -> Slopes:
        """Return the sums; a penalty counts minus each time its rule is broken. Local rules are read off the labels."""
        grounded = self.problem.grounded
        for k, form in enumerate(grounded.compiled.form):
            if form == "local":
                pair = grounded.local_pair(k)
                self.degrees[k] = (grounded.local_unary(k) * self.unary).sum()
                if pair is not None:
                    self.degrees[k] += (pair[1:] * self.trans).sum()
        return Slopes(self.unary, self.trans, -self.degrees)
