"""Exchanged words: fields keep their places and their frequent words, and nothing else changes."""

from __future__ import annotations

import re
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st
from rendering.exchange import FIELDS, Exchange

from espalier.document import Document, Span

TITLES = ("Rivers", "Glaciers", "Moths", "Bridges", "Harbours", "Mosses", "Sextants", "Looms")
PEOPLE = ("Miller", "Okafor", "Petrov", "Lindqvist", "Moreau", "Tanaka", "Silva", "Novak")


def reference(person: str, topic: str, language: str = "en") -> Document:
    redaction = {"en": "edited by", "pl": "pod redakcją"}[language]
    fields = {"author": f"{person}, J. (2001).", "title": f"On {topic.lower()} of the north."}
    fields |= {"container-title": f"Journal of {topic},", "volume": "12,", "editor": f"{redaction} {person[::-1]}."}
    text, spans = "", []
    for label, value in fields.items():
        text += " " if text else ""
        spans.append(Span(len(text), len(text) + len(value), label))
        text += value
    return Document.from_text(text, spans)


ENGLISH = [reference(person, topic) for person in PEOPLE for topic in TITLES]
POLISH = [reference(person, topic, "pl") for person in PEOPLE[:2] for topic in TITLES]
LEARNED = [*((one, "en") for one in ENGLISH * 60), *((one, "pl") for one in POLISH)]


def named(word: str) -> Document:
    title, journal = f"On the north {word}.", f"Journal of {word}."
    spans = [Span(0, 8, "author"), Span(9, 9 + len(title), "title")]
    spans.append(Span(10 + len(title), 10 + len(title) + len(journal), "container-title"))
    return Document.from_text(f"Zo X, A. {title} {journal}", spans)


def fields(document: Document) -> list[tuple[str, str]]:
    return [(span.label, document.text[span.start : span.end]) for span in document.spans or ()]


def skeleton(text: str) -> str:
    """Return what is no word of three letters."""
    return re.sub(r"[^\W\d_]{3,}", "", text)


def test_frequent_words_stay_and_rare_ones_go() -> None:
    rare = [named(word) for word in ("Quarks", "Yarrow", "Vellum", "Tundra")]
    learned = Exchange([*((one, "en") for one in ENGLISH * 60), *((one, "en") for one in rare)])
    seen = {learned(rare[0], Random(seed)).text for seed in range(60)}
    assert len(seen) > 5
    assert all("Journal of " in text and text.startswith("Zo X, A. On the north ") for text in seen), seen
    words = {word for text in seen for word in re.findall(r"Journal of (\w+)", text)}
    assert {"Quarks", "Yarrow", "Vellum", "Tundra"} <= words


def test_words_that_are_frequent_in_one_language_stay() -> None:
    learned = Exchange(LEARNED)
    for seed in range(50):
        assert "pod redakcją " in learned(POLISH[0], Random(seed)).text


def test_the_same_seed_gives_the_same_words() -> None:
    pairs = [(one, "en") for one in ENGLISH]
    first, second = Exchange(pairs), Exchange(pairs[::-1])
    for seed in range(20):
        assert first(ENGLISH[3], Random(seed)) == second(ENGLISH[3], Random(seed))


def test_ideographs_and_references_without_fields_are_left_alone() -> None:
    learned = Exchange([(one, "en") for one in ENGLISH])
    for document in (
        Document.from_text("唐涛研究会. 2013.", [Span(0, 5, "author"), Span(7, 12, "date")]),
        Document.from_text("Nothing is labelled here", []),
    ):
        assert learned(document, Random(1)) == document


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(ENGLISH + POLISH), st.integers(0, 10_000))
def test_fields_keep_their_order_and_their_marks(document: Document, seed: int) -> None:
    new = Exchange([(one, "en") for one in ENGLISH[:9]])(document, Random(seed))
    before, after = fields(document), fields(new)
    assert [label for label, _ in before] == [label for label, _ in after]
    for (label, old), (_, now) in zip(before, after, strict=True):
        if label not in FIELDS:
            assert old == now
        elif label in ("author", "title", "editor"):  # names of places of print may grow or shrink by a word
            assert skeleton(old) == skeleton(now)
    assert new.text.count(",") == document.text.count(",")
