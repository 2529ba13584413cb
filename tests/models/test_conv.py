"""The net: its gradients against finite differences, and its scores against a loop over tokens."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.hashed import GROUPS, hashed_words
from espalier.models.conv import TINY, Borders, ConvShape, NetInput, ScoringNet, Workspace, initial
from espalier.models.conv_gradients import Dropout, SomeRows, backward, forward

SHARES = (0.3, 0.1, 0.3, 0.1, 0.3)
WORDS = ("Smith", "J.", "1999", ",", "the", "of", "A", "Überfahrt")


def random_net(seed=0, dtype=np.float64, **sizes):
    shape = ConvShape(**{"labels": 4, "channels": 6, "dilations": (1, 2, 4), "embedding": 4, "buckets": 61} | sizes)
    rng = np.random.default_rng(seed)
    weights = initial(shape, rng, dtype)
    for w in weights.values():
        w += rng.normal(0, 0.2, w.shape).astype(dtype)
    return shape, weights


def random_input(lengths, buckets, seed=1):
    rng = np.random.default_rng(seed)
    lengths = np.array(lengths)
    used, word = np.unique(rng.integers(0, len(WORDS), lengths.sum()), return_inverse=True)
    words = hashed_words([WORDS[k] for k in used], buckets)
    return NetInput(words, word, rng.integers(0, 3, lengths.sum()).astype(np.uint8), Borders(lengths))


def naive_scores(weights, shape, sequences, spaces):
    """The formulas of the module, token by token."""
    found = []
    for words, space in zip(sequences, spaces, strict=True):
        x = []
        for word, gap in zip(words, space, strict=True):
            ids = hashed_words([word], shape.buckets)
            groups = np.split(weights["table"][ids.ids], np.cumsum(ids.sizes[0])[:-1])
            sums = [group.sum(axis=0) for group in groups]
            sums[-1] = sums[-1] / np.sqrt(len(groups[-1]))
            x.append(np.concatenate([*sums, weights["space"][gap]]) @ weights["input"] + weights["input_bias"])
        for k, dilation in enumerate(shape.dilations):
            h = [(v - v.mean()) / np.sqrt(v.var() + TINY) for v in x]
            half = shape.kernel // 2
            for t in range(len(x)):
                near = [t + (j - half) * dilation for j in range(shape.kernel)]
                lowered = [v @ weights[f"down{k}"] for v in h] if shape.inner else h
                taps = [lowered[s] if 0 <= s < len(h) else np.zeros(shape.convolved) for s in near]
                z = np.concatenate(taps) @ weights[f"block{k}"] + weights[f"bias{k}"]
                a, g = np.split(z, 2)
                gated = a / (1 + np.exp(-g))
                x[t] = x[t] + (gated @ weights[f"up{k}"] if shape.inner else gated)
        found += [v @ weights["output"] + weights["output_bias"] for v in x]
    return np.array(found)


SIZES = [{}, {"kernel": 5, "dilations": (2, 7)}, {"kernel": 1, "labels": 1}, {"dilations": ()}, {"inner": 3}]


@pytest.mark.parametrize("sizes", SIZES)
def test_gradients_are_finite_differences(sizes) -> None:
    shape, weights = random_net(**sizes)
    batch = random_input([7, 1, 12, 3], shape.buckets)
    slope = np.random.default_rng(2).normal(size=(23, shape.labels))

    def value() -> float:
        scores, _ = forward(weights, shape, batch, Workspace(np.float64), Dropout(np.random.default_rng(3), *SHARES))
        return float((scores * slope).sum())

    work = Workspace(np.float64)
    _, kept = forward(weights, shape, batch, work, Dropout(np.random.default_rng(3), *SHARES))
    found = backward(weights, shape, batch, slope, kept, work)
    assert set(found) == set(weights) - {"trans", "start", "end"}
    for name, gradient in found.items():
        full = gradient
        if isinstance(gradient, SomeRows):
            full = np.zeros_like(weights[name])
            full[gradient.places] = gradient.values
        some = np.random.default_rng(4).permutation(full.size)[:40]
        for i in some.tolist():
            old, step = weights[name].flat[i], 1e-6
            weights[name].flat[i] = old + step
            up = value()
            weights[name].flat[i] = old - step
            down = value()
            weights[name].flat[i] = old
            assert full.flat[i] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-7), (name, i)


def test_every_token_of_the_table_that_occurs_has_a_gradient() -> None:
    shape, weights = random_net()
    batch = random_input([5, 9], shape.buckets)
    work = Workspace(np.float64)
    _, kept = forward(weights, shape, batch, work, Dropout(np.random.default_rng(0), 0, 0, 0, 0, 0))
    rows = backward(weights, shape, batch, np.ones((14, shape.labels)), kept, work)["table"]
    assert rows.places.tolist() == sorted(set(batch.words.ids.tolist()))


@pytest.mark.parametrize("sizes", [{}, {"kernel": 5, "dilations": (2, 40)}, {"dilations": ()}, {"inner": 9}])
def test_scores_are_those_of_a_loop_over_tokens(sizes) -> None:
    shape, weights = random_net(**sizes)
    rng = np.random.default_rng(5)
    sequences = [[WORDS[k] for k in rng.integers(0, len(WORDS), n)] for n in (1, 6, 0, 11)]
    unknown = [[0] * len(words) for words in sequences]
    expected = naive_scores(weights, shape, sequences, unknown)
    single = {name: w.astype(np.float32) for name, w in weights.items()}
    found = ScoringNet(shape, single).scores(Corpus.from_tokens(sequences))
    np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)
    batch = random_input([3, 9], shape.buckets)
    scores, _ = forward(weights, shape, batch, Workspace(np.float64))
    used = np.split(batch.words.ids, np.cumsum(batch.words.sizes.sum(axis=1))[:-1])
    known = {tuple(hashed_words([w], shape.buckets).ids.tolist()): w for w in WORDS}
    words = [known[tuple(used[k].tolist())] for k in batch.word]
    spaces = [batch.space[:3].tolist(), batch.space[3:].tolist()]
    np.testing.assert_allclose(scores, naive_scores(weights, shape, [words[:3], words[3:]], spaces), rtol=1e-9)


@pytest.mark.parametrize("inner", [0, 9])
def test_a_large_mean_of_the_channels_costs_no_digits(inner) -> None:
    shape, weights = random_net(inner=inner)
    weights["input_bias"] += 1000
    sequences = [["the", "of", "1999", "Smith"]]
    found = ScoringNet(shape, {name: w.astype(np.float32) for name, w in weights.items()})
    exact = {name: w.astype(np.float32).astype(np.float64) for name, w in weights.items()}
    expected = naive_scores(exact, shape, sequences, [[0] * 4])
    np.testing.assert_allclose(found.scores(Corpus.from_tokens(sequences)), expected, rtol=2e-5)


def several(seed, n=40):
    """Sequences of made-up words, few of them and many."""
    rng = np.random.default_rng(seed)
    return [[f"{WORDS[k % len(WORDS)]}{k}" for k in rng.integers(0, 90, rng.integers(1, 9))] for _ in range(n)]


def test_the_memory_of_words_is_bounded_and_changes_no_score(monkeypatch) -> None:
    shape, weights = random_net(inner=5, dtype=np.float32)
    corpora = [Corpus.from_tokens(several(seed)) for seed in range(6)]
    expected = [ScoringNet(shape, weights).scores(corpus) for corpus in corpora]
    monkeypatch.setattr("espalier.models.conv.MEMORY", 60 * shape.channels)
    net, sizes = ScoringNet(shape, weights), []
    for corpus, scores in zip(corpora, expected, strict=True):
        np.testing.assert_allclose(net.scores(corpus), scores, rtol=1e-4, atol=1e-4)
        sizes.append(len(net._memory[0].row))
    assert max(sizes) <= 60
    assert len(net._memory[0].vectors) == 60
    assert 0 in sizes, "there was no room, so it began anew"


def test_a_text_alone_has_the_scores_that_it_has_among_others() -> None:
    """Neighbours of one short text are remembered by its length; those of several, or of a long one, are not."""
    shape, weights = random_net(inner=5, dtype=np.float32, dilations=(1, 3, 7))
    net, lengths = ScoringNet(shape, weights), [1, 2, 9, 9, 127, 128, 129, 300]
    sequences = [[f"{WORDS[k % len(WORDS)]}" for k in range(n)] for n in lengths]
    together = net.scores(Corpus.from_tokens(sequences))
    for _ in range(2):
        apart = [net.scores(Corpus.from_tokens([sequence])) for sequence in sequences]
        np.testing.assert_allclose(np.concatenate(apart), together, rtol=1e-4, atol=1e-4)


def test_threads_share_the_memory_of_words(monkeypatch) -> None:
    shape, weights = random_net(inner=5, dtype=np.float32)
    corpora = [Corpus.from_tokens(several(seed, 8)) for seed in range(60)]
    expected = [ScoringNet(shape, weights).scores(corpus) for corpus in corpora]
    monkeypatch.setattr("espalier.models.conv.MEMORY", 80 * shape.channels)
    net = ScoringNet(shape, weights)
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda corpus: net.scores(corpus, 1), corpora))
    for one, scores in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, scores, rtol=1e-4, atol=1e-4)


def test_hidden_numbers_are_made_up_for() -> None:
    dropout = Dropout(np.random.default_rng(0), *SHARES)
    drawn = dropout.kept(0.25, np.empty((400, 500), np.float32))
    assert set(np.unique(drawn)) == {np.float32(0), np.float32(4 / 3)}
    assert drawn.mean() == pytest.approx(1, abs=0.01)


def test_input_has_three_groups_and_spaces() -> None:
    shape = ConvShape(3, embedding=5)
    assert shape.sizes()["input"] == (GROUPS * 5 + 16, 128)


@pytest.mark.parametrize(
    ("sizes", "what"),
    [
        ({"channels": 0}, "channels is 0"),
        ({"kernel": 2}, "kernel is 2"),
        ({"dilations": (0,)}, "dilations are"),
        ({"buckets": True}, "buckets is True"),
    ],
)
def test_shapes_that_are_none(sizes, what) -> None:
    with pytest.raises(InputError, match=what):
        ConvShape(2, **sizes)
