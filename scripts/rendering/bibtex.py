"""Styles that CSL lacks: BibTeX's own (plain, abbrv, alpha, apalike, ieeetr, siam, acm, amsplain) and those of physics.

A reference is put together of pieces, each with the variable of CSL that it prints, so its labels are known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from rendering.details import digits, some, year_of
from rendering.labels import WORD, labelled
from rendering.words import Words
from rendering.works import Item

from espalier.document import Document

MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
ORDINALS = {"2": "second", "3": "third", "4": "fourth", "5": "fifth", "6": "sixth", "10": "tenth"}
BOOKS = frozenset({"book", "edited-book", "translation", "reprint", "volumes"})
ARTICLES = frozenset({"article", "magazine", "newspaper"})


@dataclass(frozen=True, slots=True)
class Setting:
    """What tells the styles of BibTeX apart.

    names : how a person is written; last : what joins the last two; after : what follows the authors;
    between : what ends title and book; quoted : titles in quotation marks.
    """

    names: str
    last: str = " and "
    after: str = ". "
    between: str = ". "
    quoted: bool = False


SETTINGS = {
    "plain": Setting("full"),
    "alpha": Setting("full"),
    "abbrv": Setting("initials"),
    "apalike": Setting("reversed"),
    "ieeetr": Setting("initials", after=", ", between=", ", quoted=True),
    "siam": Setting("tight capitals", after=", ", between=", "),
    "acm": Setting("capitals"),
    "amsplain": Setting("full", after=", ", between=", "),
}
PHYSICS = ("revtex", "jhep", "apj")
STYLES = (*SETTINGS, *PHYSICS)


class Pieces:
    """A reference under construction."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.text, self.labels = "", []

    def add(self, text: str, variable: str = "") -> None:
        """Add a piece that prints a variable, or what stands between two; no full stop is doubled."""
        if self.text.endswith(".") and text.startswith("."):
            text = text[1:]
        self.text += text
        self.labels += [variable] * len(text)

    def document(self, kind: str) -> Document:
        """Return the reference under our labels."""
        text = self.text.rstrip()
        words = [(m.start(), m.end(), self.labels[m.start()] or "other") for m in WORD.finditer(text)]
        return labelled(text, words, kind)


def initials(given: str, tight: bool = False) -> str:
    """Return the initials of given names."""
    return ("" if tight else " ").join(
        part[0] + "." for part in re.split(r"[\s.]+", given) if part and part[0].isalpha()
    )


def person(name: Item, form: str) -> str:
    """Return a name: full, initials, reversed, capitals (reversed, too) or tight (initials without blanks)."""
    if "literal" in name:
        return str(name["literal"])
    family = f"{name.get('non-dropping-particle', '')} {name['family']}".strip()
    given = name.get("given", "")
    short = initials(given, "tight" in form)
    if "capitals" in form:
        family = family.upper()
    if form in ("reversed", "capitals"):
        return f"{family}, {short}" if short else family
    return f"{given if form == 'full' else short} {family}".strip()


def people(random: Random, names: Sequence[Item], form: str, last: str) -> str:
    """Return a list of names."""
    written = [person(name, form) for name in names]
    if len(written) > 6 and some(random, 0.5):
        return ", ".join(written[: random.choice((1, 1, 3))]) + random.choice((" et al.", ", et al."))
    if len(written) == 1:
        return written[0]
    comma = "," if len(written) > 2 and last.strip() in ("and", "&") else ""
    return ", ".join(written[:-1]) + comma + last + written[-1]


class Writer:
    """Writes works in these styles."""

    def __init__(self, random: Random, words: Words) -> None:
        """Decide with `random` what a style leaves open; take journals of physics and cities from `words`."""
        self.random, self.words = random, words

    def write(self, item: Item, style: str) -> Document | None:
        """Return the reference; None if the work is not one for the style."""
        kind = item["kind"]
        pieces = Pieces()
        if style in PHYSICS:
            done = kind == "article" and self._physics(pieces, item, style)
        else:
            done = self._bibtex(pieces, item, style)
        return pieces.document(kind) if done else None

    def _physics(self, out: Pieces, item: Item, style: str) -> bool:
        """Write an article without, seldom with, its title."""
        if not item.get("author") or not item.get("issued"):
            return False
        random, year = self.random, str(year_of(item))
        out.add(
            people(
                random,
                item["author"],
                "reversed" if style == "apj" else "initials",
                random.choice((" & ", ", ")) if style == "apj" else " and ",
            ),
            "author",
        )
        journal = (
            self.words.one(random, "journals_physics")
            if some(random, 0.8)
            else item.get("container-title-short") or item["container-title"]
        )
        volume = item["volume"] if re.fullmatch(r"\d+", item.get("volume", "")) else str(random.randint(1, 500))
        page = (
            digits(random, 6)
            if some(random, 0.3)
            else item.get("page", "").split("-")[0] or str(random.randint(1, 999))
        )
        titled = some(random, 0.8 if style == "jhep" else 0.12)
        if style == "apj":
            out.add(" " if some(random, 0.4) else ", ")
            out.add(year, "issued")
        out.add(", ")
        if titled:
            out.add(item["title"], "title")
            out.add(", ")
        out.add(journal, "container-title")
        out.add(", " if style == "apj" else " ")
        out.add(volume, "volume")
        self._end_of_physics(out, style, year, page)
        return True

    def _end_of_physics(self, out: Pieces, style: str, year: str, page: str) -> None:
        random = self.random
        if style == "apj":
            out.add(", ")
            out.add(page, "page")
        elif style == "revtex" and some(random, 0.8):
            out.add(", ")
            out.add(page, "page")
            out.add(" ")
            out.add(f"({year})", "issued")
        else:
            out.add(" ")
            out.add(f"({year})", "issued")
            out.add(" ")
            out.add(page, "page")
        if style != "apj" and some(random, 0.4):
            archive = random.choice(("hep-ph/", "astro-ph/", "cond-mat/", "gr-qc/", "arXiv:"))
            number = archive + (
                f"{digits(random, 4)}.{digits(random, 4)}" if archive == "arXiv:" else "0" + digits(random, 6)
            )
            out.add(random.choice((", ", " ")))
            out.add(number if some(random, 0.4) else f"[{number}]", "note")
        out.add("." if some(random, 0.85) else "")

    def _bibtex(self, out: Pieces, item: Item, style: str) -> bool:
        setting, kind, random = SETTINGS[style], item["kind"], self.random
        kinds = ARTICLES | BOOKS | {"chapter", "conference", "thesis", "report"}
        if (
            kind not in kinds
            or not (item.get("author") or item.get("editor"))
            or (kind in ARTICLES and not item.get("container-title"))
        ):
            return False
        year = str(year_of(item)) if item.get("issued") else ""
        if style == "alpha":
            out.add(self._key(item, year), "citation-label")
            out.add(" ")
        if item.get("author"):
            out.add(people(random, item["author"], setting.names, setting.last), "author")
        else:
            role = ", editors" if len(item["editor"]) > 1 else ", editor"
            out.add(people(random, item["editor"], setting.names, setting.last) + role, "editor")
        if style == "apalike" and year:
            out.add(" ")
            out.add(f"({year})", "issued")
        out.add(setting.after)
        self._title(out, item, setting)
        date = "" if style == "apalike" else self._date(item, year, style)
        if kind in ARTICLES:
            self._article(out, item, style, date)
        elif kind in ("chapter", "conference"):
            self._in_book(out, item, setting, date)
        elif kind in BOOKS:
            self._book(out, item, date)
        else:
            self._issued_by(out, item, date)
        out.add("." if some(random, 0.95) else "")
        if not year:
            out.add(" ")
            out.add(random.choice(("To appear.", "In press.", "Forthcoming.", "Submitted.")), "status")
        elif some(random, 0.04):
            out.add(" URL ", "URL")
            path = f"{random.choice(('papers', 'pub', '~doe'))}/{digits(random, 4)}.ps.gz."
            out.add(f"http://www.{digits(random, 3)}.org/{path}", "URL")
        return True

    def _key(self, item: Item, year: str) -> str:
        families = [
            name.get("family") or name.get("literal", "X") for name in item.get("author") or item.get("editor") or ()
        ]
        key = families[0][:3] if len(families) == 1 else "".join(family[0] for family in families[:3])
        return f"[{key}{'+' if len(families) > 3 else ''}{year[-2:]}]"

    def _date(self, item: Item, year: str, style: str) -> str:
        parts = item.get("issued", {}).get("date-parts", [[0]])[0]
        month = MONTHS[parts[1] - 1] if len(parts) > 1 else self.random.choice(MONTHS) if some(self.random, 0.2) else ""
        if len(month) > 4 and (style in ("abbrv", "ieeetr", "acm") or some(self.random, 0.2)):
            month = month[:3] + ("." if some(self.random, 0.8) else "")
        return f"{month} {year}".strip() if year else ""

    def _title(self, out: Pieces, item: Item, setting: Setting) -> None:
        """Write the title, and what ends it."""
        if not setting.quoted or item["kind"] in BOOKS:
            out.add(item["title"], "title")
            out.add(setting.between)
            return
        out.add(self.random.choice(("“{},”", '"{},"', "``{},''")).format(item["title"]), "title")
        out.add(" ")

    def _pages(self, item: Item) -> str:
        return str(item.get("page", "")).replace("-", self.random.choice(("-", "--", "–")))

    def _article(self, out: Pieces, item: Item, style: str, date: str) -> None:
        random, volume, issue, page = self.random, item.get("volume", ""), item.get("issue", ""), self._pages(item)
        short = item.get("container-title-short")
        out.add(short if short and some(random, 0.4) else item["container-title"], "container-title")
        bracketed = style in ("siam", "acm", "amsplain") and date
        worded = style == "ieeetr"
        if volume:
            out.add(" " if style in ("acm", "amsplain") else ", ")
            out.add(f"vol. {volume}" if worded else volume, "volume")
        if volume and issue and style not in ("siam", "amsplain"):
            out.add(", " if worded or style == "acm" else "")
            out.add(f"no. {issue}" if worded else issue if style == "acm" else f"({issue})", "issue")
        if bracketed:
            out.add(" ")
            out.add(f"({date})", "issued")
        if page:
            tight = volume and not bracketed and not worded
            out.add(random.choice((":", ": ")) if tight else ", ")
            cue = "pp. " if worded or style == "siam" else "pages " if not volume and not bracketed else ""
            out.add(cue + page, "page")
        if date and not bracketed:
            out.add(", ")
            out.add(date, "issued")

    def _in_book(self, out: Pieces, item: Item, setting: Setting, date: str) -> None:
        random, book = self.random, item.get("container-title") or item.get("event-title") or "Proceedings"
        cue = "in " if setting.quoted else random.choice(("In ", "In ", "in ", "In: "))
        if some(random, 0.3):
            book = re.sub(r"Proceedings of (the )?", "Proc. ", book)
        if item.get("editor"):
            several = len(item["editor"]) > 1
            role = random.choice((", editors", ", eds.") if several else (", editor", ", ed."))
            out.add(
                cue + people(random, item["editor"], "full" if setting.names == "full" else "initials", " and ") + role,
                "editor",
            )
            out.add(", ")
            out.add(book, "container-title")
        else:
            out.add(cue + book, "container-title")
        self._series(out, item)
        if item.get("page"):
            out.add(", ")
            out.add(random.choice(("pages ", "pages ", "pp. ")) + self._pages(item), "page")
        place = item.get("publisher-place") or (self.words.one(random, "cities") if some(random, 0.5) else "")
        if item["kind"] == "conference" and place:
            out.add(", ")
            out.add(place, "publisher-place")
            place = ""
        if date and some(random, 0.5):
            out.add(", ")
            out.add(date, "issued")
            date = ""
        if item.get("publisher"):
            out.add(". ")
            out.add(item["publisher"], "publisher")
            out.add(", " if place else "")
            out.add(place, "publisher-place")
        out.add(", " if date else "")
        out.add(date, "issued")

    def _series(self, out: Pieces, item: Item) -> None:
        """Write volume 12 of a series."""
        series, number = item.get("collection-title"), item.get("collection-number")
        if series and number and some(self.random, 0.8):
            out.add(", ")
            out.add(self.random.choice(("volume ", "vol. ")) + number, "collection-number")
            out.add(" ")
            out.add(f"of {series}", "collection-title")
        elif series:
            out.add(", ")
            out.add(series, "collection-title")

    def _book(self, out: Pieces, item: Item, date: str) -> None:
        if item.get("collection-title") and out.text.endswith((". ", ", ")):
            out.text, out.labels = out.text[:-2], out.labels[:-2]
            self._series(out, item)
            out.add(". ")
        found = [(item.get("publisher") or self.words.one(self.random, "presses"), "publisher")]
        place = item.get("publisher-place") or (self.words.one(self.random, "cities") if some(self.random, 0.5) else "")
        found += [(place, "publisher-place")] if place else []
        edition = ORDINALS.get(item.get("edition", ""))
        found += [(f"{edition} edition", "edition")] if edition else []
        found += [(date, "issued")] if date else []
        self._list(out, found)

    def _issued_by(self, out: Pieces, item: Item, date: str) -> None:
        genre = item.get("genre") or ("PhD thesis" if item["kind"] == "thesis" else "Technical Report")
        number = f" {item['number']}" if item.get("number") else ""
        found = [
            (genre + number, "genre"),
            (item.get("publisher", ""), "publisher"),
            (item.get("publisher-place", ""), "publisher-place"),
        ]
        self._list(out, [*found, (date, "issued")])

    def _list(self, out: Pieces, found: Sequence[tuple[str, str]]) -> None:
        """Write pieces with commas between them."""
        for k, (text, variable) in enumerate(pair for pair in found if pair[0]):
            out.add(", " if k else "")
            out.add(text, variable)
