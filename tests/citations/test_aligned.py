"""Values of a publisher are found where they stand in the reference, and nowhere else."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.citations.aligned import aligned
from espalier.citations.partly_labelled import from_excite, from_publisher, last_fifth
from espalier.citations.record import LABELS
from espalier.citations.schemes import load_scheme
from espalier.document import Document

ARTICLE = (
    "7. Okafor N, van der Meer JJ, et al. Frost in 2011 gardens. Acta Hortic. 2011;11(2):71-9. doi: 10.1000/frost.11"
)
VALUES: dict[str, Any] = {
    "authors": [{"family": "Okafor", "given": "N"}, {"family": "van der Meer", "given": "JJ"}],
    "title": "Frost in 2011 gardens",
    "container": "Acta Hortic",
    "year": "2011",
    "volume": "11",
    "issue": "2",
    "first": "71",
    "last": "79",
    "doi": "10.1000/frost.11",
}


def found(text: str, values: dict[str, Any], kind: str = "") -> list[tuple[str, str]]:
    """Return labels and words."""
    return [(span.label, text[span.start : span.end]) for span in aligned(text, values, kind)]


def test_every_value_has_its_place() -> None:
    assert found(ARTICLE, VALUES) == [
        ("author", "Okafor N, van der Meer JJ, et al."),
        ("title", "Frost in 2011 gardens"),
        ("container", "Acta Hortic"),
        ("date", "2011"),
        ("volume", "11"),
        ("issue", "2"),
        ("pages", "71-9"),
        ("doi", "10.1000/frost.11"),
    ]


def test_what_is_between_goes_to_a_field_or_stays_open() -> None:
    document = from_publisher(
        {"text": ARTICLE + ". PMID: 12345", "fields": VALUES, "type": "journal", "id": "x"}, load_scheme("publishers")
    )
    fields = [(span.label, document.text[span.start : span.end]) for span in document.spans or ()]
    assert fields[:3] == [
        ("citation-number", "7."),
        ("author", "Okafor N, van der Meer JJ, et al."),
        ("title", "Frost in 2011 gardens."),
    ]
    assert ("issue", "(2):") in fields
    assert fields[-1] == ("doi", "doi: 10.1000/frost.11.")
    assert [document.text[a:b] for a, b in document.unknown] == ["PMID: 12345"]
    assert {label for label, _ in fields} <= set(LABELS)


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        # numbers that stand several times: the closest together, in their order
        (
            "A 5 b. Letters 5(5):5.",
            {"volume": "5", "issue": "5", "first": "5"},
            [("volume", "5"), ("issue", "5"), ("pages", "5")],
        ),
        ("Letters 5, 5 and 5.", {"volume": "5"}, []),  # which one?
        # the year with the letter of an author-date list; not the one inside the title
        (
            "Berg (1999b) Years 1999 to 2000.",
            {"year": "1999", "title": "Years 1999 to 2000"},
            [("date", "1999b"), ("title", "Years 1999 to 2000")],
        ),
        ("Berg 1999, 1999.", {"year": "1999"}, []),
        # an address with what resolves it
        ("X. https://doi.org/10.1/a", {"doi": "10.1/a"}, [("doi", "https://doi.org/10.1/a")]),
        # a value that is only a part of a word is none
        ("Letters 12: 345.", {"volume": "1", "first": "34"}, []),
    ],
)
def test_one_value(text: str, values: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert found(text, values) == expected


@pytest.mark.parametrize(
    ("text", "people", "expected"),
    [
        (
            "LE GOFF, Jacques; Ada Byron. X",
            [{"family": "Le Goff", "given": "Jacques"}, {"family": "Byron", "given": "Ada"}],
            "LE GOFF, Jacques; Ada Byron",
        ),
        ("World Health Board (WHB). X", [{"literal": "World Health Board (WHB)"}], "World Health Board (WHB)"),
        ("Silva Filho AB. X", [{"family": "Silva", "given": "AB", "suffix": "Filho"}], "Silva Filho AB."),
        ("Okafor N. X", [{"family": "Okafor"}, {"family": "Berg"}], ""),  # one is missing: none is known
    ],
)
def test_names_in_a_row(text: str, people: list[dict[str, str]], expected: str) -> None:
    assert found(text, {"authors": people}) == ([("author", expected)] if expected else [])


def test_the_printer_of_a_thesis_is_an_institution() -> None:
    values = {"title": "On frost", "publisher": "Lake University", "place": "Graz"}
    assert dict(found("On frost. Graz: Lake University", values, "thesis"))["institution"] == "Lake University"
    assert dict(found("On frost. Graz: Lake University", values, "book"))["publisher"] == "Lake University"


WORDS = st.lists(st.sampled_from(["Frost", "12", "1999", "(", ")", ",", "7-9", "A", "b", "doi"]), max_size=12)


@given(WORDS, st.sampled_from(["12", "7", "", "1999"]), st.sampled_from(["Frost", "A b", ""]))
def test_fields_are_apart_and_hold_their_values(words: list[str], number: str, title: str) -> None:
    text = " ".join(words)
    values = {
        "volume": number,
        "first": "7",
        "year": "1999",
        "title": title,
        "authors": [{"family": "A", "given": "b"}],
    }
    spans = aligned(text, values)
    assert all(before.end <= after.start for before, after in pairwise(spans))
    for span in spans:
        assert text[span.start : span.end].startswith(
            {"volume": number, "title": title, "date": "1999"}.get(span.label, "")
        )


def excite(*parts: tuple[str, str], places: tuple[str, ...] = ()) -> tuple[Document, list[tuple[str, str]]]:
    """Convert a reference of EXCITE, given label by label."""
    tokens = [word for _, text in parts for word in text.split()]
    bio = [
        tag
        for label, text in parts
        for k, _ in enumerate(text.split())
        for tag in [label if label == "O" else f"{'I' if k else 'B'}-{label}"]
    ]
    document = from_excite(
        {"id": "x", "tokens": tokens, "bio": bio, "text": " ".join(tokens)}, load_scheme("excite"), places
    )
    return document, [(span.label, document.text[span.start : span.end]) for span in document.spans or ()]


def test_cues_belong_to_fields_and_remarks_are_open() -> None:
    document, fields = excite(
        ("author", "Berg , A ."), ("O", "("), ("year", "2004"), ("O", ") :"), ("title", "Obst"), ("O", ". In :"),
        ("source", "Der Garten"), ("O", ","), ("other", "Jg ."), ("volume", "3"), ("O", ", S ."), ("fpage", "7"),
        ("O", "-"), ("lpage", "9"), ("O", ", im Druck"),
    )  # fmt: skip
    assert ("container-title", "In : Der Garten ,") in fields
    assert ("pages", "S . 7 - 9 ,") in fields
    assert [document.text[a:b].strip() for a, b in document.unknown] == ["Jg .", "im Druck"]


def test_a_place_is_what_stands_before_a_publisher_elsewhere() -> None:
    parts = ("title", "Obst ."), ("other", "Graz"), ("O", ".")
    assert excite(*parts)[1] == [("title", "Obst .")]
    assert excite(*parts, places=("Graz",))[1] == [("title", "Obst ."), ("location", "Graz .")]


def test_who_stands_in_front_and_edits_nothing_is_the_author() -> None:
    assert excite(("editor", "Amt"), ("year", "1999"), ("title", "Obst"))[1][0] == ("author", "Amt")
    assert excite(("editor", "Berg"), ("O", "( Hg . )"), ("year", "1999"), ("title", "Obst"))[1][0][0] == "editor"


def test_a_fifth_of_the_papers_teaches_nothing() -> None:
    assert 150 < sum(last_fifth(f"paper{k}") for k in range(1000)) < 250


def test_numbers_of_series_and_editions_are_told_apart() -> None:
    fields = excite(("title", "Obst"), ("issue", "3 ."), ("O", "Auflage ."), ("publisher", "Wald"))[1]
    assert ("edition", "3 . Auflage .") in fields
    assert ("issue", "Nr . 7") in excite(("title", "Obst"), ("O", ","), ("volume", "Nr . 7"))[1]
