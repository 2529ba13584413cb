"""Columns and what looks like them: stretched lines, numbers of entries, equations, a few lines above an appendix."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("pypdfium2")

from pdf_writer import Text, write_pdf

from espalier.documents.lines import PrintedText
from espalier.documents.reading.pdf import read_pdf

WORDS = ("apple", "pear", "plum", "quince", "medlar", "cherry", "walnut", "almond", "orchard", "graft", "stem", "root")


def sentence(random_: random.Random, width: int) -> str:
    """Return words that fill a line of so many letters, or almost."""
    words = [random_.choice(WORDS)]
    while len(" ".join(words)) < width - 8:
        words.append(random_.choice(WORDS))
    return " ".join(words)


def column(x: float, top: float, lines: list[str], leading: float = 12, size: float = 10) -> list[Text]:
    return [Text(x, top + leading * number, line, size) for number, line in enumerate(lines)]


def texts(printed: PrintedText, page: int = 1) -> list[str]:
    return [line.text for line in printed.lines if line.page == page and line.hint != "page"]


def two_columns(random_: random.Random, rows: int = 30) -> tuple[list[Text], list[str]]:
    """Return a page in two columns, and its lines."""
    left, right = ([sentence(random_, 38) for _ in range(rows)] for _ in range(2))
    return column(50, 80, left) + column(300, 80, right), left + right


def test_entries_below_a_table_keep_their_numbers_and_their_lines() -> None:
    """The gaps of some lines are where the table has its columns."""
    random_ = random.Random(3)
    page = [
        Text(x, 80 + 12 * row, f"{random_.choice(WORDS)}_{row}.{k}")
        for row in range(14)
        for k, x in enumerate((60, 190, 320, 450))
    ]
    expected = []
    for number in range(1, 7):
        y = 270 + 40 * number
        first, gap, second = sentence(random_, 70), sentence(random_, 34), sentence(random_, 60)
        page += [Text(60, y, f"[{number}]"), Text(90, y, first), Text(90, y + 12, second)]
        if number == 3:
            page = [*page[:-2], Text(90, y, gap), Text(320, y, gap), page[-1]]
            first = f"{gap} {gap}"
        expected += [f"[{number}] {first}", second]
    assert texts(read_pdf(write_pdf([page])))[-12:] == expected


def test_numbers_of_entries_in_the_right_column_stay_with_their_entries() -> None:
    """One line of the left column is too long, so that the gap behind the numbers is wider than that before them."""
    random_ = random.Random(7)
    left = [sentence(random_, 38) for _ in range(30)]
    left[4] = "quince-".ljust(41, "x")
    page, right = column(50, 80, left), []
    for number in range(10, 25):
        first, second = sentence(random_, 32), sentence(random_, 32)
        y = 80 + 24 * (number - 10)
        page += [Text(306, y, f"[{number}]", 7), Text(335, y, first, 9), Text(335, y + 12, second, 9)]
        right += [f"[{number}] {first}", second]
    assert texts(read_pdf(write_pdf([page]))) == left + right


def test_a_few_lines_of_columns_above_text_across_are_columns() -> None:
    """The page before has the same gutter. A heading below the columns belongs to what follows."""
    random_ = random.Random(5)
    first, lines = two_columns(random_)
    above, expected = two_columns(random_, 4)
    across = [sentence(random_, 82) for _ in range(20)]
    page = [*above, Text(50, 160, "A First Appendix", 14), *column(50, 190, across)]
    printed = read_pdf(write_pdf([first, page]))
    assert texts(printed) == lines
    assert texts(printed, 2) == [*expected, "A First Appendix", *across]


def test_stretched_lines_between_others_are_no_columns_of_another_page() -> None:
    """Each entry stands apart from the next; one of them has a wide gap where the page before has its gutter."""
    random_ = random.Random(9)
    page, expected = [], []
    for number in range(12):
        lines = [sentence(random_, 82), sentence(random_, 82)]
        gap = sentence(random_, 36), sentence(random_, 38)
        page += column(50, 80 + 40 * number, lines)
        if number == 6:
            page = [*page[:-2], Text(50, 320, gap[0]), Text(300, 320, gap[1])]
            lines = [" ".join(gap)]
        expected += lines
    printed = read_pdf(write_pdf([two_columns(random_)[0], page]))
    assert texts(printed, 2) == expected


def test_equations_do_not_hide_columns() -> None:
    """Their signs begin anywhere, in both columns."""
    random_ = random.Random(11)
    page, lines = two_columns(random_, 44)
    kept = [k for k in range(44) if k % 4 < 2]
    page = [text for k, text in enumerate(page) if k % 44 in kept]
    for row in sorted(set(range(44)) - set(kept)):
        for x in (*range(60, 260, 20), *range(310, 510, 20)):
            place = x + random_.uniform(0, 15), 80 + 12 * row + random_.uniform(-3, 3)
            page.append(Text(*place, random_.choice("abxyz"), random_.choice((7, 10))))
    found = texts(read_pdf(write_pdf([page])))
    assert [line for line in found if len(line) > 20 and " " not in line[:3]] == [
        line for k, line in enumerate(lines) if k % 44 in kept
    ]


def test_numbers_of_lines_beside_equations_are_left_out() -> None:
    """There are more rows than numbers."""
    random_ = random.Random(4)
    pages, bodies = [], []
    for _ in range(3):
        body = [sentence(random_, 60) for _ in range(20)]
        page = column(90, 80, body)
        page += [Text(random_.uniform(120, 400), 330 + 4 * k, "x", 6) for k in range(100)]
        page += [Text(50, 80 + 14 * k, str(k + 1), 8) for k in range(46)]
        pages.append(page)
        bodies.append(body)
    printed = read_pdf(write_pdf(pages))
    assert [texts(printed, number)[:20] for number in (1, 2, 3)] == bodies
