"""The ladder: the cheapest method that proves its answer, and the name of the rung on which it did.

    viterbi   local rules folded into the potentials. Penalties are never negative, so an answer that breaks no global
              rule cannot be beaten: most sequences end here
    dual      Lagrangian multipliers on rules in linear form, compiled where they only count (see `counts`)
    search    A*, pruned by the best labelling known; any rule
    product   dynamic programming over the product automaton, where it is small
    ilp       an integer program in HiGHS, where it is small

Every rung hands on its best labelling and its bound; the first on which the two meet, or which proves that no
labelling is possible, is the last. If none does, the best labelling is BOUNDED by the lowest bound. Every rule has a
monitor and every problem Viterbi's bound, so no rule is left to a method that proves nothing.

Ties: Viterbi's labelling, first in the common order, if it breaks no global rule; otherwise whichever optimal
labelling the rung meets first, the same one every time (unless `seconds` end a rung).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from espalier.decoders import astar, dual, ilp, product, viterbi
from espalier.decoders.base import (
    Decoding,
    Problem,
    Status,
    Work,
    certify,
    checked_count,
    infeasible,
    nothing_found,
)
from espalier.decoders.counts import Conditions, CountDecoder
from espalier.decoders.lattice import LatticeTooLarge
from espalier.errors import InputError

__all__ = ["auto"]

MAX_ROUNDS = 50
"""Viterbi passes of a dual rung: more rarely close a gap that is still open."""

MAX_STATES = 4096
"""The largest product automaton that is worth building for one sequence."""

MAX_COLUMNS = 50_000
ILP_SECONDS = 10.0
"""The largest integer program, and how long it may take where the caller sets no time."""


def auto(problem: Problem, *, k: int = 1, max_nodes: int = 100_000, seconds: float | None = None) -> Decoding:
    """Return the best labelling, or the k best, by the cheapest method that proves it.

    max_nodes : prefixes that the search may expand; 0 stops below it, after `dual`. seconds : no rung is begun
    after them, and search and integer program stop at them (None: no limit, but ten seconds for the program).
    The certificate's method is "auto: " and the rung; its work is that of all rungs together.
    """
    checked_count(k, "k")
    checked_count(max_nodes, "max_nodes", least=0)
    climb = _Climb(problem, max_nodes, math.inf if seconds is None else _deadline(seconds))
    first = viterbi.decode(problem, k=k)
    if k > 1:
        return _k_best(climb, first, k)
    return climb.up(first)
