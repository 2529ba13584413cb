"""What a first pass says about the list as a whole, told to each line: a list has one style, one layout and one order.

In one list every first line is outdented, in another every one begins with a number, in a third they are sorted by
name. A model that looks at neighbours cannot know which. So the probabilities of the first pass are counted for the
document: how much more often lines with this beginning, this indent, this gap ... begin a reference than go on with
one. The count of a line leaves out the line itself."""

from __future__ import annotations

import math
from collections import defaultdict
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from espalier.documents.deciding.features import Seen, bucket, mean_around
from espalier.documents.deciding.marks import MarkChain
from espalier.documents.line_words import NAMED

__all__ = ["list_attributes"]

Float = NDArray[np.float64]
PRIOR = 1.0  # lines that a count begins with, half of them first lines


def list_attributes(page: Seen, starts: Float, others: Float, *, layout: bool) -> list[list[str]]:
    """Return further attributes of each unit.

    starts, others : the probabilities of the first pass that a unit begins a reference, and that it goes on with one.
    """
    found: list[list[str]] = [[] for _ in page.units]
    _habits(page, starts, others, found, layout)
    _zones(starts, others, found)
    _order(page, starts, found)
    _lengths(page, starts, found)
    return found


def _properties(page: Seen, layout: bool) -> dict[str, list[str]]:
    """Return the value of each unit in each property that a list may have a habit in."""
    looks, places, n = page.looks, page.layouts, len(page.units)
    above = [-1, *range(n - 1)]
    found = {
        "begin": [one.begin for one in looks],
        "mark": [one.mark[0] if one.mark else "" for one in looks],
        "pend": [looks[j].end if j >= 0 else "" for j in above],
        "pshort": [places[j].short if j >= 0 else "" for j in above],
        "inner": [str(unit.inner) for unit in page.units],
    }
    if layout:
        found["indent"] = [f"{place.indent}" for place in places]
        found["step"] = [f"{place.indent}{place.step}" for place in places]
        found["gap"] = [place.gap for place in places]
    return found


def _habits(page: Seen, starts: Float, others: Float, found: list[list[str]], layout: bool) -> None:
    total = np.zeros(len(found))
    s, c = starts.tolist(), others.tolist()
    rate = min(max(float(starts.sum() / max((starts + others).sum(), 1e-9)), 0.05), 0.95)
    for name, values in _properties(page, layout).items():
        first: dict[str, float] = defaultdict(float)
        rest: dict[str, float] = defaultdict(float)
        for value, a, b in zip(values, s, c, strict=True):
            first[value] += a
            rest[value] += b
        for i, value in enumerate(values):
            a, b = first[value] - s[i] + PRIOR * rate, rest[value] - c[i] + PRIOR * (1 - rate)
            odds = math.log(a / b) - math.log(rate / (1 - rate))
            total[i] += odds
            found[i].append(f"L:{name}={bucket(odds, (-4, -2, -1, -0.3, 0.3, 1, 2, 4))}")
    for i, value in enumerate(total.tolist()):
        found[i].append(f"L:all={bucket(value, (-12, -8, -5, -3, -1.5, -0.5, 0.5, 1.5, 3, 5, 8, 12))}")


def _zones(starts: Float, others: Float, found: list[list[str]]) -> None:
    """Add how surely there is a list here, above and below, and how large it is beside others."""
    inside = starts + others
    near, wide = mean_around(inside, 4, 4), mean_around(inside, 15, 15)
    above, below = mean_around(inside, 12, -1), mean_around(inside, -1, 12)
    share = _shares(inside, wide)
    steps, fine = (0.05, 0.2, 0.5, 0.8, 0.95), (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
    for i, mine in enumerate(found):
        mine += [
            f"Z:own={bucket(float(inside[i]), steps)}", f"Z:start={bucket(float(starts[i]), fine)}",
            f"Z:near={bucket(float(near[i]), steps)}", f"Z:wide={bucket(float(wide[i]), steps)}",
            f"Z:above={bucket(float(above[i]), (0.2, 0.5, 0.8))}&below={bucket(float(below[i]), (0.2, 0.5, 0.8))}",
            f"Z:share={share[i]}", f"Z:share={share[i]}&wide={bucket(float(wide[i]), (0.2, 0.5, 0.8))}",
        ]  # fmt: skip


def _shares(inside: Float, wide: Float) -> list[int]:
    """Return how much of all lines of references the run has that a unit is in, in classes; 0 outside."""
    found, total, i, n = [0] * len(inside), max(float(inside.sum()), 1e-9), 0, len(inside)
    while i < n:
        if wide[i] < 0.3:
            i += 1
            continue
        j = i
        while j < n and wide[j] >= 0.3:
            j += 1
        found[i:j] = [1 + bucket(float(inside[i:j].sum()) / total, (0.1, 0.3, 0.6, 0.9))] * (j - i)
        i = j
    return found


def _order(page: Seen, starts: Float, found: list[list[str]]) -> None:
    """Add whether the list is sorted, and whether a unit would fit there."""
    keys = [one.key for one in page.looks]
    sure = [i for i in np.flatnonzero(starts > 0.5).tolist() if keys[i]]
    if len(sure) < 4:
        return
    pairs = [keys[i] <= keys[j] for i, j in pairwise(sure)]
    share = sum(pairs) / len(pairs)
    sorted_ = "sorted" if share > 0.85 else "half" if share > 0.65 else "unsorted"
    last, following = "", iter([*sure, -1])
    k = next(following)
    for i, mine in enumerate(found):
        if i == k:
            k = next(following)
        one, after = keys[i], keys[k] if k >= 0 else "zzzz"
        if one:
            fits = "fits" if last <= one <= after else "after" if last <= one else "before"
            named = page.looks[i].begin in NAMED
            mine.append(f"O:{sorted_}&{fits}&named={named}")
            mine.append(f"O:{sorted_}&{fits}&same={one[:1] == last[:1]}")
        if starts[i] > 0.5 and one:
            last = one


def _lengths(page: Seen, starts: Float, found: list[list[str]]) -> None:
    """Add how many units a reference of this list has, and how many there have been since the last first line."""
    sure = np.flatnonzero(starts > 0.5)
    steps = np.diff(sure)
    usual = float(np.median(steps[steps < 30])) if (steps < 30).any() else 3.0
    one_each = bucket(usual, (1.5, 2.5, 3.5, 5.5))
    last, chained = -100, sum(_is_chained(page.chains[i]) for i in sure.tolist())
    numbered = chained > 0.7 * len(sure) and len(sure) > 2
    for i, mine in enumerate(found):
        run = min(i - last, 9)
        mine.append(f"R:usual={one_each}&run={run}")
        chain = page.chains[i]
        mine.append(f"R:numbered={numbered}&mine={0 if chain is None else bucket(chain.up + chain.down, (1, 3))}")
        if starts[i] > 0.5:
            last = i


def _is_chained(chain: MarkChain | None) -> bool:
    return chain is not None and chain.up + chain.down > 1
