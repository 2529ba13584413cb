"""Keys of works: family name, year (with the letter of "2004a") and first title word, unique within a run.

    keys = Keys()
    keys(work)      # 'andersen1994program'
    keys(work)      # 'andersen1994programa', then '...b', ..., '...z', '...aa'

A key holds only a-z and 0-9 and starts with a letter, so it is a BibTeX key, an XML id and a CSL id alike. Accents
fall off (Müller: muller), a few letters that do not decompose are spelt out (Søren: soren, Strauß: strauss); what
has no ASCII letter at all is left out, and an empty key becomes 'ref'. Leading articles of titles are passed over.
Memory: a fingerprint of every key given so far, which uniqueness costs.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b
from typing import TYPE_CHECKING

from espalier.citations.output_text import year_suffix

if TYPE_CHECKING:
    from espalier.citations.work import Work

__all__ = ["Keys", "stem"]

_SPELT = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ħ": "h"}
)
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
        low = unicodedata.normalize("NFKD", low.translate(_SPELT))
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
