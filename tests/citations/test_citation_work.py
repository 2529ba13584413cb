"""From the fields of a record to its work: titles, types, several fields of one label, and nothing lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier import io
from espalier.citations import normalise
from espalier.citations.normalise import clean_container, clean_title, kind_of, work_of
from espalier.citations.record import LABELS, Field, Record
from espalier.citations.work import KINDS, Date, Name, Pages


def record(*parts: tuple[str, str]) -> Record:
    """Fields one after the other, a space between."""
    text, fields = "", []
    for label, words in parts:
        start = len(text)
        fields.append(Field(label, words, start, start + len(words), 1.0))
        text += words + " "
    return Record(text, tuple(fields), 1.0, None)


def test_everything_at_once() -> None:
    work = record(
        ("citation-number", "[7]"),
        ("author", "Smith, A. B., & van der Berg, C., et al."),
        ("date", "(2003)."),
        ("title", "“Learning to parse references.”"),
        ("container-title", "Journal of Things,"),
        ("volume", "12(3),"),
        ("pages", "101-8."),
        ("publisher", "Wiley,"),
        ("location", "New York:"),
        ("doi", "https://doi.org/10.1000/xyz."),
        ("url", "http://x.org/a."),
        ("accessed", "accessed 3 May 2004"),
        ("issn", "ISSN 0378-5955"),
        ("note", "(in German)."),
    ).work
    assert work.authors == (Name("Smith", "A. B."), Name("Berg", "C.", "van der"))
    assert work.others == {"author"}
    assert work.issued == Date(((2003,),))
    assert work.accessed == Date(((2004, 5, 3),))
    assert work.title == "Learning to parse references"
    assert work.container_title == "Journal of Things"
    assert (work.volume, work.issue, work.pages) == ("12", "3", Pages("101", "108", "101–108"))
    assert (work.publisher, work.location, work.note) == ("Wiley", "New York", "in German")
    assert (work.doi, work.url, work.issn) == ("10.1000/xyz", "http://x.org/a", "0378-5955")
    assert work.type == "article-journal"
    assert work.unread == ()


def test_several_fields_of_one_label() -> None:
    work = record(
        ("author", "A. Smith,"),
        ("title", "One."),
        ("author", "B. Jones (Lund)"),
        ("title", "Two."),
        ("date", "4 January."),
        ("date", "2003."),
        ("location", "London;"),
        ("location", "Paris:"),
        ("volume", "12(3)"),
        ("issue", "4"),
        ("isbn", "0-306-40615-3"),
        ("other", "* see also"),
        ("other", "--"),
    ).work
    assert work.authors == (Name("Smith", "A."), Name("Jones", "B."))
    assert work.title == "One"
    assert work.issued == Date(((2003, 1, 4),))
    assert work.location == "London; Paris"
    assert (work.volume, work.issue) == ("12", "4")
    assert set(work.unread) == {
        ("author", "Lund"),
        ("title", "Two"),
        ("volume", "3"),
        ("isbn", "0-306-40615-3"),
        ("other", "* see also"),
    }


def test_of_two_dates_the_one_with_a_year_counts() -> None:
    work = record(("date", "in press"), ("date", "1999a")).work
    assert work.issued == Date(((1999,),), literal="1999a")
    assert work.unread == (("date", "in press"),)


def test_a_month_beside_the_issue_is_one_of_the_date() -> None:
    work = record(("volume", "28,"), ("issue", "no. 3 (March),"), ("date", "1999.")).work
    assert (work.volume, work.issue, work.issued, work.unread) == ("28", "3", Date(((1999, 3),)), ())
    work = record(("volume", "28(3) (Spring),"), ("date", "1999.")).work
    assert (work.volume, work.issue, work.issued, work.unread) == ("28", "3", Date(((1999,),), 1), ())


def test_a_month_that_the_date_has_no_use_for_is_not_lost() -> None:
    for date, expected in (("4 April 1999", Date(((1999, 4, 4),))), ("in press", Date(literal="in press"))):
        work = record(("issue", "3 (March)"), ("date", date)).work
        assert (work.issue, work.issued, work.unread) == ("3", expected, (("issue", "March"),))
    assert record(("issue", "3 (March)")).work.unread == (("issue", "March"),)


@pytest.mark.parametrize("label", ["note", "other"])
@pytest.mark.parametrize(
    ("text", "issued"), [("in press.", Date(literal="in press")), ("(n.d.)", None), ("o. J.,", None)]
)
def test_a_note_that_only_stands_for_a_date_is_one(label: str, text: str, issued: Date | None) -> None:
    work = record(("title", "X"), (label, text), ("note", "In German.")).work
    assert (work.issued, work.note, work.unread) == (issued, "In German", ())


def test_a_note_beside_a_date_stays_a_note() -> None:
    work = record(("date", "1999"), ("note", "in press"), ("other", "n.d.")).work
    assert (work.issued, work.note, work.unread) == (Date(((1999,),)), "in press", (("other", "n.d."),))
    work = record(("note", "in press"), ("note", "to appear")).work
    assert (work.issued, work.note) == (Date(literal="in press"), "to appear")


def test_identifiers_are_found_where_they_stand() -> None:
    work = record(("url", "https://doi.org/10.1000/xyz"), ("container-title", "arXiv preprint arXiv:1706.03762")).work
    assert (work.doi, work.arxiv, work.type) == ("10.1000/xyz", "1706.03762", "article")
    work = record(("author", "B. Liskov"), ("genre", "Technical Report CS-94-12,"), ("institution", "MIT")).work
    assert (work.number, work.type, work.genre) == ("CS-94-12", "report", "Technical Report")


@pytest.mark.parametrize(
    ("text", "title", "container"),
    [
        ("Plant Disp.,", "Plant Disp", "Plant Disp."),
        ("In Plant Disp.;", "In Plant Disp", "Plant Disp."),
        ('"Deep learning,"', "Deep learning", "Deep learning"),
        ("Is it so?", "Is it so?", "Is it so?"),
        ("Hepatitis B.", "Hepatitis B", "Hepatitis B"),
        ("Life in the U.S.", "Life in the U.S.", "Life in the U.S."),
        ("[Untitled].", "[Untitled]", "[Untitled]"),
        ("In: The Book,", "In: The Book", "The Book"),
        ("In Proceedings of X,", "In Proceedings of X", "Proceedings of X"),
        ("In Vitro Biology", "In Vitro Biology", "In Vitro Biology"),
        ("Inorganic Chemistry", "Inorganic Chemistry", "Inorganic Chemistry"),
        ("In:", "In", "In"),
        ("《红楼梦》。", "红楼梦", "红楼梦"),
        ("「吾輩は猫である」、", "吾輩は猫である", "吾輩は猫である"),
        ("、『坊っちゃん』｡", "坊っちゃん", "坊っちゃん"),
        ("〈标题〉，", "标题", "标题"),
        ("《红楼梦》研究；", "《红楼梦》研究", "《红楼梦》研究"),
        ("【标题】", "【标题】", "【标题】"),
        ("载：《红楼梦》", "载：《红楼梦》", "红楼梦"),
        ("", "", ""),
    ],
)
def test_titles(text: str, title: str, container: str) -> None:
    assert clean_title(text) == title
    assert clean_container(text) == container


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        ("article-journal", {"container-title": "Nature", "volume": "12", "pages": "1-2"}),
        ("article-journal", {"container-title": "Proc. Natl. Acad. Sci. USA", "volume": "12"}),
        ("article-journal", {"container-title": "Proceedings of the IEEE", "volume": "12"}),
        ("article-journal", {"container-title": "In Vitro", "publisher": "X", "issue": "3"}),
        ("article-journal", {"volume": "12", "pages": "1-2"}),
        ("paper-conference", {"container-title": "In Proc. of the 12th Conf. on X", "publisher": "ACM"}),
        ("paper-conference", {"container-title": "ICML"}),
        ("paper-conference", {"container-title": "Proceedings of the IEEE Symposium on X"}),
        ("chapter", {"container-title": "In The Book of X"}),
        ("chapter", {"container-title": "The Book of X", "editor": "A. B."}),
        ("chapter", {"container-title": "The Book of X", "publisher": "Wiley"}),
        ("article-journal", {"container-title": "J. Phys. A", "publisher": "IOP"}),
        ("book", {"publisher": "Wiley", "title": "X"}),
        ("book", {"edition": "2nd ed."}),
        ("book", {"location": "Paris"}),
        ("thesis", {"genre": "PhD thesis", "institution": "MIT"}),
        ("thesis", {"genre": "Ph.D. dissertation", "publisher": "MIT"}),
        ("thesis", {"note": "Diplomarbeit", "institution": "TU Wien"}),
        ("report", {"genre": "Technical Report TR-12", "institution": "MIT"}),
        ("report", {"genre": "Working Paper", "container-title": "NBER"}),
        ("report", {"institution": "MIT"}),
        ("article", {"container-title": "arXiv preprint"}),
        ("article", {"note": "SSRN"}),
        ("webpage", {"url": "http://x.org", "title": "X"}),
        ("document", {"title": "X"}),
        ("document", {}),
    ],
)
def test_types(kind: str, texts: dict[str, str]) -> None:
    assert kind in KINDS
    assert kind_of(texts) == kind


def test_a_journal_article_with_an_arxiv_number_stays_one() -> None:
    assert kind_of({"container-title": "J. Phys. A", "volume": "12"}, arxiv=True) == "article-journal"
    assert kind_of({"title": "X"}, arxiv=True) == "article"


FIELDS = st.tuples(st.sampled_from(LABELS), st.text(min_size=1, max_size=20).filter(lambda text: not text.isspace()))


@given(st.lists(FIELDS, max_size=8).map(lambda parts: record(*parts)))
@settings(deadline=None, derandomize=True, max_examples=100)
def test_any_record_has_a_work(found: Record) -> None:
    work = work_of(found)
    assert work.type in KINDS
    assert all(text for _, text in work.unread)


LONG = 5_000
FUNCTIONS: list[Callable[[str], object]] = [
    *(normalise.split_names, normalise.parse_date, normalise.parse_pages, normalise.parse_volume),
    *(normalise.parse_issue, normalise.parse_edition, normalise.report_number, normalise.find_doi, normalise.find_url),
    *(normalise.find_arxiv, normalise.find_isbn, normalise.find_issn, clean_title, clean_container),
    lambda text: kind_of(dict.fromkeys(("genre", "container-title", "note"), text)),
]


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a",
            "1",
            " ",
            "(",
            ")",
            ".",
            ",",
            "-",
            "'",
            "“",
            "A. ",
            "a, ",
            "a y ",
            "1-",
            "n5",
            "10.1000/",
            "www.",
            "arxiv",
        ),
        *(
            "University of a, ",
            "a (b) ",
            "and ",
            ". . ",
            "tech ",
            "proc of the ",
            "in ",
            "%2f10.",
            "http:/",
            "1. ",
            "é",
            "(“",
        ),
        *("王.", "王·", "等。", "MD, ", "'t ", "12/", "et al", "（", "第1卷", "1 et seq, ", "3 (May", "i in ", "de "),
    ],
)
def test_long_texts_take_no_longer_than_they_must(unit: str) -> None:
    """A second at most if linear; what is worse than quadratic would not end."""
    text = (unit * LONG)[:LONG]
    begin = time.process_time()
    for function in FUNCTIONS:
        function(text)
        function(text + "\0,x")
    assert time.process_time() - begin < 8


def test_names_of_real_references_lose_no_letter(data_dir: Path) -> None:
    documents = list(io.read(data_dir / "anystyle" / "normalised" / "train.jsonl.gz"))[:400]
    texts = [
        document.text[span.start : span.end]
        for document in documents
        for span in document.spans or ()
        if span.label in ("author", "editor", "translator")
    ]
    assert len(texts) > 300
    for text in texts:
        found = normalise.split_names(text)
        parts = [part for n in found.names for part in (n.family, n.given, n.particle, n.suffix, n.literal)]
        letters = sorted(
            sign for part in (*parts, *found.cues, *found.asides) for sign in part.casefold() if sign.isalnum()
        )
        assert letters == sorted(sign for sign in text.casefold() if sign.isalnum())


@pytest.mark.parametrize("text", ["История языка /", "История языка //", "История языка. /"])
def test_the_slash_behind_a_title_is_no_part_of_it(text: str) -> None:
    assert clean_title(text) == "История языка"
