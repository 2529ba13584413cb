"""The weights of a net as a model file holds them: in one byte, two or four each.

    int8       rounded to 127 steps: a scale for each row of the table of vectors, for each output of other matrices
    float16    rounded to half precision
    float32    as they are

Biases are float32 in any case, and so are the scores between labels: they are few. Loading gives float32 again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.errors import ModelFileError
from espalier.models.conv import ConvShape, Floats, Parameters

__all__ = ["STORAGES", "packed", "unpacked"]

STORAGES = ("int8", "float16", "float32")
STEPS = 127
FORBIDS = ("trans", "start", "end")
"""What may hold -inf."""

_WHOLE = ("space", "trans")
"""Matrices so small that they stay as they are."""


def packed(weights: Mapping[str, Floats], storage: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a model file; of rounded weights a second one with their scales."""
    found: dict[str, NDArray[Any]] = {}
    for name, w in weights.items():
        if w.ndim < 2 or name in _WHOLE or storage == "float32":
            found[name] = w.astype(np.float32)
        elif storage == "float16":
            found[name] = w.astype(np.float16)
        else:
            largest = np.abs(w).max(axis=_axis(name), keepdims=True)
            scale = np.where(largest > 0, largest / STEPS, 1.0).astype(np.float32)
            found[name] = np.rint(w / scale).astype(np.int8)
            found[f"{name}/scale"] = scale
    return found


def unpacked(arrays: Mapping[str, NDArray[Any]], shape: ConvShape) -> Parameters:
    """Return the weights in float32; arrays that are not those of the shape are a ModelFileError."""
    found: Parameters = {}
    for name, size in shape.sizes().items():
        if name not in arrays or arrays[name].shape != size:
            raise ModelFileError(f"the weights {name!r} of the net are not there, or not of the size {size}")
        w = np.array(arrays[name], np.float32)
        if arrays[name].dtype == np.int8:
            scale = arrays.get(f"{name}/scale")
            expected = tuple(1 if k == _axis(name) else n for k, n in enumerate(size))
            if scale is None or scale.shape != expected:
                raise ModelFileError(f"the scales of {name!r} are not there, or not of the size {expected}")
            with np.errstate(over="ignore", invalid="ignore"):
                w *= np.asarray(scale, np.float32)
        least = -np.inf if name in FORBIDS else np.finfo(np.float32).min
        if not ((w >= least) & (w < np.inf)).all():
            raise ModelFileError(f"the weights {name!r} of the net are not finite")
        found[name] = w
    return found


def _axis(name: str) -> int:
    """Return the axis that shares a scale: the numbers of a vector, the inputs of an output."""
    return 1 if name == "table" else 0
