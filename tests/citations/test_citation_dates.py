"""Dates in many forms and languages; what is not certain is not said."""

from __future__ import annotations

import calendar
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise import parse_date
from espalier.citations.normalise.dates import is_month, is_pending
from espalier.citations.work import Date


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("1994", [(1994,)]),
        ("(1994).", [(1994,)]),
        ("[1994]", [(1994,)]),
        ("1994,", [(1994,)]),
        ("©1998", [(1998,)]),
        ("c1998", [(1998,)]),
        ("cop. 1957.", [(1957,)]),
        ("１９９４", [(1994,)]),
        ("(accessed 2021-03-25)", [(2021, 3, 25)]),
        ("Zugriff: 25.03.2021", [(2021, 3, 25)]),
        ("(letzter Zugriff am 25.3.2021).", [(2021, 3, 25)]),
        ("vom 17.05.2019", [(2019, 5, 17)]),
        ("Stand: 1.2.2020", [(2020, 2, 1)]),
        ("May 1994", [(1994, 5)]),
        ("(1994, May)", [(1994, 5)]),
        ("12 March 2003", [(2003, 3, 12)]),
        ("March 12, 2003", [(2003, 3, 12)]),
        ("2003, May 12", [(2003, 5, 12)]),
        ("May 12th, 2003", [(2003, 5, 12)]),
        ("2003-03-12", [(2003, 3, 12)]),
        ("2003/03/12", [(2003, 3, 12)]),
        ("2003-03-12T10:00:00Z", [(2003, 3, 12)]),
        ("2003年3月12日", [(2003, 3, 12)]),
        ("2007年 。", [(2007,)]),
        ("25/12/2003", [(2003, 12, 25)]),
        ("12/25/2003", [(2003, 12, 25)]),
        ("05/05/2003", [(2003, 5, 5)]),
        ("12.03.2003", [(2003, 3, 12)]),
        ("2019-05", [(2019, 5)]),
        ("2019-May", [(2019, 5)]),
        # languages
        ("12. März 2003", [(2003, 3, 12)]),
        ("1er janvier 2003", [(2003, 1, 1)]),
        ("Fév. 2001", [(2001, 2)]),
        ("août 1999", [(1999, 8)]),
        ("déc. 2001", [(2001, 12)]),
        ("12 de marzo de 2003", [(2003, 3, 12)]),
        ("12 marzo 2003", [(2003, 3, 12)]),
        ("settembre 2003", [(2003, 9)]),
        ("10 de março de 2003", [(2003, 3, 10)]),
        ("3 mei 2003", [(2003, 5, 3)]),
        ("3 maart 2003", [(2003, 3, 3)]),
        ("Okt. 2003", [(2003, 10)]),
        ("12 maja 2003 roku", [(2003, 5, 12)]),
        ("Paź. 2001", [(2001, 10)]),
        ("12. května 2003", [(2003, 5, 12)]),
        ("květen 2003", [(2003, 5)]),
        ("12 мая 2003 г.", [(2003, 5, 12)]),
        ("Май 2003", [(2003, 5)]),
        ("сент. 2003", [(2003, 9)]),
        ("12 augusti 2003", [(2003, 8, 12)]),
        ("３ maj ２００３", [(2003, 5, 3)]),
        ("２００５年", [(2005,)]),
        ("２００５年３月。", [(2005, 3)]),
        ("октябрь–ноябрь 2004", [(2004, 10), (2004, 11)]),
        ("2003-2004 гг.", [(2003,), (2004,)]),
        # ranges
        ("1994-1996", [(1994,), (1996,)]),
        ("1994–96", [(1994,), (1996,)]),
        ("1994/95", [(1994,), (1995,)]),
        ("1999/2000", [(1999,), (2000,)]),
        ("1999-00", [(1999,), (2000,)]),
        ("2003/04", [(2003,), (2004,)]),
        ("1998/9", [(1998,), (1999,)]),
        ("May-June 1994", [(1994, 5), (1994, 6)]),
        ("Mai/Juni 1994", [(1994, 5), (1994, 6)]),
        ("12-15 March 2003", [(2003, 3, 12), (2003, 3, 15)]),
        ("March 12–15, 2003", [(2003, 3, 12), (2003, 3, 15)]),
        ("30 March - 2 April 2003", [(2003, 3, 30), (2003, 4, 2)]),
        ("Dec. 1999-Jan. 2000", [(1999, 12), (2000, 1)]),
        # visits
        ("Accessed 12 May 2010.", [(2010, 5, 12)]),
        ("retrieved on May 5, 2010, from", [(2010, 5, 5)]),
        ("abgerufen am 3. Mai 2010", [(2010, 5, 3)]),
        ("consulté le 3 mai 2010", [(2010, 5, 3)]),
    ],
)
def test_what_is_understood_in_full(text: str, parts: list[tuple[int, ...]]) -> None:
    assert parse_date(text) == Date(tuple(parts))


@pytest.mark.parametrize(
    ("text", "parts", "literal"),
    [
        ("accessed 03/12/2003", [(2003,)], "accessed 03/12/2003"),
        ("12.03.2021 und 13.03.2021", [(2021,)], "12.03.2021 und 13.03.2021"),
        ("1994a", [(1994,)], "1994a"),
        ("(1994b).", [(1994,)], "1994b"),
        ("03/12/2003", [(2003,)], "03/12/2003"),
        ("2003-04", [(2003,)], "2003-04"),
        ("2003-11", [(2003,)], "2003-11"),
        ("1998-9", [(1998,)], "1998-9"),
        ("1923/1999", [(1923,)], "1923/1999"),
        ("1994 [1923]", [(1994,)], "1994 [1923]"),
        ("1996-1994", [(1996,)], "1996-1994"),
        ("1994-", [(1994,)], "1994-"),
        ("31 February 2001", [(2001,)], "31 February 2001"),
        ("99/99/2003", [(2003,)], "99/99/2003"),
        ("Monday, 12 March 2003", [(2003, 3, 12)], "Monday, 12 March 2003"),
        ("1998b; in press", [(1998,)], "1998b; in press"),
        ("in press", [], "in press"),
        ("(forthcoming).", [], "forthcoming"),
        ("(n.d.).", [], "n.d."),
        ("s. d.", [], "s. d."),
        ("(o. J.)", [], "o. J."),
        ("4 January", [], "4 January"),
        ("79", [], "79"),
        ("20030312", [], "20030312"),
        ("17th century", [], "17th century"),
        ("0999-01-01", [], "0999-01-01"),
    ],
)
def test_what_is_not_certain_keeps_its_text(text: str, parts: list[tuple[int, ...]], literal: str) -> None:
    assert parse_date(text) == Date(tuple(parts), literal=literal)


@pytest.mark.parametrize(
    ("text", "season"),
    [
        ("Spring 1999", 1),
        ("Été 1999", 2),
        ("Fall 1999", 3),
        ("Herbst 1999", 3),
        ("winter, 1999", 4),
        ("verão de 1999", 2),
        ("jesień 1999", 3),
        ("Весна 1999 г.", 1),
    ],
)
def test_seasons(text: str, season: int) -> None:
    assert parse_date(text) == Date(((1999,),), season)


def test_two_seasons_keep_their_text() -> None:
    assert parse_date("Summer/Fall 1999") == Date(((1999,),), 2, "Summer/Fall 1999")


@pytest.mark.parametrize("text", ["c. 1850", "ca. 1850", "circa 1850", "[1850?]", "~1850", "vers 1850", "um 1850"])
def test_circa(text: str) -> None:
    assert parse_date(text) == Date(((1850,),), circa=True)


@pytest.mark.parametrize("text", ["", " ", "().", "—", "\u200b"])
def test_nothing(text: str) -> None:
    assert parse_date(text) is None


NAMES_OF_MONTHS = [
    "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień",
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
    "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec",
    "ledna února března dubna května června července srpna září října listopadu prosince",
    "Январь Февраль Март Апрель Май Июнь Июль Август Сентябрь Октябрь Ноябрь Декабрь",
    "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "januari februari mars april maj juni juli augusti september oktober november december",
    "januari februari maart april mei juni juli augustus september oktober november december",
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
    "januar februar marts april maj juni juli august september oktober november december",
    "sty lut mar kwi maj cze lip sie wrz paź lis gru",
    "янв фев мар апр май июн июл авг сен окт ноя дек",
]


@pytest.mark.parametrize("names", NAMES_OF_MONTHS)
def test_months_of_many_languages(names: str) -> None:
    assert [parse_date(f"3. {name} 2004") for name in names.split()] == [Date(((2004, k, 3),)) for k in range(1, 13)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            ("in press", True),
            ("(In press).", True),
            ("to appear,", True),
            ("n. d.", True),
            ("s.d.", True),
            ("o. J.", True),
        ),
        *(("[s. a.]", True), ("sous presse", True), ("в печати.", True), ("in press at Wiley", False), ("SA", False)),
        *(("press", False), ("", False), ("2004", False), ("n" * 100, False)),
    ],
)
def test_what_stands_for_a_date(text: str, expected: bool) -> None:
    assert is_pending(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("March", True), ("Mai/Juni", True), ("Spring", True), ("May and June", True), ("May 4", False), ("and", False)],
)
def test_months_alone(text: str, expected: bool) -> None:
    assert is_month(text) is expected


DAYS = st.integers(0, 400_000).map(lambda n: date(1100, 1, 1) + timedelta(n))


@given(DAYS)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_every_day_comes_back_from_every_form(day: date) -> None:
    y, m, d = day.year, day.month, day.day
    month = calendar.month_name[m]
    forms = [day.isoformat(), f"{d} {month} {y}", f"({y}, {month} {d}).", f"{month[:3]}. {d}, {y}", f"{d}.{m}.{y}"]
    for text in forms:
        assert parse_date(text) == Date(((y, m, d),)), text


@given(DAYS, st.integers(1, 500))
@settings(deadline=None, derandomize=True, max_examples=60)
def test_every_range_of_days_comes_back(day: date, length: int) -> None:
    last = day + timedelta(length)
    ends = [f"{end.day} {calendar.month_name[end.month]} {end.year}" for end in (day, last)]
    expected = Date(((day.year, day.month, day.day), (last.year, last.month, last.day)))
    assert parse_date("–".join(ends)) == expected
    assert parse_date(" - ".join(ends)) == expected


PIECES = "1994 94 95 2003 12 31 0 May März é spring - – / . ( ) ? c. a 年 月 th in press de , T 1٣ ² ﷺ to ~ 99999999999"


@given(st.lists(st.sampled_from([*PIECES.split(), " "]), max_size=9).map("".join) | st.text(max_size=20))
@settings(deadline=None, derandomize=True, max_examples=400)
def test_any_text_gives_a_date_that_exists_or_its_own_words(text: str) -> None:
    found = parse_date(text)
    if found is None:
        assert not any(sign.isalnum() for sign in text)
        return
    assert found.parts or found.literal
    assert len(found.parts) <= 2
    assert list(found.parts) == sorted(found.parts)
    for parts in found.parts:
        date(*parts, *(1, 1)[len(parts) - 1 :])
        assert 1000 <= parts[0] < 2200
    assert set(found.literal) <= set(text) | set(" -")
