"""From the attributes of templates to the two-level `FeatureMatrix`: families, bundles, references."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from espalier.features.columns import Column, pile, stack
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
    A = sum(sizes) + len(markers)
    families: dict[tuple[str, int], list[Column]] = {}
    per_token: list[Column] = []
    bundles: list[Column] = []
    start = 0
    for own, column, size in zip(kinds, columns, sizes, strict=True):
        if column is not None:
            numbered = Column(column.indptr, column.ids + start, column.weights)
            (per_token if own is None else families.setdefault(own, [])).append(numbered)
        start += size
    for offset, known in view.of_types.families.items():
        families["type", offset] = [known]
    n_bundles = 0
    for (kind, offset), family in families.items():
        stacked, uses = stack(family, family[0].n_rows), view.uses((kind, offset))
        assert uses is not None
        refs, bundle = _bundled(stacked, uses, A + n_bundles)
        n_bundles += bundle.n_rows
        bundles.append(bundle)
        per_token.append(refs.take(view.members(kind, offset)))
    for k, offset in enumerate(markers):
        per_token.append(Column.of_one(np.where(view.tokens_at(offset) < 0, start + k, -1)))
    tokens, contents = stack(per_token, view.corpus.n_tokens), pile(bundles)
    none = np.zeros(0)
    return FeatureMatrix(
        A,
        tokens.indptr,
        tokens.ids.astype(np.int32),
        contents.indptr,
        contents.ids.astype(np.int32),
        none if tokens.weights is None else tokens.weights,
        none if contents.weights is None else contents.weights,
    )


def _bundled(family: Column, uses: np.ndarray, first: int) -> tuple[Column, Column]:
    """Return what a token refers to for each type or stretch, and the bundles, numbered from `first`.

    A bundle of one attribute, or one that a single token uses, costs more than it saves: its attributes stand alone.
    """
    is_bundle = (family.lengths >= 2) & (uses >= 2)
    everything = np.arange(family.n_rows)
    own = family.take(np.where(is_bundle, -1, everything))
    shared = Column.of_one(np.where(is_bundle, first + np.cumsum(is_bundle) - 1, -1))
    return stack([own, shared], family.n_rows), family.take(everything[is_bundle])
