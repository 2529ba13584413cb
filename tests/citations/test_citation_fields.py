"""Labels that can only be a mistake are mended on the way from a record to its work, and no text is lost by it."""

from __future__ import annotations

import pytest
from citation_works import record_of
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise.fields import fields_of
from espalier.citations.record import LABELS
from espalier.citations.schemes import load_refinements

Pairs = list[tuple[str, str]]

AUTHOR = ("author", "Lund, A.,")
TITLE = ("title", "Hedges of the north.")
FEN = ("container-title", "J. Fen")
PNAS = ("container-title", "Proc Natl Acad Sci")


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        # the end of a journal's name that looks like a place
        (
            [AUTHOR, TITLE, PNAS, ("location", "USA"), ("volume", "101:")],
            [AUTHOR, TITLE, ("container-title", "Proc Natl Acad Sci USA"), ("volume", "101:")],
        ),
        ([TITLE, FEN, ("location", "Leeds")], [TITLE, ("container-title", "J. Fen Leeds")]),
        # numbers that only their order tells apart
        (
            [FEN, ("volume", "23,"), ("pages", "107"), ("date", "(Jul. 1969),"), ("pages", "683")],
            [FEN, ("volume", "23,"), ("issue", "107"), ("date", "(Jul. 1969),"), ("pages", "683")],
        ),
        (
            [FEN, ("volume", "716,"), ("issue", "1"), ("date", "(2012)")],
            [FEN, ("volume", "716,"), ("pages", "1"), ("date", "(2012)")],
        ),
        ([FEN, ("volume", "2000-11-20")], [FEN, ("date", "2000-11-20")]),
        # a key or a number before the names
        (
            [("author", "Mill 1843 — Mill, J. S.,"), TITLE],
            [("citation-number", "Mill 1843 —"), ("author", "Mill, J. S.,"), TITLE],
        ),
        ([("author", "23 Giorgi A."), TITLE], [("citation-number", "23"), ("author", "Giorgi A."), TITLE]),
        ([("author", "7-Decq P."), TITLE], [("citation-number", "7-"), ("author", "Decq P."), TITLE]),
        # who stands first has written it
        ([("publisher", "Ministry of Health,"), TITLE], [("author", "Ministry of Health,"), TITLE]),
        (
            [("container-title", "Hedge Trust"), ("date", "(2009)."), TITLE],
            [("author", "Hedge Trust"), ("date", "(2009)."), TITLE],
        ),
        # years of titles
        (
            [AUTHOR, ("title", "Hedge statistics,"), ("date", "2002."), FEN, ("date", "2005")],
            [AUTHOR, ("title", "Hedge statistics, 2002."), FEN, ("date", "2005")],
        ),
        (
            [AUTHOR, ("date", "(2016)."), ("title", "Libraries"), ("date", "2016.")],
            [AUTHOR, ("date", "(2016)."), ("title", "Libraries 2016.")],
        ),
        # what a work is in
        ([AUTHOR, FEN, ("url", "https://a.org")], [AUTHOR, ("title", "J. Fen"), ("url", "https://a.org")]),
        (
            [AUTHOR, TITLE, ("editor", "in: Bell, K. (Hrsg.):"), ("publisher", "Trees,")],
            [AUTHOR, TITLE, ("editor", "in: Bell, K. (Hrsg.):"), ("container-title", "Trees,")],
        ),
        (
            [("title", "La conjecture."), ("container-title", "I. Ann. Fen")],
            [("title", "La conjecture. I."), ("container-title", "Ann. Fen")],
        ),
        # versions of packages, and theses in archives
        (
            [("title", "Hedges. R package version 2."), ("pages", "8-19."), ("url", "https://a.org")],
            [("title", "Hedges. R package version 2."), ("edition", "8-19."), ("url", "https://a.org")],
        ),
        (
            [TITLE, ("genre", "[Dissertation,"), ("institution", "University of Ely]. Fen Archive")],
            [TITLE, ("genre", "[Dissertation,"), ("institution", "University of Ely]."), ("publisher", "Fen Archive")],
        ),
    ],
)
def test_what_can_only_be_a_mistake(pairs: Pairs, expected: Pairs) -> None:
    assert fields_of(record_of(*pairs)) == expected


@pytest.mark.parametrize(
    "pairs",
    [
        [AUTHOR, TITLE, FEN, ("volume", "12,"), ("pages", "3-9"), ("date", "1990")],
        [TITLE, ("container-title", "In Proceedings of the Third Workshop on Trees"), ("location", "Bled, Slovenia.")],
        [TITLE, ("container-title", "Africa Explores"), ("location", "New York:"), ("publisher", "Prestel")],
        [TITLE, ("container-title", "Nature,"), ("location", "London,"), ("volume", "12")],
        [("author", "Bell 3rd, A.,"), TITLE],
        [AUTHOR, ("title", "Annual plan."), ("publisher", "Ministry of Health,")],
        [AUTHOR, TITLE, FEN, ("volume", "7"), ("issue", "(3)"), ("date", "(2012)")],
        [AUTHOR, TITLE, ("date", "1929."), ("location", "Ely:"), ("publisher", "Fen,"), ("date", "2005.")],
        [AUTHOR, TITLE, ("editor", "in: Bell, K. (Hrsg.):"), ("publisher", "Fen Press,")],
    ],
)
def test_what_only_looks_like_it_stays(pairs: Pairs) -> None:
    assert fields_of(record_of(*pairs)) == pairs


PIECES = st.sampled_from(
    [
        *(
            "Heath 1978 :",
            "23",
            "J. Bell",
            "USA",
            "Fen",
            "in: A. Ho (Hrsg.):",
            "R package version 2.",
            "8-19.",
            "I. Ann.",
        ),
        *("2002.", "(2012)", "statistics,", "12", "2000-11-20", "University of Ely]. Fen", "Proc. Fen", ",", "v."),
    ]
)
FIELDS = st.tuples(st.sampled_from(LABELS), st.lists(PIECES, min_size=1, max_size=3).map(" ".join))


@settings(deadline=None, derandomize=True, max_examples=400)
@given(st.lists(FIELDS, max_size=8))
def test_no_text_is_lost_and_none_invented(pairs: Pairs) -> None:
    def whole(several: Pairs) -> str:
        return "".join(text for _, text in several).replace(" ", "")

    found = fields_of(record_of(*pairs))
    assert whole(found) == whole(pairs)
    assert {label for label, _ in found} <= set(LABELS)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.lists(PIECES, min_size=1, max_size=4).map(" ".join))
def test_a_row_that_looks_at_the_front_finds_nothing_elsewhere(text: str) -> None:
    for row in load_refinements("reading"):
        found = row.pattern.search(text)
        assert found is None or not row.at_front or found.start() == 0


def test_the_work_has_it_and_the_record_says_what_the_model_said() -> None:
    record = record_of(("author", "Chen L."), TITLE, PNAS, ("location", "USA."), ("volume", "101:"))
    assert (record.work.container_title, record.work.location) == ("Proc Natl Acad Sci USA", "")
    assert [field.label for field in record.fields][2:4] == ["container-title", "location"]


@pytest.mark.parametrize(
    ("series", "expected"),
    [
        ("ser. Fen Monographs,", "Fen Monographs"),
        ("coll. « Le fen »", "Le fen"),
        ("of Lecture Notes in Soils,", "Lecture Notes in Soils"),
        ("in Fen Studies", "Fen Studies"),
        ("Series in Soils", "Series in Soils"),
        ("Of Fens and Men", "Of Fens and Men"),
    ],
)
def test_a_series_has_its_name_only(series: str, expected: str) -> None:
    work = record_of(AUTHOR, TITLE, ("collection-title", series), ("publisher", "Ely")).work
    assert (work.collection_title, work.unread) == (expected, ())


def test_a_key_before_the_names_is_kept() -> None:
    keyed = record_of(("author", "Mill 1843 — Mill, J. S.,"), TITLE).work
    assert [name.family for name in keyed.authors] == ["Mill"]
    assert keyed.unread == (("citation-number", "Mill 1843"),)


def test_the_edition_of_a_book_is_no_month() -> None:
    book = record_of(AUTHOR, TITLE, ("location", "Ely"), ("date", "2 2006.")).work
    assert book.issued is not None
    assert (book.issued.parts, book.issued.literal) == (((2006,),), "2 2006")
    article = record_of(AUTHOR, TITLE, FEN, ("date", "2 2006.")).work
    assert article.issued is not None
    assert article.issued.parts == ((2006, 2),)


def test_shortened_and_spaced_pages_are_not_said_twice() -> None:
    for text, expected in (("345, 350–52", "345, 350–352"), ("110 565–110 574", "110565–110574")):
        work = record_of(AUTHOR, TITLE, FEN, ("pages", text)).work
        assert work.pages is not None
        assert (work.pages.text, work.unread) == (expected, ())
    assert record_of(FEN, ("pages", "12â19")).work.pages == ("12", "19", "12–19")


def test_dates_of_a_work() -> None:
    """The later edition of a book, the book of a meeting, the month that one of two dates has."""
    later = record_of(TITLE, ("date", "1929."), ("location", "Ely:"), ("publisher", "Fen,"), ("date", "2005.")).work
    assert later.issued is not None
    assert later.original_date is not None
    assert (later.issued.parts, later.original_date.parts) == (((2005,),), ((1929,),))
    meeting = record_of(TITLE, ("container-title", "Proc. Walls;"), ("date", "2011 Sep 13-15;"), ("date", "2012."))
    month = record_of(("date", "1978."), TITLE, FEN, ("date", "(July 1978),"))
    update = record_of(TITLE, ("date", "2011."), ("date", "May 3, 2015."))
    for record, parts in ((meeting, (2012,)), (month, (1978, 7)), (update, (2011,))):
        assert record.work.issued is not None
        assert record.work.issued.parts == (parts,)
