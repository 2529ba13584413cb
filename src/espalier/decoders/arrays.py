"""Anybody's arrays as NumPy's: tensors of any library, on any device, without importing that library.

Whatever speaks the array protocol (`__array__`) or DLPack is taken. A tensor that records gradients is asked to
`detach`, one on a device to come over by `cpu`, and a number type that NumPy does not have (bfloat16) to be `float`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError

__all__ = ["as_array", "as_floats", "dimensions"]

STEPS = ("detach", "cpu", "float")  # what a tensor can be asked for, in this order, until NumPy takes it


def as_array(value: Any, name: str) -> NDArray[Any]:
    """Return any array-like value as a NumPy array, or say why that cannot be done."""
    if isinstance(value, np.ndarray):
        return value
    complaint: Exception | None = None
    for step in (None, *STEPS):
        if step is not None:
            ask = getattr(value, step, None)
            if not callable(ask):
                continue
            value = ask()
        try:
            found = _taken(value)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            complaint = complaint or error
            continue
        if found is not None:
            return found
    why = f": {str(complaint).splitlines()[0]}" if complaint is not None and str(complaint) else ""
    raise InputError(
        f"{name} is of type {type(value).__name__} and cannot be read as an array of numbers{why}",
        hint="pass lists of numbers, or an array that NumPy can read",
    )


def _taken(value: Any) -> NDArray[Any] | None:
    """Return what NumPy makes of a value; None if that is no array of numbers."""
    if not hasattr(value, "__array__") and hasattr(value, "__dlpack__"):
        shared: NDArray[Any] = np.from_dlpack(value)
        return shared
    found = np.asarray(value)
    return None if found.dtype == object or found.dtype.kind in "USmM" else found


def as_floats(value: Any, name: str) -> NDArray[np.float64]:
    """Return any array-like value as float64."""
    if value is None:
        raise InputError(f"{name} is None", hint="pass an array of numbers")
    found = as_array(value, name)
    try:
        return np.asarray(found, np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} holds no numbers: {error}") from None


def dimensions(value: Any) -> int | None:
    """Return the number of dimensions of an array or of nested lists, None where it cannot be told."""
    known = getattr(value, "ndim", None)
    if isinstance(known, int):
        return known
    if isinstance(value, list | tuple):
        inner = [dimensions(item) for item in value[:1]]
        return 1 if not inner else None if inner[0] is None else inner[0] + 1
    shape = getattr(value, "shape", None)
    if shape is not None:
        return len(shape)
    return 0 if isinstance(value, int | float | np.number) else None
