"""Lists of names as most references have them, read by one expression a person.

A person is given names or initials and a family name ("A. B. Smith", "Ludwig van Beethoven"), or a family name (or
what is left of one, "S.") and initials ("Smith, A. B.", "van der Berg AB"); commas, semicolons and "and" stand between.
Any other list, and any with a word that may be more than a part of a name (a suffix, a role, an institution's word,
"others"), is left to the general reader in `names`. That reads these lists too, and finds the same names; this one is
only sooner done. Linear time.
"""

from __future__ import annotations

import re
from functools import lru_cache

from espalier.citations.normalise.lexicon import (
    CHINESE_FAMILIES,
    DEGREE_PARTS,
    INSTITUTION_INNER,
    INSTITUTION_STEMS,
    INSTITUTION_WORDS,
    JOINERS,
    PARTICLES,
    ROLES,
    ROLES_IN_SHORT,
    SUFFIXES,
    WEAK_INSTITUTION_WORDS,
    vocabulary,
)
from espalier.citations.normalise.person import is_short, written_given
from espalier.citations.work import Name

__all__ = ["usual_names"]

_UPPER = "A-ZÀ-ÖØ-ÞĆČĎĐĘĚĞİĽŁŃŇŐŘŚŞŠŤŮŰŹŻŽ"
_LOWER = "a-zß-öø-ÿąćčďđęěğıľłńňőřśşšťůűźżž"
_WORD = rf"[{_UPPER}][\w'’-]*[{_LOWER}]"
_INITIALS = rf"[{_UPPER}]\.(?:-?[{_UPPER}]\.){{0,4}}"
_GIVEN = rf"(?:{_WORD}|{_INITIALS}|[{_UPPER}]{{1,2}})"
_PARTICLES = rf"((?:(?:{'|'.join(sorted(filter(str.isalpha, PARTICLES)))}) )*)"
_JOINER = "and|und|et|&"
_PERSON = re.compile(
    rf"(?:((?:{_GIVEN} ){{1,5}}){_PARTICLES}({_WORD})"
    rf"|{_PARTICLES}({_WORD}|[{_UPPER}]\.(?=,)),? ({_INITIALS}(?: {_INITIALS}){{0,3}}|[{_UPPER}]{{1,3}}))"
    rf"(?:\.?[ ,;:]*\Z|(?:[,;]| (?=(?:{_JOINER}) )) ?(?:({_JOINER}) )?)"
)
_INSTITUTIONAL = INSTITUTION_WORDS | WEAK_INSTITUTION_WORDS | INSTITUTION_INNER
_OTHERS = vocabulary("others coworkers co-workers etal etalii etalia")
_SPECIAL = (
    DEGREE_PARTS
    | _OTHERS
    | frozenset(map(str.casefold, PARTICLES | SUFFIXES | JOINERS | ROLES | ROLES_IN_SHORT | _INSTITUTIONAL))
)
_LONGEST = 100  # characters of a person's name, so that no more is kept in memory for the next time


def usual_names(text: str) -> tuple[list[Name], list[str]] | None:
    """Return the names of a list and the words that join them; None if it is not one of the usual lists."""
    names: list[Name] = []
    joiners: list[str] = []
    at, some_in_full, some_inverted = 0, False, False
    while at < len(text):
        found = _PERSON.match(text, at)
        if not found or found.end() - at > _LONGEST:
            return None
        at = found.end()
        first, particle, family, inverted_particle, inverted_family, initials, joiner = found.groups()
        if initials:
            particle, family, some_inverted = inverted_particle, inverted_family, True
        given, in_full = _given(first or initials)
        some_in_full |= in_full
        if not given or not _is_ordinary(family):
            return None
        names.append(Name(family.removesuffix("."), given, particle[:-1]))
        if joiner and joiner != "&":
            joiners.append(joiner)
    # After "Anna Smith, " a family name alone may be one more given name, and "J. Ho." two abbreviated ones.
    unclear = some_in_full and (some_inverted or is_short(text.rstrip(" ,;:").rpartition(" ")[2]))
    return None if unclear or not names else (names, joiners)


@lru_cache(maxsize=4096)
def _given(text: str) -> tuple[str, bool]:
    """Return given names as they are written, "" if one may be something else; and whether any is in full."""
    words = text.split()
    in_full = not text.isupper()
    ordinary = all(_is_ordinary(word) for word in words) and not (in_full and words[0].casefold() in CHINESE_FAMILIES)
    return (" ".join(map(written_given, words)) if ordinary else ""), in_full


@lru_cache(maxsize=4096)
def _is_ordinary(word: str) -> bool:
    """Tell whether a word of a list of names can only be a part of a person's name, and no particle of it."""
    low = word.casefold()
    return low not in _SPECIAL and not low.startswith(INSTITUTION_STEMS)
