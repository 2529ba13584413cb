"""What a pair of neighbouring labels says about segments: which paths open, stay open and close between them.

The segments open at a token are the levels of its label, so two neighbouring labels i, j tell everything that
happens between them; the labelling before i does not matter. Arrays over pairs have shape [L + 1, L]: row i, column
j, and row L (also row -1) where j is the first label of the sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from espalier.rules.nodes import Fields, levels
from espalier.tags import OUTSIDE, is_tag, parse_tag

__all__ = ["Counts", "PathTable"]

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PathTable:
    """The segments of L labels.

    paths : the P paths a segment can have.
    inside : bool[L, P], label j has a segment of path p around it.
    kept : bool[L + 1, L, P], the segment of path p around i goes on at j.
    """

    names: tuple[str, ...]
    paths: tuple[str, ...]
    inside: NDArray[np.bool_]
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, names: Sequence[str]) -> PathTable:
        """Tabulate the labels."""
        L = len(names)
        open_paths = [levels(name) if name != OUTSIDE else () for name in names]
        # An unmarked label continues whatever it can; B- never continues anything.
        fresh = [[is_tag(name) and mark == "B" for mark, _ in parse_tag(name)] for name in names]
        paths = tuple(dict.fromkeys(path for label in open_paths for path in label))
        column = {path: p for p, path in enumerate(paths)}
        inside = np.zeros((L, len(paths)), bool)
        kept = np.zeros((L + 1, L, len(paths)), bool)
        for j, label in enumerate(open_paths):
            inside[j, [column[path] for path in label]] = True
            alive = label[: fresh[j].index(True)] if True in fresh[j] else label
            for i, before in enumerate(open_paths):
                for path, other in zip(alive, before, strict=False):
                    if path != other:
                        break
                    kept[i, j, column[path]] = True
        return cls(tuple(names), paths, inside, kept)

    @property
    def L(self) -> int:
        """The number of labels."""
        return len(self.names)

    def has_label(self, fields: Fields) -> NDArray[np.bool_]:
        """Return which labels put a token into the fields, bool[L]."""
        return np.array([fields.has_label(name) for name in self.names], dtype=bool)

    def has_path(self, fields: Fields) -> NDArray[np.bool_]:
        """Return which paths belong to the fields, bool[P]."""
        return np.array([fields.has_path(path) for path in self.paths], dtype=bool)

    def around(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields around label j, int64[L]."""
        total: Counts = self.inside[:, self.has_path(fields)].sum(axis=1, dtype=np.int64)
        return total

    def continued(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields that go on from i to j, int64[L + 1, L]."""
        total: Counts = self.kept[:, :, self.has_path(fields)].sum(axis=2, dtype=np.int64)
        return total

    def opened(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields that begin with j after i, int64[L + 1, L]."""
        return self.around(fields) - self.continued(fields)

    def closed(self, fields: Fields) -> Counts:
        """Return the number of segments of the fields that end with i before j, int64[L + 1, L]."""
        before = np.append(self.around(fields), 0)
        return before[:, None] - self.continued(fields)

    def borders(self) -> NDArray[np.bool_]:
        """Return between which labels a segment begins or ends, bool[L + 1, L]; none before the first token."""
        on = self.kept.sum(axis=2)
        depth = self.inside.sum(axis=1)
        found: NDArray[np.bool_] = (on != depth) | (on != np.append(depth, 0)[:, None])
        found[-1] = False
        return found
