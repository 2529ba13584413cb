"""Mends for what sciences and their services write: meetings in series, article numbers, works that share a reference.

They are asked for as those of `traditions` are: labels give the occasion, and the texts decide.
"""

from __future__ import annotations

import re

from espalier.citations.normalise.lexicon import MEETINGS
from espalier.citations.normalise.numbers import count_pages
from espalier.citations.normalise.pairs import Labels, Mends, Pairs, all_of, changed, cut, joined, row_at, row_of

__all__ = ["SCIENCES"]

_WORD = re.compile(r"\w+")
# What many write together; but the "Encyclopedia of Mathematics and its Applications" is a series.
_MANY_AUTHORS = re.compile(
    r"\b(?:en[cz][iy][ck]lop\w+(?!.* its\b)|handbook|handbuch|lexi[ck]on|dictionary|wörterbuch|companion|treatise"
    r"|advances|methods|yearbook|jahrbuch)\b",
    re.IGNORECASE,
)
_LATIN = re.compile("[A-Za-z]{4}")
_INSIDE = re.compile(r"in[\s:]", re.IGNORECASE)
_JOURNAL = re.compile(
    r"\b(?:journal|transactions|letters|annals|quarterly|bulletin|magazine|review|revue|revista|rivista|zeitschrift)\b"
    r"|\b(?:j|trans|lett|ann|bull|rev|z|phys|chem|acta|proc)\b",
    re.IGNORECASE,
)
_MEETING_AND_SERIES = re.compile(r"(.+\b(?:19|20)[0-9]{2}\.)\s+([A-ZÀ-Þ][^\d.:]{2,60},\s*)")
_BOOK_AND_SERIES = re.compile(
    r"(.*[\w)’'],)\s+(ser\. [^\W\d_a-z][^\W\d_]{2,} .*)"
)  # in Proc. HEDGE, ser. Fen Monographs, as IEEE prints it
_DEGREE_AND_ARCHIVE = re.compile(r"([^\[\]]+\][.,])\s+(\S.*)", re.DOTALL)
_TRANSLATED = re.compile(
    r"(\W*[Tt]ranslated (?:from the (?:[\w-]+ ){1,3})?by [^\W\d_][^\d()\[\]]*?)"
    r"(?:(?<=[^\W\d_]{2}[.;])\s+([^\W_a-z].*))?",
    re.DOTALL,
)
_ARTICLE = r"Art(?:icle)?\.?,? (?:no|nr|ID)\b\.? ?(?=[\w.-]*[0-9])[\w.-]*\w\W*"
_ARTICLE_ALONE = re.compile(rf"\W*{_ARTICLE}", re.IGNORECASE)
_ISSUE_AND_ARTICLE = re.compile(rf"(.*?[0-9)],)\s+({_ARTICLE})", re.IGNORECASE)
_PENDING_FIRST = re.compile(
    r"((?:[Ii]n press|[Ff]orthcoming|[Ii]n review|[Tt]o appear)[.,])\s+([^\W\d_a-z].{9,})", re.DOTALL
)
_NUMERALS, _VOLUME = frozenset("IVX"), frozenset("Vv")
_NUMERAL_FIRST = re.compile(r"([IVX]{1,4}[.,:])\s+([^\W\d_a-z][^\W\d_]\S*.*)", re.DOTALL)
_PRELIMINARY = re.compile(r"(.*\w),\s+((?=[ivxlc])(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})\s*\+?)")
_DAY = re.compile(r"([0-9]{1,2})\s*:?")
_MONTH_LAST = re.compile(r"[12][0-9]{3}\s[^\W\d_]{3,9}\.?")
_ARTICLE_OF_PUBLISHER = re.compile(r":?\s*S[0-9]{4}-[0-9]{3}[0-9X]\s?\([0-9]{2}\)\s?[0-9]{5}-[0-9X]\W*")
_BEFORE_ANOTHER = ("date", "pages", "location", "publisher")
_NAMED = frozenset({"author", "title"})
_OF_FIRST = frozenset({"pages", "volume", "publisher", "location"})
_BESIDE_ARTICLES = ("note", "issue")
_SHORTEST_ARTICLE = 7  # characters of "Art. no"
_COUNTED = ("volume", "issue", "pages")


def _is_meeting(name: str) -> bool:
    return not MEETINGS.isdisjoint(_WORD.findall(name.lower()))


def _by_container(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Ask for what the first and last sign of a container give an occasion for; most have neither."""
    k = labels.index("container-title")
    text = pairs[k][1]
    if " ser. " in text and "collection-title" not in labels:
        return cut(pairs, k, _BOOK_AND_SERIES.fullmatch(text), "container-title", "collection-title")
    if text[:1] in _NUMERALS and k and labels[k - 1] == "title":
        return _numeral_in_container(pairs, k)
    if text[-1:] == "," and labels[k + 1 : k + 2] == ("volume",) and pairs[k + 1][1][:1] in _VOLUME:
        return _series_of_meeting(pairs, k)
    return None


def _series_of_meeting(pairs: Pairs, k: int) -> Pairs | None:
    """Cut "LATIN 2000. LNCS, | vol. 1776" into the meeting and the series."""
    if "collection-title" in [label for label, _ in pairs] or pairs[k + 1][1][:3].lower() != "vol":
        return None
    found = _MEETING_AND_SERIES.fullmatch(pairs[k][1])
    return None if found and _is_meeting(found[2]) else cut(pairs, k, found, "container-title", "collection-title")


def _year_of_meeting(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the year of "In: NIPS | 2014, | pp. 1-9 (2014)" with the meeting: the same date comes again."""
    k = row_at(labels, "container-title", "date")
    words, year = pairs[k][1].split(), pairs[k + 1][1].strip(" .,")
    again = year.isdigit() and any(year in text for label, text in pairs[k + 2 :] if label == "date")
    acronym = bool(words) and words[-1][-1:].isalnum() and sum(map(str.isupper, words[-1])) > 1
    numbered = again and labels[k + 2] in ("volume", "issue")
    return joined(pairs, k, "container-title") if again and acronym and not numbered else None


def _series_as_container(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "Associahedra, | Progr. Math. | 299, | Birkhäuser" as a book in a series: a journal names no publisher.

    What many have written, such as an encyclopedia, may be what the work is in.
    """
    k = row_at(labels, "title", "container-title", "volume") + 1
    name = pairs[k][1]
    if _INSIDE.match(name) or not _LATIN.search(name) or _JOURNAL.search(name) or _MANY_AUTHORS.search(name):
        return None
    return None if _is_meeting(name) else changed(pairs, k, ("collection-title", name))


def _degree_and_archive(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "[Doctoral dissertation, | University of X]. ProQuest Dissertations." behind the bracket."""
    k = labels.index("institution")
    found = _DEGREE_AND_ARCHIVE.fullmatch(pairs[k][1]) if "]" in pairs[k][1] else None
    return cut(pairs, k, found, "institution", "publisher")


def _translators_in_note(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "Translated from the French by Ada Ho." as translators, wherever it stands."""
    k = next((k for k, (label, text) in enumerate(pairs) if label == "note" and "ranslated" in text[:14]), -1)
    found = _TRANSLATED.fullmatch(pairs[k][1]) if k >= 0 else None
    if found is None:
        return None
    rest = [("note", found[2])] if found[2] else []
    return [*pairs[:k], ("translator", found[1]), *rest, *pairs[k + 1 :]]


def _number_of_article(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read the "Art. no. 9123456." of IEEE as pages, whether it is a note or ends an issue.

    In "Article ID 987654, 9 pages" there are pages already, but these are their number.
    """
    for k, (label, text) in enumerate(pairs):
        if len(text) < _SHORTEST_ARTICLE or label not in _BESIDE_ARTICLES:
            continue
        found = (_ARTICLE_ALONE if label == "note" else _ISSUE_AND_ARTICLE).fullmatch(text)
        if found:
            counted = all(count_pages(text) for label, text in pairs if label == "pages")
            better = changed(pairs, k, ("pages", text)) if label == "note" else cut(pairs, k, found, "issue", "pages")
            return better if counted else None
    return None


def _another_work(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave a second work to itself: names behind the pages of the first, with a title or journal of their own."""
    for k in range(2, len(labels) - 1):
        begins = labels[k] == "author" and labels[k + 1] in ("title", "container-title")
        whole = not _NAMED.isdisjoint(labels[:k]) and not _OF_FIRST.isdisjoint(labels[:k])
        if begins and whole and labels[k - 1] in _BEFORE_ANOTHER:
            return [*pairs[:k], ("other", " ".join(text for _, text in pairs[k:]))]
    return None


def _pending_first(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take the "In press." that stands for a date off the front of a title."""
    k = row_at(labels, "author", "title") + 1
    return cut(pairs, k, _PENDING_FIRST.fullmatch(pairs[k][1]), "note", "title")


def _numeral_in_container(pairs: Pairs, k: int) -> Pairs | None:
    """Give the I of "La conjecture de Weil. | I. Inst. Hautes Études" back to the title."""
    found = _NUMERAL_FIRST.fullmatch(pairs[k][1])
    if found is None:
        return None
    return [*pairs[: k - 1], ("title", f"{pairs[k - 1][1]} {found[1]}"), ("container-title", found[2]), *pairs[k + 1 :]]


def _preliminary_pages(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Put the xvii of "New York, xvii + | 414 pp." to the pages."""
    k = row_at(labels, "location", "pages")
    found = _PRELIMINARY.fullmatch(pairs[k][1].strip())
    if found is None:
        return None
    return [*pairs[:k], ("location", f"{found[1]},"), ("pages", f"{found[2]} {pairs[k + 1][1]}"), *pairs[k + 2 :]]


def _ahead_of_print(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read PubMed's 2023 Aug | 14: | S0007-0912(23)00371-2. as a day and an article's number."""
    k = labels.index("date")
    if labels[k + 1 : k + 2] != ("volume",) or not pairs[k][1][-2:].strip(" .").isalpha():
        return None
    n = k + 1
    while n < len(labels) and labels[n] in _COUNTED:
        n += 1
    rest = "".join(text for _, text in pairs[k + 1 : n])
    day = _DAY.match(rest)
    dated = day and int(day[1]) < 32 and _MONTH_LAST.fullmatch(pairs[k][1].strip(" ."))
    if not dated or not day or not _ARTICLE_OF_PUBLISHER.fullmatch(number := rest[day.end() :].strip()):
        return None
    return [*pairs[:k], ("date", f"{pairs[k][1]} {day[0]}"), ("pages", number), *pairs[n:]]


SCIENCES: Mends = (
    (all_of("container-title"), _by_container),
    (lambda labels: labels.count("date") > 1 and row_at(labels, "container-title", "date") >= 0, _year_of_meeting),
    (
        row_of(
            *("title", "container-title", "volume", "publisher"),
            without=("pages", "issue", "collection-title", "doi", "editor"),
        ),
        _series_as_container,
    ),
    (all_of("institution", "genre", without=("publisher",)), _degree_and_archive),
    (all_of("note", without=("translator",)), _translators_in_note),
    (lambda labels: "note" in labels or ("issue" in labels and "pages" not in labels), _number_of_article),
    (lambda labels: labels.count("author") > 1, _another_work),
    (row_of("author", "title", without=("date",)), _pending_first),
    (row_of("location", "pages"), _preliminary_pages),
    (row_of("date", "volume"), _ahead_of_print),
)
