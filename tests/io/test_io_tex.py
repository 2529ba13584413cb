"""Groups of TeX: their ends as a search from each of them finds them; comments and accents in linear time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.io.tex import Groups, plain_text, without_comments

SIGNS = re.compile(r"\\.|[{}\[\]]", re.DOTALL)


def end_of(tex: str, at: int, opening: str, longest: int) -> int:
    """Return the place after the group that begins here, by counting from here on."""
    start = at
    while tex[start : start + 1].isspace():
        start += 1
    if not tex.startswith(opening, start):
        return at
    depth, braces = 0, 0
    for found in SIGNS.finditer(tex, start, start + longest):
        braces += {"{": 1, "}": -1}.get(found[0], 0)
        if opening == "{":
            depth = braces
        elif not braces:
            depth += {"[": 1, "]": -1}.get(found[0], 0)
        if braces < 0:
            return at
        if not depth:
            return found.end()
    return at


@given(st.text(st.sampled_from("{}[]\\a "), max_size=60), st.integers(2, 30))
def test_groups_end_where_a_search_finds_it(tex: str, longest: int) -> None:
    groups = Groups(tex, longest)
    for found in SIGNS.finditer(tex):  # what a backslash escapes begins no group
        if found[0] in ("{", "["):
            at = found.start()
            assert groups.after(at, found[0]) == end_of(tex, at, found[0], longest)


@pytest.mark.parametrize(
    ("line", "kept"),
    [("a % b", "a "), ("a \\% b % c", "a \\% b "), ("a \\\\% b", "a \\\\"), ("\\url{a%20b} % c", "\\url{a%20b} ")],
)
def test_comments(line: str, kept: str) -> None:
    assert without_comments(line) == kept


def test_accents_of_what_is_no_word() -> None:
    assert plain_text('{\\"o}') == "ö"
    assert len(plain_text("{a" + "\u0300\u0316" * 50_000 + "}")) == 100_001
