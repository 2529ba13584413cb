"""Identifiers and numbers that stand in the field of another go to their own; what only looks so stays."""

from __future__ import annotations

import pytest
from citation_works import record_of
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise.mending import mended
from espalier.citations.normalise.pairs import Pairs
from espalier.citations.record import LABELS

AUTHOR = ("author", "A. Lund,")
TITLE = ("title", "On hedges,")
FEN = ("container-title", "J. Fen")


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        # identifiers
        (
            [TITLE, FEN, ("volume", "13:"), ("pages", "55-10.1186/1471-0000-13-55.")],
            [TITLE, FEN, ("volume", "13:"), ("pages", "55"), ("doi", "10.1186/1471-0000-13-55.")],
        ),
        (
            [TITLE, FEN, ("volume", "13:"), ("pages", "55-10."), ("doi", "1186/1471-0000-13-55.")],
            [TITLE, FEN, ("volume", "13:"), ("pages", "55"), ("doi", "10.1186/1471-0000-13-55.")],
        ),
        (
            [TITLE, FEN, ("doi", "https://doi.org/10.1000/182 PMID: 123456")],
            [TITLE, FEN, ("doi", "https://doi.org/10.1000/182"), ("note", "PMID: 123456")],
        ),
        (
            [TITLE, FEN, ("doi", "10.1000/182 [ISBN 978-0-306-40615-7]")],
            [TITLE, FEN, ("doi", "10.1000/182"), ("isbn", "[ISBN 978-0-306-40615-7]")],
        ),
        (
            [TITLE, FEN, ("doi", "Bibcode:1999Fen. doi:10.1000/182. ISSN 0028-0836. S2CID 123.")],
            [
                TITLE,
                FEN,
                ("note", "Bibcode:1999Fen."),
                ("doi", "doi:10.1000/182."),
                ("issn", "ISSN 0028-0836."),
                ("note", "S2CID 123."),
            ],
        ),
        (
            [TITLE, FEN, ("date", "(2010)"), ("pages", "12"), ("date", "[2008."), ("pages", "01442].")],
            [TITLE, FEN, ("date", "(2010)"), ("pages", "12"), ("note", "[2008.01442].")],
        ),
        ([TITLE, ("date", "1977."), ("pages", "MR 0463157")], [TITLE, ("date", "1977."), ("note", "MR 0463157")]),
        # volumes, issues and pages
        (
            [AUTHOR, ("date", "(2015)"), TITLE, FEN, ("date", "2015:"), ("pages", "762506")],
            [AUTHOR, ("date", "(2015)"), TITLE, FEN, ("volume", "2015:"), ("pages", "762506")],
        ),
        (
            [TITLE, FEN, ("volume", "3/"), ("date", "2006:"), ("pages", "345")],
            [TITLE, FEN, ("issue", "3/"), ("date", "2006:"), ("pages", "345")],
        ),
        (
            [TITLE, FEN, ("volume", "3"), ("issue", "(2),"), ("volume", "12:"), ("pages", "1-12:20.")],
            [TITLE, FEN, ("volume", "3"), ("issue", "(2),"), ("pages", "12:1-12:20.")],
        ),
        (
            [TITLE, FEN, ("volume", "14:"), ("issue", "12."), ("pages", "1–12.10")],
            [TITLE, FEN, ("volume", "14:"), ("pages", "12.1–12.10")],
        ),
        (
            [FEN, ("date", "1922,"), ("pages", "S."), ("date", "1765.")],
            [FEN, ("date", "1922,"), ("pages", "S. 1765.")],
        ),
        (
            [TITLE, ("date", "(1999)"), ("volume", "62"), FEN, ("volume", "123,"), ("pages", "125.")],
            [TITLE, ("date", "(1999)"), ("volume", "62"), FEN, ("pages", "123, 125.")],
        ),
        (
            [("title", "Tables of Soils"), ("volume", "Vol. 2."), FEN, ("volume", "23,"), ("pages", "7")],
            [("title", "Tables of Soils Vol. 2."), FEN, ("volume", "23,"), ("pages", "7")],
        ),
        (
            [TITLE, FEN, ("note", "Article ID 987654,"), ("pages", "9 pages.")],
            [TITLE, FEN, ("pages", "Article ID 987654,"), ("pages", "9 pages.")],
        ),
        # series
        (
            [
                AUTHOR,
                ("container-title", "in Fen Conference Series,"),
                ("volume", "Vol. 12,"),
                ("container-title", "Hedges III,"),
            ],
            [
                AUTHOR,
                ("collection-title", "in Fen Conference Series,"),
                ("volume", "Vol. 12,"),
                ("container-title", "Hedges III,"),
            ],
        ),
        (
            [AUTHOR, ("container-title", "in Fen Conf. Ser. 180, Hedges of the North II,")],
            [
                AUTHOR,
                ("collection-title", "in Fen Conf. Ser."),
                ("volume", "180,"),
                ("container-title", "Hedges of the North II,"),
            ],
        ),
        (
            [AUTHOR, ("container-title", "in Proc. HEDGE,"), ("collection-title", "ser. HEDGE '"), ("volume", "17.")],
            [AUTHOR, ("container-title", "in Proc. HEDGE,"), ("collection-title", "ser. HEDGE '17.")],
        ),
        (
            [AUTHOR, ("container-title", "in Proc. HEDGE, ser. Fen Monographs,"), ("volume", "vol. 17.")],
            [
                AUTHOR,
                ("container-title", "in Proc. HEDGE,"),
                ("collection-title", "ser. Fen Monographs,"),
                ("volume", "vol. 17."),
            ],
        ),
        (
            [AUTHOR, TITLE, ("edition", "2nd ed., Chap. 11.05,"), ("pages", "7")],
            [AUTHOR, TITLE, ("edition", "2nd ed.,"), ("note", "Chap. 11.05,"), ("pages", "7")],
        ),
        (
            [AUTHOR, TITLE, ("date", "(2022),"), ("pages", "2203.13739 .")],
            [AUTHOR, TITLE, ("date", "(2022),"), ("note", "2203.13739 .")],
        ),
        (
            [AUTHOR, FEN, ("doi", "doi:10.1103/Fen.83.025 [arXiv:1102.4142"), ("note", "[hep-ph]].")],
            [AUTHOR, FEN, ("doi", "doi:10.1103/Fen.83.025"), ("note", "[arXiv:1102.4142"), ("note", "[hep-ph]].")],
        ),
        (
            [AUTHOR, TITLE, FEN, ("volume", "XLII,"), ("date", "2014,"), ("volume", "3,"), ("pages", "pp. 1-9.")],
            [AUTHOR, TITLE, FEN, ("volume", "XLII,"), ("date", "2014,"), ("issue", "3,"), ("pages", "pp. 1-9.")],
        ),
        (
            [AUTHOR, TITLE, ("pages", "45 p., 2"), ("note", "pls., scale 1:24,000.")],
            [AUTHOR, TITLE, ("pages", "45 p.,"), ("note", "2 pls., scale 1:24,000.")],
        ),
        (
            [TITLE, ("container-title", "Вестник. Сер."), ("date", "3. 2014."), ("volume", "Т. 42")],
            [TITLE, ("container-title", "Вестник. Сер. 3."), ("date", "2014."), ("volume", "Т. 42")],
        ),
        (
            [AUTHOR, ("title", "hedge-lib v1."), ("edition", "2.3,"), ("url", "http://x.org")],
            [AUTHOR, ("title", "hedge-lib v1.2.3,"), ("url", "http://x.org")],
        ),
        (
            [AUTHOR, ("title", "树篱研究 [J/OL]."), ("container-title", "沼泽学报,")],
            [AUTHOR, ("title", "树篱研究"), ("genre", "[J/OL]."), ("container-title", "沼泽学报,")],
        ),
        (
            [TITLE, ("container-title", "Fen Math. Soc."), ("volume", "(3) 55"), ("date", "(1997),")],
            [TITLE, ("container-title", "Fen Math. Soc. (3)"), ("volume", "55"), ("date", "(1997),")],
        ),
        # names and dates
        (
            [("author", "Lund A (Forthcoming)"), TITLE],
            [("author", "Lund A"), ("note", "(Forthcoming)"), TITLE],
        ),
        ([("author", "Lund, A. In press."), TITLE], [("author", "Lund, A."), ("note", "In press."), TITLE]),
        (
            [("author", "Quoted in Ada Lund,"), ("title", "Hedges")],
            [("note", "Quoted in"), ("author", "Ada Lund,"), ("title", "Hedges")],
        ),
        (
            [("author", "Lund/Moe 2003: Lund, A./Moe, B.:"), TITLE],
            [("citation-number", "Lund/Moe 2003: "), ("author", "Lund, A./Moe, B.:"), TITLE],
        ),
        (
            [
                AUTHOR,
                ("date", "(12 May 1999)."),
                TITLE,
                ("note", "Archived from the original on 3"),
                ("date", "June 2001."),
            ],
            [AUTHOR, ("date", "(12 May 1999)."), TITLE, ("note", "Archived from the original on 3 June 2001.")],
        ),
    ],
)
def test_what_is_misplaced_goes_home(pairs: Pairs, expected: Pairs) -> None:
    assert mended(list(pairs)) == expected


@pytest.mark.parametrize(
    "pairs",
    [
        [TITLE, FEN, ("volume", "13:"), ("pages", "55-61.")],
        [TITLE, FEN, ("doi", "doi: 10.1000/182 (2003)")],
        [AUTHOR, ("date", "(2015)"), TITLE, FEN, ("date", "2016:"), ("pages", "762506")],
        [AUTHOR, TITLE, FEN, ("date", "2015:"), ("pages", "762506")],
        [AUTHOR, TITLE, FEN, ("volume", "85 /"), ("date", "1984/"), ("pages", "345.")],
        [TITLE, FEN, ("volume", "12:"), ("pages", "1-20.")],
        [TITLE, FEN, ("volume", "12:"), ("pages", "1-13:20.")],
        [TITLE, FEN, ("date", "1922,"), ("pages", "S. 17"), ("date", "1923.")],
        [
            TITLE,
            ("container-title", "Fen Review"),
            ("volume", "3"),
            ("container-title", "Hedge Review"),
            ("pages", "7"),
        ],
        [AUTHOR, ("container-title", "in Hedges of the Series 12")],
        [AUTHOR, TITLE, FEN, ("date", "(2022),"), ("pages", "2203.13739")],
        [AUTHOR, TITLE, ("collection-title", "Fen Monographs"), ("volume", "17.")],
        [AUTHOR, TITLE, ("edition", "2nd ed., revised")],
        [TITLE, FEN, ("volume", "(12) 55"), ("date", "(1997),")],
        [AUTHOR, FEN, ("volume", "65"), ("date", "(1917);"), ("volume", "4,"), ("pages", "135"), ("date", "(1920);")],
        [AUTHOR, TITLE, ("pages", "45 p., 2"), ("note", "copies.")],
        [TITLE, ("container-title", "Вестник. Сер."), ("date", "2014."), ("volume", "Т. 42")],
        [("author", "Lund, A. (ed.)"), TITLE],
        [("author", "Lund, A. Press."), TITLE],
        [TITLE, FEN, ("note", "Article ID 987654,"), ("pages", "12-19.")],
        [TITLE, FEN, ("volume", "276/"), ("date", "2003,"), ("pages", "12-30.")],
        [AUTHOR, ("title", "Fens CS v3."), ("edition", "2nd ed.")],
        [TITLE, FEN, ("volume", "14."), ("pages", "10–14.20.")],
        [TITLE, FEN, ("doi", "Full text DOI link")],
    ],
)
def test_what_only_looks_misplaced_stays(pairs: Pairs) -> None:
    assert mended(list(pairs)) == pairs


def test_the_work_has_it() -> None:
    """Series, pages, identifiers and dates are where formats look for them."""
    meeting = record_of(
        AUTHOR,
        ("date", "2018,"),
        ("container-title", "in Fen Conference Series,"),
        ("volume", "Vol. 12,"),
        ("container-title", "Hedges III,"),
        ("editor", "ed. B. Moe,"),
        ("pages", "7"),
    ).work
    assert (meeting.type, meeting.collection_title, meeting.volume) == (
        "paper-conference",
        "Fen Conference Series",
        "12",
    )
    assert (meeting.container_title, meeting.unread) == ("Hedges III", ())
    page = record_of(AUTHOR, TITLE, FEN, ("volume", "13:"), ("pages", "55-10."), ("doi", "1186/1471-0000-13-55.")).work
    assert (page.pages and page.pages.first, page.doi) == ("55", "10.1186/1471-0000-13-55")
    article = record_of(AUTHOR, TITLE, FEN, ("note", "Article ID 987654,"), ("pages", "9 pages.")).work
    assert (article.pages and article.pages.first, article.number_of_pages) == ("987654", "9")
    pending = record_of(("author", "Lund A (Forthcoming)"), TITLE).work
    assert pending.issued is not None
    assert (pending.issued.literal, pending.note, pending.unread) == ("Forthcoming", "", ())
    online = record_of(TITLE, FEN, ("doi", "Bibcode:1999Fen. doi:10.1000/182. ISSN 0028-0836.")).work
    assert (online.doi, online.issn, online.unread) == ("10.1000/182", "0028-0836", ())


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
    keyed = record_of(
        ("author", "Lund/Moe"), ("date", "2003:"), ("author", "Lund, A./Moe, B.:"), TITLE, ("date", "2003")
    )
    assert keyed.work.unread == (("citation-number", "Lund/Moe 2003"),)
    assert record_of(("author", "a) Lund, A."), TITLE).work.unread == ()


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


PIECES = st.sampled_from(
    [
        *("55-10.1186/1471-0000", "55-10.", "1186/14", "2015:", "(2015)", "3/", "2006:", "12:", "1-12:20", "12.", "S."),
        *("1765.", "123,", "125.", "[2008.", "01442]", "MR 0463157", "Vol. 2.", "in Fen Conf. Ser. 180, Hedges North,"),
        *("Bibcode:1 doi:10.1000/182 ISSN 0028-0836", "Lund A (in press).", "Quoted in Ada Lund,", "on 3", "June 2001"),
    ]
)
FIELDS = st.tuples(st.sampled_from(LABELS), st.lists(PIECES, min_size=1, max_size=2).map(" ".join))


@settings(deadline=None, derandomize=True, max_examples=500)
@given(st.lists(FIELDS, max_size=8))
def test_no_letter_is_lost_and_none_invented(pairs: Pairs) -> None:
    def whole(several: Pairs) -> str:
        return "".join(filter(str.isalnum, "".join(text for _, text in several)))

    assert whole(mended(list(pairs))) == whole(pairs)
