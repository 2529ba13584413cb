"""Gold and predicted labels side by side: the one place where the input of every metric is checked.

A token whose gold label is unknown (None; -1 in a `Corpus`) is not judged. It is unknown on both sides
from here on, so it counts for no accuracy and belongs to no segment, gold or predicted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from espalier.corpus import Corpus
from espalier.errors import InputError

__all__ = ["Labelling", "Pairs", "paired"]

Labelling: TypeAlias = "Corpus | Sequence[Sequence[str | None]]"
"""N label sequences: a corpus, or lists of label names with None where the label is unknown."""

Pairs: TypeAlias = "list[tuple[list[str | None], list[str | None]]]"
"""(gold, predicted) of each sequence, equally long, None at the same tokens."""


def paired(gold: Labelling, predicted: Labelling) -> Pairs:
    """Return N checked pairs of label lists; raise `InputError` naming the sequence and token that is wrong."""
    truth, guess = _label_lists(gold, "gold"), _label_lists(predicted, "predicted")
    if len(truth) != len(guess):
        raise InputError(f"{len(truth)} gold sequences but {len(guess)} predicted ones; they must pair up")
    if len(truth) == 0:  # not `not truth`: it may be an array
        raise InputError("no sequences were given; there is nothing to measure")
    pairs: Pairs = []
    for i, (g, p) in enumerate(zip(truth, guess, strict=True)):
        _check_sequence(g, i, "gold")
        _check_sequence(p, i, "predicted")
        if len(g) != len(p):
            raise InputError(f"sequence {i} has {len(g)} gold labels but {len(p)} predicted ones")
        masked = [None if known is None else label for known, label in zip(g, p, strict=True)]
        if masked.count(None) != list(g).count(None):
            t = next(t for t, label in enumerate(masked) if label is None and g[t] is not None)
            raise InputError(f"sequence {i}, token {t}: the predicted label is None; only gold may be unknown")
        pairs.append((list(g), masked))
    if all(label is None for g, _ in pairs for label in g):
        raise InputError("no gold label is known; there is nothing to measure")
    return pairs


def _label_lists(labels: Labelling, side: str) -> Sequence[Sequence[str | None]]:
    if isinstance(labels, Corpus):
        if labels.y is None:
            raise InputError(f"the {side} corpus has no labels")
        return labels.all_labels()
    if isinstance(labels, str):
        raise InputError(f"the {side} labels are one string; give a list of label lists")
    return labels


def _check_sequence(labels: Sequence[str | None], i: int, side: str) -> None:
    """A list of non-empty strings and None, and nothing that only looks like one."""
    if isinstance(labels, str):
        raise InputError(f"{side} sequence {i} is a string, not a list of labels; did you forget one level of lists?")
    for t, label in enumerate(labels):
        if label is not None and (not isinstance(label, str) or not label):
            what = "an empty label" if label == "" else f"{label!r}, a {type(label).__name__}"
            raise InputError(
                f"{side} sequence {i}, token {t} is {what}; labels are names (None where unknown), "
                "and ids become names by `Labels.decode`"
            )
