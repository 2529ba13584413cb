"""Is one system better than another, or lucky?  Paired bootstrap and Wilcoxon's signed-rank test.

Bootstrap (Efron & Tibshirani 1993, chapter 16). Resample the N sequences with replacement, the same for both
systems, and look at the difference d* = metric(b*) − metric(a*) of each resample against the observed d:

    p = (1 + #{ |d* − d| ≥ |d| }) / (1 + n)         interval = quantiles of d* at (1 ± level) / 2

Every metric here is a ratio of sums over sequences, so a resample is two products of its multiplicities with
per-sequence counts: nothing is decoded or segmented again. Cost O(n N) time, O(chunk) memory.

Wilcoxon (1945), by SciPy. Zero differences are dropped (and reported), tied ones share their mean rank. W is the
smaller of the two rank sums. Up to 50 differences p is exact. SciPy has no exact p for tied ones, which scores of
sequences nearly always are; so that is counted here: the distribution of the rank sum over all 2^n signs, by dynamic
programming over doubled ranks. Beyond 50 it is the normal approximation with the tie correction and no continuity
correction.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from espalier.errors import InputError
from espalier.metrics.scores import Labelling, Pairs, paired, segment_counts, token_counts

__all__ = ["Bootstrap", "Wilcoxon", "paired_bootstrap", "sequence_scores", "wilcoxon"]

_METRICS = ("token_accuracy", "field_f1", "exact")
_CHUNK = 1 << 20  # resample multiplicities held at once
_EXACT_UP_TO = 50


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """The difference b − a of a metric, its two-sided p, and the interval low..high that holds `level` of d*."""

    metric: str
    a: float
    b: float
    difference: float
    p_value: float
    low: float
    high: float
    level: float
    n_resamples: int

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Wilcoxon:
    """The smaller signed-rank sum, its two-sided p, how many differences counted and how many were zero."""

    statistic: float
    p_value: float
    n: int
    n_zero: int
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return asdict(self)


def paired_bootstrap(
    gold: Labelling,
    a: Labelling,
    b: Labelling,
    *,
    metric: str = "field_f1",
    n_resamples: int = 10_000,
    level: float = 0.95,
    seed: int | np.random.Generator = 0,
    strict: bool = False,
    leaves: bool = False,
) -> Bootstrap:
    """Compare two predictions of the same sequences by a metric: "token_accuracy", "field_f1" or "exact"."""
    if n_resamples < 1:
        raise InputError(f"n_resamples is {n_resamples}", hint="at least one is needed")
    if not 0 < level < 1:
        raise InputError(f"level is {level}", hint="a confidence level lies between 0 and 1")
    ratios = [_ratio_counts(paired(gold, side), metric, strict=strict, leaves=leaves) for side in (a, b)]
    counts = np.concatenate(ratios, axis=1).astype(np.float64)  # [N, 4]: a's two columns, b's two
    observed_a, observed_b = _values(counts.sum(axis=0)[None])[0].tolist()
    d = observed_b - observed_a
    resampled = _resampled_differences(counts, n_resamples, np.random.default_rng(seed))
    # Equal fractions may differ in the last bit; a tie counts against significance.
    extreme = int((np.abs(resampled - d) >= abs(d) - 1e-12).sum())
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2]).tolist()
    p = (1 + extreme) / (1 + n_resamples)
    return Bootstrap(metric, observed_a, observed_b, d, p, low, high, level, n_resamples)


def sequence_scores(
    gold: Labelling, predicted: Labelling, *, metric: str = "field_f1", strict: bool = False, leaves: bool = False
) -> NDArray[np.float64]:
    """Return the metric of each sequence by itself, float64[N]: what `wilcoxon` compares.

    A sequence without a known label scores nan. One without segments, gold or predicted, has F1 1: there was
    nothing to find and nothing was found.
    """
    pairs = paired(gold, predicted)
    right, of = _ratio_counts(pairs, metric, strict=strict, leaves=leaves).T.astype(np.float64)
    scores = np.where(of > 0, right / np.maximum(of, 1.0), 1.0)
    return np.where(token_counts(pairs)[:, 1] > 0, scores, np.nan)


def _ratio_counts(pairs: Pairs, metric: str, *, strict: bool, leaves: bool) -> NDArray[np.int64]:
    """Return numerator and denominator of each sequence, int64[N, 2]; the metric is the ratio of their sums."""
    if metric == "token_accuracy":
        return token_counts(pairs)
    if metric == "exact":
        right, judged = token_counts(pairs).T
        return np.stack([(right == judged) & (judged > 0), judged > 0], axis=1).astype(np.int64)
    if metric == "field_f1":
        right, predicted, gold = segment_counts(pairs, strict=strict, leaves=leaves).T
        return np.stack([2 * right, predicted + gold], axis=1)
    raise InputError(f"unknown metric {metric!r}", hint=f"choose one of {', '.join(_METRICS)}")


def _values(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn summed counts, float64[n, 4], into the metric of both systems, float64[n, 2]; 0 / 0 is 0."""
    return sums[:, 0::2] / np.maximum(sums[:, 1::2], 1.0)


def _resampled_differences(counts: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return d* of n resamples, float64[n], a bounded number of multiplicities at a time."""
    N = len(counts)
    rows = max(1, _CHUNK // N)
    differences = np.empty(n)
    for start in range(0, n, rows):
        size = min(rows, n - start)
        picks = rng.integers(N, size=(size, N)) + N * np.arange(size)[:, None]
        times = np.bincount(picks.ravel(), minlength=size * N).reshape(size, N)
        values = _values(times.astype(np.float64) @ counts)
        differences[start : start + size] = values[:, 1] - values[:, 0]
    return differences


def wilcoxon(a: ArrayLike, b: ArrayLike) -> Wilcoxon:
    """Test whether paired scores, float[n] each, differ: two-sided signed-rank test of b − a.

    If every difference is zero, nothing speaks against equality: statistic 0, p 1.
    """
    x, y = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise InputError(f"the scores have shapes {x.shape} and {y.shape}", hint="both must be [n], paired")
    if not len(x):
        raise InputError("no scores were given", hint="there is nothing to test")
    for name, values in (("a", x), ("b", y)):
        if not np.isfinite(values).all():
            i = int(np.flatnonzero(~np.isfinite(values))[0])
            raise InputError(f"score {i} of {name} is {values[i]}", hint="leave out pairs that have no score")
    difference = (y - x)[y != x]
    n = len(difference)
    if n == 0:
        return Wilcoxon(0.0, 1.0, 0, len(x), True)
    from scipy import stats

    found = stats.wilcoxon(difference, zero_method="wilcox", correction=False)
    statistic, p, exact = float(found.statistic), float(found.pvalue), n <= _EXACT_UP_TO
    ranks = stats.rankdata(np.abs(difference))
    if exact and len(np.unique(ranks)) < n:
        p = _exact_p((2 * ranks).astype(np.int64), round(2 * statistic))
    return Wilcoxon(statistic, p, n, len(x) - n, exact)


def _exact_p(doubled: NDArray[np.int64], smaller: int) -> float:
    """Return 2 P(doubled rank sum ≤ smaller) over all 2^n choices of signs, at most 1."""
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] += ways[:-rank].copy()  # each rank is in the sum or is not
    # At most 2^50 in all: every count is a whole number that float64 holds exactly.
    return min(1.0, 2.0 * float(ways[: smaller + 1].sum()) / 2.0 ** len(doubled))
