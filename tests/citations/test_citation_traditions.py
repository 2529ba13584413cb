"""Ways of citing that the model has seen little of are mended in the work; what only looks like them stays."""

from __future__ import annotations

import pytest
from citation_works import record_of

from espalier.citations.normalise.mending import mended
from espalier.citations.normalise.pairs import Pairs

TITLE = ("title", "On hedges,")
LES = ("author", "Лесов А. А.")


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        # law reviews and courts
        (
            [
                TITLE,
                ("volume", "89"),
                ("container-title", "Ely L. Rev."),
                ("volume", "1685,"),
                ("pages", "1713"),
                ("date", "(1976)."),
            ],
            [TITLE, ("volume", "89"), ("container-title", "Ely L. Rev."), ("pages", "1685, 1713"), ("date", "(1976).")],
        ),
        (
            [
                TITLE,
                ("volume", "144"),
                ("container-title", "Ely L. Rev."),
                ("date", "2021,"),
                ("pages", "2025–26"),
                ("date", "(1996)."),
            ],
            [
                TITLE,
                ("volume", "144"),
                ("container-title", "Ely L. Rev."),
                ("pages", "2021, 2025–26"),
                ("date", "(1996)."),
            ],
        ),
        (
            [("title", "On hedges, 4"), ("container-title", "Ely L. Rev."), ("volume", "193"), ("date", "(1890).")],
            [TITLE, ("volume", "4"), ("container-title", "Ely L. Rev."), ("pages", "193"), ("date", "(1890).")],
        ),
        (
            [
                ("title", "Oak v Elm"),
                ("date", "[1932]"),
                ("container-title", "AC"),
                ("volume", "562"),
                ("issue", "(HL)."),
            ],
            [
                ("title", "Oak v Elm"),
                ("date", "[1932]"),
                ("container-title", "AC"),
                ("pages", "562"),
                ("note", "(HL)."),
            ],
        ),
        # Russia and Ukraine
        (
            [LES, ("title", "Охрана лесов // Лесной журнал. –"), ("date", "2001. –"), ("issue", "№ 4.")],
            [
                LES,
                ("title", "Охрана лесов //"),
                ("container-title", "Лесной журнал. –"),
                ("date", "2001. –"),
                ("issue", "№ 4."),
            ],
        ),
        (
            [LES, ("title", "О лесе // Труды по лесу."), ("container-title", "Тарту,"), ("date", "1984.")],
            [
                LES,
                ("title", "О лесе //"),
                ("container-title", "Труды по лесу."),
                ("location", "Тарту,"),
                ("date", "1984."),
            ],
        ),
        (
            [("author", "Лесов А. А. Строение елей / А. А. Лесов, Е. В."), ("title", "Ивина //"), ("date", "2005.")],
            [("author", "А. А. Лесов, Е. В. Ивина"), ("title", "Строение елей"), ("date", "2005.")],
        ),
        (
            [LES, ("title", "Основы лесоводства / А. А. Лесов. –"), ("location", "Минск :")],
            [LES, ("title", "Основы лесоводства"), ("note", "А. А. Лесов. –"), ("location", "Минск :")],
        ),
        (
            [LES, ("title", "Правила леса: дис. … д-ра юрид."), ("container-title", "наук."), ("date", "2008.")],
            [LES, ("title", "Правила леса:"), ("genre", "дис. … д-ра юрид. наук."), ("date", "2008.")],
        ),
        (
            [LES, ("title", "Правила леса: автореф."), ("genre", "дис. ... канд. пед. наук.")],
            [LES, ("title", "Правила леса:"), ("genre", "автореф. дис. ... канд. пед. наук.")],
        ),
        (
            [TITLE, ("date", "2010. –"), ("container-title", "Вип."), ("volume", "8. –")],
            [TITLE, ("date", "2010. –"), ("issue", "Вип. 8. –")],
        ),
        # the humanities
        (
            [TITLE, ("volume", "Bd. 1:"), ("publisher", "Wandel der Hecken,"), ("location", "Basel")],
            [TITLE, ("volume", "Bd. 1:"), ("title", "Wandel der Hecken,"), ("location", "Basel")],
        ),
        (
            [("title", "Werke."), ("volume", "Bd. 3: Dramen des Waldes I."), ("publisher", "Ely")],
            [("title", "Werke."), ("volume", "Bd. 3:"), ("title", "Dramen des Waldes I."), ("publisher", "Ely")],
        ),
        (
            [TITLE, ("date", "1690."), ("location", "Reprint, Ely:"), ("publisher", "Fen,"), ("date", "1975.")],
            [
                TITLE,
                ("date", "1690."),
                ("note", "Reprint,"),
                ("location", "Ely:"),
                ("publisher", "Fen,"),
                ("date", "1975."),
            ],
        ),
        (
            [("title", "Bildung und Hecken (Zetemata 97),"), ("location", "Ely"), ("date", "1997.")],
            [
                ("title", "Bildung und Hecken"),
                ("collection-title", "(Zetemata"),
                ("volume", "97),"),
                ("location", "Ely"),
                ("date", "1997."),
            ],
        ),
        (
            [TITLE, ("container-title", "in: Wald (Poetik VIII),"), ("volume", "2,"), ("location", "Ely")],
            [
                TITLE,
                ("container-title", "in: Wald"),
                ("collection-title", "(Poetik VIII),"),
                ("volume", "2,"),
                ("location", "Ely"),
            ],
        ),
        (
            [("title", "Holm 1832–1883, exh. cat.,"), ("location", "Ely:"), ("publisher", "Fen Museum,")],
            [("title", "Holm 1832–1883,"), ("genre", "exh. cat.,"), ("location", "Ely:"), ("publisher", "Fen Museum,")],
        ),
        (
            [("author", "Holm,"), ("title", "cat. exp.,"), ("location", "Madrid,")],
            [("title", "Holm,"), ("genre", "cat. exp.,"), ("location", "Madrid,")],
        ),
        (
            [("author", "K. Moe, Rez. zu: Otto Lund,"), ("title", "Wald,"), ("container-title", "in: HZ")],
            [("author", "K. Moe,"), ("title", "Rez. zu: Otto Lund, Wald,"), ("container-title", "in: HZ")],
        ),
        (
            [("author", "Christian Moe, Art."), ("title", "Hecke,")],
            [("author", "Christian Moe,"), ("title", "Art. Hecke,")],
        ),
        ([("author", "Art."), ("title", "Hecke,")], [("title", "Art. Hecke,")]),
        (
            [("author", "Lund, A."), ("title", "Symphony No. 9"), ("container-title", "in D Minor, Op. 125.")],
            [("author", "Lund, A."), ("title", "Symphony No. 9 in D Minor, Op. 125.")],
        ),
        (
            [("title", "Storia degli alberi, diretta da E. Lund,"), ("location", "Roma,")],
            [("title", "Storia degli alberi,"), ("editor", "diretta da E. Lund,"), ("location", "Roma,")],
        ),
        (
            [("title", "La Haie, texte établi et traduit par É. Lund,"), ("location", "Paris,")],
            [("title", "La Haie,"), ("translator", "texte établi et traduit par É. Lund,"), ("location", "Paris,")],
        ),
        (
            [("title", "Theorie der Hecken. 2 Bde."), ("location", "Ely"), ("volume", "Bd. 1,")],
            [("title", "Theorie der Hecken."), ("volume", "2 Bde."), ("location", "Ely"), ("volume", "Bd. 1,")],
        ),
        # supplements, years in titles, days, forms in brackets
        (
            [TITLE, ("volume", "27"), ("note", "(Suppl."), ("issue", "6):"), ("pages", "15-42.")],
            [TITLE, ("volume", "27"), ("issue", "(Suppl. 6):"), ("pages", "15-42.")],
        ),
        (
            [TITLE, ("volume", "26"), ("issue", "(15"), ("note", "suppl):"), ("pages", "6058.")],
            [TITLE, ("volume", "26"), ("issue", "(15 suppl):"), ("pages", "6058.")],
        ),
        (
            [("title", "Hedge statistics,"), ("date", "2002."), ("container-title", "Hedges"), ("date", "2005;")],
            [("title", "Hedge statistics, 2002."), ("container-title", "Hedges"), ("date", "2005;")],
        ),
        (
            [("author", "Ely Council."), ("date", "(2013). 2012"), ("title", "annual report.")],
            [("author", "Ely Council."), ("date", "(2013)."), ("title", "2012 annual report.")],
        ),
        (
            [TITLE, ("container-title", "Fen Biochem"), ("volume", "72 248"), ("pages", "254")],
            [TITLE, ("container-title", "Fen Biochem"), ("volume", "72"), ("pages", "248 254")],
        ),
        (
            [TITLE, ("container-title", "Fendagen"), ("volume", "14."), ("date", "november 1998.")],
            [TITLE, ("container-title", "Fendagen"), ("date", "14. november 1998.")],
        ),
        (
            [TITLE, ("container-title", "中国青年报,"), ("volume", "2000-11-20"), ("issue", "(15).")],
            [TITLE, ("container-title", "中国青年报,"), ("date", "2000-11-20"), ("issue", "(15).")],
        ),
        (
            [
                TITLE,
                ("container-title", "Proc. Hedge Congress;"),
                ("location", "Leeds, UK. Ely:"),
                ("publisher", "Fen;"),
            ],
            [
                TITLE,
                ("container-title", "Proc. Hedge Congress;"),
                ("note", "Leeds, UK."),
                ("location", "Ely:"),
                ("publisher", "Fen;"),
            ],
        ),
        (
            [("title", "Trial of hedges [abstract]."), ("container-title", "J Fen")],
            [("title", "Trial of hedges"), ("genre", "[abstract]."), ("container-title", "J Fen")],
        ),
        (
            [TITLE, ("publisher", "Sokhan [in Persian]."), ("date", "1999.")],
            [TITLE, ("publisher", "Sokhan"), ("note", "[in Persian]."), ("date", "1999.")],
        ),
        ([TITLE, ("collection-title", "(In Russ.).")], [TITLE, ("note", "(In Russ.).")]),
        (
            [("title", "Trial of hedges [Conference presentation]."), ("publisher", "Fen")],
            [("title", "Trial of hedges"), ("genre", "[Conference presentation]."), ("publisher", "Fen")],
        ),
        (
            [("title", "Hedges in figures,"), ("date", "2002."), ("publisher", "Fen,"), ("date", "2003.")],
            [("title", "Hedges in figures, 2002."), ("publisher", "Fen,"), ("date", "2003.")],
        ),
        # the edges of fields
        (
            [TITLE, ("container-title", "U.S."), ("genre", "Patent 5,708,591,")],
            [TITLE, ("genre", "U.S. Patent 5,708,591,")],
        ),
        (
            [("title", "Hedges and water: U.S."), ("container-title", "Geological Survey Circular,")],
            [("title", "Hedges and water:"), ("container-title", "U.S. Geological Survey Circular,")],
        ),
        (
            [TITLE, ("container-title", "U.S. Patent"), ("volume", "3"), ("pages", "624 125,"), ("date", "1990.")],
            [TITLE, ("genre", "U.S. Patent 3 624 125,"), ("date", "1990.")],
        ),
        (
            [("author", "ISO 14040"), ("date", "(2006)"), TITLE],
            [("genre", "ISO 14040"), ("date", "(2006)"), TITLE],
        ),
        (
            [("citation-number", "[6]"), ("author", "a) K. C. Lund,"), ("container-title", "J. Fen")],
            [
                ("citation-number", "[6]"),
                ("citation-number", "a)"),
                ("author", "K. C. Lund,"),
                ("container-title", "J. Fen"),
            ],
        ),
        (
            [("author", "K. Lund et al."), ("title", "(The T2K Collaboration),"), ("container-title", "J. Fen")],
            [("author", "K. Lund et al."), ("author", "(The T2K Collaboration),"), ("container-title", "J. Fen")],
        ),
        (
            [TITLE, ("container-title", "Διαθέσιμο στο:"), ("url", "http://fen.gr/x")],
            [TITLE, ("url", "Διαθέσιμο στο: http://fen.gr/x")],
        ),
    ],
)
def test_mended(pairs: Pairs, expected: Pairs) -> None:
    assert mended(list(pairs)) == expected


@pytest.mark.parametrize(
    "pairs",
    [
        [
            TITLE,
            ("volume", "40,"),
            ("container-title", "J. Fen"),
            ("volume", "964,"),
            ("pages", "970."),
            ("date", "2016"),
        ],
        [("title", "Slaughterhouse 5"), ("container-title", "Fen Review"), ("volume", "3"), ("date", "(1990).")],
        [("title", "Hedges // walls"), ("container-title", "Fen Review")],
        [("title", "Input / output"), ("container-title", "Fen Review")],
        [("author", "Lund, A."), ("title", "Input / output of walls"), ("container-title", "Fen Review")],
        [("title", "Trees (Part 2),"), ("location", "Ely")],
        [("title", "In 12th Symposium on Walls (OSDI 16)."), ("publisher", "USENIX")],
        [("author", "Lund, A."), ("date", "(1969) 2006."), ("title", "Walls.")],
        [TITLE, ("volume", "29 1,"), ("pages", "45")],
        [("title", "On oaks (in Russian)."), ("container-title", "Fen Review")],
        [TITLE, ("container-title", "Expert Opinion on Therapeutic Patents."), ("volume", "23"), ("pages", "449–501.")],
        [TITLE, ("container-title", "Vol. XIII, Fasc. 3,"), ("volume", "Vol. XIII, Fasc. 3,")],
        [("author", "Meyer, A."), ("title", "Art for all,")],
        [("title", "Hedges,"), ("date", "2002."), ("container-title", "Proc. Walls,"), ("pages", "3-9.")],
        [("author", "A) Lund"), ("title", "Walls.")],
        [("title", "Hedges,"), ("date", "1929."), ("publisher", "Fen,"), ("date", "2005.")],
        [("title", "Hedges,"), ("date", "2019."), ("url", "http://fen.org"), ("date", "2020.")],
        [("title", "Hedges [a story of posts]."), ("container-title", "J Fen")],
    ],
)
def test_what_only_looks_like_it_stays(pairs: Pairs) -> None:
    assert mended(list(pairs)) == pairs


def test_dates_of_a_work() -> None:
    """The later edition of a book, the book of a meeting, the month that one of two dates has."""
    later = record_of(
        ("title", "Rooms."), ("date", "1929."), ("location", "Ely:"), ("publisher", "Fen,"), ("date", "2005.")
    )
    assert (later.work.issued.parts, later.work.original_date.parts) == (((2005,),), ((1929,),))
    meeting = record_of(
        ("title", "Walls."), ("container-title", "Proc. Walls;"), ("date", "2011 Sep 13-15;"), ("date", "2012.")
    )
    assert meeting.work.issued.parts == ((2012,),)
    month = record_of(("date", "1978."), ("title", "Clocks."), ("container-title", "Fen"), ("date", "(July 1978),"))
    assert month.work.issued.parts == ((1978, 7),)
    update = record_of(("title", "Data."), ("date", "2011."), ("date", "May 3, 2015."))
    assert update.work.issued.parts == ((2011,),)
