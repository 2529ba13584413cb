"""`Lexicon`: word lists whose entries may run over several tokens.

Entries are matched from left to right, the longest at each place, without overlap; the first token of a match has the
value B, the others I. Matching does not depend on how the text was cut: the tokens of a match, put together, spell
the entry, with a space in the entry where two tokens meet, or none where one of the two characters that meet is
neither a letter nor a digit. So "St. Louis" matches `St . Louis` and `St. Louis`, but "today" never `to day`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.columns import Column, Raw, intern
from espalier.features.named import NamedField

__all__ = ["Lexicon"]


@dataclass(frozen=True, slots=True)
class Lexicon(NamedField):
    """A word list.

    Parameters
    ----------
    label : its name.
    entries : words or phrases; white space is collapsed, repetitions do not matter; kept sorted.
    fold : ignore case, in the list and in the text.
    """

    entries: Sequence[str]
    fold: bool = True

    kind = "lexicon"

    def __post_init__(self) -> None:
        """Check the entries and bring them into their canonical form."""
        NamedField.__post_init__(self)
        if isinstance(self.entries, str):
            raise InputError(f"lexicon {self.label!r}: expected a list of entries, found the string {self.entries!r}")
        odd = [entry for entry in self.entries if not isinstance(entry, str)]
        if odd:
            raise InputError(f"lexicon {self.label!r}: entries must be strings", hint=f"found {odd[0]!r}")
        entries = {" ".join(self._folded(entry).split()) for entry in self.entries}
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
        words = [self._folded(word) for word in corpus.types]
        may_start = np.array([bool(word) and self._look_up(word)[0] for word in words], bool)
        ends = np.repeat(corpus.indptr[1:], corpus.lengths)
        tags = np.full(corpus.n_tokens, -1)
        token_ids, done = corpus.token_ids, 0
        for m in np.flatnonzero(may_start[token_ids]).tolist() if corpus.n_tokens else ():
            if m >= done:
                matched = self._match(words[k] for k in token_ids[m : ends[m]])
                if matched:
                    done = m + matched
                    tags[m], tags[m + 1 : done] = 0, 1
        return Raw(["B", "I"], Column.of_one(tags))

    def _folded(self, word: str) -> str:
        return word.casefold() if self.fold else word

    def _look_up(self, text: str) -> tuple[bool, bool]:
        """Does an entry start with the text?  Is it an entry?"""
        place = bisect_left(self.entries, text)
        if place == len(self.entries):
            return False, False
        return self.entries[place].startswith(text), self.entries[place] == text

    def _match(self, words: Iterator[str]) -> int:
        """Return how many of the words, from the first on, the longest entry takes; 0 if none does."""
        first = next(words)
        spelled, longest = {first}, int(self._look_up(first)[1])
        for n, word in enumerate(words, start=2):
            going_on: set[str] = set()
            for text in spelled if word else ():
                joined = [f"{text} {word}"]
                if not (text[-1].isalnum() and word[0].isalnum()):
                    joined.append(text + word)
                for candidate in joined:
                    starts, is_entry = self._look_up(candidate)
                    if starts:
                        going_on.add(candidate)
                    if is_entry:
                        longest = n
            if not going_on:
                break
            spelled = going_on
        return longest
