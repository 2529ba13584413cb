"""References as they are cited where styles are few: by courts, in Russia, Brazil and Japan, in physics and medicine.

A reference is a list of pieces, each with its label. Footnotes of the humanities are in `footnotes`.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from rendering.abroad import Piece, ended, put_together
from rendering.bibtex import initials
from rendering.details import some, year_of
from rendering.footnotes import Footnotes
from rendering.kinds import Maker
from rendering.works import Item

from espalier.document import Document


class Traditions(Footnotes):
    """Writes references of one part."""

    def __init__(self, maker: Maker, random: Random) -> None:
        """Take works from a maker; each way of citing has its kind and its share."""
        super().__init__(maker, random)
        self.writers: tuple[tuple[str, Callable[[], list[Piece]], int], ...] = (
            ("book", self.book, 6),
            ("article", self.article, 6),
            ("chapter", self.chapter, 4),
            ("article", self.review, 1),
            ("reprint", self.reprint, 2),
            ("book", self.catalogue, 1),
            ("newspaper", self.newspaper, 2),
            ("article", self.law_review, 3),
            ("legal-case", self.case, 2),
            ("legal-case", self.english_case, 1),
            ("article", self.russian_article, 4),
            ("thesis", self.russian_thesis, 1),
            ("conference", self.brazilian_meeting, 2),
            ("article", self.supplement, 3),
            ("article", self.year_in_title, 2),
            ("patent", self.patent, 1),
            ("standard", self.standard, 1),
            ("article", self.collaboration, 2),
            ("article", self.japanese, 2),
        )

    def write(self) -> tuple[Document, str, str]:
        """Return a reference, its language and the kind of its work."""
        kind, writer, _ = self.random.choices(self.writers, [share for *_, share in self.writers])[0]
        self.language = "en"
        return put_together(writer()), self.language, kind

    def _pages(self, last: int) -> str:
        """Return the first page, often with the one that is cited."""
        first = self.random.randint(1, last)
        return str(first) + (f", {first + self.random.randint(1, 40)}" if some(self.random, 0.5) else "")

    def law_review(self) -> list[Piece]:
        """Duncan Kennedy, Form and Substance, 89 Harv. L. Rev. 1685, 1713 (1976)."""
        item = self.item(self.maker.article, "en")
        pieces = [("author", f"{self.people(item['author'][:2], 'en', 'whole')},"), ("title", f"{item['title']},")]
        pieces += [("volume", str(self.random.randint(1, 140))), ("container-title", self.word("reviews"))]
        return [*pieces, ("pages", self._pages(2100)), ("date", f"({year_of(item)}).")]

    def _parties(self, mark: str) -> str:
        drawn = self.random.choices(self.maker.pool.people, k=2)
        one, other = (str(name.get("family", name.get("literal", "Roe"))) for name in drawn)
        others = (other, "State", "United States", f"City of {other}", f"{other} Corp.", "Board of Education")
        return f"{one} {mark} {self.random.choice(others)}"

    def case(self) -> list[Piece]:
        """Roe v. Wade, 410 U.S. 113, 153 (1973)."""
        title = self._parties("v.")
        if some(self.random, 0.1):
            title = f"{self.random.choice(('In re', 'Ex parte'))} {title.partition(' v. ')[0]}"
        pieces = [("title", f"{title},"), ("volume", str(self.random.randint(1, 600)))]
        date = f"({self.word('circuits')}{self.random.randint(1850, 2022)})."
        return [*pieces, ("container-title", self.word("reporters")), ("pages", self._pages(1200)), ("date", date)]

    def english_case(self) -> list[Piece]:
        """Donoghue v Stevenson [1932] AC 562 (HL)."""
        pieces = [("title", self._parties("v")), ("date", f"[{self.random.randint(1880, 2022)}]")]
        if some(self.random, 0.3):
            pieces += [("volume", str(self.random.randint(1, 3)))]
        pieces += [("container-title", self.word("courts")), ("pages", str(self.random.randint(1, 999)))]
        return [*pieces, ("note", self.word("divisions"))] if some(self.random, 0.5) else pieces

    def _russian(self, name: Item) -> str:
        return f"{name.get('family', 'Иванов')} {initials(str(name.get('given', 'А. А.')))}"

    def russian_article(self) -> list[Piece]:
        """Смирнов П. П. Охрана лесов // Лесное хозяйство. – 2001. – № 4. – С. 12–15."""
        item = self.item(self.maker.article, "ru")
        pieces = [("author", ", ".join(map(self._russian, item["author"]))), ("title", f"{item['title']} //")]
        number = f"{self.random.choice(('№', 'Вып.'))} {self.random.randint(1, 60)}"
        volume = f"Т. {self.random.randint(1, 90)}"
        journal, year, pages = item["container-title"], year_of(item), f"С. {self.range()}."
        form = self.random.randrange(3)
        if form == 0:
            pieces += [("container-title", f"{journal}. –"), ("date", f"{year}. –")]
            numbered = [("volume", f"{volume},")] if some(self.random, 0.5) else []
            return [*pieces, *numbered, ("issue", f"{number}. –"), ("pages", pages)]
        pieces += [("container-title", f"{journal}.")]
        if form == 1:
            pieces += [("location", f"{self.word('russian_places')},"), ("date", f"{year}.")]
            return [*pieces, ("issue", f"{number}."), ("pages", pages)]
        return [*pieces, ("date", f"{year}."), ("volume", f"{volume}."), ("issue", f"{number}."), ("pages", pages)]

    def russian_thesis(self) -> list[Piece]:
        """Соколова Н. П. Регулирование лесопользования: дис. … канд. юрид. наук. М., 2008. 324 с."""
        item = self.item(self.maker.article, "ru")
        before, dots = self.random.choice(("", "автореф. ")), self.random.choice(("...", "…"))
        degree = self.random.choice(("канд.", "д-ра"))
        genre = f"{before}дис. {dots} {degree} {self.word('sciences')} наук"
        if some(self.random, 0.4):
            genre += f": {self.random.randint(5, 25):02}.00.{self.random.randint(1, 15):02}"
        title = f"{item['title']}{self.random.choice((':', ' :'))}"
        pieces = [("author", self._russian(item["author"][0])), ("title", title), ("genre", f"{genre}.")]
        pieces += [("location", f"{self.word('russian_places')},"), ("date", f"{year_of(item)}.")]
        return [*pieces, ("pages", f"{self.random.randint(18, 400)} с.")]

    def brazilian_meeting(self) -> list[Piece]:
        """SOUZA, J. O solo. In: CONGRESSO DE SOLO, 24., 1993, Goiânia. Anais... Goiânia: SBCS, 1993. p. 45-9."""
        item = self.item(self.maker.article, "pt")
        place, publisher = self.house({}, "pt")
        year = year_of(item)
        names = "; ".join(self.person(name, "inverted short").upper() for name in item["author"])
        meeting = (
            f"{self.word('meetings')} {self.word('meeting_fields')}, {self.random.randint(1, 40)}., {year}, {place}."
        )
        pieces = [("author", ended(names, ".")), ("title", ended(item["title"], "."))]
        pieces += [("container-title", f"In: {meeting} {self.word('meeting_volumes')}"), ("location", f"{place}:")]
        return [*pieces, ("publisher", f"{publisher},"), ("date", f"{year}."), ("pages", f"p. {self.range()}.")]

    def _vancouver(self, item: Item) -> Piece:
        return "author", ended(", ".join(self.person(name, "vancouver") for name in item["author"]), ".")

    def supplement(self) -> list[Piece]:
        """Smith J. Trials [abstract]. Ann Oncol. 2016;27(Suppl. 6):vi15–vi42."""
        item = self.item(self.maker.article, "en")
        word, number = self.word("supplements"), self.random.randint(1, 30)
        issue = self.random.choice((f"({word} {number}):", f"({number} {word}):", f"({word}):", f"({word}{number}):"))
        titled = [("title", ended(item["title"], "."))]
        if some(self.random, 0.4):
            titled = [("title", item["title"]), ("genre", f"[{self.word('forms')}].")]
        first, letter = self.random.randint(1, 400), self.random.choice(("", "S", "vi", "A"))
        pages = f"{letter}{first}{self.random.choice('-–')}{letter}{first + self.random.randint(1, 30)}."
        journal = str(item.get("container-title-short") or item["container-title"])
        journal = ended(journal, ".") if some(self.random, 0.5) else journal
        pieces = [self._vancouver(item), *titled, ("container-title", journal), ("date", f"{year_of(item)};")]
        volume = f"^{self.random.randint(1, 150)}"
        return [*pieces, ("volume", volume), ("issue", f"^{issue}"), ("pages", f"^{pages}")]

    def year_in_title(self) -> list[Piece]:
        """Parkin DM, Bray F. Global cancer statistics, 2002. CA Cancer J Clin 2005;55:74-108."""
        item = self.item(self.maker.article, "en")
        year, subject = year_of(item), self.word("yearly")
        large = subject.capitalize()
        titles = (f"Global {subject}, {year - 2}.", f"{large}, {year}.", f"{year - 1} {subject}.")
        title = self.random.choice((*titles, f"{large} in {item['title']}, {year - 9}–{year - 2}."))
        if some(self.random, 0.5):
            pieces = [self._vancouver(item), ("title", title), ("container-title", item["container-title"])]
            pieces += [("date", f"{year};"), ("volume", f"^{self.random.randint(1, 99)}:")]
            return [*pieces, ("pages", f"^{self.range()}.")]
        body = self.maker.words.one(self.random, "bodies")
        place, _ = self.house({}, "en")
        pieces = [("author", ended(body, ".")), ("date", f"({year})."), ("title", title), ("location", f"{place}:")]
        return [*pieces, ("publisher", f"{self.random.choice(('Author', body))}.")]

    def patent(self) -> list[Piece]:
        """J. P. Wilkinson, “Nonlinear resonant circuit devices,” U.S. Patent 3 624 125, July 16, 1990."""
        item = self.item(self.maker.article, "en")
        number = f"{self.random.randint(1_000_000, 11_000_000):,}".replace(",", self.random.choice((",", " ", "")))
        month, day = self.random.choice(("Jan.", "July", "Oct.")), self.random.randint(1, 28)
        date = self.random.choice((f"{month} {day}, {year_of(item)}.", f"{year_of(item)}."))
        names = self.people(item["author"][:3], "en", self.random.choice(("short", "inverted short")))
        pieces = [("author", ended(names, ".")), ("title", ended(item["title"], "."))]
        if some(self.random, 0.4):
            pieces = [("author", f"{names},"), ("title", f"“{item['title']},”")]
        return [*pieces, ("genre", f"{self.word('patents')} {number},"), ("date", date)]

    def standard(self) -> list[Piece]:
        """ISO 14040 (2006). Environmental management. International Organization for Standardization, Geneva."""
        item = self.item(self.maker.article, "en")
        name = self.word("standards")
        letter = self.random.choice("DCEF") if name == "ASTM" else ""
        part = self.random.choice(("", "-1", "-2", "-14", ":2015"))
        number = f"{name} {letter}{self.random.randint(100, 20000)}{part}"
        house, place = self.word("standard_houses").split("@")
        body = [("title", ended(item["title"], self.random.choice(",."))), ("publisher", f"{house},")]
        if some(self.random, 0.5):
            return [("genre", number), ("date", f"({year_of(item)})."), *body, ("location", f"{place}.")]
        return [("genre", f"{number},"), *body, ("location", f"{place},"), ("date", f"{year_of(item)}.")]

    def collaboration(self) -> list[Piece]:
        """K. Abe et al. (T2K Collaboration), Nature 580, 339 (2020)."""
        item = self.item(self.maker.article, "en")
        letters = "".join(self.random.choices("ABCDEFGHIKLMNOPRSTVX", k=self.random.randint(3, 6)))
        name = self.random.choice((letters, letters, "T2K", f"Super-{letters}", letters.title()))
        who, first = self.word("collaborations").format(name), self.person(item["author"][0], "short")
        author = self.random.choice((f"{first} et al. {who},", f"{first} et al., {who},", f"{name} Collaboration,"))
        titled = [("title", f"{item['title']},")] if some(self.random, 0.35) else []
        journal = str(item.get("container-title-short") or item["container-title"])
        volume = f"{self.random.randint(1, 900)},"
        page = self.random.choice(
            (str(self.random.randint(1, 2000)), f"{self.random.randint(0, 99999):06}", self.range())
        )
        pieces = [("author", author), *titled, ("container-title", journal + self.random.choice(("", ",")))]
        return [*pieces, ("volume", volume), ("pages", page), ("date", f"({year_of(item)}).")]

    def japanese(self) -> list[Piece]:
        """佐藤健一. 地域医療における看護の役割. 日本看護科学会誌. 2012, vol. 30, no. 2, p. 45-53."""
        item = self.item(self.maker.article, "ja")
        names = self.random.choice(("・", ", ", "，")).join(
            f"{name.get('family', '')}{name.get('given', '')}" for name in item["author"]
        )
        volume, issue, year = self.random.randint(1, 99), self.random.randint(1, 12), year_of(item)
        title, journal, house = item["title"], item["container-title"], self.house({}, "ja")[1]
        form = self.random.randrange(4)
        if form == 0:
            pieces = [("author", f"{names}."), ("title", f"{title}."), ("container-title", f"{journal}.")]
            pieces += [("date", f"{year},"), ("volume", f"vol. {volume},"), ("issue", f"no. {issue},")]
            return [*pieces, ("pages", f"p. {self.range()}.")]
        if form == 1:
            pieces = [("author", names), ("title", f"^「{title}」"), ("container-title", f"^『{journal}』")]
            pieces += [("volume", f"^第{volume}巻"), ("issue", f"^第{issue}号、"), ("date", f"^{year}年、")]
            return [*pieces, ("pages", f"^{self.range()}頁。")]
        if form == 2:
            return [
                ("author", names),
                ("title", f"^『{title}』"),
                ("publisher", f"^{house}、"),
                ("date", f"^{year}年。"),
            ]
        pieces = [("author", f"{names}."), ("title", f"{title}."), ("publisher", f"{house},"), ("date", f"{year},")]
        return [*pieces, ("pages", f"{self.random.randint(80, 600)}p.")]
