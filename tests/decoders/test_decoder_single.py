"""Without kernels: the same answers, bounds and probabilities as with them, of one sequence and of several."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_batch import PLAIN, RULES, TAGS, make

from espalier.corpus import Corpus
from espalier.decoders import batch as batches
from espalier.decoders import probabilities, single
from espalier.decoders.base import Problem
from espalier.decoders.batch import decode_batch
from espalier.decoders.probabilities import answer_probabilities
from espalier.papers.decoders import exhaustive
from espalier.potentials import ChainBatch
from espalier.rules import rules
from espalier.rules.compile import compile_rules

ORDER = {"Before": "a before b", "Length": "length(a) >= 2"}


def alone(batch: ChainBatch, i: int) -> ChainBatch:
    """Return sequence i of a batch as a batch of its own."""
    a, b = batch.indptr[i], batch.indptr[i + 1]
    own = (batch.unary[a:b], batch.trans, batch.trans_class[a:b], batch.start, batch.end)
    return ChainBatch(np.array([0, b - a]), *own)


def without_kernels(patch: pytest.MonkeyPatch) -> None:
    """Let no kernel be worth loading."""
    for module in (batches, probabilities):
        patch.setattr(module, "worth_loading", lambda n: False)


@pytest.fixture(params=[False, True], ids=["NumPy", "compiled"])
def loaded(request, monkeypatch):
    """Decode without kernels, then with them."""
    if not request.param:
        without_kernels(monkeypatch)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.integers(0, 10**6), st.sampled_from([PLAIN, TAGS]),
    st.lists(st.sampled_from(sorted(RULES)), min_size=1, max_size=5, unique=True), st.sampled_from([0.3, 2.0]),
    st.booleans(),
)  # fmt: skip
def test_the_answers_are_those_of_the_kernels(seed, labels, names, scale, hard):
    batch, corpus, compiled, penalties = make(seed, labels, names, scale, hard)
    among = decode_batch(batch, compiled, corpus, penalties)
    with pytest.MonkeyPatch.context() as patch:
        without_kernels(patch)
        together = decode_batch(batch, compiled, corpus, penalties)
        np.testing.assert_array_equal(together.labels, among.labels)
        np.testing.assert_allclose(together.scores, among.scores, atol=1e-9)
        for i in range(len(batch)):
            found = decode_batch(alone(batch, i), compiled, corpus[[i]], penalties)
            np.testing.assert_array_equal(found.labels, among.labels[batch.indptr[i] : batch.indptr[i + 1]])
            assert found.scores[0] == pytest.approx(among.scores[i], abs=1e-9)
            assert found.bounds[0] == pytest.approx(among.bounds[i], abs=1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_machines_charge_what_they_charge_among_others(seed, loaded):
    rng = np.random.default_rng(seed)
    compiled = compile_rules(
        rules("\n".join(f"{name}: {text} [penalty 1.5]" for name, text in ORDER.items()), labels=PLAIN.names), PLAIN
    )
    corpus = Corpus.from_tokens([["x"] * int(n) for n in rng.integers(1, 6, 6)])
    unary, L = rng.normal(size=(corpus.n_tokens, 3)), 3
    kinds = np.zeros(corpus.n_tokens, np.int32)
    batch = ChainBatch(corpus.indptr, unary, rng.normal(size=(1, L, L)), kinds, rng.normal(size=L), rng.normal(size=L))
    for i, grounded in enumerate(compiled.ground_corpus(corpus)):
        found = decode_batch(alone(batch, i), compiled, corpus[[i]])
        assert found.scores[0] == pytest.approx(exhaustive.decode(Problem(batch[i], grounded)).score, abs=1e-9)


def test_several_kinds_of_transitions(loaded):
    rng, T, L = np.random.default_rng(3), 7, 3
    compiled = compile_rules(rules("Once: each field once [penalty 1]\nC: change only after token in \",\" [hard]",
                                   labels=PLAIN.names), PLAIN)  # fmt: skip
    corpus = Corpus.from_tokens([["x", ",", "x", "x", ",", "x", "x"]])
    kinds = rng.integers(0, 2, T).astype(np.int32)
    trans = rng.normal(size=(2, L, L))
    batch = ChainBatch(corpus.indptr, 2 * rng.normal(size=(T, L)), trans, kinds, np.zeros(L), np.zeros(L))
    found = decode_batch(batch, compiled, corpus)
    best = exhaustive.decode(Problem(batch[0], compiled.ground_corpus(corpus)[0]))
    assert found.scores[0] == pytest.approx(best.score, abs=1e-9)
    assert best.labels is not None
    np.testing.assert_array_equal(found.labels, best.labels)


def test_what_stays_open_goes_to_the_search(monkeypatch):
    without_kernels(monkeypatch)
    batch, corpus, compiled, penalties = make(11, PLAIN, ["Most", "Least", "Same", "Tokens"], 2.0, False)
    monkeypatch.setattr(batches, "decode_single", lambda *_: None)
    among = decode_batch(batch, compiled, corpus, penalties)
    for i in range(len(batch)):
        found = decode_batch(alone(batch, i), compiled, corpus[[i]], penalties)
        assert found.scores[0] == pytest.approx(among.scores[i], abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_probabilities_are_those_among_others(seed, scale, loaded):
    rng, L = np.random.default_rng(seed), 5
    corpus = Corpus.from_tokens([["x"] * int(n) for n in rng.integers(1, 60, 9)])
    trans, start = rng.normal(size=(1, L, L)), rng.normal(size=L)
    trans[0, 1, 2] = start[3] = -np.inf
    unary = scale * rng.normal(size=(corpus.n_tokens, L))
    kinds = np.zeros(corpus.n_tokens, np.int32)
    batch = ChainBatch(corpus.indptr, unary, trans, kinds, start, rng.normal(size=L))
    y = rng.integers(0, L, corpus.n_tokens).astype(np.int16)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(probabilities, "worth_loading", lambda n: True)
        tokens, whole = answer_probabilities(batch, y)
    for i in range(len(batch)):
        part = slice(batch.indptr[i], batch.indptr[i + 1])
        own_tokens, own_whole = answer_probabilities(alone(batch, i), y[part])
        np.testing.assert_allclose(own_tokens, tokens[part], rtol=2e-7, atol=1e-12)  # one step of single precision
        assert own_whole[0] == pytest.approx(whole[i], rel=1e-9)


def test_scores_too_far_apart_are_refused():
    rng = np.random.default_rng(0)
    y = np.zeros(4, np.int16)
    assert single.posterior_single(400 * rng.normal(size=(4, 3)), np.zeros((3, 3)), np.zeros(3), np.zeros(3), y) is None
    nothing = np.full((4, 3), -np.inf)
    assert single.posterior_single(nothing, np.zeros((3, 3)), np.zeros(3), np.zeros(3), y) is None
