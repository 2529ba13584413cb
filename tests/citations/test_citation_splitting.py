"""References out of raw text: layouts, joined lines, what is run together, places, limits."""

from __future__ import annotations

import gzip
import io
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.borders import cuts, glue, mark
from espalier.citations.parser import LONGEST
from espalier.citations.splitting import Reference, read_references, split_references
from espalier.errors import FormatError, InputError

A = "Plum, A. Wires and walls. Orchard Letters, 3:12-15, 1990."
B = "Quince, B. A frame for fruit. Ely: Medlar Press, 1991."
C = "Sloe, D. On the pruning of trees. PhD thesis, Wye, 1992."


def texts(raw: str, layout: str = "auto") -> list[str]:
    return [reference.text for reference in split_references(raw, layout)]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("", []),
        (" \n\t\n", []),
        (A, [A]),
        (f"{A}\n{B}\n{C}\n", [A, B, C]),
        (f"\n\n{A}\n\n\n{B}\n", [A, B]),
        (f"\ufeff{A}\r\n{B}\r\n", [A, B]),
        (f"{A}\r{B}", [A, B]),
        (f"{A}\f{B}\u2028{C}", [A, B, C]),
        (f"[1] {A}\n[2] {B}", [f"[1] {A}", f"[2] {B}"]),
        (f"Section\n{A}\n\n{B}\n{C}\n\n{A}\n{B}", ["Section", A, B, C, A, B]),
    ],
)
def test_lines(raw: str, expected: list[str]) -> None:
    assert texts(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        "Plum, A. Wires and\nwalls. Orchard Letters, 3:12-15, 1990.\n\n"
        "Quince, B. A frame for\n fruit. Ely: Medlar\nPress, 1991.",
        "Plum, A. Wires and\n   walls. Orchard Letters, 3:12-15, 1990.\n"
        "Quince, B. A frame for\n   fruit. Ely: Medlar Press, 1991.",
    ],
)
def test_wrapped_lines(raw: str) -> None:
    assert texts(raw) == [A, B]


@pytest.mark.parametrize(
    "marks", [("[9]", "[10]"), ("9.", "10."), ("(9)", "(10)"), ("9)", "10)"), ("[Plu90]", "[Qui+91]")]
)
def test_numbered_lists(marks: tuple[str, str]) -> None:
    first, second = marks
    raw = (
        f"{first} Plum, A. Wires and walls. Orchard\nLetters, 3:12-15, 1990.\n"
        f"{second} Quince, B. A frame for\nfruit. Ely: Medlar Press, 1991."
    )
    assert texts(raw) == [f"{first} {A}", f"{second} {B}"]


def test_a_year_at_the_start_of_a_line_is_no_number_of_a_list() -> None:
    raw = "[1] Plum, A. Wires and walls. Orchard Letters, volume of\n1990. In print.\n[2] Quince, B.\nA frame."
    assert texts(raw) == [
        "[1] Plum, A. Wires and walls. Orchard Letters, volume of 1990. In print.",
        "[2] Quince, B. A frame.",
    ]


def test_a_pasted_reference_of_a_few_lines_is_one() -> None:
    assert texts("Plum, A. Wires and\nwalls. Orchard\nLetters, 3:12-15, 1990.") == [A]
    assert texts(f"{A}\nvan {B}") == [A, f"van {B}"]


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        ("the wires", "and walls", "the wires and walls"),
        ("the prun-", "ing of trees", "the pruning of trees"),
        ("a self-", "rooted tree", "a self-rooted tree"),
        ("Springer-", "Verlag", "Springer-Verlag"),
        ("pp. 12-", "15", "pp. 12-15"),
        ("pp. 12–", "15", "pp. 12–15"),
        ("A title -", "with a dash", "A title - with a dash"),
        ("prun\u00ad", "ing", "pruning"),
        ("http://a.org/pear-", "tree", "http://a.org/pear-tree"),
        ("http://a.org/pear/", "tree.html", "http://a.org/pear/tree.html"),
        ("JEAN-", "luc", "JEAN-luc"),
    ],
)
def test_glue(left: str, right: str, joined: str) -> None:
    start, between = glue(left, right)
    assert start + between + right == joined
    assert texts(f"{left}\n{right}", "blocks") == [joined]


@pytest.mark.parametrize(
    ("parts", "sure"),
    [
        ((f"[1] {A}", f"[2] {B}", f"[3] {C}"), 0.95),
        ((f"1. {A}", f"2. {B}"), 0.8),
        ((f"(7) {A}", f"(8) {B}"), 0.8),
        (
            (
                "Plum, A. (1990). Wires and walls. Orchard Letters, 3, 12-15.",
                "Quince, B. C., & Øre, D.-E. (1991). A frame for fruit. Ely: Medlar Press.",
                "O'Sloe, D., Damson, E. and Pear, F. (1992b). Light on leaves. https://example.org/1",
            ),
            0.9,
        ),
        (
            (
                "Plum AB. Wires and walls. Lancet 1990;353:12-8.",
                "Quince C, van der Øre D-E, et al. A frame for fruit. Nature 1991;12(3):1-4. doi:10.1000/182",
                "Sloe D (1992) Light on leaves. Ely: Medlar Press; 1992.",
            ),
            0.9,
        ),
        ((A, B, C), 0.8),
    ],
)
def test_references_run_together(parts: tuple[str, ...], sure: float) -> None:
    raw = " ".join(parts)
    found = split_references(raw)
    assert [reference.text for reference in found] == list(parts)
    assert {reference.confidence for reference in found} == {sure}
    assert [raw[reference.offset :].startswith(reference.text) for reference in found] == [True] * len(parts)
    assert texts(raw, "lines") == [raw]


@pytest.mark.parametrize(
    "whole",
    [
        A,
        f"[1] {A[:-1]}; see also [3] and [7] there.",
        "[1] Plum. [2] B.",
        f"1. {A[:-1]} and 2. in the list of {B}",
        "Plum, A. (1990). Wires and walls. In Quince, B. (Ed.), A frame for fruit (pp. 1-9). Ely: Press.",
        "Plum, A. (1990). Wires (1991) and walls. Orchard Letters, 3, 12-15.",
    ],
)
def test_what_is_not_surely_several_stays_one(whole: str) -> None:
    assert cuts(whole) == ([], 1.0)
    assert split_references(whole) == [Reference(whole)]


def test_places_in_files(tmp_path: Path) -> None:
    path = tmp_path / "refs.txt"
    path.write_text(f"\n  {A}\n[1] {B} [2] {C}\n", encoding="utf-8")
    name = str(path)
    assert list(read_references(path)) == [
        Reference(A, name, 2, 2, 1.0),
        Reference(f"[1] {B}", name, 3, 0, 0.95),
        Reference(f"[2] {C}", name, 3, len(B) + 5, 0.95),
    ]
    packed = tmp_path / "refs.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert [r.text for r in read_references(packed)] == [r.text for r in read_references(path)]


def test_encodings() -> None:
    raw = f"{A}\nPêche, É. Poires. 1990.\n".encode("latin-1")
    with pytest.raises(
        FormatError, match=r":2: byte 0xea, number 2 of the line, is not utf-8; pass encoding='latin-1'"
    ):
        list(read_references(io.BytesIO(raw)))
    assert [r.text for r in read_references(io.BytesIO(raw), encoding="latin-1")][1] == "Pêche, É. Poires. 1990."
    before = read_references(io.BytesIO(raw))
    assert next(before).text == A
    wide = io.BytesIO(f"{A}\n{B}".encode("utf-16"))
    assert [r.text for r in read_references(wide, encoding="utf-16")] == [A, B]
    with pytest.raises(InputError, match="unknown encoding"):
        list(read_references(io.BytesIO(raw), encoding="utf-nine"))
    with pytest.raises(InputError, match=r"unknown layout 'line'; did you mean 'lines'\?"):
        split_references("", "line")


def test_what_is_too_long_is_refused_and_the_rest_is_read() -> None:
    long = "x" * (LONGEST + 1)
    refused: list[FormatError] = []
    found = split_references(f"{A}\n{long}\n{B}", refused=refused)
    assert [(r.text, r.line) for r in found] == [(A, 1), (B, 3)]
    assert [(error.line, error.what.split(";")[0]) for error in refused] == [(2, "20,001 characters in a row")]
    with pytest.raises(FormatError, match="at most 20,000"):
        split_references(long)


@pytest.mark.parametrize(
    "raw",
    [
        "Smith, J. " * 20_000,
        "[1] x " * 30_000,
        "1. A. " * 30_000,
        "Aa, A.-A. and " * 15_000 + "(1990) (1991)",
        "\f" * 200_000,
        "[" * 200_000,
    ],
)
@pytest.mark.parametrize("layout", ["auto", "blocks"])
def test_hostile_lines_end_soon(raw: str, layout: str) -> None:
    before = time.process_time()
    split_references(raw, layout, refused=[])
    assert time.process_time() - before < 5  # linear: a fraction of a second; anything worse takes minutes


signs = st.text(st.sampled_from("abZ1290 .,-–()[]\u00ad\n\n\r\f\u2028\ufeff“é/"), max_size=80)


@given(st.one_of(signs, st.text(max_size=80)), st.sampled_from(["auto", "lines", "blocks"]))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_nothing_but_hyphens_is_lost_and_places_are_right(raw: str, layout: str) -> None:
    found = split_references(raw, layout)
    lines = raw.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")

    def letters(text: str) -> str:
        return "".join(sign for sign in text if not sign.isspace() and sign not in "-‐\u00ad")

    assert letters("".join(reference.text for reference in found)) == letters("".join(lines))
    assert all(reference.text == reference.text.strip() and reference.text for reference in found)
    for reference in found:
        sign = lines[reference.line - 1][reference.offset]
        assert sign == reference.text[0] or sign in "-‐\u00ad"
        assert 0 < reference.confidence <= 1
    places = [(reference.line, reference.offset) for reference in found]
    assert places == sorted(set(places))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[12] A", 12),
        (" (3) A", 3),
        ("4. A", 4),
        ("5) A", 5),
        ("4.5 A", None),
        ("[Knu84] A", "key"),
        ("1990 A", None),
        ("A", None),
    ],
)
def test_marks(line: str, expected: int | str | None) -> None:
    assert mark(line) == expected
