"""The type of a work (`KINDS`): the first row of a table that fits the fields it has and the words in them.

What words show is data (`kinds` of `languages`); what a row asks is which fields there are, and what they show: a
genre says the type, a title names a standard, a case or a law, a house keeps data or programs, an archive letters, a
container is a journal, a book or a meeting, and what is left is told by a publisher, an institution or an address.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from espalier.citations.languages import kinds_in
from espalier.citations.normalise.text import remembered
from espalier.citations.work import Date
from espalier.lazy import cached_property

__all__ = ["form_behind", "is_mark", "is_thesis", "kind_of", "number_of_standard", "standard_number", "words_of_report"]

# What the words of a genre, or of brackets behind a title, say; the first of them counts.
_SAID = {
    **{"patent": "patent", "dataset": "dataset", "software": "software", "standard": "standard", "thesis": "thesis"},
    **{"talk": "paper-conference", "film": "motion_picture", "broadcast": "broadcast", "map": "map"},
    **{"record": "document", "blog": "post-weblog", "letter": "personal_communication", "report": "report"},
    **{"newspaper": "article-newspaper", "magazine": "article-magazine", "webpage": "webpage"},
    **{"manuscript": "manuscript", "law": "legislation"},
}
_REVIEWS = re.compile(r"\breview\b|\bcd-?rom\b", re.IGNORECASE)  # of a film; a book on a disc
# The marks of GB/T 7714, with or without the medium behind: [M], [J/OL].
_MARKS = {
    **{"M": "book", "C": "paper-conference", "J": "article-journal", "D": "thesis", "R": "report", "S": "standard"},
    **{"P": "patent", "N": "article-newspaper", "DB": "dataset", "DS": "dataset", "CP": "software", "EB": "webpage"},
}
_MARK = re.compile(r"\W*([A-Z]{1,2})(?: ?/ ?(?:OL|CD|MT|DK))?\W*")
# The number of a patent, with its country and the letter of its kind: EP 1 234 567 B1, WO 2010/012345 A2.
_PATENT = re.compile(r"\W*[A-Z]{2}[ -]?[0-9][0-9 ./,-]{4,14}[0-9] ?\(?[ABCTUY][0-9]?\)?\W*")
# Numbers of reports: NASA CR-177572, SAND2010-1422, LA-UR-03-1987, ORNL/TM-2004/12, CERN-ACC-2014-0321.
_REPORT = re.compile(r"\W*((?:[A-Z]{2}[A-Z0-9]*[ /-]){0,3}[A-Z]{2,7}[ /–-]?[0-9]{2,}(?:[-/–][0-9]+)*)\W*")
_REPORT_LAST = re.compile(r"[,.:] ((?:[A-Z]{2,5}[ /-])?[A-Z]{2,6}-?[0-9]{2,}-[0-9][0-9-]*)\W*$")
_CONTRACT = re.compile(r"\b(?:contract|grant|award)\b", re.IGNORECASE)
# ISO 690:2021, IEEE Std 802.11-2016, DIN EN 1992-1-1, ABNT NBR 6023, ASTM C39/C39M-18, 3GPP TS 38.211, GB/T 7714-2015.
_BODIES = (
    r"(?:IEC|IEEE|ISO|DIN|EN|ETSI|ITU-[TR]|ASTM|ANSI|ASHRAE|ABNT|NBR|AS/NZS|UNE|UNI|NF|BS|CSA|JIS|GB/?T?|ГОСТ|VDI"
    r"|ÖNORM|ACI|NFPA|AASHTO|3GPP|ДСТУ|СТБ|ČSN|STN|PN-EN|TS EN)"
)
_STANDARD = re.compile(
    rf"(?:{_BODIES}(?: ?/ ?| ))+(?:(?:Std|Standard|NBR|Norm|TS|TR|P|EN|Р)\.? ?)*[A-Z]{{0,2}}[- ]?[0-9][\w.–-]*"
    r"(?:/[A-Z][0-9][\w.–-]*)?(?::[0-9]{4}\b)?"
)
_BODY = re.compile(r"[A-Z]{2,6}\. ")  # ISO. ISO 9001:2015
_ONLY_STANDARDS = re.compile(rf"{_BODIES}(?: [A-ZА-Я]{{1,3}})*\W*")
_CASE = re.compile(r"[^\W\d_].* vs?\.? (?:the )?[A-ZÀ-Þ\[]|(?:In [Rr]e|Ex [Pp]arte|In the Matter of) ")
_ARTICLE_OF_LAW = re.compile(
    r"§|\b[0-9]+ U\.? ?S\.? ?C\b|\bPub\. ?L\.|\((?:EU|EC|UE|CE|EEC)\)|\b[0-9]+/[0-9]+/(?:EU|EC|EG|CE|UE)\b"
)
_SCALE = re.compile(r"\b1 ?: ?[0-9]{1,3}[.,  ]?000")
_IN_CAPITALS = re.compile(r"\s*(?:the )?[A-Z]{3,4}[A-Za-z]?\s*[,:](?! ?[A-Z]\.)")  # TNA, AGI: before a shelf mark
_REPOSITORY = re.compile(r"10\.(?:5281|5061|15468|6084|17632|7910|1594|3886)/")
_PROGRAMS = re.compile(
    r"\b(?:git(?:hub|lab)\.com/[\w.-]+/\w|r-project\.org/(?:web/)?package|pypi\.|sourceforge\.net/p)"
)
_PROGRAM = re.compile(r"\bv[0-9]+\.[0-9]|^[^\w/-]*\w[\w-]*/\w")  # hyperspy/hyperspy: v1.2
_PROGRAM_VERSION = re.compile(r"\b(?:version|release|v\.?) ?[0-9]", re.IGNORECASE)
_BEFORE_BOOK = re.compile(r"\s*(?:in|en|em|dans)\s*:|\s*in\s+(?!(?:vitro|vivo|silico|situ|utero)\b)", re.IGNORECASE)
_BEFORE_ALL = re.compile(
    r"\s*(?:in|en|em|dans)\s*:|\s*in\s*«(?! ?(?:encic|dizion|storia|scritti|studi in))", re.IGNORECASE
)
_INSIDE = re.compile(r"\W*in[\s:]", re.IGNORECASE)
_MEETING_IN_SHORT = re.compile(  # In: MICCAI 2015, In ACM CCS
    r"\s*[Ii]n:?\s+(?:(?:ACM|IEEE|USENIX|IFIP)(?:[ /-][A-Z][A-Z&]+)+"
    r"|(?![A-Z]{2,3}\b)[A-Z][A-Za-z]*[A-Z](?:[ /@-][A-Z][A-Za-z]*[A-Z])*)(?:\s*['’]?(?:(?:19|20)[0-9]{2}|[0-9]{2}))?\W*"
)
_ACRONYM = re.compile(r"[A-Z][A-Za-z]*[A-Z]{2}[A-Za-z]*(?: ?['’]?[0-9]{2,4})?\W*")  # ICML, NeurIPS 2019
_SECTION = re.compile(r"(?:pp?\.? ?)?[A-H][0-9]{1,2}\W*", re.IGNORECASE)  # page A12 of a newspaper
_OF_BOOKS = frozenset({"editor", "publisher", "location", "isbn", "edition"})
_OF_MAPS = ("title", "note", "genre", "edition")
_TELLING = ("genre", "note", "publisher", "institution", "collection-title")  # labels whose words show a type
_MEDIUM = 25  # characters of a note that is only that


class _Told:
    """What the fields of a work tell: which there are, and what the words in them show, looked up when asked for."""

    def __init__(self, texts: Mapping[str, str], arxiv: bool, issued: Date | None, version: bool) -> None:
        self.texts, self.arxiv, self.version = texts, arxiv, version
        self.title, self.container = texts.get("title", ""), texts.get("container-title", "")
        self.finest = len(issued.parts[0]) if issued is not None and issued.parts else 0  # year, month, day

    def has(self, *labels: str) -> bool:
        """Tell whether there is one of some fields."""
        return not self.texts.keys().isdisjoint(labels)

    def shows(self, label: str, *kinds: str) -> bool:
        """Tell whether words of a field show one of some kinds."""
        return label in self.texts and not kinds_in(self.texts[label]).isdisjoint(kinds)

    @cached_property
    def said(self) -> str:
        """The type that a genre names."""
        return _said_by(self.texts["genre"]) if "genre" in self.texts else ""

    @cached_property
    def others(self) -> frozenset[str]:
        """What words besides those of titles and journals show."""
        return frozenset[str]().union(*(kinds_in(self.texts[label]) for label in _TELLING if label in self.texts))

    @cached_property
    def held(self) -> str:
        """What holds the work, by its own words: a preprint's archive, a meeting, a book, a journal; "" if unknown."""
        shown = _shown_by(self.container)
        if shown == "proceedings":
            return "article-journal" if self._is_series else "paper-conference"
        if shown == "acronym":
            return "" if self.has("volume", "issue", "url", "editor") else "paper-conference"
        return shown

    @cached_property
    def _is_series(self) -> bool:
        """Tell proceedings that appear in volumes, as those of learned societies do, from those of one meeting."""
        if _BEFORE_BOOK.match(self.container) or not self.texts.keys().isdisjoint(_OF_BOOKS):
            return False
        society = self.shows("container-title", "journal_like") and not _numbered(self.container)
        acts = self.shows("container-title", "acts") and self.has("volume") and self.has("pages")
        return society or acts or (self.has("volume") and self.has("issue"))

    @cached_property
    def is_journal(self) -> bool:
        """Tell an article of a journal from a chapter, where the container alone does not."""
        if self.held == "chapter" and self.texts.keys().isdisjoint(_OF_BOOKS):
            yearly = self.shows("volume", "yearly")  # a volume that is counted in years is a journal's
            as_journal = _BEFORE_ALL.match(self.container) is not None and self.has("volume")
            return yearly or as_journal or self.has("issue") or self.shows("container-title", "journal")
        alone = self.has("volume") and self.has("pages") and (self.texts.keys() & _OF_BOOKS) <= {"editor"}
        edited = self.has("editor") and not (not self.has("author") and alone)
        return self.held in ("", "article-journal") and not (
            (not self.held and self.has("publisher") and not self.has("issue")) or edited
        )

    @cached_property
    def is_ahead(self) -> bool:
        """Tell an article that is online before it has a volume; its day is that of no newspaper."""
        return any(self.shows(label, "ahead") for label in ("date", "note", "genre"))

    @cached_property
    def is_press(self) -> bool:
        """Tell what a newspaper or a magazine has: a day, or the words of one, and no number but a newspaper's."""
        if self.finest < 2 or self.is_ahead:
            return False
        named = self.shows("container-title", "newspaper", "magazine", "magazine_by_day")
        site = self.has("url") and not self.has("pages") and not named
        book = self.held == "chapter" and not _BEFORE_ALL.match(self.container)
        return not (site or book or self.held in ("article", "paper-conference")) and "doi.org/" not in self.texts.get(
            "url", ""
        )

    @cached_property
    def is_newspaper(self) -> bool:
        """Tell it by its name, or by a page with the letter of a section."""
        lettered = _SECTION.fullmatch(self.texts.get("pages", "")) is not None
        return self.finest > 2 and (self.shows("container-title", "newspaper") or lettered)

    @cached_property
    def is_magazine(self) -> bool:
        """Tell it by its name, or by a day and no words of a journal; a "Review" that names the day is none."""
        journal = self.held == "article-journal" and not self.shows("container-title", "magazine_by_day")
        daily = self.finest > 2 and not journal
        return self.is_press and (daily or self.shows("container-title", "magazine"))

    @cached_property
    def is_page(self) -> bool:
        """Tell a page of a site: it has a day, or was visited and has no date."""
        if self.held or self.is_ahead or "doi.org/" in self.texts["url"]:
            return False
        return self.finest > 2 or (self.has("accessed") and not self.finest)

    @cached_property
    def is_meeting_of_editors(self) -> bool:
        """Tell the proceedings behind their editors: In: Ada Ho (ed.) LATIN 2000."""
        inside = _INSIDE.match(self.texts["editor"])
        return inside is not None and _MEETING_IN_SHORT.fullmatch(f"In {self.container}") is not None

    @cached_property
    def is_in_series_of_meetings(self) -> bool:
        """Tell a paper by the series that its book is in."""
        return self.held in ("", "chapter") and self.shows("collection-title", "meeting", "proceedings")

    @cached_property
    def standard(self) -> bool:
        """Tell a standard by the number that its title begins with: with a year, or all of it, or before a colon."""
        named = _standard_as_author(self.texts) if self.texts.get("author", "")[1:2].isupper() else ""
        titled = self.title if self.title[1:2].isupper() or self.title[:4] == "3GPP" else ""
        for text in (named, titled):
            number = standard_number(text) if text and not self.has("volume") else ""
            inside = self.container and "standard" not in kinds_in(self.container)
            if number and not inside and (":" in number or "-" in number or text[len(number) :][:1] in (*":,.", "")):
                return True
        return False

    @cached_property
    def kept(self) -> str:
        """What a repository has: its name, its DOI, its address. It keeps papers, too, but those name a journal."""
        house = kinds_in(self.texts.get("publisher") or self.container)
        kind = "software" if "program_house" in house else "dataset" if "data_house" in house else ""
        if not kind and not self.container:
            kind = "dataset" if _REPOSITORY.search(self.texts.get("doi") or self.texts.get("url", "")) else ""
            if not self.has("publisher") and _PROGRAMS.search(self.texts.get("url", "")):
                kind = "software"
        program = self.version or self.has("edition") or self.shows("title", "software") or _PROGRAM.search(self.title)
        return "software" if kind == "dataset" and program else kind

    @cached_property
    def archived(self) -> bool:
        """Tell a letter or a file by the archive that it names first, and a shelf mark; nobody published it."""
        if self.container and self.has("pages"):
            return False
        first = next((label for label in self.texts if label != "citation-number"), "")
        name = self.texts.get(first, "")
        if first not in ("author", "note", "container-title", "title", "institution"):
            return False
        keeper = "archive" in kinds_in(name)
        numbered = any(label != "date" and _numbered(text) for label, text in self.texts.items())
        return numbered and (keeper or _IN_CAPITALS.match(name) is not None)

    @cached_property
    def law(self) -> bool:
        """Tell a law by its title: nobody wrote it, and no journal or publisher has it."""
        if self.has("author") and self.container:
            return False
        named = self.shows("title", "law") and (_numbered(self.title) or self.has("date") or self.has("volume"))
        return _ARTICLE_OF_LAW.search(self.title) is not None or (bool(named) and not self.has("author"))


@remembered(longest=100)
def _shown_by(container: str) -> str:
    """Return what a container shows by its own words: a type, "proceedings", "acronym", or "" for nothing."""
    shown = kinds_in(container)
    if "preprint" in shown:
        return "article"
    if "meeting" in shown and "journal" in kinds_in(container.partition(" ")[0]):
        return "article-journal"
    if "meeting" in shown or _MEETING_IN_SHORT.fullmatch(container):
        return "paper-conference"
    if not shown.isdisjoint(("proceedings", "acts")):
        return "proceedings"
    if _ACRONYM.fullmatch(container):
        return "acronym"
    if _BEFORE_BOOK.match(container):
        return "chapter"
    return "article-journal" if "journal" in shown else ""


class _Row(NamedTuple):
    """A type, what tells it, and the fields that there must be, all of some and none of others."""

    kind: str
    tells: Callable[[_Told], object] = lambda told: True
    needs: str = ""
    without: str = ""


_ROWS = (
    _Row("legal_case", lambda w: _CASE.match(w.title), "title", "author editor translator isbn edition"),
    _Row("standard", lambda w: w.standard, "", "volume"),
    _Row("legislation", lambda w: w.law, "title", "editor translator isbn edition publisher"),
    _Row("dataset", lambda w: w.kept == "dataset", "", "volume issue pages"),
    _Row("software", lambda w: w.kept == "software", "", "volume issue pages"),
    _Row("map", lambda w: any(_SCALE.search(w.texts.get(name, "")) for name in _OF_MAPS), "", "pages volume"),
    _Row("document", lambda w: len(w.texts["note"]) < _MEDIUM and w.shows("note", "record"), "note", "pages"),
    _Row("motion_picture", lambda w: w.shows("note", "film"), "note", "pages"),
    _Row("post-weblog", lambda w: w.shows("container-title", "blog"), "container-title", "volume pages"),
    _Row("manuscript", lambda w: w.archived, "", "editor publisher isbn edition url doi"),
    _Row(
        "article-newspaper", lambda w: w.is_press and w.is_newspaper, "container-title", "volume editor publisher doi"
    ),
    _Row("article-magazine", lambda w: w.is_magazine, "container-title", "volume issue editor publisher doi"),
    _Row("webpage", lambda w: w.is_page, "container-title url", "volume issue pages editor publisher doi"),
    _Row("article", lambda w: w.held == "article", "container-title"),
    _Row("paper-conference", lambda w: w.held == "paper-conference", "container-title"),
    _Row("paper-conference", lambda w: w.is_meeting_of_editors, "container-title editor"),
    _Row("paper-conference", lambda w: w.is_in_series_of_meetings, "container-title collection-title"),
    _Row("article-journal", lambda w: w.is_journal, "container-title"),
    _Row("chapter", needs="container-title"),
    _Row("thesis", lambda w: "thesis" in w.others),
    _Row("report", lambda w: "report" in w.others or _REPORT.fullmatch(w.texts.get("genre", ""))),
    _Row("report", lambda w: _REPORT_LAST.search(w.title), "title"),
    _Row("article", lambda w: w.arxiv and not (w.has("volume") and w.has("pages"))),
    _Row("article", lambda w: "preprint" in w.others),
    _Row("software", lambda w: w.version or (w.shows("title", "software") and _PROGRAM_VERSION.search(w.title))),
    _Row("manuscript", lambda w: w.shows("genre", "manuscript") or w.shows("note", "manuscript")),
    _Row("book", lambda w: w.has("publisher", "edition", "isbn")),
    _Row("report", needs="institution"),
    _Row("book", lambda w: w.has("author") or w.title[:1] != "«", "location title"),
    _Row("article-journal", needs="volume pages"),
    _Row("book", needs="location"),
    _Row("book", lambda w: w.shows("collection-title", "series"), "title collection-title", "url"),
    _Row("webpage", needs="url"),
)


@lru_cache(maxsize=4096)
def _asked(labels: tuple[str, ...]) -> tuple[_Row, ...]:
    """Return the rows that some labels give an occasion for; few sequences make up nearly all references."""
    return tuple(
        row for row in _ROWS if set(row.needs.split()) <= set(labels) and set(row.without.split()).isdisjoint(labels)
    )


def kind_of(texts: Mapping[str, str], arxiv: bool = False, issued: Date | None = None, version: bool = False) -> str:
    """Return the type of a work (`KINDS`) from the text of each label that it has.

    arxiv : it has such a number; issued : when it appeared; version : it has one.
    """
    told = _Told(texts, arxiv, issued, version)
    if told.said and not (told.said == "book" and told.container):  # [M] is also the book of a chapter
        return told.said
    return next((row.kind for row in _asked(tuple(texts)) if row.tells(told)), "document")


def _numbered(text: str) -> bool:
    return any(map(str.isdigit, text))


def is_thesis(genre: str) -> bool:
    """Tell whether a genre names a thesis."""
    return _said_by(genre) == "thesis"


def is_mark(genre: str) -> bool:
    """Tell whether a genre is a mark of GB/T 7714, [J] or [M/OL], which says the type and is no word to print."""
    found = _MARK.fullmatch(genre)
    return found is not None and found[1] in _MARKS


@remembered(longest=100)
def _said_by(genre: str) -> str:
    """Return the type that a genre names, "" if it names none."""
    if mark := _MARK.fullmatch(genre):
        return _MARKS.get(mark[1], "")
    shown = frozenset[str]() if _REVIEWS.search(genre) else kinds_in(genre)
    if said := next((kind for word, kind in _SAID.items() if word in shown), ""):
        return said
    if _PATENT.fullmatch(genre):
        return "patent"
    return "standard" if standard_number(genre) else ""


_FORM = re.compile(r"(.*\S)\s*([\[(][^()\[\]]{2,40}[\])])\W*", re.DOTALL)
_VERSION = re.compile(r"[\[(](?:version|ver\.?|v\.?) ?[0-9]", re.IGNORECASE)
_PACKAGE = re.compile(r"\(?\b(?:R|Python|Stata|MATLAB) package,? version\b.*", re.DOTALL)
_WORDS_OF_FORM = 5


def form_behind(title: str) -> tuple[str, str] | None:
    """Return a title without the kind or version of a work behind it, and that: "Lakes [Film]", "On figs. Thesis"."""
    if title.rstrip(" .,:;")[-1:] in ("]", ")"):
        found = _FORM.fullmatch(title)
        bracketed = found is not None and found[2][0] == "[" and (_said_by(found[2]) or "internet" in found[2].lower())
        return (found[1], found[2]) if found and (bracketed or _VERSION.match(found[2])) else None
    if "package" in title and (package := _PACKAGE.search(title)):
        return title[: package.start()], package[0]
    before, _, last = title.rstrip(" .").rpartition(". ")
    said = before and len(last.split()) < _WORDS_OF_FORM and "thesis" in kinds_in(last)
    return (f"{before}.", last) if said else None


def _standard_as_author(texts: Mapping[str, str]) -> str:
    """Return what stands for an author and may be a standard: "ČSN ISO 690", or "ГОСТ Р" and the date behind it."""
    author = texts.get("author", "")
    if _ONLY_STANDARDS.fullmatch(author):
        return f"{author} {texts['date']}" if "-" in texts.get("date", "") else ""
    number = standard_number(author)
    return author if number and len(author) - len(number) < 3 else ""


def standard_number(text: str) -> str:
    """Return the number of the standard that a text begins with ("ISO 690:2021"), else ""."""
    start = text.lstrip(' "“([')
    if not (start[:1].isupper() and start[1:2].isupper()) and start[:4] != "3GPP":
        return ""
    body = _BODY.match(start)
    found = _STANDARD.match(start, body.end() if body else 0)
    return found[0].rstrip(".:–-") if found else ""


def number_of_standard(texts: Mapping[str, str]) -> str:
    """Return the number of a standard from its genre, its title, or what stands for an author."""
    places = (texts.get("genre", ""), texts.get("title", ""), _standard_as_author(texts))
    return next(filter(None, map(standard_number, places)), "")


def words_of_report(texts: Mapping[str, str]) -> str:
    """Return where the number of a report is: its genre up to that of a contract, else what its title ends in."""
    genre = texts.get("genre", "")
    contract = _CONTRACT.search(genre)
    if contract and _numbered(genre[: contract.start()]):
        return genre[: contract.start()]
    code = None if genre else _REPORT_LAST.search(texts.get("title", ""))
    return code[1] if code else genre
