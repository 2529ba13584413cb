"""EndNote XML reads back as what a work holds, whatever its characters; what has no element of its own is in a note."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import fields, replace

import pytest
from citation_works import ARTICLE, CHAPTER, THESIS, WORKS, one_line
from hypothesis import given, settings

from espalier.citations.formats import page_range
from espalier.citations.formats.endnote import entry
from espalier.citations.work import KINDS, Date, Name, Work


def read(work: Work) -> ET.Element:
    return ET.fromstring(entry(work).encode("utf-8"))


def texts(work: Work, path: str) -> list[str]:
    return [element.text or "" for element in read(work).findall(path)]


def test_an_entry() -> None:
    assert entry(THESIS) == (
        '<record><ref-type name="Thesis">32</ref-type>\n'
        "<contributors><authors><author>Andersen, L. O.</author></authors></contributors>\n"
        "<titles><title>Program Analysis and Specialization for the C Programming Language</title></titles>\n"
        "<dates><year>1994</year><pub-dates><date>1994-05</date></pub-dates></dates>\n"
        "<publisher>DIKU, University of Copenhagen</publisher>\n"
        "<work-type>PhD thesis</work-type>\n"
        "</record>\n"
    )


def test_an_article() -> None:
    found = {element.tag: "".join(element.itertext()) for element in read(ARTICLE)}
    assert found == {
        "ref-type": "17",
        "contributors": "van der Berg, Jan, Jr.The ACME & Sons Group,Müller, K.-H.",
        "titles": "Why DNA folds: A Bayesian studyJournal of Strange & Rare Results",
        "periodical": "Journal of Strange & Rare Results",
        "pages": "101-108",
        "volume": "12",
        "number": "3",
        "dates": "20032003-03-12",
        "isbn": "1234-5679",
        "electronic-resource-num": "10.1000/a_b(1)",
        "research-notes": "author: et al.",
        "urls": "https://example.org/a?b=1&c=%7B2%7D",
    }


def test_a_chapter() -> None:
    assert texts(CHAPTER, "contributors/secondary-authors/author") == ["Smith, A.", "Jones, B."]
    assert texts(CHAPTER, "titles/*") == ["On nothing", "Handbook of Everything", "Lecture Notes in Vacuity"]
    assert texts(CHAPTER, "periodical") == []
    assert texts(CHAPTER, "pages") == ["12-15, 20"]
    assert texts(CHAPTER, "dates/*") == ["1999", ""]
    assert texts(CHAPTER, "dates/pub-dates/date") == ["1999-21~"]
    assert [texts(CHAPTER, tag) for tag in ("edition", "publisher", "pub-location", "isbn")] == [
        ["2nd"],
        ["Void Press"],
        ["New York"],
        ["9780306406157"],
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_has_a_name_and_a_number(kind: str) -> None:
    element = read(Work(type=kind)).find("ref-type")
    assert element is not None
    assert element.get("name")
    assert (element.text or "").isdigit()


@pytest.mark.parametrize(
    ("name", "written"),
    [
        (Name("Smith", "A."), "Smith, A."),
        (Name("Smith"), "Smith"),
        (Name(literal="World Health Organization"), "World Health Organization,"),
        (Name(literal="University of California, Irvine, Library"), "University of California,, Irvine, Library"),
    ],
)
def test_names(name: Name, written: str) -> None:
    assert texts(Work(authors=(name,)), "contributors/authors/author") == [written]


@pytest.mark.parametrize(
    ("date", "year", "more"),
    [
        (Date(((1994,),)), "1994", []),
        (Date(((1994,), (1996,))), "1994-1996", []),
        (Date(((1994, 5), (1994, 6))), "1994", ["1994-05/1994-06"]),
        (Date(((1850,),), circa=True), "1850", ["1850~"]),
        (Date(literal="in press"), "in press", []),
    ],
)
def test_dates(date: Date, year: str, more: list[str]) -> None:
    work = Work(issued=date)
    assert (texts(work, "dates/year"), texts(work, "dates/pub-dates/date")) == ([year], more)


def test_what_has_no_element_is_a_note() -> None:
    work = Work(
        issued=Date(((2004,),), literal="2004a"),
        accessed=Date(((2005, 3),), literal="03/2005"),
        institution="DIKU",
        publisher="Void Press",
        number="TR-1",
        issue="2",
        arxiv="1234.5678",
        note="In Danish.",
        others=frozenset({"editor"}),
        unread=(("pages", "?"),),
    )
    assert texts(work, "research-notes") == [
        "editor: et al.; institution: DIKU; number: TR-1; date: 2004a; accessed: 03/2005; pages: ?"
    ]
    assert texts(work, "notes") == ["In Danish."]
    assert texts(work, "accession-num") == ["arXiv:1234.5678"]
    assert texts(work, "access-date") == ["2005-03"]
    assert texts(replace(work, issue=""), "number") == ["TR-1"]
    assert texts(replace(work, publisher=""), "publisher") == ["DIKU"]


@settings(deadline=None, derandomize=True, max_examples=200)
@given(WORKS)
def test_any_work_reads_back_and_nothing_is_lost(work: Work) -> None:
    everything = " ".join("".join(read(work).itertext()).split())
    found = {" ".join(text.split()) for text in read(work).itertext()} | {everything}
    for field in fields(Work):
        value = getattr(work, field.name)
        if isinstance(value, str) and field.name not in ("type", "url"):
            assert any(one_line(value) in text for text in found), field.name
    for name in (*work.authors, *work.editors, *work.translators):
        parts = (name.literal,) if name.literal else (name.family, name.given, name.particle, name.suffix)
        assert all(one_line(part).replace(",", "") in everything.replace(",", "") for part in parts)
    for _, text in work.unread:
        assert one_line(text) in everything
    if work.pages:
        assert page_range(work.pages, "-") in everything
