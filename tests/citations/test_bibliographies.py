"""Bibliographies are recognised by content and read as they are; what our writers write comes back."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import bibtexparser
import pytest
import rispy
from bibtexparser.middlewares.names import parse_single_name_into_parts, split_multiple_persons_names
from citation_works import ARTICLE, CHAPTER, THESIS, WORKS
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.bibliographies import BIBLIOGRAPHIES, Entry, read_bibliography, read_entries, recognise
from espalier.citations.formats import FORMATS, write
from espalier.citations.normalise import parse_pages
from espalier.citations.work import KINDS, Date, Name, Pages, Work
from espalier.errors import FormatError

WRITTEN = ("bibtex", "ris", "csl", "endnote", "jsonl")


def rewritten(work: Work, format: str) -> str:
    return "".join(write([Entry("x", work, "k")], format))


def back(work: Work, format: str) -> Work:
    (entry,) = read_entries(rewritten(work, format))
    return entry.work


@pytest.mark.parametrize("format", ["bibtex", "ris", "csl", "endnote"])
def test_the_number_of_pages_of_a_book_comes_back(format: str) -> None:
    work = Work(type="book", title="Wires", number_of_pages="700")
    assert back(work, format).number_of_pages == "700"
    article = Work(type="article-journal", title="Wires", pages=parse_pages("700"))
    assert back(article, format).pages == article.pages


WORDS = st.sampled_from(
    ["Soil", "Water", "Über", "DNA", "of", "the", "Łódź", "R&D", "50%", "x_1", "in-situ", "#3", "$5", "O’Neill", "李"]
)
PHRASES = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
TITLES = PHRASES.map(lambda words: f"Study {words}")
FAMILIES = st.sampled_from(["Smith", "Müller", "O'Brien", "Ortega y Gasset", "Smith-Jones", "李"])
PERSONS = st.builds(
    Name,
    family=FAMILIES,
    given=st.sampled_from(["A.", "Anna Maria", "J.-P.", "K. H."]),
    particle=st.sampled_from(["", "", "van der", "de la"]),
    suffix=st.sampled_from(["", "", "Jr.", "III"]),
    literal=st.just(""),
) | st.sampled_from([Name(literal="World Health Organization"), Name("Aristotle")])
PLAIN_DATES = st.builds(
    Date, parts=st.tuples(st.tuples(st.integers(1500, 2100), st.integers(1, 12), st.integers(1, 28)))
)
YEARS = st.builds(Date, parts=st.tuples(st.tuples(st.integers(1500, 2100))))
PAGES = st.sampled_from([parse_pages(text) for text in ("101-108", "e1234", "xii-xiv", "A12-A15")])
# Types that every one of the formats has a name of its own for.
NAMED = ("article-journal", "paper-conference", "chapter", "book", "thesis", "report")
TAME = st.builds(
    Work,
    type=st.sampled_from(NAMED),
    authors=st.lists(PERSONS, max_size=3).map(tuple),
    editors=st.lists(PERSONS, max_size=2).map(tuple),
    others=st.sampled_from([frozenset(), frozenset({"author"})]),
    title=TITLES,
    container_title=TITLES,
    volume=st.sampled_from(["", "12", "IV"]),
    pages=st.none() | PAGES,
    issued=st.none() | YEARS | PLAIN_DATES,
    accessed=st.none() | PLAIN_DATES,
    edition=st.sampled_from(["", "2nd"]),
    location=PHRASES,
    note=PHRASES,
    doi=st.sampled_from(["", "10.1000/a_b(1)"]),
    url=st.sampled_from(["", "https://example.org/a?b=1&c=2"]),
    issn=st.sampled_from(["", "1234-5679"]),
    isbn=st.sampled_from(["", "9780306406157"]),
    arxiv=st.sampled_from(["", "2101.00001"]),
    pmcid=st.sampled_from(["", "PMC123"]),
    number_of_volumes=st.sampled_from(["", "3"]),
    original_date=st.none() | YEARS,
)


@pytest.mark.parametrize("format", WRITTEN)
@settings(max_examples=60, deadline=None)
@given(work=TAME)
def test_what_is_written_is_read_back(format: str, work: Work) -> None:
    if not work.authors:  # 'et al.' behind nobody is not written
        work = replace(work, others=frozenset())
    if work.type == "report":  # the number of a report, where other works have an issue
        work = replace(work, number="7")
    else:
        work = replace(work, issue="3")
    if format == "ris":  # RIS cannot say that a name in one piece is not a person's
        work = replace(work, editors=())
    assert back(work, format) == work


@pytest.mark.parametrize("format", WRITTEN)
@settings(max_examples=60, deadline=None)
@given(work=WORKS)
def test_any_work_is_one_entry_and_can_be_written_again(format: str, work: Work) -> None:
    once = back(work, format)
    assert once.type in KINDS
    back(once, format)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("format", WRITTEN)
def test_a_work_of_any_type_that_says_nothing_else_is_known(kind: str, format: str) -> None:
    back(Work(type=kind, others=frozenset({"author"})), format)


@pytest.mark.parametrize("work", [THESIS, ARTICLE, CHAPTER])
@pytest.mark.parametrize("format", WRITTEN)
def test_a_second_writing_changes_nothing(work: Work, format: str) -> None:
    assert rewritten(back(work, format), format) == rewritten(work, format)


BIBTEX = r"""
This file was made by hand; what stands between entries is a comment.
@string{cj = "The Computer Journal"}
@comment{ nothing }
@article{DBLP:knuth/84,
  author = "Donald E. Knuth and {\O}ystein van der Berg and {World Health Organization} and Ana Mar{\'\i}a de la Cruz",
  title = {Literate {P}rogramming in {\TeX}: a "test"}, journal = cj, year = 1984, month = may # "--" # jun,
  volume=27, number = 2, pages="97--111", keywords = {a, b}}
@inproceedings(x, title={Foo}, crossref={proc}, author={Smith, Jr., John and others})
@proceedings{proc, title={Proc. of Bar}, year=2001, editor={Smith, J.}}
@misc{broken, title = {never closed
@online{w, title={Web}, url={https://a.b/c_d}, urldate={2020-01-02}, date={2019-05/2019-06}}
"""


def test_bibtex_as_people_write_it() -> None:
    refused: list[FormatError] = []
    entries = list(read_entries(BIBTEX, "refs.bib", refused))
    assert [(entry.key, entry.line) for entry in entries] == [("DBLP:knuth/84", 5), ("x", 9), ("proc", 10), ("w", 12)]
    first, second, third, last = (entry.work for entry in entries)
    assert first.authors == (
        Name("Knuth", "Donald E."),
        Name("Berg", "Øystein", "van der"),
        Name(literal="World Health Organization"),
        Name("Cruz", "Ana María", "de la"),
    )
    assert first.title == 'Literate Programming in TeX: a "test"'
    assert first.container_title == "The Computer Journal"
    assert first.issued == Date(((1984, 5), (1984, 6)))
    assert first.pages == Pages("97", "111", "97–111")
    assert (first.volume, first.issue, first.unread) == ("27", "2", (("keywords", "a, b"),))
    assert (second.type, second.container_title, second.editors) == ("paper-conference", "Proc. of Bar", third.editors)
    assert (second.authors, second.others) == ((Name("Smith", "John", "", "Jr."),), frozenset({"author"}))
    assert last.issued == Date(((2019, 5), (2019, 6)))
    assert last.accessed == Date(((2020, 1, 2),))
    assert last.type == "webpage"
    (error,) = refused
    assert "refs.bib:11: this entry cannot be read" in str(error)


@pytest.mark.parametrize(
    "name",
    ["Jan van der Berg", "van der Berg, Jan", "van der Berg, Jr., Jan", "{van der} Berg, Jan", "Knuth", "D. E. Knuth"],
)
def test_names_are_those_of_bibtexparser(name: str) -> None:
    (entry,) = read_entries(f"@book{{k, author = {{{name} and Other, A.}}}}")
    parts = parse_single_name_into_parts(split_multiple_persons_names(name)[0])
    found = entry.work.authors[0]
    expected = [
        " ".join(part).replace("{", "").replace("}", "") for part in (parts.last, parts.first, parts.von, parts.jr)
    ]
    assert [found.family, found.given, found.particle, found.suffix] == expected


def test_values_are_those_of_bibtexparser() -> None:
    text = rewritten(ARTICLE, "bibtex")
    (theirs,) = bibtexparser.parse_string(text).entries
    (ours,) = read_entries(text)
    assert ours.key == theirs.key
    assert ours.work.volume == theirs["volume"]
    assert ours.work.doi == theirs["doi"]


RIS = """TY  - JOUR
A1  - van der Berg, Jan, Jr.
AU  - John Smith
T1  - A title
that goes on
JF  - Journal of Wires
JO  - J. Wires
Y1  - 1999/03/12/Spring
SP  - 101
EP  - 8
SN  - 1234-5679
KW  - wires
ER  -

TY  - THES
TI  - Cut off
"""


def test_ris_as_managers_write_it() -> None:
    refused: list[FormatError] = []
    (entry,) = read_entries(RIS, "x.ris", refused)
    work = entry.work
    assert work.authors == (Name("Berg", "Jan", "van der", "Jr."), Name("Smith", "John"))
    assert (work.title, work.container_title) == ("A title that goes on", "Journal of Wires")
    assert work.issued == Date(((1999, 3, 12),), 1)
    assert work.pages == Pages("101", "8", "101–8")
    assert work.unread == (("JO", "J. Wires"), ("KW", "wires"))
    assert "x.ris:15" in str(refused[0])


def test_ris_is_read_as_rispy_reads_it() -> None:
    text = rewritten(ARTICLE, "ris")
    (theirs,) = rispy.loads(text)
    (ours,) = read_entries(text)
    assert ours.work.title == theirs["title"]
    assert ours.work.container_title == theirs["secondary_title"]
    assert (ours.work.volume, ours.key) == (theirs["volume"], theirs["id"])


ENDNOTE = """<?xml version="1.0" encoding="UTF-8"?>
<xml><records><record><rec-number>1</rec-number><ref-type name="Journal Article">17</ref-type>
<contributors><authors><author><style face="normal">Knuth, Donald E.</style></author><author>WHO,</author></authors>
</contributors><titles><title><style face="bold">Wires &amp; </style><style>more</style></title></titles>
<periodical><full-title>J. Wires</full-title></periodical><dates><year>1984</year></dates>
<custom1>mine</custom1></record></records></xml>
"""
NBIB = """
PMID- 123
TI  - Wires in the
      garden.
FAU - Smith, Anna B
AU  - Smith AB
JT  - Journal of wires
DP  - 2004 Mar 5
VI  - 12
PG  - 33-9
LID - 10.1000/x.1 [doi]
"""
REFER = """%0 Journal Article
%A Smith, Anna
%T Wires
%J Journal of Wires
%D 2004
%V 12
%P 33-39
%@ 1234-5679
%F smith04
"""
CSL = """[{"id": 1, "type": "article-journal", "title": "Wires", "author": [{"family": "Smith", "given": "A."}, "Anon"],
"issued": {"date-parts": [["2004", 3]]}, "volume": 12, "page": "33-39", "language": "en"}]"""


def test_others_are_read_too() -> None:
    (endnote,) = read_entries(ENDNOTE)
    assert endnote.work.authors == (Name("Knuth", "Donald E."), Name(literal="WHO"))
    assert (endnote.work.title, endnote.work.container_title) == ("Wires & more", "J. Wires")
    assert endnote.work.unread == (("custom1", "mine"),)
    assert endnote.text.startswith("<record>")
    assert endnote.text.endswith("</record>")
    (nbib,) = read_entries(NBIB)
    assert (nbib.work.title, nbib.work.doi, nbib.key) == ("Wires in the garden", "10.1000/x.1", "123")
    assert nbib.work.issued == Date(((2004, 3, 5),))
    assert nbib.work.authors == (Name("Smith", "Anna B"),)
    (refer,) = read_entries(REFER)
    assert (refer.work.title, refer.work.issn, refer.key) == ("Wires", "1234-5679", "smith04")
    (csl,) = read_entries(CSL)
    assert csl.work.issued == Date(((2004, 3),))
    assert csl.work.authors == (Name("Smith", "A."), Name(literal="Anon"))
    assert (csl.work.volume, csl.work.unread) == ("12", (("language", "en"),))


MODS = """<?xml version="1.0"?>
<modsCollection xmlns="http://www.loc.gov/mods/v3">
<mods ID="berg04">
  <titleInfo><nonSort>The</nonSort><title>wires &amp; walls</title><subTitle>a study</subTitle></titleInfo>
  <name type="personal"><namePart type="family">van der Berg</namePart><namePart type="given">Ann B.</namePart>
    <role><roleTerm authority="marcrelator" type="text">author</roleTerm></role></name>
  <name type="corporate"><namePart>World Pear Union</namePart><role><roleTerm>aut</roleTerm></role></name>
  <genre>journal article</genre>
  <relatedItem type="host">
    <titleInfo><title>Journal of Orchards</title></titleInfo>
    <originInfo><dateIssued>2004-03</dateIssued><publisher>Orchard Press</publisher></originInfo>
    <identifier type="issn">1234-5679</identifier>
    <part><detail type="volume"><number>12</number></detail><detail type="issue"><number>4</number></detail>
      <extent unit="page"><start>33</start><end>39</end></extent></part>
  </relatedItem>
  <identifier type="doi">10.1000/x.1</identifier><abstract>On wires.</abstract>
</mods>
<m:mods xmlns:m="http://www.loc.gov/mods/v3"><m:titleInfo><m:title>Soil</m:title></m:titleInfo>
  <m:name type="personal"><m:namePart>Smith, John</m:namePart></m:name>
  <m:relatedItem type="host"><m:titleInfo><m:title>Fields</m:title></m:titleInfo>
    <m:name><m:namePart>Jones, Clare</m:namePart></m:name></m:relatedItem></m:mods>
</modsCollection>
"""


def test_mods_is_read() -> None:
    first, second = read_entries(MODS)
    work = first.work
    assert (first.key, first.line, work.type, work.title) == (
        "berg04",
        3,
        "article-journal",
        "The wires & walls: a study",
    )
    assert work.authors == (Name("Berg", "Ann B.", "van der"), Name(literal="World Pear Union"))
    assert (work.container_title, work.volume, work.issue) == ("Journal of Orchards", "12", "4")
    assert work.doi == "10.1000/x.1"
    assert (work.pages.text if work.pages else "", work.issn) == ("33–39", "1234-5679")
    assert work.issued == Date(((2004, 3),))
    assert work.publisher == "Orchard Press"
    assert work.unread == (("abstract", "On wires."),)
    assert first.text.startswith('<mods ID="berg04">')
    assert first.text.endswith("</mods>")
    assert (second.work.type, second.work.authors) == ("chapter", (Name("Smith", "John"),))
    assert second.work.editors == (Name("Jones", "Clare"),)


@pytest.mark.parametrize("row", BIBLIOGRAPHIES, ids=lambda row: row.name)
def test_no_reference_is_taken_for_a_bibliography(row: object) -> None:
    lists = Path(__file__).parents[2] / "examples" / "references.txt"
    for text in (lists.read_text("utf-8"), "[1] Smith, J. Wires. 2004.", "{Smith}", "@smith: see TY - 1", "% a remark"):
        assert not row.begins.search(text)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("FN Clarivate Analytics Web of Science\nVR 1.0\nPT J\n", "a file of the Web of Science"),
        ('{"some": "thing"}', "JSON, but not CSL-JSON"),
        ("[]", "JSON, but not CSL-JSON"),
        ("{ }\n", "JSON, but not CSL-JSON"),
        ("<?xml version='1.0'?><things/>", "XML, but neither EndNote's nor MODS"),
        ("<TEI><text/></TEI>", "TEI"),
    ],
)
def test_what_is_not_read_says_what_to_do(text: str, called: str) -> None:
    with pytest.raises(FormatError, match=f"this is {called}, which is not read; .*") as caught:
        read_entries(text)
    assert caught.value.hint


@pytest.mark.parametrize(
    "text",
    [
        '<!DOCTYPE x [<!ENTITY a "b">]><xml><records><record><notes>&a;</notes></record></records></xml>',
        "<xml><records><record><titles><title>cut",
        "<modsCollection><mods><titleInfo><title>cut",
        '<!DOCTYPE x [<!ENTITY a "b">]><mods><note>&a;</note></mods>',
        '[{"type": "book", "title": ',
        "[" * 100_000 + '{"type": "book"}',
    ],
)
def test_hostile_files_are_refused(text: str) -> None:
    with pytest.raises(FormatError):
        list(read_entries(text))


def test_many_open_values_take_no_time() -> None:
    refused: list[FormatError] = []
    assert not list(read_entries("@book{k, title = {\n" * 20_000, "", refused))
    assert 0 < len(refused) <= 100


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from('@{}(),="#\\ \nabookTY-ER%0'), max_size=60))
def test_no_text_breaks_the_reader_of_bibtex(text: str) -> None:
    refused: list[FormatError] = []
    for entry in read_entries("@book{k, title = {x}}\n" + text, "", refused):
        assert isinstance(entry.work, Work)


def test_files_of_any_kind(tmp_path: Path) -> None:
    path = tmp_path / "refs.bib"
    path.write_bytes("\ufeff@book{müller, title = {Über}}\r\n".encode())
    (entry,) = read_bibliography(path)
    assert (entry.work.title, entry.file, entry.key) == ("Über", str(path), "müller")
    (entry,) = read_bibliography(io.BytesIO("@book{k, title = {Über}}".encode("latin-1")), encoding="latin-1")
    assert entry.work.title == "Über"
    assert recognise("Smith, J. (1990). Wires.") is None


@pytest.mark.parametrize("format", list(FORMATS))
def test_an_entry_is_written_in_every_format(format: str) -> None:
    (entry,) = read_entries("@book{DBLP:a/b, title = {Wires}}")
    written = entry.to(format)
    assert "Wires" in written
    two = "".join(write([entry, entry], format))
    assert two.count("Wires") >= 2


LISTED = "".join(f"Moss, T. ({1990 + k}). On hedges, part {k}. Leeds: Arbor Press.\n" for k in range(5))
ENTRY = "@book{ho15, author = {Ho, A.}, title = {Trees}, year = {2015}}\n"


@pytest.mark.parametrize("text", [LISTED + ENTRY, ENTRY + LISTED, LISTED + "TY  - JOUR\n" + LISTED])
def test_a_list_with_an_entry_among_its_references_is_text(text: str) -> None:
    assert recognise(text) is None


@pytest.mark.parametrize(
    "text", [ENTRY, "% Encoding: UTF-8, made in 2015 by a program of that name\nCreated with JabRef.\n" + ENTRY]
)
def test_words_before_entries_are_no_references(text: str) -> None:
    assert [entry.work.title for entry in read_entries(text)] == ["Trees"]


def test_entries_in_parentheses_and_comments_between_them_are_bibtex() -> None:
    rows = [
        "X of soils, and other things, in 1999: a title",
        "Journal of Soils, 1899, by A., B.; C.",
        "again, 2004, (x).",
    ]
    text = (
        "@article(a,\n"
        + ",\n".join(f' {n} = "{row}"' for n, row in zip("abc", rows, strict=True))
        + ",\n year = 1999\n)"
    )
    assert recognise(text) is not None
    between = ENTRY + "A comment that BibTeX passes over by rule, written in 2004.\n" + ENTRY.replace("ho15", "ho16")
    refused: list[FormatError] = []
    assert len(list(read_entries(between, "a.bib", refused))) == 2
    assert refused == []


def test_a_reference_beside_entries_is_named() -> None:
    refused: list[FormatError] = []
    text = ENTRY + LISTED.split("\n")[0]
    assert [entry.work.title for entry in read_entries(text, "a.bib", refused)] == ["Trees"]
    assert [str(error) for error in refused] == [
        "a.bib:2: this line is in no entry of BibTeX; parse it in a file of its own"
    ]
    assert [entry.work.title for entry in read_entries(text)] == ["Trees"]


def test_macros_that_double_are_refused() -> None:
    """A few hundred bytes once stood for a gigabyte."""
    text = '@string{a = "xx"}\n' + "@string{a = a # a}\n" * 32 + "@book{k, title = a}\n"
    with pytest.raises(FormatError, match=r"refs.bib:19: macros and cross-references make more than 1,000,000 char"):
        list(read_entries(text, "refs.bib"))
    refused: list[FormatError] = []
    assert list(read_entries("@book{b, title = {T}}\n" + text, "refs.bib", refused)) == []
    assert "macros and cross-references make more than 1,000,000 characters of this file" in str(refused[0])


def test_children_of_a_long_parent_are_refused() -> None:
    text = "@proceedings{p, title = {" + "x " * 20_000 + "}}\n"
    text += "".join(f"@inproceedings{{c{i}, crossref = {{p}}}}\n" for i in range(500))
    refused: list[FormatError] = []
    found = list(read_entries(text, "refs.bib", refused))
    assert 10 < len(found) < 100
    assert [error.what.partition(" make")[0] for error in refused] == ["macros and cross-references"]


def test_children_of_a_parent_with_many_fields_are_refused() -> None:
    text = "@proceedings{p, " + ", ".join(f"f{i} = {{}}" for i in range(4_000)) + "}\n"
    text += "".join(f"@inproceedings{{c{i}, crossref = {{p}}}}\n" for i in range(2_000))
    refused: list[FormatError] = []
    assert len(list(read_entries(text, "refs.bib", refused))) < 100
    assert [error.what.partition(" make")[0] for error in refused] == ["macros and cross-references"]


def test_a_macro_that_many_use_is_no_bomb() -> None:
    text = '@string{cj = "The Computer Journal"}\n' + "".join(f"@book{{k{i}, series = cj}}\n" for i in range(3000))
    assert all(entry.work.collection_title == "The Computer Journal" for entry in read_entries(text))


@pytest.mark.parametrize("encoding", ["foo", "shift_jis", "utf-16", "latin-1"])
def test_the_encoding_that_xml_declares_is_passed_over(encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    for body in (
        "<xml><records><record><titles><title>Bäume</title></titles></record></records></xml>",
        "<mods><titleInfo><title>Bäume</title></titleInfo></mods>",
    ):
        assert [entry.work.title for entry in read_entries(head + body)] == ["Bäume"]


def test_elements_nest_so_deep() -> None:
    for head, tail in (("<mods>", "</mods>"), ("<xml><records><record>", "</record></records></xml>")):
        with pytest.raises(FormatError, match=r"a.xml:1: <a> is nested more than 100 deep"):
            list(read_entries(head + "<a>" * 5000 + "</a>" * 5000 + tail, "a.xml"))


def test_values_of_json_nest_so_deep() -> None:
    deep = '[{"type": "book", "x": ' + "[" * 900 + "]" * 900 + "}]"
    with pytest.raises(FormatError, match="nested too deeply for a bibliography"):
        list(read_entries(deep))


@pytest.mark.parametrize("issued", ['{"date-parts": [[1e999]]}', '{"date-parts": [[1990]], "season": "²"}'])
def test_dates_that_are_none(issued: str) -> None:
    (entry,) = read_entries(f'[{{"type": "book", "title": "x", "issued": {issued}}}]')
    assert entry.work.title == "x"


def test_numbers_that_are_none() -> None:
    (entry,) = read_entries(f"@book{{k, title = {{x}}, year = 1990, month = {{²}}, day = {{{'9' * 5000}}}}}")
    assert entry.work.title == "x"
