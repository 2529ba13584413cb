"""Labelled records for people: each field in its colour, with its name over the text.

   1  93% sure
      fruit variety ──────────   form ───────────    stock
      Apple 'Bramley's Seedling', two-tier espalier on MM106

The text itself is never altered, except that whitespace is laid out anew and signs that no terminal shows become �.
Over each record stands how sure it is; under it the rules that it breaks, and other readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from espalier.citations.bibliographies import Entry
from espalier.citations.formats.csv import parts_of
from espalier.cli.console import stdout_console
from espalier.cli.files import STANDARD
from espalier.document import Document, Span
from espalier.errors import InfeasibleError
from espalier.extract.extraction import Extraction
from espalier.rules.text import print_node
from espalier.tags import OUTSIDE, parse_tag, path_of
from espalier.text_files import write_chunks

if TYPE_CHECKING:
    from espalier.extract.extractor import Extractor

__all__ = ["field_styles", "print_table", "show", "write_table"]

_COLOURS = ("green", "cyan", "magenta", "yellow", "blue", "red", "bright_green", "bright_cyan", "bright_magenta")
_FILE_WIDTH = 100
_JOINING = re.compile("[\u200c\u200d\U000e0020-\U000e007f]")  # no signs by themselves, but parts of letters and emojis

Run = tuple[str, Span | None]
"""A stretch of a word inside one field, or outside all."""


def field_styles(labels: Iterable[str]) -> dict[str, str]:
    """Return a colour for each field, the same for the same labels every time."""
    fields = sorted({path_of(label) for label in labels} - {OUTSIDE})
    return {name: f"bold {_COLOURS[i % len(_COLOURS)]}" for i, name in enumerate(fields)}


@contextmanager
def _console_of(path: Path) -> Iterator[Console]:
    """Give a console whose text goes to stdout, or without colours into a file."""
    if path == STANDARD:
        yield stdout_console()
        return
    text = StringIO()
    yield Console(file=text, width=_FILE_WIDTH, highlight=False)
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
        """Append a word after a blank, or a few where the last name needs room; False if it does not fit.

        Fields that touch inside a word are drawn apart where the name of the first is longer than its text.
        """
        end = self.text.cell_len
        blanks = max(1, self._shortage(word, end + 1) + 1) if end else 0
        if end and end + blanks + self._room(word) > width:
            return False
        self.text.append(" " * blanks)
        for part, span in word:
            if span is not None and self.marks and self.marks[-1].span is not span:
                last = self.marks[-1]
                self.text.append(" " * max(0, last.start + cell_len(last.span.label) + 1 - self.text.cell_len))
            start = self.text.cell_len
            self.text.append(part, styles.get(span.label, "bold") if span else "")
            if span is not None and self.marks and self.marks[-1].span is span:
                self.marks[-1].end = self.text.cell_len
            elif span is not None:
                self.marks.append(_Mark(start, self.text.cell_len, span))
        return True

    def _room(self, word: list[Run]) -> int:
        """How many columns the word and the names over it need."""
        column = names = 0
        last = self.marks[-1].span if self.marks else None
        for part, span in word:
            if span is not None and span is not last:
                column = max(column, names + 1) if names else column
                names, last = column + cell_len(span.label), span
            column += cell_len(part)
        return max(column, names)

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
        for mark in self.marks:
            name = Text(mark.span.label)
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


_INDENT = "      "
_DOUBTFUL = 0.5
_REFERENCE_COLOURS = {
    "author": "cyan", "editor": "bright_cyan", "translator": "bright_magenta", "title": "green",
    "container-title": "blue", "collection-title": "magenta", "volume": "yellow", "issue": "magenta", "pages": "cyan",
    "date": "red", "edition": "bright_yellow", "publisher": "magenta", "location": "yellow", "genre": "bright_magenta",
    "institution": "bright_blue", "note": "bright_green", "doi": "bright_blue", "url": "bright_blue",
    "isbn": "bright_cyan", "issn": "bright_cyan", "accessed": "bright_red", "citation-number": "yellow",
}  # fmt: skip
"""Fields that often stand side by side differ."""
_ALMOST = 0.995  # what would be rounded to 100 %, and below 1 less this to 0 %


Row = tuple[str, Extraction | Entry, str | Document]
"""Where a record comes from, what was found, and the text as it was given, perhaps with tokens of its own."""


def write_table(rows: Iterable[Row], path: Path, extractor: Extractor, *, explained: bool = False) -> None:
    """Show extractions on stdout, or write what would be shown to a file, without colours."""
    with _console_of(path) as console:
        print_table(console, rows, extractor, explained=explained)


def print_table(console: Console, rows: Iterable[Row], extractor: Extractor, *, explained: bool = False) -> None:
    """Show extractions on a console, numbered from 1."""
    styles = field_styles(extractor.labels)
    if extractor.outside is not None:  # of references
        styles = {
            label: f"bold {_REFERENCE_COLOURS[label]}" for label in extractor.labels if label in _REFERENCE_COLOURS
        }
    rules = {rule.name: print_node(rule.node) for rule in extractor.rules}
    for number, (place, record, given) in enumerate(rows, 1):
        if isinstance(record, Entry):
            _print_entry(console, number, place, record)
            continue
        lines = [Text.assemble((f"{number:>4}  ", "bold"), _sure(record), (f"   {place}" if place else "", "dim"))]
        lines += _body(record, styles, console.width, rules)
        if explained:  # the best reading
            lines += [Text(_INDENT + line, "dim") for line in _explanation(extractor, given)]
            if record.certificate is not None and record.certificate.scores:
                lines.append(Text(f"{_INDENT}scores: {record.certificate.scores}", "dim"))
        for other in record.alternatives:
            lines += [Text(), Text.assemble((f"{_INDENT}or  ", "dim"), _sure(other))]
            lines += _body(other, styles, console.width, rules)
        for line in [*lines, Text()]:
            console.print(line, no_wrap=True, overflow="ignore", crop=False)


def _print_entry(console: Console, number: int, place: str, entry: Entry) -> None:
    """Show an entry of a bibliography: its key, where it stands, and what it says, part by part."""
    head = Text.assemble((f"{number:>4}  ", "bold"), (entry.key or entry.format, "green"), (f"   {place}", "dim"))
    console.print(head, no_wrap=True, overflow="ignore", crop=False)
    for part, value in parts_of(entry.work):
        shown = "".join(sign if sign.isprintable() else "�" for sign in value)
        console.print(Text.assemble((f"{_INDENT}{part:<17}", "dim"), shown), overflow="fold", soft_wrap=True)
    console.print()


def _sure(record: Extraction) -> Text:
    """Return the confidence, what is not proven, why the text is unfamiliar, and the fields in doubt."""
    p = record.confidence
    shown = Text(f"{_percent(p)} sure", "green" if p >= 0.9 else "yellow" if p >= _DOUBTFUL else "red")
    certificate = record.certificate
    if certificate is not None and not certificate.proven:
        shown.append(f"   {certificate.status}", "red")
    if record.unfamiliar is not None:
        shown.append(f"   unfamiliar: {record.unfamiliar.sentence}", "red")
    doubtful = [
        f"{field.label} {_percent(field.confidence)}" for field in record.fields if field.confidence < _DOUBTFUL
    ]
    return shown.append(f"   in doubt: {', '.join(doubtful)}" if doubtful else "", "yellow")


def _percent(p: float) -> str:
    """Return a probability for people, for whom nothing is certain, and nothing that is shown is impossible."""
    return ">99%" if p >= _ALMOST else "<1%" if p < 1 - _ALMOST else f"{p:.0%}"


def _body(record: Extraction, styles: dict[str, str], width: int, rules: Mapping[str, str]) -> Iterator[Text]:
    """Yield the text under the names of its fields, then the rules that it breaks; `other` has no name."""
    spans = tuple(Span(f.start, f.end, f.label) for f in record.fields if f.label != "other")
    for line in show(Document(record.text, (), spans), styles, width - len(_INDENT)):
        yield Text.assemble(_INDENT, line)
    names = dict.fromkeys(violated.name for violated in record.violations)
    if names:
        said = [f"{name} ({rules[name]})" if name in rules else name for name in names]
        yield Text(f"{_INDENT}breaks the {'rule' if len(said) == 1 else 'rules'} {', '.join(said)}", "dim")


def _explanation(extractor: Extractor, text: str | Document) -> Iterator[str]:
    """Yield what the rules did, in a sentence; then where, which of them it was, and the scores."""
    try:
        found = extractor.explain(text)
    except InfeasibleError as error:
        yield str(error)
        return
    yield str(found).rpartition("\n\n")[2]
    before, after = ([path_of(name) for name in answer.names()] for answer in (found.before, found.after))
    changed = set(found.changed)
    begins = [any(mark == "B" for mark, _ in parse_tag(name)) for name in found.after.names()]
    same = [begins[t] if before[t] == after[t] else None for t in range(len(found.tokens))]
    runs = groupby(range(len(found.tokens)), key=lambda t: (t in changed, before[t], after[t], same[t]))
    for (differs, old, new, first), run in runs:
        if differs:
            what = f"{old} → {new}" if old != new else f"{new} {'begins' if first else 'goes on'}"
            yield f"{what}: {' '.join(found.tokens[t] for t in run)}"
    for effect in found.effects:
        times = f"{effect.before}× without rules, {effect.after}× with them"
        yield f"{effect.name}: broken {times}, at {effect.penalty:.3g} each"
    for share in found.experts:
        yield f"expert {share.name}: {share.before:.4g} without rules, {share.after:.4g} with them"
