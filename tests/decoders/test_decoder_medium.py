"""Problems too large to enumerate often, where states and ties matter: independent exact algorithms agree."""

from __future__ import annotations

import numpy as np
import pytest

from decoder_problems import problem_from, ranked
from espalier.decoders import DECODERS, Problem, Status, product

RULES = (
    "Once: each field once [penalty 1.3]",
    "Once: each field once [hard]\nReq: c required [penalty 2]",
    "Order: a before b [penalty 0.8]\nLen: length(c) >= 2 [penalty 0.9]\nTwo: count(a) <= 2 [hard]",
    "Same: tokens(a) == tokens(c) [hard]",
    "Later: a followed later by b [hard]\nSame: count(a) == count(c) [penalty 0.7]",
)


def noisy(rules: str, T: int, seed: int, *, scale: float = 1.0) -> Problem:
    """Scores that make Viterbi re-open fields, so that what a prefix has seen decides about its future."""
    rng = np.random.default_rng(seed)
    unary, trans = scale * rng.normal(size=(T, 4)), scale * rng.normal(size=(4, 4)) / 2
    return problem_from(rules, ["x"] * T, "a b c d", unary, trans=trans)


@pytest.mark.parametrize("rules", RULES)
def test_search_and_dynamic_programming_agree(rules: str) -> None:
    for seed in range(25):
        found = DECODERS["astar"].decode(noisy(rules, 10, seed), k=3)
        assert found.status is Status.OPTIMAL
        # Where all scores are a million times as large, nearly the whole sum is the best labelling.
        cold = noisy(rules, 10, seed, scale=1e6)
        cold = cold.with_penalties(1e6 * cold.penalties)
        assert found.score == pytest.approx(product.log_partition(cold) / 1e6, abs=1e-5), seed


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("labels", ["a b c", "c b a"])
def test_ties_everywhere(rules: str, labels: str) -> None:
    # Without scores whole families of labellings tie.
    problem = problem_from(rules.replace("1.3", "1").replace("0.8", "1").replace("0.9", "1"), "x x x x x", labels)
    expected = ranked(problem)
    # Short lists too: there a tie decides what is cut off, not only what comes first.
    for k in (1, 2, 3, 5, 8, 40):
        found = DECODERS["kbest"].decode(problem, k=k)
        assert [(tuple(one.labels.tolist()), one.score) for one in found] == expected[:k], k


def test_a_tie_beyond_the_list_is_found() -> None:
    # Folded scores list c, a, b; c pays down to 0, where it ties with b, which comes first but is listed last.
    problem = problem_from("B: b required [penalty 1]", "x", "a b c", [[0.0, 0.0, 1.0]])
    for name in ("kbest", "exhaustive"):
        found = DECODERS[name].decode(problem)
        assert (found.names(), found.score, found.status) == (["b"], 0.0, Status.OPTIMAL), name
