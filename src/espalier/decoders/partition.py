"""Log partition, expectations and entropy under rules, and what they change by when a score or a penalty does.

    p(y) ∝ exp S(y),   S(y) = s(x, y) - Σ_k ρ_k d_k(x, y),   log Z = log Σ_y exp S(y),   H = log Z - E[S]

    ∂ log Z / ∂ unary[t, l] = p(y_t = l)        ∂ log Z / ∂ ρ_k = -E[d_k]
    ∂ H / ∂ θ = -Cov(f_θ, S)                    for a score θ that S adds f_θ(y) times

The chain is unrolled with the product automaton of all rules that are not local (a rule of penalty 0 among them: its
derivative is not 0). Every edge then has a probability, from one pass forwards and one backwards; and what the paths
through a node score on the average before and behind it are means over its edges, whose sum on an edge is what its
covariance with S is made of (the expectation semiring of Li and Eisner, 2009). Cost O(E) for E edges. A rule whose
states grow with the sequence has no automaton; it is refused by its name, never approximated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.corpus import Labels
from espalier.decoders.base import Problem
from espalier.decoders.lattice import MAX_EDGES, Lattice, LatticeTooLarge, Layer, from_automaton, posterior_of
from espalier.decoders.questions import Rules, Scores, problem_of
from espalier.decoders.viterbi import Clamp
from espalier.errors import InputError
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


def expectations_of(problem: Problem, *, max_edges: int = MAX_EDGES) -> Expectations:
    """Return the expectations of a grounded problem; its temperature is not asked."""
    compiled = problem.grounded.compiled
    globals_ = [k for k, form in enumerate(compiled.form) if form != "local"]
    automaton = _automaton(compiled, globals_)
    try:
        lattice = from_automaton(problem, automaton, max_edges)
    except LatticeTooLarge:
        names = ", ".join(repr(problem.rules.names[k]) for k in automaton.rules)
        raise LatticeTooLarge(
            f"the rules {names} need more than max_edges = {max_edges} edges on this sequence",
            hint="allow more, or ask for fewer rules",
        ) from None
    found = posterior_of(lattice)
    ahead, behind = _means(lattice, found.edges)
    last = found.edges[-1] if lattice.layers else np.ones(1)
    mean = float(ahead[0][0])
    sums, slopes = _Sums(problem, automaton), _Sums(problem, automaton)
    layers = lattice.layers
    for t, (layer, share) in enumerate(zip(layers, found.edges, strict=True)):
        before = layers[t - 1].label[layer.source].astype(np.int64) if t else np.zeros(len(share), np.int64)
        whole = behind[t][layer.source] + layer.score + ahead[t + 1][layer.target]
        sums.add(t, layer, before, share)
        slopes.add(t, layer, before, -share * (whole - mean))
    if layers:
        last = np.asarray(np.bincount(layers[-1].target, last, len(lattice.final)), np.float64)
    charged = automaton.final[lattice.states]
    sums.charge(charged, last)
    slopes.charge(charged, -last * (behind[-1] + _finite(lattice.final) - mean))
    totals, entropy_slopes = sums.slopes(), slopes.slopes()
    return Expectations(found.log_z, found.entropy, totals.unary, totals.trans, -totals.penalties, entropy_slopes)


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


def _means(lattice: Lattice, edges: list[Float]) -> tuple[list[Float], list[Float]]:
    """Return what the rest of a path scores from every node on, and what it has scored up to there, on the average.

    edges : how probable the edges of each layer are. Lists of float64[S], the root's first; 0 for improbable nodes.
    """
    ahead, behind = [_finite(lattice.final)], [np.zeros(1)]
    for t in range(len(edges) - 1, -1, -1):
        layer, n = lattice.layers[t], len(lattice.layers[t - 1].label) if t else 1
        ahead.append(_mean(layer.source, edges[t], layer.score + ahead[-1][layer.target], n))
    for layer, share in zip(lattice.layers, edges, strict=True):
        behind.append(_mean(layer.target, share, behind[-1][layer.source] + layer.score, len(layer.label)))
    return ahead[::-1], behind


def _mean(node: NDArray[np.int32], weight: Float, values: Float, n: int) -> Float:
    """Return the weighted mean of the values of each node, float64[n]."""
    total = np.bincount(node, weight, n)
    return np.divide(np.bincount(node, weight * values, n), total, out=np.zeros(n), where=total > 0)


def _finite(scores: Float) -> Float:
    return np.where(np.isfinite(scores), scores, 0.0)


class _Sums:
    """Adds up what edges weigh, by label, by pair of labels and by broken rule."""

    def __init__(self, problem: Problem, automaton: Automaton) -> None:
        T, L = problem.T, problem.L
        self.problem, self.automaton = problem, automaton
        self.unary, self.trans = np.zeros((T, L)), np.zeros((max(T - 1, 0), L, L))
        self.degrees = np.zeros(problem.rules.K)

    def add(self, t: int, layer: Layer, before: NDArray[np.int64], weight: Float) -> None:
        """Count the edges into token t; before : the label that each one comes from."""
        L, label = self.problem.L, layer.label[layer.target]
        self.unary[t] = np.bincount(label, weight, minlength=L)
        if t:
            self.trans[t - 1] = np.bincount(before * L + label, weight, minlength=L * L).reshape(L, L)
        assert layer.charge is not None
        self.charge(self.automaton.increment_rows[layer.charge], weight)

    def charge(self, charged: NDArray[np.int32], weight: Float) -> None:
        """Count rows of how often each rule is broken."""
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
