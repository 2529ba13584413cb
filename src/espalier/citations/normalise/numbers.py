"""Volume, issue, edition and number: "vol. 12, no. 3" -> 12 and 3, "Third edition" -> 3.

Words for volume, issue and edition go, ordinals become numbers; everything else stays as it is written
("XII", "12-13", "Suppl. 1", "rev. ed."). Linear time.
"""

from __future__ import annotations

import re

from espalier.citations.normalise.memory import remembered
from espalier.citations.normalise.text import collapse, trim

__all__ = ["parse_edition", "parse_issue", "parse_volume", "report_number"]

_AFTER_CUE = r"(?:\.:?|:| |(?=\d)) ?"
_VOLUME = rf"(?:volumes?|vols?|vol[uú]men|bände|band|bde?|jahrgang|jg|tomes?|tomo|t|v|deel|dl|том|т){_AFTER_CUE}"
_ISSUE = rf"(?:issues?|iss?|numbers?|nos?|nrs?|n[uú]m(?:[eé]ro)?s?|n ?[°º]s?|№|heft|hft|h|fasc(?:icule)?|n){_AFTER_CUE}"
_NUMBER = r"[^\s,;()\[\]:/&–-]+(?: ?[-–/&] ?[^\s,;()\[\]:/&–-]+)*"
_BOTH = re.compile(
    rf"(?:{_VOLUME})?(?P<volume>{_NUMBER}) ?(?:[,;:] ?(?:{_ISSUE})|[(\[] ?(?:{_ISSUE})?|(?<=\d)[:.](?=\d)|{_ISSUE})"
    rf"(?P<issue>[^()\[\],;]+)[)\]]?",
    re.IGNORECASE,
)
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
_EDITION = re.compile(
    r"(?:the )?([^\W\d_]+|[0-9]{1,3}) ?(?:st|nd|rd|th|e|è|ème|eme|[ªaº°])?\.? "
    r"?(?:editions?|edn|eds?|auflage|aufl|édition|édit?|éd|edición|edizione|edição|druk|uitgave)?\.?",
    re.IGNORECASE,
)
_SHORT = ("ed", "eds", "edn", "éd", "aufl")
_WORDS_AFTER = re.compile(r"(?:edition|auflage|druk) ([0-9]{1,3})", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;()\[\]]+")
_LONGEST = 200  # characters; what is longer is no number, and is not searched for one


@remembered(longest=24)
def parse_volume(text: str) -> tuple[str, str]:
    """Return the volume and, if the text names one too, the issue ("12(3)", "Bd. 5, H. 2"); "" where there is none."""
    plain = trim(text)
    if plain.isascii() and plain.isdigit():
        return plain, ""
    if len(plain) <= _LONGEST and (found := _BOTH.fullmatch(plain)):
        return found["volume"], trim(found["issue"])
    if _ISSUE_ALONE.match(plain) and not _VOLUME_ALONE.match(plain):
        return "", _without(_ISSUE_ALONE, plain)
    return _without(_VOLUME_ALONE, plain), ""


@remembered(longest=24)
def parse_issue(text: str) -> str:
    """Return the issue without its word and brackets; "" if there is nothing but punctuation."""
    return _without(_ISSUE_ALONE, trim(text))


def _without(cue: re.Pattern[str], text: str) -> str:
    found = cue.match(text)
    rest = trim(text[found.end() :]) if found else text
    # "T" or "V" alone is a volume's letter, and so is the T of "T-5".
    return rest if any(sign.isalnum() for sign in rest) else text if any(map(str.isalnum, text)) else ""


def parse_edition(text: str) -> str:
    """Return the number of an edition if the text says just that ("2nd ed." -> "2"), else the text ("rev. ed.")."""
    plain = trim(text)
    if plain.lower().endswith(_SHORT) and f"{plain}." in collapse(text):
        plain += "."
    if found := _WORDS_AFTER.fullmatch(plain.rstrip(".")):
        return found[1]
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
