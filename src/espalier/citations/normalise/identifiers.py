"""Identifiers that are found in a text: DOI, URL, ISBN, ISSN, and numbers of archives; "" without one.

DOI: from "10." on, without the resolver or "doi:" before it and punctuation after it, percent signs decoded; case as
written. URL: from its scheme or "www." on, without punctuation after it. Spaces that a line break left inside either
are taken out where the next piece can only go on ("10.1016/j.cell. 2003.01.002"). ISBN: digits (and X) only; ISSN: with
its hyphen; both only if the check digit is right. arXiv: the identifier with its version, also without the archive's
name where its form says enough (`hep-th/9711200`, `[1009.1234]`, `abs/1409.0473`). PMID, PMCID, JSTOR and Handle: the
number after the archive's name or in its address. All in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from espalier.citations.normalise.text import collapse

__all__ = [
    "find_archives",
    "find_arxiv",
    "find_doi",
    "find_isbn",
    "find_isbns",
    "find_issn",
    "find_old_arxiv",
    "find_url",
]

_DOI = re.compile(r"(?<![\w.])10\.[0-9]{4,9}(?:\.[0-9]+)*/\S+", re.IGNORECASE)
_DOI_GAP = re.compile(r"(?<![\w.])10\. ?([0-9]{4,9}) ?/ ?(?=\S)")
_NAMESPACE = re.compile(r"xmlns:[a-z]+ ?= ?\"[^\"<>]*\"")
_MARK_OF_LINK = re.compile(r"['\"]>|</?[a-z]+\b|\"")  # not the <12::AID>3.0 of an old DOI
_TAG = re.compile(r"</?[a-z]|\"")
_MARK_FIRST = re.compile(r" ([.-][0-9]+(?:[.-][0-9]+)*)(?=[\s.,;)]*$)")  # what goes on with a DOI behind a space
_URL = re.compile(
    r"(?:https?|ftps?)://\S+|(?<![\w.])www\.\S+\.\S+"
    r"|(?<![\w.@/-])(?:[A-Z][A-Za-z0-9-]*\.)+(?-i:org|com|net)(?:/\S+|(?=[.,;)>\]]*$))"  # CEUR-WS.org
    r"|(?<![\w.@/-])(?-i:(?:[a-z0-9-]+\.)+(?:com|org|net|edu|gov|info|int|io|de|fr|it|nl|ch|eu|ca|[a-z0-9-]{2,}\.[a-z]{2})"
    r"(?:/\S+|(?=[.,;)>\]]*$)))",  # muse.jhu.edu/article/12, www.bbc.co.uk
    re.IGNORECASE,
)
_HOST = re.compile(r"https?://(?:[a-z0-9-]+\.)+[a-z]{2,6}(?:[/:?]|$)", re.IGNORECASE)
_PIECE = re.compile(r"[\w./%#?&=~:+@$!*'()-]+")
# What goes on with a path: letters and digits mixed, or a name with its ending; no date, version, page or other number.
_PATH = re.compile(
    r"(?!v[0-9]|p+\.|doi|isbn|issn)(?:(?=\w*[0-9])(?=\w*[A-Z])[a-zA-Z]\w{4,}|[a-z][\w-]*\.[a-z]{2,5})\.?"
)
_URL_GAP = re.compile(r"\b(https?|ftps?) ?: ?/ ?/ ?(?=\S)", re.IGNORECASE)
_ARXIV = re.compile(
    r"arxiv(?:\.org/(?:abs|pdf)/|[:.\s]|preprint)*((?:[0-9]{4}\.[0-9]{4,5}|[a-z-]{2,20}(?:\.[a-z]{2})?/[0-9]{7})(?:v[0-9]+)?)"
    r"(?![0-9])",
    re.IGNORECASE,
)
# What a number says without the name of the archive: its subject before a stroke, in brackets or behind "abs/".
_SUBJECT = (
    r"(?:hep-(?:th|ph|ex|lat)|(?:math|astro|quant|nucl)-(?:ph|th|ex)|cond-mat|gr-qc|q-(?:bio|alg|fin)|alg-geom|dg-ga|solv-int"
    r"|chao-dyn|patt-sol|adap-org|comp-gas|cmp-lg|funct-an|mtrl-th|supr-con|chem-ph|physics|math|nlin|cs)(?:\.[A-Za-z-]{2,8})?"
)
_MONTHLY = r"[0-9]{2}(?:0[1-9]|1[0-2])"
_SEVEN = re.compile("/[0-9]{7}(?<=[a-zA-Z]/[0-9]{7})(?<!stable/[0-9]{7})")  # but not in the addresses of JSTOR
_ARXIV_OLD = re.compile(
    rf"(?:(?<![\w./-])|lanl\.gov/(?:abs|pdf)/)({_SUBJECT}/{_MONTHLY}[0-9]{{3}}(?:v[0-9]+)?)(?![0-9/]|\.[0-9])",
    re.IGNORECASE,
)
_NEW = rf"({_MONTHLY}\.[0-9]{{4,5}}(?:v[0-9]+)?)(?=\W)(?![./][0-9])"
_ARXIV_LAST = re.compile(
    rf"[0-9]\)[,.]? (?=[0-9.]{{10}}){_NEW}\W*$".replace(r"(?=\W)", r"(?!\w)")
)  # (2022), 2203.13739
_ARXIV_BRACKETED, _ARXIV_CORR = re.compile(rf"\[ ?{_NEW}"), re.compile(rf"abs/{_NEW}")
_ISBN = re.compile(r"(?<![0-9])[0-9](?:[-‐‑– ]?[0-9]){8,11}[-‐‑– ]?[0-9X](?![0-9])", re.IGNORECASE)
_ISSN = re.compile(r"(?<![0-9])([0-9]{4})[-‐‑– ]{0,2}([0-9]{3}[0-9X])(?![0-9])", re.IGNORECASE)
_CLOSERS = {")": "(", "]": "[", "}": "{", ">": "<"}


def find_doi(text: str) -> str:
    """Return the first DOI of a text."""
    plain = collapse(text)
    plain = unquote(plain, errors="strict") if "%2f" in plain.lower() and _decodes(plain) else plain
    found = _DOI.search(_DOI_GAP.sub(r"10.\1/", plain)) if "10." in plain else None
    if not found:
        return ""
    rest = found.string[found.end() :]
    if "<" in found[0] and (tag := _TAG.search(found[0])):
        return _without_end(found[0][: tag.start()])
    if (mark := _MARK_FIRST.match(rest)) and found[0][-1:].isalnum():  # 10.1007/s00467-008-0811 -4
        return _without_end(found[0] + mark[1])
    return _without_end(found[0] + _continuation(found[0], rest, "./-_:;(", str.isdigit))


def find_url(text: str) -> str:
    """Return the first web address of a text."""
    if "<" in text or '"' in text:  # a link as it is marked: take its text or its aim
        text = _NAMESPACE.sub(" ", text)
    found = _URL.search(_URL_GAP.sub(r"\1://", collapse(text)))
    if not found:
        return ""
    address, rest = found[0], found.string[found.end() :]
    if marked := _MARK_OF_LINK.search(address):
        return _without_end(address[: marked.start()])
    if (pieces := _in_pieces(address, rest)) is not None:
        return _without_end(pieces)
    return _without_end(address + _continuation(address, rest, "./-_=&?~%#", lambda sign: sign in "./"))


def _in_pieces(address: str, rest: str) -> str | None:
    """Return an address that the end of a line broke: inside its host, at each mark, or at one place of its path.

    "http://CRAN. R-project.org/x", "http://mirr ors.ctan.org", "https://arxiv. org / abs / 1605", "v=LvKx J3bQRKE".
    """
    pieces = rest.split()
    another = any(piece.startswith(("http", "www.")) for piece in pieces)
    if not pieces or another or address[-1:] in ",;" or not all(map(_PIECE.fullmatch, pieces)):
        return None
    if "/" in pieces and "/" not in address.partition("://")[2]:
        return address + "".join(pieces)
    first = pieces[0]
    if _HOST.match(address):
        path = address.count("/") > 2 and len(pieces) == 1 and _PATH.fullmatch(first) is not None
        return address + first if path else None
    return address + first if _HOST.match(address + first) else None


def find_arxiv(text: str) -> str:
    """Return the first arXiv identifier of a text, with its version if it has one."""
    found = _ARXIV.search(text)
    return found[1] if found else ""


def find_old_arxiv(text: str) -> str:
    """Return the first arXiv identifier of a text that does not name the archive: hep-th/9711200, [1009.1234]."""
    if "/" in text and _SEVEN.search(text) and (found := _ARXIV_OLD.search(text)):
        return found[1]
    found = _ARXIV_BRACKETED.search(text) if "[" in text else None
    if not found and ")" in text[-22:-9]:  # nearly no text has a bracket there
        found = _ARXIV_LAST.search(text, max(0, len(text) - 40))
    if not found and "abs/" in text:
        found = _ARXIV_CORR.search(text)
    return found[1] if found else ""


_ARCHIVES = {
    name: re.compile(pattern, re.IGNORECASE)
    for name, pattern in (
        ("pmid", r"(?:PMID|PubMed(?:\.ncbi\.nlm\.nih\.gov| ID)?)[:\s/]*([0-9]{4,8})(?![0-9])"),
        ("pmcid", r"\b(PMC ?[0-9]{4,8})(?![0-9])"),
        ("jstor", r"jstor(?:\.org)?(?:/discover|/stable|/pss|:|\s)*/?(10\.[0-9]{4}/[\w./-]+|[a-z]?[0-9]{4,}[\w.]*)"),
        ("handle", r"(?:hdl\.handle\.net/|\bhdl:? ?)([0-9][0-9.]*/\w[\w./-]*)"),
    )
}
"""Attribute of a work, and how it is found."""


def find_archives(text: str, low: str) -> dict[str, str]:
    """Return what archives other than arXiv call a work, by its attributes; low : the text in lower case."""
    if not ("pmid" in low or "pubmed" in low or "pmc" in low or "jstor" in low or "hdl" in low):
        return {}
    found = {name: pattern.search(text) for name, pattern in _ARCHIVES.items()}
    return {name: match[1].replace(" ", "").rstrip("./-") for name, match in found.items() if match}


def find_isbn(text: str) -> str:
    """Return the first ISBN of a text whose check digit is right, as ten or thirteen signs."""
    return next(find_isbns(text), "")


def find_isbns(text: str) -> Iterator[str]:
    """Yield every ISBN of a text whose check digit is right: that of the hardback, that of the paperback."""
    for found in _ISBN.finditer(text):
        signs = [sign for sign in found[0].upper() if sign.isalnum()]
        # The digits may begin with the 13 of "ISBN-13", or a year may follow them.
        for n in (13, 10):
            if len(signs) >= n and _is_isbn(signs[-n:]):
                yield "".join(signs[-n:])
                break


def find_issn(text: str) -> str:
    """Return the first ISSN of a text whose check digit is right, as "1234-567X"."""
    for found in _ISSN.finditer(text):
        signs = (found[1] + found[2]).upper()
        if sum(weight * _digit(sign) for weight, sign in zip(range(8, 0, -1), signs, strict=True)) % 11 == 0:
            return f"{signs[:4]}-{signs[4:]}"
    return ""


def _is_isbn(signs: list[str]) -> bool:
    if len(signs) == 10:
        return sum(weight * _digit(sign) for weight, sign in zip(range(10, 0, -1), signs, strict=True)) % 11 == 0
    odd_even = zip((1, 3) * 6 + (1,), signs, strict=True)
    return "X" not in signs and signs[:2] == ["9", "7"] and sum(w * int(s) for w, s in odd_even) % 10 == 0


def _digit(sign: str) -> int:
    return 10 if sign == "X" else int(sign)


def _decodes(text: str) -> bool:
    try:
        unquote(text, errors="strict")
    except UnicodeDecodeError:
        return False
    return True


def _continuation(before: str, rest: str, glue: str, shows: Callable[[str], bool]) -> str:
    """Return the pieces after a space that still belong to what was found.

    A piece goes on if the one before ends in a sign that nothing ends in, and it is no word of the sentence: it
    begins with no capital, and has some character that only an identifier has.
    """
    found = ""
    for piece in rest.split(" ")[1:]:
        goes_on = before[-1:] in glue and piece[:1].isalnum() and not piece[:1].isupper()
        goes_on = goes_on and any(map(shows, piece.rstrip(".,;:)"))) and not piece.startswith(("http", "www."))
        if not goes_on and not (piece[:1] == "/" and found[-1:] != "/"):
            break
        found += piece
        before = piece
    return found


def _without_end(text: str) -> str:
    """Drop punctuation after an identifier, and a closing bracket that was opened before it."""
    counts = {sign: text.count(sign) for sign in "()[]{}<>"}
    end = len(text)
    while end and not text[end - 1].isalnum():
        last = text[end - 1]
        if last in _CLOSERS and counts[last] <= counts[_CLOSERS[last]]:
            break
        if last in "/-_=#~+*&%$":
            break
        if last in counts:
            counts[last] -= 1
        end -= 1
    return text[:end]
