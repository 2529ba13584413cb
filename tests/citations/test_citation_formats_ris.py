"""RIS records are read back by rispy as what was written."""

from __future__ import annotations

import pytest
import rispy
from citation_works import ARTICLE, CHAPTER, THESIS, WORKS, one_line, record_of
from hypothesis import given, settings

from espalier.citations.formats import write
from espalier.citations.formats.ris import entry
from espalier.citations.work import KINDS, Date, Name, Pages, Work

# rispy takes the first of two tags that are alone by its table, and cuts URLs at semicolons, unless told otherwise.
OPTIONS = {"enforce_list_tags": False, "delimiter_tags_mapping": {}}


def read(work: Work) -> dict[str, object]:
    (found,) = rispy.loads(entry(work, "key"), **OPTIONS)
    assert found.pop("id") == "key"
    return found


def test_a_thesis_in_full() -> None:
    assert entry(THESIS) == (
        "TY  - THES\n"
        "ID  - andersen1994program\n"
        "AU  - Andersen, L. O.\n"
        "TI  - Program Analysis and Specialization for the C Programming Language\n"
        "PY  - 1994\n"
        "DA  - 1994/05//\n"
        "PB  - DIKU, University of Copenhagen\n"
        "M3  - PhD thesis\n"
        "ER  - \n"
    )


def test_an_article() -> None:
    assert read(ARTICLE) == {
        "type_of_reference": "JOUR",
        "authors": ["van der Berg, Jan, Jr.", "The ACME & Sons Group", "Müller, K.-H.", "et al."],
        "title": "Why DNA folds: A Bayesian study",
        "secondary_title": "Journal of Strange & Rare Results",
        "year": "2003",
        "date": "2003/03/12/",
        "volume": "12",
        "number": "3",
        "start_page": "101",
        "end_page": "108",
        "doi": "10.1000/a_b(1)",
        "urls": ["https://example.org/a?b=1&c={2}"],
        "issn": "1234-5679",
    }


def test_a_chapter() -> None:
    assert read(CHAPTER) == {
        "type_of_reference": "CHAP",
        "authors": ["Ortega y Gasset, José"],
        "secondary_authors": ["Smith, A.", "Jones, B."],
        "title": "On nothing",
        "secondary_title": "Handbook of Everything",
        "tertiary_title": "Lecture Notes in Vacuity",
        "year": "1999",
        "date": "1999///Spring; circa",
        "start_page": "12-15, 20",
        "edition": "2nd",
        "publisher": "Void Press",
        "place_published": "New York",
        "issn": "9780306406157",
    }


@pytest.mark.parametrize(
    ("date", "year", "text"),
    [
        (Date(((1994,),)), "1994", None),
        (Date(((94,),)), "0094", None),
        (Date(((1994, 5), (1996, 12, 1))), "1994", "1994/05//to 1996-12-01"),
        (Date(((1994,),), literal="1994a"), "1994", "1994///1994a"),
        (Date(literal="in press"), None, "///in press"),
    ],
)
def test_dates(date: Date, year: str | None, text: str | None) -> None:
    found = read(Work(issued=date))
    assert (found.get("year"), found.get("date")) == (year, text)


def test_identifiers_houses_and_notes() -> None:
    work = Work(
        type="report",
        publisher="P",
        institution="I",
        issn="1",
        isbn="2",
        arxiv="1706.03762",
        number="TR-7",
        note="n",
        accessed=Date(((2020, 1, 2),)),
        translators=(Name("Smith"),),
        unread=(("pages", "?"),),
        pages=Pages("", "", "345 p."),
    )
    assert read(work) == {
        "type_of_reference": "RPRT",
        "subsidiary_authors": ["Smith"],
        "note": "TR-7",
        "start_page": "345 p.",
        "publisher": "P",
        "author_address": "I",
        "issn": ["1", "2"],
        "accession_number": "arXiv:1706.03762",
        "access_date": "2020/01/02/",
        "notes": ["n", "pages: ?"],
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_is_a_type_of_ris(kind: str) -> None:
    assert read(Work(type=kind))["type_of_reference"] in rispy.TYPE_OF_REFERENCE_MAPPING


@settings(deadline=None, derandomize=True, max_examples=30)
@given(WORKS)
def test_any_work_reads_back(work: Work) -> None:
    found = read(work)
    same = {
        **{"title": "title", "secondary_title": "container_title", "tertiary_title": "collection_title"},
        **{"volume": "volume", "number": "issue", "edition": "edition", "place_published": "location", "doi": "doi"},
        **{"note": "number", "type_of_work": "genre"},
    }
    for name, attribute in same.items():
        instead = {"edition": "version", "container_title": "event"}.get(attribute, attribute)
        value = getattr(work, attribute) or getattr(work, instead)
        assert found.get(name, "") == one_line(value), name
    assert found.get("urls", [""]) == [one_line(work.url)]
    names = [name for name in work.authors if any(map(one_line, parts(name)))]
    told = found.get("authors", [])
    assert told[len(names) :] == (["et al."] if names and "author" in work.others else [])
    for name, text in zip(names, told[: len(names)], strict=True):
        assert all(one_line(part) in text for part in parts(name))


def parts(name: Name) -> tuple[str, ...]:
    return (name.literal,) if name.literal else (name.family, name.given, name.particle, name.suffix)


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_records_are_streamed(newline: str) -> None:
    pieces = list(write((record_of(("title", title)) for title in ("One", "One")), "ris", newline=newline))
    assert len(pieces) == 2
    text = "".join(pieces)
    assert text.count("\n") == text.count(newline)
    found = rispy.loads(text)
    assert [(work["title"], work["id"]) for work in found] == [("One", "one"), ("One", "onea")]
    assert list(write([], "ris")) == []
