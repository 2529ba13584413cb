"""How a net learns: the pass forward with what is hidden at random, and the derivatives on the way back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.features.hashed import GROUPS
from espalier.models.conv import SPACE_SIZE, ConvShape, Floats, Ints, NetInput, Workspace, convolved, pooled, roots

__all__ = ["Dropout", "SomeRows", "backward", "forward"]


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


def forward(
    weights: Mapping[str, Floats], shape: ConvShape, batch: NetInput, work: Workspace, dropout: Dropout | None = None
) -> tuple[Floats, Passed]:
    """Return the scores of every label at every token, [R, L], and what `backward` needs."""
    R, c, i, d = len(batch.word), shape.channels, shape.convolved, shape.embedding
    X = work("X", R, GROUPS * d + SPACE_SIZE)
    np.take(pooled(weights["table"], batch.words), batch.word, axis=0, out=X[:, : GROUPS * d], mode="clip")
    kept = Passed(X, roots(batch.words, work.dtype), space=batch.space)
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
