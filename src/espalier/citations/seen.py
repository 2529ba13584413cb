"""What the model sees of a reference: its tokens, and one form for signs that mean the same.

Quotation marks are curly, opening or closing by where they stand, and apostrophes straight, however they were typed;
hyphens, minus signs and figure dashes of all kinds are en dashes. Where a file was read in the wrong encoding, a
question mark stands for what was lost: between two digits for a dash, around a title for quotation marks. A character
stays one character, so that places are those of the text.

Tokens are the default ones but for two things. Words that lost the space between them are apart again where nothing
else can be meant: `7-Decq P`, `andB. Shaw`, `Gastroenterology70, 58`, `1984Lightwave`. Marks of HTML (`<i>`, `&#353;`)
are read as what they mean: a tag belongs to the token beside it, and the model does not see it. Records show the text
as it was. Only tags that say how a text looks are known, so that an angle bracket in a formula stays; a line break is a
space, and an entity may have been escaped several times:

    <i>Tobacco Control</i>, 9        Tobacco Control, 9
    Ga&#353;evi&#263; &amp;amp; Ho   Gašević & Ho
"""

from __future__ import annotations

import html
import re
from dataclasses import replace
from typing import NamedTuple

from espalier.document import Document, tokenise

__all__ = [
    "LOST_DASH",
    "Plain",
    "as_seen",
    "document_seen",
    "has_markup",
    "read_markup",
    "reference_document",
    "reference_tokens",
    "without_markup",
    "words_seen",
]

_LOOKS = "i|b|u|em|strong|sub|sup|small|big|span|sc|scp|tt|font|italic|bold|cite|br|p"
_MARK = re.compile(
    rf"(<(/?)(?:[a-z]+:)?({_LOOKS})(?:\s+[a-z:-]+\s*=[^<>]{{0,200}}|\s*/)?>)"
    r"|&(?:amp;)*(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,30});",
    re.IGNORECASE,
)
_BREAK = re.compile(r"</?(?:br|p)\b", re.IGNORECASE)


class Plain(NamedTuple):
    """A text without its marks, where each of its characters begins and ends in the marked text, and the tags there."""

    text: str
    starts: list[int]
    ends: list[int]
    tags: list[tuple[int, int]]


def has_markup(text: str) -> bool:
    """Tell whether there may be marks: most texts have neither of the signs that they begin with."""
    return "<" in text or "&" in text


def without_markup(text: str) -> str:
    """Return the text without tags, entities as the signs that they stand for."""
    plain = read_markup(text) if has_markup(text) else None
    return text if plain is None else plain.text


def read_markup(text: str) -> Plain | None:
    """Return what is left without the marks; None if there are none."""
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    tags: list[tuple[int, int]] = []

    def add(piece: str, start: int, end: int) -> None:
        pieces.append(piece)
        alone = len(piece) == end - start  # each character stands for itself
        starts.extend(range(start, end) if alone else [start] * len(piece))
        ends.extend(range(start + 1, end + 1) if alone else [end] * len(piece))

    at, marked = 0, False
    for found in _MARK.finditer(text):
        start, end = found.span()
        meant = "" if found[1] else _meant(found[0])
        if meant == found[0] or (found[1] and _is_formula(found, text)):  # nobody knows such an entity, or i<b>c
            continue
        marked = True
        add(text[at:start], at, start)
        at = end
        if found[1]:
            if _BREAK.match(found[0]):
                add(" ", start, end)
            tags.append((start, end))
        else:
            add(meant, start, end)
            if meant == " ":  # no token holds it
                tags.append((start, end))
    if not marked:
        return None
    add(text[at:], at, len(text))
    return Plain("".join(pieces), starts, ends, tags)


def _is_formula(tag: re.Match[str], text: str) -> bool:
    """Tell the signs of a formula from a tag of one letter: a tag is closed somewhere."""
    name = tag[3].lower()
    return len(name) == 1 and name != "p" and not tag[2] and f"</{name}>" not in text.lower()


def _meant(entity: str) -> str:
    """Return the sign that an entity stands for, escaped up to four times; spaces of all kinds are one."""
    for _ in range(4):
        entity = html.unescape(entity)
    return " " if entity.isspace() else entity


Tokens = tuple[tuple[int, int], ...]

_FORMS = str.maketrans(dict.fromkeys("“”„‟", '"') | dict.fromkeys("‘’‚‛`´", "'") | dict.fromkeys("‐‑‒−", "–"))
_OTHER = re.compile('["“”„‟‘’‚‛`´‐‑‒−?\ufffd]')
_OPENING = re.compile(r'(?:(?<=[\s(\[{<—–/-])|^)"')
LOST_DASH = re.compile("(?<=[0-9])[?\ufffd](?=[0-9])")
"""What stands for a dash between two numbers in a text that was read in the wrong encoding."""
_LOST_QUOTES = re.compile(r"(?:(?<=[\s(])|^)\?(?=[^\W_])([^?]*[^\W_][,.!)]?\s?)\?(?=[\s,.;:)]|$)")
_LOST_AUTHOR = re.compile(r"^\?(?=:? )")

_GLUED = re.compile(
    r"^[0-9]{1,3}-(?=[A-ZÀ-Þ][a-zß-ÿ])|(?<![\w./@])(?:(?:and|und|et)(?=[A-ZÀ-Þ][\w.])"
    r"|[^\W\d_]*[a-zß-öø-ÿ]{3}(?=[0-9]{1,4}(?:[,:;(]| \(|\. ?[0-9]|\.?$))"
    r"|(?:1[5-9]|20)[0-9]{2}(?=[A-Z]\. [A-Z][a-z])|[0-9]{2,4}(?=[A-Z][a-z]{2}))"
)
# Where one of these may be, which is quicker to see: a letter or number right behind the other kind, a list's number.
_MAY_BE_GLUED = re.compile("[0-9A-ZÀ-Þ](?<=[a-zß-öø-ÿ].)|[A-Z](?<=[0-9].)|^[0-9]{1,3}-")


def as_seen(text: str) -> str:
    """Return the text with one form for signs that mean the same; it is as long as before.

    Examples
    --------
    >>> as_seen('"Soils," ‘loam’, 33?52')
    "“Soils,” 'loam', 33–52"
    """
    if not _OTHER.search(text):
        return text
    plain = text.translate(_FORMS)
    if "?" in plain or "\ufffd" in plain:
        plain = _LOST_AUTHOR.sub("—", _LOST_QUOTES.sub(r"“\1”", LOST_DASH.sub("–", plain)))
    return _OPENING.sub("“", plain).replace('"', "”") if '"' in plain else plain


def document_seen(document: Document) -> Document:
    """Return a document whose text is what the model sees of it, to learn from."""
    text = as_seen(document.text)
    return document if text == document.text else replace(document, text=text)


def reference_tokens(text: str) -> Tokens:
    """Return the offsets of the tokens of a reference."""
    plain = read_markup(text) if has_markup(text) else None
    if plain is not None and (tokens := _in_markup(text, plain)):
        return tokens
    return _apart(text, tokenise(text))


def reference_document(text: str) -> Document:
    """Return a reference as a document, with these tokens."""
    return Document.from_offsets(text, reference_tokens(text))


def words_seen(document: Document) -> list[str]:
    """Return what the model sees of a document: a word for each of its tokens."""
    text = document.text
    plain = read_markup(text) if has_markup(text) else None
    if plain is not None and document.tokens == _in_markup(text, plain) != ():
        seen = as_seen(plain.text)
        return [seen[a:b] for a, b in _apart(plain.text, tokenise(plain.text))]
    text = as_seen(text)
    return [text[a:b] for a, b in document.tokens]


def _apart(text: str, tokens: Tokens) -> Tokens:
    """Return tokens, those cut in two that hold words which lost the space between them."""
    cuts = [found.end() for found in _GLUED.finditer(text)] if _MAY_BE_GLUED.search(text) else []
    if not cuts:
        return tokens
    found: list[tuple[int, int]] = []
    for start, end in tokens:
        while cuts and cuts[0] <= start:
            cuts.pop(0)
        while cuts and cuts[0] < end:
            found.append((start, cuts[0]))
            start = cuts.pop(0)
        found.append((start, end))
    return tuple(found)


def _in_markup(text: str, plain: Plain) -> Tokens:
    """Return tokens of the plain text at their places in the marked one, tags with the token that they stand at."""
    places = [[plain.starts[a], plain.ends[b - 1]] for a, b in _apart(plain.text, tokenise(plain.text))]
    if not places:
        return ()
    k = 0
    for start, end in plain.tags:
        while k < len(places) and places[k][0] < start:
            k += 1
        if k and places[k - 1][1] > start:  # it stands inside a token
            continue
        if k and (k == len(places) or text.startswith("</", start)):
            places[k - 1][1] = end
        else:
            places[k][0] = start
    return tuple((a, b) for a, b in places)
