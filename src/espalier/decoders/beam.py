"""Beam search: the `width` best prefixes a token, ranked by score minus penalties plus the best completion.

What A* answers with when it has to stop. Takes any rule in fixed memory. Prefixes with the same label and
monitor states are merged, the better kept (k of them for the k best). Ranking by Viterbi's best completion rather
than by the prefix alone lets a narrow beam look ahead over everything but the global rules; see `reduced` for the
scores as losses. Children are taken by rising loss and their monitors stepped only until nothing better can come.

Cost O(T width L) at most. Ties within a beam go to the prefix with the lower rank, then to the lower label, not in the
common order.
"""

from __future__ import annotations

import math
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from espalier.decoders.joint import Joint, States, labels_of
from espalier.decoders.reduced import Losses

__all__ = ["Beam", "search"]


class _Prefix(NamedTuple):
    """A prefix of a labelling: what it lost so far, its last label, its states, and the prefix before it."""

    loss: float
    label: int
    states: States
    parent: _Prefix | None


class Beam(NamedTuple):
    """labellings : with their losses, best first; complete : was no prefix cut off?; nodes : children built."""

    labellings: list[tuple[list[int], float]]
    complete: bool
    nodes: int


def search(losses: Losses, joint: Joint, T: int, width: int, copies: int = 1) -> Beam:
    """Grow a beam from the first token to the last; up to `copies` prefixes with the same future are kept."""
    if losses.top == -math.inf:
        return Beam([], True, 0)
    front = [_Prefix(0.0, -1, joint.initial, None)]
    if T == 0:
        front = [p._replace(loss=joint.final(p.states)) for p in front]
    complete, nodes = True, 0
    for t in range(T):
        front, cut, built = _advance(losses, joint, t, T, front, width, copies)
        complete, nodes = complete and not cut, nodes + built
    return Beam([(labels_of(p), p.loss) for p in front if p.loss < math.inf], complete, nodes)


def _advance(
    losses: Losses, joint: Joint, t: int, T: int, front: list[_Prefix], width: int, copies: int
) -> tuple[list[_Prefix], bool, int]:
    """Return the next front, whether something was cut off, and the number of children built."""
    # A queue of one child a prefix, its next-best one; built children wait in it for their turn, with states.
    queue: list[tuple[float, int, int, States | None]] = []
    for r, prefix in enumerate(front):
        slacks, _ = losses.sorted_row(t, prefix.label)
        queue.append((prefix.loss + slacks[0], r, 0, None))
    heapify(queue)
    chosen: list[_Prefix] = []
    seen: dict[tuple[int, States], int] = {}
    built = 0
    while queue and len(chosen) < width:
        loss, r, rank, states = heappop(queue)
        prefix = front[r]
        slacks, labels = losses.sorted_row(t, prefix.label)
        if states is None:
            if rank + 1 < len(slacks):
                heappush(queue, (prefix.loss + slacks[rank + 1], r, rank + 1, None))
            states, cost = joint.step(prefix.states, t, prefix.label, labels[rank])
            built += 1
            if t + 1 == T:
                cost += joint.final(states)
            if cost == math.inf:
                continue
            if cost > 0:
                heappush(queue, (loss + cost, r, rank, states))
                continue
        key = (labels[rank], states)
        seen[key] = seen.get(key, 0) + 1
        if seen[key] <= copies:
            chosen.append(_Prefix(loss, labels[rank], states, prefix))
    return chosen, bool(queue), built
