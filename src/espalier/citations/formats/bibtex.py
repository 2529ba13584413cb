r"""BibTeX: one entry a work, for the classic styles; UTF-8, with the characters that TeX gives a meaning escaped.

    @phdthesis{andersen1994program,
      author = {Andersen, L. O.},
      title = {Program Analysis and Specialization for the {C} Programming Language},
      ...
    }

Values are cleaned (`formats.clean`) and escaped: `\# \$ \% \& \_`, a word in braces for the characters that need
one (`{\textbackslash}`; braces too, since BibTeX counts `\{`), and `{}` inside what TeX would join (`-{}-`). DOI, URL
and eprint are not escaped, as `\url` wants them: there braces and backslashes are percent-encoded, and in a URL what
else a URI may not hold.

Names are 'von Last, Jr, First'; a name or part that BibTeX would take apart elsewhere (a comma, 'and', an
institution) is in braces; 'et al.' is 'and others'. Capitals that a style must not lower are in braces: a capital
inside a word (DNA, LaTeX, R&D, not Non-Linear), a capital alone (C, but not the article A) and, in a title whose
words are mostly in lower case, every capitalised word but the first (names). A title all in capitals is left to the
style.

The fields are those of the classic styles where there is one; `day`, `doi`, `url`, `urldate`, `isbn`, `issn`,
`eprint`, `translator`, `organization`, `version`, `pagetotal`, `volumes`, `eventtitle`, `origdate`, `pmid`, `pmcid`,
`jstor`, `handle` and `entrysubtype` (newspaper, magazine) are passed over by styles that do not know them. A month is
its macro, a range of months two (`may # "--" # jun`), a season its English name; a date that could not be read is the
year. The letter of '2004a' is in the key, not in the year, which styles sort by and give letters of their own. What
could not be read or had no room is in `annote`, which only annotating styles print; so is the text of a date read in
part.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from espalier.citations.formats import SEASONS, Keys, OutputFormat, clean, edtf, left_over, page_range, uri
from espalier.citations.normalise.text import remembered
from espalier.errors import InputError

if TYPE_CHECKING:
    from espalier.citations.work import Date, Name, Pages, Work

__all__ = ["DIALECTS", "FORMAT", "entry", "escape"]

_Write = Callable[[Any], str]

# CSL type: entry type, and the field of the container's title. Every other type is a @misc; so is, to a classic style,
# any that it does not know.
_TYPES = {
    "article-journal": ("article", "journal"),
    "paper-conference": ("inproceedings", "booktitle"),
    "chapter": ("incollection", "booktitle"),
    "book": ("book", "booktitle"),
    "thesis": ("phdthesis", "booktitle"),
    "report": ("techreport", "booktitle"),
    "article-newspaper": ("article", "journal"),
    "article-magazine": ("article", "journal"),
    "manuscript": ("unpublished", "howpublished"),
}
# Types that only biblatex knows: others leave such entries out, or say that they are none.
_BIBLATEX = {
    "dataset": "dataset",
    "software": "software",
    "patent": "patent",
    "standard": "standard",
    "legal_case": "jurisdiction",
    "legislation": "legislation",
    "webpage": "online",
    "post-weblog": "online",
    "report": "report",
    "motion_picture": "movie",
    "broadcast": "video",
    "personal_communication": "letter",
}
DIALECTS = ("bibtex", "biblatex")
"""Whose entry types there are."""
_MISC = ("misc", "howpublished")
_SUBTYPES = {"article-newspaper": "newspaper", "article-magazine": "magazine"}
_HOUSE = {"thesis": "school", "report": "institution"}
# BibTeX has two kinds of theses; whatever is no doctor's is the smaller one.
_MASTERS = re.compile(
    r"\b(?:master|[mb]\.? ?sc|[mb]\.? ?a\b|[mb]\.? ?eng\b|m\.? ?phil|diplom|bachelor|licen[ct]|pro gradu|opinnäyte"
    r"|uppsats|scriptie|undergraduate|honou?rs|magist|maestr|mestr|ma[îi]tr|m[ée]moire|laurea|магист|диплом|skripsi"
    r"|yüksek lisans|speciale|examensarbete|szakdolgozat|bakal|hovedfag|lizentiat|tf[mg]\b)|硕士|碩士|修士|석사",
    re.IGNORECASE,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_ESCAPES = str.maketrans(
    {c: rf"\{c}" for c in "#$%&_"}
    | {
        "\\": r"{\textbackslash}",
        "{": r"{\textbraceleft}",
        "}": r"{\textbraceright}",
        "~": r"{\textasciitilde}",
        "^": r"{\textasciicircum}",
        "<": r"{\textless}",
        ">": r"{\textgreater}",
        "|": r"{\textbar}",
    }
)
_LIGATURE = re.compile(r"-(?=-)|`(?=`)|'(?=')|,(?=,)|[!?](?=`)")
_JOINED = ("--", "``", "''", ",,", "!`", "?`")
# Without one of these, or two commas, there is nothing to escape; and nearly nothing to search for.
_SUSPECT = re.compile(r"[-#$%&_\\{}~^<>|`']")
_UNSAFE = re.compile(r"[\\{}]")
_JOINERS = frozenset("-‐‑–—/()[]:")
_CORE = re.compile(r"[^\W_](?:.*[^\W_])?")


def entry(work: Work, key: str = "", dialect: str = "bibtex") -> str:
    """Return the entry of a work, ended by a newline; without `key` it has the key it would have alone in a run.

    dialect : "biblatex" has types for data, programs, patents, standards, laws and the like, which BibTeX calls @misc.
    """
    if dialect not in DIALECTS:
        raise InputError(f"dialect={dialect!r} is no dialect of BibTeX", hint=f"take one of: {', '.join(DIALECTS)}")
    kind, _ = _TYPES.get(work.type, _MISC)
    if dialect == "biblatex":
        kind = _BIBLATEX.get(work.type, kind)
    if kind == "phdthesis" and _MASTERS.search(work.genre):
        kind = "mastersthesis"
    lines = "".join([f"  {name} = {value},\n" for name, value in _fields(work)])
    return f"@{kind}{{{key or Keys()(work)},\n{lines}}}\n"


def escape(text: str) -> str:
    """Return cleaned text that TeX sets, and BibTeX reads, as it stands."""
    cleaned = clean(text)
    if not _SUSPECT.search(cleaned) and ",," not in cleaned:
        return cleaned
    escaped = cleaned.translate(_ESCAPES)
    return _LIGATURE.sub(r"\g<0>{}", escaped) if any(map(escaped.__contains__, _JOINED)) else escaped


def _fields(work: Work) -> Iterator[tuple[str, str]]:
    """Yield (field, value as it stands in the file) of all that a work has, the classic fields first."""
    for role, names in (("author", work.authors), ("editor", work.editors), ("translator", work.translators)):
        if (names or role in work.others) and (value := _braced(_names(names, role in work.others))):
            yield role, value
    # The school of a thesis and the house of a report may stand as its publisher.
    alone = work.type in _HOUSE and not clean(work.institution)
    contents, fields = _table(work.type, alone, both=bool(work.number and clean(work.number)))
    for content, (name, write_out) in zip(contents(work), fields, strict=True):
        if content and (value := write_out(content)):
            yield name, value
    if value := _value(left_over(work)):
        yield "annote", value


@lru_cache(maxsize=64)  # of types, and four for each
def _table(kind: str, alone: bool, both: bool) -> tuple[attrgetter[tuple[Any, ...]], tuple[tuple[str, _Write], ...]]:
    """Return what gets the contents of a work, in order, and for each the name of its field and what writes it.

    alone : the house of the work stands as its publisher; both : it has a number of its own, besides an issue.
    """
    _, container = _TYPES.get(kind, _MISC)
    subtype = _braced(_SUBTYPES.get(kind, ""))
    rows: tuple[tuple[str, str, _Write], ...] = (
        ("title", "title", _title),
        ("container_title", container, _value),
        ("collection_title", "series", _value),
        ("volume", "volume", _value),
        *([("number", "number", _value), ("issue", "issue", _value)] if both else [("issue", "number", _value)]),
        ("pages", "pages", _pages),
        ("number_of_pages", "pagetotal", _value),
        ("number_of_volumes", "volumes", _value),
        ("edition", "edition", _value),
        ("version", "version", _value),
        ("event", "eventtitle", _value),
        ("publisher" if alone else "institution", _HOUSE.get(kind, "organization"), _value),
        *([] if alone else [("publisher", "publisher", _value)]),
        ("location", "address", _value),
        ("issued", "year", _year),
        ("issued", "month", _month),
        ("issued", "day", _day),
        ("original_date", "origdate", _accessed),
        ("genre", "type", _value),
        ("type", "entrysubtype", lambda _: subtype),
        ("note", "note", _value),
        ("doi", "doi", _verbatim),
        ("url", "url", _url),
        ("accessed", "urldate", _accessed),
        ("isbn", "isbn", _value),
        ("issn", "issn", _value),
        ("arxiv", "eprint", _verbatim),
        ("arxiv", "archiveprefix", lambda _: "{arXiv}"),
        ("pmid", "pmid", _verbatim),
        ("pmcid", "pmcid", _verbatim),
        ("jstor", "jstor", _verbatim),
        ("handle", "handle", _verbatim),
    )
    return attrgetter(*[attribute for attribute, _, _ in rows]), tuple([(name, write) for _, name, write in rows])


def _braced(value: str) -> str:
    return f"{{{value}}}" if value else ""


def _value(text: str) -> str:
    return f"{{{text}}}" if text.isalnum() else _braced(escape(text))  # nothing is done to letters and digits


def _verbatim(identifier: str) -> str:
    """Return an identifier as it is, but for the three characters that would end or spoil the value."""
    return _braced(_UNSAFE.sub(lambda m: f"%{ord(m[0]):02X}", clean(identifier)))


def _url(url: str) -> str:
    return _braced(uri(url))


def _pages(pages: Pages) -> str:
    return _braced(escape(page_range(pages, "–")).replace("–", "--"))


def _accessed(date: Date) -> str:
    return _value(edtf(date))


def _year(date: Date) -> str:
    if not date.parts:
        return _value(date.literal)
    if len(date.parts) == 1 and not date.circa:
        return f"{{{date.parts[0][0]}}}"
    return _braced(("c. " if date.circa else "") + "--".join(dict.fromkeys(map(str, _ends(date, 0)))))


def _month(date: Date) -> str:
    if date.season and date.parts:
        return _braced(SEASONS[(date.season - 1) % 4])
    months = _ends(date, 1)
    return ' # "--" # '.join(dict.fromkeys([_MONTHS[month - 1] for month in months])) if months else ""


def _day(date: Date) -> str:
    days = _ends(date, 2)
    return _braced("--".join(dict.fromkeys(map(str, days)))) if days else ""


def _ends(date: Date, part: int) -> list[int]:
    """Return the year (0), month (1) or day (2) of each end; none if only one end of a range has it.

    It would seem to be of both.
    """
    if len(date.parts) == 1:  # as nearly all have
        return list(date.parts[0][part : part + 1])
    found = [end[part] for end in date.parts if len(end) > part]
    return found if len(found) == len(date.parts) else []


def _names(names: Iterable[Name], others: bool) -> str:
    """Return names joined by 'and', the last one 'others' for an 'et al.'."""
    written = [text for text in map(_name, names) if text]
    return " and ".join([*written, "others"] if others else written)


def _name(name: Name) -> str:
    """Return 'von Last, Jr, First'; what BibTeX would take apart at another place is in braces."""
    last, given = _group(name.family, cased=True), _given(name.given)
    if name.literal or not last:
        return _value(name.literal or f"{name.particle} {name.given} {name.suffix}")
    if name.particle and (particle := _group(name.particle)):
        last = f"{particle} {last}"
    if name.suffix and (suffix := _group(name.suffix)):
        # Two commas make the middle part the suffix, so the first name must be there, if only as an empty group.
        return f"{last}, {suffix}, {given or '{}'}"
    if given:
        return f"{last}, {given}"
    # Without a comma BibTeX takes the first of several words for a first name.
    whole = clean(f"{name.particle} {name.family}")
    return _value(whole) if " " in whole or whole.casefold() == "others" else last


@remembered(longest=24)
def _given(text: str) -> str:
    return _group(text)


def _group(text: str, cased: bool = False) -> str:
    """Return escaped text, in braces if it holds a comma or 'and', or (`cased`) several words, one in lower case."""
    if not text or (text.isalpha() and text.casefold() != "and"):
        return text
    plain, escaped = clean(text), escape(text)
    words = plain.split(" ")
    apart = "," in plain or "and" in plain.casefold().split(" ")
    lower = cased and len(words) > 1 and not all(_first_letter(word).isupper() for word in words)
    # BibTeX itself would not mind an escape before or after the 'and' between names, but some readers lose it.
    return _braced(escaped) if apart or lower or "\\" in escaped else escaped


def _first_letter(word: str) -> str:
    return next((c for c in word if c.isalpha()), "A")


def _title(text: str) -> str:
    """Return a title with braces around the words whose capitals a style must not lower."""
    title = clean(text)
    if title.upper() == title:
        return _value(title)
    words = title.split(" ")
    sentence = _is_sentence_case(words)
    written, starts = [], True
    for word in words:
        plain = word.islower() and word.isalpha()
        written.append(word if plain else _word_of_name(word) if sentence and not starts else _word(word))
        starts = word.endswith(":")
    return _braced(" ".join(written))


@remembered(longest=24)
def _word(word: str) -> str:
    return _with_capitals(word, name=False)


@remembered(longest=24)
def _word_of_name(word: str) -> str:
    return _with_capitals(word, name=True)


def _with_capitals(word: str, name: bool) -> str:
    """Return an escaped word of a title, with braces around its core if that keeps its capitals."""
    core = None if word.islower() else _CORE.search(word)
    if not core or not _keeps_capitals(core[0], name):
        return escape(word)
    return f"{escape(word[: core.start()])}{{{escape(core[0])}}}{escape(word[core.end() :])}"


def _is_sentence_case(words: list[str]) -> bool:
    """Say whether most long words after the first are in lower case: then a capital is there for a reason."""
    long = [word for word in words[1:] if len(word) > 3 and word[0].isalpha()]
    return 2 * sum(word[0].isupper() for word in long) < len(long)


def _keeps_capitals(core: str, name: bool) -> bool:
    inner = not core[1:].islower() and any(b.isupper() and a not in _JOINERS for a, b in pairwise(core))
    alone = len(core) == 1 and core.isupper() and core != "A"
    return inner or alone or (name and core[0].isupper())


FORMAT = OutputFormat(
    name="bibtex",
    summary="entries for LaTeX",
    extensions=(".bib",),
    media_type="application/x-bibtex",
    accepted=("application/x-bibtex", "application/bibtex", "text/x-bibtex"),
    entry=lambda record, key, dialect="bibtex": entry(record.work, key, dialect),
    between="\n",
    options=frozenset({"dialect"}),
)
