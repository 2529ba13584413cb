"""Labels that can only be a mistake are mended on the way from a record to its work, and no text is lost by it."""

from __future__ import annotations

import pytest
from citation_works import record_of
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise.mending import mended
from espalier.citations.record import LABELS

Pairs = list[tuple[str, str]]

TITLE = ("title", "Hedges of the north.")


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        # a key or a number before the names
        (
            [("author", "Heath"), ("date", "1978 :"), ("author", "J. Heath,"), TITLE, ("date", "(1978)")],
            [("citation-number", "Heath 1978 :"), ("author", "J. Heath,"), TITLE, ("date", "(1978)")],
        ),
        (
            [("author", "Ruiz et al."), ("date", "2004:"), ("author", "Ruiz, P.,"), TITLE, ("date", "2004.")],
            [("citation-number", "Ruiz et al. 2004:"), ("author", "Ruiz, P.,"), TITLE, ("date", "2004.")],
        ),
        (
            [("author", "Mill 1843 — Mill, J. S.,"), TITLE],
            [("citation-number", "Mill 1843 — "), ("author", "Mill, J. S.,"), TITLE],
        ),
        (
            [("author", "Lund and Moe 2001a = Lund, P., Moe, K."), TITLE],
            [("citation-number", "Lund and Moe 2001a = "), ("author", "Lund, P., Moe, K."), TITLE],
        ),
        ([("author", "23 Giorgi A."), TITLE], [("citation-number", "23 "), ("author", "Giorgi A."), TITLE]),
        (
            [TITLE, ("genre", "PhD thesis."), ("institution", "Faculty of Law: University of Hedges,")],
            [TITLE, ("genre", "PhD thesis."), ("institution", "Faculty of Law: University of Hedges,")],
        ),
        ([("institution", "ed."), TITLE], [("institution", "ed."), TITLE]),
        # a version behind an address
        (
            [TITLE, ("url", "http://hedge.example/."), ("accessed", "Version 3.8.")],
            [TITLE, ("url", "http://hedge.example/."), ("edition", "Version 3.8.")],
        ),
        (
            [TITLE, ("url", "http://hedge.example/."), ("accessed", "Accessed 3.8.2010")],
            [TITLE, ("url", "http://hedge.example/."), ("accessed", "Accessed 3.8.2010")],
        ),
        # a place before an institution
        (
            [TITLE, ("institution", "Ciudad Real: Universidad del Seto,"), ("date", "1992.")],
            [TITLE, ("location", "Ciudad Real:"), ("institution", "Universidad del Seto,"), ("date", "1992.")],
        ),
        (
            [TITLE, ("institution", "Institute of Hedges: Department of Soils,"), ("date", "1992.")],
            [TITLE, ("institution", "Institute of Hedges: Department of Soils,"), ("date", "1992.")],
        ),
        ([("author", "7-Decq P."), TITLE], [("citation-number", "7-"), ("author", "Decq P."), TITLE]),
        ([("author", "[4] Torvald, M."), TITLE], [("citation-number", "[4] "), ("author", "Torvald, M."), TITLE]),
        # words of a footnote before the names
        (
            [("author", "Vgl. Hans-Peter Krüger,"), TITLE],
            [("note", "Vgl."), ("author", "Hans-Peter Krüger,"), TITLE],
        ),
        ([("author", "Siehe dazu Bell, A.:"), TITLE], [("note", "Siehe dazu"), ("author", "Bell, A.:"), TITLE]),
        ([("author", "Cf. DUPONT J.,"), TITLE], [("note", "Cf."), ("author", "DUPONT J.,"), TITLE]),
        (
            [("author", "See, for example, Ann Bell,"), TITLE],
            [("note", "See, for example,"), ("author", "Ann Bell,"), TITLE],
        ),
        ([("author", "But see J. van der Meer,"), TITLE], [("note", "But see"), ("author", "J. van der Meer,"), TITLE]),
        (
            [("citation-number", "12"), ("author", "See John Bell,"), TITLE],
            [("citation-number", "12"), ("note", "See"), ("author", "John Bell,"), TITLE],
        ),
        (
            [("author", "12 Vgl. auch Hans Bell,"), TITLE],
            [("citation-number", "12 "), ("note", "Vgl. auch"), ("author", "Hans Bell,"), TITLE],
        ),
        # an edition in words, which nobody is called
        (
            [("author", "Ho, A.:"), ("title", "Hedges. 3., verb."), ("translator", "u. erw. Aufl."), ("date", "2007.")],
            [("author", "Ho, A.:"), ("title", "Hedges."), ("edition", "3., verb. u. erw. Aufl."), ("date", "2007.")],
        ),
        (
            [("title", "Hedges. 3., verbesserte und erweiterte Auflage."), ("date", "2007.")],
            [("title", "Hedges."), ("edition", "3., verbesserte und erweiterte Auflage."), ("date", "2007.")],
        ),
        # the book behind its editors
        (
            [("author", "Ho, A.:"), TITLE, ("editor", "in: Bell, K. (Hrsg.):"), ("publisher", "Trees,")],
            [("author", "Ho, A.:"), TITLE, ("editor", "in: Bell, K. (Hrsg.):"), ("container-title", "Trees,")],
        ),
        # pages of the web, and who they are from
        (
            [
                ("author", "Hedge Trust"),
                ("date", "(2016, May 9)."),
                ("container-title", "Trees"),
                ("date", "2016."),
                ("url", "https://a.org/"),
            ],
            [
                ("author", "Hedge Trust"),
                ("date", "(2016, May 9)."),
                ("title", "Trees 2016."),
                ("url", "https://a.org/"),
            ],
        ),
        (
            [("container-title", "Hedge Trust"), ("date", "(n.d.)."), TITLE, ("url", "https://a.org/")],
            [("author", "Hedge Trust"), ("date", "(n.d.)."), TITLE, ("url", "https://a.org/")],
        ),
        (
            [("title", 'Hedge contributors. "Trees."'), ("date", "2020")],
            [("author", "Hedge contributors."), ("title", '"Trees."'), ("date", "2020")],
        ),
        (
            [("author", "Ho, A."), ("title", "[@ho]."), ("date", "(2021)."), TITLE],
            [("author", "Ho, A."), ("note", "[@ho]."), ("date", "(2021)."), TITLE],
        ),
        # numbers of Mathematical Reviews
        ([TITLE, ("pages", "2725–2809. MR 3687107")], [TITLE, ("pages", "2725–2809."), ("note", "MR 3687107")]),
        ([TITLE, ("volume", "v+218. MR"), ("pages", "3683060")], [TITLE, ("volume", "v+218."), ("note", "MR 3683060")]),
        # a dash that was lost
        ([TITLE, ("pages", "1200"), ("pages", "1210")], [TITLE, ("pages", "1200 1210")]),
        ([TITLE, ("pages", "1210"), ("pages", "1200")], [TITLE, ("pages", "1210"), ("pages", "1200")]),
        # versions of packages
        (
            [("title", "Hedges. R package version 2."), ("pages", "8-19."), ("url", "https://a.org")],
            [("title", "Hedges."), ("edition", "R package version 2.8-19."), ("url", "https://a.org")],
        ),
        (
            [TITLE, ("container-title", "R package version"), ("volume", "2."), ("pages", "0-10")],
            [TITLE, ("edition", "R package version 2.0-10")],
        ),
        # pages and series
        (
            [("container-title", "Phys. B"), ("volume", "716,"), ("issue", "1"), ("date", "(2012)")],
            [("container-title", "Phys. B"), ("volume", "716,"), ("pages", "1"), ("date", "(2012)")],
        ),
        (
            [TITLE, ("collection-title", "(Hedges"), ("volume", "20), vol. 2,"), ("pages", "5–9.")],
            [TITLE, ("collection-title", "(Hedges 20),"), ("volume", "vol. 2,"), ("pages", "5–9.")],
        ),
        # what was taken for a note
        ([TITLE, ("other", "6. Auflage."), ("date", "1995")], [TITLE, ("edition", "6. Auflage."), ("date", "1995")]),
        (
            [TITLE, ("note", "11., korr. Aufl."), ("date", "2003")],
            [TITLE, ("edition", "11., korr. Aufl."), ("date", "2003")],
        ),
        ([TITLE, ("date", "1995"), ("pages", "(siehe S. 56).")], [TITLE, ("date", "1995"), ("note", "(siehe S. 56).")]),
        (
            [("volume", "54"), ("issue", "(18):"), ("date", "2011,"), ("pages", "1985.")],
            [("volume", "54"), ("issue", "(18):"), ("pages", "2011,"), ("date", "1985.")],
        ),
        # numbers of titles
        ([("citation-number", "100"), TITLE], [("title", "100 Hedges of the north.")]),
        ([("citation-number", "[100]"), TITLE], [("citation-number", "[100]"), TITLE]),
        ([("citation-number", "12"), TITLE], [("citation-number", "12"), TITLE]),
        (
            [("date", "(1999)"), TITLE, ("container-title", "The Guardian"), ("date", "12 May 1999,")],
            [("date", "(1999)"), TITLE, ("container-title", "The Guardian"), ("date", "12 May 1999,")],
        ),
        (
            [TITLE, ("editor", "Inglis, K. (ed.),"), ("publisher", "Arbor.")],
            [TITLE, ("editor", "Inglis, K. (ed.),"), ("publisher", "Arbor.")],
        ),
        ([("date", "2001:"), TITLE, ("date", "1968.")], [("title", "2001: Hedges of the north."), ("date", "1968.")]),
        # who printed it
        (
            [("author", "R Team"), TITLE, ("container-title", "Hedge Foundation,"), ("location", "Vienna")],
            [("author", "R Team"), TITLE, ("publisher", "Hedge Foundation,"), ("location", "Vienna")],
        ),
        # about when
        (
            [TITLE, ("location", "[Mainz, ca."), ("date", "1455].")],
            [TITLE, ("location", "[Mainz,"), ("date", "ca. 1455].")],
        ),
        ([TITLE, ("location", "Rom"), ("date", "1455.")], [TITLE, ("location", "Rom"), ("date", "1455.")]),
        # volume, issue (month), page, as ACM has it
        (
            [TITLE, ("volume", "23,"), ("pages", "107"), ("date", "(Jul. 1969),"), ("pages", "683.")],
            [TITLE, ("volume", "23,"), ("issue", "107"), ("date", "(Jul. 1969),"), ("pages", "683.")],
        ),
        (
            [TITLE, ("volume", "410"), ("container-title", "U.S."), ("volume", "113"), ("date", "(1973).")],
            [TITLE, ("volume", "410"), ("container-title", "U.S."), ("pages", "113"), ("date", "(1973).")],
        ),
        # a zip code is no year
        (
            [TITLE, ("location", "Cambridge, MA"), ("date", "02139."), ("date", "2001.")],
            [TITLE, ("location", "Cambridge, MA 02139."), ("date", "2001.")],
        ),
        # pages in Roman numbers before the others
        ([TITLE, ("volume", "xii,"), ("pages", "432 pp.")], [TITLE, ("pages", "xii, 432 pp.")]),
        # the day of a date that the volume has swallowed
        (
            [TITLE, ("date", "2003 nov."), ("volume", "12;52"), ("issue", "(4):")],
            [TITLE, ("date", "2003 nov. 12;"), ("volume", "52"), ("issue", "(4):")],
        ),
        # the year in the name of a meeting
        (
            [TITLE, ("container-title", "In ECAI"), ("volume", "94,"), ("date", "1994.")],
            [TITLE, ("container-title", "In ECAI 94,"), ("date", "1994.")],
        ),
        # the place in the name of a journal, and the one behind it
        (
            [TITLE, ("container-title", "Proc Natl Acad Sci"), ("location", "USA."), ("volume", "101")],
            [TITLE, ("container-title", "Proc Natl Acad Sci USA."), ("volume", "101")],
        ),
        (
            [("author", "SANTOS, P."), TITLE, ("container-title", "Revista de Solos, Viçosa,"), ("volume", "v. 28,")],
            [
                ("author", "SANTOS, P."),
                TITLE,
                ("container-title", "Revista de Solos,"),
                ("location", "Viçosa,"),
                ("volume", "v. 28,"),
            ],
        ),
        # editors and containers that one label has swallowed
        (
            [TITLE, ("container-title", "In Landscapes, ed. R. A. Shaw, F. Hill."), ("publisher", "Batsford")],
            [
                TITLE,
                ("container-title", "In Landscapes,"),
                ("editor", "ed. R. A. Shaw, F. Hill."),
                ("publisher", "Batsford"),
            ],
        ),
        (
            [TITLE, ("editor", "in Storia di Prato, a cura di G. Cherubini,")],
            [TITLE, ("container-title", "in Storia di Prato,"), ("editor", "a cura di G. Cherubini,")],
        ),
        (
            [TITLE, ("container-title", "Pflanzen im Schatten, hrsg. von Otto Klein,")],
            [TITLE, ("container-title", "Pflanzen im Schatten,"), ("editor", "hrsg. von Otto Klein,")],
        ),
        # a page behind the date, a version and a number of volumes behind the title, a house behind the place
        ([TITLE, ("date", "September 1994. 9.")], [TITLE, ("date", "September 1994."), ("pages", "9.")]),
        ([("title", "ggtree (Version 1.4.0).")], [("title", "ggtree"), ("edition", "(Version 1.4.0).")]),
        ([("title", "Werke. 4 Bde."), ("date", "1958")], [("title", "Werke."), ("volume", "4 Bde."), ("date", "1958")]),
        ([TITLE, ("location", "Leeds: Arbor;")], [TITLE, ("location", "Leeds:"), ("publisher", "Arbor;")]),
        # an institution where no author is named
        ([("publisher", "Ministry of Health,"), TITLE], [("author", "Ministry of Health,"), TITLE]),
    ],
)
def test_what_can_only_be_a_mistake(pairs: Pairs, expected: Pairs) -> None:
    assert mended(pairs) == expected


@pytest.mark.parametrize(
    "pairs",
    [
        [
            ("author", "A. Bell,"),
            TITLE,
            ("container-title", "Nature"),
            ("volume", "12,"),
            ("pages", "3-9"),
            ("date", "1990"),
        ],
        [("author", "Bell 3rd, A.,"), TITLE],
        [("author", "See KC, Tan B, Lim TK."), TITLE],
        [("author", "See, K. C., Tan, B."), TITLE],
        [("author", "See K. C., Tan B."), TITLE],
        [("author", "Seeger, A., Voirin, P."), TITLE],
        [("author", "Siehe, W."), TITLE],
        [("author", "A. Bell,"), TITLE, ("author", "Vgl. B. Moe")],
        [("author", "A. Bell,"), TITLE, ("volume", "94,"), ("date", "1994.")],
        [TITLE, ("container-title", "JAMA"), ("volume", "94,"), ("date", "1994.")],
        [TITLE, ("container-title", "In Proceedings of the Third Workshop on Trees"), ("location", "Bled, Slovenia.")],
        [TITLE, ("container-title", "Nature,"), ("location", "London,"), ("volume", "12")],
        [TITLE, ("container-title", "Africa Explores"), ("location", "New York:"), ("publisher", "Prestel")],
        [("author", "Bell, A."), TITLE, ("container-title", "Palaeogeography, Palaeoecology,"), ("volume", "v. 132,")],
        [TITLE, ("container-title", "Journal of Ed. Research"), ("volume", "3")],
        [TITLE, ("date", "1994-1996.")],
        [TITLE, ("date", "12 May 1994.")],
        [("title", "Hedges (a study).")],
        [("title", "The two volumes")],
        [TITLE, ("container-title", "Arbor Society Convention,"), ("location", "Leeds")],
        [TITLE, ("location", "Leeds:"), ("publisher", "Arbor")],
        [("editor", "a cura di M. Rossi,"), TITLE],
        [("title", "Annual plan."), ("publisher", "Ministry of Health,")],
    ],
)
def test_everything_else_stays(pairs: Pairs) -> None:
    assert mended(pairs) == pairs


PIECES = st.sampled_from(
    [
        "Heath",
        "Vgl. auch",
        "See",
        "1978",
        ":",
        "a cura di",
        "ed.",
        "J. Bell",
        "12",
        "v.",
        "(Version 2)",
        "4 Bde.",
        "xii,",
        "432 pp.",
        ",",
        "USA",
    ]
)
FIELDS = st.tuples(st.sampled_from(LABELS), st.lists(PIECES, min_size=1, max_size=4).map(" ".join))


@settings(deadline=None, derandomize=True, max_examples=300)
@given(st.lists(FIELDS, max_size=8))
def test_no_text_is_lost_and_none_invented(pairs: Pairs) -> None:
    def whole(several: Pairs) -> str:
        return "".join(text for _, text in several).replace(" ", "")

    found = mended(pairs)
    assert whole(found) == whole(pairs)
    assert {label for label, _ in found} <= set(LABELS)


def test_the_work_has_it_and_the_record_says_what_the_model_said() -> None:
    record = record_of(
        ("author", "Chen L."),
        TITLE,
        ("container-title", "Proc Natl Acad Sci"),
        ("location", "USA."),
        ("volume", "101:"),
    )
    assert (record.work.container_title, record.work.location) == ("Proc Natl Acad Sci USA", "")
    assert [field.label for field in record.fields][2:4] == ["container-title", "location"]


def test_the_lead_of_a_footnote_is_a_note() -> None:
    work = record_of(("author", "Vgl. Hans-Peter Krüger,"), TITLE).work
    assert [(name.given, name.family) for name in work.authors] == [("Hans-Peter", "Krüger")]
    assert (work.note, work.unread) == ("Vgl.", ())
