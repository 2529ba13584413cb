"""One person's name in parts: initials, particles, suffixes, and which word is the family name.

Normal forms, which is all that is changed: initials have a full stop each and a space between ("AB", "A.B." ->
"A. B."; "J-P" -> "J.-P."), a word in capitals only is a capitalised word ("SMITH" -> "Smith") where that is a name,
and a full stop after anything that is no abbreviation is dropped ("III." -> "III", but "Jr."). Degrees are suffixes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from espalier.citations.normalise.lexicon import (
    CHINESE_FAMILIES,
    DEGREES,
    HAN_FAMILIES,
    HANGUL_FAMILIES,
    INSTITUTION_ENDS,
    INSTITUTION_INNER,
    INSTITUTION_STEMS,
    INSTITUTION_WORDS,
    LOW_PARTICLES,
    PARTICLES,
    SUFFIXES,
    WEAK_DEGREES,
    WEAK_INSTITUTION_WORDS,
    vocabulary,
)
from espalier.citations.work import Name

__all__ = [
    "are_degrees",
    "are_suffixes",
    "family_first",
    "is_initial",
    "is_institution",
    "is_short",
    "is_suffix",
    "is_unspaced",
    "may_go_on",
    "natural",
    "written_given",
    "written_suffix",
]

# Short given names that are not abbreviated: a full stop after them ends the list.
_WHOLE = vocabulary(
    "ada amy ana ann ava ben bob dan eli eva eve guy ian ida ina ira ivy jan jay jim joe jon kay ken kim lea lee leo "
    "lia lou luc mae max may mia nan ned noa ola ole pam pat per ray ron roy sam siv sue ted tim tom tor una ute uwe "
    "zoe åsa"
)
_TITLES = vocabulary("Jr Sr St Dr Mr Ms Mme Esq")
_UNABBREVIATED = (SUFFIXES | DEGREES | WEAK_DEGREES) - vocabulary("Jr jr Sr sr Jnr Snr Esq")
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
    """Tell whether a word stands after a name: "Jr.", "III", "Ph.D."; "JR", "J.R." and "I.I." are initials."""
    return len(word) <= _LONGEST and _is_suffix(word)


@lru_cache(maxsize=4096)
def _is_suffix(word: str) -> bool:
    return word.removesuffix(".") in SUFFIXES or _is_apart([word])


def are_suffixes(words: Sequence[str]) -> bool:
    """Tell whether each word is a suffix, or two are one degree written apart: "Ph. D."."""
    return all(map(is_suffix, words)) or (len(words) == 2 and _is_apart(words))


def are_degrees(words: Sequence[str], weak: bool) -> bool:
    """Tell whether each word is a suffix or a degree in capitals ("MD", "M.D."), which may be initials, too.

    weak : count those that are more often something else.
    """
    known = DEGREES | WEAK_DEGREES if weak else DEGREES
    return all(is_suffix(word) or word.replace(".", "") in known for word in words)


def _is_apart(words: Sequence[str]) -> bool:
    letters = "".join(words).replace(".", "")
    return letters in SUFFIXES and not letters.isupper()


def written_suffix(words: Sequence[str]) -> str:
    """Return suffixes as they are written, but for a full stop after one that is no abbreviation."""
    return " ".join([word[:-1] if word[-1:] == "." and word[:-1] in _UNABBREVIATED else word for word in words])


def is_short(word: str) -> bool:
    """Tell whether a word is an abbreviated given name: "Yu.", "Chr."; a short word with a full stop may be one."""
    letters = word[:-1]
    return word.endswith(".") and 1 < len(letters) <= 3 and letters.istitle() and letters not in _TITLES


def natural(words: Sequence[str], shouting: bool = False) -> Name:
    """Read a name in the order given, particle, family, suffix; or family, initials, particle ("Berg AB van der").

    A lone word is a family name. Two or more family names without a particle between cannot be told from given
    names, so that all but the last word are given ("Gabriel García Márquez").
    """
    words, suffix = _split_suffix(words)
    split = _split_at(words, shouting)
    if split < 0:  # the family name comes first
        return family_first(words[:-split], words[-split:], suffix, shouting)
    return _name(words[split:], words[:split], suffix, shouting)


def family_first(family: Sequence[str], given: Sequence[str], suffix: str = "", shouting: bool = False) -> Name:
    """Read "van der Berg" and "J.", or "Berg" and "J. van der"; a suffix may end either.

    Initials with stops are no family name where a word stands beside them: "K.", "Kinoshita" (but "E", "Weinan").
    """
    if all(is_initial(word) and "." in word for word in family) and not any(map(is_initial, given)):
        family, given = given, family
    family, first = _split_suffix(family)
    given, second = _split_suffix(given)
    n = _particles_at(given)
    return _name([*given[n:], *family], given[:n], " ".join(filter(None, (first, second, suffix))), shouting)


def _split_particle(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the particles in lower case that a family name begins with, and the rest, which is never empty."""
    n = 0
    while n < len(words) - 1 and words[n] in LOW_PARTICLES:
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
    trailing = end = _particles_at(words)
    while trailing > 0 and is_initial(words[trailing - 1], shouting):
        trailing -= 1
    if 0 < trailing < end:
        return -trailing
    if 0 < end < n and not is_initial(words[0], shouting):
        return -1  # Goethe Johann Wolfgang von
    if words[0].casefold() in CHINESE_FAMILIES and n == 2 and words[1].casefold() not in CHINESE_FAMILIES:
        if _PINYIN.fullmatch(words[1]):
            return -1
    elif not shouting and words[0].isalpha() and words[0].isupper() and len(words[0]) > 3 and not words[-1].isupper():
        return -1  # DUPONT Jean
    at = n - 1
    if n > 2 and words[-2] in ("y", "i", "e"):  # Ramón y Cajal
        at = n - 3
    low = [i for i in range(n - 1) if words[i] in LOW_PARTICLES]
    if low:
        at = low[-1]
        while at > 0 and words[at - 1] in LOW_PARTICLES:
            at -= 1
    # A capitalised particle belongs to the family name, but the first word of a longer name is a given name.
    while at > 1 and words[at - 1].lower() in PARTICLES:
        at -= 1
    return at


def _split_suffix(words: Sequence[str]) -> tuple[list[str], str]:
    """Return the words without the suffixes at their end, at least one, and the suffixes."""
    n = len(words)
    while n > 1:
        if is_suffix(words[n - 1]):
            n -= 1
        elif n > 2 and _is_apart(words[n - 2 : n]):
            n -= 2
        elif n > 2 and _is_degree_after(words[n - 1], words[: n - 1]):
            n -= 1
        else:
            break
    return list(words[:n]), written_suffix(words[n:])


def _is_degree_after(word: str, words: Sequence[str]) -> bool:
    """Tell the degree of "J. Smith MD" from the initials of "Costa Vaz MD"."""
    if word.replace(".", "") not in DEGREES or is_initial(words[-1]):
        return False
    return any(map(is_initial, words[:-1]))


def _particles_at(words: Sequence[str]) -> int:
    """Return where the particles in lower case at the end begin."""
    n = len(words)
    while n > 0 and words[n - 1] in LOW_PARTICLES:
        n -= 1
    return n


def is_unspaced(word: str) -> bool:
    """Tell whether a word is a whole name of East Asia, without a space between its parts."""
    signs = word.replace("·", "")  # between the parts of a name from elsewhere
    return len(signs) > 1 and "\u3040" <= min(signs) <= max(signs) <= "\ufaff"


def _split_unspaced(word: str) -> tuple[list[str], list[str]]:
    """Split a Chinese or Korean name of usual length after a usual family name; leave others whole."""
    n = 2 if word[:2] in HAN_FAMILIES and len(word) > 2 else 1
    known = n == 2 or word[0] in HAN_FAMILIES or (word[0] in HANGUL_FAMILIES and _is_hangul(word))
    return ([word[:n]], [word[n:]]) if known and len(word) - n <= 2 and "·" not in word else ([word], [])


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
    whole = len(word) > 4 or word[:-1].lower() in _WHOLE
    return word[:-1] if word.endswith(".") and whole and "." not in word[:-1] else word


def _recased(word: str) -> str:
    """Capitalise a word of capitals, and each part of "SMITH-JONES", "O'BRIEN" and "McDONALD"."""
    if not word.isupper() or len(word) < 2 or len(word.lower()) != len(word):
        return word
    text = re.sub(r"[^\W\d_]+", lambda m: m[0][0] + m[0][1:].lower(), word)
    return re.sub(r"^Mc(\w)", lambda m: "Mc" + m[1].upper(), text)


_INSTITUTIONS_LONGEST = 24  # characters that are looked at


def is_institution(words: Sequence[str]) -> bool:
    """Tell whether words name an institution; one word alone does only if it can be nothing else."""
    kinds = [_kind(word[:_INSTITUTIONS_LONGEST]) for word in words]
    if len(words) == 1:
        return kinds[0] == "strong" and len(words[0]) > 9
    if not any(kinds):
        return False
    full = sum(not is_initial(word) for word in words)
    decisive = "strong" in kinds or "inner" in kinds[1:] or words[0] in ("The", "the")
    return full > 1 and (decisive or ("weak" in kinds and full > 2))


@lru_cache(maxsize=4096)
def _kind(word: str) -> str:
    low = word.strip(".").casefold()
    year = len(low) == 4 and low.isdigit()  # GBD 2015 Obesity Collaborators
    if year or low in INSTITUTION_WORDS or low.startswith(INSTITUTION_STEMS) or low.endswith(INSTITUTION_ENDS):
        return "strong"
    return "inner" if low in INSTITUTION_INNER else "weak" if low in WEAK_INSTITUTION_WORDS else ""


def may_go_on(words: Sequence[str]) -> bool:
    """Tell whether an institution's name may go on after a comma or an "and": "Ministry of Food and" ..."""
    return not INSTITUTION_INNER.isdisjoint(words[1:])
