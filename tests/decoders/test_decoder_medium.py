"""Problems too large to enumerate often, where states and ties matter: independent exact algorithms agree."""

from __future__ import annotations

import numpy as np
import pytest
from decoder_problems import problem_from, ranked

from espalier.decoders import DECODERS, Problem, Status

RULES = (
    "Once: each field once [penalty 1.3]",
    "Once: each field once [hard]\nReq: c required [penalty 2]",
    "Order: a before b [penalty 0.8]\nLen: length(c) >= 2 [penalty 0.9]\nTwo: count(a) <= 2 [hard]",
    "Same: tokens(a) == tokens(c) [hard]",
    "Later: a followed later by b [hard]\nSame: count(a) == count(c) [penalty 0.7]",
)


def noisy(rules: str, T: int, seed: int) -> Problem:
    """Scores that make Viterbi re-open fields, so that what a prefix has seen decides about its future."""
    rng = np.random.default_rng(seed)
    return problem_from(rules, ["x"] * T, "a b c d", rng.normal(size=(T, 4)), trans=rng.normal(size=(4, 4)) / 2)


@pytest.mark.parametrize("rules", RULES)
def test_search_and_dynamic_programming_agree(rules: str) -> None:
    for seed in range(25):
        problem = noisy(rules, 10, seed)
        lists = [DECODERS[name].decode(problem, k=3) for name in ("astar", "product")]
        assert all(found.status is Status.OPTIMAL for found in lists)
        scores = [[one.score for one in found] for found in lists]
        assert scores[0] == pytest.approx(scores[1], abs=1e-9), seed


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("labels", ["a b c", "c b a"])
def test_ties_everywhere(rules: str, labels: str) -> None:
    # Without scores whole families of labellings tie, also those that meet in one state of the product.
    problem = problem_from(rules.replace("1.3", "1").replace("0.8", "1").replace("0.9", "1"), "x x x x x", labels)
    expected = ranked(problem)
    # Short lists too: there a tie decides what is cut off, not only what comes first.
    for k in (1, 2, 3, 5, 8, 40):
        for name in ("product", "kbest"):
            found = DECODERS[name].decode(problem, k=k)
            assert [(tuple(one.labels.tolist()), one.score) for one in found] == expected[:k], (name, k)


def test_a_tie_beyond_the_list_is_found() -> None:
    # Folded scores list c, a, b; c pays down to 0, where it ties with b, which comes first but is listed last.
    problem = problem_from("B: b required [penalty 1]", "x", "a b c", [[0.0, 0.0, 1.0]])
    for name in ("kbest", "product", "exhaustive"):
        found = DECODERS[name].decode(problem)
        assert (found.names(), found.score, found.status) == (["b"], 0.0, Status.OPTIMAL), name
