"""Labelled records for people: each field in its colour, with its name over the text.

      1  fruit variety ──────────   form ───────────    stock
         Apple 'Bramley's Seedling', two-tier espalier on MM106

The text itself is never altered, except that whitespace is laid out anew and signs that no terminal shows become �.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from espalier.cli.console import stdout_console
from espalier.cli.files import STANDARD
from espalier.document import Document, Span
from espalier.io.files import write_chunks
from espalier.tags import OUTSIDE, path_of

__all__ = ["field_styles", "show", "write_shown"]

_COLOURS = ("green", "cyan", "magenta", "yellow", "blue", "red", "bright_green", "bright_cyan", "bright_magenta")
_NUMBER = 5  # columns for the number of the record
_FILE_WIDTH = 100
_JOINING = re.compile("[\u200c\u200d\U000e0020-\U000e007f]")  # no signs by themselves, but parts of letters and emojis

Run = tuple[str, Span | None]
"""A stretch of a word inside one field, or outside all."""


def field_styles(labels: Iterable[str]) -> dict[str, str]:
    """Return a colour for each field, the same for the same labels every time."""
    fields = sorted({path_of(label) for label in labels} - {OUTSIDE})
    return {name: f"bold {_COLOURS[i % len(_COLOURS)]}" for i, name in enumerate(fields)}


def write_shown(documents: Iterable[Document], path: Path, labels: Iterable[str]) -> None:
    """Show the documents on stdout, or write what would be shown to a file, without colours."""
    styles, text = field_styles(labels), StringIO()
    console = stdout_console() if path == STANDARD else Console(file=text, width=_FILE_WIDTH, highlight=False)
    for number, document in enumerate(documents, 1):
        shown = show(document, styles, console.width - _NUMBER)
        for i, line in enumerate(shown):
            head = f"{number if i == 0 else '':>{_NUMBER - 2}}  "
            console.print(Text.assemble((head, "dim"), line), no_wrap=True, overflow="ignore", crop=False)
        console.print()
    if path != STANDARD:
        write_chunks(path, [text.getvalue()], "utf-8")


def show(document: Document, styles: Mapping[str, str], width: int) -> list[Text]:
    """Lay one document out in pairs of lines, names over text."""
    lines = [_Line()]
    for word in _words(document):
        if not lines[-1].add(word, styles, width):
            lines.append(_Line())
            lines[-1].add(word, styles, width)
    return [part for line in lines for part in (line.names(styles), line.text)]


@dataclass(slots=True)
class _Mark:
    """A field on one line: the columns it covers and whose they are."""

    start: int
    end: int
    span: Span

    @property
    def name_end(self) -> int:
        return max(self.end, self.start + cell_len(self.span.label))


@dataclass(slots=True)
class _Line:
    """A line of text under construction and the fields it has so far."""

    text: Text = field(default_factory=Text)
    marks: list[_Mark] = field(default_factory=list)

    def add(self, word: list[Run], styles: Mapping[str, str], width: int) -> bool:
        """Append a word after a blank, or a few where the last name needs room; False if it does not fit."""
        end = self.text.cell_len
        blanks = max(1, self._shortage(word, end + 1) + 1) if end else 0
        if end and end + blanks + self._room(word) > width:
            return False
        self.text.append(" " * blanks)
        for part, span in word:
            start = self.text.cell_len
            self.text.append(part, styles.get(span.label, "bold") if span else "")
            if span is not None and self.marks and self.marks[-1].span is span:
                self.marks[-1].end = self.text.cell_len
            elif span is not None:
                self.marks.append(_Mark(start, self.text.cell_len, span))
        return True

    def _room(self, word: list[Run]) -> int:
        """How many columns the word needs, or the name over its end, if that is new and longer."""
        *before, (part, span) = word
        new = span is not None and not (self.marks and self.marks[-1].span is span)
        name = cell_len(span.label) if span is not None and new else 0
        return sum(cell_len(text) for text, _ in before) + max(cell_len(part), name)

    def _shortage(self, word: list[Run], column: int) -> int:
        """How many columns the first new name of the word would start too early."""
        for part, span in word:
            if span is not None:
                fresh = self.marks and self.marks[-1].span is not span
                return max(0, self.marks[-1].name_end + 1 - column) if fresh else 0
            column += cell_len(part)
        return 0

    def names(self, styles: Mapping[str, str]) -> Text:
        """Return the line of names, each drawn out over its field."""
        line = Text()
        for i, mark in enumerate(self.marks):
            name = Text(mark.span.label)
            if i + 1 < len(self.marks):  # fields that touch inside a word leave no room for a longer name
                name.truncate(max(1, self.marks[i + 1].start - mark.start - 1))
            rule = mark.end - mark.start - name.cell_len - 1
            name.append(" " + "─" * rule if rule > 0 else "")
            name.stylize(styles.get(mark.span.label, "bold").replace("bold", "not bold"))
            line.append(" " * (mark.start - line.cell_len))
            line.append_text(name)
        return line


def _words(document: Document) -> Iterator[list[Run]]:
    """Split the text at whitespace, and each word where the innermost field changes."""
    owner: list[Span | None] = [None] * len(document.text)
    for span in document.spans or ():  # outer spans come first, so inner ones take over
        owner[span.start : span.end] = [span] * (span.end - span.start)
    for match in re.finditer(r"\S+", document.text):
        runs: list[Run] = []
        for at in range(*match.span()):
            sign = document.text[at]
            sign = sign if sign.isprintable() or _JOINING.match(sign) else "�"
            if runs and runs[-1][1] is owner[at]:
                runs[-1] = (runs[-1][0] + sign, owner[at])
            else:
                runs.append((sign, owner[at]))
        yield runs
