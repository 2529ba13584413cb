"""What a whole list of names shows, and no name of it alone: made plain in its pieces before they are read.

A list of one name may be that of a ruler ("Louis XIV") or a word for the names of the reference before ("Ders.").
Two people share a family name that is written once ("J. and A.
Webb", "Grimm, Jacob und Wilhelm"); each of them gets it, which is the only case where words of the text come twice.
Given names stand in brackets behind families ("Braudel (Fernand) et Labrousse (Ernest)"), and a short word behind
others in capitals is a family name ("PETER GAY") where nobody has initials at the end.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from espalier.citations.normalise.lexicon import (
    BACK_REFERENCES,
    CHINESE_FAMILIES,
    FAMILIES_FIRST,
    GIVEN_NAMES,
    GIVEN_NAMES_ONLY,
    LOW_PARTICLES,
    NUMERALS,
    PARTICLES,
    REGNAL,
    ROLE_OPENINGS,
    ROLES_OF_WORDS,
    RULERS,
    RULERS_IN_TWO_WORDS,
    vocabulary,
)
from espalier.citations.normalise.name_pieces import (
    Piece,
    capital_families,
    lower_families,
    pieces_of,
    short_families,
    spell_out,
)
from espalier.citations.normalise.name_words import is_initial, recased, sounds_eastern

__all__ = ["plain_pieces"]

_NOBODY = re.compile(r"\W*(?:[Aa]{2}\.? ?V[Vv]|VV\.? ?AA|o\. ?[VA])\W*")  # autori vari, ohne Verfasser
_NUMBERED_AND_NO_FAMILIES = vocabulary("Elizabeth Elisabeth Catherine Katharina Victoria Isabel Mary Napoleon Pius")
_BEFORE_A_FAMILY = vocabulary("Le La Les Du Des De Del Della Di Da Van Von Der Den Ten Ter")
_OPENINGS = frozenset(word[:3] for word in ROLE_OPENINGS) | vocabulary(
    "ed. eds tr. tra rev com hrs hg. hgg übe ube éd. éds édi éta pré réu réa dir it. fr. ted ing spa reg by"
)
_VOWEL = re.compile("[AEIOUY]")


def plain_pieces(text: str, cues: list[str]) -> tuple[str, list[Piece], bool]:
    """Return the text as it was cut, its pieces, ready to be read, and whether names are in capitals only."""
    text, pieces = pieces_of(_without_roles(text, cues), cues)
    shouting = _is_shouting(pieces)
    capital_families(pieces)
    pieces = _made_plain(pieces, text, shouting)
    lower_families(pieces)
    pieces = _in_eastern_order(pieces)
    short_families(pieces)
    spell_out(pieces)
    return text, pieces, shouting


def _without_roles(text: str, cues: list[str]) -> str:
    """Take off what the editors have done, told in several words: "ed. and trans. by"."""
    if not cues and text.lstrip(" ([-–—")[:3].lower().rstrip() not in _OPENINGS:
        return text
    found = ROLES_OF_WORDS.match(text)
    after = re.match(r"\W*de(?= [A-ZÀ-Þ]\.)", text) if cues and not found else None  # ed. de A. Josephs
    found = found or after
    if not found:
        return text
    cues.append(found[0].strip())
    return text[found.end() :]


def _is_shouting(pieces: Sequence[Piece]) -> bool:
    """Tell whether there are words of names in capitals, and none in small letters."""
    long = False
    for piece in pieces:
        for word in piece.words:
            if word not in LOW_PARTICLES:
                if not word.isupper() and any(map(str.islower, word)):
                    return False
                long |= len(word.strip(".")) > 3
    return long


def _made_plain(pieces: list[Piece], text: str, shouting: bool) -> list[Piece]:
    """Return the pieces, with those marked that are institutions, and families put beside the names that share them."""
    if not pieces:
        return pieces
    first = pieces[0]
    if len(first.words) == 1 and first.words[0] in BACK_REFERENCES:
        first.institution = True
    elif len(pieces) == 1:
        first.institution |= _NOBODY.fullmatch(text) is not None or _is_ruler(first.words)
        _join_particle(first)
    if shouting:
        _capitalise(pieces)
    if "(" in text or "[" in text:
        pieces = _with_bracketed(pieces)
    return _with_shared(pieces, text) if 1 < len(pieces) < 4 else pieces


def _is_ruler(words: Sequence[str]) -> bool:
    """Tell whether words are a ruler's name and number: "Louis XIV", "Pope Leo XIII", "Elizabeth I"."""
    titled = len(words) > 2 and words[0].casefold() in REGNAL
    name, number = words[titled:-1], words[-1]
    if len(number) > 2 and number.endswith("."):  # James I. has initials
        number = number[:-1]
    if not name or number not in NUMERALS:
        return False
    if len(number) == 1 and not titled:  # James I may have initials
        return name[0] in _NUMBERED_AND_NO_FAMILIES and len(name) == 1
    return " ".join(name) in RULERS_IN_TWO_WORDS or (
        (len(name) == 1 and name[0] in RULERS and len(number) > 1) or titled
    )


def _join_particle(piece: Piece) -> None:
    """Make one word of a family name and the capitalised particle before it ("Le Goff"), but not of "Le Song"."""
    words = piece.words
    if len(words) != 2 or piece.institution or words[0] not in _BEFORE_A_FAMILY or not words[1].istitle():
        return
    last = words[1].removesuffix(".")
    if len(last) > 2 and last.casefold() not in FAMILIES_FIRST | PARTICLES and not sounds_eastern(last):
        piece.words = [" ".join(words)]


def _capitalise(pieces: Sequence[Piece]) -> None:
    """Write names in capitals as others are if the last word may be taken for initials: PETER GAY, JOHN HART ELY."""
    for piece in pieces:
        *given, last = piece.words
        if not piece.institution and len(last) < 3 and given and is_initial(last):
            return  # SMITH JA
    for piece in pieces:
        *given, last = piece.words
        whole = bool(given) and all(word.isalpha() and (len(word) > 3 or word.lower() in PARTICLES) for word in given)
        if whole and not piece.institution and len(last) == 3 and last.isalpha() and _VOWEL.search(last):
            piece.words = [low if (low := word.lower()) in PARTICLES else recased(word) for word in piece.words]


def _with_bracketed(pieces: list[Piece]) -> list[Piece]:
    """Return common given names that stand in brackets behind families as pieces of their own: NORA (Pierre).

    Other words in brackets are something else: Smith (Canada), Stendhal (Henri Beyle).
    """
    found: list[Piece] = []
    for piece in pieces:
        found.append(piece)
        given = GIVEN_NAMES.issuperset(piece.asides) or (
            piece.words[-1].isupper() and not any(map(is_initial, piece.words)) and " ".join(piece.asides).istitle()
        )
        if piece.asides and (len(piece.words) == 1 or piece.words[-1].isupper()) and not piece.institution and given:
            found.append(Piece(words=list(piece.asides)))
            piece.asides = ()
    return found


def _in_eastern_order(pieces: list[Piece]) -> list[Piece]:
    """Return names of two words of China apart, family and given, if most of a list show that families come first.

    Of "Liu Xun, Lv Linsheng, Ling Li, Lou Tanqi" two begin with the commonest families, and one ends with one.
    """
    pairs = [piece for piece in pieces if len(piece.words) == 2 and all(map(sounds_eastern, piece.words))]
    shown = [piece.words[0].casefold() in CHINESE_FAMILIES for piece in pairs]
    other = [piece.words[1].strip(".").casefold() in CHINESE_FAMILIES for piece in pairs]
    if (
        len(pairs) < len(pieces)
        or len(pairs) < 3
        or any(piece.institution or any(map(is_initial, piece.words)) for piece in pairs)
    ):
        return pieces
    if sum(shown) - sum(other) < 2:
        return pieces
    found: list[Piece] = []
    for piece in pieces:
        family, given = piece.words
        found += [
            Piece(joined=piece.joined, hard=piece.hard, joiners=piece.joiners, words=[family]),
            Piece(words=[given]),
        ]
    return found


def _with_shared(pieces: list[Piece], text: str) -> list[Piece]:
    """Put a family name that two people share beside the given names of each."""
    if "," in text[pieces[-2].end : pieces[-1].start]:
        return pieces
    if len(pieces) == 2:
        one, other = pieces
        if n := _shared_from(one, other):
            one.words += other.words[n:]
    elif len(pieces) == 3 and _are_siblings(pieces):
        last = pieces[2]
        family = Piece(joined=True, words=list(pieces[0].words))
        return [*pieces[:2], family, Piece(words=last.words, asides=last.asides)]
    return pieces


def _shared_from(one: Piece, other: Piece) -> int:
    """Return where the family name of a stretch begins if the one before it lacks it; 0 if it does not."""
    if not other.joined or other.hard or one.institution or other.institution:
        return 0
    given, words = one.words, other.words
    if len(given) < 3 and all(is_initial(word) and "." in word for word in given):
        n = next((n for n, word in enumerate(words) if not is_initial(word)), 0)
        return n if all("." in word for word in words[:n]) and not any(map(is_initial, words[n:])) else 0
    couple = len(given) == 1 and len(words) == 2
    return 1 if couple and given[0] in GIVEN_NAMES and words[0] in GIVEN_NAMES else 0


def _are_siblings(pieces: Sequence[Piece]) -> bool:
    """Tell whether a family name stands before two given names: "Grimm, Jacob und Wilhelm"."""
    family, one, other = pieces
    single = all(len(piece.words) == 1 and not piece.institution for piece in pieces)
    if not single or one.joined or not other.joined or other.hard:
        return False
    given = one.words[0] in GIVEN_NAMES_ONLY and other.words[0].removesuffix(".") in GIVEN_NAMES_ONLY
    return given and family.words[0] not in GIVEN_NAMES
