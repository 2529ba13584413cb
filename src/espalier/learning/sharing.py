"""B- and I- of a field share what labels teach: their weights are one weight of the field, and what each adds to it.

    w_j = u_g + v_j,    penalty  l2 ( Σ_g u_g² / τ + Σ_j v_j² )         for the labels j of one field g, an attribute

A word that began a field in training says something of its inside, too; how much is τ, the variance of what is shared
in that of what each label has for itself. With many labels the v_j say what differs, with few they stay near zero:
between one label a field and one for each mark, by the same quadratic penalty. Minimised over u it is v'Σ⁻¹v with
Σ = 1 + τ 11' in each group of k weights, so the search runs in x with w = Σ^½ x and the plain penalty l2 ‖x‖²:

    Σ^½ x = x + c 1 (1'x),   c = (√(1 + kτ) - 1) / k

Transitions share likewise: what follows a field follows its B- and its I-. `O` has a weight u for itself; where no
label has a mark, nothing is shared.
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

    team : int64[P], the group of each weight; strength, undoing : float64[P], c and the same of the inverse.
    """

    team: Int
    strength: Float
    undoing: Float

    @classmethod
    def of(cls, pairs: Pairs, source: Int, target: Int, fields: Int, shared: float) -> Sharing:
        """Group the weights of pairs, then those of transitions from `source` to `target`."""
        L = pairs.n_labels
        own = pairs.attributes() * L + fields[pairs.label]
        first = pairs.n_attributes * L
        _, team = np.unique(np.concatenate([own, first + fields[source] * L + target]), return_inverse=True)
        size = np.bincount(team)[team] if len(team) else np.zeros(0, np.int64)
        strength = (np.sqrt(1.0 + size * shared) - 1.0) / np.maximum(size, 1)
        return cls(team.astype(np.int64), strength, strength / (1.0 + size * strength))

    def spread(self, x: Float) -> Float:
        """Return Σ^½ x."""
        return x + self.strength * np.bincount(self.team, x)[self.team]

    def gathered(self, w: Float) -> Float:
        """Return x of w = Σ^½ x."""
        return w - self.undoing * np.bincount(self.team, w)[self.team]
