"""The styles of BibTeX and of physics: the strings that the styles themselves give, and their labels."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from rendering.bibtex import STYLES, Writer, people, person
from rendering.words import Words

DOE, ROE = {"family": "Doe", "given": "Jane Ann"}, {"family": "Roe", "given": "Richard", "non-dropping-particle": "de"}
ARTICLE = {
    **{
        "kind": "article",
        "type": "article-journal",
        "title": "On things",
        "author": [DOE, ROE],
        "volume": "12",
        "issue": "3",
    },
    **{"container-title": "Journal of Things", "page": "45", "issued": {"date-parts": [[2001, 5]]}},
}


def fields(item: dict[str, Any], style: str, seed: int = 0) -> list[tuple[str, str]]:
    document = Writer(Random(seed), Words.read("train")).write(item, style)
    assert document is not None
    return [(span.label, document.text[span.start : span.end]) for span in sorted(document.spans or ())]


def without_last_stop(found: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The last full stop is left out now and then."""
    return [*found[:-1], (found[-1][0], found[-1][1].rstrip("."))]


@pytest.mark.parametrize(
    ("style", "start"),
    [
        (
            "plain",
            [
                ("author", "Jane Ann Doe and Richard de Roe."),
                ("title", "On things."),
                ("container-title", "Journal of Things,"),
            ],
        ),
        (
            "abbrv",
            [
                ("author", "J. A. Doe and R. de Roe."),
                ("title", "On things."),
                ("container-title", "Journal of Things,"),
            ],
        ),
        ("apalike", [("author", "Doe, J. A. and de Roe, R."), ("date", "(2001)."), ("title", "On things.")]),
        (
            "siam",
            [("author", "J.A. DOE and R. DE ROE,"), ("title", "On things,"), ("container-title", "Journal of Things,")],
        ),
        (
            "acm",
            [
                ("author", "DOE, J. A. and DE ROE, R."),
                ("title", "On things."),
                ("container-title", "Journal of Things"),
            ],
        ),
        (
            "amsplain",
            [
                ("author", "Jane Ann Doe and Richard de Roe,"),
                ("title", "On things,"),
                ("container-title", "Journal of Things"),
            ],
        ),
    ],
)
def test_the_beginning_of_an_article(style: str, start: list[tuple[str, str]]) -> None:
    assert fields(ARTICLE, style)[:3] == start


def test_the_end_of_an_article() -> None:
    found = without_last_stop(fields(ARTICLE, "ieeetr"))
    assert found[3:] == [("volume", "vol. 12,"), ("issue", "no. 3,"), ("pages", "pp. 45,"), ("date", "May 2001")]
    found = without_last_stop(fields(ARTICLE, "siam"))
    assert found[3:] == [("volume", "12"), ("date", "(May 2001),"), ("pages", "pp. 45")]
    found = without_last_stop(fields(ARTICLE, "alpha"))
    assert found[0] == ("citation-number", "[DR01]")
    assert [label for label, _ in found[4:]] == ["volume", "issue", "pages", "date"]


def test_a_thesis_has_an_institution_and_a_series_a_number() -> None:
    thesis = {
        "kind": "thesis",
        "title": "On things",
        "author": [DOE],
        "genre": "PhD thesis",
        "publisher": "MIT",
        "issued": {"date-parts": [[1999, 5]]},
    }
    assert without_last_stop(fields(thesis, "plain"))[2:] == [
        ("genre", "PhD thesis,"),
        ("institution", "MIT,"),
        ("date", "May 1999"),
    ]
    book = {
        "kind": "book",
        "title": "Things",
        "author": [DOE],
        "publisher": "Springer",
        "publisher-place": "Berlin",
        "issued": {"date-parts": [[1999]]},
    }
    series = {"collection-title": "Lecture Notes in Computer Science", "collection-number": "7"}
    found = {label for label, _ in fields({**book, **series}, "plain", 1)}
    assert {"collection-title", "volume", "publisher", "location", "date"} <= found


def test_physics_has_journal_volume_page_and_year() -> None:
    for style in ("revtex", "jhep", "apj"):
        for seed in range(20):
            found = [label for label, _ in fields(ARTICLE, style, seed)]
            assert {"author", "container-title", "volume", "pages", "date"} <= set(found)


def test_names() -> None:
    assert person({"literal": "The Group"}, "capitals") == "The Group"
    assert people(Random(0), [DOE, ROE, DOE], "initials", " and ") == "J. A. Doe, R. de Roe, and J. A. Doe"


def test_what_a_style_cannot_print_is_left_out() -> None:
    writer = Writer(Random(0), Words.read("train"))
    assert writer.write({"kind": "webpage", "title": "A page"}, "plain") is None
    assert all(writer.write({"kind": "article", "title": "It"}, style) is None for style in STYLES)
