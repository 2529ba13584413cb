"""The product of a chain with the monitors of its global rules, unrolled over the tokens.

A node of layer t is a label at token t together with the monitors' states behind it; layer 0 is the one root in front
of the first token, so layer t + 1 holds the nodes of token t. Every path from the root to the last layer is one
labelling, and the sum of its edges and of its last node's `final` is the penalised score. Monitors are
deterministic, so labellings and paths are the same thing, and what sums over chains sums here too (`kernels.chain`).

Size: T times the states of the product automaton times L edges; refused beyond `max_edges`. The automaton's tables
build it in arrays; rules that have none, because their states grow with the sequence or are too many, are stepped
one node at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem
from espalier.decoders.joint import Joint, States, transition
from espalier.errors import InfeasibleError, InputError
from espalier.rules.automaton import Automaton, SizeError
from espalier.rules.forms import total_price

if TYPE_CHECKING:
    from espalier.kernels import chain

__all__ = [
    "MAX_EDGES",
    "MAX_STEPPED",
    "EdgePosterior",
    "Lattice",
    "LatticeTooLarge",
    "Layer",
    "build",
    "from_automaton",
    "from_monitors",
    "posterior_of",
    "require_possible",
]

Float = NDArray[np.float64]

MAX_EDGES = 10_000_000
MAX_STEPPED = 1_000_000
"""The largest lattices that are built unless a caller wants more: by tables, and by stepping monitors."""
MAX_STATES, STATES_A_TOKEN, FEW = 200_000, 250, 20_000
"""States of tables, at most and for each token of a short sequence; edges of a lattice that is stepped before that."""


class LatticeTooLarge(InputError):
    """The product automaton of the rules has too many states for this sequence."""


class Layer(NamedTuple):
    """The nodes of one token and the edges into them, sorted by target.

    label : int16[S], the label of each node; source, target : int32[E], nodes of the previous and of this layer;
    score : float64[E], finite; charge : int32[E], what rules charge on it, a row of the automaton's `increment_rows`,
    if there is an automaton.
    """

    label: NDArray[np.int16]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    score: NDArray[np.float64]
    charge: NDArray[np.int32] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """layers : one a token; final : float64[S], what the end adds to each node of the last layer, -inf if forbidden.

    states : int64[S], the states of the automaton behind the last nodes, if there is one.
    """

    layers: tuple[Layer, ...]
    final: NDArray[np.float64]
    states: NDArray[np.int64] | None = None

    @property
    def labels(self) -> NDArray[np.int16]:
        """The label of every node, layer by layer, without the root."""
        return np.concatenate([np.zeros(0, np.int16), *(layer.label for layer in self.layers)])

    def columns(self) -> chain.NodeColumns:
        """Return it as kernels take it: edges from the root count as scores of nodes, for each node has one."""
        from espalier.kernels.chain import NodeColumns

        sizes = [len(layer.label) for layer in self.layers]
        nodes = np.append(0, np.cumsum(sizes)).astype(np.int64)
        score, degree = np.zeros(nodes[-1]), np.zeros(nodes[-1], np.int64)
        for t, layer in enumerate(self.layers):
            if t:
                degree[nodes[t] : nodes[t + 1]] = np.bincount(layer.target, minlength=sizes[t])
            else:
                score[layer.target] = layer.score
        if self.layers:
            score[nodes[-2] :] += self.final
        inner, T = self.layers[1:], len(self.layers)
        return NodeColumns(
            np.array([0, T]), nodes, score, np.arange(T, dtype=np.int32), nodes[:-1], np.append(0, np.cumsum(degree)),
            np.concatenate([np.zeros(0, np.int32), *(layer.source for layer in inner)]),
            np.concatenate([np.zeros(0), *(layer.score for layer in inner)]),
        )  # fmt: skip


class EdgePosterior(NamedTuple):
    """log_z; entropy; nodes : float64, the probability of every node, layer by layer; edges : of the edges of each."""

    log_z: float
    entropy: float
    nodes: Float
    edges: list[Float]


def posterior_of(lattice: Lattice) -> EdgePosterior:
    """Return how probable nodes and edges are."""
    from espalier.kernels.chain import forward_backward

    if not lattice.layers:
        require_possible(float(lattice.final[0]))
        return EdgePosterior(float(lattice.final[0]), 0.0, np.zeros(0), [])
    columns = lattice.columns()
    log_z, entropy = np.zeros(1), np.zeros(1)
    nodes, edges = np.zeros(len(columns.score)), np.zeros(len(columns.edge))
    forward_backward(columns, 0, 1, log_z, nodes, edges, entropy)
    require_possible(float(log_z[0]))
    first = lattice.layers[0].target
    parts = np.split(edges, np.cumsum([len(layer.score) for layer in lattice.layers[1:]])[:-1])
    inner = parts if len(lattice.layers) > 1 else []
    return EdgePosterior(float(log_z[0]), float(entropy[0]), nodes, [nodes[first], *inner])


def require_possible(log_z: float) -> None:
    """Raise if no labelling is possible."""
    if log_z == -math.inf:
        raise InfeasibleError("every labelling breaks a hard rule or is forbidden: there is no distribution over them")


def build(problem: Problem, max_edges: int | None = None) -> Lattice:
    """Unroll a problem's folded potentials and its global rules, by the quicker way that its rules allow.

    max_edges : the largest lattice; a million if the monitors have to be stepped one by one, ten if not.
    """
    compiled = problem.grounded.compiled
    try:
        automaton = compiled.automaton(problem.globals, max_states=min(MAX_STATES, STATES_A_TOKEN * problem.T))
    except SizeError:  # tables for sequences of any length are not worth their time for a short one
        try:
            return from_monitors(problem, FEW if max_edges is None else min(FEW, max_edges))
        except LatticeTooLarge:
            pass
        try:
            automaton = compiled.automaton(problem.globals, max_states=MAX_STATES)
        except SizeError:
            return from_monitors(problem, MAX_STEPPED if max_edges is None else max_edges)
    return from_automaton(problem, automaton, MAX_EDGES if max_edges is None else max_edges)


def from_automaton(problem: Problem, automaton: Automaton, max_edges: int) -> Lattice:
    """Unroll by the tables of the product automaton of the problem's global rules."""
    p = problem.folded
    classes = automaton.classes(problem.grounded.bits).tolist()
    rho = problem.penalties[list(automaton.rules)]
    cost = total_price(automaton.increment_rows, rho)
    states = np.zeros(1, np.int64)
    layers: list[Layer] = []
    place = np.empty(automaton.n_states, np.int32)  # the node of a state in the layer being built
    edges = 0
    for t, c in enumerate(classes):
        steps = p.start[None] if t == 0 else transition(p, t)[automaton.label[states]]
        scores = steps + p.unary[t] - cost[automaton.increment_ids[states, c]]
        source, label = np.nonzero(scores > -np.inf)
        following = automaton.next[states[source], c, label]
        charge = automaton.increment_ids[states[source], c, label]
        order = np.argsort(following, kind="stable")
        states = np.unique(following).astype(np.int64)
        place[states] = np.arange(len(states))
        layers.append(
            Layer(
                automaton.label[states],
                source[order].astype(np.int32),
                place[following[order]],
                scores[source, label][order],
                charge[order],
            )
        )
        edges += len(source)
        _check_size(edges, max_edges, t, problem, len(states))
    end = -total_price(automaton.final, rho)[states]
    return _finished(problem, layers, end, states)


def from_monitors(problem: Problem, max_edges: int) -> Lattice:
    """Unroll by stepping the monitors: for rules whose states grow with the sequence."""
    p, joint = problem.folded, Joint.of(problem)
    nodes: list[tuple[int, States]] = [(-1, joint.initial)]
    layers: list[Layer] = []
    edges = 0
    for t in range(problem.T):
        steps = p.start[None] if t == 0 else transition(p, t)
        nodes, layer = _layer(t, steps + p.unary[t], nodes, joint)
        layers.append(layer)
        edges += len(layer.score)
        _check_size(edges, max_edges, t, problem, len(nodes))
    end = np.array([-joint.final(states) for _, states in nodes], dtype=np.float64)
    return _finished(problem, layers, end)


def _finished(
    problem: Problem, layers: list[Layer], end: NDArray[np.float64], states: NDArray[np.int64] | None = None
) -> Lattice:
    """Add the potentials' end to what the rules charge there."""
    last = problem.folded.end[layers[-1].label] if layers else 0.0
    return Lattice(tuple(layers), end + last, states)


def _check_size(edges: int, max_edges: int, t: int, problem: Problem, states: int) -> None:
    if edges > max_edges:
        raise LatticeTooLarge(
            f"the product automaton of {len(problem.globals)} rules needs more than max_edges = {max_edges} edges "
            f"on this sequence ({edges} on {t + 1} of {problem.T} tokens, {states} states at the last); "
            "use 'astar', ask for fewer rules, or allow more"
        )


def _layer(
    t: int, scores: NDArray[np.float64], nodes: list[tuple[int, States]], joint: Joint
) -> tuple[list[tuple[int, States]], Layer]:
    """Return the nodes of token t and the edges into them from the nodes before; scores : float64[L or 1, L]."""
    found: dict[tuple[int, States], int] = {}
    source, target, score = [], [], []
    allowed = [np.flatnonzero(row > -np.inf).tolist() for row in scores]
    values = scores.tolist()
    for s, (i, states) in enumerate(nodes):
        for j in allowed[max(i, 0)]:
            following, cost = joint.step(states, t, i, j)
            if cost < math.inf:
                source.append(s)
                target.append(found.setdefault((j, following), len(found)))
                score.append(values[max(i, 0)][j] - cost)
    order = np.argsort(np.array(target, np.int32), kind="stable")
    label = np.array([j for j, _ in found], np.int16)
    arrays = (np.array(source, np.int32)[order], np.array(target, np.int32)[order], np.array(score, np.float64)[order])
    return list(found), Layer(label, *arrays)
