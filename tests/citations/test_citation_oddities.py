"""What looks odd: each kind is found where it is, and nowhere else, and lowers how sure a record is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import espalier as es
from espalier.citations.oddities import ODDITIES, lowered, oddities
from espalier.citations.work import Date, Name, Pages, Work

PLAIN = Work(
    type="article-journal",
    authors=(Name("Smith", "A. B."), Name("Jones", "Carl"), Name(literal="Plum Society")),
    title="Soil salts (a survey)",
    container_title="Acta Hortic.",
    volume="12",
    pages=Pages("33", "39", "33-39"),
    issued=Date(((2004,),)),
    isbn="978-0-306-40615-7",
    issn="0378-5955",
)
ODD = {
    "many initials": Work(authors=(Name("Smith", "A. B. C. D. E."),)),
    "lone name": Work(authors=(Name("Smith", "A."), Name("Jones"))),
    "initial as name": Work(authors=(Name("Smith", "A."), Name(literal="F."))),
    "digit in name": Work(editors=(Name("Smith 2004", "A."),)),
    "pages backwards": Work(pages=Pages("39", "33", "39-33")),
    "check digit": Work(isbn="978-0-306-40615-8"),
    "future": Work(issued=Date(((2999,),))),
    "short title": Work(title="A"),
    "open bracket": Work(title="Soil salts (a survey"),
    "lacking": Work(type="chapter", title="Soil salts"),
}


def test_an_ordinary_work_has_none() -> None:
    assert oddities(PLAIN) == ()
    assert oddities(Work()) == ()


def test_every_kind_has_its_example() -> None:
    assert set(ODD) == {row.name for row in ODDITIES}


@pytest.mark.parametrize("name", ODD)
def test_each_is_found_alone(name: str) -> None:
    assert oddities(ODD[name]) == (name,)


@pytest.mark.parametrize(
    "work",
    [
        Work(authors=(Name("Smith", "A."), Name(literal="WHO"))),
        Work(authors=(Name("Smith"), Name("Jones"))),
        Work(authors=(Name("Smith", "Anna B. C. D. E."),)),
        Work(pages=Pages("S39", "S41", "S39-S41")),
        Work(pages=Pages("xii", "9", "xii-9")),
        Work(pages=Pages("12", "12", "12-12")),
        Work(pages=Pages("101", "108", "101-8")),
        Work(isbn="0-306-40615-2"),
        Work(issn="2049-3630"),
        Work(title="中"),
        Work(type="paper-conference", event="Plum Days"),
        Work(type="legal_case"),
        Work(type="book", title="Storia di Venezia", location="Torino"),
    ],
)
def test_what_is_only_unusual_is_none(work: Work) -> None:
    assert oddities(work) == ()


@given(st.floats(0.0, 1.0), st.lists(st.sampled_from([row.name for row in ODDITIES]), unique=True))
@settings(deadline=None, derandomize=True)
def test_confidence_only_falls_and_stays_in_its_range(sure: float, odd: list[str]) -> None:
    found = lowered(sure, tuple(odd))
    assert 0.0 <= found <= sure + 1e-12
    if not odd:
        assert found == sure
    assert lowered(sure, tuple(odd)) <= lowered(sure, tuple(odd[1:])) + 1e-12


def test_a_record_names_them_and_is_less_sure() -> None:
    parser = es.load("citations")
    plain = parser.parse("Smith AB, Jones C. Soil salts. Acta Hortic. 2004;12(4):33-39.")
    odd = parser.parse("Smith AB, Jones C. Soil salts. Acta Hortic. 2004;12(4):933-839.")
    assert plain.odd == ()
    assert odd.odd == ("pages backwards",)
    assert "odd" not in plain.to_dict()
    assert odd.to_dict()["odd"] == ["pages backwards"]
    assert odd.confidence < plain.confidence
