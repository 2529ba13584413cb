"""Persons and bodies in lists of names: what was learned, and the laws of the chain."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise import bodies
from espalier.citations.normalise.bodies import HARD, LABELS, Stretch, features_of, labels_of

PERSON, BODY, MORE = LABELS
WORDS = st.sampled_from(
    (
        *("Smith", "A.", "J.", "Anna", "Ministry", "of", "Health", "National", "Institute", "Food", "Agriculture"),
        *("Inc.", "WHO", "and", "de", "la", "Le", "Goff", "2019"),
    )
)
STRETCHES = st.lists(
    st.builds(
        Stretch, st.lists(WORDS, min_size=1, max_size=4), st.sampled_from([",", "and", "&", HARD]), st.booleans()
    ),
    min_size=1,
    max_size=5,
)


@pytest.mark.parametrize(
    ("stretches", "labels"),
    [
        ([["Smith"], ["A."]], [PERSON, PERSON]),
        ([["Ministry", "of", "Plums"]], [BODY]),
        ([["Ministry", "of", "Health"], ["Office", "of", "Statistics"]], [BODY, MORE]),
        ([["Smith", "AB"], ["Jones", "C"]], [PERSON, PERSON]),
        ([["Ministerio", "de", "Salud"]], [BODY]),
        ([["Bundesamt", "für", "Gesundheit"]], [BODY]),
        ([["Plum", "Collaboration"]], [BODY]),
    ],
)
def test_what_was_learned(stretches: list[list[str]], labels: list[str]) -> None:
    assert labels_of([Stretch(words, ",") for words in stretches]) == labels


@given(STRETCHES)
@settings(deadline=None, derandomize=True)
def test_nothing_goes_on_with_a_body_that_did_not_begin(stretches: list[Stretch]) -> None:
    labels = labels_of(stretches)
    for before, label, stretch in zip([PERSON, *labels], labels, stretches, strict=False):
        if label == MORE:
            assert before != PERSON
            assert stretch.before != HARD


@given(STRETCHES)
@settings(deadline=None, derandomize=True)
def test_labels_are_the_best_of_all(stretches: list[Stretch]) -> None:
    table, steps = bodies.weights()
    initials = {"A.", "J."}

    def inverted(k: int) -> bool:
        behind = stretches[k + 1 : k + 2]
        given = bool(behind) and behind[0].before == "," and set(behind[0].words) <= initials
        return given and initials.isdisjoint(stretches[k].words)

    def score(labels: tuple[int, ...]) -> float:
        total, last = 0.0, 0
        for k, (label, stretch) in enumerate(zip(labels, stretches, strict=True)):
            if label == 2 and (k == 0 or stretch.before == HARD or last == 0):
                return -1e9
            if label:
                rows = [table[bucket] for bucket in features_of(stretches, k)]
                total += sum(row[label - 1] for row in rows) + steps[last][label - 1] - bodies.INVERTED * inverted(k)
            last = label
        return total

    if any(stretch.short for stretch in stretches) or bodies.may_be_bodies(w for s in stretches for w in s.words):
        found = tuple(LABELS.index(label) for label in labels_of(stretches))
        best = max(map(score, product(range(3), repeat=len(stretches))))
        assert score(found) == pytest.approx(best)


def test_a_list_without_a_hint_has_no_bodies() -> None:
    assert not bodies.may_be_bodies(["Smith", "A.", "Anna"])
    assert bodies.may_be_bodies(["Smith", "Ministry"])
