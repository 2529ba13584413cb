"""Soft labels: what a model learns from besides labels, or instead of them.

A teacher is any fitted model; its marginals on labelled and on raw text are soft labels (Hinton, Vinyals and Dean
2015). They are kept as the few most probable labels of each token, so that text of any size fits in memory, and are
asked for some hundred sequences at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus, Labels
from espalier.errors import InputError
from espalier.learning.chain_loss import SoftLabels

__all__ = ["given_probabilities", "stacked", "taught"]

AT_A_TIME = 512
"""Sequences that a teacher is asked about at once."""


def taught(teacher: Any, corpus: Corpus, labels: Labels) -> SoftLabels:
    """Return a fitted model's marginals as soft labels; its own labels must be among `labels`."""
    known = {name: k for k, name in enumerate(labels.names)}
    lost = [name for name in teacher.labels_.names if name not in known]
    if lost:
        raise InputError(
            f"the teacher has the label {lost[0]!r}, which is not among those to learn",
            hint="fit with labels= all labels",
        )
    columns = np.array([known[name] for name in teacher.labels_.names])
    parts = []
    for first in range(0, len(corpus), AT_A_TIME):
        rows = teacher.predict_marginals(corpus[first : first + AT_A_TIME])
        rows = np.concatenate([*rows, np.zeros((0, len(columns)))])
        found = np.zeros((len(rows), len(labels)))
        found[:, columns] = rows
        parts.append(SoftLabels.of(found))
    return stacked(parts, len(labels))


def given_probabilities(soft: Any, corpus: Corpus, labels: Labels) -> SoftLabels:
    """Return probabilities that somebody gives: one array [M, L], or one [T, L] for each sequence; checked."""
    if not isinstance(soft, np.ndarray):
        soft = _one_array(soft, corpus, len(labels))
    size = (corpus.n_tokens, len(labels))
    if soft.shape != size or soft.dtype.kind != "f":
        raise InputError(
            f"soft is {soft.dtype}{list(soft.shape)}", hint=f"expected floats of the shape {size}: tokens, labels"
        )
    if not np.isfinite(soft).all() or (soft < 0).any():
        raise InputError("soft labels must be finite and not negative")
    return SoftLabels.of(soft)


def _one_array(soft: Sequence[Any], corpus: Corpus, n_labels: int) -> NDArray[Any]:
    rows = [np.asarray(each, np.float32) for each in soft]
    if len(rows) != len(corpus):
        raise InputError(f"{len(corpus)} sequences but soft labels of {len(rows)}")
    for i, (each, n) in enumerate(zip(rows, corpus.lengths.tolist(), strict=True)):
        if each.shape != (n, n_labels):
            raise InputError(
                f"the soft labels of sequence {i} have the shape {each.shape}", hint=f"expected {(n, n_labels)}"
            )
    return np.concatenate([*rows, np.zeros((0, n_labels), np.float32)])


def stacked(parts: Sequence[SoftLabels], n_labels: int) -> SoftLabels:
    """Return the soft labels of several texts, one after the other."""
    if not parts:
        return SoftLabels.of(np.zeros((0, n_labels)))
    return SoftLabels(np.concatenate([p.labels for p in parts]), np.concatenate([p.values for p in parts]))
