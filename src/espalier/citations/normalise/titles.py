"""Titles without what stands around them: quotation marks, a full stop, a comma, and the "In" before a container.

Case, brackets, question marks and everything inside stay as they are. Linear time.
"""

from __future__ import annotations

import re

from espalier.citations.normalise.memory import remembered
from espalier.citations.normalise.text import collapse, strip_separators

__all__ = ["clean_container", "clean_title"]

_IN = re.compile(
    r"[\s.,;:]*(?:(?:in|en|em|dans|aus|nel|i|见|載|载)\s*[:：]|in\s+(?!(?:vitro|vivo|silico|situ|utero)\b)|dans\s)\s*",
    re.IGNORECASE,
)


def clean_title(text: str) -> str:
    """Return a title without quotation marks around it and separators at its ends."""
    return strip_separators(text)


@remembered(longest=100)
def clean_container(text: str) -> str:
    """Return the title of a journal or book, also without the "In" or "In:" before it (but In Vitro stays)."""
    found = _IN.match(text)
    inner = strip_separators(text[found.end() :]) if found else ""
    return inner or strip_separators(collapse(text))
