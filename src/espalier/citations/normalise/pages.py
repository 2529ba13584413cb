"""Pages: "pp. 101-8" -> 101 to 108.

Normal forms: words for "page" go, dashes of ranges are en dashes without spaces, full-width digits and signs are
the usual ones, and a shortened last page is written out by the first page's leading digits and letter ("101-8" ->
101, 108; "S12-8" -> S12, S18) if that gives a later page. "12ff", "12 et seq" and their like have no last page, and
stay as they are in the text. Linear time.
"""

from __future__ import annotations

import re

from espalier.citations.normalise.text import collapse, narrow, trim
from espalier.citations.work import Pages

__all__ = ["parse_pages"]

_CUE = re.compile(
    r"(?:(?:pages?|pgs?|seiten?|p[aá]g(?:ina)?s?|pagin[ae]|blz|bladzijden|ss|str|стр|с|fols?)(?!\w)|pp?(?![^\W\d])"
    r"|s(?=\.? )|s\.|article(?: (?:number|no\.?|id))?(?=[ :])|art\.(?: (?:no|nr)\.)?(?= ?\w)|paper(?=[ :]))[.:]? ?",
    re.IGNORECASE,
)
_COUNT = re.compile(r"[\w, ]+ ?\b(?:pages?|pp?|seiten|pgs?|p[aá]g(?:ina)?s?|s|bl)\b\.?|[0-9]+ ?[页頁]", re.IGNORECASE)
_DASH = re.compile(r" ?(?:[-‐‑−]{2,3}|[–—]+|[~〜]) ?|(?<=\w) (?:to|bis|à) (?=\w)|(?<=[0-9]) al? (?=[0-9])")
_HYPHEN = re.compile(r" ?[-‐‑−] ?")
_CHINESE = re.compile("第([^页頁]+)[页頁]|([^页頁]*[0-9] ?[-–—~〜][^页頁]*)[页頁]")
_FOLLOWING = r"(?:ff?|(?:(?:et|e|y) )?(?:seqq?|sqq?|segg?|ss|suiv(?:antes?)?)|(?:and )?following|и след|passim)\b"
_AND_FOLLOWING = re.compile(rf"(.*[0-9]|[ivxlcdm]+(?= ))((?<=[0-9])ff?|,? {_FOLLOWING}| ?\+)", re.IGNORECASE)
_ROMAN = re.compile("[ivxlcdm]+", re.IGNORECASE)
_LONGEST = 500  # characters; what is longer is no list of pages, and is not searched for one
_PLAIN = re.compile(r"(?:pages? |pp?[.:]? ?)?([0-9]{1,9})(?:([-–])([0-9]{1,9}))?\.?[,;:]?")  # what nearly all pages are
_SEVERAL = re.compile(rf"\s*(?:[,;&]| (?:and|und|et|y|e|u\.) )(?!\s*{_FOLLOWING})\s*")
_WORD = re.compile(r"\w+")
_PAGE = re.compile(r"[^\W_]+(?:[.:/-][^\W_]+)*\*?")
_NUMBERED = re.compile(r"([^\W\d_]*)([0-9]+)([^\W\d_]*)")


def parse_pages(text: str) -> Pages | None:
    """Return the pages that a text names, None if there is nothing but punctuation.

    A plain range has a first and a last page, a single page or an article number a first only, a list of pages a
    first and its whole text; a number of pages and whatever cannot be read is its text only.
    """
    if found := _PLAIN.fullmatch(text):
        first, dash, last = found.groups()
        if not dash:
            return Pages(first, "", first)
        if dash == "–" or _is_range(first, last):
            last = _written_out(first, last)
            return Pages(first, last, f"{first}–{last}")
    plain = trim(narrow(text))
    if not any(sign.isalnum() for sign in plain):
        return None
    if len(plain) > _LONGEST:
        return Pages("", "", plain)
    if chinese := _CHINESE.fullmatch(plain):
        plain = chinese[1] or chinese[2]
    cue = _CUE.match(plain)
    body = plain[cue.end() :] if cue else plain
    if not any(map(str.isdigit, body)) and not any(map(_ROMAN.fullmatch, _WORD.findall(body))):
        return Pages("", "", plain)
    if cue is None and _COUNT.fullmatch(plain):
        return Pages("", "", collapse(text).strip(" ,;:()。，"))
    ranges = [_range(part) for part in _SEVERAL.split(body)]
    known = [found for found in ranges if found]
    if len(known) < len(ranges):
        return Pages("", "", plain)
    first, last, _ = known[0]
    return Pages(first, last if len(known) == 1 else "", ", ".join(found.text for found in known))


def _range(text: str) -> Pages | None:
    """Return the first and last page of one range, or one page; None if it cannot be read."""
    text = text.strip(" .:")
    if repeated := _CUE.match(text):
        text = text[repeated.end() :]
    if found := _AND_FOLLOWING.fullmatch(text):
        pages = _range(found[1])
        return Pages(pages.first, "", pages.text + found[2]) if pages else None
    ends = _DASH.split(text, maxsplit=1)
    if len(ends) == 1:
        ends = _HYPHEN.split(text)
        if len(ends) != 2 or not _is_range(*ends):
            ends = [text]  # a hyphen inside the name of a page
    ends = [_CUE.sub("", end, count=1) if _CUE.match(end) else end for end in ends]
    if not all(_PAGE.fullmatch(end) for end in ends):
        return None
    if len(ends) == 1:
        return Pages(ends[0], "", ends[0])
    first, last = ends[0], _written_out(*ends)
    return Pages(first, last, f"{first}–{last}")


def _is_range(first: str, last: str) -> bool:
    """Tell whether a hyphen stands between two pages: not in "A-12", and not in "1999-3", where it would go back."""
    if first.isascii() and last.isascii() and first.isdigit() and last.isdigit():
        return int(first) <= int(_written_out(first, last))
    return any(map(str.isdigit, first)) or _ROMAN.fullmatch(first) is not None


def _written_out(first: str, last: str) -> str:
    """Return the last page with what it shares with the first, if it is shortened."""
    if len(first) == len(last) and first.isdecimal() and last.isdecimal():
        return last
    a, b = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if not a or not b or a[3] or b[3] or (b[1] and b[1] != a[1]) or len(b[2]) > len(a[2]):
        return last
    digits = a[2][: len(a[2]) - len(b[2])] + b[2]
    # Equal lengths compare as numbers do.
    return a[1] + digits if digits > a[2] else last
