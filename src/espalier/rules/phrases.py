r"""Conditions that see several tokens at once: lists of phrases (`Phrases`), patterns over tokens (`PhrasePattern`).

A *phrase* is a run of tokens. A token may be `in` one, begin it, continue it (be in it behind its beginning) or end it.
All phrases of a text count, those that overlap, too: nothing depends on which is found first.

    in phrase "New York", "St. Louis"                        a list, spelled as `espalier.phrases` says
    begins phrase (/\d{1,2}/ ":" /\d\d/ in "am", "pm"?)      a pattern: conditions on tokens in a row

A pattern becomes Glushkov's automaton (1961): its conditions are numbered, and a set of them, the bits of an integer,
says which of them a token may stand for. One pass from each end of the text finds all phrases, and takes the same for
each token, whatever the pattern; sets that were met before are looked up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from espalier.errors import RuleError
from espalier.rules.predicates import ALWAYS, AnyOf, Condition, Words

if TYPE_CHECKING:
    from espalier.phrases import PhraseTrie

__all__ = [
    "ROLES",
    "AnyListed",
    "Either",
    "InOrder",
    "PhrasePart",
    "PhrasePattern",
    "Phrases",
    "Phrasing",
    "Repeat",
    "Role",
    "either",
    "in_phrase",
    "optional",
    "phrase",
    "repeated",
]

Bits = NDArray[np.bool_]
Role = Literal["in", "begins", "continues", "ends"]

ROLES: tuple[Role, ...] = get_args(Role)
"""What a token may be to a phrase."""

LONGEST = 1000
"""Characters of a phrase: what bounds the time for a token."""

MOST = 64
"""Conditions of a pattern."""

MOST_LISTED = 8
"""Words and signs of a phrase of a list inside a pattern: each length is as many conditions."""

MOST_SETS = 10_000
"""How many steps of a pattern are remembered."""


# Lists of phrases.


@dataclass(frozen=True, slots=True)
class Phrases(Condition):
    """The token is in (begins, continues, ends) one of these phrases; `fold` ignores case, `source` names a file.

    size : only those that are so many tokens in the text; 0: of any size.
    """

    phrases: tuple[str, ...]
    fold: bool = True
    source: str = ""
    role: Role = "in"
    size: int = 0
    _made: list[PhraseTrie] = field(init=False, repr=False, compare=False, default_factory=list)

    def __post_init__(self) -> None:
        """Check the phrases; white space in them is collapsed."""
        phrases: object = self.phrases
        if not isinstance(phrases, tuple) or not all(isinstance(phrase, str) for phrase in phrases):
            raise RuleError(f"phrases must be a tuple of strings, not {phrases!r:.80}")
        from espalier.phrases import collapsed

        object.__setattr__(self, "phrases", tuple(map(collapsed, self.phrases)))
        _check_role(self.role)
        if not self.phrases or not all(self.phrases):
            raise RuleError("a list of phrases needs at least one phrase, and no empty ones")
        long = next((phrase for phrase in self.phrases if len(phrase) > LONGEST), None)
        if long is not None:
            raise RuleError(
                f"the phrase {long[:40] + '…'!r} has {len(long)} characters", hint=f"{LONGEST} are the most"
            )

    def continued(self) -> Condition | None:
        """Return where a phrase goes on that the token is in."""
        return replace(self, role="continues") if self.role == "in" else None

    def lists(self) -> tuple[tuple[str, Sequence[str]], ...]:
        """Return its file and its phrases."""
        return ((self.source, self.phrases),) if self.source else ()

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Is token t in one of the phrases?"""
        return _held(self, tuple(tokens), "")[t]

    def where(self, indptr: NDArray[np.int64], token_ids: NDArray[np.integer], types: Sequence[str]) -> Bits:
        """Return where it holds, bool[M]; indptr : int64[N + 1], borders of sequences; token_ids : int[M]."""
        if not self._made:  # when first asked for: rules may be read just to print them
            self._made.append(_trie(self.phrases, self.fold))
        start, stop = self._made[0].find(indptr, token_ids, types)
        if self.size:
            fits = stop - start == self.size
            start, stop = start[fits], stop[fits]
        found = np.zeros(len(token_ids), bool)
        if self.role == "begins":
            found[start] = True
        elif self.role == "ends":
            found[stop - 1] = True
        else:
            size = len(found) + 1
            begin = start if self.role == "in" else start + 1
            found = np.cumsum(np.bincount(begin, minlength=size) - np.bincount(stop, minlength=size))[:-1] > 0
        return found

    def __hash__(self) -> int:
        """Hash without reading a million phrases."""
        return hash((len(self.phrases), self.phrases[0], self.phrases[-1], self.fold, self.source, self.role))


@lru_cache(maxsize=4)
def _trie(phrases: tuple[str, ...], fold: bool) -> PhraseTrie:
    """Make a trie once for all conditions on the same list."""
    from espalier.phrases import PhraseTrie

    return PhraseTrie(phrases, fold=fold)


# Patterns.


@dataclass(frozen=True, slots=True)
class _Parts:
    """Parts of a pattern put together in one way; nested ones of the same kind are flattened."""

    parts: tuple[PhrasePart, ...]

    def __post_init__(self) -> None:
        """Flatten."""
        flat: list[PhrasePart] = []
        for part in map(_plain, self.parts):
            flat.extend(part.parts if isinstance(part, _Parts) and type(part) is type(self) else (part,))
        if len(flat) < 2:
            raise RuleError(f"{type(self).__name__} needs at least two parts")
        object.__setattr__(self, "parts", tuple(flat))


@dataclass(frozen=True, slots=True)
class InOrder(_Parts):
    """Parts of a pattern, one behind the other; nested ones are flattened."""


@dataclass(frozen=True, slots=True)
class Either(_Parts):
    """One of these parts of a pattern; nested ones are flattened."""


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part of a pattern once or not at all (`?`), any number of times (`*`), or at least once (`+`)."""

    part: PhrasePart
    sign: Literal["?", "*", "+"]

    def __post_init__(self) -> None:
        """Check the sign."""
        object.__setattr__(self, "part", _plain(self.part))
        if self.sign not in ("?", "*", "+"):
            raise RuleError(f"{self.sign!r} is no repetition", hint="use ?, * or +")


@dataclass(frozen=True, slots=True)
class AnyListed:
    """A part of a pattern: any phrase of the list in a file, `source`. It is written `file "towns.txt"`."""

    phrases: tuple[str, ...]
    fold: bool
    source: str

    def __post_init__(self) -> None:
        """Check the phrases, and how long they are."""
        from espalier.phrases import n_pieces

        object.__setattr__(self, "phrases", Phrases(self.phrases).phrases)
        long = max(self.phrases, key=n_pieces)
        if n_pieces(long) > MOST_LISTED:
            what = f"the phrase {long!r} has {n_pieces(long)} words and signs"
            raise RuleError(what, hint=f"inside a pattern {MOST_LISTED} are the most")

    def spelled_out(self) -> PhrasePart:
        """Return the same as conditions in a row: first of so many tokens, and the others."""
        from espalier.phrases import n_pieces

        rows: list[PhrasePart] = []
        for size in range(1, max(map(n_pieces, self.phrases)) + 1):
            first = Phrases(self.phrases, self.fold, self.source, "begins", size)
            rows.append(InOrder((first, *(ALWAYS,) * (size - 1))) if size > 1 else first)
        return Either(tuple(rows)) if len(rows) > 1 else rows[0]

    def __hash__(self) -> int:
        """Hash without reading a million phrases."""
        return hash((len(self.phrases), self.phrases[0], self.phrases[-1], self.fold, self.source))


PhrasePart = Condition | InOrder | Either | Repeat | AnyListed
"""What a pattern over tokens is made of."""


@dataclass(frozen=True, slots=True)
class PhrasePattern(Condition):
    """The token is in (begins, continues, ends) a run of tokens that the whole pattern matches."""

    pattern: PhrasePart
    role: Role = "in"
    _machine: _Machine = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Number the conditions."""
        object.__setattr__(self, "pattern", _plain(self.pattern))
        _check_role(self.role)
        object.__setattr__(self, "_machine", _Machine(self.pattern))

    def continued(self) -> Condition | None:
        """Return where a phrase goes on that the token is in."""
        return replace(self, role="continues") if self.role == "in" else None

    def inner(self) -> tuple[Condition, ...]:
        """Return the conditions, as often as the pattern names them."""
        return tuple(self._machine.conditions)

    def holds(self, tokens: Sequence[str], t: int, text: str) -> bool:
        """Is token t in such a run?"""
        return _held(self, tuple(tokens), text)[t]

    def where(self, inner: Sequence[Bits], opens: Bits) -> Bits:
        """Return where it holds, bool[M]; inner : where its conditions do; opens : does a sequence begin here?"""
        sets = np.zeros(len(opens), np.uint64)
        for k, bits in enumerate(inner):
            sets |= bits.astype(np.uint64) << np.uint64(k)
        at = np.flatnonzero(sets)
        fresh = opens[at] | np.append(True, np.diff(at) > 1)[: len(at)]  # most tokens may stand for nothing
        found = np.zeros(len(opens), bool)
        if len(at):
            found[at] = self._machine.run(sets[at].tolist(), fresh.tolist(), self.role)
        return found


Phrasing = str | PhrasePart
"""What the functions of Python take: a string is a word, or, alone, a phrase."""


def phrase(*parts: Phrasing) -> PhrasePart:
    """Return a pattern over tokens, one part behind the other; a string is a word, whatever its case."""
    found = tuple(Words((part,)) if isinstance(part, str) else part for part in parts)
    if not found:
        raise RuleError("an empty pattern", hint='give token conditions, as in phrase(token.matches("[0-9]+"), ":")')
    return found[0] if len(found) == 1 else InOrder(found)


def either(*parts: Phrasing) -> Either:
    """Return a part of a pattern: one of these."""
    return Either(tuple(phrase(part) for part in parts))


def optional(*parts: Phrasing) -> Repeat:
    """Return a part of a pattern that may be missing."""
    return Repeat(phrase(*parts), "?")


def repeated(*parts: Phrasing) -> Repeat:
    """Return a part of a pattern that stands there once or several times; `optional(repeated(x))` any number."""
    return Repeat(phrase(*parts), "+")


def in_phrase(role: Role, what: tuple[Phrasing, ...], exactly: bool) -> Phrases | PhrasePattern:
    """Return the condition on phrases given as strings, or on a pattern."""
    if len(what) == 1 and not isinstance(what[0], str):
        if exactly:
            raise RuleError("exactly= is for phrases", hint='in a pattern write token.isin("May", exactly=True)')
        return PhrasePattern(what[0], role)
    if not all(isinstance(each, str) for each in what):
        raise RuleError("give phrases as strings, or one pattern", hint="phrase(...) makes a pattern of several parts")
    return Phrases(tuple(str(each) for each in what), not exactly, "", role)


class _Machine:
    """The automaton of a pattern; sets of conditions are integers, condition k is bit k.

    conditions : in order; first, last : those that a phrase may begin, end with; follows[k], leads[k] : those that may
    stand next to k.
    """

    def __init__(self, pattern: PhrasePart) -> None:
        self.conditions: list[Condition] = []
        self.follows: list[int] = []
        empty, self.first, self.last = self._add(pattern)
        if empty:
            raise RuleError("this pattern may match no token at all", hint="leave out a '?' or a '*'")
        n = len(self.conditions)
        self.leads = [sum(1 << j for j in range(n) if self.follows[j] >> k & 1) for k in range(n)]
        self._forwards: dict[tuple[int, int], int] = {}
        self._backwards: dict[tuple[int, int], int] = {}

    def _add(self, part: PhrasePart) -> tuple[bool, int, int]:
        """Number the conditions of a part; may it be empty, and with which of them does it begin and end?"""
        if isinstance(part, Condition):
            if len(self.conditions) == MOST:
                raise RuleError(f"a pattern of more than {MOST} conditions", hint="split it into several")
            bit = 1 << len(self.conditions)
            self.conditions.append(part)
            self.follows.append(0)
            return False, bit, bit
        if isinstance(part, AnyListed):
            return self._add(part.spelled_out())
        if isinstance(part, Repeat):
            empty, first, last = self._add(part.part)
            if part.sign != "?":
                self._join(last, first)
            return empty or part.sign != "+", first, last
        if isinstance(part, Either):
            empties, firsts, lasts = zip(*map(self._add, part.parts), strict=True)
            return any(empties), _union(firsts), _union(lasts)
        empty, first, last = True, 0, 0
        for step in part.parts:
            own_empty, own_first, own_last = self._add(step)
            self._join(last, own_first)
            first, last = first | own_first if empty else first, own_last | (last if own_empty else 0)
            empty = empty and own_empty
        return empty, first, last

    def _join(self, ends: int, begins: int) -> None:
        """Let each of these conditions be followed by each of those."""
        for k in range(len(self.follows)):
            if ends >> k & 1:
                self.follows[k] |= begins

    def run(self, sets: Sequence[int], fresh: Sequence[bool], role: Role) -> list[bool]:
        """Say of each token whether it has the role; sets : the conditions that hold there; fresh : nothing before."""
        upto = self._sweep(sets, fresh, self.first, self.follows, self._forwards)
        if role == "ends":
            return [state & self.last != 0 for state in upto]
        stops = [*fresh[1:], True]
        onwards = self._sweep(sets[::-1], stops[::-1], self.last, self.leads, self._backwards)[::-1]
        if role == "begins":
            return [state & self.first != 0 for state in onwards]
        both = zip(upto, onwards, strict=True)
        if role == "in":
            return [one & other != 0 for one, other in both]
        reached = [0 if new else _next(state, self.follows) for state, new in zip([0, *upto], fresh, strict=False)]
        return [one & other != 0 for one, other in zip(reached, onwards, strict=True)]

    def _sweep(
        self, sets: Sequence[int], fresh: Sequence[bool], enter: int, step: list[int], known: dict[tuple[int, int], int]
    ) -> list[int]:
        """Return which conditions each token may stand for, given those before it."""
        states, state = [], 0
        if len(known) > MOST_SETS:
            known.clear()
        for here, new in zip(sets, fresh, strict=True):
            key = (0 if new else state, here)
            found = known.get(key)
            if found is None:
                found = known[key] = (_next(key[0], step) | enter) & here
            states.append(found)
            state = found
        return states


def _next(state: int, step: list[int]) -> int:
    """Return what may stand next to any of these conditions."""
    return _union(follow for k, follow in enumerate(step) if state >> k & 1)


def _union(sets: Iterable[int]) -> int:
    return reduce(int.__or__, sets, 0)


def _plain(part: PhrasePart) -> PhrasePart:
    """Return the part, alternatives of conditions as alternatives of the pattern."""
    if isinstance(part, AnyOf):
        return Either(part.conditions)
    if not isinstance(part, PhrasePart):
        raise RuleError(f"a pattern is made of token conditions, not of {part!r:.80}")
    return part


def _check_role(role: str) -> None:
    if role not in ROLES:
        raise RuleError(f"{role!r} is no place in a phrase", hint=f"use {', '.join(ROLES)}")


@lru_cache(maxsize=256)
def _held(condition: Phrases | PhrasePattern, tokens: tuple[str, ...], text: str) -> list[bool]:
    """Say of each token whether the condition holds, once a text, and not once for each of its tokens."""
    if isinstance(condition, Phrases):
        found = condition.where(np.array([0, len(tokens)]), np.arange(len(tokens)), tokens)
    else:
        inner = [np.array([c.holds(tokens, t, text) for t in range(len(tokens))], bool) for c in condition.inner()]
        found = condition.where(inner, np.arange(len(tokens)) == 0)
    return list(map(bool, found))
