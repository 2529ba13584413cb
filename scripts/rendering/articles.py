"""Articles in layouts that are common in print but rare among styles, with what real lists do to them.

ACM's (the year twice), ACS's without titles, Vancouver's with short titles and days in many languages, ABNT's with the
place behind the journal; often only the first page is given. A layout is a list of pieces, each with its variable.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from rendering.bibtex import Pieces, initials, people
from rendering.details import some, year_of
from rendering.words import Words
from rendering.works import Item

from espalier.document import Document

LAYOUTS = ("acm-proceedings", "acs", "vancouver", "abnt")
ONE_PAGE = 0.35
"""How often the first page stands for all."""

SHORT_MONTHS = {
    language: text.split()
    for language, text in {
        "en": "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
        "es": "ene feb mar abr may jun jul ago sept oct nov dic",
        "pt": "jan fev mar abr maio jun jul ago set out nov dez",
        "fr": "janv févr mars avr mai juin juil août sept oct nov déc",
        "de": "Jan Feb März Apr Mai Juni Juli Aug Sept Okt Nov Dez",
        "it": "genn febbr mar apr magg giugno luglio ag sett ott nov dic",
    }.items()
}

Piece = tuple[str, str]


def write_article(random: Random, words: Words, item: Item, layout: str) -> Document | None:
    """Return an article in a layout; None if it lacks what the layout prints."""
    needed = ("author", "issued", "container-title", "volume", "page")
    if item["kind"] != "article" or not all(item.get(name) for name in needed):
        return None
    out = Pieces()
    for text, variable in _WRITERS[layout](random, words, item):
        out.add(text, variable)
    return out.document("article")


def _acm(random: Random, _: Words, item: Item) -> list[Piece]:
    """V. T. 1987. Title. Journal. 48, 178 (Apr. 1987), 833."""
    year = str(year_of(item))
    month = f"{_month(random, item, 'en')}. " if some(random, 0.7) else ""
    found = [(people(random, item["author"], "reversed", " and "), "author"), (". ", ""), (year, "issued"), (". ", "")]
    found += [(item["title"], "title"), (". ", ""), (_journal(random, item), "container-title"), (". ", "")]
    found += [(item["volume"], "volume"), *_issue(item, ", {}"), (" ", "")]
    return [*found, (f"({month}{year})", "issued"), (", ", ""), (_pages(random, item), "page"), (".", "")]


def _acs(random: Random, _: Words, item: Item) -> list[Piece]:
    """Torvald, M.; Niemi, P. Sci. Hortic. 1990, 45, 77-90."""
    names = "; ".join(_reversed(name) for name in item["author"][:8])
    titled = [(item["title"], "title"), (". ", "")] if some(random, 0.25) else []
    found = [(names, "author"), (" ", ""), *titled, (_journal(random, item), "container-title"), (" ", "")]
    found += [(str(year_of(item)), "issued"), (", ", ""), (item["volume"], "volume")]
    found += _issue(item, " ({})") if some(random, 0.3) else []
    return [*found, (", ", ""), (_pages(random, item), "page"), (random.choice((".", ".", "")), "")]


def _vancouver(random: Random, _: Words, item: Item) -> list[Piece]:
    """Pohl A. Dams. Water 2003 nov. 12;52(4):8-14."""
    names = ", ".join(_joined(name) for name in item["author"][:6]) + (", et al" if len(item["author"]) > 6 else "")
    title = item["title"]
    if some(random, 0.25):
        title = " ".join(re.sub(r"[^\w\s-]", "", title).split()[: random.randint(1, 3)]) or title
    date = str(year_of(item))
    if some(random, 0.5):
        language = random.choice(list(SHORT_MONTHS))
        date += f" {_month(random, item, language)}{random.choice(('', '.'))}"
        date += f" {random.randint(1, 28)}" if some(random, 0.6) else ""
    journal = _journal(random, item).rstrip(".")
    found = [(names, "author"), (". ", ""), (title, "title"), (". ", ""), (journal, "container-title")]
    found += [(random.choice((". ", " ")), ""), (date, "issued"), (random.choice((";", "; ")), "")]
    found += [(item["volume"], "volume"), *_issue(item, "({})"), (random.choice((":", ": ")), "")]
    return [*found, (_pages(random, item), "page"), (".", "")]


def _abnt(random: Random, words: Words, item: Item) -> list[Piece]:
    """SILVA, J. Título. Revista, Viçosa, v. 28, n. 3, p. 1-9, set. 2010."""
    names = "; ".join(_reversed(name, capitals=True) for name in item["author"][:5])
    month = f"{_month(random, item, 'pt').lower()}. " if some(random, 0.4) else ""
    place = words.one(random, "cities").split(",")[0]
    found = [(names, "author"), (" ", ""), (item["title"], "title"), (". ", "")]
    found += [(item["container-title"], "container-title"), (", ", ""), (place, "publisher-place"), (", ", "")]
    found += [(f"v. {item['volume']}", "volume"), *_issue(item, ", n. {}"), (", ", "")]
    found += [(f"p. {_pages(random, item)}", "page"), (", ", ""), (f"{month}{year_of(item)}", "issued"), (".", "")]
    return found


_WRITERS = dict(zip(LAYOUTS, (_acm, _acs, _vancouver, _abnt), strict=True))


def _issue(item: Item, form: str) -> Sequence[Piece]:
    """Return the issue, if there is one; form : with what is around it, which is its own but for a comma."""
    if not item.get("issue"):
        return []
    before = ", " if form.startswith(",") else " " if form.startswith(" ") else ""
    return [(before, ""), (form.removeprefix(before).format(item["issue"]), "issue")]


def _pages(random: Random, item: Item) -> str:
    """Return the pages, often the first alone."""
    page = str(item["page"])
    return page.split("-")[0] if some(random, ONE_PAGE) else page.replace("-", random.choice(("-", "–")))


def _journal(random: Random, item: Item) -> str:
    """Return the name of the journal, or its abbreviation."""
    short = item.get("container-title-short") if some(random, 0.5) else None
    return str(short or item["container-title"])


def _month(random: Random, item: Item, language: str) -> str:
    """Return the month of a work, or any."""
    parts = item["issued"].get("date-parts", [[0]])[0]
    return SHORT_MONTHS[language][parts[1] - 1 if len(parts) > 1 else random.randrange(12)]


def _reversed(name: Item, capitals: bool = False) -> str:
    """Return a name with the family first: Niemi, P."""
    if "literal" in name:
        return str(name["literal"])
    family = f"{name.get('non-dropping-particle', '')} {name['family']}".strip()
    family = family.upper() if capitals else family
    return f"{family}, {initials(name.get('given', ''))}".rstrip(", ")


def _joined(name: Item) -> str:
    """Return a name as Vancouver has it: Niemi PK."""
    if "literal" in name:
        return str(name["literal"])
    family = f"{name.get('non-dropping-particle', '')} {name['family']}".strip()
    return f"{family} {initials(name.get('given', ''), tight=True).replace('.', '')}".strip()
