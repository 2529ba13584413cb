"""The type of a work (`KINDS`), told by the fields that it has and by the words in them.

The first that fits, in this order:

    what a genre or a mark says     a patent, standard, data set, program, thesis, report, manuscript, case
    what a container says           a preprint, a paper of a meeting, a chapter, a journal
    when it appeared                a newspaper or a magazine names the day and has neither volume nor issue
    what is there besides           a publisher of a book, an institution of a report, an address of a web page
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from espalier.citations.normalise.lexicon import MAGAZINE_WORDS, MEETINGS, NEWSPAPER_WORDS
from espalier.citations.normalise.text import remembered
from espalier.citations.work import Date

__all__ = ["is_mark", "is_thesis", "kind_of", "standard_number"]

_THESIS = re.compile(
    r"\b(?:ph\.? ?d\.?|doctoral|master'?s?|m\.?sc\.?|bachelor'?s?|diploma|licentiate)[\s.]*(?:thesis|dissertation)"
    r"|\b(?:thesis|dissertation|diss\b|habilitation|thèse|tesis|tese\b|tesi\b|mémoire|proefschrift|dissertação"
    r"|(?:diplom|doktor|master|magister|bachelor)arbeit|pro gradu|tutkielma|väitöskirja|opinnäytetyö|diplomityö"
    r"|avhandling|afhandling|uppsats|scriptie|rozprawa doktorska|praca (?:magisterska|doktorska|licencjacka)|диссертац"
    r"|диплом\w+ работ)",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"\b(?:tech(?:nical|n)?\b\.? (?:report|rep\b|memo\w*|note)|research (?:report|memorandum)|working paper|white paper"
    r"|discussion paper|bericht\b|rapport\b|rfc ?[0-9]|tr[ -]?[0-9]|report)",
    re.IGNORECASE,
)
# What a genre says, before all else.
_SAID = (
    (
        "patent",
        re.compile(r"\bpatents?\b|\bpatent(?:schrift|anmeldung)|\bbrevet|\bpatente\b|专利|патент", re.IGNORECASE),
    ),
    ("dataset", re.compile(r"\bdata ?(?:sets?|bases?)\b|\bdatensatz|\bjeu de données|数据集", re.IGNORECASE)),
    (
        "software",
        re.compile(
            r"\bsoftware\b|\bcomputer (?:program(?:me)?|code|application)\b|\bsource code\b|\bmobile app(?:lication)?\b"
            r"|\b(?:r|python|matlab|stata) (?:package|library|module)\b|\blogiciel\b|\bprograma de computador\b",
            re.IGNORECASE,
        ),
    ),
    ("standard", re.compile(r"\b(?:standard|norme?|norma|british standard)\b(?! error)|标准", re.IGNORECASE)),
    ("thesis", _THESIS),
    ("report", _REPORT),
    ("article-newspaper", re.compile(r"\bnewspaper\b|\bzeitungs", re.IGNORECASE)),
    ("article-magazine", re.compile(r"\bmagazine\b", re.IGNORECASE)),
    ("webpage", re.compile(r"\bweb ?(?:page|site)\b|\bblog\b|\bsite web\b", re.IGNORECASE)),
)
_MANUSCRIPT = re.compile(
    r"\bmanuscripts?\b|\btypescript\b|\bunpublished\b|\bmanuskript\b|\bmanuscrit|\bmanoscritt|\bhandschrift\b|\binédito?\b"
    r"|\bunveröff|\bmss?\.? [0-9]",
    re.IGNORECASE,
)
# The marks of GB/T 7714, with or without the medium behind: [M], [J/OL].
_MARKS = {
    **{"M": "book", "C": "paper-conference", "J": "article-journal", "D": "thesis", "R": "report", "S": "standard"},
    **{"P": "patent", "N": "article-newspaper", "DB": "dataset", "DS": "dataset", "CP": "software", "EB": "webpage"},
}
_MARK = re.compile(r"\W*([A-Z]{1,2})(?: ?/ ?(?:OL|CD|MT|DK))?\W*")
# ISO 690:2021, IEEE Std 802.11-2016, DIN EN 1992-1-1, ABNT NBR 6023, ASTM D2487-11, BS 5837:2012.
_STANDARD = re.compile(
    r"(?:(?:IEC|IEEE|ISO|DIN|EN|ETSI|ITU-[TR]|ASTM|ANSI|ASHRAE|ABNT|NBR|AS/NZS|UNE|UNI|NF|BS|CSA|JIS|GB/?T?|ГОСТ|VDI|ÖNORM)"
    r"(?: ?/ ?| ))+(?:(?:Std|Standard|NBR|Norm|TS|TR|P|EN|Р)\.? ?)*[A-Z]{0,2}[- ]?[0-9][\w.–-]*(?::[0-9]{4}\b)?"
)
_CASE = re.compile(r"[^\W\d_].* vs?\.? (?:the )?[A-ZÀ-Þ\[]")
_PREPRINT = re.compile(r"\b(?:arxiv|biorxiv|medrxiv|chemrxiv|psyarxiv|ssrn|preprint|e-?print)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_JOURNAL_OF_PROCEEDINGS = re.compile(
    r"\bproc(?:eedings|\.)? (?:of )?(?:the )?(?:national academy|natl?\.? acad|royal|roy\.? soc|r\.? soc|ieee$"
    r"|ieee[,.]|american|amer\.? |am\.? |london|lond\.? |edinburgh|cambridge|camb\.? |aristotelian|biological|"
    r"institution|inst\.|nutrition|japan|vldb endowment)",
    re.IGNORECASE,
)
_JOURNAL = re.compile(
    r"\b(?:journal|transactions|letters|annals|quarterly|bulletin|magazine|zeitschrift|revue|revista|rivista)\b"
    r"|\b(?:j|trans|lett|ann|bull|rev|z)\.",
    re.IGNORECASE,
)
_BEFORE_BOOK = re.compile(r"\s*(?:in|en|em|dans)\s*:|\s*in\s+(?!(?:vitro|vivo|silico|situ|utero)\b)", re.IGNORECASE)
# Before anything in German and Slavic references; what a book has besides tells a chapter there.
_BEFORE_ALL = re.compile(r"\s*(?:in|en|em|dans)\s*:", re.IGNORECASE)
_OF_BOOKS = frozenset({"editor", "publisher", "location", "isbn", "edition"})
_SECTION = re.compile(r"(?:pp?\.? ?)?[A-H][0-9]{1,2}\W*", re.IGNORECASE)  # page A12 of a newspaper
_TELLING = ("genre", "note", "publisher", "institution", "collection-title")  # labels whose words show a type
_NUMBERED = ("volume", "issue")
_PROCEEDINGS = frozenset({"proceedings", "proc", "actes", "atti", "actas", "anais"})
# Words of magazines that sites seldom have in their names.
_PERIODICAL = frozenset({"review", "digest", "news", "spectator", "economist", "atlantic", "yorker", "scientist"})


def kind_of(texts: Mapping[str, str], arxiv: bool = False, issued: Date | None = None, version: bool = False) -> str:
    """Return the type of a work (`KINDS`) from the text of each label that it has.

    arxiv : it has such a number; issued : when it appeared; version : it has one.
    """
    genre, container = texts.get("genre", ""), texts.get("container-title", "")
    said = _said_by(genre) if genre else ""
    if said and not (said == "book" and container):  # [M] is also the book of a chapter
        return said
    title = texts.get("title", "")
    if " v" in title and "author" not in texts and _CASE.match(title):  # Roe v. Wade, which no author wrote
        return "legal_case"
    if title[1:2].isupper() and _is_standard(title, texts):
        return "standard"
    if container:
        return (
            _in_the_press(container, texts, issued)
            or _on_the_web(container, texts, issued)
            or _kind_in(container, texts)
        )
    said = " ".join([texts.get(label, "") for label in _TELLING])
    if _THESIS.search(said):
        return "thesis"
    if _REPORT.search(said):
        return "report"
    if arxiv or _is_preprint(said):
        return "article"
    if version:
        return "software"
    return "manuscript" if _MANUSCRIPT.search(genre or texts.get("note", "")) else _kind_alone(texts)


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
    return next(
        (kind for kind, pattern in _SAID if pattern.search(genre)), "standard" if standard_number(genre) else ""
    )


def _is_standard(title: str, texts: Mapping[str, str]) -> bool:
    """Tell a standard by the number that its title begins with: with a year, or all of it, or before a colon."""
    number = standard_number(title) if "volume" not in texts else ""
    if not number or ("container-title" in texts and "standard" not in texts["container-title"].lower()):
        return False
    return ":" in number or "-" in number or title[len(number) :][:1] in (":", ",", ".", "")


def standard_number(text: str) -> str:
    """Return the number of the standard that a text begins with ("ISO 690:2021"), else ""."""
    start = text.lstrip(' "“([')
    found = _STANDARD.match(start) if start[:1].isupper() and start[1:2].isupper() else None
    return found[0].rstrip(".:–-") if found else ""


def _in_the_press(container: str, texts: Mapping[str, str], issued: Date | None) -> str:
    """Tell an article of a newspaper or magazine: it has a day, or the words of one, and no number but a newspaper's.

    A newspaper may count its days: `Frankfurter Allgemeine Zeitung Nr. 113 vom 17.5.2019`.
    """
    if issued is None or not issued.parts or len(issued.parts[0]) < 2 or "volume" in texts:
        return ""
    shown = _shown_by(container)
    if "editor" in texts or "publisher" in texts or "doi" in texts or shown in ("article", "paper-conference"):
        return ""
    words = set(_WORD.findall(container.lower()))
    daily, named = len(issued.parts[0]) > 2, not words.isdisjoint(NEWSPAPER_WORDS)
    if "issue" in texts:
        return "article-newspaper" if daily and named else ""
    if not words.isdisjoint(MAGAZINE_WORDS):
        return "article-magazine"
    if not daily:
        return ""
    if named or _SECTION.fullmatch(texts.get("pages", "")) is not None:
        return "article-newspaper"
    if shown == "chapter" and not _BEFORE_ALL.match(container):
        return ""
    if "url" in texts and "pages" not in texts and words.isdisjoint(_PERIODICAL):  # a site names the day, too
        return ""
    return "" if _JOURNAL.search(container) else "article-magazine"


def _on_the_web(container: str, texts: Mapping[str, str], issued: Date | None) -> str:
    """Tell a page of a site: it has an address, a day or none at all, and nothing that counts."""
    if "url" not in texts or any(label in texts for label in (*_NUMBERED, "pages", "doi", "editor", "publisher")):
        return ""
    dated = issued is not None and bool(issued.parts)
    daily = issued is not None and dated and len(issued.parts[0]) > 2
    return "webpage" if (daily or ("accessed" in texts and not dated)) and not _shown_by(container) else ""


def _is_preprint(text: str) -> bool:
    folded = text.casefold()
    return ("rxiv" in folded or "print" in folded or "ssrn" in folded) and _PREPRINT.search(text) is not None


def _kind_in(container: str, texts: Mapping[str, str]) -> str:
    kind = _shown_by(container)
    if kind == "chapter" and _OF_BOOKS.isdisjoint(texts):
        numbered = "issue" in texts or ("volume" in texts and _BEFORE_ALL.match(container))
        return "article-journal" if numbered or _JOURNAL.search(container) else kind
    if kind == "paper-conference" and _is_numbered_series(container, texts):
        return "article-journal"
    if kind and kind != "article-journal":
        return kind
    published = not kind and "publisher" in texts and "issue" not in texts
    return "chapter" if published or "editor" in texts else "article-journal"


def _is_numbered_series(container: str, texts: Mapping[str, str]) -> bool:
    """Tell proceedings that appear in volumes and issues, as a journal does, and name no meeting."""
    if not texts.keys() >= {"volume", "issue"} or not _OF_BOOKS.isdisjoint(texts):
        return False
    return MEETINGS & set(_WORD.findall(container.lower())) <= _PROCEEDINGS


@remembered(longest=100)
def _shown_by(container: str) -> str:
    """Return the type that a container shows by its own words, "" if it shows none."""
    if _is_preprint(container):
        return "article"
    if not MEETINGS.isdisjoint(_WORD.findall(container.lower())) and not _JOURNAL_OF_PROCEEDINGS.search(container):
        return "paper-conference"
    if _BEFORE_BOOK.match(container):
        return "chapter"
    return "article-journal" if _JOURNAL.search(container) else ""


def _kind_alone(texts: Mapping[str, str]) -> str:
    if texts.keys() & {"publisher", "edition", "isbn"}:
        return "book"
    if "institution" in texts:
        return "report"
    if "volume" in texts and "pages" in texts:
        return "article-journal"
    if "location" in texts:
        return "book"
    return "webpage" if "url" in texts else "document"
