"""Dates in many forms and languages; what is not certain is not said."""

from __future__ import annotations

import calendar
from datetime import date, timedelta

import pytest
from citation_works import record_of
from hypothesis import given, settings
from hypothesis import strategies as st

from espalier.citations.normalise import parse_date
from espalier.citations.normalise.dates import is_month, is_pending, is_visit, split_original
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
        ("(1982)—", [(1982,)]),
        ("(1986). —", [(1986,)]),
        ("1984/", [(1984,)]),
        ("1 1989", [(1989, 1)]),
        ("11 2022.", [(2022, 11)]),
        ("05/2021", [(2021, 5)]),
        ("05.2021", [(2021, 5)]),
        ("29.–31.10.2003", [(2003, 10, 29), (2003, 10, 31)]),
        ("29.09.–02.10.2003", [(2003, 9, 29), (2003, 10, 2)]),
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
        ("12 juill. 1989", [(1989, 7, 12)]),
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
        ("2015, 12 Mart", [(2015, 3, 12)]),
        ("5. toukokuuta 2014", [(2014, 5, 5)]),
        ("2014. március 3.", [(2014, 3, 3)]),
        ("3 martie 2015", [(2015, 3, 3)]),
        ("12 Maret 2016", [(2016, 3, 12)]),
        ("12 березня 2015 р.", [(2015, 3, 12)]),
        ("12 Μαΐου 2010", [(2010, 5, 12)]),
        ("12 d’abril de 2010", [(2010, 4, 12)]),
        ("2012 m. gegužės 5 d.", [(2012, 5, 5)]),
        ("2012. gada 5. maijs", [(2012, 5, 5)]),
        ("ngày 12 tháng 5 năm 2017", [(2017, 5, 12)]),
        ("tháng 5/2017", [(2017, 5)]),
        ("2015년 3월 2일", [(2015, 3, 2)]),
        ("2015년", [(2015,)]),
        ("14. 5. 2012", [(2012, 5, 14)]),
        ("12 listopada 2010", [(2010, 11, 12)]),
        ("12. listopada 2010. godine", [(2010, 10, 12)]),
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
        ("[cit. 2012-05-14]", [(2012, 5, 14)]),
        ("[cit. 14. 5. 2012]", [(2012, 5, 14)]),
        ("Erişim tarihi: 12.06.2016", [(2016, 6, 12)]),
        ("ERİŞİM TARİHİ: 12.06.2016", [(2016, 6, 12)]),
        ("Viitattu 12.3.2015.", [(2015, 3, 12)]),
        ("viitattu 5. toukokuuta 2014", [(2014, 5, 5)]),
        ("(дата звернення: 05.10.2017)", [(2017, 10, 5)]),
        ("accesat la 10.02.2017", [(2017, 2, 10)]),
        ("(letöltés: 2014.03.03.)", [(2014, 3, 3)]),
        ("lastet ned 05.06.2012 fra", [(2012, 6, 5)]),
        ("(参照 2016-05-10)", [(2016, 5, 10)]),
        ("accessed 2016年5月10日", [(2016, 5, 10)]),
    ],
)
def test_what_is_understood_in_full(text: str, parts: list[tuple[int, ...]]) -> None:
    assert parse_date(text) == Date(tuple(parts))


@pytest.mark.parametrize(
    ("text", "parts", "literal"),
    [
        ("accessed 03/12/2003", [(2003,)], "accessed 03/12/2003"),
        ("12.03.2021 und 13.03.2021", [(2021,)], "12.03.2021 und 13.03.2021"),
        ("nobody knows 12.03.2014", [(2014, 3, 12)], "nobody knows 12.03.2014"),
        ("Epub 2012/05/18", [(2012, 5, 18)], "Epub 2012/05/18"),
        ("nobody knows 03/12/2003", [(2003,)], "nobody knows 03/12/2003"),
        ("1994a", [(1994,)], "1994a"),
        ("1994d", [(1994,)], "1994d"),
        ("1994c.", [(1994,)], "1994c"),
        ("du 3 mai 1920", [(1920, 5, 3)], "du 3 mai 1920"),
        ("1° maggio 1900", [(1900, 5, 1)], "1° maggio 1900"),
        ("a.a. 1992-1993", [(1992,), (1993,)], "a.a. 1992-1993"),
        # Roman numerals
        ("17.V.1921", [(1921, 5, 17)], "17.V.1921"),
        ("17. V. 1921", [(1921, 5, 17)], "17. V. 1921"),
        ("3-XII-1977", [(1977, 12, 3)], "3-XII-1977"),
        ("31.II.1999", [(1999,)], "31.II.1999"),
        ("17.V.0921", [], "17.V.0921"),
        ("MDCXLVI.", [(1646,)], "MDCXLVI"),
        ("M.DC.XLVI", [(1646,)], "M.DC.XLVI"),
        ("MDCL", [(1650,)], "MDCL"),
        ("MCMXCIV", [(1994,)], "MCMXCIV"),
        ("MDCLVIIII", [(1659,)], "MDCLVIIII"),
        ("MIM", [], "MIM"),
        ("MIX", [], "MIX"),
        ("MMM", [], "MMM"),
        # two styles
        ("20 Jan. 1640/41", [(1641, 1, 20)], "20 Jan. 1640/41"),
        ("Jan. 1640/1", [(1641, 1)], "Jan. 1640/1"),
        ("5 May 1640/41", [(1640,)], "5 May 1640/41"),
        ("20 Jan. 1640/45", [(1640,)], "20 Jan. 1640/45"),
        # with the number of the edition, and a letter for a 1
        ("³1985", [(1985,)], "³1985"),
        ("(¹²1985).", [(1985,)], "¹²1985"),
        ("1996²", [(1996,)], "1996²"),
        ("51972", [(1972,)], "51972"),
        ("11972", [], "11972"),
        ("52072", [], "52072"),
        ("151972", [], "151972"),
        ("19762.", [(1976,)], "19762"),
        ("20053", [(2005,)], "20053"),
        ("19761", [], "19761"),
        ("11592", [], "11592"),
        ("l960", [(1960,)], "l960"),
        ("i960a", [(1960,)], "i960a"),
        ("ig85,", [(1985,)], "ig85"),
        ("(1 999),", [(1999,)], "1 999"),
        ("mdcclxxx", [(1780,)], "mdcclxxx"),
        ("mild", [], "mild"),
        ("l060", [], "l060"),
        # other calendars
        ("平成26年", [(2014,)], "平成26年"),
        ("令和元年5月1日", [(2019, 5, 1)], "令和元年5月1日"),
        ("พ.ศ. 2557", [(2014,)], "พ.ศ. 2557"),
        ("2557", [], "2557"),
        ("(1378/1999)", [(1999,)], "1378/1999"),
        ("1378 [1999]", [(1999,)], "1378 [1999]"),
        ("1999 [1420]", [(1999,)], "1999 [1420]"),
        ("2557/2014", [(2014,)], "2557/2014"),
        ("٢٠٠٣", [(2003,)], "٢٠٠٣"),
        ("१९९९", [(1999,)], "१९९९"),
        ("13 1989", [(1989,)], "13 1989"),
        ("05/21/07", [(2007,)], "05/21/07"),
        ("30/06/75", [(1975,)], "30/06/75"),
        ("03/12/15", [], "03/12/15"),  # which of them is the year?
        ("۱۳۹۵", [], "۱۳۹۵"),  # a year of Iran
        ("٢٠١٥", [(2015,)], "٢٠١٥"),
        ("05/33/07", [], "05/33/07"),
        ("3/2006", [(2006,)], "3/2006"),
        ("31.–29.10.2003", [(2003,)], "31.–29.10.2003"),
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
    "ocak şubat mart nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık",
    "OCAK ŞUBAT MART NİSAN MAYIS HAZİRAN TEMMUZ AĞUSTOS EYLÜL EKİM KASIM ARALIK",
    "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu",
    "január február március április május június július augusztus szeptember október november december",
    "ianuarie februarie martie aprilie mai iunie iulie august septembrie octombrie noiembrie decembrie",
    "januari februari maret april mei juni juli agustus september oktober november desember",
    "Januari Februari Mac April Mei Jun Julai Ogos September Oktober November Disember",
    "січень лютий березень квітень травень червень липень серпень вересень жовтень листопад грудень",
    "січня лютого березня квітня травня червня липня серпня вересня жовтня листопада грудня",
    "януари февруари март април май юни юли август септември октомври ноември декември",
    "јануара фебруара марта априла маја јуна јула августа септембра октобра новембра децембра",
    "januara februara marta aprila maja juna jula avgusta septembra oktobra novembra decembra",
    "január február marec apríl máj jún júl august september október november december",
    "januára februára marca apríla mája júna júla augusta septembra októbra novembra decembra",
    "januarja februarja marca aprila maja junija julija avgusta septembra oktobra novembra decembra",
    "sausio vasario kovo balandžio gegužės birželio liepos rugpjūčio rugsėjo spalio lapkričio gruodžio",
    "janvāris februāris marts aprīlis maijs jūnijs jūlijs augusts septembris oktobris novembris decembris",
    "jaanuar veebruar märts aprill mai juuni juuli august september oktoober november detsember",
    "gener febrer març abril maig juny juliol agost setembre octubre novembre desembre",
    "januar februar mars april mai juni juli august september oktober november desember",
    "Ιανουάριος Φεβρουάριος Μάρτιος Απρίλιος Μάιος Ιούνιος "
    "Ιούλιος Αύγουστος Σεπτέμβριος Οκτώβριος Νοέμβριος Δεκέμβριος",
    "Ιανουαρίου Φεβρουαρίου Μαρτίου Απριλίου Μαΐου Ιουνίου "
    "Ιουλίου Αυγούστου Σεπτεμβρίου Οκτωβρίου Νοεμβρίου Δεκεμβρίου",
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
    [("accesat la 10.02.2017", True), ("[cit. 2012-05-14]", True), ("2012", False), ("3 May 2012", False)],
)
def test_dates_of_visits(text: str, expected: bool) -> None:
    assert is_visit(text) is expected


@pytest.mark.parametrize(
    ("fields", "edition"),
    [
        ([("date", "³1985")], "3"),
        ([("date", "(1996²).")], "2"),
        ([("date", "51972")], "5"),
        ([("date", "19762,")], "2"),
        ([("date", "1972")], ""),
        ([("date", "51972"), ("edition", "rev. ed.")], "rev. ed."),
    ],
)
def test_editions_beside_the_year(fields: list[tuple[str, str]], edition: str) -> None:
    work = record_of(("title", "On pears"), *fields).work
    assert (work.edition, work.unread) == (edition, ())


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("[updated 2002 May 16; cited 2002 Jul 9]", (("accessed", "updated 2002 May 16"),)),
        ("[cited 2002 Jul 9]", ()),
    ],
)
def test_a_page_that_was_changed_before_the_visit(text: str, unread: tuple[tuple[str, str], ...]) -> None:
    work = record_of(("title", "On pears"), ("accessed", text), ("url", "http://pears.org")).work
    assert work.accessed == Date(((2002, 7, 9),))
    assert work.unread == unread


@pytest.mark.parametrize("text", ["1378/1999", "1378 [1999]", "1420/1999", "2557/2014", "1999/1999"])
def test_one_year_in_two_calendars_is_no_first_edition(text: str) -> None:
    assert split_original(text) is None


def test_thai_years_are_read_in_thai_references() -> None:
    for title, parts in (("การศึกษาไทย", ((2014,),)), ("On pears", ())):
        issued = record_of(("title", title), ("date", "(2557).")).work.issued
        assert issued == Date(parts, literal="2557")


@pytest.mark.parametrize(
    ("texts", "issued", "accessed"),
    [
        (["(2015).", "accesat la 10.02.2017."], Date(((2015,),)), Date(((2017, 2, 10),))),
        (["(2015).", "Apr. 2015"], Date(((2015, 4),)), None),
        (["2015.", "Apr. 2014"], Date(((2015,),)), None),
        (["accesat la 10.02.2017."], Date(((2017, 2, 10),)), None),
        # online before the issue
        (["2015;", "Epub 2014 May 3."], Date(((2015,),)), None),
        (["2015 Jun;", "Published online 3 May 2014."], Date(((2015, 6),)), None),
        (["Epub 2014 May 3."], Date(((2014, 5, 3),), literal="Epub 2014 May 3"), None),
    ],
)
def test_several_dates(texts: list[str], issued: Date, accessed: Date | None) -> None:
    work = record_of(("title", "On pears"), *(("date", text) for text in texts)).work
    assert (work.issued, work.accessed) == (issued, accessed)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("March", True), ("Mai/Juni", True), ("Spring", True), ("May and June", True), ("May 4", False), ("and", False)],
)
def test_months_alone(text: str, expected: bool) -> None:
    assert is_month(text) is expected


def test_months_of_croats() -> None:
    names = "siječnja veljače ožujka travnja svibnja lipnja srpnja kolovoza rujna listopada studenoga prosinca"
    found = [parse_date(f"Pristupljeno 3. {name} 2004.") for name in names.split()]
    assert found == [Date(((2004, k, 3),)) for k in range(1, 13)]


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


PIECES = (
    "1994 MDCXL 1640/41 ³ l 94 95 2003 12 31 0 May März é spring - – / . ( ) ?"
    " c. a 年 月 th in press de , T 1٣ ² ﷺ to ~ 99999999999"
)


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
