"""CSL items satisfy the published schema, keep every value, and are set by a citation processor."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from citation_works import ARTICLE, CHAPTER, THESIS, WORKS, record_of
from citeproc import Citation, CitationItem, CitationStylesBibliography, CitationStylesStyle, formatter
from citeproc.source.json import CiteProcJSON
from hypothesis import given, settings

from espalier.citations.formats import to_json, write
from espalier.citations.formats.csl import item
from espalier.citations.work import KINDS, Date, Name, Work

# The constraints of csl-data.json (CSL 1.0.2) on the variables that are written; whatever keeps these keeps the schema.
TEXT = {
    *("title", "container-title", "collection-title", "publisher", "publisher-place", "authority", "genre", "note"),
    *("DOI", "URL", "ISBN", "ISSN", "archive", "archive_location", "year-suffix", "event-title", "version"),
    *("PMID", "PMCID"),
}
NUMBERS = {"volume", "issue", "page", "edition", "number", "number-of-pages", "number-of-volumes"}
TYPES = {
    *("article", "article-journal", "book", "chapter", "document", "paper-conference", "report", "thesis", "webpage"),
    *("article-newspaper", "article-magazine", "dataset", "software", "patent", "standard", "legal_case", "manuscript"),
    *("legislation", "motion_picture", "broadcast", "map", "post-weblog", "personal_communication"),
}
NAME_PARTS = {"family", "given", "dropping-particle", "non-dropping-particle", "suffix", "literal"}


def check_schema(found: dict[str, Any]) -> None:
    assert isinstance(found["id"], str | int)
    assert found["type"] in TYPES
    for variable, value in found.items():
        if variable in ("author", "editor", "translator"):
            assert isinstance(value, list)
            for name in value:
                assert set(name) <= NAME_PARTS
                assert all(isinstance(part, str) for part in name.values())
        elif variable in ("issued", "accessed", "original-date"):
            check_date(value)
        elif variable == "custom":
            assert isinstance(value, dict)
        elif variable in NUMBERS:
            assert isinstance(value, str | int)
        else:
            assert variable in TEXT | {"id", "type"}
            assert isinstance(value, str)


def check_date(date: dict[str, Any]) -> None:
    assert set(date) <= {"date-parts", "season", "circa", "literal", "raw"}
    if "date-parts" in date:
        assert 1 <= len(date["date-parts"]) <= 2
        assert all(1 <= len(parts) <= 3 for parts in date["date-parts"])
        assert all(isinstance(part, int) for parts in date["date-parts"] for part in parts)
    assert isinstance(date.get("season", 1), int)
    assert isinstance(date.get("circa", True), bool)
    assert isinstance(date.get("literal", ""), str)


def test_a_thesis_in_full() -> None:
    assert item(THESIS) == {
        "id": "andersen1994program",
        "type": "thesis",
        "author": [{"family": "Andersen", "given": "L. O."}],
        "title": "Program Analysis and Specialization for the C Programming Language",
        "publisher": "DIKU, University of Copenhagen",
        "genre": "PhD thesis",
        "issued": {"date-parts": [[1994, 5]]},
    }


def test_an_article_in_full() -> None:
    assert item(ARTICLE, "x") == {
        "id": "x",
        "type": "article-journal",
        "author": [
            {"family": "Berg", "given": "Jan", "non-dropping-particle": "van der", "suffix": "Jr."},
            {"literal": "The ACME & Sons Group"},
            {"family": "Müller", "given": "K.-H."},
            {"literal": "others"},
        ],
        "title": "Why DNA folds: A Bayesian study",
        "container-title": "Journal of Strange & Rare Results",
        "volume": "12",
        "issue": "3",
        "page": "101-108",
        "issued": {"date-parts": [[2003, 3, 12]]},
        "DOI": "10.1000/a_b(1)",
        "URL": "https://example.org/a?b=1&c={2}",
        "ISSN": "1234-5679",
    }


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        (Date(((1994,), (1996, 2))), {"date-parts": [[1994], [1996, 2]]}),
        (Date(((1999,),), season=2), {"date-parts": [[1999]], "season": 2}),
        (Date(((1850,),), circa=True), {"date-parts": [[1850]], "circa": True}),
        (Date(literal="in press"), {"literal": "in press"}),
        (Date(), None),
        (None, None),
    ],
)
def test_dates(date: Date | None, expected: dict[str, Any] | None) -> None:
    found = item(Work(issued=date, accessed=date))
    assert found.get("issued") == found.get("accessed") == expected
    assert "custom" not in found


def test_what_csl_has_no_variable_for() -> None:
    work = Work(
        publisher="P",
        institution="I",
        arxiv="1706.03762",
        number="TR-7",
        issued=Date(((1994,),), literal="1994a"),
        unread=(("other", "#"),),
    )
    found = item(work, "x")
    check_schema(found)
    assert found == {
        "id": "x",
        "type": "document",
        "publisher": "P",
        "authority": "I",
        "number": "TR-7",
        "archive": "arXiv",
        "archive_location": "1706.03762",
        "issued": {"date-parts": [[1994]]},
        "year-suffix": "a",
        "custom": {"unread": [["other", "#"]], "issued": "1994a"},
    }


@pytest.mark.parametrize(
    ("date", "suffix"),
    [
        (Date(((2004, 5),), literal="May 2004b"), "b"),
        (Date(((1998,),), literal="1998b; in press"), "b"),
        (Date(((1994,),), literal="1994 [1923a]"), None),
        (Date(((1994,),), literal="1994-"), None),
        (Date(literal="2004a"), None),
        (Date(((2004,),)), None),
    ],
)
def test_the_letter_of_a_year(date: Date, suffix: str | None) -> None:
    assert item(Work(issued=date)).get("year-suffix") == suffix


def test_names_without_any_text_are_no_names() -> None:
    assert item(Work(authors=(Name(), Name("Plato"))))["author"] == [{"family": "Plato"}]


@settings(deadline=None, derandomize=True, max_examples=30)
@given(WORKS)
def test_any_work_satisfies_the_schema_and_reads_back(work: Work) -> None:
    text = to_json(item(work))
    assert "\n" not in text
    assert len(text.splitlines()) == 1
    found = json.loads(text.encode("utf-8"))
    check_schema(found)
    same = {
        **{name: name for name in ("title", "volume", "issue", "edition", "genre", "note", "number")},
        **{"container-title": "container_title", "collection-title": "collection_title", "publisher-place": "location"},
        **{"DOI": "doi", "URL": "url", "ISBN": "isbn", "ISSN": "issn"},
    }
    for variable, attribute in same.items():
        assert found.get(variable, "") == getattr(work, attribute)
    assert found.get("archive_location", "") == (work.arxiv or work.jstor or work.handle)
    houses = {found.get("publisher", ""), found.get("authority", "")}
    assert houses | {""} == {work.publisher, work.institution, ""}
    families = [name.family for name in work.authors if not name.literal and name.family]
    assert [name["family"] for name in found.get("author", []) if "family" in name] == families


def test_every_type_of_work_is_a_type_of_csl() -> None:
    assert set(KINDS) <= TYPES


def test_the_array_is_streamed() -> None:
    pieces = write((record_of(("title", title)) for title in ("One", "Two")), "csl")
    first = next(pieces)
    assert first.startswith("[\n{")
    items = json.loads(first + "".join(pieces))
    assert [found["title"] for found in items] == ["One", "Two"]
    assert json.loads("".join(write([], "csl"))) == []


def set_by_citeproc(works: list[Work]) -> list[str]:
    """Return the bibliography in the style that comes with citeproc-py."""
    items = json.loads(to_json([item(work) for work in works]))
    style = CitationStylesStyle("harvard-cite-them-right", validate=False)
    bibliography = CitationStylesBibliography(style, CiteProcJSON(items), formatter.plain)
    for found in items:
        bibliography.register(Citation([CitationItem(found["id"])]))
    return [str(entry) for entry in bibliography.bibliography()]


@pytest.mark.filterwarnings("ignore")  # of citeproc-py, about variables and style elements that it does not know
def test_a_citation_processor_sets_the_items() -> None:
    texts = set_by_citeproc([THESIS, ARTICLE, CHAPTER])
    thesis, article, chapter = (next(text for text in texts if word in text) for word in ("Andersen", "Berg", "Ortega"))
    assert re.match(r"Andersen, L\.\s?O\. \(1994\)", thesis)
    assert "Program Analysis and Specialization" in thesis
    assert "DIKU" in thesis
    assert re.search(r"van der Berg.*\(2003\).*Journal of Strange.*12\(3\).*101.108", article)
    assert re.search(r"Ortega y Gasset, J\..*1999.*On nothing.*Handbook of Everything.*Void Press", chapter)
