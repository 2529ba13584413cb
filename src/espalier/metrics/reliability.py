"""Calibration: does a confidence of 0.8 come true four times in five?

    ECE = Σ_b  n_b / n · |accuracy_b − confidence_b|          (Naeini, Cooper & Hauskrecht 2015)

over B bins of equal width. Bin b holds the confidences in (b/B, (b+1)/B]; the first one also holds 0.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from espalier.errors import InputError

__all__ = ["Bin", "ReliabilityCurve", "calibration"]


@dataclass(frozen=True, slots=True)
class Bin:
    """The answers with a confidence in (low, high]: how many, how sure, how often right (None if empty)."""

    low: float
    high: float
    count: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True, slots=True)
class ReliabilityCurve:
    """The expected calibration error (`error`), the largest gap of any bin, and the reliability table."""

    error: float
    worst: float
    bins: tuple[Bin, ...]
    n: int

    def to_dict(self) -> dict[str, Any]:
        """Return the table for JSON."""
        return {"error": self.error, "worst": self.worst, "n": self.n, "bins": [asdict(b) for b in self.bins]}

    def __str__(self) -> str:
        """Lay the bins out as a table."""
        rows = [f"calibration error {self.error:.4f}, worst bin {self.worst:.4f} ({self.n} answers)", ""]
        rows.append(f"{'bin':>14}{'count':>9}{'confidence':>12}{'accuracy':>10}")
        for b in self.bins:
            means = f"{'-':>12}{'-':>10}"
            if b.confidence is not None and b.accuracy is not None:
                means = f"{b.confidence:>12.4f}{b.accuracy:>10.4f}"
            rows.append(f"{b.low:>7.3f}..{b.high:.3f}{b.count:>9}{means}")
        return "\n".join(rows)


def calibration(confidences: ArrayLike, correct: ArrayLike, *, n_bins: int = 10) -> ReliabilityCurve:
    """Bin confidences, float[n] in 0..1, and compare each bin's mean with its share of correct answers, bool[n]."""
    sure = np.asarray(confidences, dtype=np.float64)
    right = np.asarray(correct)
    if sure.ndim != 1 or sure.shape != right.shape:
        raise InputError(f"confidences have shape {sure.shape} and correct {right.shape}", hint="both must be [n]")
    if not len(sure):
        raise InputError("no confidences were given", hint="there is nothing to measure")
    if n_bins < 1:
        raise InputError(f"n_bins is {n_bins}", hint="at least one bin is needed")
    if not np.isin(right, (0, 1)).all():
        raise InputError("correct holds something other than True and False")
    bad = np.flatnonzero(~((sure >= 0) & (sure <= 1)))  # also catches nan
    if len(bad):
        raise InputError(f"confidence {bad[0]} is {sure[bad[0]]}", hint="confidences lie in 0..1")
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    which = np.searchsorted(edges[1:-1], sure, side="left")
    counts = np.bincount(which, minlength=n_bins)
    filled = np.maximum(counts, 1)
    mean_sure = np.bincount(which, weights=sure, minlength=n_bins) / filled
    mean_right = np.bincount(which, weights=right.astype(np.float64), minlength=n_bins) / filled
    gaps = np.abs(mean_right - mean_sure)  # 0 in empty bins
    bins = tuple(
        Bin(float(edges[b]), float(edges[b + 1]), int(n), float(mean_sure[b]), float(mean_right[b]))
        if n
        else Bin(float(edges[b]), float(edges[b + 1]), 0, None, None)
        for b, n in enumerate(counts)
    )
    return ReliabilityCurve(float((counts * gaps).sum() / len(sure)), float(gaps.max()), bins, len(sure))
