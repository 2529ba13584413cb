"""Inline and nested tags: both forms, whitespace, balance and repair, hostile XML."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_documents import FLAT, LAW, REFERENCE, documents, read_text, through, written

from espalier.document import Document, Span
from espalier.errors import FormatError, InputError
from espalier.io import InputProblem

PLAIN = {"unknown": False, "unlabelled": False, "default_tokens": True}


@LAW
@given(document=documents(nested=False, **PLAIN), form=st.sampled_from(["lines", "xml"]))
def test_inline_round_trip(document: Document, form: str) -> None:
    (back,) = through([document], "inline", form=form, reading={"form": form})
    assert (back.text, back.tokens, back.spans) == (document.text, document.tokens, document.spans)
    assert back.id == (document.id if form == "xml" else "")


@LAW
@given(document=documents(**PLAIN), form=st.sampled_from(["lines", "xml"]))
def test_hierarchical_round_trip(document: Document, form: str) -> None:
    (back,) = through([document], "hierarchical", form=form, reading={"form": form})
    assert (back.text, back.tokens, back.spans) == (document.text, document.tokens, document.spans)


@LAW
@given(document=documents(**PLAIN))
def test_xml_form_is_xml(document: Document) -> None:
    root = ET.fromstring(written([document], "hierarchical", form="xml").encode())
    (record,) = root
    assert "".join(record.itertext()) == document.text
    assert record.get("id", "") == document.id
    assert sorted(e.tag for e in record.iter()) == sorted(
        ["sequence", *(s.label.rpartition("/")[2] for s in document.spans or ())]
    )


def test_written_line_by_hand() -> None:
    line = "<author>Ada Yor.</author> <title>On sets,</title> <date>1998</date>.\n"
    document = Document.from_text("Ada Yor. On sets, 1998.", [Span(0, 8, "author"), Span(9, 17, "title")])
    document = Document.from_text(document.text, [*(document.spans or ()), Span(18, 22, "date")])
    assert written([document], "inline") == line
    assert read_text(line) == [document]


def test_lines_by_hand() -> None:
    text = "<author> Cau, R. & Li &amp; Co </author>  <title> a <b, 2 < 3\u00a0</title> .\r\n\n <date> 1992 </date>\n"
    first, second = read_text(text)
    assert first.text == "Cau, R. & Li & Co a <b, 2 < 3\u00a0 ."
    assert first.spans == (Span(0, 17, "author"), Span(18, 30, "title"))
    assert (second.text, second.spans) == ("1992", (Span(0, 4, "date"),))


def test_fields_that_touch_can_be_separated() -> None:
    text = "<a>x</a><b>y</b>"
    assert read_text(text, "inline")[0].text == "xy"
    (document,) = read_text(text, "inline", separate=True)
    assert (document.text, document.spans) == ("x y", (Span(0, 1, "a"), Span(2, 3, "b")))


ANYSTYLE = """<?xml version="1.0" encoding="UTF-8"?>
<!-- references -->
<dataset>
  <sequence>
    <author>Romero, C., &amp; Dweck, C.</author>
    <date>(2011).</date>
    <title>Brain&#x6f;logy in
       class<![CDATA[ <1>]]></title>
  </sequence>
  <sequence id="two"><title>B</title></sequence>
</dataset>
"""


def test_anystyle_document() -> None:
    first, second = read_text(ANYSTYLE)
    assert first.text == "Romero, C., & Dweck, C. (2011). Brainology in class <1>"
    assert first.spans == (Span(0, 23, "author"), Span(24, 31, "date"), Span(32, 55, "title"))
    assert (second.id, second.text) == ("two", "B")


def test_usaddress_document() -> None:
    address = "<AddressString><Number>1</Number> <Street>K</Street># <Unit>2</Unit>, </AddressString>"
    (document,) = read_text(f"<AddressCollection>\n  {address}\n</AddressCollection>\n")
    assert document.text == "1 K# 2,"
    assert document.spans == (Span(0, 1, "Number"), Span(2, 3, "Street"), Span(5, 6, "Unit"))
    (one_line,) = read_text("<dataset><sequence><a>x</a> <b>y</b></sequence></dataset>")
    assert one_line.text == "x y"


NESTED = "<authors> <person> <last> Yor , </last> </person> and <person> Li </person> </authors> <title> T </title>"


def test_nested_by_hand() -> None:
    (document,) = read_text(NESTED, tokenise="whitespace")
    assert document.text == "Yor , and Li T"
    assert document.tags == [
        "B-authors/B-person/B-last",
        "I-authors/I-person/I-last",
        "I-authors",
        "I-authors/B-person",
        "B-title",
    ]


REPAIRS = [
    (
        "<v> <d> x </v> y </d>",
        [(0, 1, "v"), (0, 1, "v/d")],
        ["</v> while <d> is open inside it", "</d> ends what never"],
    ),
    ("<v> x </n> y </v>", [(0, 3, "v")], ["</n> ends what never started: ignored"]),
    ("<v> x <d> y", [(0, 3, "v"), (2, 3, "v/d")], ["<d> is never closed", "<v> is never closed"]),
    ("<v> x </<v> y", [(0, 1, "v")], ["'</<v>' is not a tag: read as an end tag"]),
    ("x <v> </v> y", [], []),
]


@pytest.mark.parametrize(("line", "spans", "messages"), REPAIRS)
def test_unbalanced_tags(line: str, spans: list[tuple[int, int, str]], messages: list[str]) -> None:
    problems: list[InputProblem] = []
    (document,) = read_text("\n" + line, "hierarchical", repair=True, problems=problems)
    assert document.spans == tuple(Span(*s) for s in spans)
    assert all(p.line == 2 for p in problems)
    if not messages:
        assert [p.what for p in problems] == ["<v> has no text, so it is no span"]
        return
    assert len(problems) == len(messages)
    assert all(m in p.what for m, p in zip(messages, problems, strict=True))
    with pytest.raises(FormatError) as caught:
        read_text("\n" + line, "hierarchical")
    assert caught.value.line == 2
    assert problems[0].what.startswith(caught.value.what)


def test_unbalanced_tags_of_a_document() -> None:
    text = "<?xml version='1.0'?>\n<!-- <x> -->\n<d>\n<s><v>a &lt; b<![CDATA[<]]>\n</s>\n<s><v>c</w> d</v></s></d>"
    problems: list[InputProblem] = []
    first, second = read_text(text, "inline", form="xml", repair=True, problems=problems)
    assert (first.text, first.spans) == ("a < b<", (Span(0, 6, "v"),))
    assert (second.text, second.spans) == ("c d", (Span(0, 3, "v"),))
    assert [str(p) for p in problems] == [
        "line 5: <v> is never closed: ends with the record",
        "line 6: </w> ends what never started: ignored",
    ]
    for faulty, line in (("<d>\n<!-- x", 2), ("<!DOCTYPE d [\n]><d/>", 1)):
        with pytest.raises(FormatError) as caught:
            read_text(faulty, "inline", form="xml", repair=True)
        assert caught.value.line == line


def test_white_space_of_a_document() -> None:
    text = "<d><s><a>x&amp;  y&#32;</a> <b>1  2\n 3</b><!-- no -->\n<c k='1&#10;2'>z</c></s></d>"
    (document,) = read_text(text, "inline", form="xml", problems=[])
    assert document.text == "x&  y  1  2 3 z"
    assert document.spans == (Span(0, 6, "a"), Span(7, 13, "b"), Span(14, 15, "c"))


def test_a_document_in_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = read_text(ANYSTYLE)
    for size in (1, 2, 3, 7, 50):
        monkeypatch.setattr("espalier.io.xmlform._CHUNK", size)
        assert read_text(ANYSTYLE) == whole


def test_attributes_are_reported() -> None:
    problems: list[InputProblem] = []
    read_text("<a k='v'>x</a>\n", "inline", problems=problems)
    read_text("<d>\n<s n='1'>x</s>\n</d>", "inline", problems=problems)
    assert [str(p) for p in problems] == [
        "line 1: the attributes of <a> are not kept",
        "line 2: the record's attribute 'n' is not kept",
    ]


BOMB = '<!DOCTYPE d [<!ENTITY a "aaaa">]>'
MALFORMED = [
    ("inline", "<a> x </a>\n<a> <b> y </b> </a>", 2, "<b> inside 'a'; nested tags are format='hierarchical'"),
    ("inline", f'<?xml version="1.0"?>\n{BOMB}\n<d><s>&a;</s></d>', 2, "a DOCTYPE with declarations inside is refused"),
    ("inline", "<?xml ?>\n<d><s>\n&a;</s></d>", 3, "'&a;': only the five standard entities"),
    ("inline", "<?xml ?>\n<d><s>a & b</s></d>", 2, "write &amp; for '&'"),
    ("inline", "<?xml ?>\n<d><s>&#1114112;</s></d>", 2, "is not a character"),
    ("inline", "<?xml ?>\n<d>\n<s>a < b</s></d>", 3, "this is not a tag: '< b</s></d>'"),
    ("inline", "<?xml ?>\n<d>\n<s><a>x</s></d>", 3, "<a> is never closed"),
    ("inline", "<?xml ?>\n<d>\nstray<s>x</s></d>", 2, "text outside any record: 'stray'"),
    ("inline", "<?xml ?>\n<d><s>x</s>\n", 2, "the file ends inside <d>"),
    ("inline", "<?xml ?>\n<d><s>x", 2, "the file ends inside <s>"),
    ("inline", "<?xml ?>\n<d></e>", 2, "</e> inside <d> does not match"),
    ("inline", "<?xml ?>\n<d></d>\n<d></d>", 3, "<d> after the document's end"),
    ("inline", "<?xml ?>\n<d></d>\n</d>", 3, "</d> after the document's end does not match"),
    ("inline", "<?xml ?>\n<!-- x", 2, "'<!--' is never closed"),
    ("inline", "<?xml ?>\n", 1, "there is no element"),
    ("inline", "<?xml ?>\n<d><s a='1' a='2'/></d>", 2, "the same attribute twice"),
    ("inline", "<?xml ?>\n<d><s>\x01</s></d>", 2, "this is not XML"),
    ("inline", "<?xml ?>\n<d><s>x</s></d>\nmore", 3, "this is not XML: junk after document element, near"),
    ("inline", "<?xml ?>\n<d><s a></s></d>", 2, "this is not"),
    ("inline", "<?xml ?>\n<d><s>\n<![CDATA[x</s></d>", 3, "'<![CDATA[' is never closed"),
    ("hierarchical", "<a> " * 5000, 1, "<a> is nested more than 20 deep"),
    ("hierarchical", "<?xml ?>" + "<a>" * 100000, 1, "<a> is nested more than 20 deep"),
]


@pytest.mark.parametrize(("format", "text", "line", "message"), MALFORMED)
def test_malformed(format: str, text: str, line: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(text, format)
    assert message in str(caught.value)
    assert caught.value.line == line


REFUSED = [
    ("inline", REFERENCE, "and this format is flat", "<authors>Ada Yor,</authors>"),
    ("inline", Document.from_text("a"), "it is unlabelled", "a"),
    ("inline", Document("a b", ((0, 1),), (), ((0, 1),)), "the label of 0..1 is unknown", "a b"),
    ("inline", Document.from_text("a", [Span(0, 1, "two words")]), "cannot be the name of a tag", "<_two_words>a"),
    ("inline", Document("", (), ()), "its text is empty", ""),
    ("hierarchical", Document.from_text("a", [Span(0, 1, "x/y")]), "nested tags would change its path", "<y>a</y>"),
]


@pytest.mark.parametrize(("format", "document", "message", "lossy"), REFUSED)
def test_what_tags_cannot_say(format: str, document: Document, message: str, lossy: str) -> None:
    with pytest.raises(InputError, match=f"document 0.*{message}"):
        written([document], format)
    assert lossy in written([document], format, lossy=True)


def test_control_characters_and_xml() -> None:
    document = Document("a\x01b", ((0, 3),), ())
    with pytest.raises(InputError, match=r"XML cannot hold the character U\+0001 at 1"):
        written([document], "inline", form="xml")
    assert "a\ufffdb" in written([document], "inline", form="xml", lossy=True)
    assert through([document], "inline")[0].text == document.text


@pytest.mark.parametrize("verb", ["read", "write"])
def test_wrong_form(verb: str) -> None:
    with pytest.raises(InputError, match="form must be"):
        read_text("a", "inline", form="sgml") if verb == "read" else written([FLAT], "inline", form="sgml")
