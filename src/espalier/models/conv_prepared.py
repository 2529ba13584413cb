"""The weights of a net in the form that scores fastest: what `models.conv` computes, but for rounding.

A block looks at x less its mean over the channels. So nothing that is added to x has a mean here: words, spaces and
what blocks add are stored without it, and nothing has to be subtracted from x. The scores do ask for the mean, so it is
added up beside x, one number for each token. What follows from the weights alone is computed once, in double precision:

    half the weights of a block       a σ(g) = a / 2 · (1 + tanh(g / 2))
    up W_out of the last block        what it adds is asked for by the scores alone

The deviation divides a row after the product with `down`, which has fewer columns. The neighbours of all tokens are
copied in one step; a row of zeros stands for those of another sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from espalier.features.hashed import GROUPS, HashedWords
from espalier.models.conv import TINY, ConvShape, Floats, Ints, Parameters, Workspace, pooled

__all__ = ["PreparedNet"]

SHORT = 128
"""Tokens of a sequence whose neighbours are remembered: 3 MB for all lengths and distances together."""


class _Block(NamedTuple):
    """The weights of a block; without `inner` there is no `down` and no `up`. mean : of what each row of `up` adds."""

    w: Floats
    bias: Floats
    dilation: int
    down: Floats | None = None
    up: Floats | None = None
    mean: Floats | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PreparedNet:
    """Weights of a net, in float32.

    words, spaces : what the first layer makes of vectors of words, and of what stands before a word, without the means;
    word_means, space_means : the means. sums : of each column of the output. last : the last block's `up` and the
    output in one; None where that block has none.
    """

    words: Floats
    word_means: Floats
    spaces: Floats
    space_means: Floats
    blocks: Sequence[_Block]
    output: Floats
    sums: Floats
    output_bias: Floats
    last: Floats | None

    @classmethod
    def of(cls, shape: ConvShape, weights: Parameters) -> PreparedNet:
        """Prepare weights; those that are too large for it make scores that are no numbers."""
        wide = {name: w.astype(np.float64) for name, w in weights.items() if name not in ("table", "trans")}
        border = GROUPS * shape.embedding
        last = f"up{len(shape.dilations) - 1}"
        with np.errstate(over="ignore", invalid="ignore"):
            spaces = wide["space"] @ wide["input"][border:] + wide["input_bias"]
            return cls(
                *_without_mean(wide["input"][:border]),
                *_without_mean(spaces),
                [_block(wide, k, dilation) for k, dilation in enumerate(shape.dilations)],
                _single(wide["output"]),
                _single(wide["output"].sum(axis=0)),
                _single(wide["output_bias"]),
                _single(wide[last] @ wide["output"]) if last in wide else None,
            )

    def of_words(self, table: Floats, words: HashedWords) -> tuple[Floats, Floats]:
        """Return what the first layer makes of words, float32[words, c], and the means, float32[words]."""
        sums = pooled(table, words)
        return sums @ self.words, sums @ self.word_means

    def scores(self, x: Floats, mean: Floats, lengths: Ints, work: Workspace) -> Floats:
        """Return the scores of tokens whose first layer is x; it and its mean are written over."""
        R, c = x.shape
        near: dict[tuple[int, int], Ints] = {}
        gated = x
        for block in self.blocks:
            i = block.w.shape[1] // 2
            taps = block.w.shape[0] // i
            if (taps, block.dilation) not in near:
                near[taps, block.dilation] = _neighbours(lengths, taps, block.dilation)
            padded, H, Z = work("h", R + 1, i), work("H", R, taps * i), work("Z", R, 2 * i)
            h = padded[:R]
            padded[R] = 0
            deviation = (1.0 / np.sqrt(np.einsum("ij,ij->i", x, x) / c + TINY)).astype(x.dtype)[:, None]
            if block.down is None:
                np.multiply(x, deviation, out=h)
            else:
                np.matmul(x, block.down, out=h)
                h *= deviation
            np.take(padded, near[taps, block.dilation], axis=0, out=H.reshape(R * taps, i), mode="clip")
            np.matmul(H, block.w, out=Z)
            Z += block.bias
            a, gate = Z[:, :i], Z[:, i:]
            np.tanh(gate, out=gate)
            gated = np.multiply(a, gate, out=work("gated", R, i))
            gated += a
            if block is not self.blocks[-1] or self.last is None:
                self._add(x, mean, gated, block, work)
        scores: Floats = x @ self.output
        if self.last is not None:
            scores += gated @ self.last
        scores += mean[:, None] * self.sums
        scores += self.output_bias
        return scores

    @staticmethod
    def _add(x: Floats, mean: Floats, gated: Floats, block: _Block, work: Workspace) -> None:
        """Add what a block says to x, and its mean to the means."""
        if block.up is None or block.mean is None:
            own = gated.mean(axis=1)
            gated -= own[:, None]
            x += gated
        else:
            own = gated @ block.mean
            x += np.matmul(gated, block.up, out=work("raised", *x.shape))
        mean += own


def _block(wide: Parameters, k: int, dilation: int) -> _Block:
    w, bias = _single(wide[f"block{k}"] * 0.5), _single(wide[f"bias{k}"] * 0.5)
    if f"up{k}" not in wide:
        return _Block(w, bias, dilation)
    return _Block(w, bias, dilation, _single(wide[f"down{k}"]), *_without_mean(wide[f"up{k}"]))


def _without_mean(w: Floats) -> tuple[Floats, Floats]:
    """Return rows less their means, and the means."""
    mean = w.mean(axis=1)
    return _single(w - mean[:, None]), _single(mean)


def _single(w: Floats) -> Floats:
    return w.astype(np.float32)


def _neighbours(lengths: Ints, taps: int, dilation: int) -> Ints:
    """Return for each token the places of its neighbours, int64[R * taps]; R stands for one of another sequence."""
    if len(lengths) == 1 and lengths[0] <= SHORT:
        return _neighbours_of_one(int(lengths[0]), taps, dilation)
    ends = np.cumsum(lengths)
    R = int(ends[-1])
    first, behind = np.repeat(ends - lengths, lengths)[:, None], np.repeat(ends, lengths)[:, None]
    places = np.arange(R)[:, None] + (np.arange(taps) - taps // 2) * dilation
    places[(places < first) | (places >= behind)] = R
    return places.reshape(-1)


@lru_cache(maxsize=1024)
def _neighbours_of_one(R: int, taps: int, dilation: int) -> Ints:
    """Return the places for one sequence: most texts that are read one by one have a length that was met before."""
    places = np.arange(R)[:, None] + (np.arange(taps) - taps // 2) * dilation
    places[(places < 0) | (places >= R)] = R
    places = places.reshape(-1)
    places.flags.writeable = False
    return places
