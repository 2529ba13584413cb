"""Rare words give way to others, so that a model learns where a field stands and not its names by heart.

Works and declared words are finite, and each is rendered many times: a model that reads them in a hundred styles knows
them afterwards, and is less sure about the next web site or court. In some references rare words are exchanged for rare
words of the same field and the same script, written alike (`Word`, `word`, `WORD`); frequent ones, such as `Journal`
or `University`, stay, and so do those that are frequent in one language, such as `redakcją`.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from random import Random

from espalier.document import Document, Span

FIELDS = frozenset(
    (
        *("author", "editor", "translator", "title", "container-title", "collection-title", "publisher"),
        *("location", "institution"),
    )
)
"""The fields whose words are exchanged: what the others say is of few words, or of digits."""

NAMES = frozenset(("container-title", "collection-title", "publisher", "institution"))
"""Fields that also take words of titles: anything may be the name of a journal, a site or a house."""

FREQUENT = 1 / 400
FREQUENT_THERE = 1 / 40
"""A word is not rare that stands in a larger share of all references, or of this field in references of a language."""

EXCHANGED = 0.75
FROM_TITLES = 0.35
INVENTED = 0.35
LONGER = 0.12
SHORTER = 0.12
"""The share of rare words that go; how often a name takes a word of titles, a word is made of two that there are, and a
name is one word longer or shorter."""

_WORD = re.compile(r"[^\W\d_]{3,}")
_FIRST_IDEOGRAPH = 0x2E80

Kind = tuple[str, str, int]
"""A field, how a word of it is written, and its script."""


class Exchange:
    """Exchanges rare words of references for rare words of others."""

    def __init__(self, documents: Iterable[tuple[Document, str]]) -> None:
        """Learn the words of some references; each comes with its language."""
        there: Counter[tuple[str, str]] = Counter()
        counts: Counter[tuple[str, str, str]] = Counter()
        n = 0
        for document, language in documents:
            n += 1
            there.update((language, label) for label in {span.label for span in document.spans or ()})
            counts.update({(language, span.label, word.group()) for span, word in _words(document)})
        total: Counter[tuple[str, str]] = Counter()
        self._kept: set[tuple[str, str]] = set()
        for (language, label, word), count in counts.items():
            total[label, word] += count
            if count > 1 and count > FREQUENT_THERE * there[language, label]:
                self._kept.add((label, word))
        self._kept |= {key for key, count in total.items() if count > 1 and count > FREQUENT * n}
        self._rare: defaultdict[Kind, list[str]] = defaultdict(list)
        for label, word in total.keys() - self._kept:
            self._rare[(label, *_written(word))].append(word)
        for words in self._rare.values():
            words.sort()

    def __call__(self, document: Document, random: Random) -> Document:
        """Return a reference with some of its rare words exchanged."""
        pieces: list[str] = []
        spans: list[Span] = []
        place, end = 0, 0
        by_span: defaultdict[Span, list[re.Match[str]]] = defaultdict(list)
        for span, word in _words(document):
            by_span[span].append(word)
        for span in document.spans or ():
            pieces.append(document.text[end : span.start])
            place += span.start - end
            text = self._field(document.text[span.start : span.end], span.label, by_span[span], random)
            spans.append(Span(place, place + len(text), span.label))
            pieces.append(text)
            place, end = place + len(text), span.end
        pieces.append(document.text[end:])
        return Document.from_text("".join(pieces), spans)

    def _field(self, text: str, label: str, words: Iterable[re.Match[str]], random: Random) -> str:
        pieces, end = [], 0
        for word in words:
            if (label, word.group()) in self._kept or random.random() >= EXCHANGED:
                continue
            new = self._other(label, word.group(), random)
            behind, before = text[word.end() : word.end() + 1] == " ", text[word.start() - 1 : word.start()] == " "
            if label in NAMES and behind and random.random() < SHORTER and word.start():
                pieces.append(text[end : word.start()])
                end = word.end() + 1
                continue
            if label in NAMES and (behind or before) and random.random() < LONGER:
                new = f"{new} {self._other(label, word.group(), random)}"
            pieces += [text[end : word.start()], new]
            end = word.end()
        return "".join([*pieces, text[end:]])

    def _other(self, label: str, word: str, random: Random) -> str:
        written, script = _written(word)
        field = "title" if label in NAMES and random.random() < FROM_TITLES else label
        rare = self._rare.get((field, written, script)) or [word]
        one = random.choice(rare)
        if random.random() >= INVENTED:
            return one
        other = random.choice(rare)
        new = one[: (len(one) + 1) // 2] + other[len(other) // 2 :].lower()
        return new.upper() if written == "WORD" else new


def _words(document: Document) -> Iterable[tuple[Span, re.Match[str]]]:
    """Yield the words of fields; places count from the beginning of the field."""
    for span in document.spans or ():
        if span.label in FIELDS:
            for word in _WORD.finditer(document.text[span.start : span.end]):
                if _written(word.group())[0] and ord(word.group()[0]) < _FIRST_IDEOGRAPH:
                    yield span, word


def _written(word: str) -> tuple[str, int]:
    """Return how a word is written, nothing if in no common way, and its script: Latin, or a block of Unicode."""
    way = "word" if word.islower() else "WORD" if word.isupper() else "Word" if word[1:].islower() else ""
    return way, 0 if ord(word[0]) < 0x250 else ord(word[0]) >> 8
