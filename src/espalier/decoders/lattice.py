"""The product of a chain with the monitors of its global rules, unrolled over the tokens.

A node of layer t is a label at token t together with the monitors' states behind it; layer 0 is the one root in front
of the first token, so layer t + 1 holds the nodes of token t. Every path from the root to the last layer is one
labelling, and the sum of its edges and of its last node's `final` is the penalised score. Monitors are
deterministic, so labellings and paths are the same thing, and every dynamic programme over a chain runs here too.

Size: T times the states of the product automaton times L edges; refused beyond `max_edges`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.decoders.base import Problem
from espalier.decoders.joint import Joint, States, transition
from espalier.errors import InputError

__all__ = ["MAX_EDGES", "Lattice", "LatticeTooLarge", "Layer", "build"]

MAX_EDGES = 2_000_000


class LatticeTooLarge(InputError):
    """The product automaton of the rules has too many states for this sequence."""


class Layer(NamedTuple):
    """The nodes of one token and the edges into them, sorted by target.

    label : int16[S], the label of each node; source, target : int32[E], nodes of the previous and of this layer;
    score : float64[E], finite.
    """

    label: NDArray[np.int16]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    score: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """layers : one a token; final : float64[S], what the end adds to each node of the last layer, -inf if forbidden."""

    layers: tuple[Layer, ...]
    final: NDArray[np.float64]
    L: int

    @property
    def edges(self) -> int:
        """The number of edges."""
        return sum(len(layer.score) for layer in self.layers)

    @property
    def nodes(self) -> int:
        """The number of nodes, the root among them."""
        return 1 + sum(len(layer.label) for layer in self.layers)


def build(problem: Problem, max_edges: int = MAX_EDGES) -> Lattice:
    """Unroll a problem's folded potentials and its global rules."""
    p, joint = problem.folded, Joint.of(problem)
    nodes: list[tuple[int, States]] = [(-1, joint.initial)]
    layers = []
    edges = 0
    for t in range(problem.T):
        steps = p.start[None] if t == 0 else transition(p, t)
        nodes, layer = _layer(t, steps + p.unary[t], nodes, joint)
        edges += len(layer.score)
        if edges > max_edges:
            raise LatticeTooLarge(
                f"the product automaton of {len(joint.monitors)} rules needs more than max_edges = {max_edges} edges "
                f"on this sequence ({edges} on {t + 1} of {problem.T} tokens, {len(nodes)} states at the last); "
                "use 'astar', ask for fewer rules, or allow more"
            )
        layers.append(layer)
    end = np.array([-joint.final(states) for _, states in nodes])
    if problem.T:
        end += p.end[layers[-1].label]
    return Lattice(tuple(layers), end, problem.L)


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
