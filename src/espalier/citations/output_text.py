"""What several formats share: clean lines, URIs, names, dates and pages as text, JSON of any string.

A format made of lines or of XML cannot carry every string. `clean` is the documented loss of all of them: a run of
white space becomes one space, and what no such file may hold (control characters, lone surrogates, non-characters)
becomes U+FFFD, the replacement character. JSON needs no such thing and keeps every character.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from espalier.citations.work import Date, Name, Pages, Work

__all__ = [
    *("SEASONS", "clean", "edtf", "inverted", "is_range", "iso", "left_over", "page_range", "to_json", "uri"),
    *("xml_attribute", "xml_text", "year_suffix"),
]

SEASONS = ("Spring", "Summer", "Autumn", "Winter")

# Not white space (gone before this runs) and not allowed in XML 1.0, or a control character that it only discourages.
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
# What RFC 3986 keeps out of a URI; letters outside ASCII stay, as in an IRI.
_NOT_IN_URI = re.compile(r"[ \"<>\\^`{|}]")
# Lone surrogates have no UTF-8, and a reader of lines may break a line at the other three.
_ESCAPED_IN_JSON = re.compile("[\ud800-\udfff\x85\u2028\u2029]")

_YEAR_SUFFIX = re.compile(r"\b([0-9]{4}) ?([a-z])\b")

# Between pages: what separates several ranges, and a dash inside one.
_SEVERAL = re.compile(r"[,;&+]")
_DASH = re.compile(r"(?<=\w) ?[-–—]+ ?(?=\w)")


def clean(text: str) -> str:
    """Return the text on one line, single-spaced and trimmed, with U+FFFD for what no line or XML file may hold."""
    if text.isprintable():  # so spaces are its only white space, and there is nothing that no file may hold
        return " ".join(text.split()) if "  " in text or text[:1] == " " or text[-1:] == " " else text
    return _UNFIT.sub("\ufffd", " ".join(text.split()))


def uri(text: str) -> str:
    """Return a cleaned URL or DOI with percent escapes for what a URI may not hold (spaces, braces, quotes ...)."""
    return _NOT_IN_URI.sub(lambda m: f"%{ord(m[0]):02X}", clean(text)) if text else ""


def xml_text(text: str) -> str:
    """Return cleaned text as it stands in XML."""
    return clean(text).replace("&", "&amp;").replace(">", "&gt;").replace("<", "&lt;")


def xml_attribute(text: str) -> str:
    """Return cleaned text as the value of an attribute in XML, in the quotes that it does not hold."""
    value = xml_text(text)
    if '"' not in value:
        return f'"{value}"'
    return f"'{value}'" if "'" not in value else '"' + value.replace('"', "&quot;") + '"'


def to_json(value: Any) -> str:
    """Return JSON that keeps every character, is valid UTF-8 and is one line to any reader."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return _ESCAPED_IN_JSON.sub(lambda m: f"\\u{ord(m[0]):04x}", text)


def inverted(name: Name) -> str:
    """Return 'van der Berg, Jan, Jr': particle and family, given, suffix; a literal name as it is."""
    if name.literal:
        return clean(name.literal)
    last = clean(f"{name.particle} {name.family}")
    return ", ".join(part for part in (last, clean(name.given), clean(name.suffix)) if part)


def iso(parts: tuple[int, ...]) -> str:
    """Return (1994, 5, 2) as '1994-05-02', a prefix as '1994-05' or '1994'."""
    return "-".join(f"{part:0{width}d}" for part, width in zip(parts, (4, 2, 2), strict=False))


def edtf(date: Date | None) -> str:
    """Return a date as EDTF (ISO 8601-2): '1994-05', '1994/1996', '1850~' (circa), '1999-21' (spring); else as read."""
    if date is None:
        return ""
    if not date.parts:
        return clean(date.literal)
    season = f"-{20 + date.season}" if date.season and len(date.parts[0]) == 1 else ""
    return "/".join(iso(parts) + season + ("~" if date.circa else "") for parts in date.parts)


def year_suffix(date: Date | None) -> str:
    """Return the letter that tells works of one year apart: 'a' of '2004a'; '' if there is none."""
    if date is None or not date.literal or not date.parts:
        return ""
    found = _YEAR_SUFFIX.search(date.literal)
    return found[2] if found and int(found[1]) == date.parts[0][0] else ""


def left_over(work: Work) -> str:
    """Return the text of dates that say more than their parts do, and what was not read, each after its label."""
    dates = (("date", work.issued), ("accessed", work.accessed))
    pairs = [(label, date.literal) for label, date in dates if date and date.literal and date.parts]
    return "; ".join(f"{label}: {text}" for label, text in (*pairs, *work.unread))


def is_range(pages: Pages) -> bool:
    """Say whether the pages are one range and nothing else."""
    return bool(pages.first and pages.last) and not _SEVERAL.search(pages.text)


def page_range(pages: Pages, dash: str) -> str:
    """Return the first and last page around a dash; several ranges as they were read, with that dash; else the text."""
    if is_range(pages):
        return f"{clean(pages.first)}{dash}{clean(pages.last)}"
    text = clean(pages.text or pages.first)
    return _DASH.sub(dash, text) if _SEVERAL.search(text) else text
