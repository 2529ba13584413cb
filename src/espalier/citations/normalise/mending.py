"""Mistakes of labels that the labels beside them give away, mended before fields are read.

A record shows what the model said, its work what the reference means. Here a field goes to another label, or is cut in
two, where no other reading is left: a second number of pages before the date is the issue, a key before the names is no
name, and the "Vgl. auch" of a footnote is a note. Nothing is lost or invented: the texts, put together, are those of
the fields. Most references have nothing to mend, and pay for a look at their labels only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from espalier.citations.normalise.dates import is_month, parse_date
from espalier.citations.normalise.lexicon import MEETINGS
from espalier.citations.normalise.numbers import count_pages, count_volumes, parse_version
from espalier.citations.normalise.text import remembered

__all__ = ["mended"]

Pairs = list[tuple[str, str]]
"""Labels and texts of fields, in order."""
Labels = tuple[str, ...]
_Mend = Callable[[Pairs, Labels], "Pairs | None"]

_YEAR = r"(?:1[5-9]|20)[0-9]{2}[a-z]?"
_KEY = re.compile(
    r"[^\W\d_][\w'’-]*(?:(?:,| and| &| und| et)? [^\W\d_][\w'’-]*)? ?(?:et al\.?)?,? ?"
    rf"[(\[]?{_YEAR}[)\]]?\s*[:—–=-]+\s*(?=\w)"
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
    rf"(?:{_MORE}|:?\s+)(?=[^\W\d_])|(?:[Ss]ee|[Zz]ie)(?:{_MORE}(?=[^\W\d_])|:?\s+(?={_IN_FULL})))"
)
_DIGIT = re.compile("[0-9]")
_ALONE = re.compile(r"\W*[0-9]{1,4}\W*")
_ROMAN = re.compile(r"[ivxlc]+\s*[,+]?\s*")
_ZIP = re.compile(r"[0-9]{5}(?:-[0-9]{4})?\W*")
_DAY = re.compile(r"([0-9]{1,2}\s*;)\s*(?=[0-9])")
_DATE_AND_PAGE = re.compile(rf"(.*\b{_YEAR}[.,:;])\s*([0-9]{{1,5}}(?:\s?[-–]\s?[0-9]{{1,5}})?\W*)")
_HOUSE = re.compile(r"([^:]{2,40}:)\s+([^:]{2,}\W*)")
_HOUSE_WORD = re.compile(
    r"\b(?:foundation|institut\w*|universi\w+|ministr?y|ministerium|agency|corporation|society|association|press|verlag"
    r"|gmbh|inc|ltd)\b"
)
_BRACKETED = re.compile(r"(.*\S)\s*([(\[][^()\[\]]{2,40}[)\]]\W*)")
_VOLUMES = re.compile(r"(.*\S[.,;:])\s*(\(?(?:in )?\w{1,6}\s(?:vols?|volumes|Bde|Bänden?|tom[eio]s?|voll|delen)\b\W*)")
_ENDS_IN_VOLUMES = ("vol", "vols", "volumes", "Bde", "Bände", "Bänden", "tomes", "tomos", "tomi", "voll", "delen")
_ENDS_AS_THESIS = ("thesis", "dissertation", "Dissertation", "tutkielma", "gradu", "väitöskirja", "arbeit", "thèse")
_THESIS = re.compile(
    r"(.{4,}?[.!?][\"”»’]?)\s+((?:(?:[Uu]npublished )?(?:Ph\.? ?D\.?|[Dd]octoral|[Mm]aster[’']?s?|M\.?Sc\.?|M\.?A\.?"
    r"|B\.?Sc\.?|B\.?A\.?|[Bb]achelor[’']?s?) (?:thesis|dissertation)|Dissertation"
    r"|(?:Diplom|Doktor|Master|Bachelor)arbeit|Pro gradu(?: ?-? ?tutkielma)?|Väitöskirja|Thèse(?: de doctorat)?)\W*)"
)
_ENDS_AS_EDITION = ("Aufl", "Auflage")
_EDITION = re.compile(r"(.{4,}?[.!?,:;][\"”»’]?)\s+([0-9]{1,2}\.,?\s+(?:[\w-]+\.?,?\s+){0,7}?Aufl(?:age)?\b\W*)")
_PACKAGE = re.compile(r"(.*?)\s*(\(?\b(?:R|Python|Stata|MATLAB) package,? version\b.*)", re.DOTALL)
_SERIES_AND_VOLUME = re.compile(r"([0-9]+\)[,.]?)\s+((?:vol|bd|band|tome?|tomo|t)\b.*)", re.IGNORECASE)
_NAME_BEFORE_QUOTED = re.compile(r"([^\"“”]{3,80}[.,:])\s+([\"“][^\"“”]+[\"”]\W*)")
_HANDLE = re.compile(r"\W*@\w+\W*")
_ABOUT = re.compile(r"(.*\w,?)\s+((?:ca|c|circa|um)\.?\s*)")
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
_REVIEW = re.compile(r"MR\s?(?:MR)?[0-9]{5,7}\W*(?:\([0-9]{4}[a-z]:[0-9]+\)\W*)?")
_BEFORE_REVIEW = re.compile(rf"(.*\w[.,;]?)\s+({_REVIEW.pattern})")
_WORD = re.compile(r"\w+")
_TITLES = ("title", "container-title")
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
    for _, mend in _MENDS:
        labels = tuple([label for label, _ in pairs])
        if mend in _asked(labels):
            pairs = mend(pairs, labels) or pairs
    return pairs


@lru_cache(maxsize=4096)
def _asked(labels: Labels) -> tuple[_Mend, ...]:
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
    found = _LEAD.match(text)
    if not found:
        return None
    return [*pairs[:k], ("note", found[0].rstrip()), ("author", text[found.end() :]), *pairs[k + 1 :]]


def _issue_before_date(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 23, 107 (Jul. 1969), 683 as volume, issue, date, page."""
    k = _place(labels, "volume", "pages", "date", "pages") + 1
    return _changed(pairs, k, ("issue", pairs[k][1])) if _ALONE.fullmatch(pairs[k][1]) else None


def _page_as_issue(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 716, 1 (2012) as volume, page, date: physics has no issues there."""
    k = _place(labels, "volume", "issue", "date") + 1
    bare = _ALONE.fullmatch(pairs[k][1]) and "(" not in pairs[k][1] and pairs[k + 1][1][:1] == "("
    return _changed(pairs, k, ("pages", pairs[k][1])) if bare else None


def _number_of_series(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the first number of "(Handbücher | 20), vol. 2," with the series."""
    k = _place(labels, "collection-title", "volume")
    found = _SERIES_AND_VOLUME.fullmatch(pairs[k + 1][1])
    if found is None:
        return None
    return [*pairs[:k], (labels[k], f"{pairs[k][1]} {found[1]}"), ("volume", found[2]), *pairs[k + 2 :]]


def _pages_apart(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 36 | 1200 | 1210, without marks between them, as the first page and the last."""
    k = _place(labels, "pages", "pages")
    first, last = pairs[k][1], pairs[k + 1][1].rstrip(" .")
    rises = first.isdecimal() and last.isdecimal() and int(first) < int(last)
    return _joined(pairs, k, "pages") if rises else None


def _review_number(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take a number of Mathematical Reviews off the pages: "2725–2809. MR 3687107"."""
    k = len(labels) - 1 - labels[::-1].index("pages")
    text = pairs[k][1]
    if k and pairs[k - 1][1].endswith("MR") and _REVIEW.fullmatch(f"MR {text}"):
        before = pairs[k - 1][1].removesuffix("MR").rstrip()
        kept = [(labels[k - 1], before)] if before else []
        return [*pairs[: k - 1], *kept, ("note", f"MR {text}"), *pairs[k + 1 :]]
    found = _BEFORE_REVIEW.fullmatch(text) if "MR" in text else None
    return _cut(pairs, k, found, "pages", "note")


def _page_after_volume(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 410 U.S. 113 as volume, container, page."""
    k = _place(labels, "volume", "container-title", "volume") + 2
    return _changed(pairs, k, ("pages", pairs[k][1]))


def _zip_code(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Put the 02139 of "Cambridge, MA 02139" back to the place, if there is another date."""
    k = _place(labels, "location", "date")
    return _joined(pairs, k, "location") if _ZIP.fullmatch(pairs[k + 1][1]) else None


def _roman_pages(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read xii, 432 pp. as one number of pages."""
    k = _place(labels, "volume", "pages")
    first = pairs[k][1]
    roman = first[0] in "ivxlc" and _ROMAN.fullmatch(first) and count_pages(pairs[k + 1][1])
    return _joined(pairs, k, "pages") if roman else None


def _day_in_volume(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read 2003 nov. | 12;52(4) as a day and a volume."""
    k = _place(labels, "date", "volume")
    found = _DAY.match(pairs[k + 1][1]) if ";" in pairs[k + 1][1] else None
    if not found or not is_month(pairs[k][1].strip(" .,;")[4:]):
        return None
    date, volume = f"{pairs[k][1]} {found[1]}", pairs[k + 1][1][found.end() :]
    return [*pairs[:k], ("date", date), ("volume", volume), *pairs[k + 2 :]]


def _meeting_and_year(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the year of "ECAI 94" with the meeting."""
    k = _place(labels, "container-title", "volume")
    container, year = pairs[k][1], pairs[k + 1][1]
    if len(year) > 6 or container[:2].lower() != "in" or len(year := year.strip(" .,;:'’")) != 2 or not year.isdigit():
        return None
    date, last = parse_date(pairs[labels.index("date")][1]), container.split()[-1]
    same = date is not None and bool(date.parts) and date.parts[0][0] % 100 == int(year)
    return _joined(pairs, k, "container-title") if same and last.isupper() and last.isalpha() else None


def _place_in_name(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the USA of "Proc Natl Acad Sci USA" with the journal: no mark stands between them."""
    k = _place(labels, "container-title", "location")
    name, place = pairs[k][1], pairs[k + 1][1]
    bare = name[-1:].isalnum() and place[:1].isalnum() and place.rstrip()[-1:] != ":"
    if not bare or name[:3].lower() == "in ":
        return None
    meeting = "volume" not in labels and not MEETINGS.isdisjoint(_WORD.findall(name.lower()))
    return None if meeting else _joined(pairs, k, "container-title")


def _house_as_container(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "R Foundation for Statistical Computing, | Vienna" as a publisher: nothing of a journal or book is there."""
    k = _place(labels, "container-title", "location")
    name = pairs[k][1].lower()
    inside = "title" not in labels[:k] or name[:3] in ("in ", "in:")
    if inside or not _HOUSE_WORD.search(name) or not MEETINGS.isdisjoint(_WORD.findall(name)):
        return None
    return _changed(pairs, k, ("publisher", pairs[k][1]))


def _place_behind(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take the place off a journal's name where names in capitals and "v. 28" show the style of ABNT."""
    k = labels.index("container-title")
    if not pairs[k + 1][1].startswith(("v.", "n.", "ano ", "V.")) or not _CAPITALS.match(
        pairs[labels.index("author")][1]
    ):
        return None
    return _cut(pairs, k, _PLACE_LAST.fullmatch(pairs[k][1]), "container-title", "location")


def _editors_in_container(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "Landscapes, ed. R. A. Shaw" into container and editors."""
    k = labels.index("container-title")
    return _cut(pairs, k, _editors_behind(pairs[k][1]), "container-title", "editor")


@remembered(longest=100)
def _editors_behind(text: str) -> re.Match[str] | None:
    return _BEHIND.fullmatch(text)


def _container_in_editors(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "in Storia di Prato, a cura di G. Cherubini" into container and editors."""
    k = labels.index("editor")
    return _cut(pairs, k, _MIDDLE.fullmatch(pairs[k][1]), "container-title" if "title" in labels else "title", "editor")


def _page_in_date(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "September 1994. 9" into date and page."""
    k = labels.index("date")
    found = _DATE_AND_PAGE.fullmatch(pairs[k][1]) if len(pairs[k][1]) > 6 else None
    date = parse_date(found[1]) if found else None
    return _cut(pairs, k, found, "date", "pages") if date and date.parts and not date.literal else None


def _tail_of_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Take (Version 2), "4 Bde." and "Pro gradu -tutkielma" off the end of a title."""
    k = labels.index("title")
    text = pairs[k][1]
    end = text.rstrip(" .,;:")
    if end[-1:] in (")", "]") and (found := _BRACKETED.fullmatch(text)) and parse_version(found[2]):
        return _cut(pairs, k, found, "title", "edition")
    if end.endswith(_ENDS_IN_VOLUMES) and "volume" not in labels and (found := _VOLUMES.fullmatch(text)):
        return _cut(pairs, k, found, "title", "volume") if count_volumes(found[2]) else None
    if end.endswith(_ENDS_AS_THESIS) and "genre" not in labels:
        return _cut(pairs, k, _THESIS.fullmatch(text), "title", "genre")
    if end.endswith(_ENDS_AS_EDITION) and "edition" not in labels:
        return _cut(pairs, k, _EDITION.fullmatch(text), "title", "edition")
    return None


def _package_version(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "Sands. R package version 2. | 8-19." as title and version; the rest of its number is read as anything."""
    k = labels.index("title")
    if "container-title" in labels and "ackage version" not in pairs[k][1]:
        k = labels.index("container-title")
    found = _PACKAGE.fullmatch(pairs[k][1]) if "ackage version" in pairs[k][1] else None
    if found is None:
        return None
    version, n = found[2], k + 1
    while n < len(pairs) and labels[n] in ("volume", "issue", "pages", "edition") and pairs[n][1][:1].isdigit():
        version, n = f"{version}{' ' * version[-1:].isalpha()}{pairs[n][1]}", n + 1
    kept = [(labels[k], found[1])] if found[1] else []
    return [*pairs[:k], *kept, ("edition", version), *pairs[n:]]


def _edition_as_names(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "... 3., | verb. u. erw. Aufl." as an edition; nobody is called so."""
    k = labels.index("translator")
    found = _EDITION.fullmatch(f"{pairs[k - 1][1]} {pairs[k][1]}") if k and "Aufl" in pairs[k][1] else None
    return [*pairs[: k - 1], (labels[k - 1], found[1]), ("edition", found[2]), *pairs[k + 1 :]] if found else None


def _year_in_title(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Leave the second year of "(2016). Libraries | 2016." with the title: no mark stands between them."""
    k = next((k for k in range(1, len(labels)) if labels[k] == "date" and labels[k - 1] in _TITLES), 0)
    bare = k and "date" in labels[: k - 1] and pairs[k - 1][1][-1:].isalnum() and pairs[k][1][:1].isdigit()
    return _joined(pairs, k - 1, labels[k - 1]) if bare else None


def _container_as_publisher(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read "in: Ada Ho (Hrsg.): | Handbuch Bibliothek," as the book: what follows its editors is no publisher."""
    k = _place(labels, "editor", "publisher")
    inside = "title" in labels[:k] and pairs[k][1][:2].lower() == "in"
    return _changed(pairs, k + 1, ("container-title", pairs[k + 1][1])) if inside else None


def _page_as_container(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read what has an address, no title, and nothing that journals and books have, as the title of a page."""
    k = labels.index("container-title")
    return None if pairs[k][1][:2].lower() == "in" else _changed(pairs, k, ("title", pairs[k][1]))


def _name_before_quoted(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut 'Wikipedia contributors. "Dewey."' into author and title."""
    return _cut(pairs, 0, _NAME_BEFORE_QUOTED.fullmatch(pairs[0][1]), "author", "title")


def _handle(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read the first of two titles as a note if it is what somebody is called on the net: [@ho]."""
    k = labels.index("title")
    return _changed(pairs, k, ("note", pairs[k][1])) if _HANDLE.fullmatch(pairs[k][1]) else None


def _about(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Put the "ca." of "[Mainz, ca. | 1455]" to the date."""
    k = _place(labels, "location", "date")
    found = _ABOUT.fullmatch(pairs[k][1]) if pairs[k][1].rstrip(" .")[-1:] in "acm" else None
    if found is None:
        return None
    return [*pairs[:k], ("location", found[1]), ("date", f"{found[2]} {pairs[k + 1][1]}"), *pairs[k + 2 :]]


def _house_first(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Read an institution that stands first, where nobody else is named, as the author."""
    return [("author", pairs[0][1]), *pairs[1:]]


def _house_in_place(pairs: Pairs, labels: Labels) -> Pairs | None:
    """Cut "Leeds: Arbor;" into place and publisher."""
    k = labels.index("location")
    return _cut(pairs, k, _HOUSE.fullmatch(pairs[k][1]), "location", "publisher") if ": " in pairs[k][1] else None


def _changed(pairs: Pairs, k: int, pair: tuple[str, str]) -> Pairs:
    return [*pairs[:k], pair, *pairs[k + 1 :]]


def _joined(pairs: Pairs, k: int, label: str) -> Pairs:
    """Return the pairs with k and the next as one."""
    return [*pairs[:k], (label, f"{pairs[k][1]} {pairs[k + 1][1]}"), *pairs[k + 2 :]]


def _cut(pairs: Pairs, k: int, found: re.Match[str] | None, first: str, second: str) -> Pairs | None:
    """Return the pairs with k cut in two where something was found."""
    return [*pairs[:k], (first, found[1]), (second, found[2]), *pairs[k + 1 :]] if found else None


def _place(labels: Labels, *row: str) -> int:
    """Return where these labels stand one after the other, -1 if they do not."""
    n = len(row)
    return next((k for k in range(len(labels) - n + 1) if labels[k : k + n] == row), -1)


def _row(*row: str, without: tuple[str, ...] = ()) -> Callable[[Labels], bool]:
    """Return whether labels have these, one after the other, and none of others."""
    return lambda labels: _place(labels, *row) >= 0 and not any(label in labels for label in without)


def _all(*needed: str, without: tuple[str, ...] = ()) -> Callable[[Labels], bool]:
    """Return whether labels have all of these and none of others."""
    return lambda labels: all(label in labels for label in needed) and not any(label in labels for label in without)


def _dated(may: Callable[[Labels], bool]) -> Callable[[Labels], bool]:
    return lambda labels: "date" in labels and may(labels)


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
    return ("url" in labels or "accessed" in labels) and _all("container-title", without=("title", *_PRINTED))(labels)


# What the labels must be for each; texts are looked at only then.
_MENDS: tuple[tuple[Callable[[Labels], bool], _Mend], ...] = (
    (_row("volume", "pages", "date", "pages", without=("issue",)), _issue_before_date),
    (_row("volume", "container-title", "volume", without=("pages",)), _page_after_volume),
    (_row("volume", "issue", "date", without=("pages",)), _page_as_issue),
    (_row("collection-title", "volume"), _number_of_series),
    (_all("title"), _package_version),
    (_row("pages", "pages"), _pages_apart),
    (_all("pages"), _review_number),
    (lambda labels: labels.count("date") > 1 and _place(labels, "location", "date") >= 0, _zip_code),
    (lambda labels: labels[0] == "author" and len(labels) > 1 and "citation-number" not in labels, _key),
    (lambda labels: "author" in labels[: 1 + (labels[0] == "citation-number")], _lead),
    (_all("title"), _tail_of_title),
    (_row("volume", "pages"), _roman_pages),
    (_row("date", "volume"), _day_in_volume),
    (
        lambda labels: "date" in labels and _row("container-title", "volume", without=("issue",))(labels),
        _meeting_and_year,
    ),
    (_row("container-title", "location", without=("publisher",)), _place_in_name),
    (_row("container-title", "location", without=_PRINTED), _house_as_container),
    (_numbered_journal, _place_behind),
    (_all("container-title", without=("editor",)), _editors_in_container),
    (_all("editor", without=("container-title",)), _container_in_editors),
    (_all("date", without=("pages",)), _page_in_date),
    (_all("location", without=("publisher",)), _house_in_place),
    (_house_leads, _house_first),
    (_all("translator", without=("edition",)), _edition_as_names),
    (_row("editor", "publisher", without=("container-title",)), _container_as_publisher),
    (lambda labels: labels.count("date") > 1, _year_in_title),
    (_is_page, _page_as_container),
    (lambda labels: labels[0] == "title" and not {"author", "editor"} & set(labels), _name_before_quoted),
    (lambda labels: labels.count("title") > 1, _handle),
    (_row("location", "date"), _about),
)
