"""A list of names in any of the usual styles -> persons and institutions, and the words that only joined them.

Styles are not asked for; each stretch between commas is read by what it looks like. A stretch with initials and a
full word is a whole name ("A. B. Smith", "Smith AB"); initials alone are the given name of the stretch before; one
word alone is a family name, and what follows it after a comma is its given name, but not after an "and". So
"Smith, A. B., & Jones, C.", "Smith AB, Jones C", "A. B. Smith and C. Jones" and "Smith, Anna, and Carl Jones"
are all two persons. What has the words of an institution is a literal name, with its commas and its "and".

Nothing is lost: the letters of the text are those of the names, of `Names.cues`, which are the joining words,
the roles ("(Eds.)", "edited by") and the marks of an unfinished list ("et al."), and of `Names.asides`.

Most lists are read by one expression for each person (`usual_names`): given names or initials and a family name, or a
family name and initials, with commas, semicolons and "and" between. A list with a word that may be more than part of a
name (a suffix, a role, an institution's word, "others") is left to the general reader, which cuts it into pieces first.
That finds the same names in the usual lists, too, only later; a test holds the two together. Linear time: each token is
looked at once, and at most a few tokens after it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from espalier.citations.normalise.lexicon import (
    BEFORE_NAMES,
    CHINESE_FAMILIES,
    DEGREE_PARTS,
    HINTS_OF_OTHERS,
    INSTITUTION_INNER,
    INSTITUTION_STEMS,
    INSTITUTION_WORDS,
    JOINERS,
    LOW_PARTICLES,
    OTHERS,
    PARTICLES,
    ROLES,
    ROLES_IN_SHORT,
    SUFFIXES,
    WEAK_INSTITUTION_WORDS,
    vocabulary,
)
from espalier.citations.normalise.person import (
    are_degrees,
    are_suffixes,
    family_first,
    is_initial,
    is_institution,
    is_short,
    is_suffix,
    is_unspaced,
    may_go_on,
    natural,
    written_given,
    written_suffix,
)
from espalier.citations.normalise.text import collapse, trim
from espalier.citations.work import Name

__all__ = ["Names", "Piece", "pieces_of", "split_names", "usual_names"]

# Dashes for the names of the reference before.
_SAME = re.compile(r"(?:[-–—―_] ?){2,}|[—―]")


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
    text, others = _without_opening(collapse(text), cues), False
    usual = None if "et al" in text else usual_names(text)  # which would come to nothing in the end
    if usual is None:
        text, others = _without_marks(text, cues)
        usual = usual_names(text) if others else None
    if usual is not None:
        names, joiners = usual
        return Names(tuple(names), others, (*cues, *joiners))
    return _split(text, others, cues)


def _split(text: str, others: bool, cues: list[str]) -> Names:
    """Read any list, stretch by stretch; the cues are those found before."""
    text, pieces = pieces_of(text, cues)
    shouting = _is_shouting(pieces)
    names: list[Name] = []
    i = 0
    while i < len(pieces):
        j = i + 1
        while j < len(pieces) and not pieces[j].hard:
            j += 1
        names.extend(_read(pieces[i:j], text, shouting))
        i = j
    if not names and _SAME.fullmatch(same := text.strip(" .,:;()[]")):
        names = [Name(literal=same)]
    asides = tuple(" ".join(piece.asides) for piece in pieces if piece.asides)
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


def _without_marks(text: str, cues: list[str]) -> tuple[str, bool]:
    """Take out the marks of others not named, for which a semicolon is put; and tell whether there were any."""
    marks = OTHERS.findall(text) if any(map(text.casefold().__contains__, HINTS_OF_OTHERS)) else []
    cues.extend(marks)
    return (OTHERS.sub(";", text) if marks else text), bool(marks)


def _is_shouting(pieces: Sequence[Piece]) -> bool:
    """Tell whether there are words of names in capitals, and none in small letters."""
    words = [word for piece in pieces for word in piece.words if word not in LOW_PARTICLES]
    if any(map(str.islower, "".join(words))):
        return False
    return any(len(word.strip(".")) > 3 for word in words)


def _read(pieces: Sequence[Piece], text: str, shouting: bool) -> list[Name]:
    """Read the stretches between two hard separators."""
    if _only_families(pieces):
        return [natural(piece.words, shouting and len(pieces) > 1) for piece in pieces]
    names: list[Name] = []
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
            if i + 2 < len(pieces) and _is_suffix(pieces[i + 1]) and _is_given(pieces[i + 2], piece, shouting, pieces):
                suffix = written_suffix(pieces[i + 1].words)  # Smith, Jr., J.
                i += 1
            if i + 1 < len(pieces) and _is_given(pieces[i + 1], piece, shouting, pieces):
                names.append(family_first(piece.words, pieces[i + 1].words, suffix, shouting))
                i += 1
            else:
                names.append(_alone(piece, text, shouting and len(pieces) > 1))
        else:
            names.append(natural(piece.words, shouting))
        i += 1
    return names


def _only_families(pieces: Sequence[Piece]) -> bool:
    """Tell whether there are single words only, and they do not pair up as family and given names."""
    for piece in pieces:
        if len(piece.words) != 1 or is_initial(piece.words[0]) or _is_suffix(piece):
            return False
    pairs_up = len(pieces) % 2 == 0 and not any(piece.joined for piece in pieces[1::2])
    return not pairs_up and not pieces[0].institution and len(pieces) > 1


def _ends(piece: Piece, name: Name, after: Sequence[Piece]) -> bool:
    """Tell whether a stretch is the suffix of the name before it.

    "JR" and "MD" are, if that has a given name already; but not the Ma of "MA, L.".
    """
    if not name.family or _is_suffix(piece):
        return bool(name.family)
    if not name.given or piece.joined:
        return False
    if piece.words[0] in ("JR", "JR.", "SR", "SR.") and len(piece.words) == 1:
        return True
    return are_degrees(piece.words, weak=True) and not _has_initials(after, weak=True)


def _has_initials(pieces: Sequence[Piece], weak: bool) -> bool:
    """Tell whether a stretch is initials and nothing else, and no degree either."""
    return any(_all_initials(piece, False) and not are_degrees(piece.words, weak) for piece in pieces)


def _is_suffix(piece: Piece) -> bool:
    return are_suffixes(piece.words)


def _all_initials(piece: Piece, shouting: bool) -> bool:
    words = [word for word in piece.words if word not in LOW_PARTICLES and not is_suffix(word)]
    return bool(words) and all(is_initial(word, shouting) or is_short(word) for word in words)


def _is_whole(piece: Piece, shouting: bool) -> bool:
    """Tell whether a stretch has both initials and a full word that is no particle, or no space between them."""
    words = [word for word in piece.words if word not in LOW_PARTICLES and not is_suffix(word)]
    kinds = {is_initial(word, shouting) or (k + 1 < len(words) and is_short(word)) for k, word in enumerate(words)}
    return len(kinds) == 2 or (len(words) == 1 and is_unspaced(words[0]))


def _is_given(piece: Piece, family: Piece, shouting: bool, pieces: Sequence[Piece]) -> bool:
    """Tell whether a stretch is the given name of the stretch before it; `pieces` are all of them."""
    if piece.joined or _is_suffix(piece) or piece.institution:
        return False
    if _all_initials(piece, shouting):
        degrees = are_degrees(piece.words, weak=False) and not _has_initials(pieces, weak=False)
        return not degrees or _is_one_word(family)  # not for John Smith, MD
    if _is_one_word(family) or piece.words[-1] in LOW_PARTICLES:
        return True
    return len(piece.words) == 1 or (len(piece.words) == 2 and is_initial(piece.words[1]) and "." in piece.words[1])


def _is_one_word(family: Piece) -> bool:
    return len([word for word in family.words if word.lower() not in PARTICLES and not is_suffix(word)]) == 1


def _alone(piece: Piece, text: str, shouting: bool) -> Name:
    """Read a stretch without initials that nothing belongs to: a name, or an acronym, which stays as it is."""
    if len(piece.words) == 1 and (is_initial(piece.words[0]) or (piece.words[0].isupper() and not shouting)):
        return piece.literal(text)
    return natural(piece.words, shouting)


# Initials that run into the next word ("J.P.Smith"), and spaces around a hyphen ("J. - P.", "Garcia - Molina").
_GLUED = re.compile(r"(?<![^\W\d_])([^\W\d_]\.)(?=[^\W\d_]{2})")
_MAY_BE_GLUED = re.compile(r"\.[^\W\d_]{2}")
_HYPHENED = re.compile(r"(?:(?<=\b[^\W\d_]\.) ?([-‐‑]) ?(?=[^\W\d_]\.))|(?<=[^\W\d_]) ([-‐‑]) (?=[^\W\d_])")
_TOKEN = re.compile(
    r"&amp;|[\u3040-\u9fff]+(?:·[\u3040-\u9fff]+)+"  # a name from elsewhere in Chinese signs: 卡尔·马克思
    r"|[,;/|·•、，；。｡&:()\[\]{}（）]|[^\s,;/|·•、，；。｡&:()\[\]{}（）]+"
)
_ASIAN_STOP = re.compile("(?<=[\u3040-\u9fff\uac00-\ud7a3])[.．]")
_AROUND_WORDS = "\"“”„«»*†‡§¶'‘’《》「」『』〈〉"
_APOSTROPHE = re.compile(r"[\"“”„«»*†‡§¶]*(?=['’][st](?:$|[-‐A-Z]))")  # 't Hooft, 's-Gravesande

_HARD = frozenset(";/|·•；。｡")
_COMMAS = frozenset(",，、")
_OPENING, _CLOSING = frozenset("([{（"), frozenset(")]}）")
_DASHES = frozenset(("-", "–", "—", "--"))
_SOFT_JOINERS = vocabulary("y e i u.")  # they also stand inside a family name: Ramón y Cajal
_LONGEST_PLAIN = 24  # characters of a word that is kept in memory for the next time
_LONGEST_ASIDE = 8  # tokens; a bracket that closes no sooner is taken for a stray sign


@dataclass(slots=True)
class Piece:
    """Words between two separators, with their place in the text.

    joined : an "and" or a hard separator (";", "/") stands before them, `hard` the latter; joiners : its words.
    inner : the joining words inside an institution's name.
    run : how many stretches lie between this one and the last that was joined.
    asides : the words in brackets; broken : a word that names a role was taken out, perhaps from the middle.
    institution, unfinished : what `is_institution` and `may_go_on` say of the words.
    """

    run: int = 0
    joined: bool = False
    hard: bool = False
    joiners: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    words: list[str] = field(default_factory=list)
    asides: tuple[str, ...] = ()
    start: int = -1
    end: int = -1
    broken: bool = False
    institution: bool = False
    unfinished: bool = False

    def take_given(self) -> None:
        """Take initials in brackets for the given name of a person who has none: "Kefi (N.)"."""
        if not self.asides:
            return
        initials = all(is_initial(word) and "." in word for word in self.asides)
        if initials and not any(map(is_initial, self.words)):
            self.words += self.asides
            self.asides = ()

    def literal(self, text: str) -> Name:
        """Return the stretch of text as it is, with its asides; or the words alone if others have been taken out."""
        if self.broken:
            return Name(literal=" ".join(self.words))
        self.asides = ()
        return Name(literal=trim(text[self.start : self.end]))


def pieces_of(text: str, cues: list[str]) -> tuple[str, list[Piece]]:
    """Return the text as it was cut, and its pieces; add to the cues the words that are in no piece.

    What commas and "and" have cut inside the name of an institution is put together again. The words of
    a bracket are a part of an institution's name, and the `asides` of a person's.
    """
    text = text if text.isascii() else _ASIAN_STOP.sub("。", text).replace("．", ".")
    text = _HYPHENED.sub(r"\1\2", text) if "-" in text else text
    text = _GLUED.sub(r"\1 ", text) if _MAY_BE_GLUED.search(text) else text
    merged: list[Piece] = []
    pieces = list(_cut(text, cues))
    for k, piece in enumerate(pieces):
        before = merged[-1] if merged else None
        if before is not None and not piece.hard and _continues(before, piece, pieces[k + 1 : k + 2]):
            before.words += piece.words
            before.asides += piece.asides
            before.end = piece.end
            before.broken |= piece.broken
            before.institution = True
            before.unfinished |= piece.unfinished
            before.inner += piece.joiners
        else:
            merged.append(piece)
    for piece in merged:
        cues += piece.joiners
        cues += piece.inner if piece.broken else ()
    return text, merged


def _cut(text: str, cues: list[str]) -> Iterator[Piece]:
    """Yield the pieces, each with at least one word."""
    tokens = [(m[0], *m.span()) for m in _TOKEN.finditer(text)]
    piece = Piece()
    bracketed = aside = False
    for k, (token, start, end) in enumerate(tokens):
        word = _plain(token) if len(token) <= _LONGEST_PLAIN else ""
        if word:
            pass
        elif token in _OPENING:
            bracketed = True
            aside = bool(piece.words) and any(t[0] in _CLOSING for t in tokens[k + 1 : k + 1 + _LONGEST_ASIDE])
        elif token in _CLOSING:
            piece.end = end if aside and piece.asides else piece.end
            bracketed = aside = False
        elif not aside and _separates(tokens, k, piece):
            if piece.words:
                yield _judged(piece)
                piece = Piece(piece.run + 1)
            if token not in _COMMAS:
                piece.joined, piece.run = True, 0
                piece.hard |= token in _HARD or token in _DASHES
                piece.joiners += (token,) if any(map(str.isalpha, token)) else ()
        elif _is_role(token, bracketed):
            cues.append(token)
            piece.broken = True
        elif any(map(str.isalnum, token)):
            word = _bare(token)
        if word and aside:
            piece.asides += (word,)
        elif word:
            piece.words.append(word)
            piece.start, piece.end = start if piece.start < 0 else piece.start, end
    if piece.words:
        yield _judged(piece)
    else:
        cues += piece.joiners


@lru_cache(maxsize=4096)
def _plain(token: str) -> str:
    """Return a token as a word of a name; "" for what may be something else, a bracket, a separator or a role."""
    short = token.rstrip(".").casefold()
    other = token.lower() in JOINERS or token in _SOFT_JOINERS or short in ROLES or short in ROLES_IN_SHORT
    return "" if other or not any(map(str.isalnum, token)) else _bare(token)


def _bare(token: str) -> str:
    """Return a word without the signs around it, a particle without a stop; but the apostrophe of "'t" stays."""
    if found := _APOSTROPHE.match(token):
        return token[found.end() :].rstrip(_AROUND_WORDS)
    word = token.strip(_AROUND_WORDS).lstrip(".") or token
    return word.removesuffix(".") if word.removesuffix(".") in LOW_PARTICLES else word


def _judged(piece: Piece) -> Piece:
    piece.take_given()
    piece.institution = is_institution(piece.words)
    piece.unfinished = may_go_on(piece.words)
    return piece


def _separates(tokens: Sequence[tuple[str, int, int]], k: int, piece: Piece) -> bool:
    """Tell whether a token stands between two names."""
    token = tokens[k][0]
    if token in _COMMAS or token in _HARD or token in JOINERS:
        return True
    after = tokens[k + 1][0] if k + 1 < len(tokens) else ""
    if token.lower() in JOINERS:  # but "Smith ET," is a name
        return len(token) > 2 or (after[:1].isupper() and after.lower() not in JOINERS)
    if token in _DASHES:
        return after[:1].isupper() and (len(piece.words) > 1 or (bool(piece.words) and piece.run > 0))
    return token in _SOFT_JOINERS and bool(piece.words) and bool(after) and _joins(tokens, k, piece)


def _joins(tokens: Sequence[tuple[str, int, int]], k: int, piece: Piece) -> bool:
    """Tell whether "y" (or its like) joins two names, rather than the two halves of one family name."""
    if all(map(is_initial, piece.words)):
        return True
    after = []
    for word, _, _ in tokens[k + 1 : k + 7]:
        if word in _COMMAS or word in _HARD or word.lower() in JOINERS:
            break
        after.append(word)

    def whole(words: Sequence[str]) -> bool:
        return len(words) > 1 or any(map(is_initial, words))

    is_given = piece.run % 2 == 1  # as in "García, Juan y Pérez, María"
    return (whole(piece.words) or is_given) and (whole(after) or k + 1 + len(after) < len(tokens))


def _is_role(word: str, bracketed: bool) -> bool:
    short = word.rstrip(".").casefold()
    if short in ROLES:
        return True
    return short in ROLES_IN_SHORT and (bracketed or word.islower() or word.endswith("."))


def _continues(before: Piece, piece: Piece, after: Sequence[Piece]) -> bool:
    """Tell whether a piece goes on with the institution before it, or the piece before belongs to this one."""
    first, second = before.institution, piece.institution
    if not (first or second) or any(map(is_initial, piece.words)):
        return False
    if piece.joined and second:  # "Food and" Agriculture Organization, but "John Smith and" ...
        return not first and len(before.words) != 2 and not any(map(is_initial, before.words))
    if piece.joined:
        return before.unfinished or not any(word[:1].isupper() for word in piece.words)
    alone = len(piece.words) == 1 and not (after and all(map(is_initial, after[0].words)))
    return first and (second or (alone and before.unfinished))


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
_OTHERS_IN_A_WORD = vocabulary("others coworkers co-workers etal etalii etalia")
_SPECIAL = (
    DEGREE_PARTS
    | _OTHERS_IN_A_WORD
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
