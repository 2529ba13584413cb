"""The k best labellings of whole batches: those of enumeration, whatever the rules and however long the list."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_batch import PLAIN, RULES, TAGS, make

from espalier.corpus import Corpus, Labels
from espalier.decoders import kbest
from espalier.decoders.base import Problem, Problems, evaluate
from espalier.decoders.climb import climb_for_several
from espalier.papers.decoders import exhaustive
from espalier.potentials import ChainBatch
from espalier.rules import rules
from espalier.rules.compile import Compiled, compile_rules


def ranked(batch: ChainBatch, compiled: Compiled, corpus: Corpus, k: int, **how: int) -> list[list[kbest.Ranked]]:
    """Return the k best labellings of every sequence."""
    return kbest.k_best_batch(Problems.of(batch, compiled, corpus), k, threads=1, **how)


def compare(batch: ChainBatch, compiled: Compiled, corpus: Corpus, k: int, **how: int) -> None:
    """Compare with enumeration; bounds hold, and meet the scores."""
    every = zip(ranked(batch, compiled, corpus, k, **how), compiled.ground_corpus(corpus), strict=True)
    for i, (found, grounded) in enumerate(every):
        best = [one for one in exhaustive.decode(Problem(batch[i], grounded), k=k) if one.labels is not None]
        assert [one.labels.tolist() for one in found] == [one.labels.tolist() for one in best]
        for one, other in zip(found, best, strict=True):
            assert one.bound == pytest.approx(other.score, abs=1e-8)
            assert one.score == pytest.approx(other.score, abs=1e-8)
            assert one.proven


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    st.integers(0, 10**6), st.sampled_from([PLAIN, TAGS]),
    st.lists(st.sampled_from(sorted(RULES)), min_size=1, max_size=5, unique=True), st.sampled_from([0.3, 2.0]),
    st.booleans(), st.integers(1, 6),
)  # fmt: skip
def test_the_k_best_are_those_of_enumeration(seed, labels, names, scale, hard, k):
    batch, corpus, compiled, penalties = make(seed, labels, names, scale, hard)
    compare(batch, compile_rules(compiled.rules.with_penalties(penalties), labels), corpus, k)


@pytest.mark.parametrize(
    "text", ["Order: a before b [penalty 1.5]", "Long: length(a) >= 2 [penalty 1]\nO: each field once"]
)
@pytest.mark.parametrize("seed", range(4))
def test_rules_that_machines_read_and_rules_that_are_folded(text, seed):
    rng, L = np.random.default_rng(seed), 3
    compiled = compile_rules(rules(text, labels=PLAIN.names), PLAIN)
    corpus = Corpus.from_tokens([["x"] * int(n) for n in rng.integers(0, 6, 7)])
    kinds, normal = np.zeros(corpus.n_tokens, np.int32), rng.normal
    unary = normal(size=(corpus.n_tokens, L))
    compare(
        ChainBatch(corpus.indptr, unary, normal(size=(1, L, L)), kinds, normal(size=L), normal(size=L)),
        compiled,
        corpus,
        4,
    )


def test_ties_and_short_lists_are_left_to_the_ladder(monkeypatch):
    asked = []
    one_by_one = kbest._one_by_one
    monkeypatch.setattr(
        kbest, "_one_by_one", lambda problem, k, *rest: asked.append(k) or one_by_one(problem, k, *rest)
    )
    compiled = compile_rules(rules("O: each field once [penalty 2]", labels=PLAIN.names), PLAIN)
    corpus = Corpus.from_tokens([["x", "x", "x"]])
    flat = ChainBatch(corpus.indptr, np.zeros((3, 3)), np.zeros((1, 3, 3)), np.zeros(3, np.int32), *np.zeros((2, 3)))
    grounded = compiled.ground_corpus(corpus)[0]
    expected = [one.labels.tolist() for one in climb_for_several(Problem(flat[0], grounded), 3, 1000)]
    assert [one.labels.tolist() for one in ranked(flat, compiled, corpus, 3)[0]] == expected
    assert asked == [3]
    rng = np.random.default_rng(0)
    batch = ChainBatch(
        corpus.indptr, rng.normal(size=(3, 3)), np.zeros((1, 3, 3)), np.zeros(3, np.int32), *np.zeros((2, 3))
    )
    compare(batch, compiled, corpus, 3, longest=2)
    assert asked == [3, 3]


def test_threads_do_not_change_the_answer():
    rng, L = np.random.default_rng(1), 3
    compiled = compile_rules(rules("O: each field once [penalty 2]", labels=PLAIN.names), PLAIN)
    corpus = Corpus.from_tokens([["x"] * int(n) for n in rng.integers(0, 60, 500)])
    kinds, normal = np.zeros(corpus.n_tokens, np.int32), rng.normal
    unary, trans = normal(size=(corpus.n_tokens, L)), normal(size=(1, L, L))
    batch = ChainBatch(corpus.indptr, unary, trans, kinds, *normal(size=(2, L)))
    problems = Problems.of(batch, compiled, corpus)
    one, two = (kbest.k_best_batch(problems, 3, threads=n) for n in (1, 2))
    for a, b in zip(one, two, strict=True):
        assert [(x.labels.tolist(), x.bound) for x in a] == [(x.labels.tolist(), x.bound) for x in b]


def test_a_labelling_on_which_a_machine_gets_lost_is_no_proof():
    """The machine of R grows with the sequence and is cut; what it charges for some labellings nobody knows."""
    labels = ["q", "s/p", "b", "s"]
    compiled = compile_rules(rules('R: ("p" once) or (length("s") >= 2) [hard]', labels=labels), Labels(labels))
    for seed in range(30):
        rng, corpus = np.random.default_rng(seed), Corpus.from_tokens([["x"] * 5])
        unary, trans, (start, end) = (rng.normal(size=shape) for shape in ((5, 4), (1, 4, 4), (2, 4)))
        compare(ChainBatch(corpus.indptr, unary, trans, np.zeros(5, np.int32), start, end), compiled, corpus, 3)


@pytest.mark.parametrize("longest", [3, 8, 1024])
def test_without_a_climb_the_list_says_how_far_it_is_from_the_k_best(longest):
    proven = []
    for seed in range(30):
        batch, corpus, compiled, rho = make(seed, PLAIN, ["Once", "Most", "Least"], 1.0, seed % 2 == 0)
        compiled = compile_rules(compiled.rules.with_penalties(rho), PLAIN)
        found = ranked(batch, compiled, corpus, 3, max_nodes=0, longest=longest)
        for i, grounded in enumerate(compiled.ground_corpus(corpus)):
            best = [one.score for one in exhaustive.decode(Problem(batch[i], grounded), k=3) if one.labels is not None]
            for r, (one, score) in enumerate(zip(found[i], best, strict=False)):
                assert evaluate(Problem(batch[i], grounded), one.labels).score == pytest.approx(one.score)
                assert one.score <= score + 1e-8
                assert one.bound >= score - 1e-8 or any(not before.proven for before in found[i][:r])
                proven.append(one.proven)
    assert all(proven) == (longest == 1024)
