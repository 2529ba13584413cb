"""TEI is well-formed in its namespace, its elements stand in TEI's order, and its values read back."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from citation_works import ARTICLE, CHAPTER, THESIS, WORKS, one_line, record_of
from hypothesis import given, settings

from espalier.citations.formats import write
from espalier.citations.formats.tei import NAMESPACE, entry
from espalier.citations.work import Date, Name, Work

NS = {"": NAMESPACE}
ID = "{http://www.w3.org/XML/1998/namespace}id"


def read(work: Work, text: str = "") -> ET.Element:
    element = ET.fromstring(entry(work, "key", text, xmlns=NAMESPACE).encode("utf-8"))
    assert element.tag == f"{{{NAMESPACE}}}biblStruct"
    assert element.get(ID) == "key"
    return element


def text_of(element: ET.Element, path: str) -> str:
    found = element.find(path, NS)
    return "" if found is None else "".join(found.itertext())


def tags(element: ET.Element) -> list[str]:
    return [child.tag.removeprefix(f"{{{NAMESPACE}}}") for child in element]


def test_a_thesis_in_full() -> None:
    assert entry(THESIS, text="raw <&>", xmlns=NAMESPACE) == (
        '<biblStruct xmlns="http://www.tei-c.org/ns/1.0" type="thesis" xml:id="andersen1994program">\n'
        '<monogr><author><persName><forename type="first">L.</forename><forename type="middle">O.</forename>'
        "<surname>Andersen</surname></persName></author>"
        '<title level="m">Program Analysis and Specialization for the C Programming Language</title>'
        "<imprint><publisher>DIKU, University of Copenhagen</publisher>"
        '<date type="published" when="1994-05">1994-05</date></imprint></monogr>\n'
        '<note type="genre">PhD thesis</note>\n'
        '<note type="raw_reference">raw &lt;&amp;&gt;</note>\n'
        "</biblStruct>\n"
    )


def test_an_article() -> None:
    element = read(ARTICLE)
    assert tags(element) == ["analytic", "monogr", "idno", "ptr", "note"]
    assert tags(element.find("analytic", NS)) == ["author", "author", "author", "title"]
    assert tags(element.find("monogr", NS)) == ["title", "idno", "imprint"]
    assert text_of(element, "analytic/title[@level='a']") == "Why DNA folds: A Bayesian study"
    assert text_of(element, "monogr/title[@level='j']") == "Journal of Strange & Rare Results"
    assert text_of(element, "analytic/author/persName/nameLink") == "van der"
    assert text_of(element, "analytic/author/persName/genName") == "Jr."
    assert text_of(element, "analytic/author/name") == "The ACME & Sons Group"
    assert text_of(element, "monogr/imprint/biblScope[@unit='volume']") == "12"
    pages = element.find("monogr/imprint/biblScope[@unit='page']", NS)
    assert (pages.get("from"), pages.get("to"), pages.text) == ("101", "108", "101-108")
    assert element.find("monogr/imprint/date", NS).get("when") == "2003-03-12"
    assert text_of(element, "idno[@type='DOI']") == "10.1000/a_b(1)"
    assert element.find("ptr", NS).get("target") == "https://example.org/a?b=1&c=%7B2%7D"
    assert text_of(element, "note[@type='others']") == "author"


def test_a_chapter() -> None:
    element = read(CHAPTER)
    assert tags(element) == ["analytic", "monogr", "series"]
    assert tags(element.find("monogr", NS)) == ["title", "editor", "editor", "idno", "edition", "imprint"]
    date = element.find("monogr/imprint/date", NS)
    assert (date.get("when"), date.get("cert"), date.text) == ("1999", "low", "Spring 1999")
    assert text_of(element, "monogr/imprint/biblScope[@unit='page']") == "12-15, 20"
    assert text_of(element, "series/title[@level='s']") == "Lecture Notes in Vacuity"


def test_the_least_that_tei_allows() -> None:
    element = read(Work())
    assert tags(element) == ["monogr"]
    assert tags(element[0]) == ["imprint"]
    assert tags(element[0][0]) == ["date"]
    # People need a title beside them.
    assert tags(read(Work(authors=(Name("Smith"),)))[0]) == ["author", "title", "imprint"]


@pytest.mark.parametrize(
    ("date", "attributes", "text"),
    [
        (Date(((1994,), (1996, 2))), {"from": "1994", "to": "1996-02"}, "1994/1996-02"),
        (Date(((1850,),), circa=True), {"when": "1850", "cert": "low"}, "1850"),
        (Date(((1994,),), literal="1994a"), {"when": "1994"}, "1994a"),
        (Date(literal="in press"), {}, "in press"),
    ],
)
def test_dates(date: Date, attributes: dict[str, str], text: str) -> None:
    found = read(Work(issued=date)).find("monogr/imprint/date", NS)
    assert found.attrib == {"type": "published", **attributes}
    assert found.text == text


def test_translators_institutions_and_unread_text() -> None:
    work = Work(
        type="book",
        title="T",
        translators=(Name("Smith"),),
        publisher="P",
        institution="I",
        accessed=Date(((2020, 1, 2),)),
        unread=(("pages", "?"),),
        arxiv="1706.03762",
        number="7",
    )
    element = read(work)
    assert text_of(element, "monogr/editor[@role='translator']/persName/surname") == "Smith"
    assert text_of(element, "note[@type='institution']") == "I"
    assert text_of(element, "monogr/imprint/date[@type='accessed']") == "2020-01-02"
    assert text_of(element, "note[@n='pages']") == "?"
    assert text_of(element, "idno[@type='arXiv']") == "1706.03762"
    assert text_of(element, "idno[@type='number']") == "7"


@settings(deadline=None, derandomize=True, max_examples=30)
@given(WORKS)
def test_any_work_reads_back(work: Work) -> None:
    element = read(work, text=work.note)
    inside = element.find("analytic", NS) is not None
    scope = "monogr/imprint/biblScope"
    expected = {
        "analytic/title" if inside else "monogr/title": work.title,
        "series/title": work.collection_title,
        f"{scope}[@unit='volume']": work.volume,
        f"{scope}[@unit='issue']": work.issue,
        "monogr/edition": work.edition,
        "monogr/imprint/pubPlace": work.location,
        "idno[@type='DOI']": work.doi,
        "idno[@type='arXiv']": work.arxiv,
        "idno[@type='number']": work.number,
        "monogr/idno[@type='ISBN']": work.isbn,
        "monogr/idno[@type='ISSN']": work.issn,
        "note[@type='genre']": work.genre,
        "note[@type='raw_reference']": work.note,
    }
    if inside:
        expected["monogr/title"] = work.container_title
    for path, value in expected.items():
        assert text_of(element, path) == one_line(value), path


def test_a_document_is_streamed() -> None:
    records = [record_of(("title", title)) for title in ("One & <two>", "One & <two>")]
    pieces = list(write(iter(records), "tei"))
    assert len(pieces) == 3
    root = ET.fromstring("".join(pieces).encode("utf-8"))
    assert tags(root) == ["teiHeader", "text"]
    found = root.findall("text/body/listBibl/biblStruct", NS)
    assert [element.get(ID) for element in found] == ["one", "onea"]
    assert [text_of(element, "monogr/title") for element in found] == ["One & <two>"] * 2
    assert root.find("text/body/listBibl", NS) is not None
    assert ET.fromstring("".join(write([], "tei")).encode("utf-8")).tag == f"{{{NAMESPACE}}}TEI"


def test_a_record_alone_has_the_namespace() -> None:
    element = ET.fromstring(record_of(("title", "One")).to_tei())
    assert element.tag == f"{{{NAMESPACE}}}biblStruct"
    assert text_of(element, "note[@type='raw_reference']") == "One"
