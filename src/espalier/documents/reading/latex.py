r"""`read_latex`: a LaTeX file to its lines: each `\bibitem` is one, and each paragraph, without commands and accents.

A `.bbl` file of BibTeX is a list of `\bibitem`, too. That of BibLaTeX holds fields, not references, and is refused: the
`.bib` file that it was made from says the same and more. What a document defines for itself is not carried out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from espalier.documents.lines import PrintedText, TextLine
from espalier.documents.reading.plain import decoded
from espalier.errors import InputError
from espalier.io.tex import Groups, plain_text, without_comments

__all__ = ["read_latex"]

_IS_BIBLATEX = re.compile(r"\\refsection\{|\\datalist\[|\\sortlist\[|\\entry\{[^{}]*\}\{[^{}]*\}\{")
_LIST = re.compile(r"\\begin\s*\{(?:the)?bibliography\*?\}|\\begin\s*\{references\}")
_LIST_END = re.compile(r"\\end\s*\{(?:the)?bibliography\*?\}|\\end\s*\{references\}")
_ITEM = re.compile(r"\\(?:bibitem|harvarditem)\b\s*(?=[\[{%\s])")
_HEADING = re.compile(r"\\(?:part|chapter|section|subsection|subsubsection|paragraph)\*?\s*(?:\[[^\]]{0,300}\]\s*)?\{")
_UNREAD = "equation|align|eqnarray|verbatim|lstlisting|tikzpicture|tabular|comment|multline|gather"
_BORDERS = re.compile(rf"\\(begin|end)\s*\{{(?:{_UNREAD})\*?\}}")
_FILES = re.compile(r"\\(?:bibliography|addbibresource)\s*(?:\[[^\]]{0,200}\])?\s*\{([^{}]{1,300})\}")
_PREAMBLE = re.compile(r"\\begin\s*\{document\}")
_PARAGRAPHS = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_LONGEST_ARGUMENT = 2_000


def read_latex(data: bytes, name: str = "") -> PrintedText:
    """Return the lines of a LaTeX file, given as bytes.

    Raises InputError for a file of BibLaTeX, one without text, and one that is too large.
    """
    warnings: list[str] = []
    text = without_comments(decoded(data, name, warnings).replace("\r\n", "\n").replace("\r", "\n"))
    if _IS_BIBLATEX.search(text[: 1 << 16]):
        raise InputError(
            f"{name or 'the file'} was made by BibLaTeX and holds fields, not references",
            hint="give the .bib file that it was made from",
        )
    printed = PrintedText.of(_lines(text), name=name, kind="LaTeX", warnings=warnings)
    if not printed.lines:
        raise InputError(f"{name or 'the file'} has no text", hint="is it the right file?")
    files = [file.strip() for found in _FILES.finditer(text) for file in found[1].split(",")]
    if files and not _ITEM.search(text):
        named = ", ".join(file if file.endswith(".bib") else f"{file}.bib" for file in files)
        warnings.append(f"its references are in another file: {named}")
        printed = replace(printed, warnings=tuple(warnings))
    return printed


def _lines(text: str) -> Iterator[TextLine]:
    """Yield the lines of the text before, in and behind the list of references."""
    begun = _PREAMBLE.search(text)
    at = begun.end() if begun else 0
    while found := _LIST.search(text, at):
        yield from _running(text[at : found.start()])
        end = _LIST_END.search(text, found.end())
        stop = end.start() if end else len(text)
        yield TextLine("References", hint="heading")
        yield from _items(text[found.end() : stop])
        at = end.end() if end else len(text)
    rest = text[at:]
    first = _ITEM.search(rest)
    yield from _running(rest[: first.start()] if first else rest)
    if first:
        yield from _items(rest[first.start() :])


def _items(text: str) -> Iterator[TextLine]:
    r"""Yield one line for each `\bibitem`; what stands before the first is for the typesetter."""
    marks = list(_ITEM.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    groups = Groups(text, _LONGEST_ARGUMENT)
    for mark, end in zip(marks, ends, strict=False):
        item = plain_text(text[groups.after(groups.after(mark.end(), "["), "{") : end])
        if item:
            yield TextLine(item, hint="item")


def _running(text: str) -> Iterator[TextLine]:
    """Yield the headings and paragraphs of running text."""
    for paragraph in _PARAGRAPHS.split(_without_figures(text)):
        at, groups = 0, Groups(paragraph, _LONGEST_ARGUMENT)
        while found := _HEADING.search(paragraph, at):
            yield from _said(paragraph[at : found.start()], "")
            at = groups.after(found.end() - 1, "{")
            yield from _said(paragraph[found.end() : max(at - 1, found.end())], "heading")
            at = max(at, found.end())
        yield from _said(paragraph[at:], "")


def _without_figures(text: str) -> str:
    """Leave out formulas that stand alone, tables, programs and drawings; one that is never closed stays."""
    parts, last, opened = [], 0, -1
    for found in _BORDERS.finditer(text):
        if found[1] == "begin":
            opened = found.start() if opened < 0 else opened
        elif opened >= 0:
            parts.append(text[last:opened])
            last, opened = found.end(), -1
    return " ".join([*parts, text[last:]])


def _said(tex: str, hint: str) -> Iterator[TextLine]:
    if said := plain_text(tex):
        yield TextLine(said, hint=hint)
