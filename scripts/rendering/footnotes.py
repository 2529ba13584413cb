"""References as footnotes of the humanities have them, in five languages; styles have few of them.

A reference is a list of pieces, each with its label. Works come from the metadata and from declared words, like those
of all others, and the words of the footnotes from `traditions.toml`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from rendering.abroad import Piece, ended
from rendering.bibtex import initials
from rendering.details import some, year_of
from rendering.kinds import Maker
from rendering.words import read_table
from rendering.works import Item

from espalier.citations.languages import printed

LANGUAGES = ("de", "de", "fr", "fr", "it", "it", "es", "en", "en")
"""Of a footnote, each as often as it stands here."""


class Footnotes:
    """Writes footnotes of one part, and has what all such references are made of."""

    def __init__(self, maker: Maker, random: Random) -> None:
        """Take works from a maker."""
        self._words = read_table("traditions")
        self.maker, self.random, self.language = maker, random, "en"

    def word(self, name: str, language: str = "") -> str:
        """Draw a word of a list, or of that of a language."""
        text = self._words[name][language] if language else self._words[name]
        return self.random.choice(text.replace("|\n", "|").split("|"))

    def item(self, draw: Callable[[str], Item], language: str) -> Item:
        """Draw a work that has an author; it says which language the reference is in."""
        self.language = language
        for _ in range(40):
            item = draw(language)
            if item.get("author") and item.get("issued") and len(item["author"]) < 5:
                return item
        raise ValueError(f"no work in {language} has an author")

    def person(self, name: Item, form: str) -> str:
        """Return a name: whole, short, inverted (perhaps short), or as Vancouver has it."""
        if "literal" in name:
            return str(name["literal"])
        family = f"{name.get('non-dropping-particle', '')} {name['family']}".strip()
        given = str(name.get("given", ""))
        if form.startswith("inverted"):
            return f"{family}, {given if form == 'inverted' else initials(given)}".rstrip(", ")
        if form == "vancouver":
            return f"{family} {initials(given, tight=True).replace('.', '')}".strip()
        return f"{given if form == 'whole' else initials(given)} {family}".strip()

    def people(self, names: Sequence[Item], language: str, form: str = "") -> str:
        """Return a list of names."""
        form = form or self.random.choice(("whole", "short", "whole", "inverted", "inverted short"))
        return self.word("joins", language).join(self.person(name, form) for name in names)

    def house(self, item: Item, language: str) -> tuple[str, str]:
        """Return place and publisher, of the work or any."""
        whole = item.get("publisher-place") and item.get("publisher")
        found = item if whole else self.maker.publisher(language)
        return str(found["publisher-place"]), str(found["publisher"])

    def range(self) -> str:
        """Return the first page and the last."""
        first = self.random.randint(1, 700)
        return f"{first}{self.random.choice('-–')}{first + self.random.randint(3, 60)}"

    def cited(self, language: str) -> str:
        """Return the page that a footnote means."""
        page = self.random.randint(1, 600)
        behind = self.word("behind_page", language).format(page + 3)
        return f"{self.word('pages', language)} {page}{behind}"

    def imprint(self, language: str, item: Item) -> list[Piece]:
        """Return place, perhaps publisher, and year, in one of the usual ways."""
        place, publisher = self.house(item, language)
        year = year_of(item)
        return self.random.choice(
            (
                [("location", place), ("date", f"{year},")],
                [("location", f"{place},"), ("publisher", f"{publisher},"), ("date", f"{year},")],
                [("location", f"({place}:"), ("publisher", f"{publisher},"), ("date", f"{year}),")],
                [("location", f"({place},"), ("date", f"{year}),")],
                [("location", f"{place}:"), ("publisher", publisher), ("date", f"{year},")],
            )
        )

    def series(self) -> list[Piece]:
        """Return a series in brackets, with its number."""
        return [("collection-title", f"({self.word('series')}"), ("volume", f"{self.random.randint(1, 300)}),")]

    def book(self) -> list[Piece]:
        """L. Ranke, Weltgeschichte (Zetemata 97), Leipzig 1882, S. 23."""
        language = self.random.choice(LANGUAGES)
        item = self.item(self.maker.book, language)
        stop = self.random.choice((",", ":")) if language == "de" else ","
        pieces = [("author", f"{self.people(item['author'], language)}{stop}")]
        if some(self.random, 0.3):
            number = self.random.choice((*"123456", "I", "II", "III", "IV"))
            pieces += [("title", f"{item['title']},"), ("volume", f"{self.word('volumes', language)} {number},")]
        elif some(self.random, 0.35):
            pieces += [("title", item["title"]), *self.series()]
        else:
            pieces += [("title", f"{item['title']},")]
        pieces += self.imprint(language, item)
        if some(self.random, 0.7):
            pieces += [("pages", self.cited(language))]
        return closed(pieces)

    def article(self) -> list[Piece]:
        """G. Contini, Un'interpretazione di Dante, in «Paragone», XVI (1965), pp. 3-42."""
        language = self.random.choice(LANGUAGES)
        item = self.item(self.maker.article, language)
        journal = item["container-title"]
        if language == "de" and some(self.random, 0.5):
            journal = self.word("abbreviated")
        number = self.word("roman") if some(self.random, 0.5) else str(self.random.randint(1, 300))
        when: list[Piece] = [("volume", number), ("date", f"({year_of(item)}),")]
        if language in ("fr", "it", "es") and some(self.random, 0.5):
            when = [("volume", f"{number},"), ("date", f"{year_of(item)},")]
        pages = f"{self.word('ranges', language)} {self.range()}" if some(self.random, 0.7) else self.range()
        if language == "de" and some(self.random, 0.25):
            pages += f", {self.random.choice(('hier', 'bes.'))} {self.cited('de')}"
        title, held = self.word("quoted", language), self.word("held", language)
        pieces = [("author", f"{self.people(item['author'], language)},"), ("title", f"{title.format(item['title'])},")]
        return closed([*pieces, ("container-title", held.format(journal)), *when, ("pages", pages)])

    def chapter(self) -> list[Piece]:
        """M. Fuhrmann, Persona, in: Identität (Zetemata 8), hg. v. O. Marquard, München 1979, S. 83–106."""
        language = self.random.choice(LANGUAGES)
        item = self.item(self.maker.chapter, language)
        inside = self.word("inside", language).format(item.get("container-title") or item["title"])
        entry = "Art. " if language in ("de", "en") and some(self.random, 0.15) else ""
        pieces = [("author", f"{self.people(item['author'], language)},"), ("title", f"{entry}{item['title']},")]
        if some(self.random, 0.35):
            pieces += [("container-title", inside), *self.series()]
        else:
            pieces += [("container-title", f"{inside},")]
        if some(self.random, 0.7) and item.get("editor"):
            editors = self.people(item["editor"][:2], language, "short")
            pieces += [("editor", f"{self.word('edited', language)} {editors},")]
        pieces += self.imprint(language, item)
        return closed([*pieces, ("pages", f"{self.word('ranges', language)} {self.range()}")])

    def review(self) -> list[Piece]:
        """K. Schreiner, Rez. zu: Otto Oexle, Memoria, in: HZ 245 (1987), S. 412-418."""
        language = self.random.choice(LANGUAGES)
        item, other = (self.item(draw, language) for draw in (self.maker.article, self.maker.book))
        whose = self.people(other["author"][:1], language, "whole")
        title = f"{self.word('reviewed', language)} {whose}, {other['title']},"
        pieces = [("author", f"{self.people(item['author'][:1], language, 'short')},"), ("title", title)]
        pieces += [("container-title", f"in: {item['container-title']}"), ("volume", str(self.random.randint(1, 300)))]
        pages = f"{self.word('ranges', language)} {self.range()}"
        return closed([*pieces, ("date", f"({year_of(item)}),"), ("pages", pages)])

    def reprint(self) -> list[Piece]:
        """Locke, John. An Essay. 1690. Reprint, Oxford: Clarendon Press, 1975."""
        language = self.random.choice(LANGUAGES)
        item = self.item(self.maker.book, language)
        place, publisher = self.house(item, language)
        first, year = self.random.randint(1680, 1960), year_of(item)
        again = self.word("reprinted", language)
        pieces = [("author", ended(self.people(item["author"], language, "inverted"), "."))]
        pieces += [("title", ended(item["title"], "."))]
        if some(self.random, 0.5):
            note = [("note", again)] if some(self.random, 0.6) else []
            pieces += [("date", f"{first}."), *note, ("location", f"{place}:"), ("publisher", f"{publisher},")]
            return [*pieces, ("date", f"{year}.")]
        other, _ = self.house({}, language)
        pieces += [("location", place), ("date", str(first)), ("note", f"({again}"), ("location", other)]
        return [*pieces, ("date", f"{year}).")]

    def catalogue(self) -> list[Piece]:
        """Manet 1832–1883, exh. cat., New York, Museum of Art, 1983."""
        language = self.random.choice(("de", "fr", "it", "es", "en"))
        item = self.item(self.maker.book, language)
        place, _ = self.house({}, language)
        artist = item["author"][0].get("family", "Holm")
        title = artist if some(self.random, 0.5) else f"{artist}. {item['title']}"
        pieces = [("title", f"{title},"), ("genre", f"{self.word('catalogues', language)},")]
        museum, year = self.word("museums"), year_of(item)
        if some(self.random, 0.5):
            return [*pieces, ("location", f"{place},"), ("publisher", f"{museum},"), ("date", f"{year}.")]
        return [*pieces, ("publisher", museum), ("location", f"({place},"), ("date", f"{year}).")]

    def newspaper(self) -> list[Piece]:
        """Aagaard, N. »Da velfærden kom«, Politiken 14. november 1998, s. 4."""
        language = self.random.choice(("de", "fr", "it", "es", "en", "da"))
        item = self.item(self.maker.article, language)
        papers = self.maker.words.all("newspapers", language) or self._words["danish_papers"].split("|")
        day, month, year = self.random.randint(1, 28), self.random.randint(1, 12), self.random.randint(1920, 2023)
        stop = "." if language in ("de", "da") else ""
        name = self.random.choice(printed(language)["months"])
        date = self.random.choice((f"{day}{stop} {name} {year}", f"{day}.{month}.{year}", f"{day}/{month} {year}"))
        title = self.word("newspaper_titles", language).format(item["title"])
        pieces = [("author", f"{self.people(item['author'][:1], 'en')},"), ("title", title)]
        paper = self.random.choice(papers) + self.random.choice(("", ",", ","))
        pieces += [("container-title", paper), ("date", f"{date},")]
        if some(self.random, 0.6):
            word, part = self.random.choice(("p.", "S.", "s.")), self.random.choice(("A", ""))
            pieces += [("pages", f"{word} {part}{self.random.randint(1, 40)}")]
        return closed(pieces)


def closed(pieces: Sequence[Piece]) -> list[Piece]:
    """End a reference with a full stop."""
    label, text = pieces[-1]
    return [*pieces[:-1], (label, ended(text.rstrip(","), "."))]
