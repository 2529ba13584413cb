"""TEI: the table both ways, attributes kept, nesting, ids, and faults with their lines."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from io_documents import LAW, REFERENCE, documents, read_text, through, written

from espalier.document import Document, Span
from espalier.errors import FormatError, InputError
from espalier.io import InputProblem
from espalier.io.tei import LABELS

GROBID = """<?xml version="1.0" encoding="UTF-8"?>
<tei xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><title>not a field</title></teiHeader><text><listBibl>
<bibl xml:id="b0"> <author>J. P. COLLMAN</author>.
   <title level="j">Acc. Chem.<lb/>Res.</title> <biblScope unit="volume">10</biblScope>, <biblScope unit="page"
   from="265" to="270">265-270</biblScope> (<date when="1977">1977</date>); <idno type="DOI">10.1/x</idno>
   <title level="a"><hi rend="it">On</hi> <hi>it</hi></title> <pubPlace>Oslo</pubPlace></bibl>
<bibl n="set/1"><note type="report">TR 1</note> <orgName type="collaboration">ALEPH</orgName>
  <ptr type="web">http://a.b/?c&amp;d</ptr></bibl>
</listBibl></text></tei>
"""


def test_grobid_by_hand() -> None:
    first, second = read_text(GROBID)
    assert first.text == "J. P. COLLMAN. Acc. Chem. Res. 10, 265-270 (1977); 10.1/x On it Oslo"
    assert [(s.label, first.text[s.start : s.end]) for s in first.spans or ()] == [
        ("author", "J. P. COLLMAN"),
        ("journal", "Acc. Chem. Res."),
        ("volume", "10"),
        ("pages", "265-270"),
        ("date", "1977"),
        ("identifier", "10.1/x"),
        ("title", "On it"),
        ("location", "Oslo"),
    ]
    assert (first.id, second.id) == ("b0", "set/1")
    assert [s.label for s in second.spans or ()] == ["tech", "collaboration", "web"]
    assert first.meta["elements"][1][2:] == ["date", "date", {"when": "1977"}]
    assert through([first, second], "tei") == [first, second]
    assert '<idno type="DOI">10.1/x</idno>' in written([first], "tei")


@LAW
@given(document=documents(unknown=False, unlabelled=False, default_tokens=True))
def test_round_trip(document: Document) -> None:
    assert through([document, document], "tei") == [document, document]
    root = ET.fromstring(written([document], "tei").encode())
    (bibl,) = root.iter("{http://www.tei-c.org/ns/1.0}bibl")
    assert "".join(bibl.itertext()) == document.text


def test_every_label_of_the_table_round_trips() -> None:
    labels = sorted({label for label in LABELS.values() if label is not None})
    words = [f"w{i}" for i in range(len(labels))]
    document = Document.from_tokens(words, ["B-" + label for label in labels])
    assert through([document, REFERENCE], "tei") == [document, REFERENCE]
    assert "<seg" not in written([document], "tei")


def test_the_table_can_be_changed() -> None:
    text = "<listBibl><bibl><title level='a'>A</title> <meeting>M</meeting> <orgName>O</orgName></bibl></listBibl>"
    labels = {"title[level=a]": "article", "meeting": "event", "orgName": None}
    (document,) = read_text(text, "tei", labels=labels)
    assert [s.label for s in document.spans or ()] == ["article", "event"]
    out = written([document], "tei", labels=labels)
    assert '<title level="a">A</title> <meeting>M</meeting> O</bibl>' in out
    assert read_text(out, "tei", labels=labels) == [document]
    with pytest.raises(InputError, match=r"labels: 'a\[b' is neither"):
        read_text(text, "tei", labels={"a[b": "x"})


def test_stray_text_and_empty_elements_are_reported() -> None:
    problems: list[InputProblem] = []
    read_text("<listBibl>\nlost <bibl>\n<biblScope unit='page' from='1'/>x</bibl></listBibl>", "tei", problems=problems)
    assert [str(p) for p in problems] == [
        "line 1: text between <bibl> elements left out: 'lost'",
        "line 3: <biblScope> has no text, so it is no span",
    ]


MALFORMED = [
    ("<listBibl>\n<bibl><foo>x</foo></bibl></listBibl>", 2, "no label for <foo>; pass labels={'foo': ...}"),
    ("<listBibl>\n<bibl><date>x</bibl></listBibl>", 2, "<date> is never closed"),
    ("<listBibl>\n<bibl><date>x</author></date></bibl></listBibl>", 2, "</author> ends what never started"),
    ("<!DOCTYPE x [<!ENTITY a 'b'>]><listBibl/>", 1, "DOCTYPE with declarations"),
]


@pytest.mark.parametrize(("text", "line", "message"), MALFORMED)
def test_malformed(text: str, line: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(text, "tei")
    assert (caught.value.line, message in str(caught.value)) == (line, True)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document.from_text("a"), "it is unlabelled"),
        (Document("a", ((0, 1),), (), ((0, 1),)), "is unknown"),
        (Document.from_text("a", [Span(0, 1, "x/y")]), "would change its path"),
        (Document("a\x02", ((0, 1),), ()), "XML cannot hold the character"),
        (Document("a", ((0, 1),), (), (), "\x02"), "XML cannot hold the id"),
        (Document.from_text("a", [Span(0, 1, "x\x02")]), "XML cannot hold the label"),
    ],
)
def test_what_tei_cannot_say(document: Document, message: str) -> None:
    with pytest.raises(InputError, match=message):
        written([document], "tei")
