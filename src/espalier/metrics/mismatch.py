"""Labels that cannot be compared: words passed as labels, or tags with marks beside labels without."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from espalier.errors import ResultWarning, listed
from espalier.tags import OUTSIDE, is_tag

__all__ = ["say_if_mismatched"]


def say_if_mismatched(gold: Iterable[str | None], predicted: Iterable[str | None], stacklevel: int = 3) -> None:
    """Warn where no field of one side can be one of the other; a side that has no field at all is just wrong."""
    right, said = ({label for label in side if label is not None} - {OUTSIDE} for side in (gold, predicted))
    if not right or not said or right & said:
        return
    marked = [any(map(is_tag, side)) for side in (right, said)]
    if marked[0] != marked[1]:
        one, other = ("gold", "predicted") if marked[0] else ("predicted", "gold")
        what = f"the {one} labels have marks (B-, I-) and the {other} ones have none, so hardly a token can be right"
        hint = "Corpus.from_documents(..., marks=True) or marks=False gives both in one form; are both lists of labels?"
    elif len(right) == 1 or len(said) == 1:  # of one label each, the answer is just wrong
        return
    else:
        what = f"gold has {listed(sorted(right), 5)}, predicted is {listed(sorted(said), 5)}: no label in common"
        hint = "are both lists of labels, not of tokens?"
    warnings.warn(f"{what}; {hint}", ResultWarning, stacklevel)
