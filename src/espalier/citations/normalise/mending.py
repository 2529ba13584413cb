"""Mistakes of labels that the labels beside them give away, mended before fields are read.

A record shows what the model said, its work what the reference means. Here a field goes to another label, or is cut in
two, where no other reading is left: a second number of pages before the date is the issue, a key before the names is no
name, and the "Vgl. auch" of a footnote is a note. Nothing is lost or invented: the texts, put together, are those of
the fields. Most references have nothing to mend, and pay for a look at their labels only.

First mistakes among numbers (volumes, issues, pages, dates, and what only looks like one of them), then those among
words, and last which labels each mend is asked for at. Mends for ways of citing that the model has seen little of (of
courts, of Russia and Brazil, of the humanities) are in `traditions`, those for what sciences write in `sciences`, those
for identifiers and numbers that stand in each other's place in `misplaced`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from espalier.citations.normalise.dates import is_month, parse_date
from espalier.citations.normalise.lexicon import MEETINGS
from espalier.citations.normalise.misplaced import MISPLACED, number_in_pages
from espalier.citations.normalise.numbers import count_pages, count_volumes, parse_version
from espalier.citations.normalise.pairs import (
    YEAR,
    Labels,
    Mend,
    Mends,
    Pairs,
    all_of,
    changed,
    cut,
    joined,
    row_at,
    row_of,
)
from espalier.citations.normalise.sciences import SCIENCES
from espalier.citations.normalise.text import remembered
from espalier.citations.normalise.traditions import FIRST_MENDS, TRADITIONS

__all__ = ["mended"]

_ALONE = re.compile(r"\W*[0-9]{1,4}\W*")
_ROMAN = re.compile(r"[ivxlc]+\s*[,+]?\s*")
_ZIP = re.compile(r"[0-9]{5}(?:-[0-9]{4})?\W*")
_DAY = re.compile(r"([0-9]{1,2}\s*;)\s*(?=[0-9])")
_DATE_AND_PAGE = re.compile(rf"(.*\b{YEAR}[.,:;])\s*([0-9]{{1,5}}(?:\s?[-–]\s?[0-9]{{1,5}})?\W*)")
_SERIES_AND_VOLUME = re.compile(r"([0-9]+\)[,.]?)\s+((?:vol|bd|band|tome?|tomo|t)\b.*)", re.IGNORECASE)
_ABOUT = re.compile(r"(.*\w,?)\s+((?:ca|c|circa|um)\.?\s*)")
_REVIEW = re.compile(r"MR\s?(?:MR)?[0-9]{5,7}\W*(?:\([0-9]{4}[a-z]:[0-9]+\)\W*)?")
_BEFORE_REVIEW = re.compile(rf"(.*\w[.,;]?)\s+({_REVIEW.pattern})")
_BACK = re.compile(
    r"\W*(?:siehe|see|cit(?:ed)?\.?(?: on)?|zit(?:iert)?\.?(?: auf)?)\s+(?:S|pp?|pages?|Seiten?)\b"
    r"\.?[\d\s,–-]+(?:and \d+)?\W*"
)
_YEAR_ALONE = re.compile(r"\([0-9]{4}[a-z]?\)")
_BARE_YEAR = re.compile(r"(?:1[5-9]|20)[0-9]{2}\.?")
_TITLES = ("title", "container-title")
_BEFORE_TITLES = (("citation-number", "title"), ("date", "title"))


def _issue_before_date(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 23, 107 (Jul. 1969), 683 as volume, issue, date, page."""
    k = row_at(labels, "volume", "pages", "date", "pages") + 1
    return changed(pairs, k, ("issue", pairs[k][1])) if _ALONE.fullmatch(pairs[k][1]) else None


def _page_as_issue(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 716, 1 (2012) as volume, page, date: physics has no issues there."""
    k = row_at(labels, "volume", "issue", "date") + 1
    bare = _ALONE.fullmatch(pairs[k][1]) and not {"(", "/"} & set(pairs[k][1]) and _YEAR_ALONE.match(pairs[k + 1][1])
    return changed(pairs, k, ("pages", pairs[k][1])) if bare else None


def _number_of_series(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the first number of "(Handbücher | 20), vol. 2," with the series."""
    k = row_at(labels, "collection-title", "volume")
    found = _SERIES_AND_VOLUME.fullmatch(pairs[k + 1][1])
    if found is None:
        return None
    return [*pairs[:k], (labels[k], f"{pairs[k][1]} {found[1]}"), ("volume", found[2]), *pairs[k + 2 :]]


def _pages_apart(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 36 | 1200 | 1210, without marks between them, as the first page and the last."""
    k = row_at(labels, "pages", "pages")
    first, last = pairs[k][1], pairs[k + 1][1].rstrip(" .")
    rises = first.isdecimal() and last.isdecimal() and int(first) < int(last)
    return joined(pairs, k, "pages") if rises else None


def _by_pages(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Ask for what a mark inside pages, or an end before them, gives an occasion for; nearly all have none."""
    k = len(labels) - 1 - labels[::-1].index("pages")
    text = pairs[k][1]
    if "MR" in text or (k and pairs[k - 1][1].endswith("MR")):
        return _review_number(pairs, labels, k)
    return number_in_pages(pairs, labels, k) if "." in text[:-1] or ":" in text or text[-3:] == "10." else None


def _review_number(pairs: Pairs, labels: Labels, k: int) -> Pairs | None:
    """Take a number of Mathematical Reviews off the pages: "2725–2809. MR 3687107"."""
    text = pairs[k][1]
    if text[:2] == "MR" and _REVIEW.fullmatch(text):
        return changed(pairs, k, ("note", text))
    if k and pairs[k - 1][1].endswith("MR") and _REVIEW.fullmatch(f"MR {text}"):
        before = pairs[k - 1][1].removesuffix("MR").rstrip()
        kept = [(labels[k - 1], before)] if before else []
        return [*pairs[: k - 1], *kept, ("note", f"MR {text}"), *pairs[k + 1 :]]
    found = _BEFORE_REVIEW.fullmatch(text) if "MR" in text else None
    return cut(pairs, k, found, "pages", "note")


def _page_after_volume(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 410 U.S. 113 as volume, container, page."""
    k = row_at(labels, "volume", "container-title", "volume") + 2
    return changed(pairs, k, ("pages", pairs[k][1]))


def _zip_code(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Put the 02139 of "Cambridge, MA 02139" back to the place, if there is another date."""
    k = row_at(labels, "location", "date")
    return joined(pairs, k, "location") if _ZIP.fullmatch(pairs[k + 1][1]) else None


def _roman_pages(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read xii, 432 pp. as one number of pages."""
    k = row_at(labels, "volume", "pages")
    first = pairs[k][1]
    roman = first[0] in "ivxlc" and _ROMAN.fullmatch(first) and count_pages(pairs[k + 1][1])
    return joined(pairs, k, "pages") if roman else None


def _day_in_volume(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 2003 nov. | 12;52(4) as a day and a volume."""
    k = row_at(labels, "date", "volume")
    found = _DAY.match(pairs[k + 1][1]) if ";" in pairs[k + 1][1] else None
    if not found or not is_month(pairs[k][1].strip(" .,;")[4:]):
        return None
    date, volume = f"{pairs[k][1]} {found[1]}", pairs[k + 1][1][found.end() :]
    return [*pairs[:k], ("date", date), ("volume", volume), *pairs[k + 2 :]]


def _meeting_and_year(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the year of "ECAI 94" with the meeting."""
    k = row_at(labels, "container-title", "volume")
    container, year = pairs[k][1], pairs[k + 1][1]
    if len(year) > 6 or container[:2].lower() != "in" or len(year := year.strip(" .,;:'’")) != 2 or not year.isdigit():
        return None
    date, last = parse_date(pairs[labels.index("date")][1]), container.split()[-1]
    same = date is not None and bool(date.parts) and date.parts[0][0] % 100 == int(year)
    return joined(pairs, k, "container-title") if same and last.isupper() and last.isalpha() else None


def _page_in_date(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "September 1994. 9" into date and page."""
    k = labels.index("date")
    found = _DATE_AND_PAGE.fullmatch(pairs[k][1]) if len(pairs[k][1]) > 6 else None
    date = parse_date(found[1]) if found and not _BARE_YEAR.fullmatch(found[2]) else None
    return cut(pairs, k, found, "date", "pages") if date and date.parts and not date.literal else None


def _page_before_year(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 54(18):2011, 1985. as page and year: what follows a colon is a page, what ends the reference a year."""
    k = len(labels) - 2
    date, pages = pairs[k][1].rstrip(" ,;"), pairs[k + 1][1].strip()
    both = _BARE_YEAR.fullmatch(date) and _BARE_YEAR.fullmatch(pages) and pairs[k - 1][1].rstrip()[-1:] == ":"
    return [*pairs[:k], ("pages", pairs[k][1]), ("date", pairs[k + 1][1])] if both else None


def _year_in_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the second year of "(2016). Libraries | 2016." with the title: no mark stands between them."""
    k = next((k for k in range(1, len(labels)) if labels[k] == "date" and labels[k - 1] in _TITLES), 0)
    bare = k and "date" in labels[: k - 1] and pairs[k - 1][1][-1:].isalnum() and _BARE_YEAR.fullmatch(pairs[k][1])
    return joined(pairs, k - 1, labels[k - 1]) if bare else None


def _number_in_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the number of "100 | Jahre Bücherei" and "2001: | A Space Odyssey" with the title: nobody wrote it."""
    number = pairs[0][1]
    if labels[0] == "citation-number":
        alone = number.isdecimal() and len(number) > 2  # what is shorter may number the reference
    else:
        alone = number.endswith(":") and labels.count("date") > 1
    return joined(pairs, 0, "title") if alone else None


def _about(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Put the "ca." of "[Mainz, ca. | 1455]" to the date."""
    k = row_at(labels, "location", "date")
    found = _ABOUT.fullmatch(pairs[k][1]) if pairs[k][1].rstrip(" .")[-1:] in "acm" else None
    if found is None:
        return None
    return [*pairs[:k], ("location", found[1]), ("date", f"{found[2]} {pairs[k + 1][1]}"), *pairs[k + 2 :]]


def _back_reference(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read the "(siehe S. 56)." at the end, where the work is cited in this thesis, as a note."""
    text = pairs[-1][1]
    found = _BACK.fullmatch(text) if "i" in text or "ee" in text else None  # siehe, cit, zit; see
    return changed(pairs, len(pairs) - 1, ("note", text)) if found else None


def _dated(may: Callable[[Labels], bool]) -> Callable[[Labels], bool]:
    return lambda labels: "date" in labels and may(labels)


_NUMBER_MENDS: Mends = (
    (row_of("volume", "pages", "date", "pages", without=("issue",)), _issue_before_date),
    (row_of("volume", "container-title", "volume", without=("pages",)), _page_after_volume),
    (row_of("volume", "issue", "date", without=("pages",)), _page_as_issue),
    (row_of("collection-title", "volume"), _number_of_series),
    (lambda labels: labels[-1] not in ("author", "title", "note"), _back_reference),
    (lambda labels: labels[-2:] == ("date", "pages") and labels.count("date") == 1, _page_before_year),
    (row_of("pages", "pages"), _pages_apart),
    (all_of("pages"), _by_pages),
    (lambda labels: labels.count("date") > 1 and row_at(labels, "location", "date") >= 0, _zip_code),
    (row_of("volume", "pages"), _roman_pages),
    (row_of("date", "volume"), _day_in_volume),
    (_dated(row_of("container-title", "volume", without=("issue",))), _meeting_and_year),
    (all_of("date", without=("pages",)), _page_in_date),
    (lambda labels: labels.count("date") > 1, _year_in_title),
    (row_of("location", "date"), _about),
    (
        lambda labels: labels[:2] in _BEFORE_TITLES and "author" not in labels and "editor" not in labels,
        _number_in_title,
    ),
)


_KEY = re.compile(
    r"[^\W\d_][\w'’-]*(?:(?:(?:,| and| &| und| et)? |/)[^\W\d_][\w'’-]*)? ?(?:et al\.?)?,? ?"
    rf"[(\[]?{YEAR}[)\]]?\s*[:—–=-]+\s*(?=\w)"
)
_NUMBER = re.compile(r"[\[(]?[0-9]{1,4}[\])]?(?:[.:)]?\s+|[-–.]\s*)(?=[^\W\d_])")
# Words of a footnote before the names. See and Zie are names, too (See KC, Tan B): "also" or a full name must follow.
_MORE = (
    r"(?:,? (?:auch|dazu|hierzu|etwa|also|generally|especially|esp\.|e\. ?g\.|for example|for instance|ausführlich"
    r"|zuletzt|schon|nur|insbes\.|insbesondere|z\. ?B\.|u\. ?a\.|a\.|aussi|anche|también|ook)){1,3},?:?\s+"
)
_IN_FULL = r"(?:[^\W\d_]\. ?)*(?:(?:von|van|de|der|den|da|di|la|le|du) )*[^\W\d_a-zß-ÿ][^\W\d_]*[a-zß-ÿ]"
_LEAD = re.compile(
    r"(?:(?:[Bb]ut|[Aa]nd|[Uu]nd|[Ss]o) )?(?:"
    r"(?:[Vv]gl\.?|[Vv]ergleiche|[Ss]iehe|[Ss]\.(?= (?:auch|dazu|hierzu|a\.))|[Cc]fr?\.?|[Vv]oir|[Vv]éase|[Ss]i veda)"
    rf"(?:{_MORE}|:?\s+)(?=[^\W\d_])|(?:[Ss]ee|[Zz]ie)(?:{_MORE}(?=[^\W\d_])|:?\s+(?={_IN_FULL}))"
    r"|(?:[Qq]uoted|[Cc]ited|[Zz]itiert|[Cc]ité|[Cc]itado|[Cc]itato) (?:in|from|by|nach|bei|par|por|da):?\s+"
    r"(?=[^\W\d_]))"
)
_LEAD_BEGINS = frozenset("BbAaUuSsVvCcZzQq")  # the letters that its words begin with
_DIGIT = re.compile("[0-9]")
_HOUSE = re.compile(r"([^:]{2,40}:)\s+([^:]{2,}\W*)")
_INSIDE = re.compile(r"in[\s:]", re.IGNORECASE)
_HOUSE_WORD = re.compile(
    r"\b(?:foundation|institut\w*|universi\w+|ministr?y|ministerium|agency|corporation|society|association|press|verlag"
    r"|gmbh|inc|ltd)\b"
)
_BODY_WORD = re.compile(
    rf"{_HOUSE_WORD.pattern}|\b(?:facult|facul|fakult|depart|dept|school|fachbereich|lehrstuhl|division|section|centre|center)"
)
_PLACE_BEFORE = re.compile(r"([A-ZÀ-Þ][^\W\d_]*[a-zß-ÿ](?:[ -][^\W\d_]+)?:)\s+([^:]{2,}\W*)")
_BRACKETED = re.compile(r"(.*\S)\s*([(\[][^()\[\]]{2,40}[)\]]\W*)")
_VOLUMES = re.compile(r"(.*\S[.,;:])\s*(\(?(?:in )?\w{1,6}\s(?:vols?|volumes|Bde|Bänden?|tom[eio]s?|voll|delen)\b\W*)")
_ENDS_IN_VOLUMES = ("vol", "vols", "volumes", "Bde", "Bände", "Bänden", "tomes", "tomos", "tomi", "voll", "delen")
_ENDS_AS_THESIS = ("thesis", "dissertation", "Dissertation", "tutkielma", "gradu", "väitöskirja", "arbeit", "thèse")
_THESIS = re.compile(
    r"(.{4,}?[.!?][\"”»’]?)\s+((?:(?:[Uu]npublished )?(?:Ph\.? ?D\.?|[Dd]octoral|[Mm]aster[’']?s?|M\.?Sc\.?|M\.?A\.?"
    r"|B\.?Sc\.?|B\.?A\.?|[Bb]achelor[’']?s?) (?:thesis|dissertation)|Dissertation"
    r"|(?:Diplom|Doktor|Master|Bachelor)arbeit|Pro gradu(?: ?-? ?tutkielma)?|Väitöskirja|Thèse(?: de doctorat)?)\W*)"
)
_ENDS_AS_EDITION = ("Aufl", "Auflage", "aufl", "auflage")
_ENDS_OF_TITLES = (")", "]", *_ENDS_IN_VOLUMES, *_ENDS_AS_THESIS, *_ENDS_AS_EDITION)
_AUFLAGE = r"[0-9]{1,3}\.,?\s+(?:[\w-]+\.?,?\s+){0,7}?(?:Neua|A)ufl(?:age)?\b\W*"
_EDITION = re.compile(rf"(.{{4,}}?[.!?,:;][\"”»’]?)\s+({_AUFLAGE})")
_EDITION_ALONE = re.compile(rf"\W*{_AUFLAGE}")
_PACKAGE = re.compile(r"\(?\b(?:R|Python|Stata|MATLAB) package,? version\b")
_NAME_BEFORE_QUOTED = re.compile(r"([^\"“”]{3,80}[.,:])\s+([\"“][^\"“”]+[\"”]\W*)")
_HANDLE = re.compile(r"\W*@\w+\W*")
_EDITED = (
    r"(?:edited by|eds?\. by|hrsg\. v(?:on|\.)|hg\. v(?:on|\.)|herausgegeben von|a c(?:ura|\.) ?di"
    r"|sous la dir(?:ection|\.) de|org\. por|organizado por|editado por|coord\. por|pod red(?:\.|akcją)"
    r"|под (?:общ(?:\.|ей) )?ред(?:\.|акцией))"
)
_MIDDLE = re.compile(rf"(.{{4,}}?[,.;(])\s*({_EDITED}\s.*)", re.IGNORECASE | re.DOTALL)
_BEHIND = re.compile(
    rf"(.{{4,}}?[,.;(])\s*((?:{_EDITED}|eds?\.|dir\.|hrsg\.|hg\.)\s+[^\W\d_].*)", re.IGNORECASE | re.DOTALL
)
_PLACE_LAST = re.compile(
    r"(.*\w\.?,)\s*([A-ZÀ-Þ][\w.'’-]+(?: (?:(?:de|do|da|dos|das|del|la) )?[A-ZÀ-Þ][\w.'’-]+){0,2},?\s*)"
)
_CAPITALS = re.compile(r"\W*[A-ZÀ-Þ][A-ZÀ-Þ'’-]{2,}")
_WORD = re.compile(r"\w+")
_PRINTED = ("volume", "issue", "pages", "editor", "publisher")


def mended(pairs: Pairs) -> Pairs:
    """Return labels and texts, of which those that can only be a mistake are mended."""
    labels = tuple([label for label, _ in pairs])
    for mend in _asked(labels):
        if (better := mend(pairs, labels)) is not None:
            return _mended_again(better)
    return pairs


def _mended_again(pairs: Pairs) -> Pairs:
    """Mend what is left, each mistake once."""
    labels = tuple([label for label, _ in pairs])
    asked = _asked(labels)
    for _, mend in _MENDS:
        if mend in asked and (better := mend(pairs, labels)):
            pairs, labels = better, tuple([label for label, _ in better])
            asked = _asked(labels)
    return pairs


@lru_cache(maxsize=4096)
def _asked(labels: Labels) -> tuple[Mend, ...]:
    """Return the mends that a sequence of labels has an occasion for; few sequences make up nearly all references."""
    return tuple(mend for may, mend in _MENDS if labels and may(labels))


def _key(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take a key or number off the front: "Heath 1978 : J. Heath", "23 Giorgi A."."""
    text = pairs[0][1]
    if labels[1] == "date" and labels[2:3] == ("author",) and labels.count("date") > 1:
        whole = f"{text} {pairs[1][1]}"
        return [("citation-number", whole), *pairs[2:]] if _KEY.match(f"{whole} x") else None
    if not _DIGIT.search(text, 0, 60):
        return None
    found = _KEY.match(text) or _NUMBER.match(text)
    return [("citation-number", found[0]), ("author", text[found.end() :]), *pairs[1:]] if found else None


def _lead(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take the words of a footnote off the names: "Vgl. auch Hans Bell" is a note and a name."""
    k = labels.index("author")
    text = pairs[k][1]
    found = _LEAD.match(text) if text[:1] in _LEAD_BEGINS else None
    if not found:
        return None
    return [*pairs[:k], ("note", found[0].rstrip()), ("author", text[found.end() :]), *pairs[k + 1 :]]


def _place_in_name(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the USA of "Proc Natl Acad Sci USA" with the journal: no mark stands between them."""
    k = row_at(labels, "container-title", "location")
    name, place = pairs[k][1], pairs[k + 1][1]
    bare = name[-1:].isalnum() and place[:1].isalnum() and place.rstrip()[-1:] != ":"
    if not bare or name[:3].lower() == "in ":
        return None
    meeting = "volume" not in labels and not MEETINGS.isdisjoint(_WORD.findall(name.lower()))
    return None if meeting else joined(pairs, k, "container-title")


def _house_as_container(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "R Foundation for Statistical Computing, | Vienna" as a publisher: nothing of a journal or book is there."""
    k = row_at(labels, "container-title", "location")
    name = pairs[k][1].lower()
    inside = "title" not in labels[:k] or name[:3] in ("in ", "in:")
    meeting = not MEETINGS.isdisjoint(words := _WORD.findall(name)) or "convention" in words
    if inside or meeting or not _HOUSE_WORD.search(name):
        return None
    return changed(pairs, k, ("publisher", pairs[k][1]))


def _place_behind(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take the place off a journal's name where names in capitals and "v. 28" show the style of ABNT."""
    k = labels.index("container-title")
    if not pairs[k + 1][1].startswith(("v.", "n.", "ano ", "V.")) or not _CAPITALS.match(
        pairs[labels.index("author")][1]
    ):
        return None
    return cut(pairs, k, _PLACE_LAST.fullmatch(pairs[k][1]), "container-title", "location")


def _editors_in_container(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "Landscapes, ed. R. A. Shaw" into container and editors."""
    k = labels.index("container-title")
    return cut(pairs, k, _editors_behind(pairs[k][1]), "container-title", "editor")


@remembered(longest=100)
def _editors_behind(text: str) -> re.Match[str] | None:
    marked = "," in text or "." in text or ";" in text or "(" in text  # one of which stands before the words
    return _BEHIND.fullmatch(text) if marked else None


def _container_in_editors(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "in Storia di Prato, a cura di G. Cherubini" into container and editors."""
    k = labels.index("editor")
    return cut(pairs, k, _MIDDLE.fullmatch(pairs[k][1]), "container-title" if "title" in labels else "title", "editor")


def _tail_of_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take (Version 2), "4 Bde." and "Pro gradu -tutkielma" off the end of a title."""
    k = labels.index("title")
    text = pairs[k][1]
    end = text.rstrip(" .,;:")
    if not end.endswith(_ENDS_OF_TITLES):
        return None
    if end[-1:] in (")", "]") and (found := _BRACKETED.fullmatch(text)) and parse_version(found[2]):
        return cut(pairs, k, found, "title", "edition")
    if end.endswith(_ENDS_IN_VOLUMES) and "volume" not in labels and (found := _VOLUMES.fullmatch(text)):
        return cut(pairs, k, found, "title", "volume") if count_volumes(found[2]) else None
    if end.endswith(_ENDS_AS_THESIS) and "genre" not in labels:
        return cut(pairs, k, _THESIS.fullmatch(text), "title", "genre")
    if end.endswith(_ENDS_AS_EDITION) and "edition" not in labels:
        return cut(pairs, k, _EDITION.fullmatch(text), "title", "edition")
    return None


def _edition_elsewhere(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "6. Auflage." as an edition, whatever it was taken for."""
    k = next((k for k, (_, text) in enumerate(pairs) if "ufl" in text and _EDITION_ALONE.fullmatch(text)), -1)
    return changed(pairs, k, ("edition", pairs[k][1])) if k >= 0 else None


def _version_of_visit(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "Version 3.8." behind an address as a version: it says nothing of a visit."""
    k = labels.index("accessed")
    day = (date := parse_date(pairs[k][1])) is not None and any(len(part) == 3 for part in date.parts)
    return changed(pairs, k, ("edition", pairs[k][1])) if parse_version(pairs[k][1]) and not day else None


def _package_version(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "Sands. R package version 2. | 8-19." as title and version; the rest of its number is read as anything."""
    k = labels.index("title")
    if "container-title" in labels and "ackage version" not in pairs[k][1]:
        k = labels.index("container-title")
    text = pairs[k][1]
    found = _PACKAGE.search(text) if "ackage version" in text else None
    if found is None:
        return None
    before, version, n = text[: found.start()].rstrip(), text[found.start() :], k + 1
    while n < len(pairs) and labels[n] in ("volume", "issue", "pages", "edition") and pairs[n][1][:1].isdigit():
        version, n = f"{version}{' ' * version[-1:].isalpha()}{pairs[n][1]}", n + 1
    kept = [(labels[k], before)] if before else []
    return [*pairs[:k], *kept, ("edition", version), *pairs[n:]]


def _edition_as_names(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "... 3., | verb. u. erw. Aufl." as an edition; nobody is called so."""
    k = labels.index("translator")
    found = _EDITION.fullmatch(f"{pairs[k - 1][1]} {pairs[k][1]}") if k and "Aufl" in pairs[k][1] else None
    return [*pairs[: k - 1], (labels[k - 1], found[1]), ("edition", found[2]), *pairs[k + 1 :]] if found else None


def _container_as_publisher(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "in: Ada Ho (Hrsg.): | Handbuch Bibliothek," as the book: what follows its editors is no publisher."""
    k = row_at(labels, "editor", "publisher")
    name = pairs[k + 1][1]
    inside = "title" in labels[:k] and _INSIDE.match(pairs[k][1])
    house = ":" in name or _HOUSE_WORD.search(name.lower())
    return changed(pairs, k + 1, ("container-title", name)) if inside and not house else None


def _page_as_container(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read what has an address, no title, and nothing that journals and books have, as the title of a page."""
    k = labels.index("container-title")
    return None if _INSIDE.match(pairs[k][1]) else changed(pairs, k, ("title", pairs[k][1]))


def _name_before_quoted(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut 'Wikipedia contributors. "Dewey."' into author and title."""
    return cut(pairs, 0, _NAME_BEFORE_QUOTED.fullmatch(pairs[0][1]), "author", "title")


def _handle(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read the first of two titles as a note if it is what somebody is called on the net: [@ho]."""
    k = labels.index("title")
    return changed(pairs, k, ("note", pairs[k][1])) if _HANDLE.fullmatch(pairs[k][1]) else None


def _house_first(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read an institution that stands first, where nobody else is named, as the author."""
    return None if pairs[0][1].islower() else [("author", pairs[0][1]), *pairs[1:]]


def _house_in_place(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "Leeds: Arbor;" into place and publisher."""
    k = labels.index("location")
    return cut(pairs, k, _HOUSE.fullmatch(pairs[k][1]), "location", "publisher") if ": " in pairs[k][1] else None


def _place_before_house(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "Almería: Institute of Arid Horticulture," into place and institution."""
    k = labels.index("institution")
    found = _PLACE_BEFORE.fullmatch(pairs[k][1]) if ": " in pairs[k][1] else None
    if found is None or _BODY_WORD.search(found[1].lower()) or not _HOUSE_WORD.search(found[2].lower()):
        return None
    return cut(pairs, k, found, "location", labels[k])


def _numbered_journal(labels: Labels) -> bool:
    """Tell whether an author's article is in a journal with a number behind, and no place is named."""
    k = labels.index("container-title") if "container-title" in labels else -1
    return (
        k >= 0
        and labels[k + 1 : k + 2] in (("volume",), ("issue",))
        and "author" in labels
        and "location" not in labels
    )


def _house_leads(labels: Labels) -> bool:
    if "author" in labels or "editor" in labels or "title" not in labels:
        return False
    return labels[0] in ("publisher", "institution") or labels[:2] == ("container-title", "date")


def _is_page(labels: Labels) -> bool:
    """Tell whether there is an address, and a container alone."""
    return ("url" in labels or "accessed" in labels) and all_of("container-title", without=("title", *_PRINTED))(labels)


_MENDS: Mends = (
    *FIRST_MENDS,
    *MISPLACED,
    *SCIENCES,
    *_NUMBER_MENDS,
    (all_of("title"), _package_version),
    (all_of("accessed", without=("edition",)), _version_of_visit),
    (lambda labels: "edition" not in labels and not {"note", "other", "genre"}.isdisjoint(labels), _edition_elsewhere),
    (lambda labels: labels[0] == "author" and len(labels) > 1 and "citation-number" not in labels, _key),
    (lambda labels: "author" in labels[: 1 + (labels[0] == "citation-number")], _lead),
    (all_of("title"), _tail_of_title),
    (row_of("container-title", "location", without=("publisher",)), _place_in_name),
    (row_of("container-title", "location", without=_PRINTED), _house_as_container),
    (_numbered_journal, _place_behind),
    (all_of("container-title", without=("editor",)), _editors_in_container),
    (all_of("editor", without=("container-title",)), _container_in_editors),
    (all_of("location", without=("publisher",)), _house_in_place),
    (all_of("institution", without=("location",)), _place_before_house),
    (_house_leads, _house_first),
    (all_of("translator", without=("edition",)), _edition_as_names),
    (row_of("editor", "publisher", without=("container-title",)), _container_as_publisher),
    (_is_page, _page_as_container),
    (lambda labels: labels[0] == "title" and not {"author", "editor"} & set(labels), _name_before_quoted),
    (lambda labels: labels.count("title") > 1, _handle),
    *TRADITIONS,
)
