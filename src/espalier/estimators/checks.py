"""Checks of what people pass to estimators; each raises InputError, with what was expected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.document import Document
from espalier.errors import InputError, counted

__all__ = ["check_number", "check_progress", "check_sample_weight", "one_sequence"]


def check_sample_weight(sample_weight: Any, n: int) -> NDArray[np.float64] | None:
    """Return weights, float64[N], finite and not negative; None stays None."""
    if sample_weight is None:
        return None
    hint = f"expected {counted(n, 'number')}, one for each sequence"
    try:
        weight = np.asarray(sample_weight, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"sample_weight is {sample_weight!r}", hint=hint) from None
    if weight.shape != (n,):
        raise InputError(f"sample_weight has shape {weight.shape}", hint=hint)
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise InputError("sample_weight must be finite and not negative")
    if n and not weight.any():
        raise InputError("every sample_weight is 0, so nothing would be learned", hint="give one sequence a weight")
    return weight


def check_number(name: str, value: Any, least: float = 0, *, whole: bool = False) -> None:
    """Raise InputError unless a parameter is a finite number (or a whole one) of at least `least`."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    if isinstance(value, bool) or not isinstance(value, kinds) or not np.isfinite(value) or value < least:
        what = "a whole number" if whole else "a number"
        raise InputError(f"{name} is {value!r}", hint=f"expected {what} of at least {least}")


def check_progress(progress: Any) -> None:
    """Raise InputError unless `progress` can be called, or is None."""
    if progress is not None and not callable(progress):
        raise InputError(f"progress is {progress!r}", hint="expected a function, such as print, or None")


@contextmanager
def one_sequence(tokens: Any, who: str) -> Iterator[None]:
    """Say of several sequences, or of a text, that they are not the one sequence that is asked for.

    Only where they are refused: a token may be a list, too, of ready attributes.
    """
    try:
        yield
    except InputError:
        if isinstance(tokens, str):
            raise InputError(f"{who} takes a list of tokens, not a string", hint="an Extractor takes texts") from None
        if isinstance(tokens, Corpus) or all(isinstance(token, list | tuple | Document) for token in tokens):
            raise InputError(f"{who} takes one sequence, not several", hint="call it for each of them") from None
        raise
