"""Rules as sums over a chain: against the meaning of the rules and against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from chain_rules import LABELS, RULES, every_labelling, grounded_of, log_scores, random_batch, rule_sets, sentences
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.inference import path_scores, posterior
from espalier.learning.expectations import ChainFeatures, unusable
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees
from espalier.rules.ruleset import RuleSet

TAGS = ("B-a", "I-a", "B-b", "I-b", "O")


def features_of(text, labels=LABELS):
    return ChainFeatures.of(compile_rules(RuleSet.from_text(text), labels))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(rule_sets, sentences, st.integers(0, 10**6), st.sampled_from([LABELS, TAGS]))
def test_values_give_the_degrees_of_the_rules(text, tokens, seed, labels):
    grounded = grounded_of(text, tokens, labels)
    features, rules = grounded.features, grounded.features.compiled.rules
    y = np.random.default_rng(seed).integers(0, len(labels), grounded.indptr[-1])
    values, limits = grounded.values(y), grounded.limits()
    for i, words in enumerate(tokens):
        names = [labels[k] for k in y[grounded.indptr[i] : grounded.indptr[i + 1]]]
        over = np.maximum(values[i] - limits[i], 0.0) * (grounded.opportunities[i] > 0)
        found = np.bincount(features.rule, over, rules.K)
        assert found.tolist() == degrees(rules, words, names).tolist()
        assert (values[i] <= grounded.largest()[i]).all()


@settings(deadline=None, derandomize=True, max_examples=40)
@given(rule_sets, sentences, st.integers(0, 10**6), st.integers(1, 3), st.booleans())
def test_moved_potentials_and_their_expectations_equal_enumeration(text, tokens, seed, classes, apart):
    grounded = grounded_of(text, tokens)
    batch = random_batch(seed, tokens, classes=classes, forbid=True)
    N, J = len(tokens), grounded.features.J
    group = np.arange(N) if apart else np.zeros(N, np.int64)
    G = int(group.max()) + 1
    multipliers = np.random.default_rng(seed).uniform(-1, 3, (G, J))
    moved = grounded.move(batch, multipliers, group)
    found = posterior(moved.batch)
    expected, log_z, transitions = np.zeros((G, J)), np.zeros(N), np.zeros((classes, 3, 3))
    for i, words in enumerate(tokens):
        ys, values = every_labelling(grounded, i)
        scores = log_scores(batch[i], ys) - values @ multipliers[group[i]]
        weights = np.exp(scores)
        log_z[i] = np.log(weights.sum())
        q = weights / weights.sum()
        expected[group[i]] += q @ values
        for t in range(1, len(words)):
            for y, p in zip(ys, q, strict=True):
                transitions[batch.trans_class[batch.indptr[i] + t], y[t - 1], y[t]] += p
    np.testing.assert_allclose(found.log_z, log_z, atol=1e-9)
    np.testing.assert_allclose(grounded.expected(found, moved, group, G), expected, atol=1e-9)
    np.testing.assert_allclose(moved.unmoved(found, classes).transitions, transitions, atol=1e-9)


@settings(deadline=None, derandomize=True, max_examples=25)
@given(rule_sets, sentences, st.integers(0, 10**6))
def test_a_part_is_the_same_sequences_alone(text, tokens, seed):
    grounded, batch = grounded_of(text, tokens), random_batch(seed, tokens, classes=2)
    rng = np.random.default_rng(seed)
    chosen = np.flatnonzero(rng.random(len(tokens)) < 0.6)
    part, scores = grounded.part(chosen, batch)
    y = rng.integers(0, 3, grounded.indptr[-1])
    kept = np.concatenate([np.zeros(0, int), *(y[grounded.indptr[i] : grounded.indptr[i + 1]] for i in chosen)])
    np.testing.assert_array_equal(part.values(kept), grounded.values(y)[chosen])
    np.testing.assert_array_equal(path_scores(scores, kept), path_scores(batch, y)[chosen])


def test_opportunities_by_hand():
    text = "\n".join(RULES[:5]) + "\n" + RULES[7]
    grounded = grounded_of(text, [["x", "x", "y"], [".", "x"], []])
    names = grounded.features.names
    assert names == ["X", "First", "Change", "Once", "Once", "Some", "Gated"]
    # Two x, a first label, two changes that may not be; the counts apply, "Gated" where there is a y.
    assert grounded.opportunities[0].tolist() == [2, 1, 2, 1, 1, 1, 1]
    assert grounded.opportunities[1].tolist() == [1, 1, 0, 1, 1, 1, 0]
    assert grounded.opportunities[2].tolist() == [0] * 7
    # a . n <= b: one segment of a and of b at most, minus one of a at most minus one, one of b where it applies.
    assert grounded.limits(0.5)[0].tolist() == [1, 0.5, 1, 1.5, 1.5, -0.5, 1.5]
    assert grounded.limits()[1].tolist() == [0, 0, 0, 1, 1, -1, 0]
    assert grounded.limits([0, 1, 0, 0, 0, 0, 2])[0].tolist() == [0, 1, 0, 1, 1, -1, 3]


def test_unknown_labels_add_nothing():
    grounded = grounded_of("\n".join(RULES[:4]), [["x", "x", "x"]])
    # Known: b at the first x (X is violated); then nothing; then a: whether it opened is not known.
    assert grounded.values(np.array([1, -1, 0])).tolist() == [[1, 0, 0, 0, 1]]


def test_rules_without_sums_are_named():
    text = "Fine: first in a\nOrder: a before b\nLong: length(a) >= 3\nEither: a required or b required"
    compiled = compile_rules(RuleSet.from_text(text), LABELS)
    assert unusable(compiled) == ["Order", "Long", "Either"]
    assert ChainFeatures.of(compiled).names == ["Fine"]


def test_rules_that_are_off_or_never_violated_are_not_missed():
    text = "Off: first in a [penalty 0]\nGone: a before b [penalty 0]\nTrivial: length(a) >= 1\nOn: each field once"
    compiled = compile_rules(RuleSet.from_text(text), LABELS)
    assert unusable(compiled) == []
    assert set(ChainFeatures.of(compiled).names) == {"On"}


def test_a_rule_about_the_input_alone_teaches_nothing():
    compiled = compile_rules(RuleSet.from_text('Has: any token in "x"'), LABELS)
    assert unusable(compiled) == ["Has"]
    assert ChainFeatures.of(compiled).J == 0


def test_no_sequences_and_no_rules():
    grounded = features_of("\n".join(RULES)).ground(Corpus.from_tokens([]))
    assert grounded.limits().shape == (0, grounded.features.J)
    nothing = features_of("").ground(Corpus.from_tokens([["x"]]))
    assert nothing.opportunities.shape == (1, 0)
    batch = random_batch(0, [["x"]])
    np.testing.assert_array_equal(nothing.move(batch, np.zeros((1, 0))).batch.unary, batch.unary)


@pytest.mark.parametrize("rates", [-0.1, np.nan, [0.1, 0.2], np.inf])
def test_wrong_rates(rates):
    with pytest.raises(InputError, match="rates are"):
        grounded_of(RULES[0], [["x"]]).limits(rates)
