"""Attributes of lines: what the model of lines is told about each unit, as names.

Words (`line_words`), places (`places`), numbers that count up (`marks`), and what the whole document says:
how near the end a line is, whether it is printed on many pages, whether a heading of references stands above it. All of
it is relative, so one model serves a printed page and a pasted text.

`attributes` is the first pass. The second (`list_features`) adds what the first found out about the list.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.documents import pace
from espalier.documents.deciding.marks import MarkChain, chains
from espalier.documents.deciding.places import LinePlace, layouts
from espalier.documents.deciding.units import Unit
from espalier.documents.line_words import NAMED, Look, look

__all__ = ["Seen", "attributes", "bucket", "mean_around", "seen"]

Float = NDArray[np.float64]

_DIGITS = re.compile(r"\d+")
_REFLIKE = frozenset(
    ("(year)", "(year", "pages", "volume", "url", "arxiv", "in", "editors", "publisher", "place:", "et al", "accessed")
)


class Seen(NamedTuple):
    """Units, and all that is read out of them."""

    units: Sequence[Unit]
    looks: Sequence[Look]
    layouts: Sequence[LinePlace]
    chains: Sequence[MarkChain | None]


def seen(units: Sequence[Unit]) -> Seen:
    """Read units."""
    looks = []
    for unit in units:
        pace.look()
        looks.append(look(unit.text))
    # A running head may name the list on each of its pages.
    looks = [one._replace(heading="") if unit.hint == "page" else one for one, unit in zip(looks, units, strict=True)]
    return Seen(units, looks, layouts(units), chains([each.mark for each in looks]))


def attributes(page: Seen, *, layout: bool = True) -> list[list[str]]:
    """Return the attributes of each unit. layout : False leaves out what only places say."""
    found = [_own(look_, chain) for look_, chain in zip(page.looks, page.chains, strict=True)]
    for add in (_neighbours, _document, _since, _under, *([_places] if layout else [])):
        pace.look()
        add(page, found)
    return found


def bucket(value: float, steps: Sequence[float]) -> int:
    """Return the number of the class that a value is in; steps : where the classes after the first begin."""
    return sum(value >= step for step in steps)


def _own(one: Look, chain: MarkChain | None) -> list[str]:
    """Return what a line says by itself."""
    found = ["bias", f"b={one.begin}", f"e={one.end}", f"w0={one.first}", f"w-1={one.last}"]
    found += [f"f={flag}" for flag in one.flags]
    found.append(f"years={min(one.years, 3)}")
    found.append(f"initials={bucket(one.initials, (1, 2, 4))}")
    found.append(f"prose={bucket(one.prose, (1, 2, 3))}")
    found.append(f"words={bucket(one.words, (2, 3, 5, 8, 12, 30))}")
    found.append(f"caps={bucket(one.capitals / max(one.words, 1), (0.01, 0.2, 0.4, 0.6, 0.8))}")
    found.append(f"digits={bucket(one.digits, (0.01, 0.05, 0.1, 0.2, 0.4))}")
    like = sum(flag in _REFLIKE for flag in one.flags)
    found.append(f"like={min(like, 4)}&prose={min(one.prose, 2)}")
    if one.heading:
        found.append(f"h={one.heading}")
    if one.mark is not None:
        found.append(f"m={one.mark[0]}")
        found.append(f"m={one.mark[0]}&b={one.begin}")
    if chain is not None:
        length = bucket(chain.up + chain.down, (1, 2, 4, 8, 16))
        found += [f"chain={length}", f"chain={length}&up={min(chain.up, 2)}&down={min(chain.down, 2)}"]
        assert one.mark is not None
        found.append(f"chain={length}&m={one.mark[0]}")
        if chain.gap:
            found.append(f"chaingap={bucket(chain.gap, (2, 5, 9, 16))}")
    return found


def _neighbours(page: Seen, found: list[list[str]]) -> None:
    """Add what the lines above and below say, and how lines fit together."""
    looks, layouts_ = page.looks, page.layouts
    for i, one in enumerate(looks):
        mine = found[i]
        inner = "inner" if page.units[i].inner else ""
        if inner:
            mine += ["inner", f"inner&b={one.begin}", f"inner&m={one.mark[0] if one.mark else ''}"]
        if i == 0:
            mine.append("first")
        else:
            above = looks[i - 1]
            short = layouts_[i - 1].short
            mine += [
                f"pe={above.end}", f"pe={above.end}&b={one.begin}", f"pshort={short}", f"pshort={short}&b={one.begin}",
                f"pe={above.end}&pshort={short}", f"pb={above.begin}", f"pyears={min(above.years, 2)}",
                f"ph={above.heading}", f"pprose={min(above.prose, 2)}",
                f"named={one.begin in NAMED}&pnamed={above.begin in NAMED}&pe={above.end}{inner}",
            ]  # fmt: skip
            if above.mark is not None:
                mine.append(f"pm={above.mark[0]}")
            if one.key and above.key:
                mine.append(f"sorted={_order(above.key, one.key)}&b={one.begin}")
            if i > 1:
                mine.append(f"ppe={looks[i - 2].end}&pe={above.end}")
        if i + 1 < len(looks):
            below = looks[i + 1]
            mine += [f"nb={below.begin}", f"b={one.begin}&nb={below.begin}", f"nh={below.heading}"]
            mine += [f"nyears={min(below.years, 2)}", f"nprose={min(below.prose, 2)}"]
        else:
            mine.append("last")
        mine.append(f"short={layouts_[i].short}")
        mine.append(f"short={layouts_[i].short}&e={one.end}")


def _order(a: str, b: str) -> str:
    if a == b:
        return "same"
    if a > b:
        return "down"
    return "next" if a[0] == b[0] or ord(b[0]) - ord(a[0]) == 1 else "up"


def _document(page: Seen, found: list[list[str]]) -> None:
    """Add what only the whole document says."""
    units, looks, n = page.units, page.looks, len(page.units)
    faces = [_DIGITS.sub("0", unit.text.lower())[:60] for unit in units]
    times = Counter(faces)
    like = np.array([_likeness(each) for each in looks])
    prose = np.array([each.prose > 1 for each in looks], float)
    heads = np.array([each.heading == "references" for each in looks])
    later = int(heads.sum())
    since = -1
    sums, talk = mean_around(like, 6, 6), mean_around(prose, 6, 6)
    wide, wider = mean_around(like, 20, 20), mean_around(prose, 20, 20)
    down, up = mean_around(like, 0, 5), mean_around(like[::-1], 0, 5)[::-1]
    for i in range(n):
        if heads[i]:
            since, later = i, later - 1
        mine = found[i]
        mine.append(f"like6={bucket(float(sums[i]), (0.1, 0.2, 0.35, 0.5, 0.7))}")
        mine.append(f"talk6={bucket(float(talk[i]), (0.05, 0.15, 0.3, 0.5))}")
        far = bucket(float(wide[i]), (0.1, 0.2, 0.35, 0.5, 0.7))
        mine.append(f"like20={far}&talk20={bucket(float(wider[i]), (0.05, 0.15, 0.3))}")
        mine.append(
            f"below={bucket(float(down[i]), (0.15, 0.35, 0.6))}&above={bucket(float(up[i]), (0.15, 0.35, 0.6))}"
        )
        distance = -1 if since < 0 else bucket(i - since, (1, 2, 4, 10, 40, 150))
        mine.append(f"since={distance}")
        mine.append(f"since={distance}&later={later > 0}&like6={bucket(float(sums[i]), (0.15, 0.35, 0.6))}")
        if times[faces[i]] > 1:
            mine.append(f"times={bucket(times[faces[i]], (3, 5, 10))}&words={bucket(looks[i].words, (2, 4, 9))}")
        if faces[i] == "0":
            mine.append("number only")
        mine.append(f"place={int(10 * i / n)}" if n > 60 else "short document")
        if units[i].hint:
            mine.append(f"hint={units[i].hint}")


def _likeness(one: Look) -> float:
    like = sum(flag in _REFLIKE for flag in one.flags) + (one.years > 0) + (one.initials > 1) + (one.begin in NAMED)
    return min(like, 4) / 4 if one.prose < 2 else min(like, 4) / 8


def mean_around(values: Float, before: int, after: int) -> Float:
    """Return the mean of the values around each place, from so many before it to so many after it."""
    total = np.concatenate([[0.0], np.cumsum(values)])
    i = np.arange(len(values))
    a, b = np.maximum(i - before, 0), np.minimum(i + after + 1, len(values))
    mean: Float = (total[b] - total[a]) / np.maximum(b - a, 1)
    return mean


def _since(page: Seen, found: list[list[str]]) -> None:
    """Add what has been seen since the last line that began like a reference: a year, pages, the end of a sentence."""
    year = pages = ended = False
    count, above = 0, ""
    for one, mine in zip(page.looks, found, strict=True):
        named = one.begin in NAMED or one.mark is not None
        full = f"{year:d}{pages:d}{ended:d}"
        mine += [
            f"had={full}",
            f"had={full}&named={named}",
            f"had={full}&b={one.begin}",
            f"count={min(count, 5)}&named={named}",
            f"had={full}&pe={above}&named={named}",
        ]
        if named and (year or count > 4):
            year, pages, count = False, False, 0
        year = year or one.years > 0
        pages = pages or "pages" in one.flags or "publisher" in one.flags
        ended = one.end in ("stop", "year-stop", "range-stop", "digit-stop", "url", "range", "year", "digit")
        count, above = count + 1, one.end


def _under(page: Seen, found: list[list[str]]) -> None:
    """Add the mark that a unit stands under: in a numbered list, only the next number begins a reference."""
    under, distance = "", 0
    for one, chain, mine in zip(page.looks, page.chains, found, strict=True):
        if chain is not None and chain.up + chain.down > 1:
            assert one.mark is not None
            under, distance = f"{one.mark[0]}&next={chain.down > 0}", 0
        elif under and distance <= 40:
            mine += [
                f"under={under}",
                f"under={under}&b={one.begin}",
                f"under={under}&distance={bucket(distance, (2, 4, 8, 16))}",
            ]
        distance += 1


def _places(page: Seen, found: list[list[str]]) -> None:
    """Add where lines stand."""
    for i, (one, place) in enumerate(zip(page.looks, page.layouts, strict=True)):
        mine = found[i]
        named = one.begin in NAMED
        if place.indent:
            mine += [f"indent={place.indent}", f"indent={place.indent}&named={named}"]
        if place.step:
            mine += [
                f"step={place.step}",
                f"step={place.step}&b={one.begin}",
                f"step={place.step}&named={named}&indent={place.indent}",
            ]
        if place.gap:
            mine += [f"gap={place.gap}", f"gap={place.gap}&named={named}", f"gap={place.gap}&step={place.step}"]
            if i:
                mine.append(f"gap={place.gap}&pe={page.looks[i - 1].end}")
        if place.size:
            mine.append(f"size={place.size}")
            if one.heading:
                mine.append(f"size={place.size}&h={one.heading}")
        if place.top:
            mine += [f"top={place.top}", f"top={place.top}&words={bucket(one.words, (2, 4, 9))}"]
        if place.turn:
            mine += [f"turn={place.turn}", f"turn={place.turn}&named={named}"]
        if page.units[i].bold:
            mine += ["bold", f"bold&h={one.heading}"]
        if i + 1 < len(found):
            below = page.layouts[i + 1]
            mine.append(f"nstep={below.step}&step={place.step}")
            mine.append(f"ngap={below.gap}")
