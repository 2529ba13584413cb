"""How sure a gain is, and what it says about a claim.

The interval is of the paired gain, 95 %: Student's t with the variance between training subsets (or orders), where
there are several, plus that between test sequences, by the jackknife over figures that are ratios of sums; degrees of
freedom by Satterthwaite. Both count, because other labels and other texts would have given another gain.

    holds   the interval lies above 0, and the gain is at least half the paper's
    fails   the interval lies below half the paper's gain; where the paper has no figure, not above 0
    open    else

Of a claim that two things are alike: holds if the interval lies above -within, fails if it lies below.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from statistics import mean, variance
from typing import NamedTuple

import numpy as np

from espalier.papers.claims.claim import PaperClaim, Spot
from espalier.papers.claims.kept import KeptPlace

__all__ = ["ClaimVerdict", "Estimate", "estimate", "verdict"]

LEVEL = 0.95
OF_ONE_SIDE = (1 + LEVEL) / 2


class ClaimVerdict(Enum):
    """What became of a claim, in the order of the page."""

    FAILS = "fails"
    OPEN = "open"
    AWAITED = "not computed yet"
    UNTESTABLE = "cannot be tested here"
    HOLDS = "holds"


class Estimate(NamedTuple):
    """A gain, the ends of its interval, over how many subsets and test sequences; None where they are not known."""

    gain: float
    low: float
    high: float
    runs: int
    sequences: int | None


def estimate(claim: PaperClaim, places: Mapping[Spot, KeptPlace]) -> Estimate:
    """Return the gain of a claim whose places are all there."""
    used = {spot: places[spot] for spot in claim.spots}
    runs = max(len(one.figures) for one in used.values())
    by_run = [
        claim.gain({spot: one.figures[r if len(one.figures) > 1 else 0] for spot, one in used.items()})
        for r in range(runs)
    ]
    parts = [(variance(by_run) / runs, runs - 1)] if runs > 1 else []
    sets = {len(one.up) for one in used.values()}  # the test sets: each is resampled by itself
    sequences = sum(sets) if min(sets) > 1 else 0
    if sequences:
        parts += [(_between_sequences(claim, used, N), N - 1) for N in sorted(sets)]
    total = sum(part for part, _ in parts)
    width = 0.0
    if total > 0:
        from scipy.stats import t

        freedom = total**2 / sum(part**2 / n for part, n in parts if part)
        width = float(t.ppf(OF_ONE_SIDE, freedom)) * math.sqrt(total)
    gain = mean(by_run)
    return Estimate(gain, gain - width, gain + width, runs, sequences or None)


def _between_sequences(claim: PaperClaim, used: Mapping[Spot, KeptPlace], N: int) -> float:
    """Return the jackknife variance of the gain over a test set of N sequences: each left out once."""
    left: dict[Spot, list[float]] = {}
    for spot, one in used.items():
        up, down = (np.array(part, np.float64) for part in (one.up, one.down))
        if len(up) == N:
            rest = down.sum() - down
            left[spot] = (one.scale * np.divide(up.sum() - up, rest, out=np.zeros(N), where=rest > 0)).tolist()
        else:
            left[spot] = [one.scale * up.sum() / max(down.sum(), 1.0)] * N
    gains = np.array([claim.gain({spot: values[i] for spot, values in left.items()}) for i in range(N)])
    return float((N - 1) / N * ((gains - gains.mean()) ** 2).sum())


def verdict(claim: PaperClaim, there: float | None, found: Estimate) -> ClaimVerdict:
    """Judge a claim; there : the paper's gain."""
    if claim.within is not None:
        holds, fails = found.low >= -claim.within, found.high < -claim.within
    elif there is None:
        holds, fails = found.low > 0, found.high <= 0
    else:
        holds, fails = found.low > 0 and found.gain >= there / 2, found.high < there / 2
    return ClaimVerdict.HOLDS if holds else ClaimVerdict.FAILS if fails else ClaimVerdict.OPEN
