"""A net of gated dilated convolutions over the tokens of a text: its shape, its layers, its weights in a model file.

    x⁰_t = [form_t, shape_t, pieces_t, space_t] W + b        sums of hashed vectors of the word (`features.hashed`)
    xᵏ_t = xᵏ⁻¹_t + a σ(g)                                   (a, g) = [h_{t-d}, h_t, h_{t+d}] W_k + b_k
    h    = xᵏ⁻¹ less its mean over the channels, divided by its standard deviation
    scores of the labels at t = x_t W_out + b_out

Each block looks d tokens to both sides (van den Oord et al. 2016; Strubell et al. 2017 for labelling): with dilations
1, 2, 4, 8, 16, 1, 2, 4 a label sees 38 tokens each way. The normalisation has no weights of its own: those of the
product behind it can say the same.

With `inner`, a block works on fewer numbers than there are channels: h D_k is convolved, and a σ(g) U_k added to x.
The products with D_k and U_k cost little, so a token may have twice the channels at the same price.

Tokens of a batch lie end to end in one array, without padding. A convolution is one product with a matrix whose row t
holds the rows t-d, t, t+d of h, with zeros where they belong to another sequence. O(T · taps · channels²) a block, or
O(T · inner · (taps · inner + channels)).

Everything computes in the type of the weights: float32, or float64 where a test wants the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError, ModelFileError
from espalier.features.hashed import GROUPS, SPACES, HashedWords

__all__ = [
    "STORAGES", "Borders", "ConvShape", "Floats", "Ints", "NetInput", "Parameters", "Workspace", "convolved", "initial",
    "packed", "pooled", "roots", "unpacked",
]  # fmt: skip

Floats: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.int64]
Parameters: TypeAlias = dict[str, Floats]
"""Weights by name: table, space, input, input_bias, block<k>, bias<k>, down<k>, up<k>, output, output_bias ..."""

SPACE_SIZE = 16
"""Numbers that say what stands before a token."""

TINY = 1e-5
"""Added to a variance."""

STORAGES = ("int8", "float16", "float32")
"""How a model file may hold weights: rounded to 127 steps, rounded to half precision, or as they are.

In bytes there is a scale for each row of the table of vectors, and for each output of other matrices. Biases and the
scores between labels are few, and always float32.
"""

STEPS = 127
FORBIDS = ("trans", "start", "end")
"""What may hold -inf."""

_WHOLE = ("space", "trans")
"""Matrices so small that they stay as they are."""


@dataclass(frozen=True, slots=True)
class ConvShape:
    """The sizes of a net: labels, channels, one dilation a block, numbers a hashed vector, vectors, taps a block.

    inner : numbers that a block convolves; 0: the channels themselves.
    """

    labels: int
    channels: int = 128
    dilations: tuple[int, ...] = (1, 2, 4, 8, 16, 1, 2, 4)
    embedding: int = 48
    buckets: int = 32768
    kernel: int = 3
    inner: int = 0

    def __post_init__(self) -> None:
        """Check that there is such a net."""
        for name in ("labels", "channels", "embedding", "buckets", "kernel"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise InputError(f"{name} is {value!r}", hint="expected a whole number of at least 1")
        if isinstance(self.inner, bool) or not isinstance(self.inner, int) or self.inner < 0:
            raise InputError(f"inner is {self.inner!r}", hint="expected a whole number of at least 0")
        if self.kernel % 2 == 0:
            raise InputError(f"kernel is {self.kernel}", hint="expected an odd number: as many tokens on both sides")
        if any(isinstance(d, bool) or not isinstance(d, int) or d < 1 for d in self.dilations):
            raise InputError(f"dilations are {self.dilations!r}", hint="expected whole numbers of at least 1")

    @property
    def convolved(self) -> int:
        """How many numbers a block convolves."""
        return self.inner or self.channels

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of every parameter."""
        c, i, L = self.channels, self.convolved, self.labels
        found: dict[str, tuple[int, ...]] = {
            "table": (self.buckets, self.embedding),
            "space": (SPACES, SPACE_SIZE),
            "input": (GROUPS * self.embedding + SPACE_SIZE, c),
            "input_bias": (c,),
        }
        for k in range(len(self.dilations)):
            found |= {f"block{k}": (self.kernel * i, 2 * i), f"bias{k}": (2 * i,)}
            if self.inner:
                found |= {f"down{k}": (c, i), f"up{k}": (i, c)}
        return found | {"output": (c, L), "output_bias": (L,), "trans": (L, L), "start": (L,), "end": (L,)}


def initial(shape: ConvShape, rng: np.random.Generator, dtype: type = np.float32) -> Parameters:
    """Return random weights to begin with; biases and transitions begin at 0."""
    found: Parameters = {}
    for name, size in shape.sizes().items():
        if name == "table":
            value = rng.normal(0.0, 0.05, size)
        elif name == "space":
            value = rng.normal(0.0, 1.0, size)
        elif len(size) == 2 and name != "trans":
            value = rng.uniform(-1.0, 1.0, size) / np.sqrt(size[0])
        else:
            value = np.zeros(size)
        found[name] = value.astype(dtype)
    return found


class Borders:
    """Where the sequences of a batch begin and end: `before` and `behind` each token stand so many of its sequence."""

    def __init__(self, lengths: Ints) -> None:
        """Take the lengths of sequences that lie end to end."""
        ends = np.cumsum(lengths)
        self.before: Ints = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - lengths, lengths)
        self.behind: Ints = np.repeat(lengths, lengths) - 1 - self.before
        self._found: dict[int, Ints] = {}

    def outside(self, reach: int) -> Ints:
        """Return the tokens that have no neighbour so many tokens behind them, or, below 0, before them."""
        found = self._found.get(reach)
        if found is None:
            near = self.before < -reach if reach < 0 else self.behind < reach
            found = self._found[reach] = np.flatnonzero(near)
        return found


@dataclass(frozen=True, slots=True, eq=False)
class NetInput:
    """The tokens of a batch.

    words : the hashed words that occur; word : int64[R], which of them each token is; space : uint8[R], what stands
    before it; borders : where sequences begin and end.
    """

    words: HashedWords
    word: Ints
    space: NDArray[np.uint8]
    borders: Borders


class Workspace:
    """Arrays that are used again: fresh large ones cost more than what is done with them."""

    def __init__(self, dtype: Any) -> None:
        """Begin without any."""
        self.dtype = np.dtype(dtype)
        self.arrays: dict[str, Floats] = {}

    def __call__(self, name: str, rows: int, columns: int) -> Floats:
        """Return an array of this size with anything in it; the same name gives the same memory."""
        held = self.arrays.get(name)
        if held is None or held.size < rows * columns:
            held = self.arrays[name] = np.empty(rows * columns * 5 // 4, self.dtype)
        return held[: rows * columns].reshape(rows, columns)


def pooled(table: Floats, words: HashedWords) -> Floats:
    """Return the sums of the vectors of each group, [words, 3 d]; pieces are divided by the root of their number."""
    d = table.shape[1]
    sizes = words.sizes.reshape(-1)
    sums: Floats = np.add.reduceat(table[words.ids], np.cumsum(sizes) - sizes, axis=0).reshape(-1, GROUPS * d)
    sums[:, (GROUPS - 1) * d :] *= roots(words, table.dtype)
    return sums


def roots(words: HashedWords, dtype: Any) -> Floats:
    """Return by what the sums of pieces are multiplied, a row for each word."""
    return np.asarray(1.0 / np.sqrt(words.sizes[:, -1:])).astype(dtype)


def convolved(
    x: Floats, w: Floats, bias: Floats, down: Floats | None, dilation: int, borders: Borders, work: Workspace,
    name: str = "",
) -> tuple[Floats, Floats]:  # fmt: skip
    """Return (a, g) of a block, [R, 2 i], and the inverse standard deviations; arrays called `name` keep the rest."""
    R, c = x.shape
    i = w.shape[1] // 2
    taps = w.shape[0] // i
    H, Z = work(f"H{name}", R, taps * i), work(f"Z{name}", R, 2 * i)
    h = middle = H[:, taps // 2 * i : (taps // 2 + 1) * i]
    if down is not None:
        h = work(f"h{name}", R, c)
    np.subtract(x, (x @ np.full(c, 1.0 / c, x.dtype))[:, None], out=h)
    deviation = (1.0 / np.sqrt(np.einsum("ij,ij->i", h, h) / c + TINY)).astype(x.dtype)[:, None]
    h *= deviation
    if down is not None:
        h = np.matmul(h, down, out=middle)
    for j in range(taps):
        side = H[:, j * i : (j + 1) * i]
        reach = (j - taps // 2) * dilation
        if reach < 0:
            side[-reach:] = h[:reach]
        elif reach > 0:
            side[:-reach] = h[reach:]
        if reach:
            side[borders.outside(reach)] = 0
    np.matmul(H, w, out=Z)
    Z += bias
    return Z, deviation


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
