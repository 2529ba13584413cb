"""`Lexicon`: word lists whose entries may run over several tokens.

Entries are matched from left to right, the longest at each place, without overlap; the first token of a match has the
value B, the others I. Matching does not depend on how the text was cut: see `espalier.phrases`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from espalier.corpus import Corpus
from espalier.errors import InputError
from espalier.features.columns import Column, Raw, intern
from espalier.features.named import NamedField
from espalier.phrases import PhraseTrie, collapsed

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
