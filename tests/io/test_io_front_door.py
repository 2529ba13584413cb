"""`read`, `iter_read`, `write`: files, gzip, encodings, detection, options; and conversions between formats."""

from __future__ import annotations

import gzip
import io
from itertools import permutations
from pathlib import Path

import pytest
from io_documents import FLAT, REFERENCE, read_text, through, written

from espalier.corpus import Corpus
from espalier.document import Document, Span
from espalier.errors import FormatError, InputError
from espalier.io import FORMATS, iter_read, read, write

NESTING = [name for name, f in FORMATS.items() if f.nests]
KEEPING_TEXT = [name for name, f in FORMATS.items() if f.text and f.labels]


def test_the_table_names_modules_with_both_directions() -> None:
    for name, f in FORMATS.items():
        assert f.name == name
        assert callable(f.module.read)
        assert callable(f.module.write)
        assert f.module.__doc__


@pytest.mark.parametrize(("a", "b"), list(permutations(KEEPING_TEXT, 2)))
def test_conversions_keep_character_offsets(a: str, b: str) -> None:
    document = REFERENCE if a in NESTING and b in NESTING else FLAT
    (there,) = through([document], a)
    (back,) = through([there], b)
    assert (back.text, back.spans, back.tokens) == (document.text, document.spans, document.tokens)
    if FORMATS[a].ids and FORMATS[b].ids:
        assert back.id == document.id


def test_conversion_through_columns_keeps_the_tags() -> None:
    for name in KEEPING_TEXT:
        (there,) = through([FLAT], name)
        assert through([there], "conll")[0].tags == FLAT.tags


@pytest.mark.parametrize("name", list(FORMATS))
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_paths_gzip_and_detection_by_content(tmp_path: Path, name: str, suffix: str) -> None:
    document = Document.from_text("Ada Yor on sets") if name == "plain" else REFERENCE
    if FORMATS[name].labels and not FORMATS[name].nests:
        document = FLAT
    path = tmp_path / f"data.bin{suffix}"
    write([document, document], path, name)
    assert (path.read_bytes()[:2] == b"\x1f\x8b") == bool(suffix)
    assert [d.spans for d in read(path)] == [d.spans for d in read(path, name)]
    assert [d.words for d in read(str(path))] == [document.words] * 2
    if suffix:
        before = path.read_bytes()
        write([document, document], path, name)
        assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("x.txt", "Ada B-author\nYor I-author\n\n", "conll"),
        ("x.txt", "a\tauthor\tf|g\nb\ttitle\tf|h\n", "conll"),
        ("x.conll", "just one column\n", "conll"),
        ("x.xml", "<AddressCollection>\n<AddressString><A>1</A></AddressString>\n</AddressCollection>", "inline"),
        ("x.xml", "<TEI><listBibl><bibl><date>1</date></bibl></listBibl></TEI>", "tei"),
        ("x.txt", "<a> <b> x </b> </a>\n", "hierarchical"),
        ("x.txt", "<a> x </a> <b> y </b>\n", "inline"),
        ("x.txt", "see <a> x </a>\n", "inline"),
        ("x.txt", "if a < b and c > d\n", "plain"),
        ("x.txt", "[1] Ada Yor, On sets.\n", "plain"),
        ("x.jsonl", '{"text": "a", "label": []}', "doccano"),
        ("x.jsonl", '{"text": "a", "tokens": [{"text": "a", "start": 0, "end": 1}]}', "prodigy"),
        ("x.jsonl", '{"text": "a", "tokens": ["a"], "labels": ["x"]}', "jsonl"),
        ("x.json", '[\n  {"data": {"text": "a"}}\n]', "label_studio"),
    ],
)
def test_detection(tmp_path: Path, name: str, text: str, format: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert read(path) == read(path, format)
    others = [other for other in FORMATS if other != format]
    assert any(_differs(path, format, other) for other in others)


def _differs(path: Path, format: str, other: str) -> bool:
    try:
        return read(path, format) != read(path, other, problems=[])
    except FormatError:
        return True


def test_an_empty_file_has_no_documents() -> None:
    assert read_text("") == []
    assert read_text("\n\n") == []
    for name in ("jsonl", "conll", "inline", "hierarchical", "doccano", "prodigy", "plain"):
        assert read_text("", name) == []


@pytest.mark.parametrize("name", ["jsonl", "doccano", "prodigy", "inline", "hierarchical", "plain"])
def test_streaming_formats_do_not_read_ahead(name: str) -> None:
    assert FORMATS[name].streams
    good = written([Document.from_text("a b")] if name == "plain" else [FLAT], name).encode()
    documents = iter_read(io.BytesIO(good + b"\xff\n"), name)
    assert next(documents).text
    with pytest.raises(FormatError, match="<file>:2: byte 0xff"):
        next(documents)


@pytest.mark.parametrize("name", list(FORMATS))
def test_line_ends_and_byte_order_mark(name: str) -> None:
    documents = [Document.from_text("Ada Yor")] * 2 if name == "plain" else [FLAT, FLAT]
    text = written(documents, name)
    plain = read(io.BytesIO(text.encode()), name)
    dos = read(io.BytesIO(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()), name)
    assert dos == plain == read(io.StringIO(text), name)
    assert read(io.BytesIO(text.encode("utf-16")), name, encoding="utf-16") == plain


def test_text_that_starts_with_a_byte_order_mark(tmp_path: Path) -> None:
    document = Document.from_text("\ufeffAda")
    write([document], tmp_path / "x.txt")
    assert read(tmp_path / "x.txt")[0].text == document.text


@pytest.mark.parametrize("name", list(FORMATS))
def test_bytes_that_are_not_utf8(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x.dat"
    path.write_bytes(b"\n" + "caf\u00e9".encode("latin-1"))
    with pytest.raises(FormatError, match=r"x\.dat:2: byte 0xe9, number 4 of the line, is not utf-8; pass encoding="):
        read(path, name)


def test_encodings(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    write([Document.from_text("café")], path, encoding="latin-1")
    assert path.read_bytes() == b"caf\xe9\n"
    assert read(path, encoding="latin-1")[0].text == "café"
    with pytest.raises(InputError, match=r"character U\+05D0 cannot be written as latin-1"):
        write([Document.from_text("\u05d0")], path, encoding="latin-1")
    assert path.read_bytes() == b"caf\xe9\n"
    with pytest.raises(InputError, match="unknown encoding 'utf-9'"):
        read(path, encoding="utf-9")
    path.write_bytes("a".encode("utf-16"))
    with pytest.raises(FormatError, match="pass encoding='utf-16'"):
        read(path)
    path.write_bytes("a".encode("utf-16") + b"x")
    with pytest.raises(FormatError, match="is not utf-16"):
        read(path, encoding="utf-16")


@pytest.mark.parametrize("cut", [5, 20, -5])
def test_truncated_gzip(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "x.jsonl.gz"
    path.write_bytes(gzip.compress(written([REFERENCE] * 50, "jsonl").encode())[:cut])
    with pytest.raises(FormatError, match=r"x\.jsonl\.gz:\d+: the gzip data is truncated or damaged"):
        read(path, "jsonl")


def test_damaged_gzip() -> None:
    packed = bytearray(gzip.compress(b"hello\n" * 100))
    packed[12:20] = b"\xff" * 8
    with pytest.raises(FormatError, match="truncated or damaged"):
        read(io.BytesIO(bytes(packed)), "plain")


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.conll"
    write([FLAT], path)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"document 1 \('ref/1'\)"):
        write([FLAT, REFERENCE], path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_open_files(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    with open(path, "w", encoding="utf-8") as text:
        write([FLAT], text)
        assert not text.closed
    with open(path, encoding="utf-8") as text, open(path, "rb") as binary:
        assert read(text) == read(binary) == [FLAT]
    with gzip.open(tmp_path / "y.gz", "wb") as packed:
        write([FLAT], packed, "jsonl")
    assert read(tmp_path / "y.gz") == [FLAT]


def test_errors_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "a"}\n{"text": 3}\n', encoding="utf-8")
    with pytest.raises(FormatError) as caught:
        read(path)
    assert str(caught.value) == f"{path}:2: 'text' must be a string, not 3"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: read_text("a", "jsnol"), "unknown format 'jsnol'; did you mean 'jsonl'"),
        (lambda: iter_read("nowhere", "zzz"), "unknown format 'zzz'; known: jsonl, conll"),
        (lambda: read_text("a", "inline", repiar=True), "no read option 'repiar'; did you mean 'repair'"),
        (lambda: read_text("a", lossy=True), "'plain' has no read option 'lossy'; it has blocks, blank, tokenise"),
        (lambda: written([FLAT], "conll", losy=True), "no write option 'losy'; did you mean 'lossy'"),
        (lambda: write([FLAT], "refs.xml"), "'refs.xml' does not say which format to write"),
        (lambda: write(FLAT, "refs.jsonl"), "write takes a list of documents"),  # type: ignore[arg-type]
        (lambda: read_text("a", "plain", tokenise="whitspace"), "did you mean 'whitespace'"),
    ],
)
def test_wrong_use(call: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()  # type: ignore[operator]


def test_tokenisers() -> None:
    assert read_text("a, b", "plain", tokenise="whitespace")[0].words == ["a,", "b"]
    assert read_text("ab", "plain", tokenise=lambda text: [(0, 1), (1, 2)])[0].words == ["a", "b"]


def test_crossing_spans_name_record_and_spans() -> None:
    with pytest.raises(FormatError, match=r"<file>:1: record 'r': spans 'x' 0\.\.2 and 'y' 1\.\.3 cross"):
        read_text('{"id": "r", "text": "abc", "label": [[1, 3, "y"], [0, 2, "x"]]}')


def test_lossy_columns_are_what_the_outermost_spans_say() -> None:
    (back,) = through([REFERENCE], "conll", lossy=True)
    assert {s.label for s in back.spans or ()} == {"ref-marker", "authors", "title", "date"}
    assert back.spans is not None
    assert back.spans[0] == Span(0, 5, "ref-marker")


def test_a_corpus_is_written_with_its_labels(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    corpus = Corpus.from_documents([Document.from_text("plum at Ely", id="7")])
    write(corpus.with_labels([["B-fruit", "O", "B-place"]]), path)
    assert read(path) == [Document.from_text("plum at Ely", [Span(0, 4, "fruit"), Span(8, 11, "place")], id="7")]
    write(Corpus.from_tokens([["plum", "!"]], [["fruit", None]]), path)
    assert read(path) == [Document("plum !", ((0, 4), (5, 6)), (Span(0, 4, "fruit"),), ((5, 6),))]


@pytest.mark.parametrize(
    ("format", "text", "lines"),
    [
        ("jsonl", '{"text": "a"}\n{"text"\n[]\n{"text": "b", "spans": [[0, 9, "x"]]}\n{"text": "c"}\n', [2, 3, 4]),
        ("doccano", '{"text": "a"}\n\n{"text": "b", "label": [7]}\n{"text": "c"}\n', [3]),
        ("prodigy", '{"text": "a"}\n{"text": "b", "answer": "maybe"}\n{"text": "c"}\n', [2]),
        ("inline", "<x>a</x>\n<x>b</y>\n<x>c</x>\n", [2]),
        ("hierarchical", "<x><y>a</y></x>\n<x><y>b</x></y>\n<x>c</x>\n", [2]),
        ("conll", "a B-x\n\nb O\nb I-x\n\nc B-x\n", [4]),
    ],
)
def test_bad_records_are_refused_one_by_one(format: str, text: str, lines: list[int], tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text(text, encoding="utf-8")
    refused: list[FormatError] = []
    options = {"scheme": "iob2"} if format == "conll" else {}
    assert [document.text for document in read(path, format, refused=refused, **options)] == ["a", "c"]
    assert all(error.path == str(path) for error in refused)
    assert [error.line for error in refused] == lines
    with pytest.raises(FormatError, match=f":{lines[0]}: "):
        read(path, format, **options)
