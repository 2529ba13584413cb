"""Segment scores: seqeval is the oracle, level by level; hand-worked examples say what the corner cases mean."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as lenient_oracle
from seqeval.metrics.v1 import precision_recall_fscore_support as strict_oracle
from seqeval.scheme import IOB2, Entities

from espalier.errors import InputError, LabelError
from espalier.metrics import read_segments, segment_scores
from espalier.metrics.scores import Score
from espalier.tags import Segment

LAW = settings(deadline=None, derandomize=True, max_examples=150)

flat_tags = st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y", "B-long-name", "I-long-name"])
plain_labels = st.sampled_from(["O", "x", "y", "z"])
level = st.sampled_from(["B-a", "I-a", "B-b", "I-b"])
nested_tags = st.just("O") | st.lists(level, min_size=1, max_size=3).map("/".join)


def sequences_of(tags: st.SearchStrategy[str]) -> st.SearchStrategy[list[list[tuple[str, str]]]]:
    """Sequences of (gold, predicted) pairs, one judged token at least."""
    return st.lists(st.lists(st.tuples(tags, tags), max_size=8), min_size=1, max_size=4).filter(any)


def split(pairs: list[list[tuple[str, str]]]) -> tuple[list[list[str]], list[list[str]]]:
    return [[g for g, _ in s] for s in pairs], [[p for _, p in s] for s in pairs]


def check_against_seqeval(gold: Any, predicted: Any, our_gold: Any, our_predicted: Any, *, strict: bool) -> None:
    """Compare every figure with seqeval's; our side may be given the same labels in another notation."""
    ours = segment_scores(our_gold, our_predicted, strict=strict)

    def oracle(average: str | None) -> Any:
        if strict:
            return strict_oracle(gold, predicted, average=average, scheme=IOB2, zero_division=0)
        return lenient_oracle(gold, predicted, average=average, zero_division=0)

    per_field = list(zip(*oracle(None), strict=True))
    assert len(per_field) == len(ours.per_field)
    for expected, score in zip(per_field, ours.per_field.values(), strict=True):
        assert (score.precision, score.recall, score.f1, score.support) == pytest.approx(expected)
    if not per_field:  # seqeval divides by nothing here; ours is 0
        assert ours.micro == ours.macro == ours.weighted == Score(0.0, 0.0, 0.0, 0)
        return
    for average in ("micro", "macro", "weighted"):
        score = getattr(ours, average)
        assert (score.precision, score.recall, score.f1, score.support) == pytest.approx(oracle(average))


@LAW
@given(sequences_of(flat_tags))
def test_both_readings_agree_with_seqeval(pairs: list[list[tuple[str, str]]]) -> None:
    gold, predicted = split(pairs)
    check_against_seqeval(gold, predicted, gold, predicted, strict=False)
    check_against_seqeval(gold, predicted, gold, predicted, strict=True)


@LAW
@given(sequences_of(plain_labels))
def test_plain_labels_are_runs(pairs: list[list[tuple[str, str]]]) -> None:
    gold, predicted = split(pairs)
    # seqeval reads I-x I-x as one segment; as IOB2 a run begins with B-.
    inside = [[[x if x == "O" else f"I-{x}" for x in s] for s in side] for side in (gold, predicted)]
    check_against_seqeval(*inside, gold, predicted, strict=False)
    iob2 = [
        [[x if x == "O" else f"{'I' if t and s[t - 1] == x else 'B'}-{x}" for t, x in enumerate(s)] for s in side]
        for side in (gold, predicted)
    ]
    check_against_seqeval(*iob2, gold, predicted, strict=True)


def entities(tags: list[str], strict: bool) -> set[tuple[int, int, str]]:
    """seqeval's segments of one sequence."""
    if strict:
        return {(e.start, e.end, e.tag) for e in Entities([tags], IOB2).entities[0]}
    return {(a, b + 1, name) for name, a, b in get_entities(tags)}


def level_tags(tags: list[str], depth: int, strict: bool) -> list[str]:
    """One level of nested tags as flat tags whose names are paths.

    A level inside a freshly opened outer level cannot go on: seqeval is shown a B- in the lenient reading,
    and in the strict one a name of its own that no B- ever opens.
    """
    flat = []
    for tag in tags:
        levels = [] if tag == "O" else tag.split("/")
        if len(levels) <= depth:
            flat.append("O")
            continue
        path = "/".join(x[2:] for x in levels[: depth + 1])
        fresh = any(x[0] == "B" for x in levels[:depth])
        mark = levels[depth][0]
        if mark == "I" and fresh:
            flat.append("I-!" if strict else f"B-{path}")
        else:
            flat.append(f"{mark}-{path}")
    return flat


@LAW
@given(st.lists(nested_tags, max_size=10))
def test_all_levels_are_seqeval_level_by_level(tags: list[str]) -> None:
    for strict in (False, True):
        expected = set().union(*(entities(level_tags(tags, d, strict), strict) for d in range(3)))
        assert set(map(tuple, read_segments(tags, strict=strict))) == expected


@LAW
@given(st.lists(nested_tags, max_size=10))
def test_leaves_are_seqeval_on_whole_paths(tags: list[str]) -> None:
    flat = [
        "O" if tag == "O" else f"{'B' if 'B-' in tag else 'I'}-{tag.replace('B-', '').replace('I-', '')}"
        for tag in tags
    ]
    lenient = entities(flat, False)
    assert set(map(tuple, read_segments(tags, leaves=True))) == lenient
    # Strict: a stretch counts if the segment it is part of opens with its own B-.
    opened = set().union(*(entities(level_tags(tags, d, True), True) for d in range(3)))
    expected = {
        (a, b, name) for a, b, name in lenient if any(s <= a and b <= e and name == label for s, e, label in opened)
    }
    assert set(map(tuple, read_segments(tags, strict=True, leaves=True))) == expected


def test_invalid_starts_by_hand() -> None:
    tags = ["I-x", "I-x", "O", "B-x", "I-y", "I-x"]
    assert read_segments(tags) == [Segment(0, 2, "x"), Segment(3, 4, "x"), Segment(4, 5, "y"), Segment(5, 6, "x")]
    assert read_segments(tags, strict=True) == [Segment(3, 4, "x")]


def test_nested_by_hand() -> None:
    tags = ["B-a/B-b", "I-a/I-b", "I-a", "I-a/B-b"]
    every = [Segment(0, 4, "a"), Segment(0, 2, "a/b"), Segment(3, 4, "a/b")]
    leaves = [Segment(0, 2, "a/b"), Segment(2, 3, "a"), Segment(3, 4, "a/b")]
    for strict in (False, True):  # nothing is wrong with these tags
        assert read_segments(tags, strict=strict) == every
        assert read_segments(tags, strict=strict, leaves=True) == leaves


def test_scores_by_hand() -> None:
    gold = [["B-x", "I-x", "O", "B-y"], ["B-x", "B-x"]]
    predicted = [["B-x", "I-x", "B-y", "O"], ["B-x", "O"]]
    scores = segment_scores(gold, predicted)
    assert dict(scores.per_field) == {"x": Score(1.0, 2 / 3, 0.8, 3), "y": Score(0.0, 0.0, 0.0, 1)}
    assert scores.micro == Score(2 / 3, 0.5, 4 / 7, 4)
    assert scores.macro == Score(0.5, 1 / 3, 0.4, 4)
    assert scores.weighted == Score(0.75, 0.5, pytest.approx(0.6), 4)
    assert json.loads(json.dumps(scores.to_dict()))["per_field"]["x"]["f1"] == 0.8


def test_a_token_of_unknown_label_ends_segments_on_both_sides() -> None:
    gold = [["B-x", None, "I-x", "O", None]]
    predicted = [["B-x", "I-x", "I-x", "O", "B-y"]]
    scores = segment_scores(gold, predicted)
    assert dict(scores.per_field) == {"x": Score(1.0, 1.0, 1.0, 2)}


def test_no_segments_score_zero() -> None:
    zero = Score(0.0, 0.0, 0.0, 0)
    scores = segment_scores([["O"]], [["O"]])
    assert (dict(scores.per_field), scores.micro, scores.macro, scores.weighted) == ({}, zero, zero, zero)
    only_predicted = segment_scores([["O"]], [["B-x"]])
    assert only_predicted.micro == only_predicted.weighted == zero
    only_gold = segment_scores([["B-x"]], [["O"]])
    assert only_gold.micro == Score(0.0, 0.0, 0.0, 1)


def test_results_are_frozen() -> None:
    scores = segment_scores([["B-x"]], [["B-x"]])
    with pytest.raises(AttributeError):
        scores.micro = scores.macro  # type: ignore[misc]
    with pytest.raises(TypeError):
        scores.per_field["x"] = scores.micro  # type: ignore[index]


def test_a_malformed_tag_is_an_error() -> None:
    with pytest.raises(LabelError, match="no B- or I- mark"):
        segment_scores([["B-x/y"]], [["O"]])


@pytest.mark.parametrize(
    ("gold", "predicted", "message"),
    [
        ([], [], "nothing to measure"),
        ([["O"]], [], "1 gold sequences but 0 predicted"),
        ([["O", "O"]], [["O"]], "sequence 0 has 2 gold labels but 1 predicted"),
        (["OO"], [["O", "O"]], "gold sequence 0 is a string"),
        ("O", [["O"]], "what is gold is str; give a list of label lists"),
        ([["O"]], [[1]], "predicted sequence 0, token 0 is 1, a int"),
        ([["O"], [""]], [["O"], ["O"]], "gold sequence 1, token 0 is an empty label"),
        ([["O", "O"]], [["O", None]], "sequence 0, token 1: the predicted label is None"),
        ([[None], []], [["O"], []], "no gold label is known"),
        ([[np.float64("nan")]], [["O"]], "gold sequence 0, token 0"),
    ],
)
def test_wrong_input(gold: Any, predicted: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        segment_scores(gold, predicted)
