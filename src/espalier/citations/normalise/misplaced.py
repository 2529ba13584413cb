"""Mends for identifiers and numbers that stand in the field of another, and for the words that stand beside them.

They are asked for as those of `traditions` are: labels give the occasion, and the texts decide.
"""

from __future__ import annotations

import re

from espalier.citations.normalise.dates import is_month, is_pending
from espalier.citations.normalise.identifiers import find_doi
from espalier.citations.normalise.pairs import YEAR, Labels, Mends, Pairs, all_of, changed, cut, joined, row_at, row_of

__all__ = ["MISPLACED", "number_in_pages"]

_PAGES_AND_DOI = re.compile(r"(.*\w)\s?[-–]\s?(10\.[0-9]{4,9}/\S.*)")
_PAGES_AND_HALF = re.compile(r"(.*\w)\s?[-–]\s?10\.")
_HALF_OF_DOI = re.compile(r"[0-9]{4,9}/\S.*")
_YEAR_AND_COLON = re.compile(rf"({YEAR})\s*:\s*")
_ISSUE_OF_YEAR = re.compile(r"0?[1-9]/|1[0-2]/")  # but 276/2003 is a volume
_YEAR_FIRST = re.compile(rf"{YEAR}\b(?!/)")
_NUMBER_AND_MARK = re.compile(r"([0-9]{1,4})([:.])\s*")
_TO_NUMBERED = re.compile(r"1\s?[-–—]{1,3}\s?([0-9]{1,4})([:.])[0-9]{1,4}\W*")
_ONLY_CUE = re.compile(r"\W*(?:pp?|S|[Pp]ages?|[Ss]eiten?|[Сс])[.:]?\s*")
_NUMBER = re.compile(r"[0-9]{1,5}\.?\s*")
_MONTHLY = re.compile(r"\[[0-9]{4}\.")
_SERIAL = re.compile(r"[0-9]{4,5}(?:v[0-9])?\]\W*")
_PREPRINT = re.compile(r"[0-9]{2}(?:0[1-9]|1[0-2])\.[0-9]{5}(?:v[0-9])?\W*")
_SHORT_YEAR = re.compile(r"[0-9]{2}\W*")
_EDITION_AND_PART = re.compile(
    r"(.*\b(?:ed|edn|edition|Aufl)\.?,)\s+((?:[Cc]h(?:ap)?|[Ss]ec(?:t)?|[Kk]ap)\.? ?[0-9].*)"
)
_PAGES_AND_COUNT = re.compile(r"([0-9]{1,4} pp?\.,?) ([0-9]{1,3})")
_PLATES = re.compile(r"(?:pls?|plates?|figs?|tabs?|tables?|maps?|sheets?)\b")
_SMALL = re.compile(r"[0-9]{1,2}(?:-[0-9]{1,2})?,?\s*")
_SERIES_OF_JOURNAL = ("Сер.", "Серия", "Ser.", "Série", "Seria")
_NUMBER_AND_YEAR = re.compile(rf"([0-9]{{1,2}}[.,])\s+({YEAR}\b.*)")
_VERSION_BEGUN = re.compile(r".*\S\s+[vV][0-9]{1,3}\.")
_VERSION_GOES_ON = re.compile(r"[0-9]+(?:\.[0-9]+)*\W*")
_DAY_LAST = re.compile(r".*\bon [0-9]{1,2}")
_BEFORE_IDENTIFIER = re.compile(
    r"(?<=[\w.,;)])\s+(?=[\[(]?(?:[Bb]ib[Cc]ode|ISSN|ISBN|S2CID|PMID|PMC|JSTOR|OCLC|LCCN|[Hh]dl|arXiv|DOI|doi)\b)"
)
_LABELS = {"isbn": "isbn", "issn": "issn"}
_PENDING_BEHIND = re.compile(r"(.*[\w.,&])\s+(\([^()]{3,30}\)\W*)")
_PENDING_LAST = re.compile(r"(.*\w[.,])\s+([^\W\d_]{2,8} ?[^\W\d_]{5,}\.?)\s*")
_SERIES = re.compile(r".*\bSer(?:ies|\.)\W*|.*\bLecture Notes in .*")
_NUMBERED_SERIES = re.compile(
    r"((?:[Ii]n:? )?[A-ZÀ-Þ][^:;]*\bSer(?:ies|\.),?)\s+((?:[Vv]ol\.? )?[0-9]{1,5},)\s+([A-ZÀ-Þ].{7,})"
)
_VOLUME_OF_TITLE = re.compile(r"(?:Vol|Volume|Bd|Band|Part)\b.*")
_CITED_PAGE = re.compile(r"[0-9]{1,5},\s*")


def number_in_pages(pairs: Pairs, labels: Labels, k: int) -> Pairs | None:
    """Take a DOI off the pages at k, or leave the number of an article with them; None if neither is there."""
    if "10." in pairs[k][1] and "url" not in labels and "doi" not in labels[:k]:
        return _doi_behind_pages(pairs, k)
    return _numbered_pages(pairs, k) if k and labels[k - 1] in ("volume", "issue") else None


def _doi_behind_pages(pairs: Pairs, k: int) -> Pairs | None:
    """Cut the DOI off "13: 55-10.1186/1471-2229-13-55", as publishers of medicine print it."""
    text = pairs[k][1]
    if found := _PAGES_AND_DOI.fullmatch(text):
        return cut(pairs, k, found, "pages", "doi")
    half = _PAGES_AND_HALF.fullmatch(text)
    if half and k + 1 < len(pairs) and _HALF_OF_DOI.match(pairs[k + 1][1]):
        return [*pairs[:k], ("pages", half[1]), ("doi", f"10.{pairs[k + 1][1]}"), *pairs[k + 2 :]]
    return None


def _year_as_volume(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read (2015) ... J Fen Res | 2015: | 762506 as a volume and a page: the date is there already."""
    k = row_at(labels, "container-title", "date", "pages") + 1
    found = _YEAR_AND_COLON.fullmatch(pairs[k][1])
    again = found and any(found[1] in text for label, text in pairs[:k] if label == "date")
    return changed(pairs, k, ("volume", pairs[k][1])) if again else None


def _issue_of_year(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 3/ | 2006: as the third issue of a year."""
    k = row_at(labels, "volume", "date")
    slashed = _ISSUE_OF_YEAR.fullmatch(pairs[k][1].strip()) and _YEAR_FIRST.match(pairs[k + 1][1])
    return changed(pairs, k, ("issue", pairs[k][1])) if slashed else None


def _numbered_pages(pairs: Pairs, k: int) -> Pairs | None:
    """Read 12: | 1-12:20 and 14. | 1–14.10 as the pages of an article that has a number."""
    first, last = _NUMBER_AND_MARK.fullmatch(pairs[k - 1][1]), _TO_NUMBERED.fullmatch(pairs[k][1])
    if not first or not last or first.groups() != last.groups():
        return None
    return [*pairs[: k - 1], ("pages", pairs[k - 1][1].strip() + pairs[k][1]), *pairs[k + 1 :]]


def _page_behind_cue(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "1922, | S. | 1765." as a page, though it looks like a year."""
    k = row_at(labels, "pages", "date")
    cue = _ONLY_CUE.fullmatch(pairs[k][1]) and _NUMBER.fullmatch(pairs[k + 1][1])
    return joined(pairs, k, "pages") if cue else None


def _archive_number(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read [2008. | 01442] as the number of a preprint."""
    k = len(labels) - 1 - labels[::-1].index("date")
    last = labels[k + 1 : k + 2] == ("pages",) and _MONTHLY.fullmatch(pairs[k][1].strip())
    if not last or not _SERIAL.fullmatch(pairs[k + 1][1]):
        return None
    return [*pairs[:k], ("note", pairs[k][1].strip() + pairs[k + 1][1]), *pairs[k + 2 :]]


def _preprint_as_pages(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read (2022), | 2203.13739. as the number of a preprint: nothing is there that has pages."""
    k = labels.index("pages")
    return changed(pairs, k, ("note", pairs[k][1])) if _PREPRINT.fullmatch(pairs[k][1]) else None


def _year_of_series(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the year of "ser. HEDGE ' | 17." with the meeting."""
    k = row_at(labels, "collection-title", "volume")
    short = pairs[k][1][-1:] in "'’‘" and _SHORT_YEAR.fullmatch(pairs[k + 1][1])
    return changed([*pairs[:k], *pairs[k + 1 :]], k, (labels[k], pairs[k][1] + pairs[k + 1][1])) if short else None


def _behind_edition(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "2nd ed., Chap. 11.05," behind the edition."""
    k = labels.index("edition")
    return cut(pairs, k, _EDITION_AND_PART.fullmatch(pairs[k][1]) if "," in pairs[k][1] else None, "edition", "note")


def _plates_behind_pages(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "45 p., 2 | pls., scale 1:24,000." as pages and what is there besides."""
    k = row_at(labels, "pages", "note")
    found = _PAGES_AND_COUNT.fullmatch(pairs[k][1].strip()) if _PLATES.match(pairs[k + 1][1]) else None
    if found is None:
        return None
    return [*pairs[:k], ("pages", found[1]), ("note", f"{found[2]} {pairs[k + 1][1]}"), *pairs[k + 2 :]]


def _issue_behind_year(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read «Rivista», XLII, | 2014, | 3, | pp. 123-126 as Italians cite: the second number is the issue."""
    k = row_at(labels, "volume", "date", "volume", "pages") + 2
    return changed(pairs, k, ("issue", pairs[k][1])) if _SMALL.fullmatch(pairs[k][1]) else None


def _number_of_series(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the number of "Вестник болот. Сер. | 3. 2014." with the journal."""
    k = row_at(labels, "container-title", "date")
    found = _NUMBER_AND_YEAR.fullmatch(pairs[k + 1][1]) if pairs[k][1].endswith(_SERIES_OF_JOURNAL) else None
    if found is None:
        return None
    return [*pairs[:k], (labels[k], f"{pairs[k][1]} {found[1]}"), ("date", found[2]), *pairs[k + 2 :]]


def _version_of_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the version of "hedge-lib v1. | 2.3," in one piece, with its name."""
    k = row_at(labels, "title", "edition")
    begun = _VERSION_GOES_ON.fullmatch(pairs[k + 1][1]) and _VERSION_BEGUN.fullmatch(pairs[k][1])
    return [*pairs[:k], ("title", pairs[k][1] + pairs[k + 1][1]), *pairs[k + 2 :]] if begun else None


def _day_of_archiving(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the month of "Archived from the original on 3 | June 2001." with its day."""
    k = row_at(labels, "note", "date")
    words = pairs[k + 1][1].split()
    day = _DAY_LAST.fullmatch(pairs[k][1].rstrip()) and words and is_month(words[0])
    return joined(pairs, k, "note") if day else None


def _identifiers(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "Bibcode:1999GaRev. doi:10.1000/182. ISSN 0028-0836.", as Wikipedia has it, into one field each."""
    k = labels.index("doi")
    if " " not in pairs[k][1]:
        return None
    parts = _BEFORE_IDENTIFIER.split(pairs[k][1])
    if len(parts) == 1:
        return None
    each = [("doi" if find_doi(part) else _label_of(part), part) for part in parts]
    return [*pairs[:k], *each, *pairs[k + 1 :]] if any(label == "doi" for label, _ in each) else None


def _label_of(part: str) -> str:
    """Return the label of an identifier that begins with its name."""
    return _LABELS.get(part.lstrip("[( ")[:4].lower().strip(":. "), "note")


def _pending_behind_names(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take "(in press)" and "Forthcoming." off the end of the names."""
    k = labels.index("author")
    text = pairs[k][1].rstrip()
    if text[-1:] not in ").":
        return None
    pattern = _PENDING_BEHIND if ")" in text[-3:] else _PENDING_LAST
    found = pattern.fullmatch(text)
    return cut(pairs, k, found, "author", "note") if found and is_pending(found[2]) else None


def _series_and_book(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "in Fen Conference Series, | Vol. 12, | Hedges III," as a series, its volume and the book."""
    k = row_at(labels, "container-title", "volume", "container-title")
    return changed(pairs, k, ("collection-title", pairs[k][1])) if _SERIES.fullmatch(pairs[k][1]) else None


def _series_in_container(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "in Fen Conf. Ser. 180, Hedges of the North II," into series, volume and book."""
    k = labels.index("container-title")
    found = _NUMBERED_SERIES.fullmatch(pairs[k][1]) if "Ser" in pairs[k][1] else None
    if found is None:
        return None
    named = [("collection-title", found[1]), ("volume", found[2]), ("container-title", found[3])]
    return [*pairs[:k], *named, *pairs[k + 1 :]]


def _volume_of_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the number of "Tables of Soils, | Vol. 2. | J. Fen | 23" with the title: the journal has its own."""
    k = row_at(labels, "title", "volume", "container-title", "volume")
    return joined(pairs, k, "title") if _VOLUME_OF_TITLE.match(pairs[k + 1][1]) else None


def _cited_in_report(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read (1999) | 62 | MLR | 123, | 125 as volume, journal, the first page and the one that is cited."""
    k = row_at(labels, "date", "volume", "container-title", "volume", "pages") + 3
    both = pairs[k - 3][1][:1] in "([" and _CITED_PAGE.fullmatch(pairs[k][1])
    return joined(pairs, k, "pages") if both else None


MISPLACED: Mends = (
    (row_of("container-title", "date", "pages", without=("volume",)), _year_as_volume),
    (row_of("volume", "date", without=("issue",)), _issue_of_year),
    (lambda labels: labels.count("date") > 1 and row_at(labels, "pages", "date") >= 0, _page_behind_cue),
    (lambda labels: labels.count("date") > 1 and row_at(labels, "date", "pages") >= 0, _archive_number),
    (lambda labels: labels.count("date") > 1 and row_at(labels, "note", "date") >= 0, _day_of_archiving),
    (all_of("doi"), _identifiers),
    (row_of("pages", "note"), _plates_behind_pages),
    (
        lambda labels: (
            labels.count("date") == 1 and row_of("volume", "date", "volume", "pages", without=("issue",))(labels)
        ),
        _issue_behind_year,
    ),
    (row_of("container-title", "date"), _number_of_series),
    (row_of("title", "edition"), _version_of_title),
    (all_of("pages", without=("container-title", "volume", "publisher")), _preprint_as_pages),
    (row_of("collection-title", "volume"), _year_of_series),
    (all_of("edition", without=("note",)), _behind_edition),
    (all_of("author", without=("date",)), _pending_behind_names),
    (row_of("container-title", "volume", "container-title"), _series_and_book),
    (all_of("container-title", without=("volume", "collection-title")), _series_in_container),
    (row_of("title", "volume", "container-title", "volume"), _volume_of_title),
    (row_of("date", "volume", "container-title", "volume", "pages"), _cited_in_report),
)
