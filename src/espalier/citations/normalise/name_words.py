"""One word of a name, or a few: initial, suffix, degree, institution, and a person's name in either order.

Whether a word is an initial is asked for each of millions, so answers about short words are remembered.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from espalier.citations.normalise.lexicon import (
    CHINESE_FAMILIES,
    DEGREES,
    FAMILIES_FIRST,
    FAMILY_PREFIXES,
    HAN_FAMILIES,
    HANGUL_FAMILIES,
    HUNGARIAN_INITIALS,
    KOREAN_FAMILIES,
    LOW_PARTICLES,
    PARTICLES,
    PATRONYMIC_ENDS,
    SUFFIXES,
    VIETNAMESE_FAMILIES,
    VIETNAMESE_SHORT_FAMILIES,
    WEAK_DEGREES,
    WHOLE_GIVEN,
    vocabulary,
)
from espalier.citations.work import Name

__all__ = [
    "FATHERS",
    "are_degrees",
    "are_suffixes",
    "family_at",
    "family_first",
    "has_lower",
    "is_initial",
    "is_short",
    "is_suffix",
    "is_unspaced",
    "natural",
    "recased",
    "sounds_eastern",
    "written_given",
    "written_suffix",
]

_TITLES = vocabulary("Jr Sr St Dr Mr Ms Mme Esq")
SAINTS = vocabulary("st. ste. st")
"""What stands before a family name, and is not its beginning: St. John."""
_UNABBREVIATED = (SUFFIXES | DEGREES | WEAK_DEGREES) - vocabulary("Jr jr Sr sr Jnr Snr Esq")
_VOWEL = re.compile("[AEIOUY]")
_HYPHEN = re.compile("[‐‑-]")
_STOP_OR_HYPHEN = re.compile("[.‐‑-]")
_RUSSIAN_INITIALS = vocabulary("Yu Ya")
_SOFT = re.compile(r"(?:[A-Z]\.)?[A-Z]\.?[-‐‑][a-z]\.?|[A-Z][-‐‑][A-Z]{2,3}")  # M.-a. for Masa-aki; C-KK
_LONGEST = 24  # characters; no initials are longer

_PINYIN = re.compile(
    "(?:(?:[bpmfdtnlgkhjqxrzcsyw]|zh|ch|sh)?(?:iang|iong|uang|ang|eng|ing|ong|ian|iao|uan|uai|ai|ei|ao|ou|an|en|in|un"
    "|ia|ie|iu|ua|uo|ui|ue|er|[aeiouü])-?){1,2}",
    re.IGNORECASE,
)
_KOREAN = re.compile(
    "(?:(?:(?:ch|sh|kk|tt|pp|ss|jj|[bcdghjkmnprstw])?[yw]?(?:ae|eo|eu|oe|oo|ee|ou|ui|[aeiou])(?:ng|ck|[nklbmphrt])?)(?:-|$)){2}",
    re.IGNORECASE,
)
_VIETNAMESE = re.compile(
    "(?:ngh?|[nckpt]h|g[hi]|qu|tr|[bcdđghklmnprstvx])?[^\\W\\d_bcdđfghjklmnpqrstvwxz]{1,3}(?:ch|nh|ng|[cmnpt])?",
    re.IGNORECASE,
)
_MIDDLE = vocabulary("văn thị van thi")
# Families of China and Japan (佐藤 太郎), and those of Korea (김 철수); 미셸 푸코 is Michel Foucault.
_HAN = re.compile(
    "[\u3005\u4e00-\u9fff]{1,4}|남궁|황보|제갈|선우|독고|사공|서문|동방"
    "|[김이박최정강조윤장임한오서신권황안송류유전홍고문양손배백허남심노하곽성차주우구나민진지엄채원천방공현함변염여추도소석선설마길연위표명기반왕금옥육인맹제모탁국어은편용]"
)
_ORDINAL = re.compile(r"((?:[^\W\d_]\.?)+)([ªº])\.?")


def is_initial(word: str, shouting: bool = False) -> bool:
    """Tell whether a word is initials: "J.", "J.-P.", "A.B.", "AB", "M.ª".

    shouting : all words around are in capitals, so that capitals alone show nothing beyond two letters.
    """
    return len(word) <= _LONGEST and _is_initial(word, shouting)


@lru_cache(maxsize=4096)
def _is_initial(word: str, shouting: bool) -> bool:
    if not word.isascii() and word.endswith(("ª", "º", "ª.", "º.")):  # María and Antonio in Spain
        word = word.rstrip(".")[:-1]
    if _SOFT.fullmatch(word):
        return True
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
    if len(words) == 3 and words[1] in _RUSSIAN_INITIALS and len(words[2].rstrip(".")) == 1 and words[2].isupper():
        return family_first(words[:1], words[1:], suffix, shouting)  # Shkryl Yu N
    split = family_at(words, shouting)
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
    capitals = shouting or has_lower("".join(given))
    if shouting:
        # Particles are in capitals too, and only a particle if a name follows.
        n = 0
        while n < len(family) - 1 and family[n].isupper() and family[n].lower() in PARTICLES:
            n += 1
        family = [*(word.lower() for word in family[:n]), *family[n:]]
    particle, family = _split_particle(family)
    return Name(
        family=" ".join([recased(word) for word in family] if capitals else family).removesuffix("."),
        given=" ".join([written_given(word, shouting) for word in given]),
        particle=" ".join(particle),
        suffix=suffix,
    )


def family_at(words: Sequence[str], shouting: bool) -> int:
    """Return where the family name begins, particles included; or minus its length, if it comes first."""
    n = len(words)
    if n < 2:
        return 0
    if _begins_with_family(words) or (n == 2 and _HAN.fullmatch(words[0])):
        return -1
    trailing = end = _particles_at(words)
    while trailing > 0 and (is_initial(words[trailing - 1], shouting) or _is_hungarian(words[trailing - 1])):
        trailing -= 1
    if 0 < trailing < end:
        return -trailing
    if 0 < end < n and not is_initial(words[0], shouting):
        return -1  # Goethe Johann Wolfgang von
    if words[0].casefold() in CHINESE_FAMILIES and n == 2:
        last = _bare(words[1])  # "Yu Yuncheng." at the end of a list
        if last.casefold() not in CHINESE_FAMILIES and _PINYIN.fullmatch(last):
            return -1
    if not shouting and (first := _in_capitals(words)):
        return -first  # DUPONT Jean
    at = n - 1
    if n > 2 and words[-2] in ("y", "i", "e"):  # Ramón y Cajal
        at = n - 3
    low = [i for i in range(n - 1) if words[i] in LOW_PARTICLES]
    if low:
        at = low[-1]
        while at > 0 and words[at - 1] in LOW_PARTICLES:
            at -= 1
    # A capitalised particle belongs to the family name, but the first word of a longer name is a given name.
    while at > 1 and words[at - 1].lower() in PARTICLES | SAINTS:
        at -= 1
    return 0 if at == 1 and words[0].lower() in FAMILY_PREFIXES | SAINTS else at


_WHOLE = 4  # capitals that are no initials


def _in_capitals(words: Sequence[str]) -> int:
    """Return how many words of a family name in capitals come first: SOTO, DE, VEGA or Le, GOFF; but no initials."""
    n = next((n for n, word in enumerate(words) if word.lower() not in PARTICLES), 0)
    if not words[n].isalpha() or not words[n].isupper() or len(words[n]) < _WHOLE or words[-1].isupper():
        return 0
    n += 1
    while n < len(words) - 1 and (words[n].lower() in PARTICLES or (words[n].isupper() and len(words[n]) >= _WHOLE)):
        n += 1
    return n


def _begins_with_family(words: Sequence[str]) -> bool:
    """Tell whether words show a Korean, Vietnamese or Russian name with its family name first, and others in full.

    These are a Korean given name of two syllables, Vietnamese names behind a family name, and a name after the father
    at the end, but not behind another one: "Roman Arkadyevich Abramovich".
    """
    if len(words) == 3 and words[2].removesuffix(".").endswith(PATRONYMIC_ENDS):
        return not words[1].endswith(PATRONYMIC_ENDS) and not any(map(is_initial, words))
    first = words[0].casefold()
    if first not in FAMILIES_FIRST:
        return False
    second, last = words[1].casefold(), words[-1].casefold().removesuffix(".")
    if first in KOREAN_FAMILIES and len(words) == 2 and _KOREAN.fullmatch(last):
        return True
    middle = second in _MIDDLE and len(words) > 2
    if not middle and (first not in VIETNAMESE_FAMILIES or (len(words) == 2 and first.isascii() and last.isascii())):
        return False  # Nguyen Bach may be Bach, Nguyen
    known = VIETNAMESE_FAMILIES | VIETNAMESE_SHORT_FAMILIES
    return first in known and (middle or last not in known) and _are_vietnamese(words[1:], middle)


def _are_vietnamese(words: Sequence[str], middle: bool) -> bool:
    """Tell whether given names sound Vietnamese, and none is an initial; but "Nguyễn Văn A" is anybody's name."""
    nobody = middle and len(words) == 2 and len(words[1]) == 1 and not words[0].isascii()  # Nguyễn Văn A
    return all(nobody if is_initial(word) else _VIETNAMESE.fullmatch(word) for word in words)


def sounds_eastern(word: str) -> bool:
    """Tell whether a word may be a name of China, Korea or Vietnam in Latin letters."""
    return any(sound.fullmatch(word) for sound in (_PINYIN, _KOREAN, _VIETNAMESE))


def _is_hungarian(word: str) -> bool:
    """Tell whether a word is one of the initials of two letters: Zs., Gy."""
    return len(word) < 4 and word.removesuffix(".").casefold() in HUNGARIAN_INITIALS


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


def has_lower(text: str) -> bool:
    """Tell whether there is a letter in lower case."""
    return text != text.upper() if text.isascii() else any(map(str.islower, text))


def written_given(word: str, shouting: bool = False) -> str:
    """Return a given name without a full stop after it; initials with one each, and a space between."""
    if is_initial(word, shouting):
        return _spaced(word)
    return recased(_bare(word)) if shouting else _bare(word)


@lru_cache(maxsize=4096)
def _spaced(initials: str) -> str:
    """Put a full stop after each initial, and a space where there is no hyphen."""
    if found := _ORDINAL.fullmatch(initials):
        return _spaced(found[1]) + found[2]
    parts = [part.replace(".", "") for part in _HYPHEN.split(initials)]
    return "-".join(". ".join(part) + "." for part in parts if part)


def _bare(word: str) -> str:
    """Drop the full stop after a given name that is no abbreviation."""
    whole = len(word) > (3 if word.islower() else 4) or word[:-1].lower() in WHOLE_GIVEN
    return word[:-1] if word.endswith(".") and whole and "." not in word[:-1] else word


def recased(word: str) -> str:
    """Capitalise a word of capitals, and each part of "SMITH-JONES", "O'BRIEN" and "McDONALD".

    In a word with a letter that only Turkish has, "I" is a capital "ı", and "İ" one of "i".
    """
    if not word.isupper() or len(word) < 2:
        return word
    turkish = "İ" in word or "Ğ" in word
    if not turkish and len(word.lower()) != len(word):
        return word
    text = re.sub(
        r"[^\W\d_]+", lambda m: m[0][0] + (m[0][1:].translate(_TURKISH) if turkish else m[0][1:]).lower(), word
    )
    return re.sub(r"^Mc(\w)", lambda m: "Mc" + m[1].upper(), text)


_TURKISH = str.maketrans("Iİ", "ıi")
FATHERS = {end[-1]: tuple(one for one in PATRONYMIC_ENDS if one[-1] == end[-1]) for end in PATRONYMIC_ENDS}
"""The ends of names after the father by their last sign, so that few are tried on a word."""
