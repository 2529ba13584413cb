"""The method `kbest`: list the best labellings without the global rules, then charge them, as the papers do.

Let F_1 >= F_2 >= ... be the scores under local rules in falling order and S_m <= F_m what the global rules leave of
them. A labelling beyond the m-th has S <= F_m, so the k best of m listed labellings are the k best of all as soon as
the k-th of them has S >= F_m. The list is doubled until then, at most to `longest`: exact for any rule while it lasts,
and without global rules at once. Cost O(T L² m log m).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from espalier.decoders.base import Decoder, Decoding, Problem, checked_count
from espalier.decoders.certify import WorkDone
from espalier.decoders.viterbi import ChargedLabels, certify_list, charged_list

__all__ = ["KBEST", "decode"]


def decode(problem: Problem, *, k: int = 1, longest: int = 1024) -> Decoding:
    """Return the k best labellings; BOUNDED where a list of `longest` labellings does not prove them."""
    m, longest, lists = checked_count(k, "k"), checked_count(longest, "longest"), 0
    while True:
        items, rest = charged_list(problem, m)
        lists += 1
        best = [item for item in items[:k] if item.score > -math.inf]
        if _settled(best, k, rest) or m >= longest:
            return certify_list(problem, best, rest, "kbest", WorkDone(lists, len(items)))
        m = min(2 * m, longest)


def _settled(best: Sequence[ChargedLabels], k: int, rest: float) -> bool:
    """Is nothing beyond the list better than the k best of it, nor equal and first in the order of ties?

    What is equal and beyond the list pays nothing, and comes after every listed labelling that pays nothing.
    """
    if rest == -math.inf:
        return True
    if len(best) < k or best[-1].score < rest:
        return False
    return all(item.score > rest or item.folded == rest for item in best)


KBEST = Decoder("kbest", decode, True, "list the best without global rules, then charge them")
