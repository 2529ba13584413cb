"""Tags: the oracle builds every nest of segments over a few tokens and writes its tags down."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import pytest

from espalier.errors import LabelError
from espalier.tags import Segment, is_tag, may_follow, may_start, parse_tag, path_of, segments

Nest = tuple[Segment, ...]


def nests(start: int, end: int, depth: int, path: str = "") -> Iterator[Nest]:
    """Every set of nested segments over tokens start..end-1, outermost first, `depth` levels at most."""
    if start == end or depth == 0:
        yield ()
        return
    yield from nests(start + 1, end, depth, path)  # token `start` is outside
    for stop, name in product(range(start + 1, end + 1), "ab"):
        label = f"{path}/{name}" if path else name
        for inner in nests(start, stop, depth - 1, label):
            for rest in nests(stop, end, depth, path):
                yield (Segment(start, stop, label), *inner, *rest)


def written(nest: Nest, T: int) -> tuple[str, ...]:
    """The tags of a nest: at each token the marks of the segments around it, outermost first."""
    tags = []
    for t in range(T):
        around = [s for s in nest if s.start <= t < s.end]
        marks = [("B-" if s.start == t else "I-") + s.label.rsplit("/", 1)[-1] for s in around]
        tags.append("/".join(marks) or "O")
    return tuple(tags)


T = 3
NESTS = list(nests(0, T, 2))
WRITTEN = {written(nest, T): nest for nest in NESTS}
MARKS = ["B-a", "I-a", "B-b", "I-b"]
TAGS = ["O", *MARKS, *("/".join(pair) for pair in product(MARKS, MARKS))]


def test_tags_tell_nests_apart() -> None:
    assert len(WRITTEN) == len(NESTS)


def test_valid_sequences_are_those_of_some_nest() -> None:
    follows = {(a, b) for a in TAGS for b in TAGS if may_follow(a, b)}
    valid = {
        tags
        for tags in product(TAGS, repeat=T)
        if may_start(tags[0]) and all(pair in follows for pair in pairwise(tags))
    }
    assert valid == set(WRITTEN)


def test_segments_give_the_nest_back() -> None:
    for tags, nest in WRITTEN.items():
        assert segments(tags) == sorted(nest, key=lambda s: (s.start, -s.end, s.label.count("/"), s.label))


def test_leaves_cover_each_token_once() -> None:
    for tags, nest in WRITTEN.items():
        found = segments(tags, leaves=True)
        for t, tag in enumerate(tags):
            labels = [s.label for s in found if s.start <= t < s.end]
            assert labels == ([] if tag == "O" else [path_of(tag)])
        for s in found:  # a leaf stretch lies within one segment of its label
            assert any(s.label == other.label and other.start <= s.start and s.end <= other.end for other in nest)


@pytest.mark.parametrize(
    ("tag", "levels", "path"),
    [
        ("O", (), "O"),
        ("B-title", (("B", "title"),), "title"),
        ("I-a/B-b", (("I", "a"), ("B", "b")), "a/b"),
        ("B-ref-marker", (("B", "ref-marker"),), "ref-marker"),
        ("title", (("", "title"),), "title"),
        ("a/b", (("", "a/b"),), "a/b"),
        ("Other", (("", "Other"),), "Other"),
    ],
)
def test_parse(tag: str, levels: tuple[tuple[str, str], ...], path: str) -> None:
    assert parse_tag(tag) == levels
    assert path_of(tag) == path


@pytest.mark.parametrize("tag", ["B-", "B-a/", "B-a/b", "I-a//B-b", "B-/B-a"])
def test_malformed_tags(tag: str) -> None:
    assert not is_tag(tag)
    with pytest.raises(LabelError, match="has no B- or I- mark"):
        parse_tag(tag)


def test_an_empty_tag() -> None:
    assert not is_tag("")
    with pytest.raises(LabelError, match="may not be empty"):
        parse_tag("")


@pytest.mark.parametrize(("tag", "marked"), [("O", True), ("B-a", True), ("I-a/B-b", True), ("a", False), ("o", False)])
def test_is_tag(tag: str, marked: bool) -> None:
    assert is_tag(tag) is marked


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ([], []),
        (["O", "O"], []),
        (["x", "x", "O", "x", "y"], [(0, 2, "x"), (3, 4, "x"), (4, 5, "y")]),
        (["I-x", "I-x"], [(0, 2, "x")]),
        (["B-x", "I-y", "I-x"], [(0, 1, "x"), (1, 2, "y"), (2, 3, "x")]),
        (["B-x", None, "I-x"], [(0, 1, "x"), (2, 3, "x")]),
        ([None, None], []),
        (["B-a/I-b", "I-a/I-b"], [(0, 2, "a"), (0, 2, "a/b")]),
        (["I-a/B-b", "B-a/I-b"], [(0, 1, "a"), (0, 1, "a/b"), (1, 2, "a"), (1, 2, "a/b")]),
    ],
)
def test_segments_by_hand(tags: list[str | None], expected: list[tuple[int, int, str]]) -> None:
    assert segments(tags) == [Segment(*s) for s in expected]


def test_leaves_by_hand() -> None:
    tags = ["B-a/B-p", "I-a/I-p", "I-a", "I-a/B-p", "I-a/B-p", None, "I-a", "I-a"]
    expected = [(0, 2, "a/p"), (2, 3, "a"), (3, 4, "a/p"), (4, 5, "a/p"), (6, 8, "a")]
    assert segments(tags, leaves=True) == [Segment(*s) for s in expected]
