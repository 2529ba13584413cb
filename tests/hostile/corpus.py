"""Small files that did harm, or might: each is built, none has more than 100 kB. PDF and DOCX files are not among them.

`corpus()` has them by name; `FORMS` says, for each format, what stands before the strings that are repeated in it.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping

__all__ = ["FORMS", "UNITS", "corpus", "repeated"]

SIZE = 30_000

FORMS: Mapping[str, tuple[str, str, str]] = {
    "html": ("page.html", "<html><body><p>x", ""),
    "html list": ("list.html", "<html><h2>References</h2><ol><li>", ""),
    "latex": ("paper.tex", "\\documentclass{article}\n", ""),
    "latex list": ("list.bbl", "\\begin{thebibliography}{9}\n\\bibitem{a} ", ""),
    "bibtex": ("refs.bib", "@article{a, author = {Ann Elm}, title = {", "}}"),
    "bibtex names": ("names.bib", "@article{a, title = {x}, author = {", "}}"),
    "ris": ("refs.ris", "TY  - JOUR\nAU  - Elm, Ann\nT1  - ", "\nER  - \n"),
    "nbib": ("refs.nbib", "PMID- 1\nFAU - ", "\n"),
    "refer": ("refs.enw", "%0 Book\n%T x\n%A ", "\n"),
    "csl": ("refs.json", '[{"type": "book", "title": "', '"}]'),
    "endnote": ("endnote.xml", "<xml><records><record><contributors><authors><author>", ""),
    "mods": ("mods.xml", "<mods><titleInfo><title>", ""),
    "text": ("refs.txt", "", ""),
    "marked text": ("marked.txt", "[1] Elm, A. (1990). Wires. Walls 1, 2-3.\n[2] ", ""),
    "jsonl": ("records.jsonl", '{"text": "', '"}'),
    "label_studio": ("tasks.json", '[{"data": {"text": "a"}},', ""),
    "inline": ("tags.txt", "<who>a</who> ", ""),
    "xml": ("tags.xml", '<?xml version="1.0"?><dataset><ref>', ""),
    "tei": ("refs.tei.xml", "<TEI><listBibl><bibl>", ""),
    "conll": ("columns.conll", "a\tB-who\n", ""),
}
"""Form -> file name, beginning, end."""

UNITS: tuple[str, ...] = (
    *("<a ", '<a b="', "<a b='", "<a b=c ", "<a>", "</a>", "</", "<!--", "<!", "<![", "<![CDATA[", "<?a", "<"),
    *("&", "&#", "&#1", "&amp;", "<script>", "<script><!--", "<title>", "<p>", "<nav>", "<b>x</b>", '<a b=">" '),
    *("{", "}", "{}", "[", "]", "(", '"', "\\", '\\"', "\\%", "%", "$", "~", "\\href{", "\\begin{", "\\section{"),
    *("\\bibitem[", "\\bibitem{a} x\n", "@article{a, b = {", "@string{a = a # a}\n", "and ", " and {", "a # "),
    *("AU  - A\n", "FAU - A\n", "%A a\n", "TY  - JOUR\n", "x\n", "\n", "\r", " ", "\t", "\f", "\u2028", "a", "a "),
    *(".", ". ", ",", "; ", "-\n", "1", "1. ", "[1] ", "(1) ", "1990 ", "(1990) ", "1990\n", "et al. ", "pp. 1-"),
    *("Elm, A. (1990). ", "Elm, A., ", "Elm A, ", "; Elm, A. 1990. ", "[1] Elm, A. (1990). W. ", "van der ", "http://"),
    *('{"a":', "[[", '{"data": {"text": "a"}},', '{"text": "a"}\n', '"a",', "1,", "a\tB-x\n", "-DOCSTART-\n"),
    *(
        "\u0301",
        "\u0300\u0316",
        "\u200b",
        "\u202e",
        "\xad",
        "中",
        "é",
        "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
    ),
)
"""Strings that are repeated: openers without ends, nests, marks, records, blanks, characters of all kinds."""


def repeated(form: str, unit: str, size: int = SIZE) -> bytes:
    """Return a file of a form, in which a string stands again and again."""
    _, before, behind = FORMS[form]
    return f"{before}{unit * (size // len(unit.encode()))}{behind}".encode()


def corpus() -> dict[str, tuple[str, bytes]]:
    """Return all files: name -> file name, bytes."""
    found = {f"{form}, {unit!r}": (FORMS[form][0], repeated(form, unit)) for form in FORMS for unit in UNITS}
    for encoding in ("foo", "shift_jis", "utf-16", "latin-1"):
        head = f'<?xml version="1.0" encoding="{encoding}"?>'
        endnote = "<xml><records><record><titles><title>x</title></titles></record></records></xml>"
        found[f"endnote in {encoding}"] = ("a.xml", f"{head}{endnote}".encode())
        found[f"mods in {encoding}"] = ("a.xml", f"{head}<mods><titleInfo><title>x</title></titleInfo></mods>".encode())
        found[f"tags in {encoding}"] = ("a.xml", f"{head}<dataset><ref><a>x</a></ref></dataset>".encode())
    deep = 9_000
    found |= {
        "macros that double": ("a.bib", b'@string{a = "xx"}\n' + b"@string{a = a # a}\n" * 32 + b"@book{k, title = a}"),
        "children of a long parent": ("a.bib", _children()),
        "elements in elements": ("a.xml", b"<mods>" + b"<a>" * deep + b"</a>" * deep + b"</mods>"),
        "lists in lists": ("a.json", b'[{"type": "book", "x": ' + b"[" * 900 + b"]" * 900 + b"}]"),
        "objects in objects": ("a.json", b'[{"type": "book", "x": ' + b'{"a":' * deep),
        "a long attribute": ("a.xml", b'<mods><note x="' + b"y" * SIZE + b'"/></mods>'),
        "a date without end": ("a.json", b'[{"type": "book", "issued": {"date-parts": [[1e999]]}}]'),
        "a month that is no number": ("a.bib", "@book{k, title={x}, month={²}, day={%s}}".encode() % (b"9" * 5000)),
        "a reference of many digits": ("a.html", b"<html><p>&#" + b"9" * 5000 + b"; &#" + b"0" * 5000 + b"65;"),
        "a bad record behind a good one": ("a.json", b'[{"data": {"text": "a"}}, {"data": {"text": 3}}]'),
        "a bad record first": ("a.json", b'[{"data": 3}, {"data": {"text": "a"}}]'),
        "a list that never ends": ("a.json", b'[{"data": {"text": "a"}},'),
        "laughs": ("a.xml", _laughs()),
        "a bomb": ("a.txt.gz", gzip.compress(b"a" * (80 << 20), mtime=0)),
    }
    return found


def _children() -> bytes:
    parent = "@proceedings{p, title = {" + "x " * 40_000 + "}}\n"
    return (
        parent + "".join(f"@inproceedings{{c{i}, crossref = p}}\n".replace("= p", "= {p}") for i in range(400))
    ).encode()


def _laughs() -> bytes:
    entities = "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    return f'<!DOCTYPE l [<!ENTITY l0 "ha">{entities}]><mods><note>&l9;</note></mods>'.encode()
