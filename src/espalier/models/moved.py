"""Weights carried from one set of attributes and labels to another, by their names: what a warm start begins from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from espalier.models.chain import ChainModel
from espalier.models.pairs import Pairs

__all__ = ["carried", "moved"]

Float = NDArray[np.float64]


def moved(
    model: ChainModel, names: tuple[Sequence[str], Sequence[str]], new_names: tuple[Sequence[str], Sequence[str]]
) -> ChainModel:
    """Return the model over other attributes and labels; what has no counterpart is left out, what is new weighs 0.

    names, new_names : the attribute names and the label names, before and after.
    """
    attribute, label = (_places(*both) for both in zip(names, new_names, strict=True))
    A, L = map(len, new_names)
    a, y = attribute[model.pairs.attributes()], label[model.pairs.label]
    kept = np.flatnonzero((a >= 0) & (y >= 0))
    kept = kept[np.lexsort((y[kept], a[kept]))]
    ptr = np.append(0, np.cumsum(np.bincount(a[kept], minlength=A)))
    common = np.flatnonzero(label >= 0)
    trans, start, end = np.zeros((L, L)), np.zeros(L), np.zeros(L)
    trans[np.ix_(label[common], label[common])] = _finite(model.trans[np.ix_(common, common)])
    start[label[common]], end[label[common]] = _finite(model.start[common]), _finite(model.end[common])
    return ChainModel(Pairs.of(L, ptr, y[kept].astype(np.int16)), model.w[kept], trans, start, end)


def carried(model: ChainModel, group: NDArray[np.int64], pairs: Pairs) -> Float:
    """Return the weights of `pairs`, float64[P], whose attribute g stands for all a with group[a] = g: their sums."""
    L = pairs.n_labels
    keys = pairs.attributes() * L + pairs.label  # they rise: pairs are sorted by attribute and label
    asked = group[model.pairs.attributes()] * L + model.pairs.label
    place = np.minimum(np.searchsorted(keys, asked), max(len(keys) - 1, 0))
    found = np.flatnonzero(keys[place] == asked) if len(keys) else np.zeros(0, np.int64)
    return np.bincount(place[found], model.w[found], len(keys)).astype(np.float64)


def _places(names: Sequence[str], new_names: Sequence[str]) -> NDArray[np.int64]:
    """Return where each name stands among the new ones, int64[n]; -1 for those that do not."""
    place = {name: k for k, name in enumerate(new_names)}
    return np.fromiter((place.get(name, -1) for name in names), np.int64, len(names))


def _finite(scores: Float) -> Float:
    """Return zeros where a score forbids: what is allowed is decided anew."""
    return np.where(np.isfinite(scores), scores, 0.0)
