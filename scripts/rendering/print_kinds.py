"""Works that are printed: articles, books and their chapters, proceedings, theses, reports."""

from __future__ import annotations

from copy import deepcopy

from rendering.details import digits, some
from rendering.drawing import Drawing
from rendering.works import Item

from rendering import details


class PrintKinds(Drawing):
    """Draws works that are printed."""

    def article(self, language: str) -> Item:
        """Return an article of a journal."""
        if self._made_up(language, self.pool.count("article-journal", language)):
            item = self.basics(language)
            item.update({"container-title": self._one("journals", language), "page": details.pages(self.random)})
            item.update(volume=str(self.random.randint(1, 140)), issue=str(self.random.randint(1, 12)))
        else:
            item = self.pool.draw(self.random, "article-journal", language)
        item["type"] = "article-journal"
        if some(self.random, 0.25):
            item.pop("issue", None)
        elif item.get("volume") and some(self.random, 0.3):
            item.setdefault("issue", str(self.random.randint(1, 12)))
        if some(self.random, 0.12):
            item["page"] = details.pages(self.random)
        elif item.get("page") and some(self.random, 0.1):
            item["page"] = item["page"].split("-")[0]
        details.set_date(self.random, item, 0.3)
        short = details.short_title(item["container-title"]) if some(self.random, 0.7) else None
        item["container-title-short"] = short or ""
        item["PMID"] = digits(self.random, 8) if some(self.random, 0.05) else ""
        item["PMCID"] = f"PMC{digits(self.random, 7)}" if some(self.random, 0.03) else ""
        item["source"] = self._one("databases") if some(self.random, 0.3) else ""
        return item

    def chapter(self, language: str) -> Item:
        """Return a chapter of an edited book."""
        item = self.pool.draw(self.random, "chapter", language)
        if self._made_up(language, self.pool.count("chapter", language)):
            item = {**self.basics(language), "container-title": details.title(self.random, self.words, language)}
            item.update(page=details.page_range(self.random), editor=details.names(self.random, self.words, language))
        elif some(self.random, 0.3):
            item.update(self.basics(language))
        item["type"] = "chapter"
        if some(self.random, 0.8):
            item.setdefault("editor", deepcopy(self.random.choice(self.pool.editors)))
        if some(self.random, 0.1):
            item.pop("editor", None)
        if not item.get("publisher") and some(self.random, 0.85):
            item.update(self.publisher(language))
        self._series(item, 0.2)
        item["volume"] = str(self.random.randint(1, 5)) if some(self.random, 0.06) else ""
        item["edition"] = self._edition() if some(self.random, 0.05) else ""
        if some(self.random, 0.06):
            item["chapter-number"] = str(self.random.randint(1, 20))
        return item

    def conference(self, language: str) -> Item:
        """Return a paper of proceedings, or one that was only presented."""
        item = self.pool.draw(self.random, "paper-conference", language)
        item.update({"type": "paper-conference", "issue": ""})
        if some(self.random, 0.15):
            item.setdefault("editor", deepcopy(self.random.choice(self.pool.editors)))
        elif some(self.random, 0.5):
            item.pop("editor", None)
        if not item.get("publisher") and some(self.random, 0.4):
            item.update(self.publisher("en"))
        elif some(self.random, 0.3):
            item["publisher"] = self._one("presses")
        self._series(item, 0.15)
        if some(self.random, 0.85):
            item["volume"] = ""
        if some(self.random, 0.1) and item.get("container-title"):
            item.update({"event-place": self._one("cities"), "event-title": item.pop("container-title"), "page": ""})
        elif some(self.random, 0.3):
            item["container-title-short"] = details.short_title(item.get("container-title", "")) or ""
        details.set_date(self.random, item, 0.3, 0.2)
        return item

    def book(self, language: str) -> Item:
        """Return a book by its authors."""
        return self._book(language, "book")

    def edited_book(self, language: str) -> Item:
        """Return a book that only has editors."""
        item = self._book(language, "edited-book")
        item["editor"] = item.get("editor") or item.get("author") or deepcopy(self.random.choice(self.pool.editors))
        item.pop("author", None)
        return item

    def _book(self, language: str, kind: str) -> Item:
        item = self.pool.draw(self.random, kind, language)
        if some(self.random, 0.25) or self._made_up(language, self.pool.count(kind, language)):
            item.update(self.basics(language))
        if not item.get("publisher") or item.get("language") or some(self.random, 0.15):
            item.update(self.publisher(language))
        item.update({"type": "book", "volume": str(self.random.randint(1, 12)) if some(self.random, 0.05) else ""})
        item["edition"] = self._edition() if some(self.random, 0.12) else item.get("edition", "")
        item["ISBN"] = details.isbn(self.random) if some(self.random, 0.2) else ""
        item["number-of-pages"] = str(self.random.randint(60, 1200)) if some(self.random, 0.2) else ""
        self._series(item, 0.15)
        return item

    def translation(self, language: str) -> Item:
        """Return a translated book or chapter."""
        item = self._book(language, "book") if some(self.random, 0.7) else self.chapter(language)
        people = (
            self.pool.people
            if language == "en" or some(self.random, 0.3)
            else [details.name(self.random, self.words, language)]
        )
        item["translator"] = [deepcopy(self.random.choice(people)) for _ in range(self.random.choice((1, 1, 1, 2)))]
        if some(self.random, 0.4):
            item["original-date"] = {"date-parts": [[details.year_of(item) - self.random.randint(5, 90)]]}
        return item

    def reprint(self, language: str) -> Item:
        """Return a book or a chapter that first appeared long before."""
        item = self._book(language, "book") if some(self.random, 0.7) else self.chapter(language)
        item["original-date"] = {"date-parts": [[details.year_of(item) - self.random.randint(5, 150)]]}
        return item

    def volumes(self, language: str) -> Item:
        """Return a book in several volumes, or one of them."""
        item = self._book(language, "book" if some(self.random, 0.7) else "edited-book")
        item["number-of-volumes"] = str(self.random.randint(2, 12)) if some(self.random, 0.7) else ""
        item["volume"] = self.random.choice(("1", "2", "3", "II", "III", "IV", "5")) if some(self.random, 0.6) else ""
        return item

    def thesis(self, language: str) -> Item:
        """Return a thesis."""
        item = self.pool.draw(self.random, "thesis", language)
        if some(self.random, 0.45) or self._made_up(language, self.pool.count("thesis", language)):
            item.update(self.basics(language))
        item.update({"type": "thesis", "author": (item.get("author") or [self.random.choice(self.pool.people)])[:1]})
        if not item.get("publisher") or some(self.random, 0.6) or item.get("language"):
            item["publisher"] = self._one("universities", language)
            if some(self.random, 0.1) and language == "en":
                item["publisher"] = f"{self._one('departments')}, {item['publisher']}"
        if not item.get("genre") or some(self.random, 0.6) or language != "en":
            item["genre"] = self._one("theses", language)
        item["publisher-place"] = item.get("publisher-place", "") or (
            self._one("cities") if some(self.random, 0.2) else ""
        )
        item["number-of-pages"] = str(self.random.randint(60, 600)) if some(self.random, 0.1) else ""
        return item

    def report(self, language: str) -> Item:
        """Return a report of an institute or a body."""
        item = {**self.basics(language), "type": "report"}
        item["publisher"] = self._one(self.random.choice(("institutes", "universities", "bodies")))
        item["genre"] = self._one("reports") if some(self.random, 0.75) else ""
        number = self.random.choice(
            (
                *(
                    digits(self.random, 4),
                    f"TR-{digits(self.random, 2)}-{digits(self.random, 2)}",
                    f"CS-{digits(self.random, 3)}",
                ),
                *(
                    f"{digits(self.random, 2)}/{self.random.randint(1990, 2020)}",
                    f"RM-{digits(self.random, 4)}",
                    f"w{digits(self.random, 5)}",
                ),
                f"NASA/TM-{self.random.randint(1990, 2020)}-{digits(self.random, 6)}",
                f"{self._one('acronyms')}-{digits(self.random, self.random.randint(2, 4))}",
                f"{self._one('acronyms')}/{self.random.randint(1990, 2020)}/{digits(self.random, 2)}",
                f"{self.random.randint(1985, 2022)}-{digits(self.random, 2)}",
                f"{digits(self.random, 2)}.{digits(self.random, 2)}",
            )
        )
        item["number"] = number if some(self.random, 0.7) else ""
        item["publisher-place"] = self._one("cities") if some(self.random, 0.4) else ""
        if some(self.random, 0.35):
            item["author"] = [{"literal": self._one("bodies")}]
        details.set_date(self.random, item, 0.3, 0.2)
        return item

    def entry(self, language: str) -> Item:
        """Return an entry of an encyclopedia."""
        item = {**self.basics(language), "type": "entry-encyclopedia", "container-title": self._one("encyclopedias")}
        words = [word for word in item["title"].split() if len(word) > 3 or not word.isascii()]
        item["title"] = " ".join(words[:2]).strip(" ,:;.") or item["title"]
        item.update(self.publisher(language) if some(self.random, 0.6) else {})
        item["volume"] = str(self.random.randint(1, 30)) if some(self.random, 0.3) else ""
        item["page"] = details.page_range(self.random) if some(self.random, 0.5) else ""
        item["edition"] = self._edition() if some(self.random, 0.2) else ""
        item["URL"] = details.address(self.random, item) if some(self.random, 0.3) else ""
        item["author"] = item["author"] if some(self.random, 0.7) else []
        item["editor"] = deepcopy(self.random.choice(self.pool.editors)) if some(self.random, 0.3) else []
        return item
