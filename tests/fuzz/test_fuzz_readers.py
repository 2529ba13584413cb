"""Readers of data files: documents, or a FormatError that names file and line; what was read survives being written."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from typing import Any

import pytest
from fuzzing import Campaign, attempt
from hypothesis import strategies as st
from mutations import damaged, damaged_bytes

from espalier.document import Document
from espalier.errors import FormatError, InputError
from espalier.io import FORMATS, read, write

JSONL = """{"id": "1", "tokens": ["A.", "Cau", "1999"], "bio": ["B-who", "I-who", "O"], "text": "A. Cau 1999"}
{"text": "no tokens", "meta": {"a": [1, 2.5, null]}}
{"tokens": ["x"], "labels": [null], "offsets": [[1, 2]], "text": " x ", "spans": [[1, 2, "a/b"]], "unknown": [[1, 2]]}
"""
DOCCANO = """{"id": 3, "text": "A. Cau 1999", "label": [[0, 6, "who"], [7, 11, "when"]]}
{"text": "B", "entities": [{"start_offset": 0, "end_offset": 1, "label": "who"}], "more": true}
"""
PRODIGY = (
    """{"text": "A. Cau", "tokens": [{"text": "A.", "start": 0, "end": 2, "id": 0}, {"start": 3, "end": 6}],
"spans": [{"start": 0, "end": 6, "label": "who"}], "answer": "accept"}
""".replace(",\n", ",")
    + '{"text": "B", "spans": [{"start": 0, "end": 1, "label": "x"}], "answer": "reject"}\n'
)
LABEL_STUDIO = """[{"id": 1, "data": {"text": "A. Cau\\n1999", "more": 1}, "annotations": [{"result":
 [{"type": "labels", "value": {"start": 0, "end": 6, "text": "A. Cau", "labels": ["who"]}}, {"type": "choices"}]}]},
 {"data": {"text": "B"}, "annotations": [], "predictions": []}]
"""
CONLL = ("A.\tB-who\nCau\tI-who\n1999\tO\n\nB\tO\n", "-DOCSTART- O\n\nA NNP I-PER\nb NN O\n", "word\nalone\n")
INLINE = (
    "<who> A. Cau </who> , <when>1999</when>\n<who>B &amp; C</who> &#233;\n",
    '<?xml version="1.0"?>\n<dataset>\n<ref id="a"><who>A. <![CDATA[Cau]]></who> <!-- no --> x</ref>\n</dataset>\n',
)
HIERARCHICAL = ("<who><last>Cau</last>, <first>A.</first></who> <when>1999</when>\n<a>b</a>\n",)
TEI = (
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><listBibl>\n<bibl xml:id="b1"><author>A. <hi>Cau</hi>'
    '</author>, <title level="a">Rules &lt;1&gt;</title>\n<date when="1999">1999</date></bibl></listBibl></text></TEI>',
)
VALID: dict[str, tuple[str, ...]] = {
    "jsonl": (JSONL,),
    "doccano": (DOCCANO,),
    "prodigy": (PRODIGY,),
    "label_studio": (LABEL_STUDIO,),
    "conll": CONLL,
    "inline": INLINE,
    "hierarchical": HIERARCHICAL,
    "tei": TEI,
    "plain": ("A. Cau. Rules. 1999.\n\n[2] B. More.\n",),
}


def test_every_format_has_a_valid_file() -> None:
    assert VALID.keys() == FORMATS.keys()
    for name, texts in VALID.items():
        for text in texts:
            assert read(io.StringIO(text), name, problems=[])


def documents_of(data: bytes, format: str | None, **options: Any) -> list[Document] | None:
    """Read bytes; None is a refusal, which must name the file and, but for a file as a whole, the line."""
    stream = io.BytesIO(data)
    stream.name = "some.file"  # type: ignore[attr-defined]
    try:
        return read(stream, format, problems=[], **options)
    except FormatError as error:
        found = error
    assert found.path == "some.file"
    assert found.line >= 1, str(found)
    assert str(found).startswith(f"some.file:{found.line}: ")
    assert len(str(found)) < 1000, "a message is for reading"
    return None


def survives(documents: list[Document]) -> bool:
    """JSON Lines keep everything: what is written is read again."""
    stream = io.StringIO()
    write(documents, stream, "jsonl")
    assert read(io.StringIO(stream.getvalue()), "jsonl") == documents
    return True


@pytest.mark.parametrize("format", FORMATS)
def test_damaged_files(campaign: Campaign, format: str) -> None:
    def accepts(text: str) -> bool:
        documents = documents_of(text.encode("utf-8", "surrogatepass"), format)
        return documents is not None and survives(documents)

    campaign.fuzz(f"reader of {format}", damaged(VALID[format]), accepts)


@pytest.mark.parametrize("format", ["jsonl", "doccano", "prodigy", "plain"])
def test_nothing_is_lost(campaign: Campaign, format: str) -> None:
    """A record a line: every line that is not blank is a document or a refusal."""

    def accepts(text: str) -> bool:
        refused: list[FormatError] = []
        documents = documents_of(text.encode(), format, refused=refused)
        assert documents is not None
        blank = str.isspace if format == "plain" else lambda line: not line.strip(" \t\r")
        lines = [line for line in text.removeprefix("\ufeff").split("\n") if line and not blank(line)]
        assert len(documents) + len(refused) == len(lines)
        return not refused

    texts = damaged(VALID[format]).map(lambda text: text.encode("utf-8", "ignore").decode())
    campaign.fuzz(f"lines of {format}", texts, accepts)


def test_columns_are_all_read(campaign: Campaign) -> None:
    """Every line of columns that is not blank, and starts no document, is a token."""

    def accepts(text: str) -> bool:
        documents = documents_of(text.encode(), "conll", repair=True)
        if documents is None:
            return False
        lines = [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]
        columns = [line.split("\t") if "\t" in line else line.strip(" ").split(" ") for line in lines]
        tokens = [c[0] for line, c in zip(lines, columns, strict=True) if line.strip(" \t") and c[0] != "-DOCSTART-"]
        assert [word for document in documents for word in document.words] == tokens
        return True

    texts = damaged(CONLL).map(lambda text: text.encode("utf-8", "ignore").decode())
    campaign.fuzz("columns, counted", texts, accepts)


def test_damaged_bytes_of_any_format(campaign: Campaign) -> None:
    """No format is named: it is guessed, from bytes that need not be UTF-8, or a gzip file."""
    files = [text.encode() for texts in VALID.values() for text in texts]
    packed = [gzip.compress(data, mtime=0) for data in files[:3]]

    def accepts(data: bytes) -> bool:
        documents = documents_of(data, None)
        return documents is not None and survives(documents)

    campaign.fuzz("bytes of any format", damaged_bytes(files + packed), accepts)


@pytest.mark.parametrize("format", FORMATS)
def test_random_text(campaign: Campaign, format: str) -> None:
    def accepts(text: str) -> bool:
        documents = documents_of(text.encode("utf-8", "surrogatepass"), format)
        return documents is not None and survives(documents)

    alphabet = st.one_of(st.sampled_from('<>/&;[]{}":,\\ \t\nabO-#0'), st.characters())
    campaign.fuzz(f"random text as {format}", st.text(alphabet, max_size=60), accepts, few=20)


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "jsonl"])
def test_a_writer_refuses_or_keeps(campaign: Campaign, format: str) -> None:
    """What a reader took is written by any format, or refused by an InputError; `lossy` never fails for loss."""

    def accepts(text: str) -> bool:
        documents = documents_of(text.encode("utf-8", "surrogatepass"), "jsonl") or []
        function: Callable[..., Any] = FORMATS[format].module.write
        written, refusal = attempt(lambda: "".join(function(documents)), InputError)
        if written is None:
            assert "document " in refusal
            return False
        again = documents_of(written.encode("utf-8", "surrogatepass"), format)
        assert again is not None
        if FORMATS[format].labels and FORMATS[format].text:
            assert [d.text for d in again] == [d.text for d in documents]
        return True

    campaign.fuzz(f"writer of {format}", damaged([JSONL]), accepts, few=20)
