"""Numbers as texts write them: whether two strings say the same digits, however they group them.

`1234.50`, `1,234.50`, `1.234,50`, `1 234,50` and `1'234.50` are one number; `234.50`, `12,345.0` and `-1234.50` are
others. Between two digits a text may say that they belong together (nothing, or a separator of thousands), that a
fraction begins, or that another number does; `1,234` leaves it open. Two texts agree if they have the same digits, if
they can mean the same between any two of them, and if their signs can be the same. O(length).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["Numeral", "digits_of", "is_grouped", "numerals", "same_numbers"]

_POINTS = ".,·٫"
_NUMBER = re.compile(rf"\d+(?:[{_POINTS}'’_٬\u00a0\u2009\u202f]\d+)*")
# A minus belongs to the number behind it, also before a sign of currency; between words or numbers it is a hyphen.
_MINUS = re.compile(r"(?<![\w)\]])[-−–][^\w\s(]?$")
_SPLIT = re.compile(r"\D")
_LOOSE = re.compile(r"[\s\-‐‑]")

_SAME, _FRACTION, _ANOTHER = "same", "fraction", "another"
_PLUS = frozenset("+")


class Numeral(NamedTuple):
    """A number of a text: its place, that with its sign, its runs of digits, their separators, its possible signs."""

    span: tuple[int, int]
    signed: tuple[int, int]
    runs: list[str]
    separators: list[str]
    signs: frozenset[str]


def numerals(text: str) -> Iterator[Numeral]:
    """Yield the numbers of a text, each as far as it is written without ordinary blanks."""
    before = 0
    for found in _NUMBER.finditer(text):
        start, end = found.span()
        minus = _MINUS.search(text, before, start)
        signs, signed = ({"-"}, (minus.start(), end)) if minus else ({"+"}, (start, end))
        if text[end : end + 1] == "-" and not text[end + 1 : end + 2].isalnum():
            signs, signed = {"+", "-"}, (signed[0], end + 1)  # `12-` is a debt, or an open range
        elif text[start - 1 : start] == "(" and text[end : end + 1] == ")":
            signs = {"+", "-"}
        runs = [_decimal(run) for run in _SPLIT.split(found[0])]
        yield Numeral((start, end), signed, runs, _SPLIT.findall(found[0]), frozenset(signs))
        before = end


def _decimal(run: str) -> str:
    """Return digits of any script as those of ASCII."""
    return run if run.isascii() else "".join(str(unicodedata.decimal(sign)) for sign in run)


def is_grouped(numeral: Numeral) -> bool:
    """Tell whether a number is written with separators of thousands, as far as one can see."""
    return any(_SAME in gap for gap in _gaps(numeral))


def _gaps(numeral: Numeral) -> list[set[str]]:
    """Return what each separator of a number can mean."""
    separators = numeral.separators
    if not separators:
        return []
    *groups, last = separators
    if len({*separators}) == 1 and last != "٫" and _in_groups(numeral.runs):
        return [{_SAME, _FRACTION, _ANOTHER} if not groups and last in _POINTS else {_SAME} for _ in separators]
    if last in _POINTS and (
        not groups or (len({*groups}) == 1 and last not in groups and _in_groups(numeral.runs[:-1]))
    ):
        return [*({_SAME} for _ in groups), {_FRACTION, _ANOTHER}]
    return [{_SAME, _ANOTHER} if sign not in _POINTS else {_ANOTHER} for sign in separators]


def _in_groups(runs: list[str]) -> bool:
    """Tell whether runs of digits are groups of thousands: 1 234 567, or 12 34 567 as in India."""
    first, *middle, last = runs
    fits = 1 <= len(first) <= 3 and first[0] != "0" and len(last) == 3
    return fits and ({*map(len, middle)} <= {3} or (len(first) <= 2 and {*map(len, middle)} == {2}))


def _spelled(text: str, rounded: bool) -> tuple[str, list[set[str]], list[frozenset[str] | None]]:
    """Return the digits of a text, what can stand between any two, and the signs before each (None: in a number)."""
    digits, between, signs, end = "", list[set[str]](), list[frozenset[str] | None](), 0
    for numeral in numerals(text):
        runs, gaps = list(numeral.runs), _gaps(numeral)
        if rounded and gaps and _SAME not in gaps[-1] and _FRACTION in gaps[-1]:
            runs[-1] = runs[-1].rstrip("0")
        if digits:
            loose = numeral.span[0] - end == 1 and _LOOSE.match(text, end)
            between.append({_SAME, _ANOTHER} if loose else {_ANOTHER})
        for gap, run in zip([None, *gaps], runs, strict=True):
            if run:
                between += [gap] if gap else []
                between += [{_SAME}] * (len(run) - 1)
                signs += [None if gap else numeral.signs, *[None] * (len(run) - 1)]
                digits += run
        end = numeral.span[1]
    return digits, between, signs


def same_numbers(one: str, other: str, *, rounded: bool = False) -> bool:
    """Tell whether two texts have the same numbers, in the same order; rounded : but for zeros that end a fraction."""
    (digits, between, signs), (again, between_again, signs_again) = _spelled(one, rounded), _spelled(other, rounded)
    if digits != again or any(a.isdisjoint(b) for a, b in zip(between, between_again, strict=True)):
        return False
    return not any((a or _PLUS).isdisjoint(b or _PLUS) for a, b in zip(signs, signs_again, strict=True))


def digits_of(text: str) -> str:
    """Return the digits of a text, and nothing else."""
    return _decimal("".join(re.findall(r"\d", text)))
