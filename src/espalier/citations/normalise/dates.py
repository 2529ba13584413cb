"""A date in any of the usual forms and languages -> years, months and days, a season, "circa".

Words are looked up (months of three dozen languages, seasons of a dozen), numbers are read by where they stand; the two
sides of a dash lend each other what one of them lacks ("12-15 March 2003"). Nothing is guessed: 03/12/2003 may be in
March or in December and is read as 2003, and 2003-04 as 2003, since it may be April or the year 2004; but the only date
of three numbers counts, whatever the words around it are. Years of other calendars are those of the common one: the
26th of Heisei is 2014, and so is 2557 in Thailand; 1378/1999 is one year of Iran. Whatever was not used or is said
otherwise, in full or in part, keeps the text as the date's `literal`: a year of two digits that can be nothing else
(05/21/07; above 30 it is taken for one of the last century), other digits than 0 to 9 (a year of Iran or of the Hijra
in them is only kept), months and years in Roman numerals, a year that is also one of the old style (Jan. 1640/41), a
year with the number of the edition before or behind it, as small print or as what was left of that ("³1985", "19762").
Linear time.
"""

from __future__ import annotations

import calendar
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from espalier.citations.languages import entries, folded, months, other_months, seasons, words
from espalier.citations.normalise.text import collapse, remembered, trim
from espalier.citations.work import Date

__all__ = [
    "edition_beside",
    "first_published",
    "is_month",
    "is_pending",
    "is_undated",
    "is_visit",
    "parse_date",
    "split_original",
    "year_of_thai",
]

_CIRCA = words("circa")
_VISITS = words("accessed") - words("dates")
_BESIDE_OTHER_MONTHS = words("beside_months")
_NOISE = words("dates", "accessed")
"""Words that say nothing about when."""
_UNDATED, _PENDING = (
    frozenset("".join(folded(entry).split()).strip(".") for entry in entries(role)) for role in ("undated", "pending")
)
"""What stands for a date that is not known, or not yet, without blanks and full stops around it."""
_TOKEN = re.compile(r"[0-9]+|[^\W\d_]+|[-‐‑‒–—−]+|[/.~?]|[^\s\w]|\w")
_YEAR_ALONE = re.compile(r"[\s(\[]*(1[0-9]{3}|20[0-9]{2})[\s.,;:)\]]*/?")
_NUMERIC = re.compile(r"(?<![0-9])([0-9]{1,4})([-/.]) ?([0-9]{1,2})\2 ?([0-9]{1,4})(?:T[0-9:.Z+-]+)?(?![0-9])")
_MONTH_AND_YEAR = re.compile(r"(?:(0?[1-9]|1[0-2]) |(0[1-9]|1[0-2])[/.])([0-9]{4})")  # as BibTeX prints them, 05/2021
_DAYS = re.compile(
    r"([0-9]{1,2})\.(?:([0-9]{1,2})\.)? ?[-–—] ?([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})(?![0-9])"
)  # 29.–31.10.2003
_SHORT_YEAR = re.compile(  # 05/21/07 and 30/06/75, but not 03/12/15
    r"(?:(?:0?[1-9]|1[0-2])/(?:1[3-9]|2[0-9]|3[01])/(?=[0-9])"
    r"|(?:0?[1-9]|[12][0-9]|3[01])/(?:0?[1-9]|[12][0-9]|3[01])/(?=3[2-9]|[4-9]))([0-9]{2})"
)
_LAST_OF_THIS_CENTURY = 30
_EASTERN_DIGITS = {code + k: str(k) for code in (0x660, 0x6F0) for k in range(10)}
_HIJRA = 1500  # years before it, in these digits, are of Iran or of the Hijra, and nothing says which
_OTHER_DIGITS = _EASTERN_DIGITS | {code + k: str(k) for code in (0x966, 0x9E6, 0xE50) for k in range(10)}
_COPYRIGHT = re.compile(r"\b[cC](?=[0-9]{4})")
# Of a description by GOST or ISBD: 2003. — 320 с.; behind a bracket: (1982)— ...
_BETWEEN_AREAS = re.compile(r"(?<=[0-9.\])])\. ?[–—]\s*$|(?<=\)) ?—\s*$")
_OPEN = re.compile(r"[-‐–—][\s.,;)\]]*$")
_EASTERN = re.compile(r"(?<![0-9])([0-9]{4}) ?[年년](?: ?([0-9]{1,2}) ?[月월](?: ?([0-9]{1,2}) ?[日일])?)?")
_VIETNAMESE = re.compile(
    r"(?:ngày ([0-9]{1,2}),? )?tháng ([0-9]{1,2})(?:,? năm | ?[-/] ?)([0-9]{4})(?![0-9])", re.IGNORECASE
)
_LITHUANIAN = re.compile(r"(?<=[0-9]) (?:m\.(?= [^\W\d_])|d\b)")  # 2012 m. gegužės 5 d.
_ELIDED = re.compile(r"\bd['’](?=[^\W\d_])", re.IGNORECASE)  # 12 d'abril
# The first year of an era, less one: of Japan's emperors, and of the Republic of China.
_ERAS = {"明治": 1867, "大正": 1911, "昭和": 1925, "平成": 1988, "令和": 2018, "民國": 1911, "民国": 1911}
_ERA = re.compile(
    rf"({'|'.join(_ERAS)}) ?([0-9]{{1,2}}|1[0-9]{{2}}|元) ?年(?: ?([0-9]{{1,2}}) ?月(?: ?([0-9]{{1,2}}) ?日)?)?"
)
_ROMAN_MONTH = re.compile(
    r"(?<![0-9])([0-9]{1,2})([-./ ] ?)(I{1,3}|I?V|VI{1,3}|I?X|XI{1,2})(?:\2|\. )([0-9]{4})(?![0-9])"
)
_ROMAN_YEAR = re.compile(r"M(?:[. ]?[MDCLXVI]){2,14}\.?", re.IGNORECASE)
_ROMAN_MONTHS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII")
_ROMAN_SIGNS = {"M": 1000, "D": 500, "C": 100, "L": 50, "X": 10, "V": 5, "I": 1}
_PRINTED = range(1450, 2030)  # years of books
# Before 1753 the year began in March in England, and January to March belong to two years.
_OLD_STYLE = re.compile(r"(?<![0-9])(1[0-7][0-9]{2}) ?/ ?([0-9]{1,2}|1[0-7][0-9]{2})(?![0-9])")
_NEW_STYLE = 1753
_MISREAD = re.compile(r"(?:[lIi]|1 )([5-9g])([0-9]{2})[a-z]?")  # l960, ig60, 1 960
_EDITION_BESIDE = re.compile(
    r"[\s(\[]*(?:(?:([¹²³⁴-⁹][⁰¹²³⁴-⁹]?)|([2-9]))(1[5-9][0-9]{2}|20[0-2][0-9])"
    r"|(1[5-9][0-9]{2}|20[0-2][0-9])(?:([¹²³⁴-⁹][⁰¹²³⁴-⁹]?)|([2-9])))[\s.,;:)\]]*"
)
_THAI = 543  # years between the eras of Thailand and of the West
_THAI_YEAR = re.compile(r"พ\.? ?ศ\.? ?([0-9]{4})(?![0-9])")
_YEARS = range(1000, 2200)
_YEARS_OF_HIJRA = range(1200, 1450)
_YEARS_OF_THAI = range(2400, 2600)
_ORDINALS = frozenset(word for word in words("suffixes") if len(word) > 1)
_Word: TypeAlias = "str | tuple[str, int]"
"""Digits or what was not understood; or ("month", 3), ("season", 1)."""
_BETWEEN = frozenset({"-", "/"}) | words("between")
_BETWEEN_MONTHS = _BETWEEN | {"&"} | words("and")
_LONGEST_PENDING = 40  # characters
_ENDS = frozenset("()[]{}.,;:'\"“”‘’©<>*。，、")


@dataclass(frozen=True)
class _Side:
    """What one side of a dash says; `spare` if there was something that it could not say."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    season: int | None = None
    spare: bool = False

    def completed(self, other: _Side) -> _Side:
        """Borrow the year, and for a day alone the month, from the other side."""
        year = other.year if self.year is None else self.year
        month = other.month if self.month is None and self.day is not None else self.month
        return replace(self, year=year, month=month)

    def parts(self) -> tuple[int, ...]:
        """Return (year, month, day) as far as it is known and there is such a day; () without a year."""
        if self.year is None:
            return ()
        if self.month is None or not 1 <= self.month <= 12:
            return (self.year,)
        if self.day is None:
            return (self.year, self.month)
        exists = 1 <= self.day <= calendar.monthrange(self.year, self.month)[1]
        return (self.year, self.month, self.day) if exists else (self.year,)

    def is_told_by(self, parts: tuple[int, ...]) -> bool:
        """Tell whether the parts say all that was read here."""
        return not self.spare and len(parts) == sum(x is not None for x in (self.year, self.month, self.day))


@remembered(longest=24)
def parse_date(text: str) -> Date | None:
    """Return the date that a text names, None if there is nothing but punctuation.

    The literal is kept, without punctuation around it, wherever the rest does not say all of it: "1994a", "in press".
    """
    if found := _YEAR_ALONE.fullmatch(text):
        return Date(((int(found[1]),),))
    if not any(map(str.isalnum, text)):
        return None
    text = _BETWEEN_AREAS.sub("", text)
    plain = _COPYRIGHT.sub("©", unicodedata.normalize("NFKC", collapse(text)))
    if not plain.isascii() and (usual := plain.translate(_OTHER_DIGITS)) != plain:
        if (date := parse_date(usual)) is None:
            return None
        eastern = plain != plain.translate(_EASTERN_DIGITS) and any(end and end[0] < _HIJRA for end in date.parts)
        return Date((), literal=_literal(text)) if eastern else replace(date, literal=_literal(text))
    if (date := _other_calendar(plain)) is not None:
        return replace(date, literal=_literal(text))
    bare, told = _without_words(plain)
    if (date := _numeric(bare.strip(" ()[].,;:。"))) is not None:
        return replace(date, literal=_literal(text)) if date.literal or not told else date
    plain = _ELIDED.sub("", _LITHUANIAN.sub("", plain))
    read, circa = _read(_TOKEN.findall(plain))
    if "/" in plain and (parts := _new_style(plain)):
        return Date(parts, literal=_literal(text), circa=circa)
    parts, season, told = _range(_sides(read))
    if told:
        return Date(parts, season, "", circa)
    return Date(_otherwise(text, plain, parts) or parts, season, _literal(text), circa)


def _otherwise(text: str, plain: str, parts: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
    """Return what a date says in Roman numerals, beside an edition, or not quite in digits; () for any other.

    parts : what was read without that.
    """
    if len(parts) == 1 and len(parts[0]) == 1 and (found := _ROMAN_MONTH.search(plain)):
        return (_Side(int(found[4]), _ROMAN_MONTHS.index(found[3]) + 1, int(found[1])).parts(),)
    if parts:
        return ()
    if beside := edition_beside(text):
        return ((int(beside[1]),),)
    bare = trim(plain)
    year = _year_of_numeral(bare) if _ROMAN_YEAR.fullmatch(bare) else 0
    if misread := _MISREAD.fullmatch(bare):
        year = int(f"1{misread[1]}{misread[2]}".replace("g", "9"))
    return ((year,),) if year in _PRINTED else ()


def _new_style(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the date of the new style that "20 Jan. 1640/41" is, 1641; () for any other."""
    found = _OLD_STYLE.search(text)
    if not found or int(found[1]) >= _NEW_STYLE:
        return ()
    year = int(found[1]) + 1
    read, _ = _read(_TOKEN.findall(f"{text[: found.start()]} {year} {text[found.end() :]}"))
    side = _side(read)
    known = not side.spare and side.month is not None and side.month <= 3
    return (side.parts(),) if known and str(year).endswith(found[2]) else ()


def _year_of_numeral(text: str) -> int:
    """Return the year of a Roman numeral, with four equal signs in a row or not; 0 where the signs go up and down."""
    values = [_ROMAN_SIGNS[sign] for sign in text.upper() if sign in _ROMAN_SIGNS]
    year, highest = 0, 0
    for value in reversed(values):
        if value < highest and highest > 10 * value:
            return 0
        year += value if value >= highest else -value
        highest = max(highest, value)
    return year


def edition_beside(text: str) -> tuple[str, str] | None:
    """Return the edition and the year of a date that is both and nothing else: "³1985", "1996²", "51972"; else None."""
    found = _EDITION_BESIDE.fullmatch(text)
    if not found:
        return None
    edition = found[1] or found[2] or found[5] or found[6]
    return unicodedata.normalize("NFKC", edition), found[3] or found[4]


def is_pending(text: str) -> bool:
    """Tell whether a text says only that there is no date, or none yet: "in press", "n.d."."""
    return _is_one_of(text, _PENDING | _UNDATED)


def is_undated(text: str) -> bool:
    """Tell whether a text says only that a work has no date: "n.d."."""
    return _is_one_of(text, _UNDATED)


def _is_one_of(text: str, known: frozenset[str]) -> bool:
    return len(text) <= _LONGEST_PENDING and "".join(folded(trim(text)).split()).strip(".") in known


@remembered(longest=24)
def is_visit(text: str) -> bool:
    """Tell whether a date has words of a visit: "accesat la 10.02.2017"."""
    return any(folded(word) in _VISITS for word in _WORD.findall(text))


def is_month(text: str) -> bool:
    """Tell whether a text is a month or season, or several, and nothing else."""
    read, _ = _read(_TOKEN.findall(text))
    return any(isinstance(word, tuple) for word in read) and all(
        isinstance(word, tuple) or word in _BETWEEN_MONTHS for word in read
    )


_FIRST = words("originals")
_AGAIN = words("again")
_LONGEST_ORIGINAL = 80  # characters
_WORD = re.compile(r"\w+")
_WORD_OR_YEAR = re.compile(r"[0-9]{4}(?![0-9])|[0-9]*[^\W\d]+|[0-9]+")  # published1892
_TWO_YEARS = re.compile(r"\D*?([0-9]{4})[a-z]?\b\D+?\b([0-9]{4})[a-z]?\b\D*")


def split_original(text: str) -> tuple[Date, Date] | None:
    """Return the date of this edition and that of the first: "1990 (zuerst 1962)", "1988 [1934]", "1923/1999".

    None for anything else: there must be two years, with a bracket, a stroke or a word for it, and nothing more.
    """
    found = _TWO_YEARS.fullmatch(text) if len(text) <= _LONGEST_ORIGINAL else None
    if not found:
        return None
    years = sorted((int(found[1]), int(found[2])))
    between = text[found.end(1) : found.start(2)]
    around = [folded(word) for word in _WORD.findall(text) if not word[:1].isdigit()]
    if _is_one_year(*years) or any(year not in _YEARS for year in years) or not _FIRST.issuperset(around):
        return None
    marked = (
        bool(around)
        or any(sign in between for sign in "[](){}")
        or (between.strip() == "/" and years[1] - years[0] > 1)
    )
    return (Date(((years[1],),)), Date(((years[0],),))) if marked else None


def first_published(text: str) -> Date | None:
    """Return the date of the first edition that a note names and nothing else: "Original work published 1965"."""
    if len(text) > _LONGEST_ORIGINAL:
        return None
    said = [folded(word) for word in _WORD_OR_YEAR.findall(text)]
    years = [word for word in said if _is_year(word)]
    others = [word for word in said if word not in years]
    if len(years) != 1 or not others or not _FIRST.issuperset(others) or _AGAIN.issuperset(others):
        return None
    return Date(((int(years[0]),),))


def _literal(text: str) -> str:
    return trim(text) + ("-" if _OPEN.search(text[-8:]) else "")  # 1994-, and who knows until when


def _numeric(text: str) -> Date | None:
    """Read a date of three numbers, of Chinese or Korean signs, or of Vietnamese words; None if it is none of these."""
    if found := _EASTERN.fullmatch(text):
        year, month, day = (int(number) if number else None for number in found.groups())
    elif found := _VIETNAMESE.fullmatch(text):
        year, month, day = (int(number) if number else None for number in reversed(found.groups()))
    elif found := _MONTH_AND_YEAR.fullmatch(text):
        year, month, day = int(found[3]), int(found[1] or found[2]), None
    elif found := _SHORT_YEAR.fullmatch(text):  # of which only the year is certain
        return Date(((int(found[1]) + (1900 if int(found[1]) > _LAST_OF_THIS_CENTURY else 2000),),), literal=text)
    elif found := _DAYS.fullmatch(text):
        return _days(*(int(number) if number else None for number in found.groups()))
    elif found := _NUMERIC.fullmatch(text):
        first, sign, second, third = found.groups()
        if len(first) == 4 and len(third) <= 2:
            year, month, day = int(first), int(second), int(third)
        elif len(third) == 4 and len(first) <= 2:
            year, month, day = int(third), int(second), int(first)
            if sign != "." and day != month and day <= 12:
                # The day comes second in America, first elsewhere; here only a number above 12 would tell.
                month, day = (month, day) if month > 12 else (0, 0)
            if month > 12:
                month, day = day, month
        else:
            return None
    else:
        return None
    if year not in _YEARS:
        return Date(literal=text)
    side = _Side(year, month, day)
    parts = side.parts()
    return Date((parts,), literal="" if side.is_told_by(parts) else text)


def _days(first: int | None, month: int | None, *last: int | None) -> Date | None:
    """Return the days from the first, of the month of the last where it has none, to the last; None if none."""
    sides = [_Side(last[2], month or last[1], first), _Side(last[2], last[1], last[0])]
    ends = [side.parts() for side in sides]
    return Date(tuple(ends)) if len(ends[0]) == len(ends[1]) == 3 and ends[0] < ends[1] else None


def _without_words(text: str) -> tuple[str, bool]:
    """Return the only date of numbers in a text, and whether the words around it say nothing; else the text itself."""
    found = _NUMERIC.search(text)
    if found is None and not text.isascii():
        found = _EASTERN.search(text) or _VIETNAMESE.search(text)
    if found is None or found.end() - found.start() == len(text):
        return text, True
    before, after = text[: found.start()], text[found.end() :]
    if any(map(str.isdigit, before + after)):
        return text, True
    around = _TOKEN.findall(f"{before} {after}")
    return found[0], all(token in _ENDS or folded(token) in _NOISE for token in around)


def _other_calendar(text: str) -> Date | None:
    """Read the year of an emperor, of Thailand, or one that is said in two calendars; None if it is none of these."""
    if not text.isascii() and (found := _ERA.search(text)):
        number, month, day = (1 if part == "元" else int(part) if part else None for part in found.groups()[1:])
        return Date((_Side(_ERAS[found[1]] + (number or 0), month, day).parts(),))
    if not text.isascii() and (found := _THAI_YEAR.search(text)):
        return year_of_thai(found[1])
    found = _TWO_YEARS.fullmatch(text) if len(text) <= _LONGEST_ORIGINAL else None
    years = sorted((int(found[1]), int(found[2]))) if found else []
    if not years or years[0] == years[1] or not _is_one_year(*years):
        return None
    return Date(((years[0 if years[1] > _YEARS_OF_THAI[0] else 1],),))


def year_of_thai(text: str) -> Date | None:
    """Return the year of a text that is one of the Thai calendar and nothing else, else None: 2557 is 2014."""
    plain = trim(text)
    year = int(plain) if len(plain) == 4 and _is_number(plain) else 0
    return Date(((year - _THAI,),), literal=plain) if year in _YEARS_OF_THAI else None


def _is_one_year(first: int, second: int) -> bool:
    """Tell whether two years, the smaller first, are one: in two calendars, or the same.

    Of two calendars are 1378/1999 of Iran, 1420/1999 of the Hijra, whose years have eleven days less, and 2014/2557.
    """
    if first == second or (second in _YEARS_OF_THAI and second - first == _THAI):
        return True
    if first not in _YEARS_OF_HIJRA:
        return False
    return second - first in (621, 622) or abs(int(first * 0.970224 + 621.57) - second) <= 1


def _read(tokens: Sequence[str]) -> tuple[list[_Word], bool]:
    """Look up months and seasons, leave out noise, find "circa"; digits and what is not understood stay as they are."""
    found: list[_Word] = []
    names, others = months(), other_months()
    circa = False
    for k, token in enumerate(tokens):
        low = folded(token)
        before = tokens[k - 1] if k else ""
        if month := names.get(low):
            told = low in others and any(folded(other) in _BESIDE_OTHER_MONTHS for other in tokens)
            found.append(("month", others[low] if told else month))
        elif season := seasons().get(low):
            found.append(("season", season))
        elif token in "~?" or (low in _CIRCA and (len(low) > 1 or (k + 1 < len(tokens) and not before.isdigit()))):
            circa = True
        elif low in _NOISE or token in _ENDS or (low in _ORDINALS and before.isdigit()):
            continue
        else:
            found.append("-" if token.strip("-‐‑‒–—−") == "" else token)
    return found, circa


def _sides(read: Sequence[_Word]) -> list[_Side]:
    """Cut at the dash or stroke, and read each side; several dashes cannot be read, so that all is one side."""
    cuts = [k for k, word in enumerate(read) if word in _BETWEEN]
    if len(cuts) != 1:
        return [_side(read)]
    (k,) = cuts
    sign = str(read[k])
    left, right = read[:k], read[k + 1 :]
    if len(left) == len(right) == 1 and _is_year(left[0]) and isinstance(right[0], str):
        second = _second_year(int(str(left[0])), right[0], sign)
        return [_side(left), second] if second.month is None else [second]
    sides = [_side(left), _side(right)]
    if sides[0] == _Side(sides[0].year) and sides[1].year is None and sides[1].month is not None:
        return [_side([*left, *right])]  # 2003-May
    return sides


def _is_year(word: _Word) -> bool:
    return isinstance(word, str) and _is_number(word) and int(word) in _YEARS


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 4


def _second_year(first: int, word: str, sign: str) -> _Side:
    """Read the 95 of 1994-95 as 1995 and the 05 of 2019-05 as May, if only one of the two can be meant."""
    if not _is_number(word):
        return _side([word])
    second = int(word)
    if len(word) > 2:
        together = sign != "/" or second == first + 1  # 1923/1999 is a reprint
        return _Side(second) if second in _YEARS and together else _Side(spare=True)
    base = 10 ** len(word)
    year = first - first % base + second
    year += base if year == first + 1 - base else 0  # 1999-00
    month = 1 <= second <= 12 and sign == "-"
    if (year > first) == month:
        return _Side(spare=True)
    return _Side(first, second) if month else _Side(year)


def _side(read: Iterable[_Word]) -> _Side:
    """Take the first year, month, season and day; anything more is spare."""
    found: dict[str, int] = {}
    spare, before = False, ""
    for word in read:
        if isinstance(word, tuple):
            kind, value = word
        else:
            value = int(word) if _is_number(word) else 0
            kind = "year" if value in _YEARS else "day" if 1 <= value <= 31 else ""
        page = kind == "day" and before == "year" and "month" in found  # September 1994. 9
        if kind and kind not in found and not page:
            found[kind] = value
        else:
            spare = True
        before = kind
    return _Side(found.get("year"), found.get("month"), found.get("day"), found.get("season"), spare)


def _range(sides: Sequence[_Side]) -> tuple[tuple[tuple[int, ...], ...], int | None, bool]:
    """Return the parts, the season, and whether they tell all of it."""
    season = next((side.season for side in sides if side.season is not None), None)
    if len(sides) == 1:
        parts = sides[0].parts()
        return ((parts,) if parts else ()), season, bool(parts) and sides[0].is_told_by(parts)
    left, right = sides
    full = [left.completed(right), right.completed(left)]
    ends = [side.parts() for side in full]
    empty = right == _Side() or left == _Side()
    if not empty and ends[0] and ends[1] and ends[0] < ends[1] and left.season is right.season is None:
        return tuple(ends), season, all(side.is_told_by(end) for side, end in zip(full, ends, strict=True))
    years = [(side.year,) for side in sides if side.year is not None]
    return tuple(years[:1]), season, False
