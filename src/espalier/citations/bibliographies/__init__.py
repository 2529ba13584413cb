"""What already is a bibliography: recognised by its content, and read as it is, never parsed as text.

    from espalier.citations.bibliographies import read_bibliography

    for entry in read_bibliography("refs.bib"):
        print(entry.key, entry.work.title)

Every format is a row of `BIBLIOGRAPHIES`: a pattern that recognises the first characters of a file, and the module that
reads its text. A file is read as a whole, so its size has a limit; an entry that cannot be read is named by its line.
A list of references with an entry of BibTeX among them is a list of references.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from espalier.citations.bibliographies.entry import Entry
from espalier.errors import FormatError, Hint, InputError
from espalier.text_files import Source, open_lines

__all__ = [
    "BIBLIOGRAPHIES",
    "HEAD",
    "LARGEST",
    "Bibliography",
    "Entry",
    "read_bibliography",
    "read_entries",
    "recognise",
]


HEAD = 1 << 16
"""Characters that a format is recognised by."""

LARGEST = 1 << 26
"""Characters that a bibliography may have, because it is held as a whole."""


Reader = Callable[[str, str, "list[FormatError] | None"], Iterator[Entry]]

# The types of entries of BibTeX and BibLaTeX that a file may begin with.
_TYPES = (
    "article|(?:mv|in|supp)?book|booklet|bookinbook|(?:mv|in|supp)?collection|(?:mv|in)?proceedings|conference|"
    "(?:mv|in)?reference|(?:phd|masters)?thesis|(?:tech)?report|manual|misc|unpublished|online|electronic|www|webpage|"
    "patent|dataset|software|standard|jurisdiction|(?:supp)?periodical"
)


class Bibliography(NamedTuple):
    """A format of bibliographies.

    Parameters
    ----------
    name : of the format, and of the module that reads it, if one does.
    called : what people call it.
    begins : is found among the first characters of a file of this format.
    refused : what to do about a format that is only recognised; "" for those that are read.
    """

    name: str
    called: str
    begins: re.Pattern[str]
    refused: Hint = ""


def _row(name: str, called: str, begins: str, refused: Hint = "") -> Bibliography:
    return Bibliography(name, called, re.compile(begins, re.MULTILINE), refused)


_EXPORT = "export it as BibTeX, RIS, MODS or EndNote XML: those are read as they are"

BIBLIOGRAPHIES = (
    _row(
        "bibtex",
        "BibTeX",
        rf"(?i:^[ \t]*@(?:{_TYPES}|string|preamble)\s*[{{(]\s*(?:[^\s,{{}}]*\s*,\s*)?[\w-]+\s*[=#\"]"
        rf"|^[ \t]*@(?:{_TYPES})\s*[{{(]\s*[^\s,{{}}=]+\s*,?\s*[}})])",
    ),
    _row("ris", "RIS", r"^TY  - ?[A-Z]{2,}"),
    _row("endnote", "EndNote XML", r"<xml>\s*<records>|<records>\s*<record>|<ref-type\s+name="),
    _row("nbib", "PubMed's NBIB", r"^PMID- \d+\s*$"),
    _row(
        "refer",
        "EndNote's tagged lines (refer)",
        r"\A\s*%(?:0 [A-Z][a-z]+|[AT] \S).*\n(?:.*\n){0,8}?%[ATDJ] \S",
    ),
    _row(
        "csl",
        "CSL-JSON",
        r"\A\s*(?:\[\s*)?\{(?s:.*?)\"(?:type|csl|items)\"\s*:\s*"
        r"(?:\"(?:article|bill|book|broadcast|chapter|classic|collection|dataset|document|entry|event|figure|graphic|hearing"
        r"|interview|legislation|manuscript|map|pamphlet|paper|patent|performance|periodical|regulation|report|review"
        r"|software|song|speech|standard|thesis|treaty|webpage|[a-z]+[_-][a-z]+)\b|[\[{])",
    ),
    _row("tei", "TEI", r"\A(?s:.{0,4000}?)<(?:TEI|teiCorpus|listBibl|biblStruct)[\s>]", _EXPORT),
    _row("mods", "MODS", r"\A(?s:.{0,4000}?)<(?:\w+:)?mods(?:Collection)?[\s>]"),
    _row("isi", "a file of the Web of Science", r"\A\s*(?:FN (?:Thomson|Clarivate|ISI)|PT [JBSP]\nA[UF] )", _EXPORT),
    _row(
        "json",
        "JSON, but not CSL-JSON",
        r"\A\s*(?:(?:\[\s*)?\{\s*(?:\"[^\"\n]{1,80}\"\s*:|\}\s*[\],])|\[\s*\]\s*\Z|\{\s*\}\s*\Z)",
        "save the references as text, a line each",
    ),
    _row("xml", "XML, but neither EndNote's nor MODS", r"(?i)\A\s*<\?xml(?!(?s:.{0,2000}?)<html)", _EXPORT),
)
"""In the order in which they are tried."""


_AMONG_TEXT = ("bibtex", "ris", "nbib")
"""Formats that may be told by a line anywhere among the first characters."""
_MANY = 3
_LIKE_REFERENCE = re.compile(
    r"(?!\s*[\w-]+\s*=)(?=[^%@{}]{30})(?=[^{}]*\b(?:1[5-9]|20)[0-9]{2}\b)(?=(?:[^.,:;()]*[.,:;()]){5})\s*[^\s%@{}]"
)


def _reader(name: str) -> Reader:
    """Return what reads a format; it is imported when it is needed."""
    if name == "bibtex":
        from espalier.citations.bibliographies.bibtex import read
    elif name == "ris":
        from espalier.citations.bibliographies.ris import read
    elif name == "csl":
        from espalier.citations.bibliographies.csl import read
    elif name == "endnote":
        from espalier.citations.bibliographies.endnote import read
    elif name == "mods":
        from espalier.citations.bibliographies.mods import read
    else:
        from espalier.citations.bibliographies import tagged

        return tagged.read_nbib if name == "nbib" else tagged.read_refer
    return read


def recognise(head: str) -> Bibliography | None:
    """Return the format that a text begins in; None for one that is no bibliography.

    Parameters
    ----------
    head : the first characters, `HEAD` of them or fewer.

    Returns
    -------
    Bibliography, or None.

    Examples
    --------
    >>> from espalier.citations.bibliographies import recognise
    >>> recognise("@book{knuth84, title = {The TeXbook}}").name
    'bibtex'
    >>> recognise("Knuth, D. E. (1984). The TeXbook.")
    """
    head = head[:HEAD].removeprefix("\ufeff").replace("\r\n", "\n")
    found = next((row for row in BIBLIOGRAPHIES if row.begins.search(head)), None)
    if found is None or found.name not in _AMONG_TEXT:
        return found
    outside, entries = len(_outside(head, found)), len(found.begins.findall(head))
    return None if outside >= _MANY and outside > entries else found


def _outside(text: str, kind: Bibliography) -> list[int]:
    """Return the lines, from 1, that look like references and stand before all entries, or between those of BibTeX."""
    first = kind.begins.search(text)
    start, depth, found = first.start() if first else 0, 0, []
    place = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if depth <= 0 and _LIKE_REFERENCE.match(line) and (place < start or kind.name == "bibtex"):
            found.append(number)
        if place >= start:
            depth += line.count("{") - line.count("}")
            if kind.name != "bibtex":
                break
        place += len(line) + 1
    return found


def read_entries(text: str, file: str = "", refused: list[FormatError] | None = None) -> Iterator[Entry]:
    """Yield the entries of a bibliography.

    Parameters
    ----------
    text : of the whole file.
    file : its name, for messages and places.
    refused : where entries go that cannot be read; None makes each an error.

    Raises
    ------
    FormatError
        For a text that is no bibliography, or one of a format that is not read.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    found = recognise(text)
    if found is None:
        known = ", ".join(row.called for row in BIBLIOGRAPHIES if not row.refused)
        raise FormatError("this is no bibliography", path=file, hint=f"{known} are read as they are")
    if found.refused:
        raise FormatError(f"this is {found.called}, which is not read", path=file, hint=found.refused)
    if refused is not None and found.name in _AMONG_TEXT:  # BibTeX itself passes over what is in no entry
        what, hint = f"this line is in no entry of {found.called}", "parse it in a file of its own"
        refused += [FormatError(what, path=file, line=number, hint=hint) for number in _outside(text, found)]
    return _reader(found.name)(text, file, refused)


def read_bibliography(
    source: Source, *, encoding: str = "utf-8", refused: list[FormatError] | None = None
) -> Iterator[Entry]:
    """Yield the entries of a file, or of an open one; gzip and a byte-order mark are recognised.

    Parameters
    ----------
    source : a path or an open file.
    encoding : of the file.
    refused : where entries go that cannot be read; None makes each an error.

    Returns
    -------
    Iterator of Entries.

    Examples
    --------
    >>> import io
    >>> from espalier.citations.bibliographies import read_bibliography
    >>> file = io.StringIO("@book{knuth84, author = {Knuth, D. E.}, title = {The TeXbook}}")
    >>> [entry.work.title for entry in read_bibliography(file)]
    ['The TeXbook']
    """
    with open_lines(source, encoding, [], longest=LARGEST) as lines:
        name, text = lines.name, lines.whole()
    if len(text) > LARGEST:
        raise InputError(
            f"{name}: this bibliography has more than {LARGEST:,} characters", hint="cut it into several files"
        )
    yield from read_entries(text, name, refused)
