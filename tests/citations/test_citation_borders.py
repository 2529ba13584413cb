"""Where references that are run together are cut, and where not: by hand, by law, and on real references."""

from __future__ import annotations

import gzip
import json
import random
import time
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.borders import SHORTEST, begins, cuts, ends, has_year, seam

VANCOUVER = "Smith AB. Foo bar. Lancet 1999;353:12-8."
DATED = "Smith, J., & Roe, R. (1999). Foo bar. Lancet, 353, 12-8."
INITIALS = "Smith, J., Roe, R. Foo bar. Lancet 353, 12-8, 1999."


def parts(text: str) -> list[str]:
    places, _ = cuts(text)
    return [text[a:b].strip() for a, b in pairwise([0, *places, len(text)])]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (VANCOUVER, "Jones C, Roe R. Baz of things. Nature 2001;12:1-4."),
        (VANCOUVER, "van der Berg C Jr, D'Arc J, et al. Baz. Nature 2001;12:1-4."),
        (VANCOUVER, "García Márquez L: “Baz.” Nature 2001; 12: 1-4."),
        (VANCOUVER, "Jones C and Roe R-B (2001) Baz of things. Nature 12:1-4"),
        ("Smith AB. Foo. Ely: Press; 1999", "Jones C. Baz of things. Nature 2001;12:1-4."),
        ("Smith AB. Foo. BMJ 1999;1:2. doi:10.1/2", "Jones C. Baz of things. Nature 2001;12:1-4."),
        (DATED, "Jones, K. (2001). Baz of things. Nature, 12, 1-4."),
        (DATED, "de la Cruz, K., Jr., et al. (2001a). Baz of things. Nature, 12, 1-4."),
        (DATED, "Jones, K. (Ed.). (2001, May). Baz of things. Ely: Press."),
        ("Smith, J., 1999. Foo bar. Lancet, 353, 12-8.", "Jones, K. and Roe, R., 2001. Baz. Nature, 12, 1-4."),
        (INITIALS, "Jones, K. Baz of things. Nature 12, 1-4, 2001."),
        (INITIALS, "Jones, K.-L. and Roe, R.: Baz of things. Nature 12 (2001)."),
    ],
)
def test_names_after_the_end_of_a_reference(first: str, second: str) -> None:
    assert parts(f"{first} {second}") == [first, second]
    assert parts(f"{first} {second} {first} {second}") == [first, second, first, second]
    assert cuts(f"{first} {second}")[1] in (0.8, 0.9)


@pytest.mark.parametrize(
    "whole",
    [
        "Smith AB. Foo bar. In: Jones C, Roe R, editors. Baz 1999. Ely: Press; 2001. p. 12-8.",
        "Smith AB. Foo bar of Jones C. Lancet 1999;353:12-8. Comment in 2001.",
        "Smith AB. Foo bar. Lancet 1999;353:12-8. New York, NY, 2001 reprint.",
        "Smith, J. Foo bar. Press, 1999. Cambridge, U.K.: Second Press, reprint.",
        "Smith, J. (1999). Foo bar. Jones, K. (trans.). Ely: Press (2001).",
        "Smith, J. Foo of Jones, K. Bar of Roe, R. Lancet, 1999, 2001.",
        f"{VANCOUVER} Jones C, Roe R. Baz of things. Nature 12:1-4.",  # no year after the border
        "Smith AB. Foo bar. Lancet 353:12-8. Jones C, Roe R. Baz. Nature 1999, 2001.",  # none before
        f"Foo bar. {VANCOUVER} Jones C. Baz of things. Nature 2001;12:1-4.",  # begins in no style
        f"{VANCOUVER} {DATED}",  # another style
        f"{VANCOUVER} Jones C. B, 2001.",  # too short
    ],
)
def test_what_may_be_one_is_not_cut(whole: str) -> None:
    assert cuts(whole) == ([], 1.0)


@pytest.mark.parametrize(
    ("above", "below", "expected"),
    [
        ("Plum, A. Wires and", "Walls. Wye, 1990.", 2),
        ("Plum, A., Quince, B.,", "Sloe, C. Wires. 1990.", 2),
        ("Plum, A. Wires. In", "Pears, 1990.", 2),
        ("Plum, A. Wires. Pears", "12(3), 1-3.", 2),
        ("Plum, A. Wires (1990).", "in Pears.", 2),
        ("Plum, A. Wires. Pears", "1990;3:12-5.", 2),
        ("Plum, A. Wires", "(1990) 12.", 2),
        ("Plum, A. Wires. 1990.", "Quince, B. Walls. 1991.", -2),
        ("Plum, A. Wires. 1990.", "B. Quince. Walls. 1991.", -2),
        ("Plum, A. Wires. 1990.", "[7] Quince B, Sloe C. Walls. 1991.", -2),
        ("Plum, A. Wires. 1990.", "van Quince, B. Walls.", -2),
        ("Plum, A. Wires. 1990.", "———. Walls.", -2),
        ("Trees", "Plum, A. Wires. 1990.", 0),
        ("Plum, Ada. Wires. 1990.", "Quince, Ben. Walls. 1991.", -1),
        ("Plum, A. (1990). Wires.", "Pears, May 1990.", 1),
        ("Plum, A. (1990). Wires.", "Pears, 3.", 1),
    ],
)
def test_seams(above: str, below: str, expected: int) -> None:
    assert seam(above, below) == expected


def test_beginnings_ends_and_years() -> None:
    assert all(map(begins, [VANCOUVER, DATED, INITIALS, "A. B. Plum and C. Sloe. Wires", "[12] Plum A. Wires"]))
    assert not any(
        map(begins, ["Orchard Letters, 12(3), 1-3.", "Wires and walls", "", "1990. Wires", "[Online]. Wires"])
    )
    assert all(map(ends, ["1990.", "12-8", "(1990)", "[cs.LG]", "https://example.org/a"]))
    assert not any(map(ends, ["and", "Pears,", "", "https://example.org/a and"]))
    assert [has_year(text) for text in ("(1990)", "1990a", "21990", "1234", "")] == [True, True, False, False, False]


surnames = st.sampled_from(["Plum", "van Quince", "O'Sloe", "Øre", "De La Cruz", "Pear-Damson"])
initials = st.lists(st.sampled_from("ABCØ"), min_size=1, max_size=3)


@st.composite
def references(draw: st.DrawFn, style: int) -> str:
    people = draw(st.lists(st.tuples(surnames, initials), min_size=1, max_size=4))
    year, page = draw(st.integers(1500, 2099)), draw(st.integers(1, 999))
    if style == 1:
        names = ", ".join(f"{name} {''.join(letters)}" for name, letters in people)
        return f"{names}. Wires and walls. Orchard Lett {year};3:{page}-{page + 9}."
    names = ", ".join(f"{name}, {' '.join(f'{letter}.' for letter in letters)}" for name, letters in people)
    date = f" ({year})." if style == 0 else ""
    return f"{names}{date} Wires and walls. Orchard Letters, 3, {page}-{page + 9}{'.' if date else f', {year}.'}"


@pytest.mark.parametrize("style", [0, 1, 2])
def test_any_list_of_one_style(style: int) -> None:
    @given(st.lists(references(style), min_size=1, max_size=6))
    @settings(deadline=None, derandomize=True, max_examples=60)
    def law(several: Sequence[str]) -> None:
        assert parts(" ".join(several)) == list(several)

    law()


@given(st.text(st.sampled_from("AbC., ;:()&190[]/"), max_size=200))
@settings(deadline=None, derandomize=True, max_examples=300)
def test_places_rise_and_leave_no_crumbs(text: str) -> None:
    places, sure = cuts(text)
    assert all(b - a >= SHORTEST for a, b in pairwise([0, *places, len(text)])) or not places
    assert all(text[at - 1].isspace() for at in places)
    assert (sure < 1) == bool(places)


@pytest.mark.parametrize(
    "unit",
    [
        "Aa, A. (1990) ",
        "Aa, A., Bb, B. ",
        "Aa AB, Bb B. ",
        "Aa AB. Cc 1990. ",
        "De La De Aa-aa-aa Bb-aa-aa Cc-aaaaaaaa 1. ",
        "1990 a",
        "Aa A, " * 79 + "b 1. ",
    ],
)
@pytest.mark.parametrize("start", ["Aa, A. (1990). ", "Aa A. Bb 1990. ", "Aa, A. Bb 1990. "])
def test_time_is_linear(start: str, unit: str) -> None:
    text = start + unit * (300_000 // len(unit)) + " 1991"
    before = time.process_time()
    cuts(text)
    assert time.process_time() - before < 5  # half a second at most; what is quadratic takes minutes


@lru_cache
def real(directory: Path) -> tuple[str, ...]:
    path = directory / "unlabelled_refs" / "normalised" / "unlabelled.jsonl.gz"
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return tuple(" ".join(json.loads(line)["text"].split()) for line in lines)


def test_single_real_references_are_left_alone(data_dir: Path) -> None:
    found = [text for text in real(data_dir) if cuts(text)[0]]
    assert len(found) <= len(real(data_dir)) // 5000, found


@pytest.mark.parametrize(
    ("example", "least"), [("Smith, J. (2004). ", 0.95), ("Smith AB, Roe R. A", 0.9), ("Smith, J. A", 0.6)]
)
def test_real_references_in_pairs_are_found(data_dir: Path, example: str, least: float) -> None:
    from espalier.citations import borders

    style = next(style for style in borders._STYLES if style.begins.match(example))
    own = [text for text in real(data_dir) if style is next((s for s in borders._STYLES if s.begins.match(text)), None)]
    draw = random.Random(0)
    right = wrong = 0
    for _ in range(300):
        one, two = draw.choice(own), draw.choice(own)
        places, _ = cuts(f"{one} {two}")
        right += places == [len(one) + 1]
        wrong += places not in ([], [len(one) + 1])
    assert right >= least * 300
    assert wrong <= 3
