"""BibTeX entries are read back by bibtexparser and pylatexenc as what was written."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import unquote

import bibtexparser
import pytest
from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names
from citation_works import ARTICLE, CHAPTER, NAMES, TEXTS, THESIS, WORKS, one_line
from hypothesis import given, settings
from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

from espalier.citations.formats.bibtex import entry, escape
from espalier.citations.work import Date, Name, Pages, Work

CONTEXT = get_default_latex_context_db()
# Commands of LaTeX's kernel that pylatexenc does not list, and one that it reads as a modifier letter.
KERNEL = {
    **{"textbraceleft": "{", "textbraceright": "}", "textasciicircum": "^"},
    **{"textless": "<", "textgreater": ">", "textbar": "|"},
}
CONTEXT.add_context_category("kernel", prepend=True, macros=[MacroTextSpec(*pair) for pair in KERNEL.items()])
LATEX = LatexNodes2Text(latex_context=CONTEXT, strict_latex_spaces=True)


def read(text: str) -> tuple[str, str, dict[str, str]]:
    """Return (entry type, key, field values as they stand in the file) of the only entry."""
    library = bibtexparser.parse_string(text)
    assert not library.failed_blocks
    assert not library.comments
    (found,) = library.entries
    return found.entry_type, found.key, {field.key: field.value for field in found.fields}


def decoded(latex: str) -> str:
    return LATEX.latex_to_text(latex)


def test_a_thesis_in_full() -> None:
    assert entry(THESIS) == (
        "@phdthesis{andersen1994program,\n"
        "  author = {Andersen, L. O.},\n"
        "  title = {Program Analysis and Specialization for the {C} Programming Language},\n"
        "  school = {DIKU, University of Copenhagen},\n"
        "  year = {1994},\n"
        "  month = may,\n"
        "  type = {PhD thesis},\n"
        "}\n"
    )


def test_an_article_in_full() -> None:
    assert entry(ARTICLE, "k") == (
        "@article{k,\n"
        "  author = {van der Berg, Jr., Jan and {The ACME \\& Sons Group} and Müller, K.-H. and others},\n"
        "  title = {Why {DNA} folds: A {Bayesian} study},\n"
        "  journal = {Journal of Strange \\& Rare Results},\n"
        "  volume = {12},\n"
        "  number = {3},\n"
        "  pages = {101--108},\n"
        "  year = {2003},\n"
        "  month = mar,\n"
        "  day = {12},\n"
        "  doi = {10.1000/a_b(1)},\n"
        "  url = {https://example.org/a?b=1&c=%7B2%7D},\n"
        "  issn = {1234-5679},\n"
        "}\n"
    )


def test_a_chapter() -> None:
    kind, key, fields = read(entry(CHAPTER))
    assert (kind, key) == ("incollection", "ortegaygasset1999on")
    assert fields == {
        "author": "{Ortega y Gasset}, José",
        "editor": "Smith, A. and Jones, B.",
        "title": "On nothing",
        "booktitle": "Handbook of Everything",
        "series": "Lecture Notes in Vacuity",
        "pages": "12--15, 20",
        "edition": "2nd",
        "publisher": "Void Press",
        "address": "New York",
        "year": "c. 1999",
        "month": "Spring",
        "isbn": "9780306406157",
    }


@pytest.mark.parametrize(
    ("work", "kind"),
    [
        (Work(type="article-journal"), "article"),
        (Work(type="paper-conference"), "inproceedings"),
        (Work(type="chapter"), "incollection"),
        (Work(type="book"), "book"),
        (Work(type="thesis"), "phdthesis"),
        (Work(type="thesis", genre="Dissertation"), "phdthesis"),
        (Work(type="thesis", genre="Master's thesis"), "mastersthesis"),
        (Work(type="thesis", genre="Diplomarbeit"), "mastersthesis"),
        (Work(type="thesis", genre="M.Sc. thesis"), "mastersthesis"),
        (Work(type="report"), "techreport"),
        (Work(type="webpage"), "misc"),
        (Work(type="article"), "misc"),
        (Work(type="document"), "misc"),
    ],
)
def test_entry_types(work: Work, kind: str) -> None:
    assert read(entry(work))[0] == kind


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (Name("Knuth", "Donald E."), "Knuth, Donald E."),
        (Name("Beethoven", "Ludwig", "van"), "van Beethoven, Ludwig"),
        (Name("King", "Martin Luther", suffix="Jr."), "King, Jr., Martin Luther"),
        (Name("King", suffix="Jr."), "King, Jr., {}"),
        (Name("Plato"), "Plato"),
        (Name("Van Halen"), "{Van Halen}"),
        (Name("Brinch Hansen", "Per"), "Brinch Hansen, Per"),
        (Name("Ortega y Gasset", "J."), "{Ortega y Gasset}, J."),
        (Name("others"), "{others}"),
        (Name("Anderson and Sons", "X"), "{Anderson and Sons}, X"),
        (Name("Smith, Jr", "X"), "{Smith, Jr}, X"),
        (Name(literal="World Health Organization"), "{World Health Organization}"),
        (Name(literal="R&D"), r"{R\&D}"),
        (Name(given="Madonna"), "{Madonna}"),
    ],
)
def test_names(name: Name, text: str) -> None:
    assert read(entry(Work(authors=(name,))))[2]["author"] == text


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("A study of DNA in LaTeX", "A study of {DNA} in {LaTeX}"),
        ("A STUDY OF EVERYTHING", "A STUDY OF EVERYTHING"),
        ("Bayesian methods for Gaussian fields", "Bayesian methods for {Gaussian} fields"),
        ("Bayesian Methods for Gaussian Fields", "Bayesian Methods for Gaussian Fields"),
        ("Semi-Supervised Learning with 3D Data (PET)", "Semi-Supervised Learning with {3D} Data ({PET})"),
        ("Parsing: The next generation", "Parsing: The next generation"),
        ("The C++ Language and I", "The {C}++ Language and {I}"),
        ("Research: A Study", "Research: A Study"),
        ("50% of R&D is _fun_", r"50\% of {R\&D} is \_fun\_"),
        ("日本語の題名", "日本語の題名"),
        ("", None),
    ],
)
def test_titles_keep_their_capitals(title: str, text: str | None) -> None:
    assert read(entry(Work(title=title)))[2].get("title") == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (r"a\b", r"a{\textbackslash}b"),
        ("{x}", r"{\textbraceleft}x{\textbraceright}"),
        ("#$%&_", r"\#\$\%\&\_"),
        ("~^", r"{\textasciitilde}{\textasciicircum}"),
        ("a<b|c>d", r"a{\textless}b{\textbar}c{\textgreater}d"),
        ("1--2---3", "1-{}-2-{}-{}-3"),
        ("``q''", "`{}`q'{}'"),
        (" a\n\tb\x00 ", "a b\ufffd"),
        ("Ünïcödé – “q”", "Ünïcödé – “q”"),
    ],
)
def test_escapes(text: str, escaped: str) -> None:
    assert escape(text) == escaped


@pytest.mark.parametrize(
    ("date", "fields"),
    [
        (Date(((1994,),)), {"year": "1994"}),
        (Date(((1994,), (1996,))), {"year": "1994--1996"}),
        (Date(((1994, 5), (1994, 6))), {"year": "1994", "month": 'may # "--" # jun'}),
        (Date(((1994, 12, 30), (1995, 1, 2))), {"year": "1994--1995", "month": 'dec # "--" # jan', "day": "30--2"}),
        (Date(((1994, 5, 3), (1994, 5, 7))), {"year": "1994", "month": "may", "day": "3--7"}),
        (Date(((1994,), (1996, 2))), {"year": "1994--1996"}),
        (Date(((1999,),), season=3), {"year": "1999", "month": "Autumn"}),
        (Date(((1850,),), circa=True), {"year": "c. 1850"}),
        (Date(literal="in press"), {"year": "in press"}),
        (Date(((1994,),), literal="1994a"), {"year": "1994", "annote": "date: 1994a"}),
        (Date(), {}),
        (None, {}),
    ],
)
def test_dates(date: Date | None, fields: dict[str, str]) -> None:
    assert read(entry(Work(issued=date)))[2] == fields


@pytest.mark.parametrize(
    ("pages", "text"),
    [
        (Pages("S12", "S18", "S12-S18"), "S12--S18"),
        (Pages("e1234", "", "e1234"), "e1234"),
        (Pages("", "", "345 p."), "345 p."),
        (Pages("12", "15", "12–15, 20—22"), "12--15, 20--22"),
    ],
)
def test_pages(pages: Pages, text: str) -> None:
    assert read(entry(Work(pages=pages)))[2]["pages"] == text


@pytest.mark.parametrize(
    ("work", "fields"),
    [
        (Work(type="thesis", institution="MIT"), {"school": "MIT"}),
        (Work(type="thesis", publisher="MIT"), {"school": "MIT"}),
        (Work(type="report", institution="A", publisher="B"), {"institution": "A", "publisher": "B"}),
        (Work(type="book", institution="A", publisher="B"), {"organization": "A", "publisher": "B"}),
        (Work(type="report", number="TR-7"), {"number": "TR-7"}),
        (Work(type="report", number="TR-7", issue="2"), {"number": "TR-7", "issue": "2"}),
        (Work(number=" ", issue="2"), {"number": "2"}),
        (Work(doi="10.1002/(SICI)1<1::A>3.0{x}_#"), {"doi": "10.1002/(SICI)1<1::A>3.0%7Bx%7D_#"}),
        (Work(type="webpage", container_title="BBC"), {"howpublished": "BBC"}),
        (Work(type="article", arxiv="1706.03762"), {"eprint": "1706.03762", "archiveprefix": "arXiv"}),
        (Work(accessed=Date(((2020, 1, 2),)), url="http://x.org"), {"url": "http://x.org", "urldate": "2020-01-02"}),
        (Work(unread=(("pages", "?"), ("other", "#"))), {"annote": r"pages: ?; other: \#"}),
    ],
)
def test_homes_of_fields(work: Work, fields: dict[str, str]) -> None:
    assert read(entry(work))[2] == fields


@settings(deadline=None, derandomize=True, max_examples=150)
@given(TEXTS)
def test_latex_reads_every_escape_back(text: str) -> None:
    assert decoded(escape(text)) == one_line(text)


@settings(deadline=None, derandomize=True, max_examples=30)
@given(WORKS)
def test_any_work_reads_back(work: Work) -> None:
    _, _, fields = read(entry(work))
    number = work.number if one_line(work.number) else work.issue
    expected = {
        "title": work.title,
        "series": work.collection_title,
        "volume": work.volume,
        "edition": work.edition,
        "number": number,
        "address": work.location,
        "type": work.genre,
        "note": work.note,
        "isbn": work.isbn,
        "issn": work.issn,
    }
    for name, value in expected.items():
        assert decoded(fields.get(name, "")) == one_line(value), name
    homes = {"journal", "booktitle", "howpublished"} & set(fields)
    assert "".join(decoded(fields[name]) for name in homes) == one_line(work.container_title)
    for name, value in (("doi", work.doi), ("url", work.url), ("eprint", work.arxiv)):
        assert unquote(fields.get(name, "")) == unquote(one_line(value)), name


@settings(deadline=None, derandomize=True, max_examples=150)
@given(NAMES, NAMES)
def test_any_names_read_back(first: Name, second: Name) -> None:
    _, _, fields = read(entry(Work(authors=(first, second), others=frozenset({"author"}))))
    expected = [parts for parts in map(name_parts, (first, second)) if any(parts)]
    *names, last = split_multiple_persons_names(fields["author"])
    assert last == "others"
    assert [read_name(name) for name in names] == expected


def name_parts(name: Name) -> tuple[str, str, str]:
    """Return (von and last together, suffix, first), an unsplit name as a last name alone."""
    family, first, suffix = one_line(name.family), one_line(name.given), one_line(name.suffix)
    if name.literal or not family:
        return one_line(name.literal or f"{name.particle} {name.given} {name.suffix}"), "", ""
    return one_line(f"{name.particle} {family}"), suffix, first


def read_name(name: str) -> tuple[str, str, str]:
    parts = parse_single_name_into_parts(name)
    groups = (parts.von + parts.last, parts.jr, parts.first)
    last, jr, first = (decoded(" ".join(words)) for words in groups)
    return last, jr, first


def test_a_key_may_be_given() -> None:
    assert read(entry(replace(THESIS, title=""), "my-key"))[1] == "my-key"
