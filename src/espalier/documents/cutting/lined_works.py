"""What is known of notes, for references that stand on lines of their own, or are told from others by their layout.

Such references never meet the model of lines. But a note of several works, with semicolons between them, is several
references there, too, and it is cut by what is read in it, as `regrouping` does it (`works_in`); but here, where the
layout says that it is one, a title that goes on behind the semicolon keeps it whole. And words between the
number of a note and its work (`4. See ...`) are no part of the work (`unled`).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from espalier.citations.splitting import Reference
from espalier.documents.cutting.filling import fill_in
from espalier.documents.cutting.recutting import read_fields, semicolon_pieces, works_behind_semicolons
from espalier.documents.cutting.regrouping import without_lead
from espalier.documents.line_words import mark_of, pattern

__all__ = ["tidied", "unled", "works_in"]

LONGEST = 6000
"""Characters of a text that may be several references; what is longer is none."""

_BETWEEN = pattern(r";\s*(?:(?:and|und)\s*)?\Z")


def works_in(text: str) -> list[tuple[int, int]]:
    """Return where each work of a text begins and ends; nothing if there is only one."""
    spans = semicolon_pieces(text) if len(text) <= LONGEST else []
    if not spans:
        return []
    whole, *fields = read_fields([text, *(without_lead(text[a:b])[1] for a, b in spans)])
    titles = [(one.start, one.start + len(one.text)) for one in whole if one.label in ("title", "container-title")]
    places = works_behind_semicolons(text, spans, fields)
    places = [place for place in places if not any(a < place < b for a, b in titles)]
    found: list[tuple[int, int]] = []
    for a, b in pairwise([0, *places, len(text)]) if places else ():
        begin = a + len(without_lead(text[a:b])[0]) if a else a
        begin += len(text[begin:b]) - len(text[begin:b].lstrip())
        found.append((begin, a + len(_BETWEEN.sub("", text[a:b]).rstrip())))
    return found


def unled(text: str) -> tuple[str, str]:
    """Return the words that lead to a work behind a number, and the text without them.

    Without a number a text keeps them: `See` may begin a title.
    """
    mark, after = mark_of(text)
    if mark is None or mark[1] < 0:
        return "", text
    begin = after + len(text[after:]) - len(text[after:].lstrip())
    lead, rest = without_lead(text[begin:])
    return lead, text[:begin] + rest if lead else text


def tidied(item: Reference, named: Reference | None) -> Reference:
    """Return a reference without such words, and with the authors that a dash stands for: those of the one before."""
    lead, text = unled(item.text)
    item = replace(item, text=text, lead=lead) if lead else item
    return list(fill_in([item] if named is None else [named, item]))[-1]
