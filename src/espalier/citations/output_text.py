"""What several formats share: clean lines, URIs, names, dates and pages as text, JSON of any string, and keys.

A format made of lines or of XML cannot carry every string. `clean` is the documented loss of all of them: a run of
white space becomes one space, and what no such file may hold (control characters, lone surrogates, non-characters)
becomes U+FFFD, the replacement character. JSON needs no such thing and keeps every character.

A key is family name, year (with the letter of "2004a") and first title word, unique within a run:

    keys = Keys()
    keys(work)      # 'andersen1994program'
    keys(work)      # 'andersen1994programa', then '...b', ..., '...z', '...aa'

It holds only a-z and 0-9 and begins with a letter, so it is a BibTeX key, an XML id and a CSL id. Accents fall off
(Müller: muller), letters that do not decompose are spelt out (Søren: soren, Strauß: strauss), Cyrillic and Greek ones
in Latin (Иванов: ivanov); what has no Latin letter at all is left out, and an empty key becomes 'ref'. Leading
articles of titles are passed over. Memory: a fingerprint of every key given so far, which uniqueness costs. An entry
that was read from a bibliography keeps the key that it has there, without what would end it in BibTeX.
"""

from __future__ import annotations

import json
import re
import unicodedata
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from espalier.citations.bibliographies import Entry
    from espalier.citations.record import Record
    from espalier.citations.work import Date, Name, Pages, Work

__all__ = [
    "SEASONS",
    "Keys",
    "clean",
    "edtf",
    "inverted",
    "is_range",
    "iso",
    "left_over",
    "page_range",
    "stem",
    "stem_of",
    "to_json",
    "uri",
    "xml_attribute",
    "xml_text",
    "year_suffix",
]

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
    family = _ascii(people[0].family) or _title_word(people[0].literal or people[0].given) if people else ""
    year = str(abs(work.issued.parts[0][0])) + year_suffix(work.issued) if work.issued and work.issued.parts else ""
    word = _title_word(work.title or work.container_title)[:_LONGEST]
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
