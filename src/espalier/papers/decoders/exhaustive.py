"""Write down every labelling and look: the oracle of the other decoders.

Takes any rule; refuses more than `max_labellings` labellings. Cost O(L^T) evaluations of the reference meaning.
"""

from __future__ import annotations

import math
from itertools import product

from espalier.decoders.base import Decoder, Decoding, Problem, certify_all, checked_count, evaluate
from espalier.decoders.certify import WorkDone
from espalier.errors import InputError

__all__ = ["EXHAUSTIVE", "decode"]


def decode(problem: Problem, *, k: int = 1, max_labellings: int = 100_000) -> Decoding:
    """Return the k best labellings of all, ties in the common order."""
    checked_count(k, "k")
    n = problem.L**problem.T
    if n > max_labellings:
        raise InputError(
            f"{problem.L} labels on {problem.T} tokens have {n:.3g} labellings, more than max_labellings = "
            f"{max_labellings}",
            hint="use method='auto', or a smaller example",
        )
    ranked = []
    # Drawn from the last token backwards, so that the order of enumeration is the order of ties.
    for reverse in product(range(problem.L), repeat=problem.T):
        y = reverse[::-1]
        score = evaluate(problem, y).score
        if score > -math.inf:
            ranked.append((y, score))
    ranked.sort(key=lambda pair: -pair[1])
    return certify_all(problem, ranked[:k], "exhaustive", WorkDone(nodes=n))


EXHAUSTIVE = Decoder("exhaustive", decode, True, "every labelling of a tiny problem")
