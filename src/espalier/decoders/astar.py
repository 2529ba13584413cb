"""A*: exact search over (token, label, monitor states), for any rule; the k best come for free.

    g = score minus penalties of the prefix,  h = best completion without global rules   (Chang et al. 2012, 2.2.2)

h never falls short of what is possible because ρ >= 0. Written as losses (see `reduced`) the search pops prefixes
by rising loss: what they lost against the best completion, plus the penalties they paid. The r-th complete
labelling popped is the r-th best. Prefixes with the same token, label and states have the same future: the first k
of them are expanded, later ones are worse and dropped. There is no other dominance, so nothing can be lost.

A prefix enters the heap before its monitors are stepped, and its next-best sibling when it leaves: most children of
a prefix are never built. The cost is O(log) a pop and one step of every monitor; pops are 1 a token where Viterbi's
answer keeps the rules, and up to T times the states of the product automaton where it breaks all of them.

A labelling known beforehand prunes: prefixes that lost more than it are never queued, and when the queue is empty it
is optimal. At most `max_nodes` prefixes are popped; then the answer is the known labelling, or a beam search's if
that is better, BOUNDED by the least loss in the heap.
Ties: the longest prefix goes first, so that plateaus of equal scores are not flooded; among tied labellings the
answer is always the same one, but not the first in the common order.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any, NamedTuple

from numpy.typing import NDArray

from espalier.decoders import beam
from espalier.decoders.base import Decoder, Decoding, Problem, certify_all, checked_count, evaluate, nothing_found
from espalier.decoders.certify import WorkDone
from espalier.decoders.joint import Joint, States, labels_of
from espalier.decoders.reduced import Losses
from espalier.errors import InputError

__all__ = ["ASTAR", "decode", "search"]


class _Prefix(NamedTuple):
    """Labels of tokens 0..t, the last of them `label`; t = -1 is the empty prefix."""

    t: int
    label: int
    states: States
    loss: float
    parent: _Prefix | None


class Found(NamedTuple):
    """What a search found: labellings with their losses in rising order, the loss any other has at least, pops."""

    labellings: list[tuple[list[int], float]]
    rest: float
    nodes: int


def decode(
    problem: Problem,
    *,
    k: int = 1,
    max_nodes: int = 100_000,
    width: int = 8,
    known: Sequence[int] | NDArray[Any] | None = None,
    seconds: float | None = None,
) -> Decoding:
    """Return the k best labellings; after `max_nodes` nodes or `seconds`, those of a beam of `width`, BOUNDED.

    known : a labelling to beat, for k = 1; it is the answer if nothing better is found.
    """
    checked_count(k, "k")
    checked_count(max_nodes, "max_nodes")
    checked_count(width, "width")
    if known is not None and k != 1:
        raise InputError(f"k is {k!r}, but a known labelling helps to find one", hint="leave it out for the k best")
    losses, joint = Losses(problem.folded), Joint.of(problem)
    floor = -math.inf if known is None else evaluate(problem, known).score
    most = losses.top - floor if floor > -math.inf else math.inf
    stop = math.inf if seconds is None else time.perf_counter() + seconds
    found = search(losses, joint, problem.T, k, max_nodes, most, stop)
    work = WorkDone(viterbi=1, nodes=found.nodes)
    ranked = [(y, losses.top - loss) for y, loss in found.labellings]
    if len(ranked) < k and found.rest < math.inf:
        bound = losses.top - found.rest
        taken = {tuple(y) for y, _ in ranked}
        spare = beam.search(losses, joint, problem.T, max(width, k), k).labellings if found.rest < most else []
        others = [y for y, loss in spare if tuple(y) not in taken and loss <= most]
        if known is not None and floor > -math.inf:
            others.append([int(label) for label in known])
        ranked += [(y, bound) for y in others[: k - len(ranked)]]
        if not ranked:
            return nothing_found(problem, bound, "astar", work)
    return certify_all(problem, ranked, "astar", work)


def search(
    losses: Losses,
    joint: Joint,
    T: int,
    k: int,
    max_nodes: int,
    most: float = math.inf,
    stop: float = math.inf,
) -> Found:
    """Pop prefixes by rising loss until k labellings are complete, nothing is left, or the budget is spent.

    most : prefixes that lost more are of no interest; stop : when to give up, by `time.perf_counter`.
    """
    if losses.top == -math.inf:
        return Found([], math.inf, 0)
    heap: list[tuple[float, int, int, _Prefix, int]] = []
    done: list[tuple[list[int], float]] = []
    seen: dict[tuple[int, int, States], int] = {}
    pushed = nodes = 0

    def push(loss: float, prefix: _Prefix, rank: int) -> None:
        """Queue the child of a prefix with the rank-th least loss (rank -1: the prefix itself, its states known)."""
        nonlocal pushed
        if loss > most:
            return
        pushed += 1
        t = prefix.t if rank < 0 else prefix.t + 1
        heappush(heap, (loss, -t, -pushed, prefix, rank))

    initial = joint.initial
    at_once = joint.final(initial) if T == 0 else 0.0
    if at_once < math.inf:
        push(at_once, _Prefix(-1, -1, initial, at_once, None), -1)
    while heap and len(done) < k:
        if nodes >= max_nodes or (nodes % 256 == 0 and time.perf_counter() > stop):
            return Found(done, heap[0][0], nodes)
        nodes += 1
        loss, _, _, prefix, rank = heappop(heap)
        if rank >= 0:
            parent = prefix
            slacks, labels = losses.sorted_row(parent.t + 1, parent.label)
            if rank + 1 < len(slacks):
                push(parent.loss + slacks[rank + 1], parent, rank + 1)
            states, cost = joint.step(parent.states, parent.t + 1, parent.label, labels[rank])
            if parent.t + 2 == T:
                cost += joint.final(states)
            if cost == math.inf:
                continue
            prefix = _Prefix(parent.t + 1, labels[rank], states, loss + cost, parent)
            if cost > 0:
                push(prefix.loss, prefix, -1)
                continue
        key = (prefix.t, prefix.label, prefix.states)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > k:
            continue
        if prefix.t + 1 == T:
            done.append((labels_of(prefix), prefix.loss))
        else:
            slacks, _ = losses.sorted_row(prefix.t + 1, prefix.label)
            push(prefix.loss + slacks[0], prefix, 0)
    return Found(done, heap[0][0] if heap else most, nodes)


ASTAR = Decoder("astar", decode, True, "best-first search; any rule")
