"""A generated corpus: 2,000 references made of invented words, 13 fields, about 39 tokens each.

Words are drawn from vocabularies with Zipf frequencies, so that rare words are as common as in real text.
"""

from __future__ import annotations

import numpy as np

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"


class Maker:
    """Draws fields of a reference."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.names = [w.capitalize() for w in self._vocabulary(9000)]
        self.words = self._vocabulary(14000)
        self.venues = [w.capitalize() for w in self._vocabulary(1500)]
        self.places = [w.capitalize() for w in self._vocabulary(300)]

    def _vocabulary(self, n: int) -> list[str]:
        weights = 1.0 / np.arange(2, len(LETTERS) + 2)
        words: dict[str, None] = {}
        while len(words) < n:
            length = int(self.rng.integers(2, 11))
            words["".join(self.rng.choice(list(LETTERS), length, p=weights / weights.sum()))] = None
        return list(words)

    def zipf(self, words: list[str], n: int) -> list[str]:
        """Draw n words, the k-th of the list with probability about 1 / k."""
        ranks = np.exp(self.rng.random(n) * np.log(len(words))).astype(int) - 1
        return [words[r] for r in ranks]

    def number(self, low: int, high: int) -> str:
        """Draw a number."""
        return str(self.rng.integers(low, high))

    def person(self) -> list[str]:
        """Draw a name with initials."""
        initial = chr(65 + int(self.rng.integers(26)))
        return [initial, ".", *self.zipf(self.names, 1)]

    def field(self, label: str) -> list[str]:
        """Draw the tokens of a field, its closing punctuation included."""
        r = self.rng
        if label in ("author", "editor"):
            people = [t for k in range(r.integers(1, 4)) for t in ([",", *self.person()] if k else self.person())]
            return [*people, ",", "editors", ","] if label == "editor" else [*people, "."]
        if label == "title":
            return [*self.zipf(self.words, int(r.integers(5, 15))), "."]
        if label == "booktitle":
            return ["In", "Proceedings", "of", "the", *self.zipf(self.venues, int(r.integers(2, 6))), ","]
        if label == "journal":
            return [*self.zipf(self.venues, int(r.integers(1, 5))), ","]
        if label == "pages":
            return ["pages", f"{self.number(1, 400)}-{self.number(400, 900)}", ","]
        if label == "volume":
            return [self.number(1, 90), "(", self.number(1, 12), ")", ","]
        if label == "date":
            return [*self.zipf(["May", "June", "July", "March"], int(r.integers(0, 2))), self.number(1950, 2020), "."]
        if label == "tech":
            return ["Technical", "Report", f"{self.zipf(self.venues, 1)[0].upper()}-{self.number(10, 99)}", ","]
        if label == "institution":
            return ["University", "of", *self.zipf(self.places, 1), ","]
        if label == "publisher":
            return [*self.zipf(self.venues, 1), "Press", ","]
        if label == "location":
            return [*self.zipf(self.places, int(r.integers(1, 3))), ","]
        return ["To", "appear", "."]

    def reference(self) -> tuple[list[str], list[str]]:
        """Draw one reference and its labels."""
        plans = (
            ("author", "title", "journal", "volume", "pages", "date"),
            ("author", "title", "editor", "booktitle", "pages", "location", "publisher", "date"),
            ("author", "title", "booktitle", "pages", "location", "date"),
            ("author", "title", "tech", "institution", "location", "date", "note"),
            ("editor", "title", "publisher", "location", "date"),
        )
        tokens: list[str] = []
        labels: list[str] = []
        for label in plans[int(self.rng.choice(5, p=[0.35, 0.2, 0.25, 0.12, 0.08]))]:
            words = self.field(label)
            tokens += words
            labels += [label] * len(words)
        return tokens, labels


def corpus(n: int = 2000, seed: int = 0) -> tuple[list[list[str]], list[list[str]]]:
    """Return n references and their labels."""
    maker = Maker(seed)
    pairs = [maker.reference() for _ in range(n)]
    return [tokens for tokens, _ in pairs], [labels for _, labels in pairs]
