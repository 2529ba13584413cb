"""`read_html`: a page of the web to its lines, one for each block that a browser would set on lines of its own.

What a browser does not show (scripts, styles, hidden elements) is left out, and so are the buttons that publishers put
behind a reference (`CrossRef`, `Google Scholar`). Headings, items of lists and notes are marked as such; navigation and
the foot of the page are marked as what stands at the edge of a page, unless the foot holds notes or a list of
references. Broken markup is read as far as it goes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from espalier.documents.line_words import heading_kind
from espalier.documents.lines import PrintedText, TextLine, check_lines
from espalier.documents.reading.html_tags import html_tags
from espalier.documents.reading.plain import decoded
from espalier.errors import InputError

__all__ = ["read_html"]

_BLOCKS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "br", "caption", "center", "dd", "div", "dl", "dt"),
        *("fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr"),
        *("html", "legend", "li", "main", "nav", "ol", "p", "pre", "section", "table", "tbody", "tfoot", "thead"),
        *("title", "tr", "ul", "details", "summary", "option"),
    )
)
_HIDDEN = frozenset(
    (
        *("script", "style", "template", "noscript", "svg", "button"),
        *("select", "textarea", "iframe", "object", "audio", "video"),
    )
)
_VOID = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_ITEMS = frozenset(("li", "dd"))
_WHOLES = _ITEMS | {"td", "th"}  # blocks in them are their parts
_LISTS = frozenset(("ol", "ul", "dl", "table"))
_PARTS = frozenset(("article", "section", "blockquote"))
_ATTRIBUTES = frozenset(("class", "id", "role", "style", "hidden", "aria-hidden"))  # that are looked at
_DEEPEST = 1_000  # elements around a line that are kept in mind
_NOTED = re.compile(r"note|refer|biblio|citation|literatur", re.IGNORECASE)
_NOTE_ROLES = frozenset(("doc-endnote", "doc-footnote", "note"))
_UNSEEN = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\n\r\f\v\u2009\u200a\u202f\u00a0]+")
_BUTTONS = frozenset(
    (
        *("crossref", "pubmed", "google scholar", "scopus", "web of science", "view article", "full text", "ads"),
        *("pmc free article", "free pmc article", "article", "cas", "medline", "abstract", "view", "download"),
        *("search in google scholar", "view in article", "open url", "export citation", "go to reference in chapter"),
    )
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{2,20})", re.IGNORECASE)


def read_html(data: bytes, name: str = "") -> PrintedText:
    """Return the lines of a page of the web, given as bytes.

    Raises InputError if it is too large, or shows no text.
    """
    warnings: list[str] = []
    charset = _CHARSET.search(data[:4096])
    reader = _Reader(name)
    for kind, value, attributes in html_tags(
        decoded(data, name, warnings, charset[1].decode() if charset else ""), _ATTRIBUTES
    ):
        if kind == "text":
            reader.take(value)
        elif kind == "open":
            reader.open(value, attributes)
        else:
            reader.close(value)
    reader.flush()
    reader.end_foot()
    if not reader.lines:
        raise InputError(
            f"{name or 'the page'} shows no text: it is probably filled by scripts",
            hint="save the page as PDF or text from a browser",
        )
    return PrintedText.of(reader.lines, name=name, kind="HTML", warnings=warnings)


def _named(given: Mapping[str, str]) -> str:
    """Return what an element is called."""
    return f"{given.get('class', '')} {given.get('id', '')} {given.get('role', '')}"


class _Reader:
    """Collects the lines of a page."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.lines: list[TextLine] = []
        self._parts: list[str] = []
        self._skipped, self._depth = "", 0  # the element that is not shown, and how many of its name are open in it
        self._hint = ""  # of the next line
        self._paragraph = False  # does the next line begin one?
        self._listed = False  # inside an item of a list or a cell of a table, whose blocks are its parts
        self._around: list[tuple[str, str]] = []  # open elements that mark all lines in them: name and hint
        self._inside = 0  # open elements whose feet are theirs, and not of the page
        self._foot = -1  # the first line of the foot of the page
        self._link = -1  # where the text of a link begins in the parts
        self._bold = [0, 0]  # characters in bold type, all characters
        self._strong = 0

    def open(self, tag: str, given: Mapping[str, str]) -> None:
        """Take the beginning of an element."""
        if self._skipped:
            self._depth += tag == self._skipped
            return
        unseen = "hidden" in given or given.get("aria-hidden") == "true" or _UNSEEN.search(given.get("style", ""))
        if tag in _HIDDEN or (unseen and tag not in _VOID):
            self._skipped, self._depth = tag, 1
            return
        if tag in _BLOCKS:
            self.flush()
        if tag in ("td", "th"):
            self._parts.append("\t")
        self._strong += tag in ("b", "strong")
        self._mark(tag, given)
        if tag == "a":
            self._link = len(self._parts)

    def _mark(self, tag: str, given: Mapping[str, str]) -> None:
        """Remember what an element says about its lines."""
        role = given.get("role", "")
        if tag in _WHOLES or tag in _LISTS:
            self._listed = tag in _WHOLES
        self._paragraph = (self._paragraph and tag not in _BLOCKS) or (tag == "p" and not self._listed)
        self._inside += tag in _PARTS
        if tag == "footer" and not (self._inside or _NOTED.search(_named(given))):
            self.end_foot()
            self._foot = len(self.lines)
        if tag in _HEADINGS:
            self._hint = "heading"
        elif tag in _ITEMS or role in ("doc-biblioentry", "listitem"):
            self._hint = "item"
        if len(self._around) == _DEEPEST:
            return
        if tag == "nav" or role in ("navigation", "contentinfo"):
            self._around.append((tag, "page"))
        elif role in _NOTE_ROLES:
            self._around.append((tag, "note"))
        elif self._around and tag == self._around[-1][0]:
            self._around.append((tag, self._around[-1][1]))

    def close(self, tag: str) -> None:
        """Take the end of an element."""
        if self._skipped:
            self._depth -= tag == self._skipped
            self._skipped = self._skipped if self._depth else ""
            return
        if tag == "a" and self._link >= 0:
            said = "".join(self._parts[self._link :]).strip(" []()\n\t.,;").casefold()
            if said in _BUTTONS:
                del self._parts[self._link :]
            self._link = -1
        self._strong = max(self._strong - (tag in ("b", "strong")), 0)
        if tag in _BLOCKS:
            self.flush()
            self._hint, self._paragraph = "", False
        if tag in _WHOLES or tag in _LISTS:
            self._listed = False
        self._inside = max(self._inside - (tag in _PARTS), 0)
        if tag == "footer":
            self.end_foot()
        if self._around and tag == self._around[-1][0]:
            self._around.pop()

    def end_foot(self) -> None:
        """End the foot of the page; one with a list of references is none."""
        if self._foot >= 0:
            foot = self.lines[self._foot :]
            if not any(heading_kind(line.text).startswith("references") for line in foot):
                self.lines[self._foot :] = [replace(line, hint="page") for line in foot]
        self._foot = -1

    def take(self, text: str) -> None:
        """Take text."""
        if not self._skipped:
            self._parts.append(text)
            size = len(text.strip())
            self._bold[0] += size if self._strong else 0
            self._bold[1] += size

    def flush(self) -> None:
        """End a line; one without text is none."""
        text = _SPACE.sub(" ", "".join(self._parts)).strip()
        self._parts, self._link = [], -1
        if text:
            hint = self._around[-1][1] if self._around else self._hint
            bold = 2 * self._bold[0] > self._bold[1]
            self.lines.append(TextLine(text, hint=hint, bold=bold, paragraph=self._paragraph))
            check_lines(len(self.lines), self._name)
            self._hint, self._paragraph = "", False
        self._bold = [0, 0]
