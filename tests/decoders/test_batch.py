"""Batch decoding under counting rules against enumeration, and against the general way."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus, Labels
from espalier.decoders import batch as batch_module
from espalier.decoders.base import Problem, Problems
from espalier.decoders.batch import decode_batch
from espalier.decoders.conflict import relaxed
from espalier.decoders.counts import CountForm
from espalier.errors import InputError
from espalier.papers.decoders import exhaustive
from espalier.potentials import ChainBatch, Potentials
from espalier.rules import rules
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees

PLAIN = Labels(["a", "b", "c"])
TAGS = Labels(["B-a", "I-a", "B-b", "I-b", "O"])

RULES = {
    "Start": "first in a, b",
    "Once": "each field once",
    "Change": "change only after token in \",\"",
    "Word": "token in \"x\" -> a",
    "Not": "token in \"y\" -> not b",
    "Most": "count(a) + count(b) <= 1",
    "Least": "count(b) >= 1",
    "Same": "count(a) == count(b)",
    "None": "count(b) <= 0",
    "Tokens": "tokens(a) <= 2",
    "Gated": "if any token in \"x\" then count(b) >= 1",
    "Unless": "if not any token in \"x\" then count(b) >= 1",
    "Difference": "count(a) - count(b) <= 0",
}  # fmt: skip


def make(seed, labels, names, scale, hard):
    """Draw a batch, its tokens and a rule set with prices."""
    rng = np.random.default_rng(seed)
    L = len(labels)
    lengths = rng.integers(0, 6 if L <= 3 else 5, int(rng.integers(1, 12)))
    tokens = [rng.choice(["x", "y", ",", "z"], n).tolist() for n in lengths]
    corpus = Corpus.from_tokens(tokens)
    start_ok, trans_ok = labels.allowed()
    unary = rng.normal(size=(corpus.n_tokens, L)) * scale
    trans = np.where(trans_ok, rng.normal(size=(L, L)), -np.inf)
    start = np.where(start_ok, rng.normal(size=L), -np.inf)
    batch = ChainBatch(
        corpus.indptr, unary, trans[None], np.zeros(corpus.n_tokens, np.int32), start, rng.normal(size=L)
    )
    chosen = [name for name in names if labels is PLAIN or name != "Change"]
    ruleset = rules("\n".join(f"{name}: {RULES[name]}" for name in chosen), labels=labels.names)
    penalties = rng.choice([0.0, 0.5, 2.0, np.inf] if hard else [0.0, 0.5, 2.0, 5.0], len(chosen))
    return batch, corpus, compile_rules(ruleset, labels), penalties


@settings(deadline=None, derandomize=True, max_examples=45)
@given(
    st.integers(0, 10**6), st.sampled_from([PLAIN, TAGS]),
    st.lists(st.sampled_from(sorted(RULES)), min_size=1, max_size=5, unique=True), st.sampled_from([0.3, 2.0]),
    st.booleans(),
)  # fmt: skip
def test_equals_enumeration_and_is_proven(seed, labels, names, scale, hard):
    batch, corpus, compiled, penalties = make(seed, labels, names, scale, hard)
    assert CountForm.of(compiled, compiled.check_penalties(penalties), batch.trans[0], batch.start).rest == ()
    found = decode_batch(batch, compiled, corpus, penalties, max_rounds=int(seed % 4))
    for i, grounded in enumerate(compiled.ground_corpus(corpus)):
        best = exhaustive.decode(Problem(batch[i], grounded, penalties))
        if best.labels is None:
            assert found.scores[i] == -np.inf
            assert not found.settled[i]
            continue
        assert found.scores[i] == pytest.approx(best.score, abs=1e-9)
        assert found.settled[i]
        y = found.labels[batch.indptr[i] : batch.indptr[i + 1]]
        again = exhaustive.decode(Problem(batch[i].clamp({t: int(j) for t, j in enumerate(y)}), grounded, penalties))
        assert again.score == pytest.approx(best.score, abs=1e-9)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.integers(0, 10**6), st.sampled_from([PLAIN, TAGS]),
    st.lists(st.sampled_from(sorted({*RULES} - {"Change"})), max_size=3, unique=True), st.booleans(), st.booleans(),
)  # fmt: skip
def test_lanes_change_no_bit_of_an_answer(seed, labels, names, hard, whole):
    batch, corpus, compiled, penalties = make(seed, labels, names, 0.5, hard)
    forbidden = np.random.default_rng(seed).random(batch.unary.shape) < 0.2
    scores = np.round(batch.unary) if whole else batch.unary  # whole numbers tie
    batch = batch.with_unary(np.where(forbidden, -np.inf, scores))
    found = []
    for least in ((1, 1), (10**9, 1)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batch_module, "LANES_FROM", least)
            patch.setattr(batch_module, "worth_loading", lambda _: True)
            found.append(decode_batch(batch, compiled, corpus, penalties, threads=1))
    for name in ("labels", "scores", "bounds", "rounds", "nodes"):
        assert np.array_equal(getattr(found[0], name), getattr(found[1], name)), name


def test_bounds_hold_when_the_search_is_cut_short():
    for seed in range(30):
        batch, corpus, compiled, penalties = make(seed, PLAIN, ["Once", "Same", "Difference"], 0.3, False)
        found = decode_batch(batch, compiled, corpus, penalties, max_rounds=1, max_nodes=0)
        full = decode_batch(batch, compiled, corpus, penalties)
        assert (found.bounds >= full.scores - 1e-9).all()
        assert (found.scores <= full.scores + 1e-9).all()


def test_hard_rules_that_exclude_each_other_are_found_out_soon():
    wanted = rules("Few: count(a) <= 1 [hard]\nMany: count(a) + count(b) >= 4 [hard]\nNo: count(b) <= 2 [hard]")
    compiled, found = compile_rules(wanted, Labels(["a", "b", "O"])), []
    for seed in range(12):
        corpus = Corpus.from_tokens([["x"] * 9] * 3)
        scores = np.random.default_rng(seed).normal(0, 3, (3, 9, 3))
        batch = ChainBatch.of([Potentials(one) for one in scores])
        found.append(decode_batch(batch, compiled, corpus))
        labels = relaxed(Problems.of(batch, compiled, corpus))
        for y in labels:  # three segments are allowed and four are wanted
            assert degrees(wanted, ["x"] * 9, [compiled.labels[j] for j in y]).sum() == 1
    assert all(np.isneginf(one.bounds).all() for one in found)
    rounds, nodes = (np.concatenate([getattr(one, name) for one in found]) for name in ("rounds", "nodes"))
    soon = rounds <= 7
    assert soon.mean() >= 0.9
    assert nodes[soon].max() == 0


def test_threads_do_not_change_the_answer():
    batch, corpus, compiled, penalties = make(5, PLAIN, ["Once", "Word", "Change"], 0.5, False)
    one, two = (decode_batch(batch, compiled, corpus, penalties, threads=t) for t in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.scores, two.scores)


def test_rules_that_do_not_only_count_take_the_general_way():
    corpus = Corpus.from_tokens([["x", "y", "z"], []])
    rng = np.random.default_rng(0)
    batch = ChainBatch(
        corpus.indptr, rng.normal(size=(3, 3)), np.zeros((1, 3, 3)), np.zeros(3, np.int32), np.zeros(3), np.zeros(3)
    )
    compiled = compile_rules(rules("Order: a before b [hard]\nLong: length(c) >= 2 [penalty 3]", labels=PLAIN), PLAIN)
    assert CountForm.of(compiled, compiled.check_penalties(None), batch.trans[0], batch.start).rest == (0, 1)
    found = decode_batch(batch, compiled, corpus)
    for i, grounded in enumerate(compiled.ground_corpus(corpus)):
        assert found.scores[i] == pytest.approx(exhaustive.decode(Problem(batch[i], grounded)).score)
    assert found.settled.all()


def test_a_corpus_of_other_lengths_is_an_error():
    batch, _, compiled, penalties = make(0, PLAIN, ["Once"], 1.0, False)
    with pytest.raises(InputError, match="of other lengths"):
        decode_batch(batch, compiled, Corpus.from_tokens([["x"]]), penalties)


@pytest.mark.parametrize("max_nodes", [1, 3, 5])
def test_a_search_smaller_than_the_labels_ends(max_nodes):
    labels = Labels([f"l{k}" for k in range(5)])
    ruleset = rules("A: count(l0) + count(l1) <= 1 [hard]\nB: count(l1) - count(l0) <= 0 [hard]", labels=labels.names)
    rng = np.random.default_rng(0)
    corpus = Corpus.from_tokens([["x"] * 8] * 20)
    batch = ChainBatch(
        corpus.indptr, rng.normal(size=(160, 5)), np.zeros((1, 5, 5)), np.zeros(160, np.int32), np.zeros(5), np.zeros(5)
    )
    compiled = compile_rules(ruleset, labels)
    found = decode_batch(batch, compiled, corpus, max_rounds=0, max_nodes=max_nodes)
    full = decode_batch(batch, compiled, corpus)
    assert (found.bounds >= full.scores - 1e-9).all()


def test_scores_of_another_type_give_the_same_answer():
    batch, corpus, compiled, penalties = make(5, PLAIN, ["Once", "Word"], 0.5, False)
    single = ChainBatch(
        batch.indptr, batch.unary.astype(np.float32), batch.trans.astype(np.float32), batch.trans_class,
        batch.start.astype(np.float32), batch.end.astype(np.float32),
    )  # fmt: skip
    one, two = (decode_batch(b, compiled, corpus, penalties) for b in (batch, single))
    np.testing.assert_allclose(one.scores, two.scores, atol=1e-5)


def test_what_a_batch_took_is_given_back_at_once():
    """No cycle holds the scores of a batch until the garbage collector comes."""
    broken = 0
    gc.disable()
    try:
        for seed in range(10):
            batch, corpus, compiled, _ = make(seed, PLAIN, ["Once", "Same", "Least"], 0.3, False)
            scores = weakref.ref(batch.unary)
            broken += int((decode_batch(batch, compiled, corpus, np.full(3, 2.0)).rounds > 1).sum())
            del batch
            assert scores() is None
    finally:
        gc.enable()
    assert broken
