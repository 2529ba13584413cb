"""PDF files written by hand, so that the right reading is known."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("pypdfium2")

from pdf_writer import LOCKED, UNNAMED, Text, write_pdf

from espalier.documents.lines import PrintedText
from espalier.documents.reading import read_document
from espalier.documents.reading.pdf import read_pdf
from espalier.errors import InputError

WORDS = ("apple", "pear", "plum", "quince", "medlar", "cherry", "walnut", "almond", "orchard", "graft", "stem", "root")


def sentence(random_: random.Random, width: int) -> str:
    """Return words that fill a line of so many letters, or almost."""
    text = random_.choice(WORDS)
    while len(text) < width - 12:
        text += " " + random_.choice(WORDS)
    return text


def texts(printed: PrintedText, page: int = 1) -> list[str]:
    return [line.text for line in printed.lines if line.page == page and line.hint != "page"]


def heads(printed: PrintedText) -> list[str]:
    return [line.text for line in printed.lines if line.hint == "page"]


def column(x: float, top: float, lines: list[str], leading: float = 12, size: float = 10) -> list[Text]:
    return [Text(x, top + leading * number, line, size) for number, line in enumerate(lines)]


def test_one_line_keeps_its_place() -> None:
    (line,) = read_pdf(write_pdf([[Text(72, 100, "Grafting, 2nd ed.", 12)]]), "a.pdf").lines
    assert (line.text, line.page, line.size, line.bold, line.italic) == ("Grafting, 2nd ed.", 1, 12.0, False, False)
    assert line.box is not None
    assert (line.box.x0, line.box.y0, line.box.y1) == pytest.approx((72, 100 - 9, 100 + 3), abs=0.5)
    assert line.box.x1 == pytest.approx(72 + len(line.text) * 0.6 * 12, abs=0.5)


def test_type_is_told() -> None:
    page = [Text(72, 100, "Bold", font="bold"), Text(72, 120, "Italic", font="ital"), Text(72, 140, "Plain", 7)]
    lines = read_pdf(write_pdf([page])).lines
    assert [(line.bold, line.italic, line.size) for line in lines] == [
        (True, False, 10.0),
        (False, True, 10.0),
        (False, False, 7.0),
    ]


# The same pages every time: of three narrow columns of random words, about one page in a hundred is read with a line
# that goes on across a gutter.
@pytest.mark.parametrize("columns", [1, 2, 3])
@settings(max_examples=8, deadline=None, derandomize=True)
@given(seed=st.integers(0, 10**6), shift=st.floats(0, 9))
def test_columns_are_read_one_after_the_other(columns: int, seed: int, shift: float) -> None:
    """In whatever order the file draws the lines, with a title across, and with columns whose lines do not align."""
    random_ = random.Random(seed)
    width = {1: 80, 2: 38, 3: 24}[columns]
    title = ["On the grafting of trees in orchards of the north, second part"]
    page = column(90, 60, title, size=13)
    expected = list(title)
    for number in range(columns):
        lines = [sentence(random_, width) for _ in range(random_.randint(12, 40))]
        page += column(50 + number * 490 / columns, 100 + shift * number, lines, size=9)
        expected += lines
    random_.shuffle(page)
    printed = read_pdf(write_pdf([page]))
    assert texts(printed) == expected
    assert {line.column for line in printed.lines[1:]} == set(range(columns))


def test_a_wide_table_cuts_the_columns_in_two() -> None:
    random_ = random.Random(3)
    blocks = [[sentence(random_, 38) for _ in range(10)] for _ in range(4)]
    wide = [sentence(random_, 80) for _ in range(3)]
    page = column(50, 80, blocks[0]) + column(300, 80, blocks[1]) + column(50, 230, wide)
    page += column(50, 290, blocks[2]) + column(300, 290, blocks[3])
    assert texts(read_pdf(write_pdf([page]))) == blocks[0] + blocks[1] + wide + blocks[2] + blocks[3]


def cells(y: float, places: list[float], words: list[str]) -> list[Text]:
    return [Text(x, y, word) for x, word in zip(places, words, strict=True)]


def test_a_table_has_no_gutter_that_cuts_the_text_below_it() -> None:
    """Lines with wide gaps between words, as justified lines have, are lines."""
    random_ = random.Random(4)
    page, expected = [], []
    for row in range(12):
        words = ["Lebanon" if row % 3 else "Chad", *(f"{random_.uniform(10, 99):.1f}" for _ in range(5))]
        page += cells(80 + 12 * row, [60, 160, 220, 300, 380, 440], words)
        expected.append(" ".join(words))
    for row in range(20):
        words = [sentence(random_, 24), sentence(random_, 24)]
        page += cells(240 + 12 * row, [60, 60 + 6 * len(words[0]) + 14 + 3 * (row % 5)], words)
        expected.append(" ".join(words))
    assert texts(read_pdf(write_pdf([page]))) == expected


def test_a_table_of_figures_spans_the_columns_or_stands_in_one() -> None:
    random_ = random.Random(6)
    blocks = [[sentence(random_, 38) for _ in range(10)] for _ in range(4)]
    rows = [[f"{1990 + row}", *(f"{random_.uniform(10, 99):.1f}" for _ in range(5))] for row in range(6)]
    page = column(50, 80, blocks[0]) + column(300, 80, blocks[1])
    for number, row in enumerate(rows):
        page += cells(230 + 12 * number, [50, 130, 210, 330, 400, 470], row)
    page += column(50, 330, blocks[2]) + column(300, 330, blocks[3])
    table = [" ".join(row) for row in rows]
    assert texts(read_pdf(write_pdf([page]))) == blocks[0] + blocks[1] + table + blocks[2] + blocks[3]
    left = [sentence(random_, 38) for _ in range(30)]
    narrow = [f"{1990 + n} {n}.5 4.{n} 17.1" for n in range(20)]
    page = column(50, 80, left) + column(300, 80, blocks[1][:4]) + column(300, 135, narrow)
    assert texts(read_pdf(write_pdf([page]))) == left + blocks[1][:4] + narrow


@pytest.mark.parametrize("label", ["[{}]", "{}.", "({})", "{}"])
def test_numbers_of_a_list_are_no_column(label: str) -> None:
    random_ = random.Random(1)
    page, expected = [], []
    for number in range(1, 26):
        first, second = sentence(random_, 60), sentence(random_, 50)
        y = 80 + 25 * number
        page += [Text(60, y, label.format(number)), Text(95, y, first), Text(95, y + 12, second)]
        expected += [f"{label.format(number)} {first}", second]
    assert texts(read_pdf(write_pdf([page]))) == expected


def test_a_stretched_line_is_no_row_of_a_table_on_another_page() -> None:
    """Its gap is where the columns of the table part; the lines around it run across."""
    random_ = random.Random(5)
    first, second = ([sentence(random_, 38) for _ in range(12)] for _ in range(2))
    above, below = ([sentence(random_, 80) for _ in range(9)] for _ in range(2))
    stretched = sentence(random_, 36), sentence(random_, 38)
    text = [*column(50, 80, above), Text(50, 188, stretched[0]), Text(300, 188, stretched[1]), *column(50, 200, below)]
    printed = read_pdf(write_pdf([column(50, 80, first) + column(300, 80, second), text]))
    assert texts(printed) == [*first, *second]
    assert texts(printed, 2) == [*above, " ".join(stretched), *below]


def test_the_last_lines_of_two_short_columns_are_told_by_the_other_pages() -> None:
    random_ = random.Random(5)
    full = [[sentence(random_, 38) for _ in range(30)] for _ in range(2)]
    short = [[sentence(random_, 38) for _ in range(2)] for _ in range(2)]
    pages = [column(50, 80, a) + column(300, 80, b) for a, b in (full, short)]
    assert texts(read_pdf(write_pdf(pages)), 2) == short[0] + short[1]


def test_the_last_lines_of_three_columns_may_all_be_indented() -> None:
    random_ = random.Random(8)
    full = [[sentence(random_, 36) for _ in range(30)] for _ in range(3)]
    short = [[sentence(random_, 34) for _ in range(2)] for _ in range(3)]
    first = [text for k, lines in enumerate(full) for text in column(50 + 163 * k, 80, lines, size=7)]
    last = [text for k, lines in enumerate(short) for text in column(62 + 163 * k, 80, lines, size=7)]
    assert texts(read_pdf(write_pdf([first, last])), 2) == short[0] + short[1] + short[2]


def test_notes_at_the_foot_that_cite_one_journal_are_no_heads() -> None:
    random_ = random.Random(9)
    pages = []
    for number in range(3):
        body = [sentence(random_, 70) for _ in range(40)]
        notes = [f"{2 * number + k} D. Acosta, Phys. Rev. D {70 + k}, {100 + 7 * number} (2004)." for k in (1, 2)]
        pages.append(column(60, 80, body) + column(60, 700, notes))
    assert heads(read_pdf(write_pdf(pages))) == []


def test_running_heads_of_left_and_right_pages_and_page_numbers() -> None:
    random_ = random.Random(2)
    pages, bodies = [], []
    for number in range(1, 7):
        body = [sentence(random_, 70) for _ in range(30)]
        head = "A. Smith and B. Jones" if number % 2 else "Grafts in the north"
        pages.append([Text(200, 40, head), *column(60, 80, body), Text(290, 800, str(number + 316))])
        bodies.append(body)
    printed = read_pdf(write_pdf(pages))
    for number, body in enumerate(bodies, 1):
        assert texts(printed, number) == body
    assert len(heads(printed)) == 12
    first = [line for line in printed.lines if line.page == 1]
    assert (first[0].hint, first[-1].text) == ("page", "317")


def test_years_at_the_foot_of_pages_are_no_page_numbers() -> None:
    random_ = random.Random(2)
    pages = [column(60, 80, [*(sentence(random_, 70) for _ in range(58)), f"{WORDS[n]}, {1990 + n}"]) for n in range(3)]
    assert heads(read_pdf(write_pdf(pages))) == []


@pytest.mark.parametrize("step", [1, 5])
def test_numbers_of_lines_are_left_out(step: int) -> None:
    random_ = random.Random(4)
    pages, bodies, count = [], [], 0
    for _ in range(3):
        body = [sentence(random_, 70) for _ in range(30)]
        page = column(90, 80, body, leading=18)
        for number in range(30):
            count += 1
            if count % step == 0:
                page.append(Text(50, 80 + 18 * number, f"{count:>3}", 8))
        pages.append(page)
        bodies.append(body)
    printed = read_pdf(write_pdf(pages))
    assert [texts(printed, number) for number in (1, 2, 3)] == bodies


def test_raised_numbers_join_the_word_before_and_stand_apart_at_the_start() -> None:
    page = [
        Text(60, 96, "1", 6),
        Text(65, 100, "Smith, J. Wires"),
        Text(60, 116, "12", 6),
        Text(68, 120, "Jones, A. Stems"),
    ]
    page += [Text(60, 140, "the 10"), Text(96, 136, "th", 6), Text(104, 140, " edition")]
    assert texts(read_pdf(write_pdf([page]))) == ["1 Smith, J. Wires", "12 Jones, A. Stems", "the 10th edition"]


def test_letters_that_are_spaced_out_are_words() -> None:
    page = [Text(60, 100, "REFERENCES CITED", operators="4 Tc"), Text(60, 120, "R E F E R E N C E S   C I T E D")]
    page += [Text(60, 140, "vitamins A B and C")]
    assert texts(read_pdf(write_pdf([page]))) == ["REFERENCES CITED", "REFERENCES CITED", "vitamins A B and C"]


def test_a_large_initial_begins_its_first_line() -> None:
    first = column(82, 103, ["he tree is grafted", "in the spring of"])
    page = [Text(60, 117, "T", 30), *first, Text(60, 139, "every year")]
    assert texts(read_pdf(write_pdf([page]))) == ["The tree is grafted", "in the spring of", "every year"]


def test_what_is_drawn_twice_is_read_once() -> None:
    page = [Text(60, 100, "References", font="bold"), Text(60.3, 100, "References", font="bold")]
    assert texts(read_pdf(write_pdf([page]))) == ["References"]


def test_accents_over_letters_are_part_of_them() -> None:
    page = [
        Text(60, 100, "M"),
        Text(66, 100, "\xa8"),
        Text(66, 100, "uller, J."),
        Text(60, 120, "Andr"),
        Text(84, 120, "\xb4"),
    ]
    page += [Text(84, 120, "e, B.")]
    assert texts(read_pdf(write_pdf([page]))) == ["Müller, J.", "André, B."]


def test_text_that_is_drawn_letter_by_letter_from_the_right_is_read_from_the_left() -> None:
    text = "Smith, J. Wires"
    page = [Text(60 + 6 * n, 100, letter) for n, letter in enumerate(text)][::-1]
    assert texts(read_pdf(write_pdf([page]))) == [text]


def test_a_stamp_on_its_side_is_left_out_and_a_page_on_its_side_is_read() -> None:
    body = ["Smith, J. Wires and trees", "in the north of the land", "Jones, A. and King, B."]
    for font in ("mono", "helv"):
        for matrix in ((0, 1, -1, 0), (0, -1, 1, 0), (-1, 0, 0, -1)):
            stamp = Text(30, 400, "arXiv:2101 ill", font=font, matrix=matrix)
            assert texts(read_pdf(write_pdf([[stamp, *column(60, 100, body)]]))) == body
    down = [Text(100 - 12 * n, 60, line, matrix=(0, -1, 1, 0)) for n, line in enumerate(body)]
    assert texts(read_pdf(write_pdf([down], page_entries="/Rotate 270"))) == body
    side = [Text(100 + 12 * n, 700, line, matrix=(0, 1, -1, 0)) for n, line in enumerate(body)]
    assert texts(read_pdf(write_pdf([side], page_entries="/Rotate 90"))) == body
    upside = [Text(500, 300 - 12 * n, line, matrix=(-1, 0, 0, -1)) for n, line in enumerate(body)]
    assert texts(read_pdf(write_pdf([upside]))) == body


def test_letters_outside_the_basic_plane_are_kept() -> None:
    page = [Text(60, 100, "A- and B-bosons, AB"), Text(60, 112, "C")]
    meanings = {"A": "𝑊", "B": "𝑍", "C": "\ud835"}  # half a letter is none
    pdf = write_pdf([page], meanings=meanings)
    assert texts(read_pdf(pdf)) == ["𝑊- and 𝑍-bosons, 𝑊𝑍"]


def test_soft_hyphens_are_hyphens_and_text_beyond_the_page_is_left_out() -> None:
    page = [Text(60, 100, b"root\xad"), Text(60, 112, "stock"), Text(700, 100, "far away"), Text(60, 900, "below")]
    assert texts(read_pdf(write_pdf([page]))) == ["root-", "stock"]


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    good = write_pdf([[Text(60, 100, "Wires")]])
    with pytest.raises(InputError, match=r"a.pdf has no text on its 2 pages: it is probably scanned; run a program"):
        read_pdf(write_pdf([[], []]), "a.pdf")
    with pytest.raises(InputError, match=r"a.pdf is damaged, or no PDF file; get or print"):
        read_pdf(b"%PDF-1.7\nnothing", "a.pdf")
    assert read_pdf(write_pdf([[Text(60, 100, "Wires")], [], []])).warnings == ("2 pages without text: 2-3",)
    (tmp_path / "a.txt").write_bytes(good)
    assert texts(read_document(tmp_path / "a.txt")) == ["Wires"]
    assert texts(read_document(good)) == ["Wires"]


def test_a_password_is_asked_for_elsewhere() -> None:
    with pytest.raises(InputError, match=r"a.pdf is encrypted; save it without a password first"):
        read_pdf(write_pdf([[Text(60, 100, "Wires")]], trailer=LOCKED), "a.pdf")


def test_letters_without_a_name_are_a_warning() -> None:
    (said,) = read_pdf(write_pdf([[Text(60, 100, "ABCDE EDCBA", font="helv")]], encoding=UNNAMED)).warnings
    assert said.startswith("1 page with fonts that do not say which characters they draw")


@settings(max_examples=25, deadline=None)
@given(st.binary(max_size=40), st.integers(0, 900))
def test_damage_is_an_input_error_or_no_trouble(noise: bytes, place: int) -> None:
    data = write_pdf([[Text(60, 100, "Wires and trees")]])
    with suppress(InputError):
        read_pdf(data[:place] + noise + data[place + len(noise) :])


def test_lines_that_begin_two_pages_above_white_space_are_no_heads() -> None:
    """The end of a paragraph, where paragraphs stand apart from each other; in another type it would be a head."""
    random_ = random.Random(5)
    bodies = [[sentence(random_, 60) for _ in range(31)] for _ in range(3)]
    for font, wanted in (("mono", 0), ("ital", 3)):
        pages = []
        for body in bodies:
            rows = [Text(60, 60, body[0], font=font)]
            rows += [Text(60, 84 + 24 * (n // 3) + 12 * n, line) for n, line in enumerate(body[1:])]
            pages.append(rows)
        assert len(heads(read_pdf(write_pdf(pages)))) == wanted


@pytest.mark.parametrize("going_on", [True, False])
def test_numbers_of_lines_beside_two_columns_are_left_out(going_on: bool) -> None:
    """Those of the right column stand at its right, and go on with those of the left one or are the same."""
    random_ = random.Random(6)
    pages, bodies = [], []
    for page in range(3):
        sides = [[sentence(random_, 36) for _ in range(50)] for _ in range(2)]
        rows = column(60, 60, sides[0], leading=14, size=9) + column(315, 60, sides[1], leading=14, size=9)
        for number in range(50):
            first = (100 if going_on else 50) * page + number
            rows.append(Text(30, 60 + 14 * number, f"{first:03}", 7))
            rows.append(Text(540, 60 + 14 * number, f"{first + 50 * going_on:03}", 7))
        pages.append(rows)
        bodies.append(sides[0] + sides[1])
    printed = read_pdf(write_pdf(pages))
    assert [texts(printed, number) for number in (1, 2, 3)] == bodies
