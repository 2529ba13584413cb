"""Numbers of all kinds: volume, issue, edition, version, pages, and how many of them there are.

Volume, issue, edition: "vol. 12, no. 3" -> 12 and 3, "Third edition" -> 3. Words for them go, ordinals become numbers;
everything else stays as it is written ("XII", "12-13", "Suppl. 1", "rev. ed."), but for full-width digits and signs,
which become the usual ones. Of two numbers at a stroke the second is the issue ("51/13"), unless they may be a double
volume ("51/52"). A month in brackets is no part of the number ("no. 3 (March)") and left to the date.

Pages: "pp. 101-8" -> 101 to 108. Words for "page" go, dashes of ranges are en dashes without spaces, full-width digits
and signs are the usual ones, and a shortened last page is written out by the first page's leading digits and letter
("101-8" -> 101, 108; "S12-8" -> S12, S18) if that gives a later page. "12ff", "12 et seq" and their like have no last
page, and stay as they are in the text. Spaces inside numbers go ("110 565–110 574"). What else stands around pages, the
place that is cited from them ("S. 5–33, hier S. 12"), their number ("075001 (7pp)"), the section of a newspaper or a
word behind them, does not hide them; a single page keeps it in its text.

The word may stand before or behind in either case: "LV. évf., 3. sz." is volume LV, issue 3, "45–68. o." are pages.
What `S.` and `C.` mean is told by the label: an issue that reads "S. 27" is number 27 of a Turkish journal.

How many: "432 p." are 432 pages, "2 vols" two volumes; the number behind the word is one of them ("p. 432", "vol. 2").
All in linear time.
"""

from __future__ import annotations

import re

from espalier.citations.languages import cues, entries, folded, numerals, signs
from espalier.citations.normalise.dates import is_month
from espalier.citations.normalise.text import collapse, narrow, remembered, trim
from espalier.citations.work import Pages

__all__ = [
    "count_leaves",
    "count_pages",
    "count_volumes",
    "month_beside",
    "parse_edition",
    "parse_issue",
    "parse_pages",
    "parse_version",
    "parse_volume",
    "patent_number",
    "report_number",
]

_AFTER_CUE = r"(?:\.:?|:| |(?=\d)) ?"
_VOLUME = rf"(?:{cues('volume')}){_AFTER_CUE}"
_ISSUE_WORDS = cues("issue")
_ISSUE = rf"(?:(?!n\. ?[sf]\b|s\b)(?:{_ISSUE_WORDS})){_AFTER_CUE}"  # but not the "n.s." of a new series
_NUMBER = r"[^\s,;()\[\]:/&–-]+(?: ?[-–/&] ?[^\s,;()\[\]:/&–-]+)*"
_BOTH = re.compile(
    rf"(?:{_VOLUME})?(?P<volume>{_NUMBER}) ?(?:[,;:] ?(?:{_ISSUE})|[(\[] ?(?:{_ISSUE})?|(?<=\d)[:.](?=\d)"
    rf"|(?<![^\W\d_]){_ISSUE})(?P<issue>[^()\[\],;]+)[)\]]?",
    re.IGNORECASE,
)
_STROKE = re.compile(
    r"(?i:(?:vol(?:ume)?|bd|band|jg|tom[eo]?|t|v)\.? ?)?([0-9]{1,6}|[IVX]|[IVXLCDM]{2,}) ?/ ?"
    rf"(?i:{_ISSUE})?((?i:suppl)\.? ?[0-9]*|[0-9]{{1,3}}(?: ?[-–] ?[0-9]{{1,3}})?)"
)
_VOLUME_BRACKETED = re.compile(r"\(([0-9]{2,4})\) ?([0-9]{1,3}(?:[-–][0-9]{1,3})?)")
_EASTERN = re.compile(
    rf"(?:[第제]? ?([0-9]+) ?[{signs('volume')}])?[, ]*(?:[第제]? ?([0-9]+(?: ?[-–.·] ?[0-9]+)?) ?[{signs('issue')}])?"
)
_SEVERAL_ISSUES = r"[0-9]+(?: ?[-–/] ?[0-9]+)?"
_VOLUME_BEHIND = re.compile(
    rf"^([0-9]+|[IVXLC]+)(?:\.|[eᵉ]|me|ème|º)? ?(?:{cues('volume', 'behind')})\b\.?", re.IGNORECASE
)
_ISSUE_BEHIND = re.compile(rf"({_SEVERAL_ISSUES})\. ?(?:{cues('issue', 'behind')})\b\.?", re.IGNORECASE)
# "S." is an issue beside a Turkish volume, and a page elsewhere.
_TURKISH = re.compile(rf"c(?:\.|ilt:?) ?([0-9]+|[IVXLC]+)[,;/]? ?s(?:\.|ay[ıi]:?) ?({_SEVERAL_ISSUES})", re.IGNORECASE)
_PAGES_AFTER = re.compile(r"[,;] ?pp?\W*$")  # 3, pp. | 12-15
# The number of a new series in brackets behind the volume is no issue: 12 (N.F. 3).
_SERIES_BESIDE = re.compile(
    rf"{_NUMBER} ?[(\[](?:n\. ?[sf]\.?|neue folge|new ser(?:ies|\.)|nuova serie) ?[0-9IVXLC]+[)\]]", re.IGNORECASE
)
_HERE = re.compile(r"(?:hier|here):? (?=\w)", re.IGNORECASE)
_BESIDE = re.compile(r"[(\[]([^\W\d_][^()\[\]]{1,30})[)\]]$")
_VOLUME_ALONE = re.compile(_VOLUME, re.IGNORECASE)
_ISSUE_ALONE = re.compile(rf"(?!n\. ?[sf]\b)(?:{_ISSUE_WORDS}){_AFTER_CUE}", re.IGNORECASE)
_ORDINALS = numerals("ordinals")
_ORDINAL = rf"[.:-]? ?(?:{'|'.join(map(re.escape, entries('suffixes')))})?"
_FOR_EDITION = f"(?:{cues('edition', 'behind')}|{cues('edition')}|[{signs('edition')}])"
_EDITION = re.compile(rf"(?:the |第 ?)?([^\W\d_]+|[0-9]{{1,3}}){_ORDINAL}\.? ?{_FOR_EDITION}?\.?", re.IGNORECASE)
_STOPPED_EDITION = re.compile(rf".*(?<!\w){_FOR_EDITION}", re.IGNORECASE | re.DOTALL)
_WORD_FIRST = re.compile(rf"{_FOR_EDITION}[.:]? ?([0-9]{{1,3}}){_ORDINAL}\.?", re.IGNORECASE)
_CHINESE_EDITION = re.compile("第 ?([一二三四五六七八九十]) ?版")
_BETWEEN = re.compile(r"[\s,;()\[\]]+")
_LONGEST = 200  # characters; what is longer is no number, and is not searched for one


@remembered(longest=24)
def parse_volume(text: str) -> tuple[str, str]:
    """Return the volume and, if the text names one too, the issue ("12(3)", "Bd. 5, H. 2"); "" where there is none."""
    plain = _split_month(text)[0]
    if plain.isascii() and plain.isdigit():
        return plain, ""
    if here := _HERE.match(plain):
        plain = plain[here.end() :]
    behind = _VOLUME_BEHIND.match(plain)
    if behind:
        rest = plain[behind.end() :]
        if found := _ISSUE_BEHIND.fullmatch(rest.strip(" ,;")):
            return behind[1], found[1]
        plain = trim(behind[1] + rest)
    if found := _TURKISH.fullmatch(plain):
        return found[1], found[2]
    if plain[-1:] in ")]" and len(plain) <= _LONGEST and _SERIES_BESIDE.fullmatch(plain):
        return plain, ""
    if len(plain) <= _LONGEST and (found := _BOTH.fullmatch(plain)):
        return found["volume"], trim(found["issue"])
    if (found := _EASTERN.fullmatch(plain)) and any(found.groups()):
        return found[1] or "", found[2] or ""
    if found := _ISSUE_BEHIND.fullmatch(plain):
        return "", found[1]
    if plain[:1] == "(" and (found := _VOLUME_BRACKETED.fullmatch(plain)):
        return found[1], found[2]
    if (found := _STROKE.fullmatch(plain)) and not _is_double(found[1], found[2]):
        return found[1], found[2]
    if _ISSUE_ALONE.match(plain) and not _VOLUME_ALONE.match(plain):
        return "", _without(_ISSUE_ALONE, plain)
    return _without(_VOLUME_ALONE, plain), ""


@remembered(longest=24)
def parse_issue(text: str) -> str:
    """Return the issue without its word and brackets; "" if there is nothing but punctuation."""
    plain = _split_month(text)[0]
    plain = _PAGES_AFTER.sub("", plain)
    found = _EASTERN.fullmatch(plain)
    if found and found[2] and not found[1]:
        return found[2]
    if found := _ISSUE_BEHIND.fullmatch(plain):
        return found[1]
    return _without(_ISSUE_ALONE, plain)


@remembered(longest=24)
def month_beside(text: str) -> str:
    """Return the month or season that stands in brackets after a volume or issue, "" if there is none."""
    return _split_month(text)[1]


def _split_month(text: str) -> tuple[str, str]:
    """Return a volume or issue with the usual signs and nothing around it, and the month in brackets after it."""
    plain = trim(narrow(text)).strip(" /")
    found = _BESIDE.search(plain[-_LONGEST:]) if plain.endswith((")", "]")) else None
    if not found or not is_month(found[1]):
        return plain, ""
    return trim(plain[: -len(found[0])]), found[1]


def _is_double(first: str, second: str) -> bool:
    """Tell whether a stroke may stand between two volumes or years: 51/52, 1998/99."""
    if not first.isdigit() or not second.isdigit():
        return False
    following = str(int(first) + 1)
    return following == second or (len(following) == 4 and following.endswith(second) and len(second) == 2)


def _without(cue: re.Pattern[str], text: str) -> str:
    found = cue.match(text)
    rest = trim(text[found.end() :]) if found else text
    rest = rest[:1] if len(rest) == 2 and rest[1] == "." else rest  # Vol. I.
    # "T" or "V" alone is a volume's letter, and so is the T of "T-5".
    return rest if any(sign.isalnum() for sign in rest) else text if any(map(str.isalnum, text)) else ""


def parse_edition(text: str) -> str:
    """Return the number of an edition if the text says just that ("2nd ed." -> "2"), else the text ("rev. ed.")."""
    plain = trim(narrow(text))
    if f"{plain}." in text and _STOPPED_EDITION.fullmatch(plain[-_LONGEST:]):
        plain += "."
    if found := _WORD_FIRST.fullmatch(plain):
        return found[1]
    if found := _CHINESE_EDITION.fullmatch(plain):
        return _ORDINALS[found[1]]
    found = _EDITION.fullmatch(plain[: _LONGEST + 1])
    if found and found[1].isdigit():
        return found[1]
    if found and (ordinal := _ORDINALS.get(folded(found[1]))):
        return ordinal
    return plain if any(map(str.isalnum, plain)) else ""


_VERSION = re.compile(
    r"(?:[^\W\d_]{1,12} (?:package|library|module|program|software),? )?"
    r"(?:v(?:er[^\W\d_]{0,6})?\.?|версия) ?([0-9]+(?:\.[0-9]+)*[\w.-]*)",
    re.IGNORECASE,
)


def parse_version(text: str) -> str:
    """Return the version that a text names and nothing else ("Version 1.2.", "R package version 0.4-1"), else ""."""
    plain = trim(text)
    found = _VERSION.fullmatch(plain) if len(plain) <= _LONGEST else None
    return found[1].rstrip(".-") if found else ""


_VOLUMES = re.compile(
    rf"(?:in )?([0-9]{{1,3}}|[^\W\d_]{{2,6}}) ?(?:{cues('volumes', 'behind')})\.?(?: in (?:one|[0-9]))?", re.IGNORECASE
)
_FEW = numerals("few", 2)


@remembered(longest=24)
def count_volumes(text: str) -> str:
    """Return how many volumes a work has ("2 vols", "in drei Bänden"), "" where the text names one of them."""
    plain = trim(text)
    found = _VOLUMES.fullmatch(plain) if len(plain) <= _LONGEST else None
    if not found:
        return ""
    return found[1] if found[1].isdigit() else _FEW.get(folded(found[1]), "")


def report_number(text: str) -> str:
    """Return the last word with a digit in it ("Technical Report CS-94-12" -> "CS-94-12"), "" if there is none."""
    found = [word for word in _BETWEEN.split(text) if any(map(str.isdigit, word))]
    return trim(found[-1]) if found else ""


_PATENT = re.compile(r"(?:\b[A-Z]{2}[ -]?)?(?<![0-9])[0-9][0-9,./ ]{3,18}[0-9](?: ?[A-Z][0-9]\b)?")


def patent_number(text: str) -> str:
    """Return the first long number, with the country before it ("US Patent 5,123,456" -> "5,123,456"), else ""."""
    found = _PATENT.search(text[:_LONGEST])
    return found[0].strip(" ,.") if found else ""


_CUE = re.compile(
    rf"(?:pages?(?=[0-9])|pp?(?![^\W\d])|(?:{cues('pages')})(?!\w)|(?:{cues('article')})(?=[ :.] ?\w))"
    r"[.:,]? ?",
    re.IGNORECASE,
)
_COUNT_WORDS = rf"(?:{cues('count', 'behind')})"
_COUNT = re.compile(
    rf"([\w,+ ]*\w) ?\b{_COUNT_WORDS}\b\.?"
    rf"|((?:[ivxlc]+ ?[-–] ?|\[[0-9ivxlc]+\][,+ ]+)[0-9]+) ?{_COUNT_WORDS}\b\.?"
    rf"|((?:[ivxlc]+[,+ ]+)?[0-9]+)(?: ?[{signs('count')}]|(?-i:pp?|стр|с)\b\.?)",
    re.IGNORECASE,
)
_LETTERED_ALONE = re.compile("P[0-9]{4,9}")  # so are articles of some journals numbered
_LETTERED = re.compile("(P[0-9]{1,9}) ?[-‐‑‒–—−]{1,3} ?(P[0-9]{1,9})")  # not "p25-p32", where p is the word
_DASH = re.compile(
    r" ?(?:[-‐‑−]{2,3}|[‒–—―]+|[~〜]) ?|(?<=[0-9])_(?=[0-9])|(?<=\w) (?:to|bis|à) (?=\w)|(?<=[0-9]) al? (?=[0-9])"
)
_HYPHEN = re.compile(r" ?[-‐‑−] ?")
_PAGES_CHINESE = re.compile("第([^页頁]+)[页頁]|([^页頁]*[0-9] ?[-–—~〜][^页頁]*)[页頁]")
_CUE_BEHIND = re.compile(
    rf"([0-9]{{1,6}})\.? ?[-–—] ?([0-9]{{1,6}})(?:\.? ?{_COUNT_WORDS}\b\.?| ?[{signs('pages')}])"
    rf"|([0-9]{{1,6}})\. ?(?:{cues('pages', 'behind')})\b\.?",
    re.IGNORECASE,
)
_FOLLOWING = rf"(?:(?:(?:et|e|y|and|и) )?(?:{'|'.join(entries('following'))}))\b"
_GLUED = r"(?<=[0-9])ff?(?-i:(?<![0-9]{5}F))"  # 12f, but not 74380F
_AND_FOLLOWING = re.compile(rf"(.*[0-9]|[ivxlcdm]+(?= ))({_GLUED}|,? {_FOLLOWING}| ?\+)", re.IGNORECASE)
# What may stand behind pages: the place that is cited from them, notes, plates; how many they are, or "abstract"; and
# what before them, the section of a newspaper or a chapter, and "especially".
_CITED = re.compile(
    rf"(?:[,;:] ?| )(?:{'|'.join(entries('cited'))})(?:[.:] ?| )(?:[^\W\d_]{{1,3}}\. ?)?(?:[0-9]|[ivxlc]+\b)",
    re.IGNORECASE,
)
_ENCLOSED = re.compile(r"(.*\w) ?[(\[]([^()\[\]]{1,40})[)\]]")
# What may follow the pages of a work: an answer to it, a quiz about it, plates.
_MORE = re.compile(
    rf"(.*?[0-9ivxlc])(?:; ?(?!{_CUE.pattern})[^\W\d_]{{4,}} (?:[^\W\d_]+ )?[0-9].*"
    r"|(?:, ?| ?\+ ?| )[0-9]{1,3} (?:pls?|plates?|figs?|tabs?|maps?|tables?)\b.*)",
    re.IGNORECASE,
)
_ABSTRACT = re.compile(r"abs(?:tr(?:act)?)?\.?,? ?(?:#|no\.?|nr\.?)? ?([A-Z]{0,4}-?[0-9]{1,6}[A-Z]?)", re.IGNORECASE)
_WORDS_BEHIND = re.compile(r"(.*[0-9] ?[-–—] ?[A-Z]?[0-9]+)[.,]? [A-ZÀ-Þ][^\W\d_]{2}.*")  # 598–604 Review
_KIND_OF_PAGE = re.compile("abstr(?:act)?s?|r", re.IGNORECASE)
_PART = re.compile(
    r"(?:(?:sect?(?:ion)?|chap(?:ter|itre)?|kap(?:itel)?)\b\.? ?(?:[0-9]{1,3}[A-Z]?|[A-Z]|[IVXLC]+), ?"
    r"|(?:in part(?:icolare|ic\.|\.)|spec(?:ie|\.)|esp\.|bes\.|insb\.) ?)(?=(?:pp?|pagg?|s)\.? ?[0-9ivxlc])",
    re.IGNORECASE,
)
_PAGES_OF_ONE = 200  # a work that is cited from has rarely more
_PAGES_OF_ARTICLE = 50
_PAGES_OF_LONGEST = 1000
_ROMAN = re.compile("[ivxlcdm]+", re.IGNORECASE)
_PAGES_LONGEST = 500  # characters; what is longer is no list of pages, and is not searched for one
_PLAIN = re.compile(r"(?:pages? |pp?[.:]? ?)?([0-9]{1,9})(?:([-–])([0-9]{1,9}))?\.?[,;:]?")  # what nearly all pages are
_APART = re.compile(r"([0-9]{1,9}) ([0-9]{1,9})")
_THOUSANDS = re.compile(r"(?<![0-9])([0-9]{1,3}) ([0-9]{3})( ?[-‐‑‒–—−]{1,3} ?)([0-9]{1,3}) ([0-9]{3})(?![0-9])")
_AND = "|".join(entry for entry in entries("and") if entry.isalpha() and entry != "a")  # 12 a 15 is a range
_SEVERAL = re.compile(rf"\s*(?:[,;&]| (?:{_AND}|u\.) )(?!\s*{_FOLLOWING})\s*")
_WORD = re.compile(r"\w+")
_PAGE = re.compile(r"[^\W_]+(?:[.:/-][^\W_]+)*\*?")
_NUMBERED = re.compile(r"([^\W\d_]*)([0-9]+)([^\W\d_]*)")
_NUMBER_AND_YEAR = re.compile("e0[0-9]{4}-[0-9]{2}")  # of an article: e00648-15
_NUMBER_OF_PAPER = re.compile(r"[A-Z]{3,}([0-9]+)")


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
    if len(plain) > _PAGES_LONGEST:
        return Pages("", "", plain)
    if chinese := _PAGES_CHINESE.fullmatch(plain):
        plain = chinese[1] or chinese[2]
    elif behind := _CUE_BEHIND.fullmatch(plain):
        plain = behind[3] or f"{behind[1]}–{behind[2]}"
    if (apart := _APART.fullmatch(plain)) and int(apart[1]) < int(apart[2]):  # the dash was lost
        return Pages(apart[1], apart[2], f"{apart[1]}–{apart[2]}")
    if lettered := _LETTERED.fullmatch(plain):
        return Pages(lettered[1], lettered[2], f"{lettered[1]}–{lettered[2]}")
    if _LETTERED_ALONE.fullmatch(plain):
        return Pages(plain, "", plain)
    if " " in plain and (spaced := _THOUSANDS.search(plain)):  # 110 565–110 574
        first, last = int(spaced[1] + spaced[2]), int(spaced[4] + spaced[5])
        if 0 < last - first < _PAGES_OF_LONGEST:
            plain = f"{plain[: spaced.start()]}{first}–{last}{plain[spaced.end() :]}"
    if around := _amid(plain):
        return around
    if plain[:1] in "aA" and (abstract := _ABSTRACT.fullmatch(plain)):
        return Pages(abstract[1], "", plain)
    cue = _CUE.match(plain)
    body = plain[cue.end() :] if cue else plain
    if cue and (apart := _APART.fullmatch(body)):
        first, last = apart[1], _written_out(apart[1], apart[2])
        shortened = last != apart[2] and len(first) - len(apart[2]) != 1  # 107 23, but not 1234 45
        if int(first) < int(last) and not shortened:
            return Pages(first, last, f"{first}–{last}")
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


_COUNT_AND_MORE = re.compile(  # 315 S., 12 Abb.
    rf"((?:[ivxlc]+[,+ ]+)?[0-9]{{2,4}}) ?{_COUNT_WORDS}\.? ?[,;:] (?:[0-9]{{1,4}} )?[^\W\d_]{{2,}}\b.*", re.IGNORECASE
)


_PRELIMINARY_AND_MORE = re.compile(r"\s*[ivxlc]+ ?\+ ?[0-9]{2,4}[\s.,;:]*")  # viii+279, as mathematicians write


_LEAVES = re.compile(rf"\W*([0-9]{{2,4}})\s*(?:{cues('leaves', 'behind')})\b\W*")


def count_leaves(text: str) -> str:
    """Return how many leaves a thesis has ("145 f." -> "145"), else ""; elsewhere that is a page and the next."""
    found = _LEAVES.fullmatch(text)
    return found[1] if found else ""


def count_pages(text: str) -> str:
    """Return how many pages a work has ("345 p." -> "345", "xii, 345 pp." -> "xii, 345"), else ""."""
    if text.rstrip(" .,;:")[-1:].isdigit():  # as nearly all pages end
        return trim(text) if "+" in text and _PRELIMINARY_AND_MORE.fullmatch(text) else ""
    plain = trim(narrow(text))
    if " " in plain and (illustrated := _COUNT_AND_MORE.fullmatch(plain)):  # 315 S., 12 Abb.
        return illustrated[1]
    if len(plain) > _LONGEST or _CUE.match(plain) or _CUE_BEHIND.fullmatch(plain):
        return ""
    found = _COUNT.fullmatch(plain)
    number = trim(found[1] or found[2] or found[3]) if found else ""
    return number if any(map(str.isdigit, number)) else ""


def _amid(text: str) -> Pages | None:
    """Return the pages around which something else stands, None if nothing does that is known.

    A single page keeps it in its text. A range stays a range, so that formats can say its ends, and what stands around
    it is left to `kept`.
    """
    part = _PART.match(text)
    rest = text[part.end() :] if part else text
    if cited := _CITED.search(rest):
        inner = rest[: cited.start()]
    elif cited := _MORE.fullmatch(rest) if " " in rest else None:
        inner = cited[1]
    elif enclosed := _ENCLOSED.fullmatch(rest) if rest[-1:] in ")]" else None:
        inner = enclosed[1]
    elif " " in rest and (cited := _WORDS_BEHIND.fullmatch(rest)):
        inner = cited[1]
    elif part:
        inner = rest
    else:
        return None
    pages = _range(inner)
    if pages is None or not (any(map(str.isdigit, pages.first)) or _ROMAN.fullmatch(pages.first)):
        return None
    if not cited and enclosed and not _is_about(enclosed[2].strip(), pages):
        aside = pages.last and not any(map(str.isdigit, enclosed[2]))  # 34–35 (in Chinese)
        return pages if aside else None
    cue = _CUE.match(text)
    return pages if pages.last else Pages(pages.first, "", text[cue.end() :] if cue else text)


def _is_about(text: str, pages: Pages) -> bool:
    """Tell whether brackets behind pages hold their number or kind, or one of them: 198 (208), but not 12 (2009)."""
    if not text.isdecimal():
        return bool(_COUNT.fullmatch(text) or _KIND_OF_PAGE.fullmatch(text))
    if not pages.first.isdecimal() or len(text) > 6:
        return False
    last = int(pages.last) if pages.last.isdecimal() else int(pages.first) + _PAGES_OF_ONE
    return int(pages.first) < int(text) <= last


def _range(text: str) -> Pages | None:
    """Return the first and last page of one range, or one page; None if it cannot be read."""
    text = text.strip(" .:")
    if repeated := _CUE.match(text):
        text = text[repeated.end() :]
    if found := _AND_FOLLOWING.fullmatch(text):
        pages = _range(found[1])
        if pages and pages.last and found[2].casefold().endswith("passim"):
            return pages
        return Pages(pages.first, "", pages.text + found[2]) if pages else None
    ends = _DASH.split(text, maxsplit=1)
    if len(ends) == 2 and _NUMBER_AND_YEAR.fullmatch("-".join(ends)):
        ends = ["-".join(ends)]
    elif len(ends) == 1:
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
    """Tell whether a hyphen stands between two pages: not in "A-12", "OMAE98-1234" or "1999-3", which would go back."""
    if first.isascii() and last.isascii() and first.isdigit() and last.isdigit():
        return int(first) <= int(_written_out(first, last))
    if _NUMBER_AND_YEAR.fullmatch(f"{first}-{last}"):
        return False
    if last.isdigit() and (found := _NUMBER_OF_PAPER.fullmatch(first)) and len(last) > len(found[1]):
        return False
    return any(map(str.isdigit, first)) or _ROMAN.fullmatch(first) is not None


def _written_out(first: str, last: str) -> str:
    """Return the last page with what it shares with the first, if it is shortened."""
    if len(first) == len(last) and first.isdecimal() and last.isdecimal():
        return last
    a, b = _NUMBERED.fullmatch(first), _NUMBERED.fullmatch(last)
    if not a or not b or a[3] != b[3] or (b[1] and b[1] != a[1]):
        return last
    if len(b[2]) > len(a[2]):  # S6-12, iv9-12; but the C6-12 of a colloquium is one page
        few = last.isdecimal() and int(last) - int(a[2]) < _PAGES_OF_ARTICLE
        return a[1] + last if few and a[1].isascii() and 0 < len(a[1]) < 3 and a[1] != "C" else last
    digits = a[2][: len(a[2]) - len(b[2])] + b[2]
    # Equal lengths compare as numbers do.
    return a[1] + digits + a[3] if digits > a[2] else last
