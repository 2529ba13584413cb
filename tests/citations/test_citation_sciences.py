"""What sciences and their services write is mended in the work; what only looks like it stays, and no text is lost."""

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
        # meetings and series
        (
            [AUTHOR, TITLE, ("container-title", "HEDGE 2012. Notes in Gardening,"), ("volume", "vol. 17,")],
            [
                AUTHOR,
                TITLE,
                ("container-title", "HEDGE 2012."),
                ("collection-title", "Notes in Gardening,"),
                ("volume", "vol. 17,"),
            ],
        ),
        (
            [AUTHOR, TITLE, ("container-title", "In: HEDGE"), ("date", "2012,"), ("pages", "1-9"), ("date", "(2012).")],
            [AUTHOR, TITLE, ("container-title", "In: HEDGE 2012,"), ("pages", "1-9"), ("date", "(2012).")],
        ),
        (
            [AUTHOR, TITLE, ("container-title", "Fen Monographs"), ("volume", "12,"), ("publisher", "Ely,")],
            [AUTHOR, TITLE, ("collection-title", "Fen Monographs"), ("volume", "12,"), ("publisher", "Ely,")],
        ),
        (
            [
                AUTHOR,
                TITLE,
                ("container-title", "Encyclopedia of Hedges and its Uses"),
                ("volume", "12,"),
                ("publisher", "Ely,"),
            ],
            [
                AUTHOR,
                TITLE,
                ("collection-title", "Encyclopedia of Hedges and its Uses"),
                ("volume", "12,"),
                ("publisher", "Ely,"),
            ],
        ),
        # theses and translators
        (
            [TITLE, ("genre", "[Doctoral thesis,"), ("institution", "University of Ely]. Fen Theses Online.")],
            [
                TITLE,
                ("genre", "[Doctoral thesis,"),
                ("institution", "University of Ely]."),
                ("publisher", "Fen Theses Online."),
            ],
        ),
        (
            [TITLE, ("note", "Translated from the Old Norse by B. Moe and Carl Bell. Second printing."), FEN],
            [
                TITLE,
                ("translator", "Translated from the Old Norse by B. Moe and Carl Bell."),
                ("note", "Second printing."),
                FEN,
            ],
        ),
        ([TITLE, ("note", "Translated by Bo Moe.")], [TITLE, ("translator", "Translated by Bo Moe.")]),
        # articles with a number
        ([FEN, ("volume", "3,"), ("note", "Art. no. 70123.")], [FEN, ("volume", "3,"), ("pages", "Art. no. 70123.")]),
        (
            [FEN, ("volume", "3,"), ("issue", "no. 4, Art. no. 70123.")],
            [FEN, ("volume", "3,"), ("issue", "no. 4,"), ("pages", "Art. no. 70123.")],
        ),
        (
            [FEN, ("date", "2021 Aug"), ("volume", "14:"), ("pages", "S0123-4567(21)00371-2.")],
            [FEN, ("date", "2021 Aug 14:"), ("pages", "S0123-4567(21)00371-2.")],
        ),
        # two works in one reference
        (
            [
                AUTHOR,
                FEN,
                ("volume", "3"),
                ("date", "(1990)"),
                ("pages", "12;"),
                ("author", "B. Moe,"),
                ("container-title", "Ely Lett."),
                ("volume", "7"),
            ],
            [AUTHOR, FEN, ("volume", "3"), ("date", "(1990)"), ("pages", "12;"), ("other", "B. Moe, Ely Lett. 7")],
        ),
        # the edges of fields
        (
            [AUTHOR, ("title", "In press. The hedges of Ely."), FEN],
            [AUTHOR, ("note", "In press."), ("title", "The hedges of Ely."), FEN],
        ),
        (
            [("title", "The theory of hedges."), ("container-title", "II. Ann. Fen Sci."), ("volume", "3")],
            [("title", "The theory of hedges. II."), ("container-title", "Ann. Fen Sci."), ("volume", "3")],
        ),
        (
            [TITLE, ("location", "Ely, xvii +"), ("pages", "414 pp.")],
            [TITLE, ("location", "Ely,"), ("pages", "xvii + 414 pp.")],
        ),
    ],
)
def test_mended(pairs: Pairs, expected: Pairs) -> None:
    assert mended(list(pairs)) == expected


BOOK = [("volume", "12,"), ("publisher", "Ely,")]


@pytest.mark.parametrize(
    "pairs",
    [
        [TITLE, ("container-title", "HEDGE 2012. Proceedings of the Hedge Workshop,"), ("volume", "vol. 17,")],
        [TITLE, ("container-title", "HEDGE 2012. Notes in Gardening,"), ("volume", "17,")],
        # a journal and its year
        [TITLE, ("container-title", "J. HEDGE"), ("date", "2012,"), ("volume", "7"), ("date", "(2012).")],
        [TITLE, ("container-title", "Proc. HEDGE"), ("date", "2012,"), ("pages", "1-9"), ("date", "(2013).")],
        [TITLE, ("container-title", "Proc. Hedge"), ("date", "2012,"), ("pages", "1-9"), ("date", "(2012).")],
        # journals, meetings, and books that many write
        [TITLE, ("container-title", "Journal of Fens"), *BOOK],
        [TITLE, ("container-title", "In Fens of Ely"), *BOOK],
        [TITLE, ("container-title", "Proceedings of the Hedge Workshop"), *BOOK],
        [TITLE, ("container-title", "Handbook of Fens"), *BOOK],
        [TITLE, ("container-title", "Encyclopedia of Fens"), *BOOK],
        [TITLE, ("container-title", "Fen Monographs"), *BOOK, ("pages", "1-9")],
        [TITLE, ("container-title", "Fen Monographs"), ("volume", "12,"), ("publisher", "Ely,"), ("editor", "B. Moe")],
        [TITLE, ("genre", "[Doctoral thesis,"), ("institution", "University of Ely].")],
        # what says more than who translated
        [TITLE, ("note", "Translated from the French and with a preface by B. Moe.")],
        [TITLE, ("note", "Translated by Bo Moe, 1981.")],
        [TITLE, ("note", "Translated by Bo Moe."), ("translator", "C. Bell")],
        [FEN, ("volume", "3,"), ("note", "Art. no. 70123."), ("pages", "1-9")],
        [FEN, ("volume", "3,"), ("note", "Article in Norse.")],
        [FEN, ("date", "2021 Aug"), ("volume", "14:"), ("pages", "S123-S125.")],
        [FEN, ("date", "2021 Aug"), ("volume", "140:"), ("pages", "S0123-4567(21)00371-2.")],
        # one work
        [AUTHOR, TITLE, ("author", "with B. Moe."), FEN],
        [("location", "Ely"), ("date", "1990."), AUTHOR, TITLE, ("author", "B. Moe")],
        [AUTHOR, TITLE, ("date", "1990;"), ("author", "B. Moe.")],
        [AUTHOR, ("title", "In review: the hedges of Ely."), FEN],
        [AUTHOR, ("title", "In press. The hedges of Ely."), ("date", "1990.")],
        [TITLE, ("container-title", "IEEE Trans. Hedges"), ("volume", "3")],
        [TITLE, ("container-title", "I. J. Fen"), ("volume", "3")],
        [TITLE, ("location", "Ely, ill"), ("pages", "414 pp.")],
    ],
)
def test_what_only_looks_like_it_stays(pairs: Pairs) -> None:
    assert mended(list(pairs)) == pairs


def test_the_work_has_it() -> None:
    """Authors, types and pages are those of the first work, of a book in a series, of an article."""
    first = record_of(
        AUTHOR, FEN, ("volume", "3"), ("date", "(1990)"), ("pages", "12;"), ("author", "B. Moe,"), FEN, ("volume", "7")
    )
    assert [name.family for name in first.work.authors] == ["Lund"]
    assert (first.work.volume, first.work.unread) == ("3", (("other", "B. Moe, J. Fen 7"),))
    book = record_of(AUTHOR, TITLE, ("container-title", "Fen Monographs"), *BOOK).work
    assert (book.type, book.container_title, book.collection_title) == ("book", "", "Fen Monographs")
    article = record_of(AUTHOR, TITLE, FEN, ("volume", "3,"), ("note", "Art. no. 70123.")).work
    assert article.pages is not None
    assert article.pages.first == "70123"
    ahead = record_of(FEN, ("date", "2021 Aug"), ("volume", "14:"), ("pages", "S0123-4567(21)00371-2.")).work
    assert (ahead.issued.parts, ahead.volume) == (((2021, 8, 14),), "")


PIECES = st.sampled_from(
    [
        *("HEDGE 2012. Notes,", "In: HEDGE", "vol. 7", "2012,", "(2012)", "2021 Aug", "14:", "S0123-4567(21)00371-2"),
        *(
            "I. Ann. Fen",
            "In press. The hedges of Ely",
            "Translated by Bo Moe. Revised.",
            "Art. no. 7",
            "3, Art. no. 7",
        ),
        *("University of Ely]. Fen", "Ely, xvii +", "Fen Monographs", "A. Lund", "12"),
    ]
)
FIELDS = st.tuples(st.sampled_from(LABELS), st.lists(PIECES, min_size=1, max_size=2).map(" ".join))


@settings(deadline=None, derandomize=True, max_examples=500)
@given(st.lists(FIELDS, max_size=8))
def test_no_text_is_lost_and_none_invented(pairs: Pairs) -> None:
    def whole(several: Pairs) -> str:
        return "".join(text for _, text in several).replace(" ", "")

    assert whole(mended(list(pairs))) == whole(pairs)
