from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from espalier.documents.cutting.joining import join_lines, known_words
from espalier.documents.lines import PrintedText, TextLine


def printed(*lines: str) -> PrintedText:
    return PrintedText.of([TextLine(line) for line in lines])


@pytest.mark.parametrize(
    ("elsewhere", "first", "second", "joined"),
    [
        ("the rootstock", "a root-", "stock grows", "a rootstock grows"),
        ("Rootstock and ROOT-BOUND", "a root-", "bound tree", "a root-bound tree"),
        ("an apple in a tree", "the apple-", "tree", "the apple-tree"),
        ("", "of gra-", "fting", "of grafting"),
        ("", "J. Smith-", "Jones", "J. Smith-Jones"),
        ("graftings", "GRAF-", "TINGS of", "GRAFTINGS of"),
        ("", "pp. 13-", "19", "pp. 13-19"),
        ("", "Obst-", "und Gartenbau", "Obst- und Gartenbau"),
        ("", "root\xad", "stock", "rootstock"),
        ("ab", "http://x.org/a-", "b.html", "http://x.org/a-b.html"),
        ("", "self-", "organising", "self-organising"),
        ("", "grafting of", "trees", "grafting of trees"),
        ("rootstock", "the best root-", "stock-bound trees", "the best rootstock-bound trees"),
    ],
)
def test_hyphens_at_line_ends(elsewhere: str, first: str, second: str, joined: str) -> None:
    text = printed(elsewhere, first, second)
    assert join_lines(text.lines[1:], known_words(text.lines)).text == joined


ADDRESS = "Blog. https://ely.org/2016/old-or"


@pytest.mark.parametrize(
    ("first", "second", "joint"),
    [
        (ADDRESS, "chards.html", ""),
        (ADDRESS, "chards (accessed 3 May 2016).", ""),
        (ADDRESS, "12/b?x=3.", ""),
        (ADDRESS, "accessed 3 May 2016.", " "),
        (ADDRESS, "and other walls.", " "),
        (ADDRESS, "Medlar, A. Pears.", " "),
        (ADDRESS, "2016.", " "),
        (ADDRESS, "doi:10.1000/x", " "),
        (f"{ADDRESS}.", "chards.html", " "),
        ("on the old or", "chards.html", " "),
    ],
)
def test_addresses_at_line_ends(first: str, second: str, joint: str) -> None:
    """One that reaches the right edge goes on with signs of an address; any other ends with its line."""
    lines = printed(first, second).lines
    assert join_lines(lines, full={0}).text == first + joint + second
    assert join_lines(lines).text == f"{first} {second}"


def test_words_that_a_line_end_cuts_are_not_known() -> None:
    assert known_words(printed("Pears of root-", "stock and", "A tree-house 3").lines) == {
        *("pears", "of", "and", "a", "tree-house")
    }


LINES = st.lists(st.text("abA -9\xad/é", max_size=7), max_size=6)


@given(LINES)
def test_every_character_knows_where_it_was(rows: list[str]) -> None:
    source = printed(*rows)
    joined = join_lines(source.lines, known_words(source.lines))
    places = [joined.offset(place) for place in range(len(joined.text))]
    assert places == sorted(set(places))
    for character, place in zip(joined.text, places, strict=True):
        assert character == source.text[place] or (character == " " and source.text[place].isspace())
    # Only hyphens and white space are lost.
    lost = set(range(len(source.text))) - set(places)
    assert all(source.text[place] in "-\xad \n" for place in lost)
    assert "\n" not in joined.text
