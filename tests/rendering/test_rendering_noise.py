"""Noise: labels follow their characters, and each change does what its name says."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rendering.noise import CHANGES, spoil

from espalier.document import Document, Span
from rendering import noise

FIELDS = (
    *(
        ("citation-number", "[7]"),
        ("author", "Müller, J., & O’Neill, K."),
        ("date", "(2001, May 5)."),
        ("title", "“On finding: a first study.”"),
    ),
    *(
        ("container-title", "Journal of Things,"),
        ("volume", "12"),
        ("issue", "(3),"),
        ("pages", "45–67."),
        ("url", "https://doi.org/10.1/x.1"),
    ),
)


def reference(fields: tuple[tuple[str, str], ...] = FIELDS) -> Document:
    text, spans = "", []
    for label, value in fields:
        text += " " if text else ""
        spans.append(Span(len(text), len(text) + len(value), label))
        text += value
    return Document.from_text(text, spans)


def fields_of(document: Document) -> list[tuple[str, str]]:
    return [(span.label, document.text[span.start : span.end]) for span in sorted(document.spans or ())]


def changed(name: str, document: Document, seed: int = 0) -> Document:
    return noise._document(getattr(noise, name)(noise._chars(document), Random(seed)))


def test_taking_a_reference_apart_and_together_changes_nothing() -> None:
    assert noise._document(noise._chars(reference())) == reference()


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 10**6))
def test_every_character_stays_in_exactly_one_field(seed: int) -> None:
    document, done = spoil(reference(), Random(seed))
    assert "".join("".join(text.split()) for _, text in fields_of(document)) == "".join(document.text.split())
    assert document == spoil(reference(), Random(seed))[0]
    assert set(done) <= {change.__name__ for _, change in CHANGES}


@pytest.mark.parametrize("name", [change.__name__ for _, change in CHANGES])
@settings(deadline=None, derandomize=True, max_examples=60)
@given(seed=st.integers(0, 1000))
def test_a_change_keeps_the_order_of_fields(name: str, seed: int) -> None:
    before = [label for label, _ in FIELDS]
    after = [label for label, _ in fields_of(changed(name, reference(), seed))]
    old = iter([label for label in before if label in after])
    kept = [label for label in after if label in before]
    assert all(a == b for a, b in zip(kept, old, strict=False)) or name == "other_doi"


def test_numbers_come_and_go() -> None:
    bare = reference(FIELDS[1:])
    for seed in range(40):
        found = fields_of(changed("numbered", bare, seed))
        assert found[0][0] == "citation-number"
        assert found[1:] == fields_of(bare)
        again = fields_of(changed("renumbered", reference(), seed))
        assert [pair for pair in again if pair[0] != "citation-number"] == fields_of(bare)


def test_what_changes_leave() -> None:
    text = changed("straightened", reference()).text
    assert not set("“”‘’") & set(text)
    assert "``On finding" in changed("tex_quoted", reference()).text
    assert "Muller" in changed("without_accents", reference()).text
    assert ("title", "“On finding. a first study.”") in fields_of(changed("subtitled", reference()))
    assert "title" not in dict(fields_of(changed("untitled", reference())))
    assert "ﬁnding" in changed("ligatures", reference()).text
    assert changed("endless", reference(FIELDS[:-1])).text.endswith("67")
    assert any(f"2001{letter}" in changed("suffixed", reference()).text for letter in "abcd")


@pytest.mark.parametrize("issue", ["(3),", "no. 12,"])
def test_an_issue_is_counted_on(issue: str) -> None:
    document = reference(tuple((label, issue if label == "issue" else value) for label, value in FIELDS))
    before, after = dict(fields_of(document)), dict(fields_of(changed("other_issue", document, 1)))
    assert {label for label in before if before[label] != after[label]} == {"issue"}
    marks = re.split(r"\d+", issue)
    assert re.split(r"\d+", after["issue"]) == marks
    assert int(re.sub(r"\D", "", after["issue"])) > 12


def test_words_behind_the_end_have_their_own_labels() -> None:
    tails = {fields_of(changed("followed", reference(), seed))[-1][0] for seed in range(60)}
    assert tails <= {"note", "genre", "accessed"}
    assert "note" in tails


def test_a_remark_in_brackets_stands_behind_the_title() -> None:
    for seed in range(20):
        before, after = fields_of(reference()), fields_of(changed("remarked", reference(), seed))
        place = after.index(next(field for field in after if field[0] == "note"))
        assert after[place - 1][0] == "title"
        assert re.fullmatch(r"[(\[].+[)\]][.,:;]?", after[place][1])
        assert [label for label, _ in after[:place] + after[place + 1 :]] == [label for label, _ in before]


def test_tokens_have_blanks_between_them_but_for_addresses_and_some_initials() -> None:
    seen = set()
    for seed in range(20):
        document = changed("tokenised", reference(), seed)
        assert fields_of(changed("tokenised", document, seed)) == fields_of(document)  # nothing is left to cut
        assert "https://doi.org/10.1/x.1" in document.text
        seen.add(re.sub(r"https.*", "", document.text))
        assert [label for label, _ in fields_of(document)] == [label for label, _ in FIELDS]
    assert len(seen) == 2


def test_a_book_may_be_cited_with_its_place_alone() -> None:
    book = (("author", "Ho, A."), ("title", "On soils."), ("collection-title", "Tracts 12."), ("location", "Rome:"))
    document = reference((*book, ("publisher", "Arbor,"), ("date", "1951.")))
    places = set()
    for seed in range(20):
        *before, (label, place), date = fields_of(changed("houseless", document, seed))
        assert [*before, date] == [*book[:-1], ("date", "1951.")]
        places.add((label, place))
    assert places == {("location", "Rome:"), ("location", "Rome,")}


def test_a_doi_is_announced_in_another_way() -> None:
    for seed in range(30):
        label, text = fields_of(changed("other_doi", reference(), seed))[-1]
        assert (label == "url") == text.startswith("http")
        assert text.endswith("10.1/x.1")


def test_lost_marks_are_not_those_of_addresses_and_words() -> None:
    for seed in range(20):
        document = changed("unmarked", reference(), seed)
        assert "https://doi.org/10.1/x.1" in document.text
        assert "O’Neill" in document.text
