"""From the attributes of templates to the two-level `FeatureMatrix`: families, bundles, references."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from espalier.features.columns import Column, Laid, lay, pile, stack
from espalier.features.matrix import FeatureMatrix
from espalier.features.view import View

__all__ = ["assemble"]


def assemble(
    view: View,
    kinds: Sequence[tuple[str, int] | None],
    columns: Sequence[Column | None],
    sizes: Sequence[int],
    markers: Sequence[int],
) -> FeatureMatrix:
    """Return the matrix of a corpus.

    Parameters
    ----------
    kinds : the `family` of each template.
    columns : the attributes of each template, numbered 0..size-1; a row for each type, stretch or token;
        None if the template is of the type and the view knows such families already.
    sizes : how many attributes each template has; they are laid end to end, the markers after them.
    markers : the offsets beyond the sequence that are attributes of the token.
    """
    A, M = sum(sizes) + len(markers), view.corpus.n_tokens
    families: dict[tuple[str, int], list[Laid]] = {}
    refs: list[Laid] = []
    bundles: list[Column] = []
    start = 0
    for own, column, size in zip(kinds, columns, sizes, strict=True):
        if column is not None:
            part = Laid(column, np.arange(column.n_rows), start)
            (refs if own is None else families.setdefault(own, [])).append(part)
        start += size
    together = {kind: stack(parts, len(parts[0].rows)) for kind, parts in families.items()}
    together |= {("type", offset): known for offset, known in view.of_types.families.items()}
    n_bundles = 0
    for (kind, offset), family in together.items():
        uses = view.uses((kind, offset))
        assert uses is not None
        # A bundle of one attribute, or one that a single token uses, costs more than it saves: it is not made.
        chosen, every = (family.lengths >= 2) & (uses >= 2), np.arange(family.n_rows)
        number = Laid(Column.of_one(np.where(chosen, np.cumsum(chosen) - 1, -1)), every, A + n_bundles)
        either = stack([Laid(family, np.where(chosen, -1, every)), number], family.n_rows)
        refs.append(Laid(either, view.members(kind, offset)))
        bundles.append(family.take(every[chosen]))
        n_bundles += bundles[-1].n_rows
    for k, offset in enumerate(markers):
        refs.append(Laid(Column.of_one(np.zeros(1, np.int64)), np.where(view.tokens_at(offset) < 0, 0, -1), start + k))
    indptr, ids, weights = lay(refs, M)
    contents = pile(bundles)
    return FeatureMatrix(
        A,
        indptr,
        ids,
        contents.indptr,
        contents.ids.astype(np.int32),
        weights,
        np.zeros(0) if contents.weights is None else contents.weights,
    )
