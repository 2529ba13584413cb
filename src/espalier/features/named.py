"""Fields that carry something of their own and are referred to by name: `regex:year`, `table:brown`, `call:stem`.

`regex:` a pattern that the whole token must match. `table:` word -> strings (clusters, tags). `vectors:` word ->
numbers. `call:` your function of a word. `sequence:` your function of a token list, the only Python that runs for
every token. `lexicon:` a list of words and phrases. Conditions are in `espalier.features.conditions`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.columns import Column, Raw, Result, intern
from espalier.features.templates import FeatureField
from espalier.phrases import PhraseTrie, collapsed
from espalier.regex import LONGEST_TOKEN, compile_regex

__all__ = ["Call", "Lexicon", "NamedField", "RegexField", "SequenceCall", "TableField", "Vectors"]

_NAME = re.compile(r"[^\W\d][\w.-]*")


@dataclass(frozen=True, slots=True)
class NamedField(FeatureField):
    """A field known by a name: its text form is `kind:name`."""

    label: str

    kind = ""

    def __post_init__(self) -> None:
        """Check the name."""
        if not isinstance(self.label, str) or not _NAME.fullmatch(self.label):
            raise InputError(f"{self.kind} name {self.label!r}: write a letter, then letters, digits, '_', '.' or '-'")

    @property
    def text(self) -> str:
        """The text form, such as `regex:year`."""
        return f"{self.kind}:{self.label}"


@dataclass(frozen=True, slots=True)
class RegexField(NamedField):
    """Does the whole token match the pattern?  The attribute is the bare `regex:year`.

    Patterns are those of rules (`espalier.regex.SYNTAX`), whose time is bounded: a task file or a model file may
    come from anybody, and Python's own engine can take ages on thirty letters.
    """

    pattern: str

    kind = "regex"

    def __post_init__(self) -> None:
        """Check the name and compile the pattern."""
        NamedField.__post_init__(self)
        given: object = self.pattern
        if not isinstance(given, str):
            raise InputError(f"regex {self.label!r}: a pattern is a string, not {given!r}")
        try:
            compile_regex(self.pattern)
        except InputError as error:
            raise InputError(f"regex {self.label!r}: {error}") from None

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return one value for the words that match."""
        regex = compile_regex(self.pattern)
        # Most words fail at their first character; an empty one has none.
        begins = {c for c in {word[:1] for word in words} if not c or regex.begins(c)}
        tried = [word[:1] in begins and len(word) <= LONGEST_TOKEN and regex.fullmatch(word) for word in words]
        return Raw([""], Column.of_one(np.where(tried, 0, -1)))

    def of_words(self, words: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return one value for the words that match."""
        regex = compile_regex(self.pattern)
        return [
            ("",)
            if len(word) <= LONGEST_TOKEN and (not word or regex.begins(word[0])) and regex.fullmatch(word)
            else ()
            for word in words
        ]

    def name(self, value: str, at: str) -> str:
        """Return `regex:year`."""
        return self.text + at


@dataclass(frozen=True, slots=True)
class TableField(NamedField):
    """Strings of a word: clusters, parts of speech, anything looked up. Words that are not there have none.

    With `fold` case is ignored, in the table and in the text.
    """

    entries: Mapping[str, Sequence[str]] = field(hash=False)
    fold: bool = False

    kind = "table"

    def __post_init__(self) -> None:
        """Check the entries and keep a copy of them."""
        NamedField.__post_init__(self)
        copy: dict[str, tuple[str, ...]] = {}
        for word, values in self.entries.items():
            values = (values,) if isinstance(values, str) else tuple(values)
            if not isinstance(word, str) or not all(isinstance(value, str) for value in values):
                raise InputError(
                    f"table {self.label!r}: {word!r}: expected a list of strings, found {values!r}",
                    hint="numbers go into `Vectors`",
                )
            word, values = word.casefold() if self.fold else word, tuple(dict.fromkeys(values))
            if copy.setdefault(word, values) != values:
                raise InputError(f"table {self.label!r}: {word!r} has two entries that differ (ignoring case)")
        if not copy:
            raise InputError(f"table {self.label!r} is empty")
        object.__setattr__(self, "entries", copy)

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return the strings of each word."""
        rows = self.of_words(words)  # looked through when the table was made
        values, column = intern(list(chain.from_iterable(rows)))
        return Raw(values, Column(np.cumsum([0, *map(len, rows)]), column.ids))

    def of_words(self, words: Sequence[str]) -> Sequence[Sequence[str]]:
        """Return the strings of each word."""
        get = self.entries.get
        return [get(word.casefold() if self.fold else word, ()) for word in words]


@dataclass(frozen=True, slots=True, eq=False)
class Vectors(NamedField):
    """Numbers of a word: dimension d gives the real-valued attribute `vectors:name[d]`.

    Attributes
    ----------
    words : W words.
    matrix : float64[W, D].
    fold : ignore case, in the list and in the text.
    """

    words: tuple[str, ...]
    matrix: NDArray[np.float64]
    fold: bool = False

    kind = "vectors"
    dense = True

    def __post_init__(self) -> None:
        """Check the shapes and keep a read-only copy."""
        NamedField.__post_init__(self)
        words = tuple(word.casefold() for word in self.words) if self.fold else tuple(self.words)
        try:
            matrix = np.array(self.matrix, np.float64)
        except (ValueError, TypeError) as error:
            raise InputError(f"vectors {self.label!r}: not a matrix of numbers: {error}") from None
        if matrix.ndim != 2 or len(matrix) != len(words) or matrix.size == 0:
            raise InputError(
                f"vectors {self.label!r}: {len(words)} words need a matrix of as many rows and at least one column",
                hint=f"its shape is {matrix.shape}",
            )
        if not np.isfinite(matrix).all():
            bad = int(np.nonzero(~np.isfinite(matrix).all(axis=1))[0][0])
            raise InputError(f"vectors {self.label!r}: the vector of {words[bad]!r} is not finite")
        if len(set(words)) != len(words):
            twice = Counter(words).most_common(1)[0][0]
            raise InputError(f"vectors {self.label!r}: {twice!r} is listed twice{' (ignoring case)' * self.fold}")
        matrix.setflags(write=False)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "matrix", matrix)

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return the numbers of each word, weights of the values 0..D-1."""
        place = {word: i for i, word in enumerate(self.words)}
        rows = np.fromiter(
            (place.get(word.casefold() if self.fold else word, -1) for word in words), np.int64, len(words)
        )
        dense = np.where((rows >= 0)[:, None], self.matrix[rows], 0.0)
        row, dimension = np.nonzero(dense)
        indptr = np.append(0, np.cumsum(np.bincount(row, minlength=len(words))))
        values = [str(d) for d in range(self.matrix.shape[1])]
        return Raw(values, Column(indptr.astype(np.int64), dimension, dense[row, dimension]))

    def name(self, value: str, at: str) -> str:
        """Return `vectors:name[d]`."""
        return f"{self.text}{at}[{value}]"

    def __eq__(self, other: object) -> bool:
        """Same name, words and numbers."""
        return (
            isinstance(other, Vectors)
            and (self.label, self.words, self.fold) == (other.label, other.words, other.fold)
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        """Hash by name and size."""
        return hash((self.label, self.matrix.shape, self.fold))


@dataclass(frozen=True, slots=True)
class Call(NamedField):
    """Your function of a word, called once a word type.

    It returns a string, a list of strings, a mapping from names to numbers, or None.
    """

    function: Callable[[str], Result]

    kind = "call"
    plain = False  # it may give weights

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return what the function says of each word."""
        return intern([self.function(word) for word in words], lambda r: f"{self.text}: word {words[r]!r}")


@dataclass(frozen=True, slots=True)
class SequenceCall(NamedField):
    """Your function of a token list, called once a sequence.

    It returns one item a token: a string, a list of strings, a mapping from names to numbers, or None.
    """

    function: Callable[[list[str]], Iterable[Any]]

    kind = "sequence"
    plain = False

    @property
    def of_type(self) -> bool:
        """No: it sees the sequence."""
        return False

    def by_token(self, corpus: Corpus) -> Raw:
        """Return what the function says of each token."""
        results: list[Result] = []
        for i, tokens in enumerate(corpus):
            said = self.function(tokens)
            items = list(said) if isinstance(said, Iterable) and not isinstance(said, (str, Mapping)) else None
            if items is None or len(items) != len(tokens):
                raise InputError(
                    f"{self.text}: sequence {i} has {len(tokens)} tokens",
                    hint=(f"the function must return a list of as many items, and returned {said!r:.80}"),
                )
            results.extend(items)

        def where(m: int) -> str:
            i = int(np.searchsorted(corpus.indptr, m, side="right")) - 1
            return f"{self.text}: sequence {i}, token {m - corpus.indptr[i]}"

        return intern(results, where)


@dataclass(frozen=True, slots=True)
class Lexicon(NamedField):
    """A word list, whose entries may run over several tokens.

    Entries are matched from left to right, the longest at each place, without overlap; the first token of a match has
    the value B, the others I. Matching does not depend on how the text was cut: see `espalier.phrases`.

    Parameters
    ----------
    label : its name.
    entries : words or phrases; white space is collapsed, repetitions do not matter; kept sorted.
    fold : ignore case, in the list and in the text.
    """

    entries: Sequence[str]
    fold: bool = True
    _made: list[PhraseTrie] = field(init=False, repr=False, compare=False, default_factory=list)

    kind = "lexicon"

    def __post_init__(self) -> None:
        """Check the entries and bring them into their canonical form."""
        NamedField.__post_init__(self)
        if isinstance(self.entries, str):
            raise InputError(f"lexicon {self.label!r}: expected a list of entries, found the string {self.entries!r}")
        odd = [entry for entry in self.entries if not isinstance(entry, str)]
        if odd:
            raise InputError(f"lexicon {self.label!r}: entries must be strings", hint=f"found {odd[0]!r}")
        entries = {collapsed(self._folded(entry)) for entry in self.entries}
        if not entries:
            raise InputError(f"lexicon {self.label!r} has no entries")
        if "" in entries:
            raise InputError(f"lexicon {self.label!r} has an empty entry")
        object.__setattr__(self, "entries", tuple(sorted(entries)))

    @property
    def of_type(self) -> bool:
        """Can every entry only ever match a single token?"""
        return all(entry.isalnum() for entry in self.entries)

    def by_type(self, words: Sequence[str]) -> Raw:
        """Return B for the words that are entries."""
        known = frozenset(self.entries)
        return intern(["B" if self._folded(word) in known else None for word in words])

    def by_token(self, corpus: Corpus) -> Raw:
        """Return B or I for each token inside a match."""
        if not self._made:  # when first asked for: a model file may be loaded to look at it
            self._made.append(PhraseTrie(self.entries, fold=self.fold))
        start, stop = self._made[0].find(corpus.indptr, corpus.token_ids, corpus.types)
        tags, done = np.full(corpus.n_tokens, -1), 0
        order = np.lexsort((-stop, start))  # at one place the longest comes first
        for a, b in zip(start[order].tolist(), stop[order].tolist(), strict=True):
            if a >= done:
                done = b
                tags[a], tags[a + 1 : b] = 0, 1
        return Raw(["B", "I"], Column.of_one(tags))

    def _folded(self, word: str) -> str:
        return word.casefold() if self.fold else word
