"""Mends for ways of citing that the model has seen little of: each field that can only be meant otherwise goes there.

First what courts and law reviews write, then Russia and Ukraine (GOST), the humanities with their volumes that have
titles, reprints, series in brackets, catalogues and reviews, then what medicine, physics and statistics offices do with
supplements, years in titles and forms in brackets, and last what only stands at the edge of a field.
"""

from __future__ import annotations

import re

from espalier.citations.normalise.dates import is_month, parse_date
from espalier.citations.normalise.kinds import standard_number
from espalier.citations.normalise.lexicon import MEETINGS
from espalier.citations.normalise.numbers import count_volumes
from espalier.citations.normalise.pairs import (
    YEAR,
    Labels,
    Mends,
    Pairs,
    all_of,
    changed,
    cut,
    joined,
    row_at,
    row_of,
)

__all__ = ["FIRST_MENDS", "TRADITIONS"]

_WORD = re.compile(r"\w+")
_NUMBER_LAST = re.compile(r"(.*\w[\"”’']?,[\"”’']?)\s+([0-9]{1,4})")
_PAGE = re.compile(r"[0-9]{1,5},?")
_REPORT = re.compile(r"\[[0-9]{4}\]")
_COURT = re.compile(r"\((?:HL|CA|PC|QB|KB|Ch|SC|Ct|UKSC|HC|Fam|Ex|CC|Crim|Civ|Admin)\b[^()]*\)\W*")
_BARE_YEAR = re.compile(rf"{YEAR}[.,]?\s*")


def _cited_page(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 89 Harv. L. Rev. | 1685, | 1713 as the first page and the one that is cited; 1685 may look like a year."""
    k = row_at(labels, "volume", "container-title", "volume", "pages", "date")
    if k < 0:
        k = row_at(labels, "volume", "container-title", "date", "pages", "date")
    dated = pairs[k + 4][1][:1] == "("
    return joined(pairs, k + 2, "pages") if dated and _PAGE.fullmatch(pairs[k + 2][1]) else None


def _volume_in_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "The Right to Privacy, 4 | Harv. L. Rev. | 193" into title, volume, container and page."""
    k = row_at(labels, "title", "container-title", "volume")
    title, page = pairs[k][1], pairs[k + 2][1]
    found = _NUMBER_LAST.fullmatch(title) if title[-1:].isdigit() else None
    if found is None or not _PAGE.fullmatch(page) or labels[k + 3 : k + 4] not in (("date",), ("pages",)):
        return None
    better = [*pairs[:k], ("title", found[1]), ("volume", found[2]), pairs[k + 1], ("pages", page), *pairs[k + 3 :]]
    return joined(better, k + 3, "pages") if labels[k + 3] == "pages" else better


def _page_of_report(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read [1932] AC | 562 as year, report and page: reports that are known by the year have no volume."""
    k = row_at(labels, "date", "container-title", "volume")
    bare = _REPORT.match(pairs[k][1]) and _PAGE.match(pairs[k + 2][1])
    return changed(pairs, k + 2, ("pages", pairs[k + 2][1])) if bare else None


def _court(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read the (HL) behind a report as a note."""
    text = pairs[-1][1]
    return changed(pairs, len(pairs) - 1, ("note", text)) if text[:1] == "(" and _COURT.fullmatch(text) else None


_ROMAN_OR_NUMBER = r"(?:[0-9]{1,3}|[IVXLC]{1,6})"
_PERSON = re.compile(r"([^\W\d_][\w'’-]+,?\s(?:[^\W\d_]\.\s?){1,2})\s*(.+)")
_SCIENCES = re.compile(r"\W*наук\b.*")
_THESIS = re.compile(r"(.+?[^\W_]\s*[:.,/]?)\s+((?:автореф\.?\s*)?дис\w*\.?\s*(?:…|\.\.\.|на\s|канд|д-ра|докт).*)")
_SUMMARY_LAST = re.compile(r"(.+[^\W_]\s*[:.,/]?)\s+(автореф\w*\.?)")
_ISSUE_WORD = re.compile(r"\W*(?:Вип|Вып|Vyp|Iss|Issue|№|No)\W*")
_PLACE = re.compile(r"[^\W\d_а-яa-z][\w-]*(?:\s[^\W\d_][\w-]*)?[,.:]?")


def _behind_slashes(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "Охрана лесов // Лесное хозяйство. – | 2001" at the slashes into the article and what it is in.

    A container that is read behind that, with the date next, is the place.
    """
    k = labels.index("title")
    before, mark, container = pairs[k][1].partition(" // ")
    if not mark or not before.strip() or not container.strip():
        return None
    better = [*pairs[:k], ("title", f"{before} //"), ("container-title", container), *pairs[k + 1 :]]
    if "container-title" not in labels:
        return better
    place = row_at(labels, "title", "container-title", "date") == k and _PLACE.fullmatch(pairs[k + 1][1])
    return changed(better, k + 2, ("location", pairs[k + 1][1])) if place else None


def _responsible(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read the names behind a stroke as the authors, where the first of them stood in front of the title, too.

    "Иванов А. А. Сплавы / А. А. Иванов, Е. В. | Петрова // | Физика" has the title among the names; the name that
    "Лес / П. П. Смирнов" has again is a note.
    """
    k = labels.index("author")
    before, mark, behind = pairs[k][1].partition(" / ")
    if not mark:
        k = row_at(labels, "author", "title")
        before, mark, behind = pairs[k + 1][1].partition(" / ") if k >= 0 else ("", "", "")
        again = mark and pairs[k][1].split()[0].strip(".,;") in behind
        return [*pairs[: k + 1], ("title", before), ("note", behind), *pairs[k + 2 :]] if again else None
    found = _PERSON.fullmatch(before.strip())
    if found is None or found[1].split()[0].strip(",") not in behind or labels[k + 1 : k + 2] != ("title",):
        return None
    last = pairs[k + 1][1]
    names = f"{behind} {last.rstrip(' /')}" if last.rstrip().endswith("//") or len(last.split()) < 3 else behind
    rest = pairs[k + 2 :] if names is not behind else [("note", last), *pairs[k + 2 :]]
    return [*pairs[:k], ("author", names), ("title", found[2]), *rest]


def _russian_thesis(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "... лесопользования: дис. … д-ра юрид. | наук." into title and genre."""
    k = labels.index("title")
    text = pairs[k][1]
    if (found := _SUMMARY_LAST.fullmatch(text)) and labels[k + 1 : k + 2] == ("genre",):
        return [*pairs[:k], ("title", found[1]), ("genre", f"{found[2]} {pairs[k + 1][1]}"), *pairs[k + 2 :]]
    better = cut(pairs, k, _THESIS.fullmatch(text), "title", "genre")
    behind = labels[k + 1 : k + 2] == ("container-title",) and _SCIENCES.fullmatch(pairs[k + 1][1])
    return joined(better, k + 1, "genre") if better and behind else better


def _word_of_issue(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "Вип. | 8" as an issue: its word is no journal."""
    k = row_at(labels, "container-title", "volume")
    return joined(pairs, k, "issue") if _ISSUE_WORD.fullmatch(pairs[k][1]) else None


_VOLUME = r"(?:[Bb]d\.|[Bb]and|[Vv]ol\.|[Vv]olume|[Tt]\.|[Tt]ome|[Tt]omo|[Tt]eil|[Hh]albband)"
_TITLED = re.compile(rf"({_VOLUME} {_ROMAN_OR_NUMBER}[:,])\s+([A-ZÀ-Þ][^\d]{{7,}})")
_REPRINT = re.compile(
    r"(\W*(?:[Rr]eprint(?:ed)?|[Rr]epr?\.|[Rr]pt\.|ND|Nachdr\.|Nachdruck|[Rr]ied\.|[Rr]ist\.|[Rr]éimpr\.|[Rr]eimpr\.),?)"
    r"(?:\s+(\S.*))?"
)
_NO_SERIES = re.compile(
    r"\b(?:vol(?:ume|s)?|bde?|band|teil|part|t|tome|tomo|version|release|book|ausg(?:abe)?|ed(?:ition|n)?|series|reihe"
    r"|reports?|bericht|papers?|no|nr|n|phase|type|level|grade|year|covid|sars|hiv|class|section|chapter|world war"
    r"|january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)
_SERIES = re.compile(rf"(.*\S)\s+(\([A-ZÀ-Þ][^()\d]*\s)({_ROMAN_OR_NUMBER}\)[.,:;]?)")
_CATALOGUE = (
    r"(?:exh(?:ibition|\.)? cat(?:alogue|\.)|[Aa]usst(?:ellungs|\.)[- ]?[Kk]at(?:alog|\.)|catalogo della mostra"
    r"|cat\. (?:exp|expo|mostra|della mostra)\b\.?|catalogue d[’']exposition)"
)
_WITH_CATALOGUE = re.compile(rf"(.{{2,}}?[.,;:])\s+({_CATALOGUE}.*)")
_CATALOGUE_ALONE = re.compile(rf"\W*{_CATALOGUE}\W*")
_CATALOGUE_HINTS = ("cat", "Kat", "kat")
_REVIEWED = re.compile(
    r"(.*\w\.?[,:]?)\s+(\[?Rez(?:\.|ension)(?: (?:zu|von))?\b:?\]?|rec(?:\.|ensione) (?:a|di)"
    r"|Compte rendu (?:de|du)|c\. ?r\. d[eu]|[Rr]eview of)\s+(\S.*)"
)
_ARTICLE = re.compile(r"(.*\S,)?\s*(Art\.)")
_KEY_OF_MUSIC = re.compile(r"in [A-Ha-h](?:[- ](?:flat|sharp))?[ -](?:[Mm]ajor|[Mm]inor|Dur|Moll)\b.*")
_TRANSLATED = re.compile(
    r"(.{4,}?[,.;(])\s*((?:(?:texte établi et )?(?:traduit|trad\.) (?:par|de)|translated by|übersetzt von"
    r"|traduzione di)\s.*)"
)
_DIRECTED = re.compile(
    r"(.{4,}?[,.;(])\s*((?:dirett[oa] da|dirigée? par|sous la direction de|edited by|a cura di)\s.*)"
)


def _titled_volume(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "Bd. 3: Dramatische Dichtungen" into the volume and its title; a publisher behind "Bd. 1:" is the title."""
    k = labels.index("volume")
    text = pairs[k][1]
    if text.endswith(":") and labels[k : k + 3] == ("volume", "publisher", "location"):
        return changed(pairs, k + 1, ("title", pairs[k + 1][1])) if labels.count("publisher") == 1 else None
    return cut(pairs, k, _TITLED.fullmatch(text), "volume", "title") if len(text) > 10 else None


def _reprint(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take the word off "Reprint, Oxford:" and "(ND Stuttgart", which are a place or a publisher."""
    for k, (label, text) in enumerate(pairs):
        if label in ("location", "publisher") and (found := _REPRINT.fullmatch(text)):
            rest = [(label, found[2])] if found[2] else []
            return [*pairs[:k], ("note", found[1]), *rest, *pairs[k + 1 :]]
    return None


def _series_in_brackets(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "Bildung und Macht (Zetemata 97)," before a place or a publisher into the book and its series."""
    label = "container-title" if "container-title" in labels else "title"
    k = labels.index(label)
    text = pairs[k][1]
    found = _SERIES.fullmatch(text) if ")" in text[-2:] else None
    if found is None or _NO_SERIES.search(found[2]) or not MEETINGS.isdisjoint(_WORD.findall(text.lower())):
        return None  # (OSDI 16) is a meeting
    if "volume" in labels:
        return [*pairs[:k], (label, found[1]), ("collection-title", found[2] + found[3]), *pairs[k + 1 :]]
    numbered = [("collection-title", found[2].rstrip()), ("volume", found[3])]
    return [*pairs[:k], (label, found[1]), *numbered, *pairs[k + 1 :]]


def _catalogue(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take "exh. cat." and "catalogo della mostra (Firenze, 1970)" off a title; where it is alone, the name is one."""
    k = labels.index("title")
    text = pairs[k][1]
    if not any(hint in text for hint in _CATALOGUE_HINTS):
        return None
    if _CATALOGUE_ALONE.fullmatch(text):
        if labels[:2] != ("author", "title"):
            return None
        return [("title", pairs[0][1]), ("genre", text), *pairs[2:]]
    return cut(pairs, k, _WITH_CATALOGUE.fullmatch(text), "title", "genre")


def _reviewed(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave whose book is reviewed with the title: "K. Schreiner, Rez. zu: O. G. Oexle, | Memoria"."""
    k = row_at(labels, "author", "title")
    found = _REVIEWED.fullmatch(pairs[k][1])
    if found is None:
        return None
    title = f"{found[2]} {found[3]} {pairs[k + 1][1]}"
    return [*pairs[:k], ("author", found[1]), ("title", title), *pairs[k + 2 :]]


def _article(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the "Art." of an encyclopedia with the title behind it."""
    k = row_at(labels, "author", "title")
    found = _ARTICLE.fullmatch(pairs[k][1].rstrip())
    if found is None:
        return None
    author = [("author", found[1])] if found[1] else []
    return [*pairs[:k], *author, ("title", f"{found[2]} {pairs[k + 1][1]}"), *pairs[k + 2 :]]


def _key_of_music(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave "in D Minor, Op. 125." with the title."""
    k = row_at(labels, "title", "container-title")
    text = pairs[k + 1][1]
    return joined(pairs, k, "title") if text[:3] == "in " and _KEY_OF_MUSIC.fullmatch(text) else None


def _people_in_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take "diretta da E. Malato," and "texte établi et traduit par Émile Chambry," off the end of a title."""
    k = labels.index("title")
    text = pairs[k][1]
    if "editor" not in labels and (found := _DIRECTED.fullmatch(text)):
        return cut(pairs, k, found, "title", "editor")
    return None if "translator" in labels else cut(pairs, k, _TRANSLATED.fullmatch(text), "title", "translator")


_FIRST_EDITION = 3
"""Years between two editions, at least."""
_SUPPLEMENT = re.compile(r"\W*(?:suppl?(?:ement|ément)?|spec(?:ial)?)\b[^\w]*", re.IGNORECASE)
_DATE_AND_TITLE = re.compile(rf"(\({YEAR}\)[.:,])\s+({YEAR})")
_TWO_NUMBERS = re.compile(r"([0-9]{1,3})\s+([0-9]{1,5})")
_DAY = re.compile(r"[0-9]{1,2}\.")
_DAY_IN_FULL = re.compile(r"[12][0-9]{3}-[01][0-9]-[0-3][0-9]\W*")
_MEETING_PLACE = re.compile(r"(.+(?:,[^,:]{2,20}|\.\.\.|…\]?|\w{4})\.?)\s(?<=[.…\]]\s)([^\W\d_a-z][^.:;]{2,30}:)")
_FORM = re.compile(
    r"(.*\S)\s*(\[(?:abstract|letter|editorial|comment(?:ary)?|review|book review|correspondence|news|poster|obituary"
    r"|interview|data ?base|data ?set|(?:monograph|serial|book|database) on (?:the )?internet"
    r"|(?:[\w-]+ ){0,3}(?:presentation|post|tweet|podcast|episode|video|slides|lecture|map|photograph|manual|brochure"
    r"|fact ?sheet))\][.,:;]?)",
    re.IGNORECASE,
)
_MARKED = re.compile(
    r"(.*\S(?<!\bof)(?<!\bwith)(?<!itamin))\s*(\[(?:[MCJDRSPN]|DB|CP|EB|DS)(?:/(?:OL|CD|MT|DK))?\][.,]?)"
)  # of GB/T 7714
_SERIES_FIRST = re.compile(r"(\((?:[1-9]|[NOno]\. ?[SsFf]\.)\))\s+([0-9IVXLC]+\W*)")
_LANGUAGE = r"[(\[][Ii]n (?:[A-Z][a-zß-ÿ]+\.?)(?:,? with (?:an )?[\w ]+)?[)\]]\W*"
_IN_LANGUAGE = re.compile(rf"(.*\S)\s+({_LANGUAGE})")
_LANGUAGE_ALONE = re.compile(_LANGUAGE)
_STATES = re.compile(r"(.*[\w\"”’')][.:,;?!][\"”’']?)\s+(U\.\s?S\.)")
_OF_STATES = re.compile(
    r"(?:Patents?|Geological|Department|Dept|Government|Congress|Census|Bureau|Environmental|Fish|Army|National|Nuclear"
    r"|Food|Public|House|Senate|Supreme|Forest)\b"
)
_PATENT = re.compile(r".*\bPatent(?: No\.?| Appl?\.?)?")
_NUMBERS = frozenset(("volume", "pages"))
_POINT = re.compile(r"(\(?[a-h]\))\s+(\S.*)")
_POINT_ALONE = re.compile(r"\(?[a-h]\)")
_COLLABORATION = re.compile(
    r"[(\[]?(?:for |on behalf of )?(?:the )?[\w -]+ (?:Collaborations?|Group|Consortium)[)\]]?,?"
)
_AVAILABLE = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,3}\s?:")


def _supplement(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 27 | (Suppl. | 6): and 26 | (15 | suppl): as volume and issue."""
    k = labels.index("note")
    text = pairs[k][1]
    if not _SUPPLEMENT.fullmatch(text):
        return None
    if labels[k : k + 2] == ("note", "issue"):
        return joined(pairs, k, "issue")
    return joined(pairs, k - 1, "issue") if k and labels[k - 1] == "issue" else None


def _year_of_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the year of "Global cancer statistics, | 2002. | CA | 2005" with the title: there is another date.

    Where what follows is no journal but a publisher or a place, the other date must be near: this one may be that of
    the first edition.
    """
    k = row_at(labels, "title", "date")
    year = pairs[k + 1][1]
    if not pairs[k][1].endswith(",") or not year.endswith(".") or not _BARE_YEAR.fullmatch(year):
        return None
    later = [date for label, text in pairs[k + 2 :] if label == "date" and (date := parse_date(text)) and date.parts]
    near = bool(later) and abs(later[0].parts[0][0] - int(year[:4])) < _FIRST_EDITION
    following = labels[k + 2] if k + 2 < len(labels) else ""
    of_title = following == "container-title" or (near and following in ("publisher", "location", "institution"))
    return joined(pairs, k, "title") if of_title else None


def _year_before_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "(2013). 2012 | annual report" before the second year, which the title begins with."""
    k = row_at(labels, "date", "title")
    found = _DATE_AND_TITLE.fullmatch(pairs[k][1]) if pairs[k][1][:1] == "(" else None
    if found is None:
        return None
    return [*pairs[:k], ("date", found[1]), ("title", f"{found[2]} {pairs[k + 1][1]}"), *pairs[k + 2 :]]


def _numbers_run_on(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 72 248 | 254, which lost its marks, as volume, first and last page."""
    k = row_at(labels, "volume", "pages")
    found, last = _TWO_NUMBERS.fullmatch(pairs[k][1]), pairs[k + 1][1].strip(" .,;")
    if found is None or not last.isdecimal() or int(last) < int(found[2]):
        return None
    return [*pairs[:k], ("volume", found[1]), ("pages", f"{found[2]} {last}"), *pairs[k + 2 :]]


def _day_of_month(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read Politiken | 14. | november 1998 as a newspaper and a day."""
    k = row_at(labels, "volume", "date")
    words = pairs[k + 1][1].split()
    return joined(pairs, k, "date") if _DAY.fullmatch(pairs[k][1]) and words and is_month(words[0]) else None


def _day_as_volume(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 中国青年报, | 2000-11-20 | (15) as a newspaper and a day."""
    k = labels.index("volume")
    text = pairs[k][1]
    whole = text[:4].isdecimal() and _DAY_IN_FULL.fullmatch(text) and parse_date(text)
    return changed(pairs, k, ("date", text)) if whole else None


def _place_of_meeting(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take where a meeting was off "Leeds, UK. New York:" and "Goiânia. Anais... Goiânia:"."""
    k = row_at(labels, "location", "publisher")
    container = pairs[labels.index("container-title")][1].lower()
    meeting = not MEETINGS.isdisjoint(_WORD.findall(container))
    found = _MEETING_PLACE.fullmatch(pairs[k][1]) if meeting and pairs[k][1].endswith(":") else None
    return cut(pairs, k, found, "note", "location")


def _form(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take [abstract] off the end of a title, and (in Persian) off that of a publisher."""
    for k, (label, text) in enumerate(pairs):
        if label in ("title", "publisher", "container-title") and text.rstrip(" .,:;")[-1:] in ("]", ")"):
            if found := _FORM.fullmatch(text):
                return cut(pairs, k, found, label, "genre")
            if label == "publisher" and (found := _IN_LANGUAGE.fullmatch(text)):
                return cut(pairs, k, found, label, "note")
        elif label == "collection-title" and _LANGUAGE_ALONE.fullmatch(text):
            return changed(pairs, k, ("note", text))
    return None


def _united_states(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Put the U.S. of "... in water resources: U.S. | Geological Survey" and "U.S. | Patent 5,708" to what follows."""
    for k, (label, text) in enumerate(pairs[:-1]):
        if label not in ("title", "container-title") or text[-2:] != "S." or not _OF_STATES.match(pairs[k + 1][1]):
            continue
        following, behind = pairs[k + 1]
        if text in ("U.S.", "U. S."):
            return [*pairs[:k], (following, f"{text} {behind}"), *pairs[k + 2 :]]
        if found := _STATES.fullmatch(text):
            return [*pairs[:k], (label, found[1]), (following, f"{found[2]} {behind}"), *pairs[k + 2 :]]
    return None


def _series_before_volume(pairs: Pairs, k: int) -> Pairs | None:
    """Leave the (3) of "Fen Math. Soc. | (3) 55" with the journal: it is a series of it."""
    found = _SERIES_FIRST.fullmatch(pairs[k + 1][1])
    if found is None:
        return None
    named = ("container-title", f"{pairs[k][1]} {found[1]}")
    return [*pairs[:k], named, ("volume", found[2]), *pairs[k + 2 :]]


def _patent(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read U.S. Patent | 3 624 | 125, as the number of a patent."""
    k = labels.index("container-title")
    if labels[k + 1 : k + 2] == ("volume",) and pairs[k + 1][1][:1] == "(":
        return _series_before_volume(pairs, k)
    if "Patent" not in pairs[k][1] or not _PATENT.fullmatch(pairs[k][1].rstrip(" .")):
        return None
    n = k + 1
    while n < len(labels) and labels[n] in _NUMBERS:
        n += 1
    return [*pairs[:k], ("genre", " ".join(text for _, text in pairs[k:n])), *pairs[n:]] if n > k + 1 else None


def _standard(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "ISO 14040 | (2006)" as a standard and its year; nobody is called so."""
    text = pairs[0][1].strip(" .,:;")
    return changed(pairs, 0, ("genre", pairs[0][1])) if text and standard_number(text) == text else None


def _point(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take the "a)" before one of several works off the names."""
    k = labels.index("author")
    text = pairs[k][1]
    if _POINT_ALONE.fullmatch(text):
        return changed(pairs, k, ("citation-number", text))
    return cut(pairs, k, _POINT.fullmatch(text), "citation-number", "author")


def _collaboration(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read what stands behind names as an author, if it is only the name of a collaboration."""
    k = row_at(labels, "author", "title")
    text = pairs[k + 1][1]
    return changed(pairs, k + 1, ("author", text)) if text[:1] in "([" and _COLLABORATION.fullmatch(text) else None


def _before_address(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the words that lead to an address, in whatever language, with it: "Διαθέσιμο στο: | http://..."."""
    k = row_at(labels, "container-title", "url")
    leads = "title" in labels[:k] and _AVAILABLE.fullmatch(pairs[k][1])
    return joined(pairs, k, "url") if leads else None


def _more_volumes(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take "2 Bde." off the end of a title where one of them is cited, too."""
    k = labels.index("title")
    head, _, tail = pairs[k][1].rstrip().rpartition(". ")
    counts = head and tail[:1].isdigit() and len(tail) < 12 and count_volumes(tail)
    return [*pairs[:k], ("title", f"{head}."), ("volume", tail), *pairs[k + 1 :]] if counts else None


def _by_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Ask for what a sign in the title gives an occasion for; nearly all titles have none."""
    text = pairs[labels.index("title")][1]
    if " /" in text or (" /" in pairs[0][1] and labels[0] == "author"):
        named = "author" in labels and _responsible(pairs, labels)
        return named or _behind_slashes(pairs, labels)
    if "дис" in text or "автореф" in text:
        return _russian_thesis(pairs, labels)
    if text[:1] in "([" and labels[:2] == ("author", "title"):
        return _collaboration(pairs, labels)
    if text[-2:] == "S.":
        return _united_states(pairs, labels)
    if "]" not in text[-3:]:
        return None
    marked = _MARKED.fullmatch(text)
    return cut(pairs, labels.index("title"), marked, "title", "genre") if marked else _form(pairs, labels)


def _by_author(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Ask for what a sign in the names gives an occasion for; nearly all have none."""
    k = labels.index("author")
    text = pairs[k][1]
    if ")" in text[:3]:
        return _point(pairs, labels)
    if k == 0 and text[:2].isupper() and text[-2:].strip(" .,:;").isdigit():
        return _standard(pairs, labels)
    if labels[k + 1 : k + 2] != ("title",):
        return None
    if "Art." in text:
        return _article(pairs, labels)
    hinted = (
        "Rez" in text or " rec" in text or "endu d" in text or "c. r" in text or "c.r" in text or "eview of" in text
    )
    return _reviewed(pairs, labels) if hinted else None


def _is_book(labels: Labels) -> bool:
    return "title" in labels and ("location" in labels or "publisher" in labels)


FIRST_MENDS: Mends = (
    (row_of("volume", "container-title", "volume", "pages", "date"), _cited_page),
    (row_of("volume", "container-title", "date", "pages", "date"), _cited_page),
    (row_of("title", "container-title", "volume"), _volume_in_title),
    (all_of("note", "volume"), _supplement),
    (row_of("container-title", "volume", without=("issue",)), _word_of_issue),
)
"""Those that must come before the others, which would take the numbers for something else."""

TRADITIONS: Mends = (
    (all_of("title"), _by_title),
    (all_of("author"), _by_author),
    (lambda labels: "volume" in labels and _is_book(labels), _titled_volume),
    (lambda labels: "volume" in labels and _is_book(labels), _more_volumes),
    (lambda labels: not {"publisher", "collection-title"}.isdisjoint(labels), _form),
    (row_of("container-title", "genre"), _united_states),
    (row_of("date", "container-title", "volume", without=("pages",)), _page_of_report),
    (lambda labels: labels[-1] in ("issue", "publisher", "location", "other") and labels[0] == "title", _court),
    (lambda labels: "date" in labels and ("location" in labels or "publisher" in labels), _reprint),
    (lambda labels: _is_book(labels) and "collection-title" not in labels, _series_in_brackets),
    (_is_book, _catalogue),
    (row_of("title", "container-title"), _key_of_music),
    (lambda labels: _is_book(labels) and "container-title" not in labels, _people_in_title),
    (
        lambda labels: labels.count("date") > 1 and row_at(labels, "title", "date") >= 0,
        _year_of_title,
    ),
    (row_of("date", "title"), _year_before_title),
    (row_of("volume", "pages", without=("issue",)), _numbers_run_on),
    (row_of("volume", "date", without=("issue", "pages")), _day_of_month),
    (all_of("volume", "container-title", without=("date",)), _day_as_volume),
    (lambda labels: "container-title" in labels and row_at(labels, "location", "publisher") >= 0, _place_of_meeting),
    (row_of("container-title", "volume"), _patent),
    (row_of("container-title", "url"), _before_address),
)
