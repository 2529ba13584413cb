"""`GivenIndex`: the vocabulary for people who bring their own attributes, as one does for CRFsuite.

A token is a list of names, or a mapping from name to value; see `FeatureMatrix.from_attributes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.features.matrix import FeatureMatrix

__all__ = ["Attributes", "GivenIndex"]

Attributes = Iterable[Sequence[Iterable[str] | Mapping[str, float]]]
"""Sequences of tokens, each token its attributes."""


class GivenIndex:
    """Attribute names, locked after training: names that training did not see are ignored."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        """Number the names in their order."""
        self.vocabulary = {name: k for k, name in enumerate(names)}

    @classmethod
    def fit_transform(cls, sequences: Attributes) -> tuple[GivenIndex, FeatureMatrix]:
        """Learn the names, and return the matrix too."""
        index = cls()
        return index, FeatureMatrix.from_attributes(sequences, index.vocabulary, grow=True)

    def transform(self, sequences: Attributes) -> FeatureMatrix:
        """Return the matrix of new sequences."""
        return FeatureMatrix.from_attributes(sequences, self.vocabulary)

    @property
    def n_attributes(self) -> int:
        """A."""
        return len(self.vocabulary)

    def names(self) -> tuple[str, ...]:
        """Return the name of each attribute."""
        return tuple(self.vocabulary)

    def to_state(self) -> dict[str, Any]:
        """Return the names as UTF-8 text and lengths in characters, for model files."""
        names = self.names()
        text = np.frombuffer("".join(names).encode("utf-8", "surrogatepass"), np.uint8)
        return {
            "features": {"given": True},
            "names/text": text,
            "names/lengths": np.array([len(n) for n in names], np.int64),
        }

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> GivenIndex:
        """Return the index that `to_state` described."""
        text = bytes(np.asarray(state["names/text"], np.uint8)).decode("utf-8", "surrogatepass")
        ends: NDArray[np.int64] = np.cumsum(np.asarray(state["names/lengths"], np.int64))
        starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
        return cls(text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True))
