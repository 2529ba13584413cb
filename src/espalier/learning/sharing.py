"""B- and I- of a field share what labels teach: their weights are one weight of the field, and what each adds to it.

    Σ = (1 - r) 1 + r 11'    of the weights of one attribute for the labels of one field;  penalty  l2 w'Σ⁻¹w

A word that began a field in training says something of its inside, too; how much is the correlation r. With many labels
the data say what differs, with few B- and I- stay alike: between one label a field and one for each mark, by a penalty
that is no weaker and no stronger for a single weight than without. The search runs in x with w = Σ^½ x and the
plain penalty l2 ‖x‖², for k weights:

    Σ^½ x = s x + c 1 (1'x),   s = √(1 - r),   c = (√(1 - r + kr) - s) / k

Transitions share likewise: what follows a field follows its B- and its I-. A label alone is as without.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.models.linear import Pairs
from espalier.tags import is_tag, parse_tag

__all__ = ["Sharing", "fields_of_labels", "with_partners"]

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def fields_of_labels(names: Sequence[str]) -> Int:
    """Return the number of the field that each label is a mark of, int64[L]; labels without marks are alone."""
    known: dict[tuple[str, ...], int] = {}
    keys = [tuple(part for _, part in parse_tag(name)) if is_tag(name) else ("", name) for name in names]
    return np.array([known.setdefault(key, len(known)) for key in keys], np.int64)


def with_partners(
    pairs: Pairs, learned: NDArray[np.bool_], allowed: NDArray[np.bool_], fields: Int
) -> tuple[Pairs, NDArray[np.bool_]]:
    """Return pairs and learned transitions with those of the other labels of the same fields."""
    L, first = pairs.n_labels, np.unique(fields, return_index=True)[1]
    attributes, wanted = pairs.attributes(), [pairs]
    for shift in range(1, int(np.bincount(fields).max(initial=1))):
        partner = np.arange(L)
        for g in range(len(first)):
            members = np.flatnonzero(fields == g)
            partner[members] = np.roll(members, shift)
        keys = np.unique(attributes * L + partner[pairs.label])
        ptr = np.searchsorted(keys, np.arange(pairs.n_attributes + 1) * L).astype(np.int64)
        wanted.append(Pairs.of(L, ptr, (keys % L).astype(np.int16)))
    found = wanted[0]
    for more in wanted[1:]:
        found = found.union(more)
    same = fields[:, None] == fields[None, :]
    return found, learned | (allowed & (same.astype(np.int64) @ learned > 0))


@dataclass(frozen=True, slots=True, eq=False)
class Sharing:
    """Σ^½ and its inverse.

    team : int64[P], the group of each weight; size : int64[P], of that group; r : their correlation.
    """

    team: Int
    size: Int
    r: float

    @classmethod
    def of(cls, pairs: Pairs, source: Int, target: Int, fields: Int, r: float) -> Sharing:
        """Group the weights of pairs, then those of transitions from `source` to `target`."""
        L = pairs.n_labels
        own = pairs.attributes() * L + fields[pairs.label]
        first = pairs.n_attributes * L
        _, team = np.unique(np.concatenate([own, first + fields[source] * L + target]), return_inverse=True)
        return cls(team.astype(np.int64), np.bincount(team)[team] if len(team) else team, r)

    def spread(self, x: Float) -> Float:
        """Return Σ^½ x."""
        s = np.sqrt(1.0 - self.r)
        return self._mixed(x, s, (np.sqrt(1.0 - self.r + self.size * self.r) - s) / self.size)

    def gathered(self, w: Float) -> Float:
        """Return x of w = Σ^½ x."""
        s = 1.0 / np.sqrt(1.0 - self.r)
        return self._mixed(w, s, (1.0 / np.sqrt(1.0 - self.r + self.size * self.r) - s) / self.size)

    def _mixed(self, x: Float, own: float, others: Float) -> Float:
        return own * x + others * np.bincount(self.team, x)[self.team]
