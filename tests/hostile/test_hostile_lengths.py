"""Lines and records without measure: refused by their place before they cost anything, and no other is refused."""

from __future__ import annotations

import io
import json
import tracemalloc
from math import inf, nan
from pathlib import Path
from typing import Any

import pytest
from bounds import bounded
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.splitting import read_references
from espalier.cli import main
from espalier.document import Document, Span
from espalier.errors import FormatError, InputError
from espalier.io import FORMATS, iter_read, read, write
from espalier.io.tagged import line_events
from espalier.text_files import LONGEST, PER_CHARACTER, InputProblem, Lines

FILES = {
    "plain": "{}",
    "conll": "{}\tO",
    "inline": "<a>{}</a>",
    "hierarchical": "<a>{}</a>",
    "tei": "<TEI><bibl>{}</bibl></TEI>",
    "jsonl": '{{"text": "{}"}}',
    "doccano": '{{"text": "{}"}}',
    "prodigy": '{{"text": "{}"}}',
    "label_studio": '[{{"data": {{"text": "{}"}}}}]',
}
TAGS = {"inline": 2, "hierarchical": 2}  # which count as characters


def test_every_reader_is_here() -> None:
    assert set(FILES) == set(FORMATS)


@pytest.mark.parametrize("format", FILES)
def test_the_longest_record(format: str) -> None:
    """What is as long as admitted is read, and one character more is not; the message says what to do."""
    longest = 40 + TAGS.get(format, 0)
    (document,) = read(io.StringIO(FILES[format].format("a" * 40)), format, longest=longest)
    assert document.text == "a" * 40
    with pytest.raises(FormatError, match=rf"^<file>:1: .*\b{longest} .*pass longest=$"):
        read(io.StringIO(FILES[format].format("a" * 41)), format, longest=longest)
    (document,) = read(io.StringIO(FILES[format].format("a" * (LONGEST + 1))), format, longest=inf)
    assert len(document.text) == LONGEST + 1


@pytest.mark.parametrize("format", ["plain", "inline", "jsonl", "doccano", "prodigy"])
@pytest.mark.parametrize("length", [101, 100 * PER_CHARACTER + 1, 10_000], ids=["record", "line", "far"])
def test_the_next_record_is_read(format: str, length: int) -> None:
    text = "\n".join(FILES[format].format("b" * n) for n in (3, length, 4)) + "\n"
    refused: list[FormatError] = []
    documents = read(io.BytesIO(text.encode()), format, longest=100, refused=refused)
    assert [document.text for document in documents] == ["bbb", "bbbb"]
    assert [error.line for error in refused] == [2]
    with pytest.raises(FormatError, match=r"^<file>:2: "):
        read(io.StringIO(text), format, longest=100)


def test_a_sequence_is_not_cut_where_a_line_is_too_long() -> None:
    text = f"a\tO\n{'b' * 5000}\tO\nc\tO\n"
    with pytest.raises(FormatError, match=r"^<file>:2: a line of more than 1,600 bytes"):
        read(io.StringIO(text), "conll", longest=100, refused=[])
    with pytest.raises(FormatError, match=r"^<file>:3: a sequence of more than 100 .*: is there no blank line"):
        read(io.StringIO("a\tO\n\n" + "b\tO\n" * 60), "conll", longest=100)


def test_tokens_count_as_the_text_that_they_make() -> None:
    record = json.dumps({"tokens": ["ab"] * 10})  # with the blanks between, 29 characters
    assert len(read(io.StringIO(record), "jsonl", longest=29)) == 1
    with pytest.raises(FormatError, match=r":1: a text of 29 characters, and a record has at most 28"):
        read(io.StringIO(record), "jsonl", longest=28)


@pytest.mark.parametrize("longest", [0, -1, nan, -inf, True, "9", None])
def test_bounds_that_are_none(longest: Any) -> None:
    with pytest.raises(InputError, match=r"longest is a number of characters, at least 1"):
        read(io.StringIO("a"), "plain", longest=longest)


class Endless(io.RawIOBase):
    """A long line, of which no file has to be made."""

    def __init__(self, unit: bytes, size: int) -> None:
        self._unit, self._size, self._taken = unit, size, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        wanted, begin = min(len(buffer), self._size - self._taken), self._taken % len(self._unit)
        buffer[:wanted] = (self._unit * (wanted // len(self._unit) + 2))[begin : begin + wanted]
        self._taken += wanted
        return wanted


@pytest.mark.parametrize("format", ["plain", "conll", "inline", "jsonl", None])
@pytest.mark.parametrize("unit", [b"a", b" ", b"a ", b"<", b"[", "中".encode()])
def test_what_is_too_long_is_not_held(format: str | None, unit: bytes) -> None:
    """A line of 50 MB costs the memory of the longest that is admitted: here 160 kB."""
    stream = io.BufferedReader(Endless(unit, 50_000_000 // len(unit) * len(unit)))
    tracemalloc.start()
    try:
        with bounded(20.0), pytest.raises(FormatError, match=r"file>:1: a line of more than 160,000 bytes"):
            read(stream, format, longest=10_000)  # type: ignore[arg-type]
        assert tracemalloc.get_traced_memory()[1] < 12_000_000
    finally:
        tracemalloc.stop()


def test_references_go_on_after_such_a_line() -> None:
    data = b"A. Berg. Oaks. 1999.\n" + b"a" * (PER_CHARACTER * LONGEST + 9) + b"\nB. Dahl. Elms. 2001.\n"
    refused: list[FormatError] = []
    found = list(read_references(io.BytesIO(data), refused=refused))
    assert [(reference.line, reference.text[:7]) for reference in found] == [(1, "A. Berg"), (3, "B. Dahl")]
    assert [error.line for error in refused] == [2]


def test_the_guess_looks_at_no_more_than_it_needs() -> None:
    taken: list[int] = []

    def pieces() -> Any:
        for i in range(60):
            taken.append(i)
            yield "x" * 999_999 + "\n"

    lines = Lines("x", pieces(), [])
    assert len(lines.head(60)) == len(taken) == 2
    assert sum(1 for _ in lines) == 60


ONE_LINE = st.lists(st.text("aé中😀 ", min_size=1, max_size=9).map(str.strip).filter(bool), min_size=1, max_size=12)


@settings(deadline=None, derandomize=True, max_examples=60)
@given(ONE_LINE, st.integers(9, 12), st.sampled_from(["utf-8", "utf-16", "gb18030"]))
def test_a_document_in_one_line(texts: list[str], longest: int, encoding: str) -> None:
    """Where records are no lines, a line may have any length; cut anywhere to be decoded, it says the same."""
    xml = "<TEI>" + "".join(f"<bibl>{text}</bibl>" for text in texts) + "</TEI>"
    tasks = json.dumps([{"data": {"text": text}} for text in texts], ensure_ascii=False)
    for format, whole in (("tei", xml), ("label_studio", tasks)):
        found = read(io.BytesIO(whole.encode(encoding)), format, encoding=encoding, longest=longest)
        assert [document.text for document in found] == texts


@settings(deadline=None, derandomize=True, max_examples=60)
@given(st.integers(0, 90))
def test_a_bad_byte_is_found_in_any_piece(at: int) -> None:
    line = "中".encode() * 40
    for data in (line[:at] + b"\xff" + line[at:], b"ok\n" + line[:at] + b"\xff" + line[at:] + b"\n"):
        start = at - at % 3 if at % 3 else at  # where the damaged character begins
        with pytest.raises(FormatError) as caught:
            read(io.BytesIO(data), "tei", longest=1)
        assert f"number {start + 1} of the line, is not utf-8" in str(caught.value)
        assert caught.value.line == 1 + data.startswith(b"ok")


@pytest.mark.parametrize("unit", ["<", "<a", "</", '<a b="', "<a b='", "<1>", "< a>", "&", "<a<", "</<"])
def test_signs_that_are_no_tags_are_one_text(unit: str) -> None:
    """One event, however many signs there are: once each cost a step of Python, and two megabytes a minute."""
    line = unit * (1_000_000 // len(unit))
    with bounded(10.0):
        assert [(event.kind, event.value) for event in line_events(line, 1)] == [("text", line)]


@pytest.mark.parametrize("count", [1000, 1001])
def test_a_tag_has_so_many_attributes(count: int) -> None:
    attributes = "".join(f' b{i}=""' for i in range(count))
    found = [event.kind for event in line_events(f"<a{attributes}>x</a>", 1)]
    assert found == (["open", "text", "close"] if count == 1000 else ["text", "close"])


@pytest.mark.parametrize("line", ["<a>x</a>" * 40_000, "<a/>" * 60_000, "<a>" * 200_000], ids=["full", "empty", "open"])
@pytest.mark.parametrize("format", ["inline", "hierarchical"])
def test_tags_count(line: str, format: str) -> None:
    with bounded(10.0), pytest.raises(FormatError, match=r":1: .*(characters and tags|nested)"):
        read(io.StringIO(line), format, longest=100_000, problems=[])


SPANS = {
    "jsonl": lambda spans: {"text": "a b c", "spans": spans},
    "doccano": lambda spans: {"text": "a b c", "label": spans},
    "prodigy": lambda spans: {"text": "a b c", "spans": [{"start": a, "end": b, "label": x} for a, b, x in spans]},
}


@pytest.mark.parametrize("format", SPANS)
@pytest.mark.parametrize(
    ("good", "bad", "what"),
    [
        ([[0, 5, "x"]] * 20, [[0, 5, "x"]] * 21, "nested more than 20 deep"),
        ([[0, 5, "/".join("x" * 20)]], [[0, 5, "/".join("x" * 21)]], "nested more than 20 deep"),
        ([[0, 5, "x" * 200]], [[0, 5, "x" * 201]], "a label of 201 characters; there are at most 200"),
        ([[0, 1, "x"]] * 20 + [[2, 3, "x"]], [[0, 1, "x"], [2, 3, "x"]] + [[4, 5, "y"]] * 21, "nested more than 20"),
    ],
    ids=["spans", "levels", "label", "apart"],
)
def test_paths_without_measure(format: str, good: list[Any], bad: list[Any], what: str) -> None:
    """Every token inside would have the whole path: a file of a megabyte could ask for all memory there is."""
    (document,) = read(io.StringIO(json.dumps(SPANS[format](good))), format)
    assert len(document.spans or ()) == len(good)
    with pytest.raises(FormatError, match=f":1: .*{what}"):
        read(io.StringIO(json.dumps(SPANS[format](bad))), format)


@pytest.mark.parametrize(
    ("before", "behind"), [("", ""), ("<?xml version='1.0'?><d><s>", "</s></d>")], ids=["line", "XML"]
)
def test_paths_of_tags_without_measure(before: str, behind: str) -> None:
    """Half a megabyte asked for three gigabytes, before its labels were looked at."""
    names = [f"{chr(97 + i) * 10_000}" for i in range(17)]
    tags = "".join(f"<{name}>" for name in names), "".join(f"</{name}>" for name in reversed(names))
    data = f"{before}{tags[0]}{'<b>x</b> ' * 20_000}{tags[1]}{behind}"
    tracemalloc.start()
    with pytest.raises(FormatError, match="a label of 10,000 characters; there are at most 200"):
        read(io.StringIO(data), "hierarchical")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20


def test_short_sequences_are_not_held() -> None:
    """Each took half a kilobyte until the scheme of all was known: ten megabytes became one gigabyte."""
    tracemalloc.start()
    first = next(iter_read(io.BytesIO(b"a\tB-x\n\n" * 30_000), "conll"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert first.spans == (Span(0, 1, "x"),)
    assert peak < 8 << 20  # it was 15 and more


def test_repairs_can_be_read() -> None:
    problems: list[InputProblem] = []
    with pytest.raises(FormatError):
        read(io.StringIO(f"<a>x</{'b' * 100_000}></a><{'c' * 300}>"), "inline", repair=True, problems=problems)
    assert all(len(str(problem)) < 700 for problem in problems)


def test_columns_of_many_fields_are_written_in_time() -> None:
    """Once every span was compared with every token."""
    words = ["a"] * 60_000
    spans = tuple(Span(2 * t, 2 * t + 1, "x") for t in range(len(words)))
    target = io.StringIO()
    with bounded(20.0):
        write([Document(" ".join(words), Document.from_tokens(words).tokens, spans)], target, "conll")
    assert target.getvalue() == "a\tB-x\n" * len(words) + "\n"


def test_commands_name_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "long.txt"
    path.write_text(f"one\n{'a ' * 600_000}\n", encoding="utf-8")
    assert main(["convert", str(path), str(tmp_path / "out.jsonl")]) == 2
    said = " ".join(capsys.readouterr().err.split())
    what = "2: a text of 1,200,000 characters, and a record has at most 1,000,000 characters; cut it into several"
    assert what in said.replace("long.txt: ", "long.txt:")
    assert not (tmp_path / "out.jsonl").exists()


def test_streaming_goes_on() -> None:
    """The first document is there before the second line is read."""
    seen: list[str] = []

    class Slow(io.StringIO):
        def readline(self, size: int = -1) -> str:  # type: ignore[override]
            seen.append("asked")
            return super().readline(size)

    documents = iter_read(Slow("one\ntwo\n"), "plain")
    assert next(documents).text == "one"
    assert len(seen) == 1
