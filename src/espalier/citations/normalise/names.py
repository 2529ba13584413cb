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

from espalier.citations.normalise.bodies import is_hint
from espalier.citations.normalise.lexicon import (
    BEFORE_NAMES,
    DEGREE_PARTS,
    FAMILIES_FIRST,
    HINTS_OF_OTHERS,
    HUNGARIAN_INITIALS,
    JOINERS,
    LOW_PARTICLES,
    NUMERALS,
    OTHERS,
    PARTICLES,
    RARE_HINTS_OF_OTHERS,
    ROLE_BEHIND,
    ROLE_OPENINGS,
    ROLES,
    ROLES_IN_SHORT,
    RULERS,
    SHORT_GIVEN,
    SUFFIXES,
    TITLES,
    vocabulary,
)
from espalier.citations.normalise.name_words import (
    FATHERS,
    are_degrees,
    are_suffixes,
    family_at,
    family_first,
    is_initial,
    is_short,
    is_suffix,
    is_unspaced,
    natural,
    written_given,
    written_suffix,
)
from espalier.citations.normalise.text import collapse
from espalier.citations.work import Name

if TYPE_CHECKING:
    from espalier.citations.normalise.name_pieces import Piece

__all__ = ["Names", "split_names", "usual_names"]

# Dashes for the names of the reference before.
_SAME = re.compile(r"(?:[-–—―_] ?){2,}|[—―]")


# What ran into the next word: "andB. Shaw", "Fuß u.Derra", "GRAUPNER A.—PAHL A.", "EdelenD.G.B.".
_RUN_TOGETHER = re.compile(
    r"(?<!\w)(?:and|und|et|(?<= )u\.)(?=[A-ZÀ-Þ][\w.])|[a-zß-ÿ]{3}(?=[A-ZÀ-Þ]\.)"
    r"|(?<=[A-ZÀ-Þ]\.)(?=y [A-ZÀ-Þ])|(?<=[A-ZÀ-Þ]\.)(?=[—–][A-ZÀ-Þ][\w'’])|(?<=[A-ZÀ-Þ]\.[—–])(?=[A-ZÀ-Þ][\w'’])"
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
    first = family_at(words, False) < 0 and family_at(given.words, False) < 0
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
_OTHERS_IN_A_WORD = vocabulary("others coworkers co-workers etal etalii etalia")
_SPECIAL = (
    DEGREE_PARTS
    | TITLES
    | _OTHERS_IN_A_WORD
    | HUNGARIAN_INITIALS
    | ROLE_OPENINGS
    | frozenset(map(str.casefold, PARTICLES | SUFFIXES | JOINERS | ROLES | ROLES_IN_SHORT))
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
    return low not in _SPECIAL and not is_hint(word) and not low.endswith(FATHERS.get(low[-1:], ()))
