"""Volume, issue, edition and number: "vol. 12, no. 3" -> 12 and 3, "Third edition" -> 3.

Words for volume, issue and edition go, ordinals become numbers; everything else stays as it is written
("XII", "12-13", "Suppl. 1", "rev. ed."), but for full-width digits and signs, which become the usual ones. Of two
numbers at a stroke the second is the issue ("51/13"), unless they may be a double volume ("51/52"). A month in
brackets is no part of the number ("no. 3 (March)") and left to the date. Linear time.
"""

from __future__ import annotations

import re

from espalier.citations.normalise.dates import is_month
from espalier.citations.normalise.memory import remembered
from espalier.citations.normalise.text import collapse, narrow, trim

__all__ = ["month_beside", "parse_edition", "parse_issue", "parse_volume", "report_number"]

_AFTER_CUE = r"(?:\.:?|:| |(?=\d)) ?"
_VOLUME = (
    r"(?:volumes?|vols?|vol[uú]men|bände|band|bde?|jahrgang|jg|tom[eo]?s?|t|v|deel|dl|roč(?:ník)?|årg(?:ång)?|том|т)"
    rf"{_AFTER_CUE}"
)
_ISSUE = (
    r"(?:issues?|iss?|numbers?|nos?|nrs?|n[uú]m(?:[eé]ro)?s?|n ?[°º]s?|№|heft|hft|h|fasc(?:icule)?|n(?!\. ?s\b)"
    rf"|zesz(?:yt)?|z(?=\.)|č(?:íslo)?|вып(?:уск)?){_AFTER_CUE}"
)
_NUMBER = r"[^\s,;()\[\]:/&–-]+(?: ?[-–/&] ?[^\s,;()\[\]:/&–-]+)*"
_BOTH = re.compile(
    rf"(?:{_VOLUME})?(?P<volume>{_NUMBER}) ?(?:[,;:] ?(?:{_ISSUE})|[(\[] ?(?:{_ISSUE})?|(?<=\d)[:.](?=\d)|{_ISSUE})"
    rf"(?P<issue>[^()\[\],;]+)[)\]]?",
    re.IGNORECASE,
)
_STROKE = re.compile(
    r"(?i:(?:vol(?:ume)?|bd|band|jg|tom[eo]?|t|v)\.? ?)?([0-9]{1,6}|[IVX]|[IVXLCDM]{2,}) ?/ ?"
    rf"(?i:{_ISSUE})?((?i:suppl)\.? ?[0-9]*|[0-9]{{1,3}}(?: ?[-–] ?[0-9]{{1,3}})?)"
)
_CHINESE = re.compile(r"(?:第? ?([0-9]+) ?卷)?[, ]*(?:第? ?([0-9]+(?: ?[-–] ?[0-9]+)?) ?[期号號])?")
_VOLUME_BEHIND = re.compile(r"^([0-9]+)\. ?(?:jahrgang|jg|band|bd|årgång|årg|ročník|roč)\b\.?", re.IGNORECASE)
_BESIDE = re.compile(r"[(\[]([^\W\d_][^()\[\]]{1,30})[)\]]$")
_VOLUME_ALONE = re.compile(_VOLUME, re.IGNORECASE)
_ISSUE_ALONE = re.compile(_ISSUE, re.IGNORECASE)
_ORDINALS = {
    name: str(number)
    for row in (
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth",
        "erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte elfte zwölfte",
        "première deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième",
        "primera segunda tercera cuarta quinta sexta séptima octava novena décima",
        "prima seconda terza quarta quinta sesta settima ottava nona decima",
        "primeira segunda terceira quarta quinta sexta sétima oitava nona décima",
        "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende",
    )
    for number, name in enumerate(row.split(), start=1)
}
_ORDINAL = r"[.:-]? ?(?:st|nd|rd|th|er|ère|e|è|ème|eme|de|ste|[ªaº°]|[ео]е|е)?"
_FOR_EDITION = (
    r"(?:editions?|edn|eds?|auflage|aufl|édition|édit?|éd|edición|edizione|edição|druk|uitgave|uppl(?:agan?)?"
    r"|udg(?:ave)?|utg(?:åva)?|wyd(?:anie)?|vyd(?:ání)?|изд(?:ание)?|版)"
)
_EDITION = re.compile(rf"(?:the |第 ?)?([^\W\d_]+|[0-9]{{1,3}}){_ORDINAL}\.? ?{_FOR_EDITION}?\.?", re.IGNORECASE)
_SHORT = ("ed", "eds", "edn", "éd", "aufl", "uppl", "udg", "utg", "wyd", "vyd", "изд")
_WORD_FIRST = re.compile(rf"{_FOR_EDITION}[.:]? ?([0-9]{{1,3}}){_ORDINAL}\.?", re.IGNORECASE)
_CHINESE_EDITION = re.compile("第 ?([一二三四五六七八九十]) ?版")
_BETWEEN = re.compile(r"[\s,;()\[\]]+")
_LONGEST = 200  # characters; what is longer is no number, and is not searched for one


@remembered(longest=24)
def parse_volume(text: str) -> tuple[str, str]:
    """Return the volume and, if the text names one too, the issue ("12(3)", "Bd. 5, H. 2"); "" where there is none."""
    plain = _VOLUME_BEHIND.sub(r"\1", _split_month(text)[0])
    if plain.isascii() and plain.isdigit():
        return plain, ""
    if len(plain) <= _LONGEST and (found := _BOTH.fullmatch(plain)):
        return found["volume"], trim(found["issue"])
    if (found := _CHINESE.fullmatch(plain)) and any(found.groups()):
        return found[1] or "", found[2] or ""
    if (found := _STROKE.fullmatch(plain)) and not _is_double(found[1], found[2]):
        return found[1], found[2]
    if _ISSUE_ALONE.match(plain) and not _VOLUME_ALONE.match(plain):
        return "", _without(_ISSUE_ALONE, plain)
    return _without(_VOLUME_ALONE, plain), ""


@remembered(longest=24)
def parse_issue(text: str) -> str:
    """Return the issue without its word and brackets; "" if there is nothing but punctuation."""
    plain = _split_month(text)[0]
    found = _CHINESE.fullmatch(plain)
    return found[2] if found and found[2] and not found[1] else _without(_ISSUE_ALONE, plain)


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
    # "T" or "V" alone is a volume's letter, and so is the T of "T-5".
    return rest if any(sign.isalnum() for sign in rest) else text if any(map(str.isalnum, text)) else ""


def parse_edition(text: str) -> str:
    """Return the number of an edition if the text says just that ("2nd ed." -> "2"), else the text ("rev. ed.")."""
    plain = trim(narrow(text))
    if plain.lower().endswith(_SHORT) and f"{plain}." in collapse(text):
        plain += "."
    if found := _WORD_FIRST.fullmatch(plain):
        return found[1]
    if found := _CHINESE_EDITION.fullmatch(plain):
        return str("一二三四五六七八九十".index(found[1]) + 1)
    found = _EDITION.fullmatch(plain[: _LONGEST + 1])
    if found and found[1].isdigit():
        return found[1]
    if found and found[1].casefold() in _ORDINALS:
        return _ORDINALS[found[1].casefold()]
    return plain if any(map(str.isalnum, plain)) else ""


def report_number(text: str) -> str:
    """Return the last word with a digit in it ("Technical Report CS-94-12" -> "CS-94-12"), "" if there is none."""
    found = [word for word in _BETWEEN.split(text) if any(map(str.isdigit, word))]
    return trim(found[-1]) if found else ""
