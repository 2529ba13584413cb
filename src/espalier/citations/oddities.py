"""What looks odd in a work: values that are possible, and seldom right.

Labels are rated by the model, values are built from them afterwards: a list of names that is cut at the wrong comma is
no less sure than one that is right. So each value that looks odd has a name and a price here. The price, in nats, is
taken off the log odds that all of the record is right (`lowered`); it is what records with such a value were worth less
than they said, on references whose publishers gave the values (`scripts/price_oddities.py` prints it). A record names
its oddities, and a work without any is as sure as its labels.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from functools import cache
from itertools import chain
from math import exp, log
from typing import NamedTuple

from espalier.citations.normalise.name_words import is_initial
from espalier.citations.work import Name, Work

__all__ = ["ODDITIES", "Oddity", "lowered", "oddities"]


class Oddity(NamedTuple):
    """One kind of odd value: its name, what a reader is told, what finds it in a work, and its price in nats."""

    name: str
    means: str
    found: Callable[[Work], bool]
    price: float


def oddities(work: Work) -> tuple[str, ...]:
    """Return the names of what is odd, in the order of the table."""
    return tuple([row.name for row in ODDITIES if row.found(work)])


def lowered(confidence: float, odd: tuple[str, ...]) -> float:
    """Return how sure a record is whose labels are as sure as that, and that has these oddities."""
    price = sum(_prices()[name] for name in odd)
    if not price or not 0.0 < confidence < 1.0:
        return confidence * exp(-price)
    return 1.0 / (1.0 + exp(price - log(confidence / (1.0 - confidence))))


@cache
def _prices() -> dict[str, float]:
    return {row.name: row.price for row in ODDITIES}


_MANY_INITIALS = 5
_RANGE = re.compile(r"([^\d\W]?)0*([0-9]{1,9}) ?[-–] ?\1?0*([0-9]{1,9})")
_BRACKETS = (("(", ")"), ("[", "]"))


def _persons(work: Work) -> Iterator[Name]:
    return (name for name in chain(work.authors, work.editors, work.translators) if not name.literal)


def _has_many_initials(work: Work) -> bool:
    return any(
        len(words := name.given.split()) >= _MANY_INITIALS and all(map(is_initial, words)) for name in _persons(work)
    )


def _has_lone_name(work: Work) -> bool:
    """Tell whether a person has one name only, and others of the same list have two."""
    for names in (work.authors, work.editors, work.translators):
        given = [bool(name.given) for name in names if not name.literal]
        if len(given) > 1 and any(given) and not all(given):
            return True
    return False


def _has_initial_for_family(work: Work) -> bool:
    names = chain(work.authors, work.editors, work.translators)
    return any(len((name.family or name.literal).strip(". ")) == 1 for name in names)


def _has_digit_in_name(work: Work) -> bool:
    return any(sign.isdigit() for name in _persons(work) for sign in name.family + name.given)


def _runs_backwards(work: Work) -> bool:
    """Tell whether the last page comes before the first; one in short, 101-8, is longer than it looks."""
    found = _RANGE.fullmatch(work.pages.text) if work.pages else None
    return found is not None and len(found[2]) <= len(found[3]) and int(found[3]) < int(found[2])


def _has_wrong_check_digit(work: Work) -> bool:
    return (bool(work.isbn) and not _is_isbn(work.isbn)) or (bool(work.issn) and not _is_issn(work.issn))


def _is_isbn(number: str) -> bool:
    digits = [10 if sign in "xX" else int(sign) for sign in number if sign.isdigit() or sign in "xX"]
    if len(digits) == 10:
        return sum(digit * weight for digit, weight in zip(digits, range(10, 0, -1), strict=True)) % 11 == 0
    return len(digits) == 13 and sum(digit * (3 if k % 2 else 1) for k, digit in enumerate(digits)) % 10 == 0


def _is_issn(number: str) -> bool:
    digits = [10 if sign in "xX" else int(sign) for sign in number if sign.isdigit() or sign in "xX"]
    return len(digits) == 8 and sum(digit * (8 - k) for k, digit in enumerate(digits)) % 11 == 0


def _has_strange_year(work: Work) -> bool:
    latest = datetime.now(timezone.utc).year + 1
    years = [end[0] for date in (work.issued, work.accessed) if date is not None for end in date.parts]
    return any(year > latest for year in years)


def _has_short_title(work: Work) -> bool:
    return 0 < sum(map(str.isalpha, work.title)) < 2 if work.title.isascii() else False


def _has_open_bracket(work: Work) -> bool:
    texts = (work.title, work.container_title)
    return any(text.count(left) != text.count(right) for text in texts for left, right in _BRACKETS)


_NEEDED = {
    "article-journal": ("container_title",),
    "article-newspaper": ("container_title",),
    "article-magazine": ("container_title",),
    "chapter": ("container_title",),
    "paper-conference": ("container_title", "event"),
    "thesis": ("institution", "publisher"),
    "patent": ("number",),
    "standard": ("number",),
    "webpage": ("url", "container_title", "publisher"),
    "book": ("authors", "editors", "publisher", "location"),  # old ones name a town only
}
"""What a work of a type has at least one of."""


def _lacks_what_it_needs(work: Work) -> bool:
    return work.type in _NEEDED and not any(getattr(work, name) for name in _NEEDED[work.type])


ODDITIES = (
    Oddity("many initials", "a given name of five initials or more", _has_many_initials, 0.7),
    Oddity("lone name", "one word beside names of two", _has_lone_name, 1.8),
    Oddity("initial as name", "an initial without a name", _has_initial_for_family, 1.2),
    Oddity("digit in name", "a person with a number", _has_digit_in_name, 1.6),
    Oddity("pages backwards", "pages that run backwards", _runs_backwards, 1.7),
    Oddity("check digit", "an ISBN or ISSN whose check digit is wrong", _has_wrong_check_digit, 1.5),
    Oddity("future", "a year after the next", _has_strange_year, 1.5),
    Oddity("short title", "a title of one letter", _has_short_title, 1.5),
    Oddity("open bracket", "a title with half of a pair of brackets", _has_open_bracket, 1.8),
    Oddity("lacking", "nothing of what a work of its type has", _lacks_what_it_needs, 1.7),
)
"""All that is looked for."""
