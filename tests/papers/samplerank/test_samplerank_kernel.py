"""The parts of the SampleRank kernel: what a change makes locally is what scoring both labellings in full makes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.corpus import Corpus, Labels
from espalier.metrics import segment_scores
from espalier.papers.samplerank.kernels import (
    TIE,
    TruthCounts,
    count_segments,
    loss_change,
    propose,
    row_sums,
    rule_change,
    segment_ends,
    step_change,
    token_change,
    uniform,
)
from espalier.papers.samplerank.training import RuleTables, SegmentTables
from espalier.rules.compile import compile_rules
from espalier.rules.meaning import degrees
from espalier.rules.ruleset import RuleSet
from feature_matrices import random_matrix
from oracles import chain_score
from strategies import chains

relaxed = settings(deadline=None, derandomize=True, max_examples=100)
PLAIN = Labels(["O", "x", "y"])
TAGS = Labels(["B-x", "B-y", "I-x", "I-y", "O"])
PATHS = Labels(["B-a", "B-a/B-x", "I-a", "I-a/B-x", "I-a/I-x", "O"])
RULES = RuleSet.from_text(
    """
    Start:   first in x
    Once:    each field once
    Change:  change only after is punctuation
    Word:    token in "a", "b" -> x                     [penalty 0.5]
    Next:    token in "a" -> next y                     [penalty 3]
    Most:    count(x) + count(y) <= 2
    Some:    tokens(y) >= 2                             [penalty 0.25]
    Given:   if text ~ /c/ then count(y) == 1           [hard]
    """
)
COMPILED = compile_rules(RULES, PLAIN)


def numbers(L: int, T: int, least: int = 0) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.integers(least, L - 1), min_size=T, max_size=T).map(lambda y: np.array(y, np.int16))


@st.composite
def changes(draw: st.DrawFn, L: int, T: int) -> tuple[np.ndarray, np.ndarray, int, int]:
    """Draw two labellings of T tokens that differ in lo..hi-1 at most."""
    y, z = draw(numbers(L, T)), draw(numbers(L, T))
    lo = draw(st.integers(0, T - 1))
    hi = draw(st.integers(lo + 1, T))
    z[:lo], z[hi:] = y[:lo], y[hi:]
    return y, z, lo, hi


@relaxed
@given(chains(min_tokens=1), st.data())
def test_step_change(potentials, data) -> None:
    if potentials.trans.ndim == 3:
        return  # a model has one transition matrix
    y, z, lo, hi = data.draw(changes(potentials.n_labels, potentials.n_tokens))
    steps = replace(potentials, unary=np.zeros_like(potentials.unary))
    before, after = chain_score(steps, y.tolist()), chain_score(steps, z.tolist())
    if before > -np.inf:
        found = step_change(lo, hi, y, z, steps.trans, steps.start, steps.end)
        assert found == pytest.approx(after - before, abs=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_token_change(weighted: bool) -> None:
    rng = np.random.default_rng(3)
    for _ in range(30):
        L = int(rng.integers(1, 5))
        m = random_matrix(rng, weighted=weighted)
        w = rng.normal(size=m.n_attributes * L)
        scores = m.to_csr() @ w.reshape(-1, L)
        for t in range(m.n_tokens):
            old, new = rng.integers(0, L, 2)
            found = token_change(t, old, new, m.levels, L, w)
            assert found == pytest.approx(scores[t, new] - scores[t, old], abs=1e-9)


@relaxed
@given(st.sampled_from([PLAIN, TAGS, PATHS]), st.integers(1, 8), st.data())
def test_loss_change(labels: Labels, T: int, data) -> None:
    y, z, lo, hi = data.draw(changes(len(labels), T))
    gold = data.draw(numbers(len(labels), T, least=-1))
    tables = SegmentTables.of(labels)
    ends, counts, new_counts = np.zeros(T, np.int64), np.zeros(3, np.int64), np.zeros(3, np.int64)
    segment_ends(gold, gold, tables.field, tables.opens, ends)
    counts[2] = (ends >= 0).sum()
    counts[:2] = count_segments(0, T, y, gold, tables.field, tables.opens, ends)
    judged = gold >= 0
    more = int((z != gold)[judged].sum()) - int((y != gold)[judged].sum())
    tally = TruthCounts(ends, counts, new_counts, np.zeros(0, np.int64), np.zeros(0, np.int64))
    assert loss_change(lo, hi, y, z, gold, False, tables, tally) == more
    if judged.any():
        truth = [labels.decode(gold.tolist())]
        f1 = [segment_scores(truth, [labels.decode(v.tolist())], leaves=True).micro.f1 for v in (y, z)]
        found = loss_change(lo, hi, y, z, gold, True, tables, tally)
        assert found == pytest.approx(f1[0] - f1[1] + TIE * more, abs=1e-12)
        fresh = count_segments(0, T, z, gold, tables.field, tables.opens, ends)
        assert tuple(new_counts[:2]) == fresh


@relaxed
@given(st.integers(1, 7), st.data())
def test_rule_change(T: int, data) -> None:
    y, z, lo, hi = data.draw(changes(len(PLAIN), T))
    tokens = data.draw(st.lists(st.sampled_from(["a", "b", "c", ".", ","]), min_size=T, max_size=T))
    corpus = Corpus.from_tokens([["d"], tokens, []])
    tables = RuleTables.of(COMPILED, corpus).after(2, 3)
    sums, new_sums, fresh = (np.zeros(len(tables.bound), np.int64) for _ in range(3))
    row_sums(y, tables.row_values, sums)
    tally = TruthCounts(*np.zeros((3, T), np.int64), sums, new_sums)
    # Three tokens in front, then that of the first sequence.
    found = rule_change(4, lo, hi, y, z, tables, tables.price[3], tally)
    p = np.array([1, 1, 1, 0.5, 3, 1, 0.25, 1e6])
    more = degrees(RULES, tokens, PLAIN.decode(z.tolist())) - degrees(RULES, tokens, PLAIN.decode(y.tolist()))
    assert found == pytest.approx(p @ more, abs=1e-9)
    row_sums(z, tables.row_values, fresh)
    np.testing.assert_array_equal(new_sums, fresh)


def test_uniform_is_xorshift64_star() -> None:
    state = np.array([1], np.uint64)
    x, mask = 1, 2**64 - 1
    for _ in range(100):
        x ^= x >> 12
        x = (x ^ (x << 25)) & mask
        x ^= x >> 27
        assert uniform(state) == ((x * 2685821657736338717 & mask) >> 11) / 2**53
    drawn = np.array([uniform(state) for _ in range(20_000)])
    assert 0 <= drawn.min() <= drawn.max() < 1
    assert drawn.mean() == pytest.approx(0.5, abs=0.01)


def test_single_proposals_are_uniform_over_all_changes() -> None:
    state, y = np.array([7], np.uint64), np.array([0, 2, 1, 1], np.int16)
    seen: dict[tuple[int, int], int] = {}
    for _ in range(8000):
        z = y.copy()
        lo, hi = propose(state, y, z, 1, np.arange(3, dtype=np.int16))
        assert hi == lo + 1
        assert z[lo] != y[lo]
        assert (np.delete(z, lo) == np.delete(y, lo)).all()
        seen[lo, int(z[lo])] = seen.get((lo, int(z[lo])), 0) + 1
    assert len(seen) == 8
    assert all(abs(n - 1000) < 150 for n in seen.values())


def test_blocks_continue_the_way_tags_do() -> None:
    tables = SegmentTables.of(TAGS)
    state, y = np.array([3], np.uint64), np.full(6, 4, np.int16)
    lengths = set()
    for _ in range(500):
        z = y.copy()
        lo, hi = propose(state, y, z, 3, tables.follows)
        lengths.add(hi - lo)
        names = TAGS.decode(z[lo:hi].tolist())
        assert all(name == names[0].replace("B-", "I-") for name in names[1:])
        assert (np.delete(z, range(lo, hi)) == 4).all()
    assert lengths == {1, 2, 3}


@pytest.mark.parametrize(
    ("labels", "field", "follows", "opening"),
    [
        (PLAIN, [-1, 0, 1], [0, 1, 2], {(0, 1), (0, 2), (1, 2), (2, 1), (3, 1), (3, 2)}),
        (Labels(["B-x", "I-x", "O"]), [0, 0, -1], [1, 1, 2], {(0, 0), (1, 0), (2, 0), (3, 0), (2, 1), (3, 1)}),
    ],
)
def test_segment_tables_by_hand(labels: Labels, field: list, follows: list, opening: set) -> None:
    tables = SegmentTables.of(labels)
    assert tables.field.tolist() == field
    assert tables.follows.tolist() == follows
    assert {(int(i), int(j)) for i, j in np.argwhere(tables.opens)} == opening
