"""Mistakes of labels among numbers: volumes, issues, pages, dates, and what only looks like one of them.

A part of `mending`, which says how they are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from espalier.citations.normalise.dates import is_month, parse_date
from espalier.citations.normalise.numbers import count_pages
from espalier.citations.normalise.pairs import YEAR, Labels, Mends, Pairs, all_of, changed, cut, joined, row_at, row_of

__all__ = ["NUMBER_MENDS"]

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


def _review_number(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take a number of Mathematical Reviews off the pages: "2725–2809. MR 3687107"."""
    k = len(labels) - 1 - labels[::-1].index("pages")
    text = pairs[k][1]
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


NUMBER_MENDS: Mends = (
    (row_of("volume", "pages", "date", "pages", without=("issue",)), _issue_before_date),
    (row_of("volume", "container-title", "volume", without=("pages",)), _page_after_volume),
    (row_of("volume", "issue", "date", without=("pages",)), _page_as_issue),
    (row_of("collection-title", "volume"), _number_of_series),
    (lambda labels: labels[-1] not in ("author", "title", "note"), _back_reference),
    (lambda labels: labels[-2:] == ("date", "pages") and labels.count("date") == 1, _page_before_year),
    (row_of("pages", "pages"), _pages_apart),
    (all_of("pages"), _review_number),
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
