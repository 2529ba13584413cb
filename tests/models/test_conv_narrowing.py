"""Narrow nets: what is not needed goes without a trace, and of what is needed the most stays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_conv import random_input, random_net

import espalier as es
from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.models.conv import Workspace
from espalier.models.conv_gradients import forward
from espalier.models.conv_narrowing import narrowed

LENGTHS = [9, 1, 14, 30, 2] * 8


def widened(shape, weights, inner, seed=5):
    """The same net with numbers in its blocks that nothing comes of, in any order, and copies of others."""
    rng = np.random.default_rng(seed)
    i, taps, c = shape.inner, shape.kernel, shape.channels
    found = dict(weights)
    for k in range(len(shape.dilations)):
        order, more = rng.permutation(inner), inner - i
        w = weights[f"block{k}"].reshape(taps, i, 2, i)
        own = rng.normal(0, 0.5, (taps, i, 2, more))  # outputs that `up` drops
        inputs = rng.normal(0, 0.5, (i, more))  # inputs that are sums of others: their weights are taken back there
        rows = np.concatenate([w, own], axis=3)
        extra = rng.normal(0, 0.3, (taps, more, 2, inner))
        rows = np.concatenate([rows - np.einsum("im,tmjo->tijo", inputs, extra), extra], axis=1)
        found[f"block{k}"] = rows[:, order][..., order].reshape(taps * inner, 2 * inner)
        bias = np.concatenate([weights[f"bias{k}"].reshape(2, i), rng.normal(0, 0.2, (2, more))], axis=1)
        found[f"bias{k}"] = bias[:, order].reshape(-1)
        down = weights[f"down{k}"]
        found[f"down{k}"] = np.concatenate([down, down @ inputs], axis=1)[:, order]
        found[f"up{k}"] = np.concatenate([weights[f"up{k}"], np.zeros((more, c))])[order]
    return replace(shape, inner=inner), found


def scores(shape, weights, texts):
    return forward(weights, shape, texts, Workspace(weights["table"].dtype))[0]


@pytest.mark.parametrize("sizes", [{}, {"kernel": 5, "dilations": (2, 7)}, {"kernel": 1}])
def test_what_nothing_comes_of_goes_without_a_trace(sizes) -> None:
    shape, weights = random_net(channels=12, inner=4, **sizes)
    texts = random_input(LENGTHS, shape.buckets)
    wide_shape, wide = widened(shape, weights, 7)
    before = scores(shape, weights, texts)
    assert np.allclose(scores(wide_shape, wide, texts), before)  # it is the same net
    found_shape, found = narrowed(wide_shape, wide, 4, texts)
    assert found_shape == shape
    assert {name: w.shape for name, w in found.items()} == shape.sizes()
    assert np.abs(scores(found_shape, found, texts) - before).max() < 0.02 * before.std()


def test_narrower_nets_say_less_and_less() -> None:
    shape, weights = random_net(channels=12, inner=9)
    texts = random_input(LENGTHS, shape.buckets)
    before = scores(shape, weights, texts)
    errors = [np.abs(scores(*narrowed(shape, weights, n, texts), texts) - before).mean() for n in (8, 5, 1)]
    assert errors == sorted(errors)
    assert errors[0] < 0.2 * before.std()


@pytest.mark.parametrize("inner", [0, 4, 5, -1])
def test_what_is_not_narrower(inner) -> None:
    shape, weights = random_net(inner=4)
    with pytest.raises(InputError, match=r"blocks convolve 4 numbers cannot be narrowed to"):
        narrowed(shape, weights, inner, random_input([3], shape.buckets))


def test_without_texts() -> None:
    shape, weights = random_net(inner=4)
    with pytest.raises(InputError, match="no texts to narrow"):
        narrowed(shape, weights, 2, random_input([0], shape.buckets))


def test_a_narrow_net_is_a_prior() -> None:
    X = [["Ann", "in", "Ulm"], ["Bob", "of", "Rome"], ["Eve", "at", "Bonn"]] * 4
    y = [["who", "O", "where"]] * 12
    wide = es.ConvCRF(channels=16, inner=8, dilations=(1, 2), buckets=256, min_steps=200).fit(X, y)
    learned = wide.learned_.narrowed(3, Corpus.from_tokens(X))
    assert learned.shape.inner == 3
    narrow = es.ConvCRF(prior=learned, min_steps=50).fit(X, y)
    assert narrow.net_.shape == learned.shape
    assert narrow.predict(X[:3]) == y[:3]
