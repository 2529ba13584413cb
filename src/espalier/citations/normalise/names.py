"""A list of names in any of the usual styles -> persons and institutions, and the words that only joined them.

Styles are not asked for; each stretch between commas is read by what it looks like. A stretch with initials and a
full word is a whole name ("A. B. Smith", "Smith AB"); initials alone are the given name of the stretch before; one
word alone is a family name, and what follows it after a comma is its given name, but not after an "and". So
"Smith, A. B., & Jones, C.", "Smith AB, Jones C", "A. B. Smith and C. Jones" and "Smith, Anna, and Carl Jones"
are all two persons. What has the words of an institution is a literal name, with its commas and its "and".

Normal forms of one person's name, which is all that is changed: initials have a full stop each and a space between
("AB", "A.B." -> "A. B."; "J-P" -> "J.-P."), a word in capitals only is a capitalised word ("SMITH" -> "Smith") where
that is a name, and a full stop after anything that is no abbreviation is dropped ("III." -> "III", but "Jr."). Degrees
are suffixes.

Nothing is lost: the letters of the text are those of the names, of `Names.cues`, which are the joining words,
the roles ("(Eds.)", "edited by") and the marks of an unfinished list ("et al."), and of `Names.asides`. Only a family
name that two people share ("J. and A. Webb") is that of both.

Most lists are read by one expression for each person (`usual_names`): given names or initials and a family name, or a
family name and initials, with commas, semicolons and "and" between. A list with a word that may be more than part of a
name (a suffix, a role, an institution's word, "others") is left to the general reader, which cuts it into pieces first.
That finds the same names in the usual lists, too, only later; a test holds the two together. Linear time: each token is
looked at once, and at most a few tokens after it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from espalier.citations.normalise.lexicon import (
    BEFORE_NAMES,
    BODIES,
    CHINESE_FAMILIES,
    DEGREE_PARTS,
    DEGREES,
    FAMILIES_FIRST,
    FAMILY_PREFIXES,
    HAN_FAMILIES,
    HANGUL_FAMILIES,
    HINTS_OF_OTHERS,
    HUNGARIAN_INITIALS,
    INSTITUTION_ENDS,
    INSTITUTION_FIRST_WORDS,
    INSTITUTION_INNER,
    INSTITUTION_OPENINGS,
    INSTITUTION_STEMS,
    INSTITUTION_WORDS,
    JOINERS,
    KOREAN_FAMILIES,
    LOW_PARTICLES,
    NUMERALS,
    OTHERS,
    PARTICLES,
    PATRONYMIC_ENDS,
    RARE_HINTS_OF_OTHERS,
    ROLE_BEHIND,
    ROLE_OPENINGS,
    ROLES,
    ROLES_IN_SHORT,
    RULERS,
    SHORT_GIVEN,
    SUBJECTS_OF_INSTITUTIONS,
    SUFFIXES,
    TITLES,
    VIETNAMESE_FAMILIES,
    VIETNAMESE_SHORT_FAMILIES,
    WEAK_DEGREES,
    WEAK_INSTITUTION_WORDS,
    WHOLE_GIVEN,
    WHOSE_INSTITUTION,
    vocabulary,
)
from espalier.citations.normalise.text import collapse
from espalier.citations.work import Name

if TYPE_CHECKING:
    from espalier.citations.normalise.name_pieces import Piece

__all__ = [
    "Names",
    "are_degrees",
    "are_suffixes",
    "family_first",
    "has_lower",
    "is_initial",
    "is_institution",
    "is_short",
    "is_subject",
    "is_suffix",
    "is_unnamed",
    "is_unspaced",
    "may_go_on",
    "natural",
    "opens_institution",
    "recased",
    "sounds_eastern",
    "split_names",
    "usual_names",
    "written_given",
    "written_suffix",
]

_TITLES = vocabulary("Jr Sr St Dr Mr Ms Mme Esq")
_UNABBREVIATED = (SUFFIXES | DEGREES | WEAK_DEGREES) - vocabulary("Jr jr Sr sr Jnr Snr Esq")
_VOWEL = re.compile("[AEIOUY]")
_HYPHEN = re.compile("[‐‑-]")
_STOP_OR_HYPHEN = re.compile("[.‐‑-]")
_RUSSIAN_INITIALS = vocabulary("Yu Ya")
_SOFT = re.compile(r"(?:[A-Z]\.)?[A-Z]\.[-‐‑][a-z]\.?")  # M.-a. for Masa-aki
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
    if not word.isupper() and _SOFT.fullmatch(word):
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
    capitals = shouting or has_lower("".join(given))
    if shouting:
        # Particles are in capitals too, and only a particle if a name follows.
        n = 0
        while n < len(family) - 1 and family[n].lower() in PARTICLES:
            n += 1
        family = [*(word.lower() for word in family[:n]), *family[n:]]
    particle, family = _split_particle(family)
    return Name(
        family=" ".join([recased(word) for word in family] if capitals else family).removesuffix("."),
        given=" ".join([written_given(word, shouting) for word in given]),
        particle=" ".join(particle),
        suffix=suffix,
    )


def _split_at(words: Sequence[str], shouting: bool) -> int:
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
    if not shouting and words[0].isalpha() and words[0].isupper() and len(words[0]) > 3 and not words[-1].isupper():
        return -_in_capitals(words)  # DUPONT Jean
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
    return 0 if at == 1 and words[0].lower() in FAMILY_PREFIXES else at


def _in_capitals(words: Sequence[str]) -> int:
    """Return how many words of a family name in capitals come first: SOTO, DE, VEGA, but no initials."""
    n = 1
    while n < len(words) - 1 and words[n].isupper() and (words[n].lower() in PARTICLES or len(words[n]) > 3):
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
_INSTITUTIONS_LONGEST = 24  # characters that are looked at


def is_institution(words: Sequence[str]) -> bool:
    """Tell whether words name an institution; one word alone does only if it can be nothing else."""
    kinds = [_kind(word[:_INSTITUTIONS_LONGEST]) for word in words]
    if len(words) == 1:
        return kinds[0] == "strong" and len(words[0]) > 9
    if not any(kinds):
        return False
    full = sum(not is_initial(word) for word in words)
    if full == 1 and words[-1].removesuffix(".").casefold() in BODIES:
        return all(len(word) > 1 and "." not in word for word in words[:-1])  # CMS Collaboration
    decisive = (
        "strong" in kinds or kinds[0] in ("opening", "first") or "inner" in kinds[1:] or words[0] in ("The", "the")
    )
    return full > 1 and (decisive or ("weak" in kinds and full > 2))


_UNITED_NATIONS = ("united", "nations")


def is_unnamed(words: Sequence[str]) -> bool:
    """Tell whether an institution is still to be called something: "National Oceanic", "United Nations Educational"."""
    lows = _lows(words)
    whose = next((low for low in lows if low != "the"), "").startswith(WHOSE_INSTITUTION)
    return (whose or (lows[:2] == _UNITED_NATIONS and len(lows) > 2)) and not _is_named(lows)


def is_subject(words: Sequence[str]) -> bool:
    """Tell whether words only say what an institution is for: "Rural Development", but not "Statistics Norway"."""
    lows = _lows(words)
    return lows[-1].startswith(SUBJECTS_OF_INSTITUTIONS) and not _is_named(lows)


def opens_institution(word: str) -> bool:
    """Tell whether the name of an institution begins with a word: Ministry, National, but not Atmospheric."""
    low = word.strip(".").casefold()[:_INSTITUTIONS_LONGEST]
    return _kind(low) in ("strong", "opening") and not low.startswith(("development", "research"))


def _lows(words: Sequence[str]) -> tuple[str, ...]:
    return tuple([word.strip(".").casefold()[:_INSTITUTIONS_LONGEST] for word in words])


def _is_named(lows: Sequence[str]) -> bool:
    """Tell whether there is a word for what an institution is: Institute, Survey."""
    silent = (*WHOSE_INSTITUTION, *SUBJECTS_OF_INSTITUTIONS, *_UNITED_NATIONS)
    return any(_kind(low) in ("strong", "opening", "first", "weak") and not low.startswith(silent) for low in lows)


def _by_sign(parts: Sequence[str], at: int) -> dict[str, tuple[str, ...]]:
    """Return the parts of words by their first sign (`at` = 0) or their last (-1), so that few are tried on a word."""
    return {sign: tuple(part for part in parts if part[at] == sign) for sign in {part[at] for part in parts}}


_STEMS, _ENDS = _by_sign(INSTITUTION_STEMS, 0), _by_sign(INSTITUTION_ENDS, -1)
_FATHERS = _by_sign(PATRONYMIC_ENDS, -1)


def _has_stem_or_end(low: str) -> bool:
    return low.startswith(_STEMS.get(low[:1], ())) or low.endswith(_ENDS.get(low[-1:], ()))


@lru_cache(maxsize=4096)
def _kind(word: str) -> str:
    low = word.strip(".").casefold()
    year = len(low) == 4 and low.isdigit()  # GBD 2015 Obesity Collaborators
    if year or low in INSTITUTION_WORDS or _has_stem_or_end(low):
        return "strong"
    if low in INSTITUTION_OPENINGS:
        return "opening"
    if low in INSTITUTION_FIRST_WORDS:
        return "first"
    return "inner" if low in INSTITUTION_INNER else "weak" if low in WEAK_INSTITUTION_WORDS else ""


def may_go_on(words: Sequence[str], institution: bool) -> bool:
    """Tell whether an institution's name may go on after a comma or an "and": "Ministry of Food and" ..."""
    return not INSTITUTION_INNER.isdisjoint(words[1:]) or (institution and words[0].casefold() in INSTITUTION_OPENINGS)


# Dashes for the names of the reference before.
_SAME = re.compile(r"(?:[-–—―_] ?){2,}|[—―]")


# What ran into the next word: "andB. Shaw", "Fuß u.Derra", "GRAUPNER A.—PAHL A.", "EdelenD.G.B.".
_RUN_TOGETHER = re.compile(
    r"(?<!\w)(?:and|und|et|(?<= )u\.)(?=[A-ZÀ-Þ][\w.])|[a-zß-ÿ]{3}(?=[A-ZÀ-Þ]\.)"
    r"|(?<=[A-ZÀ-Þ]\.)(?=[—–][A-ZÀ-Þ][\w'’])|(?<=[A-ZÀ-Þ]\.[—–])(?=[A-ZÀ-Þ][\w'’])"
)
# A short word at the end that has a vowel, behind one without a full stop.
_SYLLABLE = re.compile(r".*[^\W\d_],? ((?!Y[aeou]\.)(?=.{0,2}[AEIOUaeiouyäöüáéíóúàè])[A-ZÀ-Þ][a-zß-ÿ]{1,2})\.")


class Names(NamedTuple):
    """The names in order; whether there were others ("et al."); and the words that are no part of a name.

    cues : words that join names, name a role or stand for others; asides : what stood in brackets beside a name.
    """

    names: tuple[Name, ...]
    others: bool
    cues: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()


def split_names(text: str) -> Names:
    """Return the persons and institutions that a text names (see the module for how)."""
    cues: list[str] = []
    text, others = _without_opening(_without_last_stop(collapse(text)), cues), False
    if "(" in text or "[" in text:
        cues += ROLE_BEHIND.findall(text)
        text = ROLE_BEHIND.sub(" ", text)
    usual = None if "et al" in text else usual_names(text)  # which would come to nothing in the end
    if usual is None:
        marked, others = _without_marks(text, cues)
        marked = _RUN_TOGETHER.sub(r"\g<0> ", marked)
        usual = usual_names(marked) if marked != text else None
        text = marked
    if usual is not None:
        names, joiners = usual
        return Names(tuple(names), others, (*cues, *joiners))
    return _split(text, others, cues)


def _split(text: str, others: bool, cues: list[str]) -> Names:
    """Read any list, stretch by stretch; the cues are those found before."""
    from espalier.citations.normalise.name_lists import plain_pieces  # most lists are usual, and never come here

    text, pieces, shouting = plain_pieces(text, cues)
    names = _read_pairs(pieces, text, shouting) if _are_pairs_in_doubt(pieces) else []
    i = len(pieces) if names else 0
    while i < len(pieces):
        j = i + 1
        while j < len(pieces) and not pieces[j].hard:
            j += 1
        names.extend(_read(pieces[i:j], text, shouting))
        i = j
    if not names and _SAME.fullmatch(same := text.strip(" .,:;()[]")):
        names = [Name(literal=same)]
    asides = tuple(" ".join(piece.titles + piece.asides) for piece in pieces if piece.titles or piece.asides)
    return Names(tuple(names), others, tuple(cues), asides)


def _without_opening(text: str, cues: list[str]) -> str:
    """Take off what stands before the list."""
    for _ in range(3):  # "In: ed. by"
        found = BEFORE_NAMES.match(text)
        if not found:
            break
        cues.append(found[0])
        text = text[found.end() :]
    return text


def _without_last_stop(text: str) -> str:
    """Take off the full stop that ends the list, not the name: "Lee, Min.".

    "Bach, Chr.", "Vul, A. Ya." and "Matiyasevich, Yu." stay: these are abbreviated.
    """
    if text[-2:] == ".." and text[-3:] != "...":
        text = text[:-1]
    if text[-1:] != "." or not text[-2:-1].islower():
        return text
    found = _SYLLABLE.fullmatch(text[-40:])
    whole = found and _is_ordinary(found[1]) and found[1].lower() not in SHORT_GIVEN
    return text[:-1] if whole else text


def _without_marks(text: str, cues: list[str]) -> tuple[str, bool]:
    """Take out the marks of others not named, for which a semicolon is put; and tell whether there were any."""
    has = text.casefold().__contains__
    hints = any(map(has, HINTS_OF_OTHERS)) or (not text.isascii() and any(map(has, RARE_HINTS_OF_OTHERS)))
    marks = OTHERS.findall(text) if hints else []
    cues.extend(marks)
    return (OTHERS.sub(";", text) if marks else text), bool(marks)


def _read(pieces: Sequence[Piece], text: str, shouting: bool) -> list[Name]:
    """Read the stretches between two hard separators."""
    if _only_families(pieces):
        return [natural(piece.words, shouting and len(pieces) > 1) for piece in pieces]
    names: list[Name] = []
    in_short = len(pieces) > 2 and _are_in_short(pieces)
    i = 0
    while i < len(pieces):
        piece = pieces[i]
        if piece.institution:
            names.append(piece.literal(text))
        elif names and _ends(piece, names[-1], pieces[i + 1 : i + 2]):
            last = names.pop()
            suffix = f"{last.suffix} {written_suffix(piece.words)}".strip()
            names.append(Name(last.family, last.given, last.particle, suffix))
        elif not _is_whole(piece, shouting):
            suffix = ""
            if (
                i + 2 < len(pieces)
                and _is_all_suffix(pieces[i + 1])
                and _is_given(pieces[i + 2], piece, shouting, pieces)
            ):
                suffix = written_suffix(pieces[i + 1].words)  # Smith, Jr., J.
                i += 1
            lone = in_short and len(piece.words) == 1
            if not lone and i + 1 < len(pieces) and _is_given(pieces[i + 1], piece, shouting, pieces):
                names.append(family_first(piece.words, pieces[i + 1].words, suffix, shouting))
                i += 1
            else:
                names.append(_alone(piece, text, shouting and len(pieces) > 1))
        else:
            names.append(natural(piece.words, shouting))
        i += 1
    return names


def _are_pairs_in_doubt(pieces: Sequence[Piece]) -> bool:
    """Tell whether two words stand before a comma and two behind it, so that they may be one person or two."""
    for a, b in pairwise(pieces):
        if len(a.words) > 1 and len(b.words) > 1 and not (b.joined or a.institution or is_initial(a.words[-1])):
            return len(pieces) > 2
    return False


def _read_pairs(pieces: Sequence[Piece], text: str, shouting: bool) -> list[Name]:
    """Read a list in which each name is a family name, a comma and given names, though each of them may be two words.

    That shows where all names between semicolons are such pairs ("García López, Ana María; Soto Vega, José Luis"), or
    all between "and", of which the first is clear. No names if the list is another one.
    """
    starts = [k for k, piece in enumerate(pieces) if k == 0 or piece.joined]
    runs = [pieces[a:b] for a, b in pairwise([*starts, len(pieces)])]
    pairs = [pair for run in runs if len(run) > 1 for pair in zip(run[::2], run[1::2], strict=False)]
    hard = any(piece.hard for piece in pieces)
    whole = all(len(run) == 2 or len(run[0].words) == 1 or run[0].institution for run in runs) if hard else True
    even = all(len(run) % 2 == 0 or (hard and len(run) == 1) for run in runs)
    clear = hard or _is_given(pieces[1], pieces[0], shouting, pieces)
    if not (whole and even and clear and len(pairs) > 1 and (len(runs) > 1 or len(pieces[0].words) > 1)):
        return []
    if not all(_may_be_pair(family, given) for family, given in pairs):
        return []
    names: list[Name] = []
    for run in runs:
        if len(run) == 1:
            names += _read(run, text, shouting)
        for family, given in zip(run[::2], run[1::2], strict=False):
            names.append(family_first(family.words, given.words, shouting=shouting))
    return names


def _may_be_pair(family: Piece, given: Piece) -> bool:
    """Tell whether a stretch may be a family name of one or two words, and the next one its given names.

    Not so if both show a whole name: "DUPONT Jean, MARTIN Paul", "Bo Li, Wei Zhang", "Ann Moss, J. Bell".
    """
    words = [word for word in family.words if word.lower() not in PARTICLES]
    if not 0 < len(words) < 3 or family.institution or given.institution or any(map(is_initial, words)):
        return False
    if len(given.words) > 4 or are_degrees(given.words, weak=False):
        return False
    if len(words) == 1 or len(given.words) == 1:
        return True
    eastern = [FAMILIES_FIRST.isdisjoint(map(str.casefold, part)) for part in (words, given.words)]
    first = _split_at(words, False) < 0 and _split_at(given.words, False) < 0
    return any(eastern) and not first and (is_initial(given.words[-1]) or not is_initial(given.words[0]))


def _only_families(pieces: Sequence[Piece]) -> bool:
    """Tell whether there are single words only, and they do not pair up as family and given names."""
    for piece in pieces:
        if len(piece.words) != 1 or is_initial(piece.words[0]) or _is_all_suffix(piece):
            return False
    pairs_up = len(pieces) % 2 == 0 and not any(piece.joined for piece in pieces[1::2])
    return not pairs_up and not pieces[0].institution and len(pieces) > 1


def _ends(piece: Piece, name: Name, after: Sequence[Piece]) -> bool:
    """Tell whether a stretch is the suffix of the name before it.

    "JR" and "MD" are, if that has a given name already; but not the Ma of "MA, L.".
    """
    if not name.family or _is_all_suffix(piece):
        return bool(name.family)
    if not name.given or piece.joined:
        return False
    if piece.words[0] in ("JR", "JR.", "SR", "SR.") and len(piece.words) == 1:
        return True
    return are_degrees(piece.words, weak=True) and not _has_initials(after, weak=True)


def _has_initials(pieces: Sequence[Piece], weak: bool) -> bool:
    """Tell whether a stretch is initials and nothing else, and no degree either."""
    return any(_all_initials(piece, False) and not are_degrees(piece.words, weak) for piece in pieces)


def _is_all_suffix(piece: Piece) -> bool:
    return are_suffixes(piece.words)


def _all_initials(piece: Piece, shouting: bool) -> bool:
    words = [word for word in piece.words if word not in LOW_PARTICLES and not is_suffix(word)]
    return bool(words) and all(is_initial(word, shouting) or is_short(word) for word in words)


def _is_whole(piece: Piece, shouting: bool) -> bool:
    """Tell whether a stretch has both initials and a full word that is no particle, or no space between them."""
    words = [word for word in piece.words if word not in LOW_PARTICLES and not is_suffix(word)]
    kinds = {is_initial(word, shouting) or (k + 1 < len(words) and is_short(word)) for k, word in enumerate(words)}
    if len(kinds) == 2 and words[0] == "Ó":  # which is no initial in Ó Briain
        return any(is_initial(word, shouting) for word in words[1:])
    return len(kinds) == 2 or (len(words) == 1 and is_unspaced(words[0]))


def _is_given(piece: Piece, family: Piece, shouting: bool, pieces: Sequence[Piece]) -> bool:
    """Tell whether a stretch is the given name of the stretch before it; `pieces` are all of them."""
    if piece.joined or _is_all_suffix(piece) or piece.institution:
        return False
    if _all_initials(piece, shouting):
        degrees = are_degrees(piece.words, weak=False) and not _has_initials(pieces, weak=False)
        return not degrees or _is_one_word(family)  # not for John Smith, MD
    if _is_one_word(family) or piece.words[-1] in LOW_PARTICLES:
        return True
    return len(piece.words) == 1 or (len(piece.words) == 2 and is_initial(piece.words[1]) and "." in piece.words[1])


def _are_in_short(pieces: Sequence[Piece]) -> bool:
    """Tell whether names are "Family AB" without commas, so that one word between them is a person who has one name."""
    alone = [piece.words[0] for piece in pieces if len(piece.words) == 1]
    if not 0 < len(alone) < len(pieces) - len(alone) or any(map(is_initial, alone)):
        return False
    last = pieces[-1]
    return all(len(piece.words) == 1 or _is_in_short(piece.words, piece is last) for piece in pieces)


def _is_in_short(words: Sequence[str], last: bool) -> bool:
    """Tell whether words are a family name and initials without stops, but for one that ends the list."""
    initials = words[-1].removesuffix(".") if last else words[-1]
    return initials.isalpha() and is_initial(initials) and not any(map(is_initial, words[:-1]))


def _is_one_word(family: Piece) -> bool:
    return len([word for word in family.words if word.lower() not in PARTICLES and not is_suffix(word)]) == 1


def _alone(piece: Piece, text: str, shouting: bool) -> Name:
    """Read a stretch without initials that nothing belongs to: a name, or an acronym, which stays as it is."""
    if len(piece.words) == 1 and (is_initial(piece.words[0]) or (piece.words[0].isupper() and not shouting)):
        return piece.literal(text)
    return natural(piece.words, shouting)


_UPPER = "A-ZÀ-ÖØ-ÞĆČĎĐĘĚĞİĽŁŃŇŐŘŚŞŠŤŮŰŹŻŽ"
_LOWER = "a-zß-öø-ÿąćčďđęěğıľłńňőřśşšťůűźżž"
_WORD = rf"[{_UPPER}][\w'’-]*[{_LOWER}]"
_INITIALS = rf"[{_UPPER}]\.(?:-?[{_UPPER}]\.){{0,4}}"
_GIVEN = rf"(?:{_WORD}|{_INITIALS}|[{_UPPER}]{{1,2}})"
_PARTICLES = rf"((?:(?=[a-z])(?:{'|'.join(sorted(filter(str.isalpha, PARTICLES)))}) )*)"
_JOINER = "and|und|et|&"
_PERSON = re.compile(
    rf"(?:((?:{_GIVEN} ){{1,5}}){_PARTICLES}({_WORD})"
    rf"|{_PARTICLES}({_WORD}|[{_UPPER}]\.(?=,)),? ({_INITIALS}(?: {_INITIALS}){{0,3}}|[{_UPPER}]{{1,3}}))"
    rf"(?:\.?[ ,;:]*\Z|(?:[,;]| (?=(?:{_JOINER}) )) ?(?:({_JOINER}) )?)"
)
# The first of a list in full, as sorted bibliographies have it: "Jaffe, David A., and Julius O. Smith". The groups are
# those of a person, of which the first four are empty.
_FIRST_IN_FULL = re.compile(rf"()()()()({_WORD}), ({_GIVEN}(?: {_GIVEN}){{0,3}}\.?)(?:[ ,;:]*\Z|,? ({_JOINER}) |, )")
_INSTITUTIONAL = (
    INSTITUTION_WORDS | INSTITUTION_FIRST_WORDS | WEAK_INSTITUTION_WORDS | INSTITUTION_INNER | INSTITUTION_OPENINGS
)
_OTHERS_IN_A_WORD = vocabulary("others coworkers co-workers etal etalii etalia")
_SPECIAL = (
    DEGREE_PARTS
    | TITLES
    | _OTHERS_IN_A_WORD
    | HUNGARIAN_INITIALS
    | ROLE_OPENINGS
    | frozenset(map(str.casefold, PARTICLES | SUFFIXES | JOINERS | ROLES | ROLES_IN_SHORT | _INSTITUTIONAL))
)
_NUMBERS = frozenset(re.sub(r"(?<=.)(?=.)", ". ", word) + "." for word in NUMERALS)
_LONGEST_PERSON = 100  # characters of a person's name, so that no more is kept in memory for the next time


def usual_names(text: str) -> tuple[list[Name], list[str]] | None:
    """Return the names of a list and the words that join them; None if it is not one of the usual lists."""
    names: list[Name] = []
    joiners: list[str] = []
    at, some_in_full, some_inverted = 0, False, False
    while at < len(text):
        found = _PERSON.match(text, at) or (_FIRST_IN_FULL.match(text) if not at else None)
        if not found or found.end() - at > _LONGEST_PERSON:
            return None
        first, particle, family, inverted_particle, inverted_family, initials, joiner = found.groups()
        if initials:
            particle, family, some_inverted = inverted_particle, inverted_family, some_inverted or at > 0
        at = found.end()
        given, in_full = _given(first or initials)
        some_in_full |= in_full
        if not given or not _is_ordinary(family):
            return None
        names.append(Name(family.removesuffix("."), given, particle[:-1]))
        if joiner and joiner != "&":
            joiners.append(joiner)
    # After "Anna Smith, " a family name alone may be one more given name, and "J. Ho." two abbreviated ones.
    # Between semicolons, "Ana Soto, Eva Luz" may be one person.
    unclear = some_in_full and (
        some_inverted or is_short(text.rstrip(" ,;:").rpartition(" ")[2]) or (";" in text and "," in text)
    )
    ruler = len(names) == 1 and names[0].given in _NUMBERS and names[0].family in RULERS  # Louis XIV
    return None if unclear or ruler or not names else (names, joiners)


@lru_cache(maxsize=4096)
def _given(text: str) -> tuple[str, bool]:
    """Return given names as they are written, "" if one may be something else; and whether any is in full."""
    words = text.split()
    in_full = not text.isupper()
    several = sum("." in a and "." not in b for a, b in pairwise(words)) > 1  # C. Chen D. Naidu A. Perez
    eastern = in_full and words[0].casefold() in FAMILIES_FIRST
    plain = [word[:-1] if len(word) > 2 and word[:-1].isalpha() and word[-1] == "." else word for word in words]
    ordinary = all(map(_is_ordinary, plain)) and not eastern and not several
    return (" ".join(map(written_given, words)) if ordinary else ""), in_full


@lru_cache(maxsize=4096)
def _is_ordinary(word: str) -> bool:
    """Tell whether a word of a list of names can only be a part of a person's name, and no particle of it."""
    low = word.casefold()
    return low not in _SPECIAL and not _has_stem_or_end(low) and not low.endswith(_FATHERS.get(low[-1:], ()))
