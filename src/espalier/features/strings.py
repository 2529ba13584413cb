"""Strings and arrays of stored features: what is read from a file is checked, and nothing in it is executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from espalier.errors import ModelFileError

__all__ = ["pack_strings", "stored_array", "unpack_strings"]


def pack_strings(state: dict[str, Any], key: str, strings: Sequence[str]) -> None:
    """Add strings to a state: `<key>/text`, uint8, end to end in UTF-8, and `<key>/lengths`, int32, in characters."""
    text = "".join(strings).encode("utf-8", "surrogatepass")
    state[f"{key}/text"] = np.frombuffer(text, np.uint8)
    state[f"{key}/lengths"] = np.fromiter(map(len, strings), np.int32, len(strings))


def unpack_strings(state: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the strings that `pack_strings` added, which differ from one another."""
    try:
        text = stored_array(state, f"{key}/text", np.uint8).tobytes().decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"the stored features are damaged: {key}: {error}") from None
    lengths = stored_array(state, f"{key}/lengths", np.int32)
    if (lengths < 0).any() or lengths.sum() != len(text):
        raise ModelFileError(f"the stored features are damaged: {key}: lengths and text differ")
    strings = tuple(text[a:b] for a, b in pairwise(accumulate(lengths.tolist(), initial=0)))
    if len(set(strings)) != len(strings):
        raise ModelFileError(f"the stored features are damaged: {key}: a string stands twice")
    return strings


def stored_array(state: Mapping[str, Any], key: str, dtype: type, ndim: int = 1) -> NDArray[Any]:
    """Return an array of a state; raise unless it is there and of its type."""
    array = state.get(key)
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
        raise ModelFileError(f"the stored features are incomplete: {key!r} is not an array of {dtype.__name__}")
    return cast("NDArray[Any]", array)
