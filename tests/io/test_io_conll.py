"""Columns: schemes against seqeval, columns and comments, faults with their lines."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from io_documents import FLAT, LAW, REFERENCE, documents, read_text, through, written
from seqeval.metrics.sequence_labeling import get_entities
from seqeval.scheme import BILOU, IOB1, IOB2, IOBES, Entities

from espalier.document import Document, Span
from espalier.errors import FormatError, InputError
from espalier.io import InputProblem
from espalier.io.conll import detect, parse

ORACLES = {"iob1": IOB1, "iob2": IOB2, "iobes": IOBES, "bilou": BILOU}
LETTERS = {"iob2": "BIII", "iobes": "BIES", "bilou": "BILU"}  # first, inner, last, single


@st.composite
def segmentations(draw: st.DrawFn) -> list[tuple[int, str]]:
    """Draw (length, label or "O") pieces."""
    return draw(st.lists(st.tuples(st.integers(1, 4), st.sampled_from(["O", "PER", "LOC-x"])), min_size=1, max_size=6))


def encode(pieces: list[tuple[int, str]], scheme: str) -> list[str]:
    """Write pieces as tags, straight from the scheme's definition."""
    tags: list[str] = []
    for i, (length, label) in enumerate(pieces):
        if label == "O":
            tags += ["O"] * length
        elif scheme == "iob1":
            touching = i > 0 and pieces[i - 1][1] == label
            tags += [("B-" if touching else "I-") + label] + ["I-" + label] * (length - 1)
        else:
            first, inner, last, single = LETTERS[scheme]
            marks = (single if scheme != "iob2" else first) if length == 1 else first + inner * (length - 2) + last
            tags += [f"{mark}-{label}" for mark in marks]
    return tags


@pytest.mark.parametrize("scheme", list(ORACLES))
@LAW
@given(pieces=segmentations())
def test_schemes_agree_with_seqeval_and_with_the_pieces(scheme: str, pieces: list[tuple[int, str]]) -> None:
    tags = encode(pieces, scheme)
    found, faults = parse(tags, scheme)
    entities = Entities([tags], ORACLES[scheme]).entities[0]
    assert [(s.start, s.end, s.label) for s in found] == [(e.start, e.end, e.tag) for e in entities]
    expected, at = [], 0
    for length, label in pieces:
        expected += [(at, at + length, label)] if label != "O" else []
        at += length
    assert [tuple(s) for s in found] == expected
    assert faults == []


@LAW
@given(tags=st.lists(st.sampled_from(["O", "B-x", "I-x", "B-y", "I-y"]), max_size=8))
def test_faulty_iob2_is_repaired_as_seqeval_reads_it(tags: list[str]) -> None:
    found, faults = parse(tags, "iob2")
    assert [(s.label, s.start, s.end - 1) for s in found] == get_entities(tags)
    opened = [t for t, tag in enumerate(tags) if tag[0] == "I" and (t == 0 or tags[t - 1][1:] != tag[1:])]
    assert [fault.t for fault in faults] == opened


@pytest.mark.parametrize("scheme", list(ORACLES))
@LAW
@given(pieces=segmentations(), more=segmentations())
def test_detection(scheme: str, pieces: list[tuple[int, str]], more: list[tuple[int, str]]) -> None:
    tags = [encode(pieces, scheme), encode(more, scheme)]
    chosen = detect(tags)
    # Several schemes may fit; the chosen one must, and must find the same segments.
    assert all(parse(t, chosen) == parse(t, scheme) for t in tags)


@LAW
@given(document=documents(nested=False, aligned=True))
def test_round_trip(document: Document) -> None:
    words = document.words
    if not words:
        return
    (back,) = through([document], "conll", unknown="?", comments="## ", reading={"unknown": "?", "comments": "## "})
    expected = Document.from_tokens(words, document.tags)
    assert (back.words, back.tokens, back.tags, back.id) == (words, expected.tokens, document.tags, document.id)
    assert back.text == " ".join(words)


def test_written_form_is_iob2() -> None:
    assert written([FLAT], "conll") == (
        "Ada\tB-author\nYor\tI-author\n.\tI-author\nOn\tB-title\nsets\tI-title\n,\tO\n1998\tB-date\n.\tO\n\n"
    )


def test_columns_documents_and_plain_labels() -> None:
    text = "-DOCSTART- -X- O\r\n\r\nAda NNP author\r\nYor NNP author\r\n\r\n\r\n-DOCSTART-\r\n\r\n1998 CD date\r\n"
    first, second = read_text(text, "conll")
    assert (first.text, first.spans, first.meta) == ("Ada Yor", (Span(0, 7, "author"),), {"doc": 0})
    assert (second.spans, second.meta) == ((Span(0, 4, "date"),), {"doc": 1})
    (chosen,) = read_text("x\tauthor\ta|b\ny\tO\tc\n", token=0, tag=1)
    assert (chosen.words, chosen.spans) == (["x", "y"], (Span(0, 1, "author"),))
    assert read_text("x\tauthor\n", "conll", tag=None)[0].spans is None
    assert [d.spans for d in read_text("a\nb\n\nc\tO\n", "conll")] == [None, ()]
    assert read_text("a b;c\n", "conll", separator=";", tag=1)[0].words == ["a b"]


def test_comments_name_sequences() -> None:
    text = "# id = s/1\n# a note\n#\tO\nb\tB-x\n"
    (document,) = read_text(text, "conll", comments="# ")
    assert (document.id, document.words, document.meta) == ("s/1", ["#", "b"], {"comments": ["a note"]})


def test_labels_with_slashes_stay_whole() -> None:
    (document,) = read_text("a\tB-PER/ORG\nb\tI-PER/ORG\n", "conll")
    assert document.spans == (Span(0, 3, "PER/ORG"),)
    assert through([document], "conll") == [document]


MALFORMED = [
    ("a\tB-x\n\nb\tI-x\nc\tB-x\nd\tO\n", {}, 3, "'I-x' continues nothing (scheme IOB2)"),
    ("a\tO\nb\tI-x\n", {"scheme": "iob2"}, 2, "'I-x' continues nothing"),
    ("a\tO\nb\tB-x\n", {"scheme": "iob1"}, 2, "which IOB1 marks I-"),
    ("a\tB-x\nb\tO\n", {"scheme": "iobes"}, 1, "should end the segment, with E-x"),
    ("a\tB-x\nb\tL-x\nc\tE-x\n", {}, 3, "'E-x' is not a tag of BILOU"),
    ("a\tB-x\nb\tsomething\n", {}, 2, "'something' is not a tag of IOB2"),
    ("a b\nc\n", {}, 2, "some lines of this sequence have a tag, others not"),
    ("a\tO\n\tO\n", {}, 2, "the token is empty"),
    ("a\tO\nb\t\n", {}, 2, "the tag is empty"),
    ("a\tO\n", {"tag": 4}, 1, "2 columns, but the tag should be in column 4"),
    ("a\tO\n# no\n", {"comments": "# "}, 2, "a comment inside a sequence"),
]


@pytest.mark.parametrize(("text", "options", "line", "message"), MALFORMED)
def test_malformed(text: str, options: dict[str, object], line: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        read_text(text, "conll", **options)
    assert caught.value.line == line
    assert message in str(caught.value)


def test_repair_is_reported() -> None:
    problems: list[InputProblem] = []
    (document,) = read_text("a\tB-x\nb\tI-y\n", "conll", repair=True, problems=problems)
    assert document.spans == (Span(0, 1, "x"), Span(2, 3, "y"))
    assert [p.line for p in problems] == [2]


def test_unknown_scheme_suggests() -> None:
    with pytest.raises(InputError, match="did you mean 'bilou'"):
        read_text("a\tO\n", "conll", scheme="biluo")


REFUSED = [
    (REFERENCE, "lies in 'authors' 4..12, and this format is flat", "Ada\tB-authors"),
    (Document.from_text("ab cd", [Span(1, 5, "x")]), "span 'x' 1..5 cuts a token", "ab\tO\ncd\tB-x"),
    (Document("a b", ((0, 1), (2, 3)), (), ((0, 1),)), "label is unknown; pass unknown=", "a\tO\nb\tO"),
    (Document("a\nb", ((0, 3),), ()), "token 'a\\\\nb' holds a separator", "a_b\tO"),
    (Document.from_text("a", [Span(0, 1, "x\ty")]), "label .* holds a separator", "a\tB-x_y"),
    (Document("-DOCSTART-", ((0, 10),), ()), "read as a document start", "_-DOCSTART-\tO"),
    (Document("", ()), "it has no tokens", ""),
]


@pytest.mark.parametrize(("document", "message", "lossy"), REFUSED)
def test_what_columns_cannot_say(document: Document, message: str, lossy: str) -> None:
    with pytest.raises(InputError, match=f"document 0.*{message}"):
        written([document], "conll")
    assert lossy in written([document], "conll", lossy=True)


def test_unknown_marker_may_not_be_a_tag() -> None:
    with pytest.raises(InputError, match="'O' is a tag"):
        written([FLAT], "conll", unknown="O")
