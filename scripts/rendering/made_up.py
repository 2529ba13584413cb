"""Works that nobody wrote: put together from declared words (`made_up.toml`), so that they may be given to anybody."""

from __future__ import annotations

import re
from collections.abc import Mapping
from random import Random

from rendering.words import read_table
from rendering.works import Item, Pool

from rendering import details

FIELDS = {"science": 5, "computing": 3, "letters": 3}
"""How often a work is of a field."""

NUMBERS = (40, 26, 16, 9, 5, 4)
"""How often a work has one author, two, three ..."""


class MadeUp(Pool):
    """Stands for a pool of real works: each draw makes a new one."""

    def __init__(self, random: Random, lists: Mapping[str, str] | None = None) -> None:
        """Make works with `random`; lists : entries by name, divided by `|`, else those beside this file."""
        super().__init__()
        self._random = random
        self._lists = {
            name: [" ".join(x.split()) for x in text.split("|")]
            for name, text in (lists or read_table("made_up")).items()
        }
        self.publishers = [(name, place) for name, place in (one.split("@") for one in self._lists["publishers"])]
        self.people = [self._person() for _ in range(200)]
        self.editors = [self._people() for _ in range(60)]

    def draw(self, random: Random, kind: str, language: str = "") -> Item:
        """Return a new work of a kind, in English."""
        field = self._random.choices(list(FIELDS), list(FIELDS.values()))[0]
        field = "computing" if kind == "paper-conference" else field
        year = self._random.randint(1948, 2024)
        item: Item = {"title": self._text(field), "author": self._people(), "issued": {"date-parts": [[year]]}}
        return {"id": "made up", "type": kind} | item | self._where(kind, field, year)

    def count(self, kind: str, language: str) -> int:
        """Return how many works there are: in English as many as one likes."""
        return 1000 if language == "en" else 0

    def _where(self, kind: str, field: str, year: int) -> Item:
        """Return what a kind of work has besides title, authors and year."""
        numbers = {"page": details.page_range(self._random)}
        if kind == "article-journal":
            volume, issue = self._random.randint(1, 160), self._random.randint(1, 12)
            journal = self._text(f"{field}_journals")
            return numbers | {"container-title": journal, "volume": str(volume), "issue": str(issue)}
        if kind == "paper-conference":
            meeting = self._text("meetings").replace("{year}", str(year)).replace("{yy}", f"{year % 100:02}")
            return numbers | {"container-title": meeting}
        if kind == "thesis":  # its university is drawn from the words of all
            return {}
        publisher, place = self._random.choice(self.publishers)
        house = {"publisher": publisher, "publisher-place": place}
        if kind == "chapter":
            book = {"container-title": _capital(self._text("books")), "editor": self._people()}
            return numbers | house | book
        if kind == "edited-book":
            return house | {"title": _capital(self._text("books")), "author": [], "editor": self._people()}
        return house | {"title": _capital(self._text("books"))}

    def _text(self, name: str) -> str:
        """Draw an entry of a list, with an entry of another for each of its {names}."""
        text = self._random.choice(self._lists[name])
        filled = re.sub(r"\{(\w+)\}", lambda m: self._text(m[1]) if m[1] in self._lists else m[0], text)
        return _capital(filled) if name in FIELDS else filled

    def _people(self) -> list[Item]:
        n = self._random.choices(range(1, 1 + len(NUMBERS)), NUMBERS)[0]
        return list({one["family"]: one for one in (self._person() for _ in range(n))}.values())

    def _person(self) -> Item:
        return {"family": self._text("family"), "given": self._text("given")}


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]
