"""References in ways of citing and of countries that have few styles: the strings that are made, and their labels."""

from __future__ import annotations

import itertools
import re
from random import Random
from typing import Any

import pytest
from rendering.abroad import Abroad, ended, put_together
from rendering.kinds import Maker
from rendering.traditions import Traditions
from rendering.words import Words
from rendering.works import Pool

from espalier.citations.record import LABELS
from espalier.document import Document

DOE: dict[str, Any] = {"family": "Doe", "given": "Jane Ann"}
DATED: dict[str, Any] = {"author": [DOE], "issued": {"date-parts": [[2001]]}}
ARTICLE: dict[str, Any] = {
    **DATED,
    **{
        "id": "1",
        "type": "article-journal",
        "title": "On things",
        "container-title": "Journal of Things",
        "page": "3-9",
    },
}
BOOK: dict[str, Any] = {
    **DATED,
    **{"id": "2", "type": "book", "title": "All things", "publisher": "Fen Press", "publisher-place": "Ely"},
}
PAPER: dict[str, Any] = {**ARTICLE, "id": "4", "type": "paper-conference"}
CHAPTER: dict[str, Any] = {
    **BOOK,
    **{"id": "3", "type": "chapter", "container-title": "Many things", "editor": [{"family": "Roe", "given": "R."}]},
}

SHAPES = {
    "law_review": r"Jane Ann Doe, On things, \d+ [\w. &’']+ \d+(, \d+)? \((19|20)\d\d\)\.",
    "case": r"(Doe v\. .+|(In re|Ex parte) Doe), \d+ [\w. ]+ \d+(, \d+)? \(([\w.]+ [\w.]+ |[\w.]+ )?\d{4}\)\.",
    "english_case": r"Doe v .+ \[\d{4}\]( [123])? [A-Z][\w ]+ \d+( \(\w+\))?",
    "supplement": r"Doe JA\. On things( \[\w+\])?\. [\w .]+ \d{4};\d+\([\w. ]+\):[SviA]*\d+[-–][SviA]*\d+\.",
    "patent": r".*Doe.* “?On things(,”|\.) [\w .]+ \d[\d, ]+\d, .*\d{4}\.",
}


def pool() -> Pool:
    found = Pool()
    for item in (ARTICLE, BOOK, CHAPTER, PAPER):
        found.add(item, "tests")
    return found


def shown(document: Document) -> list[tuple[str, str]]:
    return [(span.label, document.text[span.start : span.end]) for span in document.spans or ()]


def assert_whole(document: Document) -> None:
    """Every character but white space is in one field, neighbours differ, and no full stop is doubled."""
    labelled = "".join(text for _, text in shown(document))
    assert re.sub(r"\s", "", labelled) == re.sub(r"\s", "", document.text)
    labels = [label for label, _ in shown(document)]
    assert set(labels) <= set(LABELS)
    assert all(a != b for a, b in itertools.pairwise(labels))
    assert not re.search(r"(?<!\.)\.\.(?!\.)", document.text), document.text


@pytest.mark.parametrize("seed", range(20))
def test_every_way_of_citing_is_labelled_whole(seed: int) -> None:
    random = Random(seed)
    traditions = Traditions(Maker(pool(), Words.read("train"), random), random)
    for _, writer, _ in traditions.writers:
        assert_whole(put_together(writer()))
    for _ in range(20):
        document, language, kind = traditions.write()
        assert_whole(document)
        assert len(language) == 2
        assert kind


@pytest.mark.parametrize("name", SHAPES)
def test_strings_have_their_shapes(name: str) -> None:
    for seed in range(40):
        random = Random(seed)
        maker = Maker(pool(), Words.read("train"), random)
        traditions = Traditions(maker, random)
        traditions.maker.article = lambda language: dict(ARTICLE)  # type: ignore[method-assign]
        text = put_together(getattr(traditions, name)()).text
        assert re.fullmatch(SHAPES[name], text), text


def test_every_language_and_kind_abroad() -> None:
    writer, seen = Abroad(Random(1)), set()
    for _ in range(1500):
        document, language, kind = writer.write()
        assert_whole(document)
        seen.add((language, kind))
    assert len(seen) == 13 * 5


def test_labels_abroad() -> None:
    writer = Abroad(Random(2))
    for _ in range(60):
        for label, text in shown(put_together(writer.article("tr"))):
            assert label != "volume" or re.search(r"\d", text)
            assert label != "issue" or re.search(r"\d", text)
            assert label != "date" or re.search(r"(19|20)\d\d", text)
            assert label != "pages" or re.search(r"\d[-–]\d", text)
        by_label = dict(shown(put_together(writer.page("fi"))))
        assert "http" in by_label["url"]


def test_pieces() -> None:
    document = put_together([("volume", "12"), ("issue", "^(3):"), ("title", ""), ("pages", "^4-5."), ("pages", "7")])
    assert document.text == "12(3):4-5. 7"
    assert shown(document) == [("volume", "12"), ("issue", "(3):"), ("pages", "4-5. 7")]
    assert [ended(text, ".") for text in ("A", "A.", "A?")] == ["A.", "A.", "A?"]
