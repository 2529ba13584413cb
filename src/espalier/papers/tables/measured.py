"""Figures of labels beside gold ones, by test sequence."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from espalier.metrics.scores import Labelling, paired, segment_counts, token_counts
from espalier.papers.tables.protocol import Ratio

__all__ = ["field_f1", "mean", "share", "token_accuracy"]


def token_accuracy(gold: Labelling, predicted: Labelling) -> Ratio:
    """Return the share of right tokens, in percent."""
    return Ratio.of(token_counts(paired(gold, predicted)))


def field_f1(gold: Labelling, predicted: Labelling, *, leaves: bool = False) -> Ratio:
    """Return the F1 of segments, in percent; leaves : of the innermost ones alone."""
    right, found, true = segment_counts(paired(gold, predicted), leaves=leaves).T
    return Ratio.of(np.stack([2 * right, found + true], axis=1))


def mean(values: ArrayLike) -> Ratio:
    """Return the mean of a value for each sequence."""
    numbers = np.asarray(values)
    return Ratio.of(np.stack([numbers, np.ones_like(numbers)], axis=1), scale=1.0)


def share(holds: ArrayLike) -> Ratio:
    """Return in percent for how many sequences something holds."""
    numbers = np.asarray(holds).astype(np.int64)
    return Ratio.of(np.stack([numbers, np.ones_like(numbers)], axis=1))
