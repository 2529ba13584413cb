"""References of countries whose styles and works are rare: Turkey, Hungary, the North, Greece, Vietnam, Korea and more.

A reference is a list of pieces, each with its label: the words of the language (`abroad.toml`) and its habits, names in
its order, dates as they are written there. Works are made up; there is no metadata of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random

from rendering.details import some
from rendering.words import read_table

from espalier.citations.languages import printed
from espalier.document import Document, Span

Piece = tuple[str, str]
"""A label and a text; one that begins with "^" stands close to the piece before."""


def put_together(pieces: Sequence[Piece]) -> Document:
    """Return a reference of pieces, with a blank between them; empty ones are left out."""
    text, spans = "", list[Span]()
    for label, piece in pieces:
        if not piece.strip("^ "):
            continue
        text += "" if piece.startswith("^") or not text else " "
        start = len(text)
        text += piece.removeprefix("^")
        if spans and spans[-1].label == label:
            start = spans.pop().start
        spans.append(Span(start, len(text), label))
    return Document.from_text(text, spans)


def ended(text: str, mark: str) -> str:
    """Return a text with a mark at its end; a full stop is not doubled."""
    return text if mark == "." and text.endswith((".", "?", "!")) else f"{text}{mark}"


class Abroad:
    """Writes references of one part, in the languages of `abroad.toml`."""

    def __init__(self, random: Random) -> None:
        """Read the words beside this file."""
        self.random = random
        self.words: dict[str, Mapping[str, Sequence[str]]] = {
            language: {**printed(language), **{name: text.split("|") for name, text in table.items()}}
            for language, table in read_table("abroad").items()
        }
        self._kinds: tuple[tuple[str, Callable[[str], list[Piece]], int], ...] = (
            ("article", self.article, 5),
            ("book", self.book, 3),
            ("chapter", self.chapter, 3),
            ("thesis", self.thesis, 2),
            ("webpage", self.page, 2),
        )

    def write(self) -> tuple[Document, str, str]:
        """Return a reference, its language and its kind."""
        language = self.random.choice(list(self.words))
        kind, writer, _ = self.random.choices(self._kinds, [share for *_, share in self._kinds])[0]
        pieces = writer(language)
        return put_together(pieces), language, kind

    def one(self, language: str, name: str, value: object = "") -> str:
        """Draw a word or phrase of a language, with a value in its place."""
        return self.random.choice(self.words[language].get(name, ["{}"])).replace("{}", str(value))

    def title(self, language: str) -> str:
        """Make up a title."""
        whole = f"{self.one(language, 'a')} {self.one(language, 'b')}"
        return f"{whole}: {self.one(language, 'a')} {self.one(language, 'b')}" if some(self.random, 0.12) else whole

    def person(self, language: str, inverted: bool) -> str:
        """Return a name as a list of references of the language has it."""
        order = self.one(language, "order")
        family, given = self.one(language, "family"), self.one(language, "given")
        if order == "closed":
            return family + given
        if order == "whole":
            return f"{family} {given}"
        short = " ".join(f"{word[0]}." for word in given.replace("-", " ").split()) if "." not in given else given
        if order == "family-first" and some(self.random, 0.6):
            return f"{family} {given if some(self.random, 0.7) else short}"
        if order == "capitals" and some(self.random, 0.6):
            return f"{family.upper()}, {given if some(self.random, 0.7) else short}"
        if order == "initials":
            return f"{family} {short}"
        short = given if some(self.random, 0.35) else short
        return f"{family}, {short}" if inverted else f"{short} {family}"

    def names(self, language: str, inverted: bool = True) -> str:
        """Return a list of names."""
        several = [self.person(language, inverted) for _ in range(self.random.choice((1, 1, 1, 2, 2, 3)))]
        if some(self.random, 0.08):
            return f"{several[0]} {self.one(language, 'others')}"
        last = self.one(language, "and")
        last = f"{last} " if last in (",", "·") else f" {last} "
        return ", ".join(several[:-1]) + (last if several[:-1] else "") + several[-1]

    def author(self, language: str, share_of_bodies: float = 0.05) -> str:
        """Return who wrote it: persons, or an institution."""
        return self.one(language, "bodies") if some(self.random, share_of_bodies) else self.names(language)

    def year(self) -> int:
        """Return a year, recent ones more often."""
        return self.random.choice((self.random.randint(1935, 2024), self.random.randint(1990, 2024)))

    def dated(self, language: str, label: str, pieces: list[Piece]) -> list[Piece]:
        """Put the year behind the author, in one of the usual ways, or leave it for the end."""
        (_, author), year = pieces[0], self.year()
        form = self.random.randrange(4)
        if form == 0:
            return [(label, author), ("date", f"({year})."), *pieces[1:]]
        if form == 1:
            return [(label, author), ("date", f"({year}):"), *pieces[1:]]
        stop = self.random.choice((":", ".", ","))
        pieces = [(label, author + ("" if author.endswith(stop) else stop)), *pieces[1:]]
        before, (last, text) = pieces[:-1], pieces[-1]
        if last == "pages":  # a journal has the year before the pages, or last
            return [*before, ("date", f"{year},"), (last, text)]
        kept = text[:-1] if text.endswith(".") and len(text.split()[-1]) > 3 else text
        return [*pieces[:-1], (last, f"{kept},"), ("date", f"{year}.")]

    def article(self, language: str) -> list[Piece]:
        """Return an article of a journal."""
        first, issue = self.random.randint(1, 700), self.random.randint(1, 12)
        pages = self.one(language, "pages", f"{first}{self.random.choice('-–')}{first + self.random.randint(2, 40)}")
        volume = self.one(language, "volume", self.random.randint(1, 90))
        number = self.one(language, "issue", issue)
        close = "^" if number[0] in "(:" else ""
        numbered = [("volume", volume if close else f"{volume},"), ("issue", f"{close}{number},")]
        if some(self.random, 0.25):
            numbered = [("volume", f"{volume},")] if some(self.random, 0.5) else [("issue", f"{number},")]
            close = ""
        slashes = "//" if language == "uk" else ""
        stop = self.random.choice((".", ",")) if not slashes else ""
        pieces = [("author", self.author(language)), ("title", f"{self.title(language)}{stop} {slashes}".strip())]
        pieces += [
            ("container-title", self.one(language, "journals") + ("" if close else self.random.choice((",", "."))))
        ]
        pieces += [*numbered, ("pages", ended(pages, "."))]
        if slashes and some(self.random, 0.7):
            return self._areas(pieces)
        return self.dated(language, "author", pieces)

    def _areas(self, pieces: list[Piece]) -> list[Piece]:
        """Return an article with the dashes of GOST between its areas."""
        author, title, (_, journal), *numbered, (_, pages) = pieces
        found = [author, title, ("container-title", f"{journal.rstrip('.,')}. –"), ("date", f"{self.year()}. –")]
        found += [(label, f"{text.removeprefix('^').rstrip(',')}. –") for label, text in numbered]
        return [*found, ("pages", pages)]

    def _house(self, language: str) -> list[Piece]:
        publisher, place = self.one(language, "publishers").split("@")
        form = self.random.randrange(3)
        if form == 0:
            return [("location", f"{place}:"), ("publisher", f"{publisher}.")]
        if form == 1:
            return [("publisher", f"{publisher},"), ("location", ended(place, "."))]
        return [("publisher", f"{publisher}.")]

    def book(self, language: str) -> list[Piece]:
        """Return a book, perhaps a later edition or a translation, perhaps with the number of its pages."""
        pieces = [("author", self.author(language)), ("title", f"{self.title(language)}{self.random.choice('.,')}")]
        if some(self.random, 0.2):
            edition = self.one(language, "edition", self.random.randint(2, 6))
            pieces += [("edition", edition if edition.endswith(".") else f"{edition},")]
        if some(self.random, 0.12):
            pieces += [("translator", f"{self.one(language, 'translated', self.person(language, False))},")]
        pieces = self.dated(language, "author", [*pieces, *self._house(language)])
        count = self.one(language, "count", self.random.randint(60, 700))
        return [*pieces, ("pages", count)] if some(self.random, 0.25) else pieces

    def chapter(self, language: str) -> list[Piece]:
        """Return a chapter of a book with editors."""
        first = self.random.randint(1, 400)
        pages = self.one(language, "pages", f"{first}{self.random.choice('-–')}{first + self.random.randint(5, 40)}")
        editors = self.one(language, "editors", self.names(language, some(self.random, 0.4)))
        book = self.title(language)
        pieces = [("author", self.names(language)), ("title", f"{self.title(language)}.")]
        if some(self.random, 0.6):
            pieces += [("editor", f"{self.one(language, 'in', editors)},"), ("container-title", f"{book}.")]
        else:
            pieces += [("container-title", f"{self.one(language, 'in', book)},"), ("editor", ended(editors, "."))]
        bracketed = some(self.random, 0.4)
        pieces += [("pages", f"({pages})." if bracketed else f"{pages}.")] if bracketed else []
        pieces = self.dated(language, "author", [*pieces, *self._house(language)])
        return pieces if bracketed else [*pieces, ("pages", ended(pages, "."))]

    def thesis(self, language: str) -> list[Piece]:
        """Return a thesis and where it was written."""
        _, place = self.one(language, "publishers").split("@")
        genre, school = self.one(language, "theses"), self.one(language, "universities")
        pieces = [
            ("author", self.person(language, True)),
            ("title", f"{self.title(language)}{self.random.choice('.,')}"),
        ]
        if some(self.random, 0.3):
            pieces = [pieces[0], ("title", pieces[1][1].rstrip(".,")), ("genre", f"({genre}).")]
        else:
            pieces += [("genre", ended(genre, self.random.choice(".,")))]
        if language == "uk":
            pieces = [pieces[0], ("title", f"{pieces[1][1].strip('.,')}:"), ("genre", f"{genre}.")]
            return [*pieces, ("location", f"{place},"), ("date", f"{self.year()}."), ("pages", "201 с.")]
        pieces += [("institution", f"{school}.")]
        pieces = self.dated(language, "author", pieces)
        return [*pieces, ("location", ended(place, "."))] if some(self.random, 0.2) else pieces

    def page(self, language: str) -> list[Piece]:
        """Return a page of the web, with the day of access in the form of the language."""
        site = (
            "".join(c for c in self.one(language, "universities").lower() if c.isascii() and c.isalpha())[:10]
            or "portal"
        )
        address = f"http{self.random.choice(('', 's'))}://www.{site}.{language}/{self.random.randint(10, 9999)}"
        address += self.random.choice(("", "/", ".html", "/index.php", ".pdf"))
        pieces = [("author", self.author(language, 0.6)), ("title", f"{self.title(language)}.")]
        pieces = self.dated(language, "author", pieces)
        where, when = ("url", self.one(language, "available", address)), ("accessed", self._day(language))
        return [*pieces, *self.random.choice(([where, when], [when, where], [where]))]

    def _day(self, language: str) -> str:
        d, m, y = self.random.randint(1, 28), self.random.randint(1, 12), self.random.randint(1999, 2024)
        month = self.words[language]["months"][m - 1]
        forms = ["{d} {m} {y}", "{dd}.{mm}.{y}", "{d}.{mn}.{y}", "{y}-{mm}-{dd}", "{d}/{mn}/{y}"]
        form = (
            self.one(language, "date")
            if "date" in self.words[language] and some(self.random, 0.6)
            else self.random.choice(forms)
        )
        written = form.format(d=d, m=month, y=y, mn=m, dd=f"{d:02}", mm=f"{m:02}")
        return self.one(language, "accessed", written)
