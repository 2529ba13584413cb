"""A net whose blocks convolve fewer numbers, made from one that has learned: half the cost, and most of what it knows.

Each block is made narrow by itself, in the order of the net, by what it computes on some texts:

    outputs   those that say most stay: by their deviation times the length of what `up` makes of them; `up` is fitted
              anew by least squares, so that what stays says what the others said, too
    inputs    h = x D enters the block through W alone, so D W is replaced by the best product of lower rank: with the
              covariance C = R^T R of h, by the leading singular vectors of R W

A narrow net is a good place to begin: it is meant to learn on, with `warm_start` or as a prior.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from espalier.errors import InputError
from espalier.models.conv import ConvShape, Floats, NetInput, Parameters, Workspace, convolved, pooled

__all__ = ["narrowed"]

RIDGE = 1e-4
"""Added to the diagonal of a covariance, as a share of its mean: numbers that never move have none."""


def narrowed(shape: ConvShape, weights: Parameters, inner: int, texts: NetInput) -> tuple[ConvShape, Parameters]:
    """Return the shape and the weights of a net whose blocks convolve `inner` numbers, as fits best on some texts."""
    if not 0 < inner < shape.inner:
        what = f"a net whose blocks convolve {shape.inner} numbers cannot be narrowed to {inner}"
        raise InputError(what, hint="expected fewer numbers than `inner` of the net, and at least 1")
    if not len(texts.word):
        raise InputError("there are no texts to narrow a net by", hint="pass some hundred that it should read well")
    found = dict(weights)
    words = pooled(weights["table"], texts.words)[texts.word]
    x = np.concatenate([words, weights["space"][texts.space]], axis=1) @ weights["input"] + weights["input_bias"]
    work, i, taps = Workspace(x.dtype), shape.inner, shape.kernel
    for k, dilation in enumerate(shape.dilations):
        w, up = weights[f"block{k}"], weights[f"up{k}"]
        Z, _ = convolved(x, w, weights[f"bias{k}"], weights[f"down{k}"], dilation, texts.borders, work)
        h = work("H", len(x), taps * i)[:, taps // 2 * i : (taps // 2 + 1) * i]
        gated = Z[:, :i] * (0.5 + 0.5 * np.tanh(0.5 * Z[:, i:]))
        says = gated @ up
        kept = np.sort(np.argsort(-gated.std(axis=0) * np.linalg.norm(up, axis=1), kind="stable")[:inner])
        both = np.concatenate([kept, i + kept])
        found[f"bias{k}"] = weights[f"bias{k}"][both]
        into, out = _of_rank(h, np.concatenate(np.split(w[:, both], taps), axis=1), inner)
        found[f"down{k}"] = (weights[f"down{k}"] @ into).astype(w.dtype)
        found[f"block{k}"] = np.concatenate(np.split(out, taps, axis=1)).astype(w.dtype)
        found[f"up{k}"] = _fitted(gated[:, kept], says).astype(w.dtype)
        x += says
    return replace(shape, inner=inner), found


def _of_rank(h: Floats, w: Floats, rank: int) -> tuple[Floats, Floats]:
    """Return two matrices of which h A B is as near to h W as a product through so few numbers can be."""
    root = np.linalg.cholesky(_ridged(np.cov(h, rowvar=False))).T
    left, size, right = np.linalg.svd(root @ w, full_matrices=False)
    share = np.sqrt(size[:rank] + RIDGE)  # of the size: both matrices have about the same
    return np.linalg.solve(root, left[:, :rank]) * share, right[:rank] * (size[:rank] / share)[:, None]


def _fitted(inputs: Floats, targets: Floats) -> Floats:
    """Return the matrix that makes targets of inputs best, by least squares."""
    wide = inputs.astype(np.float64)
    found: Floats = np.linalg.solve(_ridged(wide.T @ wide), wide.T @ targets)
    return found


def _ridged(square: Floats) -> Floats:
    """Return a matrix with a little more on its diagonal."""
    wide = np.atleast_2d(np.array(square, np.float64))
    wide[np.diag_indices_from(wide)] += RIDGE * np.trace(wide) / len(wide) + 1e-12
    return wide
