"""Pages, volumes, issues, editions and the numbers of reports."""

from __future__ import annotations

import unicodedata

import pytest
from citation_works import record_of
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise import parse_edition, parse_issue, parse_pages, parse_volume, report_number
from espalier.citations.normalise.numbers import count_pages, count_volumes, month_beside
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
        ("p. iv-xii", "iv", "xii"),
        ("１２３－１３０", "123", "130"),
        ("123～30。", "123", "130"),
        ("243〜251", "243", "251"),
        ("第12－15页", "12", "15"),
        ("99-114頁", "99", "114"),
        ("12 a 15", "12", "15"),
        ("Hal. 101-107", "101", "107"),
        ("hlm. 45-52", "45", "52"),
        ("tr. 45-52", "45", "52"),
        ("trang 45–52", "45", "52"),
        ("σσ. 45-52", "45", "52"),
        ("211–228. oldal", "211", "228"),
        ("45–68. o.", "45", "68"),
        ("5.-10. lpp.", "5", "10"),
        ("lk 45-60", "45", "60"),
        ("Ст. 12–15", "12", "15"),
        ("Б. 12–15", "12", "15"),
        ("645-668쪽", "645", "668"),
        ("12-15 p.", "12", "15"),
        ("ページ 75-107", "75", "107"),
        ("pp, 40-47", "40", "47"),
        ("Sp. 499–546", "499", "546"),
        ("col. 1519-1545", "1519", "1545"),
        ("cols 659-868", "659", "868"),
        ("ff. 12r-15v", "12r", "15v"),
        ("cc. 45r-46v", "45r", "46v"),
        ("22S–8S.", "22S", "28S"),
        ("cc. 1-36.", "1", "36"),
        ("pagg. 117-160.", "117", "160"),
        ("p. 112 114.", "112", "114"),
        # beside something else
        ("in particolare pp. 55-77", "55", "77"),
        ("spec. pp. 9-29.", "9", "29"),
        ("S. 5–33, hier S. 12", "5", "33"),
        ("S. 5-33, bes. S. 12", "5", "33"),
        ("49–72, at 51", "49", "72"),
        ("49–72, esp. 51", "49", "72"),
        ("49-72 (51)", "49", "72"),
        ("12–5 (8 pages).", "12", "15"),
        ("A12-A13 (abstr).", "A12", "A13"),
        ("53–67, pls. 1–4", "53", "67"),
        ("12–15 passim.", "12", "15"),
        ("chap. 5, pp. 195–239", "195", "239"),
        ("12–15; discussion 16–20", "12", "15"),
        ("12–15; author reply 15", "12", "15"),
        ("12–15, 3 figs.", "12", "15"),
        ("12–15 + 4 pls", "12", "15"),
        ("pages17-19", "17", "19"),
        ("pp. 110 565–110 574", "110565", "110574"),
        ("1 208–1 215.", "1208", "1215"),
        ("598–604 Review", "598", "604"),
        ("C. 570–584", "570", "584"),
        ("pp. 96_102", "96", "102"),
        ("p. 107 23.", "107", "123"),
        ("34–35 (in Chinese).", "34", "35"),
        # a letter that the last page shares with the first
        ("S6-12", "S6", "S12"),
        ("iv9-12", "iv9", "iv12"),
        ("C6-12", "C6", "12"),
        ("S6-312", "S6", "312"),
    ],
)
def test_ranges(text: str, first: str, last: str) -> None:
    assert parse_pages(text) == Pages(first, last, f"{first}–{last}")


@pytest.mark.parametrize(
    ("text", "page"),
    [
        *(("p. 5", "5"), ("279,", "279"), ("S34", "S34"), ("e1234.", "e1234"), ("Article e1234", "e1234")),
        *(("Article 12345", "12345"), ("Art. no. 7", "7"), ("Paper 7", "7"), ("A-12", "A-12"), ("1999-3", "1999-3")),
        *(("vii", "vii"), ("P. 12", "12"), ("P12", "12"), ("P4567.", "P4567"), ("74380F", "74380F")),
        *(("77310X", "77310X"), ("f. 23v", "23v"), ("c. 45r", "45r"), ("Bl. 45", "45")),
        *(("page17", "17"), ("HEDGE98-1234", "HEDGE98-1234")),
        *(("e00648-15", "e00648-15"), ("e00648–15", "e00648-15")),
        *(("hlm. 5", "5"), ("poz. 880", "880"), ("45. oldal", "45"), ("103P", "103P"), ("1234s", "1234s")),
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
        ("12–15, 20", Pages("12", "", "12–15, 20")),
        ("S. 5 u. 7", Pages("5", "", "5, 7")),
        ("12ff.", Pages("12", "", "12ff")),
        ("pp. 12 f.", Pages("12", "", "12 f")),
        ("12–15ff.", Pages("12", "", "12–15ff")),
        ("iv ff.", Pages("iv", "", "iv ff")),
        ("12 et seq.", Pages("12", "", "12 et seq")),
        ("pp. 3, 12 et seqq.", Pages("3", "", "3, 12 et seqq")),
        ("12, et seq.", Pages("12", "", "12, et seq")),
        ("12 sq.", Pages("12", "", "12 sq")),
        ("p. 394 sgg.", Pages("394", "", "394 sgg")),
        ("pp. 83 82", Pages("", "", "pp. 83 82")),
        ("12 y ss.", Pages("12", "", "12 y ss")),
        ("12 et suiv.", Pages("12", "", "12 et suiv")),
        ("12 and following", Pages("12", "", "12 and following")),
        ("12 passim", Pages("12", "", "12 passim")),
        ("L3+", Pages("L3", "", "L3+")),
        ("345页", Pages("", "", "345页")),
        ("345 p.", Pages("", "", "345 p.")),
        ("xii, 345 pp.,", Pages("", "", "xii, 345 pp.")),
        ("12-15; pp 20-25", Pages("12", "", "12–15, 20–25")),
        ("12-15; pages 20-25", Pages("12", "", "12–15, 20–25")),
        ("432, 16 plates", Pages("432", "", "432, 16 plates")),
        ("123 figs", Pages("", "", "123 figs")),
        ("198 (208)", Pages("198", "", "198 (208)")),
        ("12 (2009)", Pages("", "", "12 (2009)")),
        ("49-72 (81)", Pages("", "", "49-72 (81)")),
        ("2167(R)", Pages("2167", "", "2167(R)")),
        ("123456 (8pp).", Pages("123456", "", "123456 (8pp)")),
        ("1570 [151 pp.]", Pages("1570", "", "1570 [151 pp.]")),
        ("p. 3, col. 2", Pages("3", "", "3, col. 2")),
        ("p. 12 n. 3", Pages("12", "", "12 n. 3")),
        ("sec. C, p. 17", Pages("17", "", "sec. C, p. 17")),
        ("Art. n. 7", Pages("", "", "Art. n. 7")),
        ("1685, 1713", Pages("1685", "", "1685, 1713")),
        ("283–291 and 300", Pages("283", "", "283–291, 300")),
        ("12 345–1 234", Pages("", "", "12 345–1 234")),
        ("404-323 BC", Pages("", "", "404-323 BC")),
        ("abstract # 1373", Pages("1373", "", "abstract # 1373")),
        ("Abs. 1262.", Pages("1262", "", "Abs. 1262")),
        ("abstract", Pages("", "", "abstract")),
        ("pp. 1234 45", Pages("", "", "pp. 1234 45")),
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
        *(("(38) 4", ("38", "4")), ("(21)1-2", ("21", "1-2")), ("(12)", ("12", ""))),
        *(("vol. 12, no. 3", ("12", "3")), ("Volume 12, Issue 3", ("12", "3")), ("v. 12, n. 3", ("12", "3"))),
        *(("Bd. 5", ("5", "")), ("Jg. 12, H. 3", ("12", "3")), ("t. 5", ("5", "")), ("Vol. XII", ("XII", ""))),
        *(("Vol. 20, n ° 1,", ("20", "1")), ("12, núm. 3", ("12", "3")), ("12 (Suppl. 1)", ("12", "Suppl. 1"))),
        *(("Vol. I.", ("I", "")), ("t. V.", ("V", ""))),
        *(("75.1,", ("75", "1")), ("no. 211.", ("", "211")), ("Volumes 1–2", ("1–2", "")), ("B428", ("B428", ""))),
        *(("V", ("V", "")), ("VI", ("VI", "")), ("T-5", ("T-5", "")), ("LNCS 123", ("LNCS 123", ""))),
        *(("12, 3", ("12, 3", "")), ("45-3", ("45-3", "")), ("", ("", "")), (",", ("", ""))),
        *(("51/13", ("51", "13")), ("Vol. 51/1-2", ("51", "1-2")), ("XII/3", ("XII", "3")), ("51/", ("51", ""))),
        *(("51/52", ("51/52", "")), ("1998/99", ("1998/99", "")), ("1998/3", ("1998", "3")), ("C/3", ("C/3", ""))),
        *(("Vols. 1/3", ("1/3", "")), ("51/Suppl. 1", ("51", "Suppl. 1")), ("5.Jg/Heft 3,", ("5", "3"))),
        ("9" * 5000 + "/1", ("9" * 5000 + "/1", "")),
        *(
            ("28（3）", ("28", "3")),
            ("２８［３－４］", ("28", "3-4")),
            ("第28卷第3期", ("28", "3")),
            ("3期", ("", "3")),
        ),
        *(("16. Jg. H.2. ,", ("16", "2")), ("35. Jahrgang", ("35", "")), ("N.S. 12", ("N.S. 12", ""))),
        *(("t. 51, z. 3", ("51", "3")), ("roč. 12, č. 3", ("12", "3")), ("Т. 5, вып. 3", ("5", "3"))),
        *(
            ("roč. 59", ("59", "")),
            ("C. VII", ("VII", "")),
            ("C. 12, S. 3", ("12", "3")),
            ("12, S. 3", ("12, S. 3", "")),
        ),
        *(("Cilt 12", ("12", "")), ("Cilt: 12, Sayı: 3", ("12", "3")), ("12. Cilt", ("12", "")), ("C55", ("C55", ""))),
        *(("55. évf.", ("55", "")), ("LV. évf., 3. sz.", ("LV", "3")), ("55. évf. 3. sz", ("55", "3"))),
        *(("τόμ. 12", ("12", "")), ("tập 31, số 2", ("31", "2")), ("Jilid 38", ("38", "")), ("vsk. 12", ("12", ""))),
        *(("sv. 27, br. 3", ("27", "3")), ("15, št. 1", ("15", "1")), ("3. sz.", ("", "3")), ("zv. 3", ("3", ""))),
        *(
            ("29ᵉ année", ("29", "")),
            ("47ème année, n°1", ("47", "1")),
            ("anno XVI", ("XVI", "")),
            ("an 12", ("an 12", "")),
        ),
        *(("第30巻", ("30", "")), ("제24권 제3호", ("24", "3")), ("17권", ("17", "")), ("nn. 1-2", ("", "1-2"))),
        *(("N.F. 3", ("N.F. 3", "")), ("12 (N.F. 3)", ("12 (N.F. 3)", "")), ("12 (n. 3)", ("12", "3"))),
        *(("hier Bd. 1", ("1", "")), ("Rn. 25", ("Rn. 25", "")), ("§ 25", ("§ 25", "")), ("art. 5", ("art. 5", ""))),
        *(("28, no. 3 (March)", ("28", "3")), ("28 (Mai/Juni)", ("28", "")), ("28 (Mayer)", ("28", "Mayer"))),
    ],
)
def test_volumes(text: str, expected: tuple[str, str]) -> None:
    assert parse_volume(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("in 3 Bdn.", "3"), ("2 vols. in 1", "2"), ("6 tt.", "6"), ("2 Halbbde.", "2"), ("hier Bd. 1", "")),
        *(("2 vols in 12", ""), ("t. 6", "")),
    ],
)
def test_numbers_of_volumes(text: str, expected: str) -> None:
    assert count_volumes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("VIII-345 p.", "VIII-345"), ("[4], 345 p.", "[4], 345"), ("xii, 345 pp.", "xii, 345"), ("12-15 p.", "")),
        *(("S12-S15 p.", ""), ("198 (208)", ""), ("pp. viii-12", "")),
    ],
)
def test_numbers_of_pages(text: str, expected: str) -> None:
    assert count_pages(text) == expected


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        *(("12-5 (5 pages)", "12-5 (5 pages)"), ("12-15 (5 pages)", "12-15 (5 pages)"), ("12-5", ""), ("22S–8S", "")),
        *(("S. 5–33, hier S. 12", "S. 5–33, hier S. 12"), ("198 (208)", ""), ("p. 3, col. 2", "")),
    ],
)
def test_what_stands_around_a_range_is_kept(text: str, unread: str) -> None:
    work = record_of(("title", "On pears"), ("pages", text)).work
    assert work.unread == ((("pages", unread),) if unread else ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(("(3)", "3"), ("no. 3,", "3"), ("Nr. 3", "3"), ("Heft 2", "2"), ("n° 5", "5"), ("No. 12/13", "12/13")),
        *(("no. 3 (March)", "3"), ("3 [Spring]", "3"), ("no. 3 (Special Issue)", "3 (Special Issue)"), ("第3号", "3")),
        *(("（３）", "3"), ("/13", "13"), ("(March)", "March"), ("March 3", "March 3")),
        *(
            ("S. 27", "27"),
            ("S1", "S1"),
            ("Sayı 3", "3"),
            ("3. sz.", "3"),
            ("3. szám", "3"),
            ("τχ. 3", "3"),
            ("số 2", "2"),
        ),
        *(("Nomor 2", "2"), ("Вип. 3", "3"), ("제3호", "3"), ("nro 3", "3"), ("br. 3", "3"), ("nn. 1-2", "1-2")),
        *(("제2호, pp.", "2"), ("no. 3, pp.", "3"), ("sz", "sz")),
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
        *(("ed. 3", "3"), ("Ed. 3rd.", "3"), ("3. Aufl.", "3"), ("Aufl. 3", "3"), ("1ª ed.", "1"), ("1.ª ed.", "1")),
        *(("éd. 2", "2"), ("2de druk", "2"), ("3:e uppl.", "3"), ("2-е изд.", "2"), ("изд. 2-е", "2"), ("wyd. 2", "2")),
        *(("2. vyd.", "2"), ("第3版", "3"), ("第三版", "3"), ("３版", "3"), ("wyd. popr.", "wyd. popr")),
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


@pytest.mark.parametrize(
    ("text", "month"),
    [
        *(("no. 3 (March)", "March"), ("28 (Mai/Juni),", "Mai/Juni"), ("3（Spring）", "Spring"), ("3 (March 4)", "")),
        *(("28(3)", ""), ("(March)", ""), ("3 (Special Issue)", ""), ("March", ""), ("()", "")),
    ],
)
def test_months_beside_a_number(text: str, month: str) -> None:
    assert month_beside(text) == month


PIECES = (
    "12 3 vol. no. ( ) pp. - – , : S e ff. ed. nd Third xii p. s. & and . ² ٣ v n H / 卷 期 （ － 页 第 May et seq +"
)


@given(st.lists(st.sampled_from([*PIECES.split(), " "]), max_size=9).map("".join) | st.text(max_size=30))
@settings(deadline=None, derandomize=True, max_examples=400)
def test_no_sign_is_invented(text: str) -> None:
    """Of pages only the digits of the first page may be said twice; ordinals become digits, wide signs narrow ones."""
    signs = set(text) | set(" –,") | set(unicodedata.normalize("NFKC", text))
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
