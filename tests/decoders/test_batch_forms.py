"""Batch decoding with several transition matrices, lengths, order and any other rule, against enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from count_problems import VOCABULARIES, all_nodes
from espalier.corpus import Corpus, Labels
from espalier.decoders.base import Problem, evaluate
from espalier.decoders.batch import CountDecoder, decode_batch, fold
from espalier.decoders.counts import CUT_STATES, Conditions, CountForm, Cut, Parts
from espalier.errors import InputError
from espalier.papers.decoders import exhaustive
from espalier.potentials import ChainBatch
from espalier.rules import rules
from espalier.rules.compile import compile_rules
from espalier.rules.ruleset import Rule, RuleSet

PLAIN = Labels(["a", "b", "c"])
RULES = {
    "Once": "each field once",
    "Change": "change only after token in \",\"",
    "Word": "token in \"x\" -> a",
    "Most": "count(a) + count(b) <= 1",
    "Least": "c required",
    "Difference": "count(a) - count(b) <= 0",
    "Long": "length(each field) >= 2",
    "Short": "length(a) <= 2",
    "Exact": "length(b) == 2",
    "Gated": "if any token in \"x\" then length(b) >= 3",
    "Next": "token in \"y\" -> next b",
    "Order": "a before b",
    "Other": "c before a",
    "Excludes": "a excludes c",
    "Requires": "b requires c",
    "Later": "a followed later by b",
    "Either": "a required or length(c) >= 2",
}  # fmt: skip


def random_batch(rng, L, n_classes, allowed=None, scale=1.0, most=6):
    """Draw tokens and potentials with several transition matrices; first tokens have classes that nobody may use."""
    lengths = rng.integers(0, most, int(rng.integers(1, 12)))
    corpus = Corpus.from_tokens([rng.choice(["x", "y", ",", "z"], n).tolist() for n in lengths])
    start_ok, trans_ok = (np.ones(L, bool), np.ones((L, L), bool)) if allowed is None else allowed
    classes = rng.integers(0, n_classes, corpus.n_tokens).astype(np.int32)
    classes[corpus.indptr[:-1][lengths > 0]] = n_classes
    batch = ChainBatch(
        corpus.indptr,
        rng.normal(size=(corpus.n_tokens, L)) * scale,
        np.where(trans_ok, rng.normal(size=(n_classes, L, L)), -np.inf),
        classes if n_classes > 1 else np.zeros(corpus.n_tokens, np.int32),
        np.where(start_ok, rng.normal(size=L), -np.inf),
        rng.normal(size=L),
    )
    return batch, corpus


def check(found, batch, compiled, corpus, penalties):
    """Every sequence is proven optimal, and its labels have the score of the best of all labellings."""
    for i, grounded in enumerate(compiled.ground_corpus(corpus)):
        problem = Problem(batch[i], grounded, penalties)
        best = exhaustive.decode(problem)
        if best.labels is None:
            assert found.scores[i] == -math.inf
            continue
        assert found.scores[i] == pytest.approx(best.score, abs=1e-9)
        assert found.settled[i]
        y = found.labels[batch.indptr[i] : batch.indptr[i + 1]]
        assert evaluate(problem, y).score == pytest.approx(best.score, abs=1e-9)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.integers(0, 10**6), st.integers(1, 3), st.lists(st.sampled_from(sorted(RULES)), max_size=5, unique=True),
    st.sampled_from([0.3, 2.0]), st.booleans(),
)  # fmt: skip
def test_equals_enumeration(seed, n_classes, names, scale, hard):
    rng = np.random.default_rng(seed)
    batch, corpus = random_batch(rng, 3, n_classes, scale=scale)
    ruleset = rules("\n".join(f"{name}: {RULES[name]}" for name in names), labels=PLAIN) if names else RuleSet([])
    penalties = rng.choice([0.0, 0.5, 2.0, np.inf] if hard else [0.0, 0.5, 2.0, 5.0], len(names))
    compiled = compile_rules(ruleset, PLAIN)
    found = decode_batch(batch, compiled, corpus, penalties, max_rounds=int(seed % 4))
    check(found, batch, compiled, corpus, penalties)


@settings(deadline=None, derandomize=True, max_examples=50)
@given(
    st.integers(0, 10**6), st.sampled_from(VOCABULARIES), st.integers(1, 2),
    st.lists(st.tuples(all_nodes, st.sampled_from([0.5, 1.25, 4.0, math.inf]), st.booleans()), min_size=1, max_size=3),
)  # fmt: skip
def test_any_rules_on_any_labels(seed, vocabulary, n_classes, drawn):
    labels = Labels(vocabulary)
    batch, corpus = random_batch(np.random.default_rng(seed), len(labels), n_classes, labels.allowed(), most=5)
    compiled = compile_rules(RuleSet(Rule(f"r{k}", *each) for k, each in enumerate(drawn)), labels)
    found = decode_batch(batch, compiled, corpus)
    check(found, batch, compiled, corpus, None)


def test_lengths_are_folded_and_counts_still_fit():
    batch, corpus = random_batch(np.random.default_rng(0), 3, 2)
    compiled = compile_rules(
        rules("\n".join(f"{n}: {RULES[n]}" for n in ("Long", "Once", "Change")), labels=PLAIN), PLAIN
    )
    rho = np.array([1.0, 2.0, 3.0])
    folded = fold(batch, compiled, rho, Conditions.of(compiled.ground_bits(corpus)))
    assert sorted(folded.labels.tolist()) == [0, 0, 1, 1, 2, 2]  # runs of one token, and of more
    assert set(folded.rules) == {0, 2}  # a change of state is no change of label, so that rule moves, too
    chain = folded.batch
    form = CountForm.of(compiled, rho, chain.trans, chain.start, labels=folded.labels, folded=folded.rules)
    assert form.rest == ()


def test_rules_that_look_far_are_not_folded():
    batch, corpus = random_batch(np.random.default_rng(0), 3, 1)
    compiled = compile_rules(rules("Order: a before b [hard]", labels=PLAIN), PLAIN)
    folded = fold(batch, compiled, compiled.check_penalties(None), Conditions.of(compiled.ground_bits(corpus)))
    assert folded.batch is batch
    assert folded.rules == ()


def test_a_lost_machine_never_charges_too_much():
    compiled = compile_rules(rules("Excludes: a excludes b [hard]", labels=PLAIN), PLAIN)
    machine = compiled.machines[0]
    everything = [True] * len(compiled.conditions)
    cut = Cut.of(machine, frozenset(range(len(everything))), 3)
    assert len(cut.known) < CUT_STATES
    rng = np.random.default_rng(0)
    for n in (2, 5, 60):
        y = [*rng.choice([1, 2], n).tolist(), 0]
        totals = []
        for reader in (machine, cut):
            state, total, i = reader.initial, 0, -1
            for j in y:
                state, charged = reader.step(state, everything, i, j)
                total, i = total + charged, j
            totals.append(total + max(reader.final(state), 0))
        assert totals[1] <= totals[0]
        assert totals[1] == totals[0] or n == 60


def test_an_answer_on_which_a_machine_gets_lost_is_left_to_the_general_way():
    T = 60
    corpus = Corpus.from_tokens([["x"] * T])
    unary = np.zeros((T, 3))
    unary[np.arange(T - 1), np.arange(T - 1) % 2 + 1] = 10.0  # b c b c ...
    unary[-1, 0] = 10.0  # ... a
    batch = ChainBatch(corpus.indptr, unary, np.zeros((1, 3, 3)), np.zeros(T, np.int32), np.zeros(3), np.zeros(3))
    compiled = compile_rules(rules("Excludes: a excludes b [penalty 0.1]", labels=PLAIN), PLAIN)
    found = decode_batch(batch, compiled, corpus)
    # Thirty segments of b cost 3 if there is an a; a costs 10 to avoid.
    assert found.scores[0] == pytest.approx(10.0 * T - 3.0)
    assert found.settled[0]


def test_rules_with_too_many_conditions_take_the_general_way():
    parts = " or ".join(f'(token in "{w}" -> next a)' for w in "xyzuvwpqr")
    compiled = compile_rules(rules(f"Any: {parts}\nOrder: b before a", labels=PLAIN), PLAIN)
    rho = np.array([1.0, 2.0])
    batch, corpus = random_batch(np.random.default_rng(3), 3, 2)
    assert Parts.of(compiled, rho, [0, 1]).rest == (0,)
    check(decode_batch(batch, compiled, corpus, rho), batch, compiled, corpus, rho)


@pytest.mark.parametrize("max_nodes", [0, 1, 3, 20])
def test_bounds_hold_when_the_search_is_cut_short(max_nodes):
    rng = np.random.default_rng(1)
    batch, corpus = random_batch(rng, 3, 2, scale=0.3)
    names = ("Once", "Order", "Other", "Excludes", "Least")
    compiled = compile_rules(rules("\n".join(f"{n}: {RULES[n]}" for n in names), labels=PLAIN), PLAIN)
    rho = np.full(5, 2.0)
    found = decode_batch(batch, compiled, corpus, rho, max_rounds=1, max_nodes=max_nodes)
    full = decode_batch(batch, compiled, corpus, rho)
    assert full.settled.all()
    assert (found.bounds >= full.scores - 1e-9).all()
    assert (found.scores <= full.scores + 1e-9).all()


def test_threads_do_not_change_the_answer():
    batch, corpus = random_batch(np.random.default_rng(2), 3, 3)
    names = ("Once", "Order", "Long", "Change")
    compiled = compile_rules(rules("\n".join(f"{n}: {RULES[n]}" for n in names), labels=PLAIN), PLAIN)
    one, two = (decode_batch(batch, compiled, corpus, np.full(4, 1.5), threads=t) for t in (1, 2))
    assert np.array_equal(one.labels, two.labels)
    assert np.array_equal(one.scores, two.scores)


def test_several_matrices_need_the_class_of_every_token():
    batch, corpus = random_batch(np.random.default_rng(2), 3, 3)
    compiled = compile_rules(rules("Once: each field once [hard]", labels=PLAIN), PLAIN)
    decoder = CountDecoder.of(compiled, compiled.check_penalties(None), batch.trans, batch.start, batch.end)
    conditions = Conditions.of(compiled.ground_bits(corpus))
    with pytest.raises(InputError, match="3 transition matrices; pass the class"):
        decoder.decode(batch.indptr, batch.unary, conditions)


def test_labels_that_the_rules_do_not_know_are_an_error():
    batch, corpus = random_batch(np.random.default_rng(2), 4, 1)
    compiled = compile_rules(rules("Once: each field once [hard]", labels=PLAIN), PLAIN)
    with pytest.raises(InputError, match="potentials of 4 labels, but rules for 3"):
        decode_batch(batch, compiled, corpus)
