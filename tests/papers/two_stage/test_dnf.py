"""`learning.dnf`: every clause against the enumeration of all small conjunctions, formulas against their definition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.errors import InputError
from espalier.papers.two_stage.dnf import LITERAL, learn_dnf

Literals = tuple[tuple[int, bool], ...]


def conjunctions(J: int, most: int) -> Iterator[Literals]:
    """Yield every conjunction of at most so many literals."""
    for size in range(most + 1):
        for chosen in combinations(range(J), size):
            for signs in product([True, False], repeat=size):
                yield tuple(zip(chosen, signs, strict=True))


def covered(literals: Literals, sample: list[bool]) -> bool:
    return all(sample[j] is sign for j, sign in literals)


def enumerated(
    samples: list[list[bool]], positive: list[bool], confidence: float, least: int, most: int
) -> tuple[float, set[Literals]]:
    """Return what the best conjunctions gain, and which they are; nothing gained: no conjunction."""
    J, found = len(samples[0]), {}
    for literals in conjunctions(J, most):
        inside = [p for x, p in zip(samples, positive, strict=True) if covered(literals, x)]
        if sum(inside) >= least:
            wrong = len(inside) - sum(inside)
            found[literals] = sum(inside) - wrong * confidence / (1 - confidence) - LITERAL * len(literals)
    best = max(found.values(), default=0.0)
    return best, {literals for literals, gain in found.items() if gain > best - 1e-4} if best > 0 else set()


def problems() -> st.SearchStrategy[tuple[list[list[bool]], list[bool]]]:
    return st.integers(1, 4).flatmap(
        lambda J: st.lists(
            st.tuples(st.lists(st.booleans(), min_size=J, max_size=J), st.booleans()), min_size=1, max_size=12
        ).map(lambda drawn: ([x for x, _ in drawn], [p for _, p in drawn]))
    )


@settings(max_examples=40, deadline=None)
@given(problems(), st.sampled_from([0.5, 0.75, 0.9]), st.integers(1, 3), st.integers(1, 3))
def test_every_clause_is_the_best_that_enumeration_finds(
    problem: tuple[list[list[bool]], list[bool]], confidence: float, least: int, most: int
) -> None:
    samples, positive = problem
    found = learn_dnf(samples, positive, confidence=confidence, min_support=least, max_literals=most, max_clauses=3)
    left = list(zip(samples, positive, strict=True))
    for clause in found:
        best, which = enumerated([x for x, _ in left], [p for _, p in left], confidence, least, most)
        assert best > 0
        assert clause.literals in which
        inside = [p for x, p in zip(samples, positive, strict=True) if covered(clause.literals, x)]
        assert (clause.support, clause.broken) == (sum(inside), len(inside) - sum(inside))
        assert clause.fresh == sum(p for x, p in left if covered(clause.literals, x))
        left = [(x, p) for x, p in left if not (p and covered(clause.literals, x))]
    if len(found) < 3 and left:
        best, _ = enumerated([x for x, _ in left], [p for _, p in left], confidence, least, most)
        assert best <= 1e-9


def test_a_formula_that_made_the_samples_is_found_again() -> None:
    samples = np.array(list(product([False, True], repeat=4)) * 5)
    positive = (samples[:, 0] & ~samples[:, 1]) | (samples[:, 2] & samples[:, 3])
    found = learn_dnf(samples, positive)
    assert {clause.literals for clause in found} == {((0, True), (1, False)), ((2, True), (3, True))}
    assert np.array_equal(np.any([clause.covers(samples) for clause in found], axis=0), positive)
    assert [clause.fresh for clause in found] == [20, 15]
    assert [clause.confidence for clause in found] == [1.0, 1.0]


def test_what_always_holds_needs_no_literal() -> None:
    assert [clause.literals for clause in learn_dnf([[True], [False]] * 5, [True] * 10)] == [()]


def test_noise_below_the_confidence_is_no_clause() -> None:
    assert learn_dnf([[True]] * 10, [True, False] * 5) == []
    assert len(learn_dnf([[True]] * 10, [True, False] * 5, confidence=0.4)) == 1


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError):
        learn_dnf([[True]], [True, False])
    with pytest.raises(InputError):
        learn_dnf([[True]], [True], confidence=1.0)
