r"""BibTeX: one entry a work, for the classic styles; UTF-8, with the characters that TeX gives a meaning escaped.

    @phdthesis{andersen1994program,
      author = {Andersen, L. O.},
      title = {Program Analysis and Specialization for the {C} Programming Language},
      ...
    }

Values are cleaned (`text.clean`) and escaped: `\# \$ \% \& \_`, a word in braces for the characters that need one
(`{\textbackslash}`; braces too, since BibTeX counts `\{`), and `{}` inside what TeX would join (`-{}-`). DOI, URL
and eprint are not escaped, as `\url` wants them: there braces and backslashes are percent-encoded, and in a URL what
else a URI may not hold.

Names are 'von Last, Jr, First'; a name or part that BibTeX would take apart elsewhere (a comma, 'and', an
institution) is in braces; 'et al.' is 'and others'. Capitals that a style must not lower are in braces: a capital
inside a word (DNA, LaTeX, R&D, not Non-Linear), a capital alone (C, but not the article A) and, in a title whose
words are mostly in lower case, every capitalised word but the first (names). A title all in capitals is left to the
style.

The fields are those of the classic styles where there is one; `day`, `doi`, `url`, `urldate`, `isbn`, `issn`,
`eprint`, `translator` and `organization` are passed over by styles that do not know them. A month is its macro, a
range of months two (`may # "--" # jun`), a season its English name; a date that could not be read is the year. What
could not be read or had no room is in `annote`, which only annotating styles print.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from espalier.citations.formats.keys import Keys
from espalier.citations.formats.text import SEASONS, clean, edtf, page_range, uri

if TYPE_CHECKING:
    from espalier.citations.record import Record
    from espalier.citations.work import Date, Name, Work

__all__ = ["entry", "escape", "write"]

# CSL type: entry type, and the field of the container's title. Every other type is a @misc.
_TYPES = {
    "article-journal": ("article", "journal"),
    "paper-conference": ("inproceedings", "booktitle"),
    "chapter": ("incollection", "booktitle"),
    "book": ("book", "booktitle"),
    "thesis": ("phdthesis", "booktitle"),
    "report": ("techreport", "booktitle"),
}
_MISC = ("misc", "howpublished")
_HOUSE = {"thesis": "school", "report": "institution"}
_MASTERS = re.compile(r"\b(?:master|m\.? ?sc|m\.? ?a\b|m\.? ?phil|diplom|bachelor|licen[ct])", re.IGNORECASE)
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
# Without one of these, or two commas, there is nothing to escape; and nearly nothing to search for.
_SUSPECT = re.compile(r"[-#$%&_\\{}~^<>|`']")
_UNSAFE = re.compile(r"[\\{}]")
_JOINERS = frozenset("-‐‑–—/()[]:")
_CORE = re.compile(r"[^\W_](?:.*[^\W_])?")


def entry(work: Work, key: str = "") -> str:
    """Return the entry of a work, ended by a newline; without `key` it has the key it would have alone in a run."""
    kind, _ = _TYPES.get(work.type, _MISC)
    if kind == "phdthesis" and _MASTERS.search(work.genre):
        kind = "mastersthesis"
    lines = (f"  {name} = {value},\n" for name, value in _fields(work) if value)
    return f"@{kind}{{{key or Keys()(work)},\n{''.join(lines)}}}\n"


def write(records: Iterable[Record], *, keys: Keys | None = None) -> Iterator[str]:
    """Yield the entries with a blank line between them, one piece a record; `keys` goes on from an earlier run."""
    keys = keys or Keys()
    gap = ""
    for record in records:
        work = record.work
        yield gap + entry(work, keys(work))
        gap = "\n"


def escape(text: str) -> str:
    """Return cleaned text that TeX sets, and BibTeX reads, as it stands."""
    cleaned = clean(text)
    if not _SUSPECT.search(cleaned) and ",," not in cleaned:
        return cleaned
    return _LIGATURE.sub(r"\g<0>{}", cleaned.translate(_ESCAPES))


def _fields(work: Work) -> Iterator[tuple[str, str]]:
    """Yield (field, value as it stands in the file, empty where there is none), the classic fields first."""
    _, container = _TYPES.get(work.type, _MISC)
    for role, names in (("author", work.authors), ("editor", work.editors), ("translator", work.translators)):
        yield role, _braced(_names(names, role in work.others))
    yield "title", _braced(_title(clean(work.title)))
    yield container, _value(work.container_title)
    yield "series", _value(work.collection_title)
    yield "volume", _value(work.volume)
    yield from _numbers(work)
    yield "pages", _braced(escape(page_range(work.pages, "–")).replace("–", "--") if work.pages else "")
    yield "edition", _value(work.edition)
    yield from _houses(work)
    yield "address", _value(work.location)
    yield from _issued(work.issued)
    yield "type", _value(work.genre)
    yield "note", _value(work.note)
    yield "doi", _braced(_verbatim(work.doi))
    yield "url", _braced(uri(work.url))
    yield "urldate", _braced(escape(edtf(work.accessed)))
    yield "isbn", _value(work.isbn)
    yield "issn", _value(work.issn)
    yield "eprint", _braced(_verbatim(work.arxiv))
    yield "archiveprefix", _braced("arXiv" if work.arxiv else "")
    yield "annote", _braced(escape("; ".join(f"{label}: {text}" for label, text in work.unread)))


def _braced(value: str) -> str:
    return f"{{{value}}}" if value else ""


def _value(text: str) -> str:
    return _braced(escape(text)) if text else ""


def _verbatim(identifier: str) -> str:
    """Return an identifier as it is, but for the three characters that would end or spoil the value."""
    return _UNSAFE.sub(lambda m: f"%{ord(m[0]):02X}", clean(identifier))


def _numbers(work: Work) -> Iterator[tuple[str, str]]:
    """Yield `number`, which is the report's number or else the issue, and `issue` where a work has both."""
    both = filter(None, (_braced(escape(number)) for number in (work.number, work.issue)))
    yield from zip(("number", "issue"), both, strict=False)


def _houses(work: Work) -> Iterator[tuple[str, str]]:
    """Yield publisher and institution; the school of a thesis or the house of a report may stand as its publisher."""
    house = _HOUSE.get(work.type, "organization")
    if house != "organization" and not clean(work.institution):
        yield house, _braced(escape(work.publisher))
    else:
        yield house, _braced(escape(work.institution))
        yield "publisher", _braced(escape(work.publisher))


def _issued(date: Date | None) -> Iterator[tuple[str, str]]:
    if date is None:
        return
    if not date.parts:
        yield "year", _braced(escape(date.literal))
        return
    # zip stops at the shorter end of a range: a month or day that only one end has would seem to be of both.
    years, months, days = [*zip(*date.parts, strict=False), (), ()][:3]
    yield "year", _braced(("c. " if date.circa else "") + _span(map(str, years)))
    if date.season:
        yield "month", _braced(SEASONS[(date.season - 1) % 4])
    else:
        yield "month", ' # "--" # '.join(dict.fromkeys(_MONTHS[month - 1] for month in months))
    yield "day", _braced(_span(map(str, days)))


def _span(ends: Iterable[str]) -> str:
    return "--".join(dict.fromkeys(ends))


def _names(names: Iterable[Name], others: bool) -> str:
    """Return names joined by 'and', the last one 'others' for an 'et al.'."""
    written = [text for text in map(_name, names) if text]
    return " and ".join([*written, "others"] if others else written)


def _name(name: Name) -> str:
    """Return 'von Last, Jr, First'; what BibTeX would take apart at another place is in braces."""
    family, given, suffix = clean(name.family), clean(name.given), clean(name.suffix)
    if name.literal or not family:
        return _braced(escape(name.literal or f"{name.particle} {given} {suffix}"))
    last = " ".join(filter(None, (_group(clean(name.particle)), _group(family, cased=True))))
    if suffix:
        # Two commas make the middle part the suffix, so the first name must be there, if only as an empty group.
        return f"{last}, {_group(suffix)}, {_group(given) or '{}'}"
    if given:
        return f"{last}, {_group(given)}"
    # Without a comma BibTeX takes the first of several words for a first name.
    whole = clean(f"{name.particle} {family}")
    return _braced(escape(whole)) if " " in whole or whole.casefold() == "others" else last


def _group(text: str, cased: bool = False) -> str:
    """Return escaped text, in braces if it holds a comma or 'and', or (`cased`) several words, one in lower case."""
    if text.isalpha() and text.casefold() != "and":
        return text
    words, escaped = text.split(" "), escape(text)
    apart = "," in text or "and" in text.casefold().split(" ")
    lower = cased and len(words) > 1 and not all(_first_letter(word).isupper() for word in words)
    # BibTeX itself would not mind an escape before or after the 'and' between names, but some readers lose it.
    return _braced(escaped) if apart or lower or "\\" in escaped else escaped


def _first_letter(word: str) -> str:
    return next((c for c in word if c.isalpha()), "A")


def _title(title: str) -> str:
    """Return an escaped, cleaned title with braces around the words whose capitals a style must not lower."""
    if title.upper() == title:
        return escape(title)
    words = title.split(" ")
    sentence = _is_sentence_case(words)
    written_out = str if escape(title) == title else escape
    written = []
    for before, word in zip(["", *words], words, strict=False):
        core = None if word.islower() else _CORE.search(word)
        starts = not before or before.endswith(":")
        if core and _keeps_capitals(core[0], name=sentence and not starts):
            word = f"{escape(word[: core.start()])}{{{escape(core[0])}}}{escape(word[core.end() :])}"
        else:
            word = written_out(word)
        written.append(word)
    return " ".join(written)


def _is_sentence_case(words: list[str]) -> bool:
    """Say whether most long words after the first are in lower case: then a capital is there for a reason."""
    long = [word for word in words[1:] if len(word) > 3 and word[0].isalpha()]
    return 2 * sum(word[0].isupper() for word in long) < len(long)


def _keeps_capitals(core: str, name: bool) -> bool:
    inner = not core[1:].islower() and any(b.isupper() and a not in _JOINERS for a, b in pairwise(core))
    alone = len(core) == 1 and core.isupper() and core != "A"
    return inner or alone or (name and core[0].isupper())
