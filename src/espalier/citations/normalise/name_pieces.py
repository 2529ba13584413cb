"""A list of names cut into stretches: words between commas, semicolons, strokes, dashes and joining words.

What commas and "and" have cut inside the name of an institution is put together again. The words that are in no
stretch (joiners, roles) are handed to the caller, so that no letter of the text is lost. Names that lost the marks
between them are apart again where initials tell them apart (`_untangled`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from espalier.citations.normalise.bodies import HARD, MORE, PERSON, Stretch, labels_of
from espalier.citations.normalise.lexicon import (
    JOINERS,
    LOW_JOINERS,
    LOW_PARTICLES,
    PARTICLES,
    ROLES,
    ROLES_ALONE,
    ROLES_IN_SHORT,
    TITLES,
    vocabulary,
)
from espalier.citations.normalise.name_words import (
    are_degrees,
    has_lower,
    is_initial,
    is_suffix,
    recased,
)
from espalier.citations.normalise.text import trim
from espalier.citations.work import Name

__all__ = ["Piece", "capital_families", "lower_families", "pieces_of", "short_families", "spell_out", "stretches_of"]

# Initials that run into the next word ("J.P.Smith"), and spaces around a hyphen ("J. - P.", "Garcia - Molina").
_GLUED = re.compile(r"(?<![^\W\d_])([^\W\d_]\.)(?=[^\W\d_]{2})")
_MAY_BE_GLUED = re.compile(r"\.[^\W\d_]{2}")
_HYPHENED = re.compile(
    r"(?:(?<=\b[^\W\d_]\.) ?([-‐‑]) ?(?=[^\W\d_]\.))|(?<=[^\W\d_]) ([-‐‑]) (?=[^\W\d_])(?![^\W\d_]\.)"
)
# A spaced hyphen between two whole names: Anna Bowen - Carl Finch.
_BETWEEN_NAMES = re.compile(r"([^\W\d_]{2,} [^\W\d_]{2,}) [-‐‑] (?=[^\W\d_]{2,} [A-ZÀ-Þ][^\W\d_]{2})")
_FAMILY_APART = re.compile(r"[^\s,;.]+(?: [^\s,;.]+)? ,(?= [^\W\d_]\.)")  # Warren , S. G.
_TOKEN = re.compile(
    r"&amp;|[\u3040-\u9fff]+(?:·[\u3040-\u9fff]+)+"  # a name from elsewhere in Chinese signs: 卡尔·马克思
    r"|[,;/|·•、，؛،；。｡&:()\[\]{}（）]|[^\s,;/|·•、，؛،；。｡&:()\[\]{}（）]+"
)
_ASIAN_STOP = re.compile("(?<=[\u3040-\u9fff\uac00-\ud7a3])[.．]")
# The dot between Japanese names in Chinese signs; between others it is a part of the name: ジャン・ピアジェ.
_DOT_OF_JAPAN = re.compile(
    "(?<![\u3040-\u9fff])((?:[\u3005\u4e00-\u9fff]{3,5}・)+)(?=[\u3005\u4e00-\u9fff]{3,5}(?![\u3040-\u9fff]))"
)
_AROUND_WORDS = "\"“”„«»*†‡§¶'‘’《》「」『』〈〉"
_APOSTROPHE = re.compile(r"[\"“”„«»*†‡§¶]*(?=['’][st](?:$|[-‐A-Z]))")  # 't Hooft, 's-Gravesande

_HARD = frozenset(";/|·•；؛。｡")
_COMMAS = frozenset(",，、،")
_OPENING, _CLOSING = frozenset("([{（"), frozenset(")]}）")
_DASHES = frozenset(("-", "–", "—", "--"))
_SOFT_JOINERS = vocabulary("y e i a ja")  # they also stand inside a family name: Ramón y Cajal
_UND = "u."
_LONGEST_PLAIN = 24  # characters of a word that is kept in memory for the next time
_LONGEST_ASIDE = 8  # tokens; a bracket that closes no sooner is taken for a stray sign


@dataclass(slots=True)
class Piece:
    """Words between two separators, with their place in the text.

    joined : an "and" or a hard separator (";", "/") stands before them, `hard` the latter; joiners : its words.
    inner : the joining words inside an institution's name.
    run : how many stretches lie between this one and the last that was joined.
    titles : what the person is called before the name; asides : the words in brackets.
    broken : a word that names a role was taken out, perhaps from the middle.
    institution : it is a body, says `bodies`.
    """

    run: int = 0
    joined: bool = False
    hard: bool = False
    joiners: tuple[str, ...] = ()
    inner: tuple[str, ...] = ()
    words: list[str] = field(default_factory=list)
    titles: tuple[str, ...] = ()
    asides: tuple[str, ...] = ()
    start: int = -1
    end: int = -1
    broken: bool = False
    institution: bool = False

    def stretch(self) -> Stretch:
        """Return what is judged of the piece."""
        before = HARD if self.hard else (self.joiners or ("&",))[-1].casefold() if self.joined else ","
        return Stretch(self.words, before, bool(self.asides) and _is_short_for("".join(self.asides), self.words))

    def take_given(self) -> None:
        """Take initials in brackets for the given name of a person who has none: "Kefi (N.)"."""
        initials = self.asides and all(is_initial(word) and "." in word for word in self.asides)
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
    text = _untied(text)
    merged: list[Piece] = []
    pieces = list(_cut(text, cues))
    for piece, label in zip(pieces, labels_of([piece.stretch() for piece in pieces]), strict=True):
        piece.institution = label != PERSON
        if label == MORE:
            before = merged[-1]
            before.words += piece.words
            before.asides += piece.asides
            before.end = piece.end
            before.broken |= piece.broken
            before.inner += piece.joiners
        else:
            merged.append(piece)
    for piece in merged:
        cues += piece.joiners
        cues += piece.inner if piece.broken else ()
    apart = len(merged) == 2 and _FAMILY_APART.match(text)
    return text, (_behind_first(*merged) if apart else []) or _untangled(merged)


def stretches_of(text: str) -> list[Stretch]:
    """Return the stretches between separators as they are judged: what `bodies` learns from."""
    return [piece.stretch() for piece in _cut(_untied(text), [])]


def _untied(text: str) -> str:
    """Return the text with the separators of East Asia as others are, and words apart that ran together."""
    if not text.isascii():
        text = _ASIAN_STOP.sub("。", text).replace("．", ".")
        text = _DOT_OF_JAPAN.sub(lambda found: found[0].replace("・", "；"), text) if "・" in text else text
    if "-" in text:
        text = _HYPHENED.sub(r"\1\2", _BETWEEN_NAMES.sub(r"\1 – ", text))
    return _GLUED.sub(r"\1 ", text) if _MAY_BE_GLUED.search(text) else text


def _untangled(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces, cut anew where marks between names were lost.

    In "Sedlacek, G. Weynand, K. Oerder, S." they are left between families and initials only (so in "JOUET, Anne CARA,
    Tim"), in "C. Chen D. S. Naidu
    A. Perez" and "Work T. S. Burdon R. H." nowhere. "J. Edgar P. Hoover" may be one person with two given names.
    """
    first, last = (pieces[0], pieces[-1]) if pieces else (Piece(), Piece())
    shifted = len(pieces) > 2 and not any(map(is_initial, first.words)) and all(map(is_initial, last.words))
    if shifted and all(not piece.joined and _is_given_first(piece.words) for piece in pieces[1:-1]):
        families = [first.words, *[_families(piece.words) for piece in pieces[1:-1]]]
        givens = [[word for word in piece.words if is_initial(word)] for piece in pieces[1:]]
        return [Piece(words=[*family, *given]) for family, given in zip(families, givens, strict=True)]
    if len(pieces) > 2 and first.words[0].isupper() and first.words[-1].isupper():
        pieces = _shifted_capitals(pieces) or pieces
    found: list[Piece] = []
    for piece in pieces:
        several = len(piece.words) > 3 and not piece.institution and not piece.asides  # two words a person
        persons = _persons(piece.words) if several else []
        if persons and len(persons) > (2 if is_initial(piece.words[0]) else 1):
            found += [Piece(joined=piece.joined or k > 0, words=words) for k, words in enumerate(persons)]
        else:
            found.append(piece)
    return found


def _behind_first(first: Piece, others: Piece) -> list[Piece]:
    """Return the persons of "Warren , S. G. C. J. Hahn J. London", where only the first family name is set apart.

    Of the initials behind it the first half is its own.
    """
    n = next((n for n, word in enumerate(others.words) if not is_initial(word)), 0)
    own = (n + 1) // 2
    persons = _persons(others.words[own:]) if n > 1 and not (first.institution or others.institution) else []
    if not persons or not all(map(_is_given_first, persons)):
        return []
    named = [[*first.words, *others.words[:own]], *persons]
    return [Piece(joined=k > 0, words=words) for k, words in enumerate(named)]


def _shifted_capitals(pieces: Sequence[Piece]) -> list[Piece]:
    """Return families in capitals and the given names behind them as pieces, if no mark is left between persons."""
    split = [(_given_in_front(piece.words), piece.words) for piece in pieces[1:]]
    inner = all(0 < n < len(words) and all(map(str.isupper, words[n:])) for n, words in split[:-1])
    if not inner or split[-1][0] < len(split[-1][1]) or any(piece.joined or piece.institution for piece in pieces):
        return []
    families = [pieces[0].words, *[words[n:] for n, words in split[:-1]]]
    pairs = zip(families, split, strict=True)
    return [
        Piece(joined=k == 0, words=part) for family, (n, words) in pairs for k, part in enumerate((family, words[:n]))
    ]


def _given_in_front(words: Sequence[str]) -> int:
    """Return how many words from the first on are not in capitals."""
    return next((n for n, word in enumerate(words) if word.isupper()), len(words))


def _persons(words: Sequence[str]) -> list[list[str]]:
    """Return the words person by person, each with initials and one word or two, all in one order; else nothing."""
    initial = [is_initial(word) for word in words]
    if words[-1:] and initial[-1] and words[-1].removesuffix(".").isalpha() and "." not in "".join(words[:-1]):
        words = [*words[:-1], words[-1].removesuffix(".")]  # the stop that ends the list
    stops = {"." in word for word, short in zip(words, initial, strict=True) if short}
    if len(stops) > 1 or not words or initial[0] == initial[-1] or (stops == {False} and initial[0]):
        return []
    cuts = [k for k in range(len(words)) if initial[k] == initial[0] and (k == 0 or initial[k - 1] != initial[0])]
    persons = [list(words[a:b]) for a, b in pairwise([*cuts, len(words)])]
    most = 2 if stops == {True} else 1  # Schulz P Kenkel S
    return persons if all(0 < len(_families(person)) <= most for person in persons) else []


def _is_given_first(words: Sequence[str]) -> bool:
    """Tell whether the words are initials with stops, and a family name behind them."""
    return len(persons := _persons(words)) == 1 and is_initial(persons[0][0])


def _families(words: Sequence[str]) -> list[str]:
    return [word for word in words if not is_initial(word)]


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
                piece.take_given()
                yield piece
                piece = Piece(piece.run + 1)
            if token not in _COMMAS:
                piece.joined, piece.run = True, 0
                piece.hard |= token in _HARD or token in _DASHES
                piece.joiners += (token,) if any(map(str.isalpha, token)) else ()
        elif _is_role(token, bracketed) or (not piece.words and token.rstrip(".") in ROLES_ALONE):
            cues.append(token)
            piece.broken = True
        elif any(map(str.isalnum, token)):
            word = _bare(token)
        if word and aside:
            piece.asides += (word,)
        elif word and not piece.words and _is_title(word, tokens[k + 1 : k + 2]):
            piece.titles += (word,)
        elif word:
            piece.words.append(word)
            piece.start, piece.end = start if piece.start < 0 else piece.start, end
    if piece.words:
        piece.take_given()
        yield piece
    else:
        cues += piece.joiners


def _is_title(word: str, after: Sequence[tuple[str, int, int]]) -> bool:
    """Tell whether a word at the beginning is what the person is called, and the name still comes."""
    return word.rstrip(".").casefold() in TITLES and bool(after) and after[0][0][0].isalpha()


@lru_cache(maxsize=4096)
def _plain(token: str) -> str:
    """Return a token as a word of a name; "" for what may be something else, a bracket, a separator or a role."""
    short = token.rstrip(".").casefold()
    joins = token.lower() in JOINERS or token in LOW_JOINERS or token in _SOFT_JOINERS or token == _UND
    other = joins or short in ROLES or short in ROLES_IN_SHORT or short in ROLES_ALONE
    return "" if other or not any(map(str.isalnum, token)) else _bare(token)


def _bare(token: str) -> str:
    """Return a word without the signs around it, a particle without a stop; but the apostrophe of "'t" stays."""
    if found := _APOSTROPHE.match(token):
        return token[found.end() :].rstrip(_AROUND_WORDS)
    word = token.strip(_AROUND_WORDS).lstrip(".") or token
    return word.removesuffix(".") if word.removesuffix(".") in LOW_PARTICLES else word


def _is_short_for(short: str, words: Sequence[str]) -> bool:
    """Tell whether capitals in brackets are the initials of an institution: "Verband der Netzbetreiber (VDN)".

    They may begin with those of words before an "and": "Immigration and" Naturalization Service (INS).
    """
    if not 2 < len(short) < 9 or not short.isupper() or not short.isalpha():
        return False
    initials = [word[0] for word in words if word != "The"]
    capitals = [initial for initial in initials if initial.isupper()]
    return any(len(told) > 1 and short.endswith("".join(told).upper()) for told in (initials, capitals))


def _separates(tokens: Sequence[tuple[str, int, int]], k: int, piece: Piece) -> bool:
    """Tell whether a token stands between two names."""
    token = tokens[k][0]
    if token in _COMMAS or token in _HARD or token in LOW_JOINERS:
        return True
    after = tokens[k + 1][0] if k + 1 < len(tokens) else ""
    if token in JOINERS:
        return not (piece.words and piece.words[-1][-1] in "-‐‑")  # Helse- og omsorgsdepartementet
    if token.lower() in JOINERS:  # but "Smith ET," is a name
        return len(token) > 2 or (after[:1].isupper() and after.lower() not in JOINERS)
    if token == _UND:
        return after[:1].isupper()
    if token in _DASHES:
        return after[:1].isupper() and (len(piece.words) > 1 or (bool(piece.words) and piece.run > 0))
    if token not in _SOFT_JOINERS or not after or (token in ("a", "ja") and not after[0].isupper()):
        return False
    return _joins(tokens, k, piece) if piece.words else after[:1].isupper()  # Ruiz, P., y Gil, J.


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


_VOWEL = re.compile("[AEIOUY]")


_CAPITAL_PARTICLES = vocabulary("le la les du des mc mac el al ben abu ait aït o st st.")


def capital_families(pieces: Sequence[Piece]) -> None:
    """Write family names of several words in capitals as others are, so that no part of them is taken for initials.

    LE GOFF, VAN DEN BERGHE, PEREIRA DE ALMEIDA, ORTEGA Y GASSET, MC DONALD: a particle before a word in capitals, or a
    joining letter between two. The "I" of "Prat I Fornells, N." joins, too, since given names come behind the comma.
    """
    for k, piece in enumerate(pieces):
        words = piece.words
        after = pieces[k + 1] if k + 1 < len(pieces) and not pieces[k + 1].joined else None
        inverted = after is not None and (len(after.words) == 1 or all(map(is_initial, after.words)))
        if len(words) < 2 or piece.institution:
            continue
        before = list(words)
        for i, word in enumerate(before[:-1]):
            between = i > 0 and _is_long(words[i - 1]) and _is_long(words[i + 1])
            capitals = word.isupper() and words[i + 1].isupper() and _is_family_word(words[i + 1])
            if word in _JOINING and between and (inverted or (words[i - 1].isupper() and words[i + 1].isupper())):
                words[i] = word.lower()
            elif (
                capitals
                and "." not in word
                and word.isupper()
                and (low := word.lower()) in PARTICLES | _CAPITAL_PARTICLES
            ):
                words[i] = word.capitalize() if low in _CAPITAL_PARTICLES else low
        if inverted and words != before:
            piece.words = [recased(word) for word in words]


def _is_family_word(word: str) -> bool:
    return _is_long(word.strip(".")) or word.lower() in PARTICLES


_JOINING = vocabulary("Y I E")


def _is_long(word: str) -> bool:
    return len(word) > _JOINED_FROM and word.isalpha()


_JOINED_FROM = 2  # letters of a half of a family name, at least


def lower_families(pieces: Sequence[Piece]) -> None:
    """Capitalise family names in capitals behind given names, so that none is taken for initials: Emma SMITH, Bo FU.

    That is the way of ISO 690. The list shows it by a family name that stands first, before a comma and a given name in
    small letters ("CROSS, Marita"), or by one that is too long for initials.
    """
    behind = [
        piece for piece in pieces if len(piece.words) > 1 and (word := piece.words[-1]).isupper() and word.isalpha()
    ]
    if not behind:
        return
    first = pieces[0].words[0] if len(pieces[0].words) == 1 and not pieces[1].joined else ""
    shown = first.isupper() and len(first) > 1 and has_lower(pieces[1].words[0])
    if not shown and all(len(piece.words[-1]) < 6 for piece in behind):
        return
    behind = [piece for piece in behind if len(piece.words[-1]) > 1]
    if all(_VOWEL.search(piece.words[-1]) or not piece.words[-1].isascii() for piece in behind):
        for piece in behind:
            if not piece.institution and has_lower(piece.words[0]):
                last = piece.words[-1]
                piece.words[-1] = last.lower() if last.lower() in LOW_PARTICLES else recased(last)


def short_families(pieces: Sequence[Piece]) -> None:
    """Capitalise LI and NG before single initials: "LI Q, NG A, HE K M" are families; nobody has one of one letter.

    Where another one shows that families come first (WANG XY), there may be up to three initials in a word. The ZR of
    "Wan Z, ZR X" is none that sounds, and in "J SMITH, AK M" initials come first.
    """
    short = [piece for piece in pieces if len(piece.words[0]) < 4 and _is_short_family(piece)]
    if not short or any(len(piece.words) < 2 or _is_initial_first(piece) for piece in pieces):
        return
    shown = any(piece.words[0].isupper() and _is_family_first(piece) for piece in pieces)
    longest, small = 3 if shown else 1, any(has_lower(piece.words[0]) for piece in pieces)
    for piece in short:
        sounds = not small or _VOWEL.search(piece.words[0])  # beside other names in small letters
        if sounds and all(len(word.removesuffix(".")) <= longest for word in piece.words[1:]):
            piece.words[0] = recased(piece.words[0])


def _is_short_family(piece: Piece) -> bool:
    """Tell whether a name has two or three capitals, and then what may be initials."""
    first = piece.words[0]
    short = 1 < len(first) < 4 and first.isalpha() and first.isupper() and len(piece.words) > 1
    return short and not piece.institution and all(map(is_initial, piece.words[1:]))


def _is_family_first(piece: Piece) -> bool:
    return not is_initial(piece.words[0]) and all(map(is_initial, piece.words[1:]))


def _is_initial_first(piece: Piece) -> bool:
    return is_initial(piece.words[0]) and not is_initial(piece.words[-1])


_SOUNDS = re.compile("(?=.*[AEIOUY])(?!.*[^AEIOUY]{3})")


def spell_out(pieces: Sequence[Piece]) -> None:
    """Write initials of four and five letters with their stops ("Oliveira SMJV"), and JR before initials as a suffix.

    Such a word is the family name of "Wei CHEN" where it sounds like one, unless others of the list end in initials.
    """
    for k, piece in enumerate(pieces):
        word = piece.words[-1].removesuffix(".")
        if _is_digraph(word, pieces) and _all_end_in_initials(piece, pieces):
            piece.words[:] = [f"{word}.", *piece.words[:-1]]  # Homburg Ch, Meyer A
        if not 1 < len(word) < 6 or not word.isupper():
            continue
        if word in ("JR", "SR") and k + 1 < len(pieces):
            after = pieces[k + 1]
            initials = all(map(is_initial, after.words)) and not are_degrees(after.words, weak=False)
            inner = k == 1 and len(after.words) == 1 and not is_initial(after.words[0])  # QUIGLEY, JR., Martin
            if not after.joined and (initials if len(piece.words) > 1 else inner):
                piece.words[-1] = piece.words[-1].capitalize()  # SITES JR, J.W.
        elif len(word) > 3 and _ends_in_capitals(piece, 5) and not _is_family(word, pieces):
            piece.words[-1] = ".".join(word) + "."


def _is_digraph(word: str, pieces: Sequence[Piece]) -> bool:
    """Tell whether a word may be one initial of two letters: Ch, Th, Zh; or two, one of them small, among many."""
    several = word[-1:] not in "aeiouyäöü" or len(pieces) > _MANY
    return len(word) == 2 and word.istitle() and several and not is_suffix(word)


_MANY = 3  # names, of which all others show how names end


def _all_end_in_initials(piece: Piece, pieces: Sequence[Piece]) -> bool:
    """Tell whether all names of a list but one end in initials, so that this one does, too."""
    others = [other for other in pieces if other is not piece]
    return len(piece.words) == 2 and bool(others) and all(is_initial(other.words[-1]) for other in others)


def _is_family(word: str, pieces: Sequence[Piece]) -> bool:
    """Tell the CHEN of "Wei CHEN" from initials: it sounds like a name, and nobody else's name ends in initials."""
    return _SOUNDS.match(word) is not None and not any(_ends_in_capitals(piece, 3) for piece in pieces)


def _ends_in_capitals(piece: Piece, longest: int) -> bool:
    """Tell whether a name in small letters is followed by a word in capitals, without stops, of no more letters."""
    word = piece.words[-1].removesuffix(".")
    short = 1 < len(word) <= longest and word.isupper() and word.isalpha() and len(piece.words) > 1
    return short and not piece.institution and any(map(str.islower, piece.words[-2]))
