"""A net of gated dilated convolutions over the tokens of a text: forward, and backward for learning.

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
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from espalier.errors import InputError
from espalier.features.hashed import GROUPS, SPACES, HashedWords

__all__ = [
    "Borders", "ConvShape", "Dropout", "Floats", "Ints", "NetInput", "Parameters", "SomeRows", "Workspace", "backward",
    "convolved", "forward", "initial", "pooled",
]  # fmt: skip

Floats: TypeAlias = NDArray[Any]
Ints: TypeAlias = NDArray[np.int64]
Parameters: TypeAlias = dict[str, Floats]
"""Weights by name: table, space, input, input_bias, block<k>, bias<k>, down<k>, up<k>, output, output_bias ..."""

SPACE_SIZE = 16
"""Numbers that say what stands before a token."""

TINY = 1e-5
"""Added to a variance."""


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


@dataclass(frozen=True, slots=True)
class Dropout:
    """What learning hides at random, and the random numbers to do so.

    form : share of tokens without the vectors of their form; spaces : of sequences without spaces; inputs, layers,
    outputs : of numbers before the first block, behind each, and before the scores.
    """

    rng: np.random.Generator
    form: float
    spaces: float
    inputs: float
    layers: float
    outputs: float

    def kept(self, share: float, out: Floats) -> Floats:
        """Fill an array with 0 for what is hidden, and for the rest with what keeps the mean; share to 1/256."""
        hidden = round(share * 256)
        drawn = np.frombuffer(self.rng.bytes(out.size), np.uint8).reshape(out.shape)
        np.multiply(drawn >= hidden, out.dtype.type(256 / (256 - hidden)), out=out)
        return out


@dataclass(slots=True, eq=False)
class Passed:
    """What `backward` needs of a pass forward."""

    X: Floats
    root: Floats
    hidden: Ints | None = None
    space: NDArray[np.uint8] | None = None
    masks: dict[str, Floats] = field(default_factory=dict)
    deviations: list[Floats] = field(default_factory=list)
    x: Floats | None = None


def pooled(table: Floats, words: HashedWords) -> Floats:
    """Return the sums of the vectors of each group, [words, 3 d]; pieces are divided by the root of their number."""
    d = table.shape[1]
    sizes = words.sizes.reshape(-1)
    sums: Floats = np.add.reduceat(table[words.ids], np.cumsum(sizes) - sizes, axis=0).reshape(-1, GROUPS * d)
    sums[:, (GROUPS - 1) * d :] *= _roots(words, table.dtype)
    return sums


def _roots(words: HashedWords, dtype: Any) -> Floats:
    return np.asarray(1.0 / np.sqrt(words.sizes[:, -1:])).astype(dtype)


def forward(
    weights: Mapping[str, Floats], shape: ConvShape, batch: NetInput, work: Workspace, dropout: Dropout | None = None
) -> tuple[Floats, Passed]:
    """Return the scores of every label at every token, [R, L], and what `backward` needs."""
    R, c, i, d = len(batch.word), shape.channels, shape.convolved, shape.embedding
    X = work("X", R, GROUPS * d + SPACE_SIZE)
    np.take(pooled(weights["table"], batch.words), batch.word, axis=0, out=X[:, : GROUPS * d], mode="clip")
    kept = Passed(X, _roots(batch.words, work.dtype), space=batch.space)
    if dropout is not None:
        kept.hidden = np.flatnonzero(dropout.rng.random(R) < dropout.form)
        X[kept.hidden, :d] = 0
        first = batch.borders.before == 0
        unspaced = dropout.rng.random(int(first.sum())) < dropout.spaces
        kept.space = np.where(unspaced[np.cumsum(first) - 1], 0, batch.space).astype(np.uint8)
    X[:, GROUPS * d :] = weights["space"][kept.space]
    if dropout is not None:
        kept.masks["X"] = dropout.kept(dropout.inputs, work("mask X", *X.shape))
        X *= kept.masks["X"]
    x = np.matmul(X, weights["input"], out=work("x", R, c))
    x += weights["input_bias"]
    half = x.dtype.type(0.5)
    for k, dilation in enumerate(shape.dilations):
        name = "" if dropout is None else str(k)  # without learning, all blocks share their arrays
        down, up = weights.get(f"down{k}"), weights.get(f"up{k}")
        Z, deviation = convolved(
            x, weights[f"block{k}"], weights[f"bias{k}"], down, dilation, batch.borders, work, name
        )
        gate = Z[:, i:]  # σ(g) = (1 + tanh(g / 2)) / 2
        gate *= half
        np.tanh(gate, out=gate)
        gate *= half
        gate += half
        gated = np.multiply(Z[:, :i], gate, out=work("gated", R, i))
        if up is not None:
            gated = np.matmul(gated, up, out=work("raised", R, c))
        if dropout is not None:
            kept.deviations.append(deviation)
            kept.masks[name] = dropout.kept(dropout.layers, work(f"mask {name}", R, c))
            gated *= kept.masks[name]
        x += gated
    if dropout is not None:
        kept.masks["x"] = dropout.kept(dropout.outputs, work("mask x", R, c))
        x *= kept.masks["x"]
    kept.x = x
    return x @ weights["output"] + weights["output_bias"], kept


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


@dataclass(frozen=True, slots=True, eq=False)
class SomeRows:
    """A gradient that is 0 but in some rows: places : int64[n], rising; values : [n, columns]."""

    places: Ints
    values: Floats

    @classmethod
    def summed(cls, places: NDArray[Any], values: Floats, owner: Ints | None = None) -> SomeRows:
        """Add up the rows of each place; owner : which row of values each place has, if not its own."""
        order = np.argsort(places, kind="stable")
        ordered = places[order]
        first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
        rows = values[order if owner is None else owner[order]]
        return cls(ordered[first].astype(np.int64), np.add.reduceat(rows, first, axis=0))


def backward(
    weights: Mapping[str, Floats], shape: ConvShape, batch: NetInput, slope: Floats, kept: Passed, work: Workspace
) -> dict[str, Floats | SomeRows]:
    """Return the gradients of all parameters but transitions; slope : the derivative by each score, [R, L]."""
    R, c, d = len(batch.word), shape.channels, shape.embedding
    assert kept.x is not None
    ones = np.ones(R, work.dtype)
    found: dict[str, Floats | SomeRows] = {"output": kept.x.T @ slope, "output_bias": ones @ slope}
    dx = np.matmul(slope, weights["output"].T, out=work("dx", R, c))
    dx *= kept.masks["x"]
    for k in reversed(range(len(shape.dilations))):
        found |= block_backward(k, dx, weights, shape.dilations[k], batch, kept, work)
    X = kept.X
    found |= {"input": X.T @ dx, "input_bias": ones @ dx}
    dX = np.matmul(dx, weights["input"].T, out=work("dX", *X.shape))
    dX *= kept.masks["X"]
    spaces = np.zeros_like(weights["space"])
    seen = SomeRows.summed(kept.space, dX[:, GROUPS * d :])  # type: ignore[arg-type]
    spaces[seen.places] = seen.values
    dX[kept.hidden, :d] = 0
    by_word = SomeRows.summed(batch.word, dX[:, : GROUPS * d]).values  # every word of the batch occurs in it
    by_word[:, (GROUPS - 1) * d :] *= kept.root
    sizes = batch.words.sizes.reshape(-1)
    owner = np.repeat(np.arange(len(sizes)), sizes)
    found |= {"space": spaces, "table": SomeRows.summed(batch.words.ids, by_word.reshape(-1, d), owner)}
    return found


def block_backward(
    k: int, dx: Floats, weights: Mapping[str, Floats], dilation: int, batch: NetInput, kept: Passed, work: Workspace
) -> dict[str, Floats | SomeRows]:
    """Return the gradients of a block; dx, the derivative by what it returned, becomes that by what it was given."""
    w, down, up = weights[f"block{k}"], weights.get(f"down{k}"), weights.get(f"up{k}")
    R, c = dx.shape
    i = w.shape[1] // 2
    taps = w.shape[0] // i
    H, Z = work(f"H{k}", R, taps * i), work(f"Z{k}", R, 2 * i)
    a, gate = Z[:, :i], Z[:, i:]
    dZ, dH = work("dZ", R, 2 * i), work("dH", R, taps * i)
    found: dict[str, Floats | SomeRows] = {}
    dgated = np.multiply(dx, kept.masks[str(k)], out=work("raised", R, c))
    if up is not None:
        found[f"up{k}"] = np.multiply(a, gate, out=work("gated", R, i)).T @ dgated
        dgated = np.matmul(dgated, up.T, out=work("gated", R, i))
    np.multiply(dgated, gate, out=dZ[:, :i])
    closed = np.subtract(1, gate, out=dZ[:, i:])
    closed *= a
    closed *= dZ[:, :i]
    found |= {f"block{k}": H.T @ dZ, f"bias{k}": np.ones(R, work.dtype) @ dZ}
    np.matmul(dZ, w.T, out=dH)
    h = H[:, taps // 2 * i : (taps // 2 + 1) * i]
    dh = dgated  # its memory
    dh[:] = dH[:, taps // 2 * i : (taps // 2 + 1) * i]
    for j in range(taps):
        side = dH[:, j * i : (j + 1) * i]
        reach = (j - taps // 2) * dilation
        if reach:
            side[batch.borders.outside(reach)] = 0
        if reach < 0:
            dh[:reach] += side[-reach:]
        elif reach > 0:
            dh[reach:] += side[:-reach]
    if down is not None:
        h = work(f"h{k}", R, c)
        found[f"down{k}"] = h.T @ dh
        dh = np.matmul(dh, down.T, out=work("raised", R, c))
    along = (np.einsum("ij,ij->i", dh, h) / c).astype(work.dtype)[:, None]
    dh -= (dh @ np.full(c, 1.0 / c, work.dtype))[:, None]
    dh -= np.multiply(h, along, out=work("along", R, c))
    dh *= kept.deviations[k]
    dx += dh
    return found
