"""Text without what stands around it: spaces, separators, brackets and quotation marks that enclose all or nothing.

Titles lose quotation marks, a full stop, a comma, and the "In" before a container; case, brackets, question marks and
everything inside stay as they are. Every function takes any string and takes linear time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

from espalier.citations.languages import entries, words
from espalier.citations.seen import LOST_DASH, without_markup

__all__ = [
    "clean_container",
    "clean_title",
    "collapse",
    "narrow",
    "readable",
    "remembered",
    "strip_separators",
    "trim",
    "with_stop",
]

_ABBREVIATED = words("abbreviated")
_OF_JOURNALS = words("journals_in_short")
_SEPARATORS = frozenset(".,;:-–—=،、。，．；：｡､")
_BRACKETS = dict(zip("([{<（［【〔〖", ")]}>）］】〕〗", strict=True))
# A closing sign and what it may close. Some quotation marks open in one language and close in another.
_CLOSES = {
    **{closing: opening for opening, closing in _BRACKETS.items()},
    **{"'": "'`", '"': '"', "“": "„", "”": "“”„", "‘": "‚", "’": "‘’‚", "«": "»", "»": "«»", "‹": "›", "›": "‹›"},
    **{"」": "「", "』": "『", "》": "《", "〉": "〈", "﹂": "﹁", "﹄": "﹃", "｣": "｢", "〞": "〝", "〟": "〝"},
}
_SIGNS = frozenset("".join((*_CLOSES, *_CLOSES.values())))
_SIGN = re.compile("[" + re.escape("".join(sorted(_SIGNS))) + "]")
_ONLY_CLOSE = frozenset(")]}>）］】〕〗」』》〉﹂﹄｣〞〟")
_PAIR = re.compile(r"(?:^|\s)[^\W\d_]\. [^\W\d_]\.$")  # s. d., but not Part d.
_NARROW = {sign: sign - 0xFEE0 for sign in range(0xFF01, 0xFF5F)}


_NUMBERS = ("pages", "volume", "issue", "date")
# A dash whose bytes were read in another encoding, all of it or its first byte: 12â€“19, 12â19.
_MISREAD_DASH = re.compile(r"(?<=[0-9])â(?:€[“”\"]?|\x80[\x90-\x95])?(?=[0-9])")
_ADDRESSES = ("doi", "url")  # what a tilde belongs to
# The tie of LaTeX behind a full stop or before a capital or number: K.~Ito, vol.~3. Elsewhere it is a lost letter
# (Beitr~ge) or a dash (12~15).
_TIE = re.compile(r"(?<=[^\W_]\.)~(?=\w)|(?<=[^\W\dA-ZÀ-Þ_])~(?=[A-ZÀ-Þ0-9]|al\b)")
_LOST_QUOTES = re.compile(r"\s*\?(?=[^\W_])(.*?)(?:\?([\s.,;:]*))?", re.DOTALL)


def readable(label: str, text: str) -> str:
    """Return the text of a field without marks of HTML, and without question marks that stand for a sign that was lost.

    Question marks between two digits were dashes, but in titles and addresses; those around a title were quotation
    marks. The tie of LaTeX is a space, as it is in print.
    """
    text = without_markup(text)
    if "â" in text and label in _NUMBERS:
        text = _MISREAD_DASH.sub("–", text)
    if "~" in text and label not in _ADDRESSES:
        text = _TIE.sub(" ", text)
    if "?" not in text and "\ufffd" not in text:
        return text
    if label in _NUMBERS:
        return LOST_DASH.sub("–", text)
    lost = _LOST_QUOTES.fullmatch(text) if label == "title" else None
    if lost is None or (lost[2] is None and "?" in lost[1]):
        return text
    return lost[1] + (lost[2] or "")


def collapse(text: str) -> str:
    """Return the text with every run of white space as one space, and none around it."""
    return " ".join(text.split())


def narrow(text: str) -> str:
    """Return the text with the full-width letters, digits and signs of East Asia as their usual forms."""
    return text if text.isascii() else text.translate(_NARROW)


def trim(text: str) -> str:
    """Return the text, spaces collapsed, without punctuation around it.

    Off go separators, quotation marks and brackets that enclose the whole or have no partner inside. A final full
    stop stays where it belongs to the word before it: an initial ("Smith, J."), an abbreviation with another
    full stop ("U.S.", "s. d.") or one that is always abbreviated ("Univ.", "Inc."); so does an ellipsis.
    """
    return _peeled(collapse(text), brackets=True, initials=True)


def strip_separators(text: str) -> str:
    """Return the text as `trim` does, but with brackets around the whole kept, and no full stop after an initial."""
    return _peeled(collapse(text), brackets=False, initials=False)


def _peeled(text: str, brackets: bool, initials: bool) -> str:
    start, end = 0, len(text)
    if text[:1].isalnum():  # it stays, and encloses nothing: off goes what trails, and that is nearly always all
        while _trails(text, start, end, initials):
            end -= 1
        if text[end - 1] not in _SIGNS and not text[end - 1].isspace():
            return text[:end]
    partner = _partners(text) if _SIGN.search(text) else {}
    while start < end:
        first, last = text[start], text[end - 1]
        if partner.get(start) == end - 1 and (brackets or first not in _BRACKETS):
            start, end = start + 1, end - 1
        elif first.isspace() or _loose(partner, start, start, end) or _leads(text, start, end):
            start += 1
        elif last.isspace() or _loose(partner, end - 1, start, end) or _trails(text, start, end, initials):
            end -= 1
        else:
            break
    return text[start:end]


def _leads(text: str, start: int, end: int) -> bool:
    """Tell whether the first character only separates the text from what stood before it (".NET" and "-5" stay)."""
    sign = text[start]
    if sign not in _SEPARATORS:
        return False
    if sign in ".-":
        return start + 1 == end or text[start + 1].isspace() or text[start + 1] in _SEPARATORS
    return True


def _trails(text: str, start: int, end: int, initials: bool) -> bool:
    """Tell whether the last character only separates the text from what came after it."""
    sign = text[end - 1]
    if sign != ".":
        return sign in _SEPARATORS
    if text[max(start, end - 3) : end] == "..." or not text[end - 2].isalnum():
        return text[end - 2 : end] != ".."
    # At most a few characters before the stop matter; so do not search for the start of a very long word.
    word = text[max(start, end - 24) : end - 1].rpartition(" ")[2]
    initial = initials and len(word) == 1 and (word.isupper() or _PAIR.search(text[max(start, end - 6) : end]))
    return not ("." in word.strip(".") or initial or word.lower() in _ABBREVIATED)


def _loose(partner: dict[int, int], at: int, start: int, end: int) -> bool:
    """Tell whether the sign at this place is one of a pair, and its partner is missing or already gone."""
    return at in partner and not start <= partner[at] < end


def _partners(text: str) -> dict[int, int]:
    """Return the place of each bracket's and quotation mark's partner, -1 for those that have none."""
    partner: dict[int, int] = {}
    open_signs: list[int] = []
    waiting: defaultdict[str, int] = defaultdict(int)
    for found in _SIGN.finditer(text):
        i, sign = found.start(), found[0]
        if sign in "'’" and _is_apostrophe(text, i):
            continue
        partner[i] = -1
        closes = _CLOSES.get(sign, "")
        if closes and any(map(waiting.__getitem__, closes)):
            # What was opened since then has no partner: the sign in "p(a < b)".
            while partner[i] < 0:
                opened = open_signs.pop()
                waiting[text[opened]] -= 1
                if text[opened] in closes:
                    partner[i], partner[opened] = opened, i
        elif sign not in _ONLY_CLOSE:
            open_signs.append(i)
            waiting[sign] += 1
    # A straight quotation mark without a partner is an apostrophe: 'Tis, the Jones'.
    return {i: other for i, other in partner.items() if other >= 0 or text[i] != "'"}


def _is_apostrophe(text: str, at: int) -> bool:
    return 0 < at < len(text) - 1 and text[at - 1].isalnum() and text[at + 1].isalnum()


Answer = TypeVar("Answer")


def remembered(longest: int) -> Callable[[Callable[[str], Answer]], Callable[[str], Answer]]:
    """Return a decorator that keeps the last 4,096 answers to texts of at most so many characters.

    Longer texts seldom come twice, and are read anew, so that memory is bounded. Answers must be values.
    """

    def decorator(read: Callable[[str], Answer]) -> Callable[[str], Answer]:
        kept = lru_cache(maxsize=4096)(read)

        @wraps(read)
        def recall(text: str) -> Answer:
            return kept(text) if len(text) <= longest else read(text)

        return recall

    return decorator


# What leads to a container: with a colon in any language, bare where it is nothing else.
_LEADS = "|".join(dict.fromkeys(found[1].lower() for entry in entries("in") if (found := re.match(r"(\w+)", entry))))
_IN = re.compile(
    rf"[\s.,;:]*(?:(?:{_LEADS})\s*[:：]|in\s+(?!(?:vitro|vivo|silico|situ|utero)\b)|dans\s)\s*", re.IGNORECASE
)


def clean_title(text: str) -> str:
    """Return a title without quotation marks around it and separators at its ends, the slash of ISBD among them."""
    return strip_separators(text.rstrip(" /") if text.rstrip().endswith(" /") or "//" in text[-4:] else text)


@remembered(longest=100)
def clean_container(text: str) -> str:
    """Return the title of a journal or book, also without the "In" or "In:" before it (but In Vitro stays).

    The full stop at its end stays where it belongs to an abbreviation, as in "Proc. Natl. Acad. Sci." or before another
    mark: "Plant Disp.,".
    """
    found = _IN.match(text)
    inner = strip_separators(text[found.end() :]) if found else ""
    name = inner or strip_separators(collapse(text))
    end = text.find(f"{name}.") + len(name) + 1
    stopped = end > len(name) and (text[end : end + 1] in (",", ";") or _is_in_short(name))
    return f"{name}." if stopped else name


def _is_in_short(name: str) -> bool:
    """Tell whether a journal's name is abbreviated with full stops: "Proc. Natl. Acad. Sci.", not "Ann Bot."."""
    *before, last = name.lower().split() or [""]
    if not last.isalpha() or not _OF_JOURNALS.isdisjoint(before):
        return False
    return any(word[:-1] in _OF_JOURNALS for word in before if word[-1:] == ".")


def with_stop(name: str, text: str) -> str:
    """Return a journal's name with its full stop where only the last word is abbreviated: "Plant Physiol.".

    text : what the name was read from; the reference is to be one that has full stops after initials.
    """
    *before, last = name.lower().split() or [""]
    in_short = last in _OF_JOURNALS and _OF_JOURNALS.isdisjoint(before)
    return f"{name}." if in_short and f"{name}." in text else name
