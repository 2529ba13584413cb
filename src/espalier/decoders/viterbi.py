"""Viterbi on folded potentials: exact when every rule that costs something is local.

    α_t(j) = ψ_t(j) + max_i α_{t-1}(i) + τ_t(i, j)

with the penalties of local rules folded into ψ and τ. Positions can be clamped to labels, sets of labels or
sub-paths ("constrained Viterbi", eq. 10 of Fersini, Messina, Felici & Roth, 2014). Cost O(T L²); the common order
of ties.

With global rules the answer is that of the local rules alone; its folded score bounds every labelling, because
penalties are not negative. So the answer is OPTIMAL if it breaks no global rule, and BOUNDED otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from espalier import inference
from espalier.corpus import Labels
from espalier.decoders.base import (
    Decoding,
    Problem,
    Verdict,
    Work,
    certify,
    certify_all,
    checked_count,
    evaluate,
    infeasible,
    nothing_found,
    refusal,
)
from espalier.errors import InputError
from espalier.potentials import Potentials
from espalier.rules.compile import Compiled

__all__ = ["Clamp", "accepts", "clamped", "decode"]

Clamp = Mapping[int, "str | int | Iterable[str | int]"]
"""Token -> the label it has, or the labels it may have, by name or id."""


def accepts(compiled: Compiled) -> Verdict:
    """Accept local rules."""
    return refusal(compiled, ("local",), "viterbi")


def decode(problem: Problem, *, k: int = 1) -> Decoding:
    """Return the best labelling under the local rules, or the k best; certified against all rules."""
    checked_count(k, "k")
    if k > 1:
        from espalier.decoders import kbest

        return kbest.decode(problem, k=k)
    found = inference.viterbi(problem.folded, allow_infeasible=True)
    top, work = float(found.scores[0]), Work(viterbi=1)
    if top == -math.inf:
        return infeasible(problem, "viterbi", work)
    if evaluate(problem, found.labels).score == -math.inf:
        return nothing_found(problem, top, "viterbi", work)
    return certify(problem, found.labels, top, "viterbi", work)
