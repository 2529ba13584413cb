"""Fields that look beyond the token: at its chunk or sentence, at everything before it, at everything after it.

| text | values of a token |
|---|---|
| `chunk(F)`, `sentence(F)` | the values that field F has on any token of the stretch, each once |
| `chunk-1(F)`, `sentence+2(F)` | the same of the stretch before, of the second after; nothing beyond the sequence |
| `chunkfirst(F)`, `chunklast-1(F)` | the values of F on the first or last token of that stretch; for sentences too |
| `before(F)`, `after(F)` | the values that F has on any earlier, any later token of the sequence |
| `chunkindex`, `sentenceindex` | the number of the stretch in its sequence: 0 to 8, then 9+ |
| `chunklength`, `sentencelength` | its tokens, in the bins of `length` |
| `quoted` | the attribute `quoted`, on tokens between two quotation marks |
| `bracketed` | the attribute `bracketed`, on tokens between two brackets |

F is any field (`lower`, `flags`, `lexicon:places`, `regex:year` ...); what a stretch is stands
below. `...*0.3` multiplies the attributes' values, which are one but where F has weights; then the largest counts. Of a
vector (`vector:text`) a stretch has the mean over its tokens. So `before(regex:year)` is 'a year was already seen',
`sentence(lower)*0.3` a light bag of words. Everything is computed for all tokens of a corpus at once; `before` and
`after` cost what they collect, up to all values of a sequence a token, so F should not have too many.

Stretches, chunks and sentences, are what punctuation marks off.
A token *ends* a chunk if its last character is one of . , ; : or a quotation mark, a sentence if it is one of . ! ?
But a full stop ends nothing after a single letter or an abbreviation, be it a token of its own (`J .`) or not (`J.`).
Tokens of punctuation that follow an end belong to it. So `Smith , J . , " On trees . " 1998` has the chunks
`Smith ,`, `J . , "`, `On trees . "` and `1998`. Nothing goes beyond the sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.fields import LENGTH_BINS, MAX_OFFSET, FeatureField, length_names
from espalier.features.matrix import Column, Laid, Raw

if TYPE_CHECKING:
    from espalier.features.view import View

__all__ = [
    "ABBREVIATIONS",
    "BRACKETS",
    "MARKS",
    "QUOTES",
    "Beyond",
    "Bracketed",
    "Measure",
    "Quoted",
    "Stretches",
    "Within",
    "WordSign",
    "signs_of",
]

Ints = NDArray[np.int64]

QUOTES = frozenset('"“”„‟«»') | {"``", "''"}
"""Tokens that are quotation marks; the apostrophe is not, because it has other uses."""

BRACKETS = ("([{", ")]}")
"""Tokens that open a bracket, and those that close one."""

MARKS = {"chunk": frozenset('.,;:"“”„‟«»'), "sentence": frozenset(".!?")}
"""The characters that end a stretch, by its kind."""

ABBREVIATIONS = frozenset((
    *("al", "approx", "apt", "ave", "bros", "cf", "co", "comp", "conf", "corp", "dept", "dr", "ed", "eds", "eg"),
    *("esp", "est", "etc", "fig", "figs", "gen", "govt", "hr", "hrs", "ie", "inc", "incl", "int", "intl", "jr"),
    *("lab", "labs", "lect", "ltd", "max", "min", "misc", "mr", "mrs", "ms", "mt", "no", "nos", "op", "pp", "prof"),
    *("pt", "ref", "rep", "repr", "res", "rev", "sec", "sect", "ser", "sq", "sr", "st", "stat", "suppl", "symp"),
    *("tech", "tel", "trans", "univ", "util", "utils", "vol", "vols", "vs", "jan", "feb", "mar", "apr", "jun"),
    *("jul", "aug", "sep", "sept", "oct", "nov", "dec"),
))  # fmt: skip
"""Lower-case words after which a full stop ends nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """U stretches of M tokens, in order; none goes beyond its sequence.

    of_token : int64[M], the stretch of each token; borders : int64[U + 1], where stretches begin and end;
    sequence : int64[U]; start : int64[N], the first stretch of each sequence (of an empty one: the next one's).
    """

    of_token: Ints
    borders: Ints
    sequence: Ints
    start: Ints

    @classmethod
    def of(cls, corpus: Corpus, kind: str, signs: NDArray[np.uint8]) -> Stretches:
        """Find the stretches of a kind: "chunk" or "sentence"; signs : uint8[M], of the tokens."""
        ends, bare = _ends(corpus, kind, signs)
        starting = corpus.indptr[:-1][corpus.lengths > 0]
        begins = np.ones(corpus.n_tokens, bool)
        begins[1:] = ends[:-1] & ~(ends[1:] & bare[1:])
        begins[starting] = True
        first = np.flatnonzero(begins)
        sequence = np.searchsorted(corpus.indptr, first, side="right") - 1
        return cls(
            np.cumsum(begins) - 1,
            np.append(first, corpus.n_tokens),
            sequence,
            np.searchsorted(first, corpus.indptr[:-1]),
        )

    def at(self, shift: int) -> Ints:
        """Return the stretch that stands `shift` after each stretch, int64[U]; -1 beyond the sequence."""
        U = len(self.sequence)
        overlap = max(U - abs(shift), 0)
        early, late = slice(overlap), slice(U - overlap, U)
        a, b = (early, late) if shift > 0 else (late, early)
        found = np.full(U, -1)
        found[a] = np.where(self.sequence[a] == self.sequence[b], np.arange(U)[b], -1)
        return found

    @property
    def lengths(self) -> Ints:
        """Tokens in each stretch, int64[U]."""
        return self.borders[1:] - self.borders[:-1]


class WordSign(IntFlag):
    """What a word is to the text around it."""

    QUOTE = 1  # a quotation mark
    BARE = 2  # punctuation alone
    STOP = 4  # a full stop
    ABBREVIATED = 8  # a full stop after it ends nothing
    CHUNK = 16  # ends a chunk, unless it is a full stop after an abbreviation
    SENTENCE = 32  # ends a sentence, with the same exception
    OPENING = 64  # opens a bracket
    CLOSING = 128  # closes one


def signs_of(words: Sequence[str]) -> NDArray[np.uint8]:
    """Return the signs of each of U words, uint8[U]."""
    return np.fromiter(map(_sign_of, words), np.uint8, len(words))


def _ends(corpus: Corpus, kind: str, signs: NDArray[np.uint8]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether each token ends a stretch, and whether it is punctuation alone, bool[M] both."""
    kinds = (WordSign[kind.upper()], WordSign.BARE, WordSign.STOP, WordSign.ABBREVIATED)
    end, bare, stop, abbreviated = ((signs & int(sign)).astype(bool) for sign in kinds)
    after = np.zeros(corpus.n_tokens, bool)
    after[1:] = abbreviated[:-1]
    after[corpus.indptr[:-1][corpus.lengths > 0]] = False  # a sequence knows nothing of the one before
    return end & ~(stop & after), bare


@lru_cache(maxsize=1 << 16)
def _sign_of(word: str) -> int:
    """Return the signs of a word, as a number: it is asked for again and again, once a corpus."""
    if word.isalnum():  # most words, and no sign but this one
        return int(WordSign.ABBREVIATED) if _is_abbreviation(word) else 0
    dotted = len(word) > 1 and word[-1] == "." and _is_abbreviation(word[:-1])
    holds = (  # in the order of `WordSign`
        word in QUOTES,
        not any(map(str.isalnum, word)),
        word == ".",
        _is_abbreviation(word),
        not dotted and (word[-1:] in MARKS["chunk"] or word in QUOTES),
        not dotted and word[-1:] in MARKS["sentence"],
        len(word) == 1 and word in BRACKETS[0],
        len(word) == 1 and word in BRACKETS[1],
    )
    return sum(1 << bit for bit, true in enumerate(holds) if true)


def _is_abbreviation(word: str) -> bool:
    return (len(word) == 1 and word.isalpha()) or word.lower() in ABBREVIATIONS


# The fields.


MOST = 9
"""Stretches from this number on are one value of the index."""

_INDICES = [*map(str, range(MOST)), f"{MOST}+"]


@dataclass(frozen=True, slots=True)
class _Span(FeatureField):
    """The values of another field, collected over tokens that `_collect` chooses, each attribute worth `value`."""

    field: FeatureField
    value: float

    of_type = False

    @property
    def _scope(self) -> str:
        """What stands before the parenthesis."""
        raise NotImplementedError

    def _check_value(self) -> None:
        value = self.value
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < np.inf:
            raise InputError(f"{self._scope}({self.field.text}): the value {value!r} is not a number above 0")
        object.__setattr__(self, "value", float(value))

    @property
    def text(self) -> str:
        """The text form, such as `chunk-1(lower)`."""
        return f"{self._scope}({self.field.text})" + (f"*{self.value!r}" if self.value != 1 else "")

    @property
    def dense(self) -> bool:
        """Is the field inside one of vectors?"""
        return self.field.dense

    @property
    def gathers(self) -> str | None:
        """From where it gathers what words say, where each value is worth one."""
        return self._scope if self.value == 1 and self.field.of_type and self.field.plain else None

    def within(self) -> tuple[FeatureField, ...]:
        """Return the field inside."""
        return (self.field,)

    def name(self, value: str, at: str) -> str:
        """Return the attribute's name, with the value as the inner field writes it."""
        return self.text + at + self.field.name(value, "")[len(self.field.text) :]

    def by_view(self, view: View) -> Raw:
        """Return the values of each token or stretch."""
        raw = view.raw(self.field)
        column = self.gathered(view, self.field.text, raw.column, view.rows_at(self.field, 0)).own
        if self.value != 1:
            weights = np.ones(len(column.ids)) if column.weights is None else column.weights
            column = Column(column.indptr, column.ids, self.value * weights)
        return Raw(raw.values, column)


@dataclass(frozen=True, slots=True, init=False)
class Within(_Span):
    """The values of a field in the token's chunk or sentence, or in one near it.

    unit : "chunk" or "sentence"; field : what is looked at; which : "all" its tokens, the "first" or the "last";
    shift : 0 is the token's own stretch, -1 the one before; value : of each attribute.
    """

    unit: str
    which: str
    shift: int

    def __init__(self, unit: str, field: FeatureField, which: str = "all", shift: int = 0, value: float = 1.0) -> None:
        """Check the parts."""
        if unit not in ("chunk", "sentence") or which not in ("all", "first", "last"):
            raise InputError(f"{unit!r}, {which!r}: expected 'chunk' or 'sentence', and 'all', 'first' or 'last'")
        if type(shift) is not int or abs(shift) > MAX_OFFSET:
            raise InputError(f"{unit}: the shift {shift!r} is not a whole number from -{MAX_OFFSET} to {MAX_OFFSET}")
        parts = {"unit": unit, "field": field, "which": which, "shift": shift, "value": value}
        for name, part in parts.items():
            object.__setattr__(self, name, part)
        self._check_value()

    @property
    def _scope(self) -> str:
        return self.unit + (self.which if self.which != "all" else "") + (f"{self.shift:+d}" if self.shift else "")

    @property
    def stretch(self) -> str:
        """The kind of stretch."""
        return self.unit

    def gathered(self, view: View, name: str, column: Column, rows: Ints) -> Laid:
        """Return what each stretch gathers."""
        stretches = view.stretches(self.unit)
        there = stretches.at(self.shift) if self.shift else None
        if self.which == "all":
            united = view.united(self.unit, name, lambda: _united(column, rows, stretches, mean=self.dense))
            return Laid(united, there)
        edge = rows[stretches.borders[:-1] if self.which == "first" else stretches.borders[1:] - 1]
        return Laid(column, edge if there is None else np.where(there < 0, -1, edge[there]))


@dataclass(frozen=True, slots=True, init=False)
class Beyond(_Span):
    """The values of a field on any token before this one, or on any after it, in the sequence.

    side : "before" or "after"; field : one without weights; value : of each attribute.
    """

    side: str

    def __init__(self, side: str, field: FeatureField, value: float = 1.0) -> None:
        """Check the parts."""
        if side not in ("before", "after"):
            raise InputError(f"{side!r}: expected 'before' or 'after'")
        if field.dense:
            raise InputError(
                f"{side}({field.text}): {field.text} is a vector", hint="its mean is taken by chunk or sentence"
            )
        for name, part in {"side": side, "field": field, "value": value}.items():
            object.__setattr__(self, name, part)
        self._check_value()

    @property
    def _scope(self) -> str:
        return self.side

    def gathered(self, view: View, name: str, column: Column, rows: Ints) -> Laid:
        """Return what each token gathers."""
        if column.weights is not None:
            raise InputError(
                f"{self.text}: {self.field.text} gives weights", hint="only a chunk or sentence collects those"
            )
        return Laid(column.take(rows).beyond(view.corpus.indptr, backwards=self.side == "after"), None)


@dataclass(frozen=True, slots=True)
class Measure(FeatureField):
    """Which stretch of its sequence a token is in, or how long that is. unit : "chunk" or "sentence"."""

    unit: str
    what: str

    of_type = False

    def __post_init__(self) -> None:
        """Check the parts."""
        if self.unit not in ("chunk", "sentence") or self.what not in ("index", "length"):
            raise InputError(f"{self.text!r}: expected 'chunk' or 'sentence', then 'index' or 'length'")

    @property
    def text(self) -> str:
        """The text form, such as `chunkindex`."""
        return f"{self.unit}{self.what}"

    @property
    def stretch(self) -> str:
        """The kind of stretch."""
        return self.unit

    def by_view(self, view: View) -> Raw:
        """Return the index or the length of each stretch."""
        stretches = view.stretches(self.unit)
        if self.what == "index":
            index = np.arange(len(stretches.sequence)) - stretches.start[stretches.sequence]
            return Raw(_INDICES, Column.of_one(np.minimum(index, MOST)))
        bins = np.searchsorted(LENGTH_BINS, stretches.lengths, side="right") - 1
        return Raw(length_names(), Column.of_one(bins))


class _Inside(FeatureField):
    """Between two marks of a kind: one value for the tokens inside, and the attribute is the bare text."""

    __slots__ = ()
    of_type = False
    bare = True

    def by_view(self, view: View) -> Raw:
        """Return one value for the tokens inside."""
        return Raw([""], Column.of_one(np.where(self._inside(view), 0, -1)))

    def _inside(self, view: View) -> NDArray[np.bool_]:
        """Return which tokens lie inside, bool[M]."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Quoted(_Inside):
    """Between two quotation marks: an odd number of them comes before the token, and at least one after it."""

    text = "quoted"

    def _inside(self, view: View) -> NDArray[np.bool_]:
        mark = (view.signs & int(WordSign.QUOTE)) != 0
        before, after = _around(mark.astype(np.int64), view.corpus)
        return np.asarray(~mark & (before % 2 == 1) & (after > 0), bool)


@dataclass(frozen=True, slots=True)
class Bracketed(_Inside):
    """Between two brackets: more are open than closed before the token, and at least one closes after it.

    A bracket that closes nothing does not count; round, square and curly ones are not told apart.
    """

    text = "bracketed"

    def _inside(self, view: View) -> NDArray[np.bool_]:
        opening, closing = ((view.signs & int(sign)) != 0 for sign in (WordSign.OPENING, WordSign.CLOSING))
        depth, _ = _around(opening.astype(np.int64) - closing, view.corpus)
        _, closed_after = _around(closing.astype(np.int64), view.corpus)
        # The lowest depth so far, if below 0, is that of brackets that closed nothing; sequences are laid one under
        # the other, so that the lowest of one is never that of the sequences before.
        level = depth - (len(depth) + 1) * np.repeat(np.arange(len(view.corpus)), view.corpus.lengths)
        still_open = level - np.minimum.accumulate(level)
        return np.asarray(~(opening | closing) & (still_open > 0) & (closed_after > 0), bool)


def _around(marks: Ints, corpus: Corpus) -> tuple[Ints, Ints]:
    """Return the sum of the marks before each token, and of those after it, in its sequence, int64[M] both."""
    total = np.append(0, np.cumsum(marks))
    start, stop = (np.repeat(total[borders], corpus.lengths) for borders in (corpus.indptr[:-1], corpus.indptr[1:]))
    return total[:-1] - start, stop - total[1:]


def _united(column: Column, rows: Ints, stretches: Stretches, *, mean: bool) -> Column:
    """Return the numbers of each stretch, each once: with its largest weight, or the mean over all tokens, if not 0."""
    if column.weights is None and not mean:
        return column.within(rows, stretches.borders)
    column = column.take(rows)
    U, V = len(stretches.sequence), int(column.ids.max(initial=0)) + 1
    keys = stretches.of_token[column.rows()] * V + column.ids
    if mean:  # V dimensions: few enough for a table
        table = np.bincount(keys, column.weights, U * V) / np.repeat(stretches.lengths, V)
        found = np.flatnonzero(table)
        weights = table[found]
    else:
        found, inverse = np.unique(keys, return_inverse=True)
        weights = np.full(len(found), -np.inf)
        np.maximum.at(weights, inverse, np.ones(len(keys)) if column.weights is None else column.weights)
    indptr = np.append(0, np.cumsum(np.bincount(found // V, minlength=U)))
    return Column(indptr, found % V, weights)
