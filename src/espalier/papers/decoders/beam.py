"""Beam search as a method by name (section 2.2.3 of Chang, Ratinov & Roth, 2012): any rule, in fixed memory.

Nothing is proven but that no labelling scores more than the folded Viterbi's: OPTIMAL if the answer reaches it or if no
prefix was ever cut off, otherwise HEURISTIC with that bound. Cost and ties: `espalier.decoders.beam`.
"""

from __future__ import annotations

import math

from espalier.decoders.base import Decoder, Decoding, Problem, certify_all, checked_count, infeasible, nothing_found
from espalier.decoders.beam import search
from espalier.decoders.certify import WorkDone
from espalier.decoders.joint import Joint
from espalier.decoders.reduced import Losses

__all__ = ["BEAM", "decode"]


def decode(problem: Problem, *, k: int = 1, width: int = 16) -> Decoding:
    """Return the best labellings that a beam of `width` (at least k) prefixes finds."""
    checked_count(k, "k")
    losses, joint = Losses(problem.folded), Joint.of(problem)
    found = search(losses, joint, problem.T, max(checked_count(width, "width"), k), k)
    work = WorkDone(viterbi=1, nodes=found.nodes)
    if not found.labellings:
        none_left = found.complete or losses.top == -math.inf
        return (
            infeasible(problem, "beam", work)
            if none_left
            else nothing_found(problem, losses.top, "beam", work, heuristic=True)
        )
    ranked = [(y, losses.top - (loss if found.complete else 0.0)) for y, loss in found.labellings[:k]]
    return certify_all(problem, ranked, "beam", work, heuristic=True)


BEAM = Decoder("beam", decode, False, "the best prefixes of every length; any rule")
