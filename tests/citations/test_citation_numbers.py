"""Pages, volumes, issues, editions and the numbers of reports."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise import parse_edition, parse_issue, parse_pages, parse_volume, report_number
from espalier.citations.work import Pages


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("pp. 101-108.", "101", "108"),
        ("101-8", "101", "108"),
        ("1101–23", "1101", "1123"),
        ("101--108", "101", "108"),
        ("101 — 108,", "101", "108"),
        ("(pp. 12-14).", "12", "14"),
        (":345-367", "345", "367"),
        ("pages 101 to 108", "101", "108"),
        ("pp.12-15", "12", "15"),
        ("p12-15", "12", "15"),
        ("S. 12-15", "12", "15"),
        ("Seiten 12 bis 15", "12", "15"),
        ("págs. 12-15", "12", "15"),
        ("с. 12-15", "12", "15"),
        ("S12-S18", "S12", "S18"),
        ("S12-8", "S12", "S18"),
        ("L5–8", "L5", "L8"),
        ("123a-123c", "123a", "123c"),
        ("xii-xx", "xii", "xx"),
        ("pp. iv–x", "iv", "x"),
        ("3-12–3-18", "3-12", "3-18"),
        ("1:1–1:20", "1:1", "1:20"),
        ("p. 5–p. 7", "5", "7"),
    ],
)
def test_ranges(text: str, first: str, last: str) -> None:
    assert parse_pages(text) == Pages(first, last, f"{first}–{last}")


@pytest.mark.parametrize(
    ("text", "page"),
    [
        *(("p. 5", "5"), ("279,", "279"), ("S34", "S34"), ("e1234.", "e1234"), ("Article e1234", "e1234")),
        *(("Article 12345", "12345"), ("Art. no. 7", "7"), ("Paper 7", "7"), ("A-12", "A-12"), ("1999-3", "1999-3")),
        *(("vii", "vii"), ("P. 12", "12")),
    ],
)
def test_single_pages_and_article_numbers(text: str, page: str) -> None:
    assert parse_pages(text) == Pages(page, "", page)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("pp. 12–15, 20", Pages("12", "", "12–15, 20")),
        ("pp. 23-4, 56-8", Pages("23", "", "23–24, 56–58")),
        ("pp. 5 & 7", Pages("5", "", "5, 7")),
        ("12ff.", Pages("12", "", "12ff")),
        ("345 p.", Pages("", "", "345 p.")),
        ("xii, 345 pp.,", Pages("", "", "xii, 345 pp.")),
        ("chap. 5, pp. 195–239", Pages("", "", "chap. 5, pp. 195–239")),
        ("no pages", Pages("", "", "no pages")),
        ("sec. 4, 1 +.", Pages("", "", "sec. 4, 1 +")),
        ("", None),
        (" –.", None),
    ],
)
def test_other_pages_keep_their_text(text: str, expected: Pages | None) -> None:
    assert parse_pages(text) == expected


@given(st.integers(1, 99_999), st.integers(1, 9_999), st.sampled_from(["", "S", "e"]), st.sampled_from("-–"))
@settings(deadline=None, derandomize=True, max_examples=150)
def test_a_shortened_last_page_is_written_out(first: int, more: int, letter: str, dash: str) -> None:
    a, b = str(first), str(first + more)
    expected = Pages(letter + a, letter + b, f"{letter}{a}–{letter}{b}")
    assert parse_pages(f"pp. {letter}{a}{dash}{letter}{b}") == expected
    if len(a) == len(b):
        shared = next(i for i in range(len(a)) if a[i] != b[i])
        assert parse_pages(f"{letter}{a}{dash}{b[shared:]}") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("12,", ("12", "")), ("12(3)", ("12", "3")), ("12 (3-4):", ("12", "3-4")), ("12:3", ("12", "3"))),
        *(("vol. 12, no. 3", ("12", "3")), ("Volume 12, Issue 3", ("12", "3")), ("v. 12, n. 3", ("12", "3"))),
        *(("Bd. 5", ("5", "")), ("Jg. 12, H. 3", ("12", "3")), ("t. 5", ("5", "")), ("Vol. XII", ("XII", ""))),
        *(("Vol. 20, n ° 1,", ("20", "1")), ("12, núm. 3", ("12", "3")), ("12 (Suppl. 1)", ("12", "Suppl. 1"))),
        *(("75.1,", ("75", "1")), ("no. 211.", ("", "211")), ("Volumes 1–2", ("1–2", "")), ("B428", ("B428", ""))),
        *(("V", ("V", "")), ("VI", ("VI", "")), ("T-5", ("T-5", "")), ("LNCS 123", ("LNCS 123", ""))),
        *(("12, 3", ("12, 3", "")), ("45-3", ("45-3", "")), ("", ("", "")), (",", ("", ""))),
    ],
)
def test_volumes(text: str, expected: tuple[str, str]) -> None:
    assert parse_volume(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("(3)", "3"), ("no. 3,", "3"), ("Nr. 3", "3"), ("Heft 2", "2"), ("n° 5", "5"), ("No. 12/13", "12/13")),
        *(("issue 3", "3"), ("3-4", "3-4"), ("Suppl. 1", "Suppl. 1"), ("Special Issue", "Special Issue"), ("", "")),
    ],
)
def test_issues(text: str, expected: str) -> None:
    assert parse_issue(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("2nd ed.", "2"), ("Third edition", "3"), ("2. Auflage", "2"), ("2e éd.", "2"), ("(3rd ed.).", "3")),
        *(("4. Aufl.,", "4"), ("2ª ed.", "2"), ("first edn.", "1"), ("Edition 3", "3"), ("11th edition,", "11")),
        *(("zweite Auflage", "2"), ("segunda edición", "2"), ("troisième édition", "3"), ("Second", "2"), ("5th", "5")),
        *(("rev. ed.", "rev. ed."), ("2nd rev. ed.", "2nd rev. ed."), ("Preprint.", "Preprint"), ("", ""), ("().", "")),
    ],
)
def test_editions(text: str, expected: str) -> None:
    assert parse_edition(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Technical Report CS-94-12,", "CS-94-12"), ("RFC 2616", "2616"), ("Tech. Rep. (TR-7)", "TR-7"), ("Report", "")],
)
def test_report_numbers(text: str, expected: str) -> None:
    assert report_number(text) == expected


PIECES = "12 3 vol. no. ( ) pp. - – , : S e ff. ed. nd Third xii p. s. & and . ² ٣ v n H"


@given(st.lists(st.sampled_from([*PIECES.split(), " "]), max_size=9).map("".join) | st.text(max_size=30))
@settings(deadline=None, derandomize=True, max_examples=400)
def test_no_sign_is_invented(text: str) -> None:
    """Of pages only the digits of the first page may be said twice; ordinals become digits."""
    signs = set(text) | set(" –,")
    for value in (*(parse_pages(text) or ()), *parse_volume(text), parse_issue(text), report_number(text)):
        assert set(value) <= signs
    assert set(parse_edition(text)) <= signs | set("0123456789")
    if any(map(str.isalnum, text)):
        assert parse_pages(text)
        assert any(parse_volume(text))
        assert parse_issue(text)
        assert parse_edition(text)


@settings(deadline=None, derandomize=True, max_examples=200)
@given(st.from_regex(r"(pp?[.:]? ?)?[0-9]{1,5}[-–][0-9]{1,5}[.]?[,;:]?", fullmatch=True))
def test_usual_pages_are_read_as_unusual_ones(text: str) -> None:
    """A comma before them changes nothing, but for the way that they take through the code."""
    assert parse_pages(text) == parse_pages(f", {text}")
