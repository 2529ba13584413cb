"""What all works are drawn with: declared words, titles with their authors, publishers, editions, series."""

from __future__ import annotations

from random import Random

from rendering.details import some
from rendering.words import Words
from rendering.works import Item, Pool

from rendering import details


class Drawing:
    """Draws parts of works from the pool and the words of one part of the data."""

    def __init__(self, pool: Pool, words: Words, random: Random) -> None:
        """Draw from `pool` and `words` with `random`."""
        self.pool, self.words, self.random = pool, words, random

    def _one(self, name: str, language: str = "") -> str:
        """Draw a declared word, of a language if it has such a list."""
        own = (
            language if language and self.words.all(name, language) else "en" if not self.words.all(name) else "common"
        )
        return self.words.one(self.random, name, own)

    def _made_up(self, language: str, real: int) -> bool:
        """Say whether a work is made from words of the language; the fewer real ones there are, the more often."""
        return bool(self.words.all("templates", language)) and not some(self.random, min(0.6, real / 150))

    def basics(self, language: str) -> Item:
        """Return title, authors and date of some work."""
        if self._made_up(language, self.pool.count("article-journal", language)):
            return {
                "title": details.title(self.random, self.words, language),
                "author": details.names(self.random, self.words, language),
                "issued": {"date-parts": [[self.random.randint(1935, 2025)]]},
                "language": language,
            }
        kind = "article-journal" if some(self.random, 0.75) else "paper-conference"
        item = self.pool.draw(self.random, kind, language)
        kept = {key: item[key] for key in ("title", "author", "issued") if key in item}
        return {**kept, "language": language} if self.pool.count(kind, language) and language != "en" else kept

    def publisher(self, language: str) -> Item:
        """Return a publisher and its place."""
        own = self.words.all("publishers", language)
        if own and some(self.random, 0.7):
            publisher, place = self.random.choice(own).split("@")
        elif some(self.random, 0.6):
            publisher, place = self.random.choice(self.pool.publishers)
        else:
            publisher, place = self._one("presses"), self._one("cities")
        return {"publisher": publisher, "publisher-place": place}

    def _edition(self) -> str:
        return self.random.choice(
            ("2", "3", "4", "5", "2", "6", "10", "Revised", "2nd rev.", "1st", "Reprint", "rev. and enl.")
        )

    def _version(self) -> str:
        a, b, c = (self.random.randint(0, 30) for _ in range(3))
        return self.random.choice(
            (f"{a}.{b}", f"{a}.{b}.{c}", f"v{a}.{b}", f"{a}", f"{self.random.randint(2008, 2024)}")
        )

    def _where(self, item: Item) -> None:
        """Say where on the web something is."""
        item["DOI"] = details.doi(self.random, item) if some(self.random, 0.6) else ""
        item["URL"] = details.address(self.random, item) if not item["DOI"] or some(self.random, 0.2) else ""
        item["accessed"] = details.day(self.random) if item["URL"] and some(self.random, 0.5) else ""

    def _series(self, item: Item, share: float) -> None:
        """Put a book into a series that often, with its number or without."""
        if some(self.random, share):
            item["collection-title"] = self._one("series")
        if item.get("collection-title") and some(self.random, 0.55):
            item.setdefault("collection-number", str(self.random.randint(1, 900)))
