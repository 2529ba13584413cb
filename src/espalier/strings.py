"""Strings as arrays, for model files: the UTF-8 bytes of all strings end to end, and where each one ends.

Two layouts exist, because files of the first release hold both: `pack_strings` keeps offsets in bytes, `put_strings`
lengths in characters. What is read from a file is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, ModelFileError

__all__ = ["pack_strings", "put_strings", "stored_array", "take_strings", "unpack_strings"]

Bytes = NDArray[np.uint8]


def pack_strings(strings: Sequence[str]) -> tuple[Bytes, NDArray[np.int64]]:
    """Lay n strings end to end: their UTF-8 bytes, uint8, and offsets, int64[n + 1] (string i is offsets[i:i+2]).

    Lone surrogates, as in undecodable file names, survive.
    """
    if isinstance(strings, str):
        raise InputError("pack_strings takes a list of strings, not one string")
    for i, string in enumerate(strings):
        if not isinstance(string, str):
            raise InputError(f"string {i} is {string!r}, a {type(string).__name__}")
    encoded = [string.encode("utf-8", "surrogatepass") for string in strings]
    offsets = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(piece) for piece in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), offsets


def unpack_strings(blob: Bytes, offsets: NDArray[np.int64]) -> list[str]:
    """Return the strings that `pack_strings` laid end to end."""
    if blob.dtype != np.uint8 or blob.ndim != 1 or offsets.dtype.kind != "i" or offsets.ndim != 1 or not len(offsets):
        raise ModelFileError("packed strings are bytes, uint8[m], and offsets, int64[n + 1]")
    if offsets[0] != 0 or offsets[-1] != len(blob) or (np.diff(offsets) < 0).any():
        raise ModelFileError(f"the offsets of packed strings do not rise from 0 to {len(blob)}, the length of the text")
    raw, borders = blob.tobytes(), offsets.tolist()
    try:
        if raw.isascii():  # one decoding for all; bytes and characters agree
            text = raw.decode("ascii")
            return [text[a:b] for a, b in pairwise(borders)]
        return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(borders)]
    except UnicodeDecodeError as error:
        raise ModelFileError(f"packed strings are not UTF-8: {error}") from None


def put_strings(state: dict[str, Any], key: str, strings: Sequence[str]) -> None:
    """Add strings to a state: `<key>/text`, uint8, end to end in UTF-8, and `<key>/lengths`, int32, in characters."""
    text = "".join(strings).encode("utf-8", "surrogatepass")
    state[f"{key}/text"] = np.frombuffer(text, np.uint8)
    state[f"{key}/lengths"] = np.fromiter(map(len, strings), np.int32, len(strings))


def take_strings(state: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the strings that `put_strings` added, which differ from one another."""
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


def narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same numbers in half the bytes, where none of them changes by that: for a model file."""
    half = {"i": np.int32, "f": np.float32}[array.dtype.kind]
    with np.errstate(over="ignore"):
        small: NDArray[Any] = array.astype(half)
    return small if np.array_equal(small, array, equal_nan=array.dtype.kind == "f") else array


def stored_array(state: Mapping[str, Any], key: str, *dtypes: type, ndim: int = 1) -> NDArray[Any]:
    """Return an array of a state; raise unless it is there and of one of these types."""
    array = state.get(key)
    if not isinstance(array, np.ndarray) or array.dtype not in dtypes or array.ndim != ndim:
        what = dtypes[0].__name__
        raise ModelFileError(f"the stored features are incomplete: {key!r} is not an array of {what}")
    return cast("NDArray[Any]", array)
