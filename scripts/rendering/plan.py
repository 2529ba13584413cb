"""Which works are rendered in which styles and languages: every style several times, the common ones more often."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from rendering.kinds import Maker
from rendering.words import LANGUAGES
from rendering.works import Item

LOCALES = (
    *(
        "de-DE",
        "de-AT",
        "de-CH",
        "fr-FR",
        "fr-CA",
        "es-ES",
        "es-MX",
        "es-CL",
        "it-IT",
        "pt-PT",
        "pt-BR",
        "nl-NL",
        "pl-PL",
    ),
    *("ru-RU", "zh-CN", "zh-TW", "ja-JP", "it-IT", "nl-NL", "pl-PL", "ru-RU", "zh-CN", "ja-JP"),
)
"""The locales besides English; each language about as often as another."""

COMMON = re.compile(
    r"""(?x)^(?:
        apa\b | ieee$ | nlm- | modern-language | chicago | harvard | nature$ | science$ | cell$ | elsevier | springer |
        american-(?:medical|chemical|physics|institute|sociological|political) | vancouver | iso690 | din- | gost |
        associacao | turabian | mhra | acm- | china-national | council-of-science | plos | bmc | biomed | taylor |
        sage | new-harts | oscola | bluebook | deutsche | sist02 | american-geophys )"""
)
NO_REFERENCES = frozenset(
    {"bibtex", "wikipedia-templates", "spip-cite", "biblatex", "blank", "national-archives-of-australia"}
)
"""Styles whose output is no reference."""

ABROAD = 0.5, 0.4
"""How many styles are rendered in another language besides their own, and how much of their references."""


@dataclass(frozen=True, slots=True)
class Style:
    """A style, and the locale that it is made for."""

    name: str
    locale: str


@dataclass(frozen=True, slots=True)
class Job:
    """Works to be rendered in a style and a locale."""

    number: int
    style: str
    locale: str
    force: bool
    items: Sequence[Item]

    def line(self) -> str:
        """Return what `render.js` reads."""
        hidden = ("kind", "work")
        items = [{key: value for key, value in item.items() if key not in hidden} for item in self.items]
        found = {"number": self.number, "style": self.style, "locale": self.locale, "force": self.force, "items": items}
        return json.dumps(found, ensure_ascii=False)


def read_styles(directory: Path, part: str) -> list[Style]:
    """Return the styles of a part that have a bibliography."""
    rows = json.loads((directory / "csl" / "styles.json").read_text(encoding="utf-8"))
    return [
        Style(row["id"], row.get("default-locale") or "en-US")
        for row in rows
        if row["split"] == part and row["bibliography"] and row["id"] not in NO_REFERENCES
    ]


def plan(styles: Sequence[Style], maker: Maker, random: Random, count: int, evenly: bool = False) -> Iterator[Job]:
    """Yield jobs with about `count` works in all; common styles more often than others, unless `evenly`.

    A reference may turn out to be no use, so the caller asks for more than it wants.
    """
    weights = [1.0] * len(styles) if evenly else _weights(styles)
    number = works = 0
    locales = list(LOCALES)
    for style, weight in zip(styles, weights, strict=True):
        n = max(1, _rounded(random, count * weight / sum(weights)))
        abroad = sum(random.random() < ABROAD[1] for _ in range(n)) if random.random() < ABROAD[0] else 0
        if not locales:
            locales = list(LOCALES)
        for locale, force, size in ((style.locale, False, n - abroad), (_drawn(random, locales), True, abroad)):
            if size:
                items = [work(maker, random, locale, f"{number}-{k}") for k in range(size)]
                yield Job(number, style.name, locale, force, items)
                number, works = number + 1, works + size


def _weights(styles: Sequence[Style]) -> list[float]:
    """Return how often each style is used: a common one four times, unless it has many near relations."""
    families = [match.group() if (match := COMMON.match(style.name)) else "" for style in styles]
    sizes = Counter(families)
    return [max(1.0, min(4.0, 40 / sizes[family])) if family else 1.0 for family in families]


def _rounded(random: Random, value: float) -> int:
    """Return a whole number near a value, right on average."""
    return int(value) + (random.random() < value % 1)


def _drawn(random: Random, left: list[str]) -> str:
    """Take one out of a list."""
    return left.pop(random.randrange(len(left)))


def work(maker: Maker, random: Random, locale: str, id: str) -> Item:
    """Return a work to be cited in a text of this locale: often, not always, in its language."""
    language = locale[:2] if locale[:2] in LANGUAGES else "en"
    share = 0.06 if language == "en" else 0.6
    if random.random() >= share:
        language = "en"
    elif language == "en":
        language = random.choice(LANGUAGES)
    item = maker.draw(language)
    return {**item, "id": id, "work": item.get("id", "made")}
