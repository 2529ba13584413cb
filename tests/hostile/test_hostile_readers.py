"""Data files made to harm: refused with file and line, or read, in bounded time and memory."""

from __future__ import annotations

import gzip
import io
import json
import tracemalloc
from math import inf
from pathlib import Path

import pytest
from bounds import bounded

from espalier import text_files
from espalier.citations.splitting import read_references
from espalier.errors import FormatError, InputError
from espalier.io import format_by_content, iter_read, read, write

ENTITIES = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
LAUGHS = f'<?xml version="1.0"?>\n<!DOCTYPE l [<!ENTITY l0 "ha">{ENTITIES}]>\n<dataset><ref>&l9;</ref></dataset>\n'
FOREIGN = '<?xml version="1.0"?>\n<!DOCTYPE d SYSTEM "file:///etc/hostname">\n<dataset><ref>&d;</ref></dataset>\n'
TAGGED = ("inline", "hierarchical", "tei", None)


@pytest.mark.parametrize("format", TAGGED)
def test_a_billion_laughs(format: str | None) -> None:
    with bounded(5.0), pytest.raises(FormatError, match=r"file>:2: .* entities are not resolved"):
        read(io.StringIO(LAUGHS), format, problems=[])


@pytest.mark.parametrize("format", ["inline", "hierarchical"])
def test_nothing_outside_is_fetched(format: str) -> None:
    with pytest.raises(FormatError, match=r"file>:3: '&d;': only the five standard entities are known"):
        read(io.StringIO(FOREIGN), format, problems=[])


def test_a_reference_to_no_character() -> None:
    with pytest.raises(FormatError, match="is not a character"):
        read(io.StringIO("<?xml version='1.0'?><dataset><ref>&#xD800;</ref></dataset>"), "inline", problems=[])


def test_tags_inside_tags() -> None:
    with bounded(5.0), pytest.raises(FormatError, match="<a> is nested more than 20 deep"):
        read(io.StringIO("<a>" * 100_000 + "x" + "</a>" * 100_000), "hierarchical", problems=[])


@pytest.mark.parametrize("format", ["jsonl", "doccano", "prodigy", "label_studio", None])
@pytest.mark.parametrize("nest", ["[" * 100_000, '{"a":' * 100_000], ids=["lists", "objects"])
def test_json_inside_json(format: str | None, nest: str) -> None:
    text = f'{{"text": "a", "more": {nest}'
    with bounded(5.0), pytest.raises(FormatError, match="file>:1: JSON nested too deeply"):
        read(io.StringIO(f"[{text}" if format == "label_studio" else text), format, problems=[])


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity", "9" * 5000])
def test_numbers_that_are_none(number: str) -> None:
    with pytest.raises(FormatError, match="file>:1: not acceptable JSON") as caught:
        read(io.StringIO(f'{{"text": "a", "weight": {number}}}\n'), "jsonl")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize("offsets", ["[-5, 2]", "[0, 99]", "[2, 1]", "[0, 1e3]", "[true, 2]", f"[0, {10**30}]"])
def test_offsets_outside_the_text(offsets: str) -> None:
    start, end = offsets[1:-1].split(",")
    with pytest.raises(FormatError, match="file>:1: "):
        read(io.StringIO(f'{{"text": "abc", "spans": [[{start}, {end}, "x"]]}}\n'), "jsonl")
    with pytest.raises(FormatError, match="file>:1: "):
        read(io.StringIO(f'{{"text": "abc", "tokens": [{{"start": {start}, "end": {end}}}]}}\n'), "prodigy")


def bomb(path: Path, size: int) -> Path:
    """Write a gzip file that holds one line of so many letters."""
    with gzip.open(path, "wb") as file:
        for _ in range(size >> 20):
            file.write(b"a" * (1 << 20))
    return path


@pytest.mark.parametrize("format", ["plain", "jsonl", "label_studio", None])
def test_gzip_bombs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str | None) -> None:
    path = bomb(tmp_path / "bomb.gz", 64 << 20)
    monkeypatch.setattr(text_files, "FREE", 1 << 22)
    tracemalloc.start()
    try:
        with bounded(20.0), pytest.raises(FormatError, match="unpacks to more than 200 times its size; if you trust"):
            read(path, format)
        assert tracemalloc.get_traced_memory()[1] < 32 << 20
    finally:
        tracemalloc.stop()


def test_a_gzip_bomb_as_references(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "FREE", 1 << 22)
    with bounded(20.0), pytest.raises(FormatError, match="unpacks to more than 200 times its size"):
        list(read_references(bomb(tmp_path / "bomb.gz", 64 << 20)))


def test_who_trusts_a_file_may_unpack_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bomb(tmp_path / "bomb.gz", 8 << 20)
    monkeypatch.setattr(text_files, "FREE", 1 << 20)
    with pytest.raises(FormatError, match="unpacks to more"):
        read(path, "plain")
    assert [len(document.text) for document in read(path, "plain", expansion=inf, longest=inf)] == [8 << 20]


def test_members_of_a_gzip_file_are_all_read() -> None:
    data = b"".join(gzip.compress(f"text {i}\n".encode()) for i in range(3))
    assert [d.text for d in read(io.BytesIO(data), "plain")] == ["text 0", "text 1", "text 2"]


def test_a_line_of_tags_is_recognised_in_time() -> None:
    """The guess once compared every tag with the whole line: a minute for half a megabyte."""
    line = "x" + "".join(f"<a{i}> " for i in range(100_000))
    with bounded(10.0):
        assert format_by_content([line]).name == "plain"
        assert format_by_content([f"{line}</a99999>"]).name == "inline"


LONG = 2_000_000


@pytest.mark.parametrize(
    ("format", "line"),
    [
        ("plain", "word " * (LONG // 5)),
        ("plain", "a" * LONG),
        ("conll", "word " * (LONG // 5)),
        ("inline", "<" * (LONG // 10)),
        ("inline", "<a" + " " * LONG),
        ("inline", "<a" + ' b=""' * (LONG // 50)),
        ("hierarchical", "<a>x</a> " * (LONG // 90)),
        ("jsonl", json.dumps({"text": "word " * (LONG // 5)})),
    ],
    ids=["words", "word", "columns", "signs", "blanks", "attributes", "spans", "json"],
)
def test_long_lines(format: str, line: str) -> None:
    with bounded(60.0):
        (document,) = iter_read(io.StringIO(line), format, problems=[], longest=inf)
    assert document.tokens


ODD = "\u202eabc\u200b\u2066\u05d0\u05d1 \ufeffd\x00e \ud83d\ude00\u0301"


def test_odd_characters_survive(tmp_path: Path) -> None:
    """Right-to-left signs, zero-width ones, marks, NUL and halves of characters are text like any other."""
    documents = read(io.StringIO(json.dumps({"text": ODD, "spans": [[0, 4, "x"]]})), "jsonl")
    assert documents[0].text == ODD.replace("\ud83d\ude00", "😀")
    half = read(io.StringIO('{"text": "a \\ud800 b"}'), "jsonl")
    assert half[0].text == "a \ud800 b"
    for found in (documents, half):
        write(found, tmp_path / "x.jsonl")
        assert read(tmp_path / "x.jsonl") == found
    with pytest.raises(InputError, match=r"U\+D800 cannot be written as utf-8"):
        write(half, tmp_path / "x.txt", "plain")


def test_a_mark_in_the_middle_is_text() -> None:
    documents = read(io.BytesIO("\ufeffone\n\ufefftwo\nth\ufeffree\n".encode()), "plain")
    assert [d.text for d in documents] == ["one", "\ufefftwo", "th\ufeffree"]


def test_messages_can_be_read() -> None:
    with pytest.raises(FormatError, match=r"^<file>:1: </a9{200}.* … .*9> ends what never started") as caught:
        read(io.StringIO(f"</a{'9' * 100_000}>\n"), "inline")
    assert len(str(caught.value)) < 700
