"""Formats that other tools read: one module for each, with a row that says all there is to know about it.

    from espalier.citations.formats import write

    with open("refs.bib", "w", encoding="utf-8") as file:
        file.writelines(write(parser.parse_many(lines), "bibtex"))

Every module of this package is a format of the same name. It declares its row as `FORMAT`, an `OutputFormat`. Python,
the command line, the workbench and `espalier run` read the rows from `FORMATS` and know nothing else of any format: a
new format is a new module here. Memory does not grow with the file, but for the keys given so far (`Keys`). Text is to
be written as UTF-8.

What several formats share is here, too: clean lines, URIs, names, dates and pages as text, JSON, and keys.

A format made of lines or of XML cannot carry every string. `clean` is the documented loss of all of them: a run of
white space becomes one space, and what no such file may hold (control characters, lone surrogates, non-characters)
becomes U+FFFD, the replacement character. JSON needs no such thing and keeps every character.

A key is family name, year (with the letter of "2004a") and first title word, unique within a run:

    keys = Keys()
    keys(work)      # 'andersen1994program'
    keys(work)      # 'andersen1994programa', then '...b', ..., '...z', '...aa'

It holds only a-z and 0-9 and begins with a letter, so it is a BibTeX key, an XML id and a CSL id. Accents fall off
(Müller: muller), letters that do not decompose are spelt out (Søren: soren, Strauß: strauss), Cyrillic and Greek ones
in Latin (Иванов: ivanov). A name in another script gives its first signs as they sound (김: gim, 王: wang, やまだ:
yamada) or, where nothing tells how, their numbers (u5c71); so does a title where there is no name. An empty key is
'ref'. Leading articles of titles are passed over. Memory: a fingerprint of every key given so far, which uniqueness
costs. An entry that was read from a bibliography keeps the key that it has there, without what would end it in BibTeX.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from espalier.citations.work import Name
from espalier.errors import InputError, nearest

if TYPE_CHECKING:
    from espalier.citations.bibliographies import Entry
    from espalier.citations.record import Record
    from espalier.citations.work import Date, Pages, Work

__all__ = [
    "FORMATS",
    "KEEPS",
    "SEASONS",
    "Keys",
    "OutputFormat",
    "clean",
    "edtf",
    "format_of_file",
    "get_format",
    "inverted",
    "is_range",
    "iso",
    "left_over",
    "page_range",
    "stem",
    "stem_of",
    "to_json",
    "uri",
    "with_short_names",
    "write",
    "xml_attribute",
    "xml_text",
    "year_suffix",
]

KEEPS = ("text", "places", "confidences", "alternatives", "source")
"""What a format may keep besides the normal form: the reference itself, where each field stands in it, how sure each
is, the other readings, and the place in the file that the reference was read from (an option `source` of `entry`)."""


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """A row of the table of formats.

    Parameters
    ----------
    name : that of its module.
    summary : what it is, in a few words.
    extensions : names of files that are written in this format if nobody says otherwise; the first is that of a
        download. No two formats have the same one; a format without is chosen by name.
    media_type : what a server calls it.
    accepted : the media types that a client may ask for it by; None is `media_type` alone. No two formats have the
        same one; a format without is asked for by name. If `media_type` is not among them, the first is the answer's.
    entry : a function (record, key, **options) that returns the text of one record.
    head, between, tail : the text before the first entry, between two of them, and after the last.
    empty : the text of a file without entries; by default head and tail.
    keyed : does an entry hold a key? Otherwise `entry` is given "".
    keeps : which of `KEEPS`.
    options : names of the format's own options.
    fit_key : turns a key that an entry of a bibliography brought along into one that the format can hold.
    """

    name: str
    summary: str
    extensions: tuple[str, ...]
    media_type: str
    entry: Callable[..., str]
    head: str = ""
    between: str = ""
    tail: str = ""
    empty: str | None = None
    keyed: bool = True
    keeps: frozenset[str] = frozenset()
    options: frozenset[str] = frozenset()
    fit_key: Callable[[str], str] = str
    accepted: tuple[str, ...] | None = None

    def asked_as(self) -> tuple[str, ...]:
        """Return the media types that a client may ask for this format by."""
        return (self.media_type,) if self.accepted is None else self.accepted

    def join(self, entries: Iterable[str]) -> Iterator[str]:
        """Yield the text of a file with these entries, piece by piece."""
        before, end = self.head, self.head + self.tail if self.empty is None else self.empty
        for text in entries:
            yield before + text
            before, end = self.between, self.tail
        yield from [end] if end else []


class _Formats(Mapping[str, OutputFormat]):
    """The formats by name; a module is imported when its row is first asked for."""

    def __getitem__(self, name: str) -> OutputFormat:
        if name not in _names():
            raise KeyError(name)
        return _row(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_names())

    def __len__(self) -> int:
        return len(_names())


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(module.name for module in iter_modules(__path__)))


@cache
def _row(name: str) -> OutputFormat:
    found: OutputFormat = import_module(f"espalier.citations.formats.{name}").FORMAT
    return found


FORMATS: Mapping[str, OutputFormat] = _Formats()


def get_format(name: str) -> OutputFormat:
    """Return the row of a format; a name that is none is an `InputError`."""
    try:
        return FORMATS[name]
    except KeyError:
        known = ", ".join(FORMATS)
        hint = f"{nearest(name, FORMATS)} (there are: {known})".strip()
        raise InputError(f"{name!r} is no format of references", hint=hint) from None


def format_of_file(name: str) -> OutputFormat | None:
    """Return the format whose extension a file's name has, the longest if there are several; None without one."""
    fits = [(len(end), row.name) for row in FORMATS.values() for end in row.extensions if name.lower().endswith(end)]
    return FORMATS[max(fits)[1]] if fits else None


def with_short_names() -> list[str]:
    """Return the names of all formats, and beside each, where it is another, the shortest end of its files' names."""
    short = {row.name: min(row.extensions, key=len).removeprefix(".") for row in FORMATS.values()}
    return [name if end in (name, f"{name}.xml") else f"{name} ({end})" for name, end in short.items()]


def write(
    records: Iterable[Record | Entry],
    format: str | OutputFormat,
    *,
    keys: Keys | None = None,
    newline: str = "\n",
    **options: Any,
) -> Iterator[str]:
    r"""Return the records as the text of a file, piece by piece.

    Parameters
    ----------
    records : of a parser, or entries of a bibliography; taken one at a time, as pieces are asked for.
    format : a name of `FORMATS`, or a row of your own.
    keys : goes on from an earlier run, so that keys of two files differ.
    newline : what ends a line.
    options : the format's own, for example `safe` of csv.

    Returns
    -------
    Pieces of text; together they are the file.

    Raises
    ------
    InputError
        For a name that is no format and an option that the format does not have, at once.

    Examples
    --------
    >>> from espalier.citations.record import Field, Record
    >>> record = Record("Wires", (Field("title", "Wires", 0, 5, 1.0),), 1.0)
    >>> "".join(write([record], "csl"))
    '[\n{"id": "wires", "type": "document", "title": "Wires"}\n]\n'
    """
    if not isinstance(records, Iterable):
        raise InputError("write takes an iterable of records", hint="wrap a single one in [ ]")
    row = get_format(format) if isinstance(format, str) else format
    for name in options:
        if name not in row.options:
            has = nearest(name, row.options, f"it has {', '.join(sorted(row.options)) or 'none'}")
            raise InputError(f"the format {row.name!r} has no option {name!r}", hint=has)
    given = keys or Keys()
    pieces = row.join(
        row.entry(record, given.unique(row.fit_key(stem_of(record))) if row.keyed else "", **options)
        for record in records
    )
    return pieces if newline == "\n" else (piece.replace("\n", newline) for piece in pieces)


# What several formats share.

SEASONS = ("Spring", "Summer", "Autumn", "Winter")

# Not white space (gone before this runs) and not allowed in XML 1.0, or a control character that it only discourages.
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# What RFC 3986 keeps out of a URI; letters outside ASCII stay, as in an IRI.
_NOT_IN_URI = re.compile(r"[ \"<>\\^`{|}]")
# Lone surrogates have no UTF-8, and a reader of lines may break a line at the other three.
_ESCAPED_IN_JSON = re.compile("[\ud800-\udfff\x85\u2028\u2029]")

_YEAR_SUFFIX = re.compile(r"\b([0-9]{4}) ?([a-z])\b")

# Between pages: what separates several ranges, and a dash inside one.
_SEVERAL = re.compile(r"[,;&+]")
_DASH = re.compile(r"(?<=\w) ?[-–—]+ ?(?=\w)")


def clean(text: str) -> str:
    """Return the text on one line, single-spaced and trimmed, with U+FFFD for what no line or XML file may hold."""
    if text.isprintable():  # so spaces are its only white space, and there is nothing that no file may hold
        return " ".join(text.split()) if "  " in text or text[:1] == " " or text[-1:] == " " else text
    return _UNFIT.sub("\ufffd", " ".join(text.split()))


def uri(text: str) -> str:
    """Return a cleaned URL or DOI with percent escapes for what a URI may not hold (spaces, braces, quotes ...)."""
    return _NOT_IN_URI.sub(lambda m: f"%{ord(m[0]):02X}", clean(text)) if text else ""


def xml_text(text: str) -> str:
    """Return cleaned text as it stands in XML."""
    return clean(text).replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")


def xml_attribute(text: str) -> str:
    """Return cleaned text as the value of an attribute in XML, in the quotes that it does not hold."""
    value = xml_text(text)
    if '"' not in value:
        return f'"{value}"'
    return f"'{value}'" if "'" not in value else '"' + value.replace('"', "&quot;") + '"'


def to_json(value: Any) -> str:
    """Return JSON that keeps every character, is valid UTF-8 and is one line to any reader."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if text.isascii():  # which none of them is
        return text
    return _ESCAPED_IN_JSON.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def inverted(name: Name) -> str:
    """Return 'van der Berg, Jan, Jr': particle and family, given, suffix; a literal name as it is."""
    if name.literal:
        return clean(name.literal)
    last = clean(f"{name.particle} {name.family}")
    return ", ".join(part for part in (last, clean(name.given), clean(name.suffix)) if part)


def iso(parts: tuple[int, ...]) -> str:
    """Return (1994, 5, 2) as '1994-05-02', a prefix as '1994-05' or '1994'."""
    return "-".join(f"{part:0{width}d}" for part, width in zip(parts, (4, 2, 2), strict=False))


def edtf(date: Date | None) -> str:
    """Return a date as EDTF (ISO 8601-2): '1994-05', '1994/1996', '1850~' (circa), '1999-21' (spring); else as read."""
    if date is None:
        return ""
    if not date.parts:
        return clean(date.literal)
    season = f"-{20 + date.season}" if date.season and len(date.parts[0]) == 1 else ""
    return "/".join(iso(parts) + season + ("~" if date.circa else "") for parts in date.parts)


def year_suffix(date: Date | None) -> str:
    """Return the letter that tells works of one year apart: 'a' of '2004a'; '' if there is none."""
    if date is None or not date.literal or not date.parts:
        return ""
    found = _YEAR_SUFFIX.search(date.literal)
    return found[2] if found and int(found[1]) == date.parts[0][0] else ""


def left_over(work: Work) -> str:
    """Return the text of dates that say more than their parts do, and what was not read, each after its label."""
    dates = (("date", work.issued), ("accessed", work.accessed))
    pairs = [(label, date.literal) for label, date in dates if date and date.literal and date.parts]
    return "; ".join([f"{label}: {text}" for label, text in (*pairs, *work.unread)])


def is_range(pages: Pages) -> bool:
    """Say whether the pages are one range and nothing else."""
    return bool(pages.first and pages.last) and not _SEVERAL.search(pages.text)


def page_range(pages: Pages, dash: str) -> str:
    """Return the first and last page around a dash; several ranges as they were read, with that dash; else the text."""
    if is_range(pages):
        return f"{clean(pages.first)}{dash}{clean(pages.last)}"
    text = clean(pages.text or pages.first)
    return _DASH.sub(dash, text) if _SEVERAL.search(text) else text


_LATIN = {
    **{"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"},
    **dict(zip("абвгдезийклмнопрстуфыэіґћђј", "abvgdeziiklmnoprstufyeigcdj", strict=True)),
    **{"є": "ie", "љ": "lj", "њ": "nj", "џ": "dz"},
    **{"ё": "e", "ж": "zh", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ю": "yu", "я": "ya", "ї": "i"},
    **dict(zip("αβγδεζηικλμνξοπρσςτυφω", "avgdeziiklmnxoprsstyfo", strict=True)),
    **{"θ": "th", "χ": "ch", "ψ": "ps"},
}
_SPELT = str.maketrans(_LATIN)
_ARTICLES = frozenset(
    (
        *("a", "an", "the", "der", "die", "das", "ein", "eine", "le", "la", "les", "un", "une", "el", "los", "las"),
        *("il", "lo", "gli", "o", "os", "as", "de", "het", "een"),
    )
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_NO_KEY = re.compile(r"[^a-zA-Z0-9]+")
_LONGEST = 40


def _ascii(text: str) -> str:
    """Return the letters a-z and digits of a text, in lower case and without accents."""
    low = text.lower()
    if not low.isascii():
        low = unicodedata.normalize("NFKD", low.translate(_SPELT)).translate(_SPELT)
    return low if low.isascii() and low.isalnum() else _NO_KEY.sub("", low)


# The commonest Chinese family names, whose signs have no letters that Unicode tells.
_PINYIN = {
    sign: sound
    for sound, signs in (
        *(("wang", "王汪"), ("li", "李"), ("zhang", "张張"), ("liu", "刘劉"), ("chen", "陈陳"), ("yang", "杨楊")),
        *(("huang", "黄黃"), ("zhao", "赵趙"), ("wu", "吴吳"), ("zhou", "周"), ("xu", "徐许許"), ("sun", "孙孫")),
        *(("ma", "马馬"), ("zhu", "朱"), ("hu", "胡"), ("guo", "郭"), ("he", "何"), ("lin", "林"), ("gao", "高")),
        *(("luo", "罗羅"), ("zheng", "郑鄭"), ("liang", "梁"), ("xie", "谢謝"), ("song", "宋"), ("tang", "唐")),
        *(("deng", "邓鄧"), ("feng", "冯馮"), ("han", "韩韓"), ("cao", "曹"), ("zeng", "曾"), ("peng", "彭")),
        *(("xiao", "萧肖"), ("cai", "蔡"), ("pan", "潘"), ("dong", "董"), ("yuan", "袁"), ("yu", "于余")),
        ("ye", "叶葉"),
        *(("jiang", "蒋蔣姜"), ("du", "杜"), ("su", "苏蘇"), ("wei", "魏"), ("cheng", "程"), ("lu", "吕呂卢盧陆陸")),
        *(("ding", "丁"), ("shen", "沈"), ("ren", "任"), ("yao", "姚"), ("fu", "傅"), ("zhong", "钟鐘"), ("cui", "崔")),
        *(("tan", "谭譚"), ("liao", "廖"), ("fan", "范"), ("jin", "金")),
    )
    for sign in signs
}
_SYLLABLE = re.compile(r"(?:HANGUL SYLLABLE|(?:HIRAGANA|KATAKANA) LETTER(?: SMALL)?) ([A-Z]+)")
_LETTER = re.compile(r"[A-Z]+ LETTER ([A-Z])")
_SIGNS = 4  # of a name without spaces, in a key


def _sounded(text: str) -> str:
    """Return letters a-z for a word in a script that is not spelt out in `_LATIN`; a Chinese sign may be its number.

    Syllables of Korea and Japan are in their names in Unicode, and letters of the Near East and of India begin the
    names of theirs.
    """
    word = next(iter(_WORD.findall(text)), "")
    if word[:1] in _PINYIN:
        return _PINYIN[word[0]]
    told = []
    for sign in word[:_SIGNS]:
        name = unicodedata.name(sign, "")
        found = _SYLLABLE.match(name) or _LETTER.match(name)
        told.append(found[1].lower() if found else f"u{ord(sign):x}" if sign.isalpha() else "")
    return "".join(told)


def _title_word(title: str) -> str:
    """Return the first word that is no article, else the first."""
    first = ""
    for found in _WORD.finditer(title):
        word = _ascii(found[0])
        if word and word not in _ARTICLES:
            return word
        first = first or word
    return first


def stem(work: Work) -> str:
    """Return the key of a work before it is made unique; without a name the title word comes before the year."""
    people = work.authors or work.editors or work.translators
    first = people[0] if people else Name()
    family = (
        _ascii(first.family) or _title_word(first.literal or first.given) or _sounded(first.family or first.literal)
    )
    year = str(abs(work.issued.parts[0][0])) + year_suffix(work.issued) if work.issued and work.issued.parts else ""
    title = work.title or work.container_title
    word = _title_word(title)[:_LONGEST] or ("" if family else _sounded(title))
    key = family[:_LONGEST] + year + word if family else word + year
    return key if key[:1].isalpha() else "ref" + key


# What BibTeX takes for the end of a key, or for something else than a key.
_NOT_IN_KEY = re.compile(r"[\s,{}\"#%'()=~\\]+")


def stem_of(record: Record | Entry) -> str:
    """Return the key of a record before it is made unique; an entry of a bibliography keeps the one it has there."""
    own = _NOT_IN_KEY.sub("", clean(getattr(record, "key", "")))
    return own or stem(record.work)


class Keys:
    """Gives every work of a run a key of its own: the stem, then the stem and a, b, ..., z, aa, ab, ..."""

    def __init__(self) -> None:
        """Start with no key given."""
        self._given: set[int] = set()
        self._next: dict[str, int] = {}

    def __call__(self, work: Work) -> str:
        """Return a key that no earlier call returned."""
        return self.unique(stem(work))

    def unique(self, start: str) -> str:
        """Return the key of a work with this stem; no earlier call returned it."""
        key = start
        while (fingerprint := _fingerprint(key)) in self._given:
            number = self._next[start] = self._next.get(start, 0) + 1
            key = start + _letters(number)
        self._given.add(fingerprint)
        return key


def _fingerprint(key: str) -> int:
    """Return 56 bits for a key: half its size in memory; two keys with the same ones would only cost a letter."""
    return int.from_bytes(blake2b(key.encode(), digest_size=7).digest(), "big")


def _letters(number: int) -> str:
    """Return 1 as 'a', 26 as 'z', 27 as 'aa'."""
    text = ""
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text
