"""Documents: spans are the truth, tags are derived; checked token by token against the plain definition."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from time import process_time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.document import Document, Span, tokenise
from espalier.errors import InputError
from espalier.tags import may_follow, may_start

LAW = settings(deadline=None, derandomize=True, max_examples=120)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("  \n\t", []),
        ("L. O. Andersen", ["L", ".", "O", ".", "Andersen"]),
        ("well-known, don't", ["well-known", ",", "don't"]),
        ("pp. 12-15", ["pp", ".", "12-15"]),
        ("-a- b'", ["-", "a", "-", "b", "'"]),
        ("naïve Ωmega 漢字", ["naïve", "Ωmega", "漢字"]),
        ("(1994)", ["(", "1994", ")"]),
        ("cafe\u0301s, n\u0303", ["cafe\u0301s", ",", "n\u0303"]),  # combining marks
        ("हिन्दी में", ["हिन्दी", "में"]),  # vowel signs
        ("می\u200cخواهم", ["می\u200cخواهم"]),
        ("👩\u200d🌾👍🏽!", ["👩\u200d🌾", "👍🏽", "!"]),  # joined, skin tone
        ("❤\ufe0f\u200d🔥 1\ufe0f\u20e3", ["❤\ufe0f\u200d🔥", "1\ufe0f\u20e3"]),  # variation selectors, keycap
        ("🇫🇷🇩🇪🇬", ["🇫🇷", "🇩🇪", "🇬"]),  # flags are pairs
        ("🏴\U000e0067\U000e0062\U000e007f.", ["🏴\U000e0067\U000e0062\U000e007f", "."]),
        ("…!", ["…", "!"]),
    ],
)
def test_tokenise(text: str, words: list[str]) -> None:
    assert [text[a:b] for a, b in tokenise(text)] == words
    assert Document.from_text(text).words == words


@LAW
@given(st.text(max_size=40))
def test_tokens_cover_everything_visible(text: str) -> None:
    covered = {x for a, b in tokenise(text) for x in range(a, b)}
    assert covered == {x for x, character in enumerate(text) if not character.isspace()}


def test_every_sign_that_joins_is_noticed() -> None:
    marks = [chr(c) for c in range(0x110000) if unicodedata.category(chr(c))[0] == "M"]
    assert len(marks) > 2000
    for mark in marks:
        assert tokenise(f"a{mark}b") == ((0, 3),)
        assert mark.isalnum() or tokenise(f".{mark}") == ((0, 2),)


def test_long_signs_take_linear_time() -> None:
    started = process_time()
    for text in ("\u200d" * 200_000, "👩\u200d" * 100_000, "a\u0301" * 100_000, "a-" * 100_000, "👍🏽" * 100_000):
        assert tokenise(text)
    assert process_time() - started < 5  # quadratic time would be minutes


@pytest.mark.parametrize(
    ("tags", "spans", "unknown"),
    [
        (["B-a", "I-a", "O"], [(0, 3, "a")], ()),
        (["a", "b", "b"], [(0, 1, "a"), (2, 5, "b")], ()),
        (["B-a/B-b", "I-a/B-b", None], [(0, 3, "a"), (0, 1, "a/b"), (2, 3, "a/b")], ((4, 5),)),
        (["O", "O", "O"], [], ()),
    ],
)
def test_with_tags(tags: list[str | None], spans: list[tuple[int, int, str]], unknown: Any) -> None:
    document = Document.from_text("x-y z", [Span(0, 2, "old")], id="7", meta={"m": 1})
    document = replace(document, tokens=((0, 1), (2, 3), (4, 5)), unknown=((4, 5),))
    found = document.with_tags(tags)
    assert found == replace(document, spans=tuple(Span(*span) for span in spans), unknown=unknown)


def test_with_tags_needs_one_tag_a_token() -> None:
    with pytest.raises(InputError, match=r"2 tokens but 1 tag$"):
        Document.from_text("x y").with_tags(["O"])


@st.composite
def nested_spans(draw: st.DrawFn, start: int = 0, end: int = 12, path: str = "") -> list[Span]:
    """Spans that nest or are apart; an inner label extends the label around it."""
    spans: list[Span] = []
    at = start
    while at < end and draw(st.booleans()):
        a = draw(st.integers(at, end - 1))
        b = draw(st.integers(a + 1, end))
        label = f"{path}/{draw(st.sampled_from('xy'))}".lstrip("/")
        spans.append(Span(a, b, label))
        if path.count("/") < 1:
            spans += draw(nested_spans(a, b, label))
        at = b
    return spans


@st.composite
def cut_text(draw: st.DrawFn, length: int = 12) -> tuple[tuple[int, int], ...]:
    """Token offsets over a text, with gaps."""
    borders = sorted(draw(st.sets(st.integers(0, length))))
    pieces = [(a, b) for a, b in pairwise(borders) if draw(st.booleans())]
    return tuple(pieces)


@LAW
@given(nested_spans(), cut_text())
def test_tags_by_definition(spans: list[Span], tokens: tuple[tuple[int, int], ...]) -> None:
    document = Document("abcdefghijkl", tokens, tuple(spans))
    tags = document.tags
    assert tags is not None
    started: set[Span] = set()
    for (a, _), tag in zip(tokens, tags, strict=True):
        around = sorted((s for s in spans if s.start <= a < s.end), key=lambda s: s.label.count("/"))
        marks = [("I-" if s in started else "B-") + s.label.rsplit("/", 1)[-1] for s in around]
        started.update(around)
        assert tag == ("/".join(marks) or "O")
    assert all(may_start(str(tag)) for tag in tags[:1])
    assert all(may_follow(str(a), str(b)) for a, b in pairwise(tags))
    assert document.straddling == [
        t for t, (a, b) in enumerate(tokens) if any(a < x < b for s in spans for x in (s.start, s.end))
    ]


@LAW
@given(nested_spans(), cut_text())
def test_tags_survive_a_round_trip(spans: list[Span], tokens: tuple[tuple[int, int], ...]) -> None:
    document = Document("abcdefghijkl", tokens, tuple(spans))
    assert Document.from_tokens(document.words, document.tags).tags == document.tags


def test_from_tokens() -> None:
    document = Document.from_tokens(["Smith", ",", "1994"], ["B-name", "I-name", None], id="7", meta={"k": 1})
    assert document.text == "Smith , 1994"
    assert document.spans == (Span(0, 7, "name"),)
    assert document.unknown == ((8, 12),)
    assert document.tags == ["B-name", "I-name", None]
    assert (document.id, document.meta) == ("7", {"k": 1})
    assert Document.from_tokens(["a"]).tags is None
    assert Document.from_tokens([], []).tags == []


def test_tokens_are_aligned_with_their_text() -> None:
    document = Document.from_tokens(["Smith", ",", "1994"], ["B-name", "O", "O"], text="Smith,\n 1994 ")
    assert document.tokens == ((0, 5), (5, 6), (8, 12))
    assert document.words == ["Smith", ",", "1994"]
    with pytest.raises(InputError, match=r"token 1 \('1994'\) is not where the text continues: ', 1994'"):
        Document.from_tokens(["Smith", "1994"], text="Smith, 1994")
    with pytest.raises(InputError, match=r"token 1 \('Jones'\)"):
        Document.from_tokens(["Smith", "Jones"], text="Smith, 1994")


def test_a_span_around_a_path_of_its_own() -> None:
    # No outer span provides `venue`, so it runs with the inner one.
    document = Document.from_text("In Nature 12", [Span(3, 9, "venue/name")])
    assert document.tags == ["O", "B-venue/B-name", "O"]


def test_from_text_sorts_spans() -> None:
    document = Document.from_text("ab cd", [Span(3, 5, "y"), Span(0, 2, "x/z"), Span(0, 2, "x")])
    assert document.spans == (Span(0, 2, "x"), Span(0, 2, "x/z"), Span(3, 5, "y"))
    assert Document.from_text("ab").spans is None
    assert Document.from_text("ab", []).tags == ["O"]


def test_a_cut_token_takes_the_label_of_its_first_character() -> None:
    document = Document.from_text("1994a", [Span(0, 4, "date")])
    assert document.tags == ["B-date"]
    assert document.straddling == [0]
    late = Document.from_text("v1994 x", [Span(1, 5, "date")])
    assert late.tags == ["O", "O"]
    assert late.straddling == [0]


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Document("abc", ((0, 4),)), r"token 0 has offsets 0\.\.4"),
        (lambda: Document("abc", ((0, 2), (1, 3))), r"token 1 has offsets 1\.\.3"),
        (lambda: Document("abc", ((1, 1),)), r"token 0 has offsets 1\.\.1"),
        (lambda: Document("abc", (), (Span(0, 4, "x"),)), r"span 'x' 0\.\.4 is empty or outside the text of 3"),
        (lambda: Document("abc", (), (Span(1, 1, "x"),)), "is empty or outside"),
        (lambda: Document("abc", (), (Span(-1, 1, "x"),)), "is empty or outside"),
        (lambda: Document("abc", (), (Span(0, 1, ""),)), "empty label or level: ''"),
        (lambda: Document("abc", (), (Span(0, 1, "a//b"),)), "empty label or level: 'a//b'"),
        (lambda: Document("abc", (), (Span(0, 2, "x"), Span(1, 3, "y"))), "spans 'x' 0..2 and 'y' 1..3 cross"),
        (lambda: Document.from_tokens(["a", "b"], ["O"]), "2 tokens but 1 tag$"),
        (lambda: Document.from_tokens(["a", ""]), "token 1 has offsets"),
    ],
)
def test_wrong_documents(build: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build()


def test_hierarchical_references_survive(data_dir: Path) -> None:
    file = data_dir / "umass" / "normalised" / "test.jsonl"
    for line in file.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        document = Document.from_tokens(record["tokens"], record["bio_paths"], id=record["id"])
        assert document.words == record["tokens"]
        assert document.tags == record["bio_paths"]


def test_a_span_may_be_a_tuple() -> None:
    document = Document.from_text("Ann in Ulm", [(7, 10, "where"), (0, 3, "who")])  # type: ignore[list-item]
    assert document.spans == (Span(0, 3, "who"), Span(7, 10, "where"))
    assert Document("Ann", ((0, 3),), [(0, 3, "who")]).spans == (Span(0, 3, "who"),)  # type: ignore[arg-type]
    for odd in ((0, 1), ("who", 0, 3), "who"):
        with pytest.raises(InputError, match=r"a span is \(start, end, label\), not"):
            Document.from_text("Ann", [odd])  # type: ignore[list-item]
