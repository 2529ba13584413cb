"""One person's name in parts: initials, particles, suffixes, and which word is the family name.

Normal forms, which is all that is changed: initials have a full stop each and a space between ("AB", "A.B." ->
"A. B."; "J-P" -> "J.-P."), a word in capitals only is a capitalised word ("SMITH" -> "Smith") where that is a name,
and a full stop after anything that is no abbreviation is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from espalier.citations.normalise.lexicon import (
    CHINESE_FAMILIES,
    HAN_FAMILIES,
    HANGUL_FAMILIES,
    PARTICLES,
    SUFFIXES,
    vocabulary,
)
from espalier.citations.work import Name

__all__ = ["family_first", "is_initial", "is_short", "is_suffix", "is_unspaced", "natural", "written_given"]

_TITLES = vocabulary("Jr Sr St Dr Mr Ms Mme Esq")
_VOWEL = re.compile("[AEIOUY]")
_HYPHEN = re.compile("[‐‑-]")
_STOP_OR_HYPHEN = re.compile("[.‐‑-]")
_LONGEST = 24  # characters; no initials are longer

_PINYIN = re.compile(
    "(?:(?:[bpmfdtnlgkhjqxrzcsyw]|zh|ch|sh)?(?:iang|iong|uang|ang|eng|ing|ong|ian|iao|uan|uai|ai|ei|ao|ou|an|en|in|un"
    "|ia|ie|iu|ua|uo|ui|ue|er|[aeiouü])-?){1,2}",
    re.IGNORECASE,
)


def is_initial(word: str, shouting: bool = False) -> bool:
    """Tell whether a word is initials: "J.", "J.-P.", "A.B.", "AB".

    shouting : all words around are in capitals, so that capitals alone show nothing beyond two letters.
    """
    return len(word) <= _LONGEST and _is_initial(word, shouting)


@lru_cache(maxsize=4096)
def _is_initial(word: str, shouting: bool) -> bool:
    if not word.isupper() or not all(sign.isalpha() or sign in ".-‐‑" for sign in word):
        return False
    if all(len(part) <= 1 for part in _STOP_OR_HYPHEN.split(word)):
        return True
    letters = word.removesuffix(".")
    return letters.isalpha() and len(letters) <= (2 if shouting and _VOWEL.search(letters) else 3)


def is_suffix(word: str) -> bool:
    """Tell whether a word stands after a name: "Jr.", "III"; "JR" and "J.R." are initials."""
    return word.removesuffix(".") in SUFFIXES or word == "Ph.D."


def is_short(word: str) -> bool:
    """Tell whether a word is an abbreviated given name: "Yu.", "Chr."; a short word with a full stop may be one."""
    letters = word[:-1]
    return word.endswith(".") and 1 < len(letters) <= 3 and letters.istitle() and letters not in _TITLES


def natural(words: Sequence[str], shouting: bool = False) -> Name:
    """Read a name in the order given, particle, family, suffix; or family, initials ("Smith AB").

    A lone word is a family name. Two or more family names without a particle between cannot be told from given
    names, so that all but the last word are given ("Gabriel García Márquez").
    """
    words, suffix = _split_suffix(words)
    split = _split_at(words, shouting)
    if split < 0:  # the family name comes first
        return family_first(words[:-split], words[-split:], suffix, shouting)
    return _name(words[split:], words[:split], suffix, shouting)


def family_first(family: Sequence[str], given: Sequence[str], suffix: str = "", shouting: bool = False) -> Name:
    """Read "van der Berg" and "J.", or "Berg" and "J. van der"; a suffix may end either."""
    family, first = _split_suffix(family)
    given, second = _split_suffix(given)
    given, after = _trailing_particle(given)
    return _name([*after, *family], given, " ".join(filter(None, (first, second, suffix))), shouting)


def _split_particle(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the particles in lower case that a family name begins with, and the rest, which is never empty."""
    n = 0
    while n < len(words) - 1 and words[n] in PARTICLES:
        n += 1
    return list(words[:n]), list(words[n:])


def _name(family: Sequence[str], given: Sequence[str], suffix: str, shouting: bool) -> Name:
    if len(family) == 1 and not given and is_unspaced(family[0]):
        family, given = _split_unspaced(family[0])
        if not given:
            return Name(literal=family[0]) if not suffix else Name(family[0], suffix=suffix)
    capitals = shouting or _has_lower("".join(given))
    if shouting:
        # Particles are in capitals too, and only a particle if a name follows.
        n = 0
        while n < len(family) - 1 and family[n].lower() in PARTICLES:
            n += 1
        family = [*(word.lower() for word in family[:n]), *family[n:]]
    particle, family = _split_particle(family)
    return Name(
        family=" ".join([_recased(word) for word in family] if capitals else family).removesuffix("."),
        given=" ".join([written_given(word, shouting) for word in given]),
        particle=" ".join(particle),
        suffix=suffix,
    )


def _split_at(words: Sequence[str], shouting: bool) -> int:
    """Return where the family name begins, particles included; or minus its length, if it comes first."""
    n = len(words)
    if n < 2:
        return 0
    trailing = n
    while trailing > 0 and is_initial(words[trailing - 1], shouting):
        trailing -= 1
    if 0 < trailing < n:
        return -trailing
    if words[0].casefold() in CHINESE_FAMILIES and n == 2 and words[1].casefold() not in CHINESE_FAMILIES:
        if _PINYIN.fullmatch(words[1]):
            return -1
    elif not shouting and words[0].isalpha() and words[0].isupper() and len(words[0]) > 3 and not words[-1].isupper():
        return -1  # DUPONT Jean
    at = n - 1
    if n > 2 and words[-2] in ("y", "i", "e"):  # Ramón y Cajal
        at = n - 3
    low = [i for i in range(n - 1) if words[i] in PARTICLES]
    if low:
        at = low[-1]
        while at > 0 and words[at - 1] in PARTICLES:
            at -= 1
    # A capitalised particle belongs to the family name, but the first word of a longer name is a given name.
    while at > 1 and words[at - 1].lower() in PARTICLES:
        at -= 1
    return at


def _split_suffix(words: Sequence[str]) -> tuple[list[str], str]:
    words = list(words)
    if len(words) > 1 and is_suffix(words[-1]):
        return words[:-1], words[-1]
    return words, ""


def _trailing_particle(given: Sequence[str]) -> tuple[list[str], list[str]]:
    n = len(given)
    while n > 1 and given[n - 1] in PARTICLES:
        n -= 1
    return list(given[:n]), list(given[n:])


def is_unspaced(word: str) -> bool:
    """Tell whether a word is a whole name of East Asia, without a space between its parts."""
    return len(word) > 1 and "\u3040" <= min(word) <= max(word) <= "\ufaff"


def _split_unspaced(word: str) -> tuple[list[str], list[str]]:
    """Split a Chinese or Korean name of usual length after a usual family name; leave others whole."""
    n = 2 if word[:2] in HAN_FAMILIES and len(word) > 2 else 1
    known = n == 2 or word[0] in HAN_FAMILIES or (word[0] in HANGUL_FAMILIES and _is_hangul(word))
    return ([word[:n]], [word[n:]]) if known and len(word) - n <= 2 else ([word], [])


def _is_hangul(word: str) -> bool:
    return "\uac00" <= min(word) <= max(word) <= "\ud7a3"


def _has_lower(text: str) -> bool:
    return text != text.upper() if text.isascii() else any(map(str.islower, text))


def written_given(word: str, shouting: bool = False) -> str:
    """Return a given name without a full stop after it; initials with one each, and a space between."""
    if is_initial(word, shouting):
        return _spaced(word)
    return _recased(_bare(word)) if shouting else _bare(word)


@lru_cache(maxsize=4096)
def _spaced(initials: str) -> str:
    """Put a full stop after each initial, and a space where there is no hyphen."""
    parts = [part.replace(".", "") for part in _HYPHEN.split(initials)]
    return "-".join(". ".join(part) + "." for part in parts if part)


def _bare(word: str) -> str:
    """Drop the full stop after a given name that is no abbreviation."""
    return word[:-1] if word.endswith(".") and len(word) > 4 and "." not in word[:-1] else word


def _recased(word: str) -> str:
    """Capitalise a word of capitals, and each part of "SMITH-JONES", "O'BRIEN" and "McDONALD"."""
    if not word.isupper() or len(word) < 2 or len(word.lower()) != len(word):
        return word
    text = re.sub(r"[^\W\d_]+", lambda m: m[0][0] + m[0][1:].lower(), word)
    return re.sub(r"^Mc(\w)", lambda m: "Mc" + m[1].upper(), text)
