"""What the model sees of a reference: one form for signs that mean the same, each in its place.

Quotation marks are curly, opening or closing by where they stand, and apostrophes straight, however they were typed;
hyphens, minus signs and figure dashes of all kinds are en dashes. A character stays one character, so that places are
those of the text. Records show the text as it was.
"""

from __future__ import annotations

import re
from dataclasses import replace

from espalier.document import Document

__all__ = ["as_seen", "document_seen", "words_seen"]

_FORMS = str.maketrans(dict.fromkeys("“”„‟", '"') | dict.fromkeys("‘’‚‛`´", "'") | dict.fromkeys("‐‑‒−", "–"))
_OTHER = re.compile('["“”„‟‘’‚‛`´‐‑‒−]')
_OPENING = re.compile(r'(?:(?<=[\s(\[{<—–/-])|^)"')


def as_seen(text: str) -> str:
    """Return the text with one form for signs that mean the same; it is as long as before.

    Examples
    --------
    >>> as_seen('"Soils," ‘loam’')
    "“Soils,” 'loam'"
    """
    if not _OTHER.search(text):
        return text
    plain = text.translate(_FORMS)
    return _OPENING.sub("“", plain).replace('"', "”") if '"' in plain else plain


def words_seen(document: Document) -> list[str]:
    """Return the tokens of a document as the model sees them."""
    text = as_seen(document.text)
    return [text[a:b] for a, b in document.tokens]


def document_seen(document: Document) -> Document:
    """Return a document whose text is what the model sees of it, to learn from."""
    text = as_seen(document.text)
    return document if text == document.text else replace(document, text=text)
