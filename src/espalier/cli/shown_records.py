"""Records for people: fields in colour under their names, how sure they are, rules broken, other readings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import StringIO
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from espalier.cli.console import stdout_console
from espalier.cli.files import STANDARD
from espalier.cli.show import field_styles, show
from espalier.document import Document, Span
from espalier.errors import InfeasibleError
from espalier.extract.extraction import Extraction
from espalier.io.files import write_chunks
from espalier.tags import path_of

if TYPE_CHECKING:
    from espalier.extract.extractor import Extractor

__all__ = ["print_table", "write_table"]

_INDENT = "      "
_FILE_WIDTH = 100
_DOUBTFUL = 0.5
_COLOURS = {
    "author": "cyan", "editor": "bright_cyan", "translator": "bright_magenta", "title": "green",
    "container-title": "blue", "collection-title": "magenta", "volume": "yellow", "issue": "magenta", "pages": "cyan",
    "date": "red", "edition": "bright_yellow", "publisher": "magenta", "location": "yellow", "genre": "bright_magenta",
    "institution": "bright_blue", "note": "bright_green", "doi": "bright_blue", "url": "bright_blue",
    "isbn": "bright_cyan", "issn": "bright_cyan", "accessed": "bright_red", "citation-number": "yellow",
}  # fmt: skip
"""Fields that often stand side by side differ."""
_ALMOST = 0.995  # what would be rounded to 100 %

Row = tuple[str, Extraction, str | Document]
"""Where a record comes from, what was found, and the text as it was given, perhaps with tokens of its own."""


def write_table(rows: Iterable[Row], path: Path, extractor: Extractor, *, explained: bool = False) -> None:
    """Show extractions on stdout, or write what would be shown to a file, without colours."""
    if path == STANDARD:
        print_table(stdout_console(), rows, extractor, explained=explained)
        return
    text = StringIO()
    print_table(Console(file=text, width=_FILE_WIDTH, highlight=False), rows, extractor, explained=explained)
    write_chunks(path, [text.getvalue()], "utf-8")


def print_table(console: Console, rows: Iterable[Row], extractor: Extractor, *, explained: bool = False) -> None:
    """Show extractions on a console, numbered from 1."""
    styles = field_styles(extractor.labels)
    if extractor.outside is not None:  # of references
        styles = {label: f"bold {_COLOURS[label]}" for label in extractor.labels if label in _COLOURS}
    for number, (place, record, given) in enumerate(rows, 1):
        lines = [Text.assemble((f"{number:>4}  ", "bold"), _sure(record), (f"   {place}" if place else "", "dim"))]
        lines += _body(record, styles, console.width)
        for other in record.alternatives:
            lines += [Text(), Text.assemble((f"{_INDENT}or  ", "dim"), _sure(other))]
            lines += _body(other, styles, console.width)
        if explained:
            lines += [Text(_INDENT + line, "dim") for line in _explanation(extractor, given)]
        for line in [*lines, Text()]:
            console.print(line, no_wrap=True, overflow="ignore", crop=False)


def _sure(record: Extraction) -> Text:
    """Return the confidence, what is not proven, and the fields in doubt."""
    p = record.confidence
    share = f"{p:.0%}" if p < _ALMOST else ">99%"
    shown = Text(f"{share} sure", "green" if p >= 0.9 else "yellow" if p >= _DOUBTFUL else "red")
    certificate = record.certificate
    if certificate is not None and not certificate.proven:
        shown.append(f"   {certificate.status}", "red")
    doubtful = [f"{field.label} {field.confidence:.0%}" for field in record.fields if field.confidence < _DOUBTFUL]
    return shown.append(f"   in doubt: {', '.join(doubtful)}" if doubtful else "", "yellow")


def _body(record: Extraction, styles: dict[str, str], width: int) -> Iterator[Text]:
    """Yield the text under the names of its fields, then the rules that it breaks; `other` has no name."""
    spans = tuple(Span(f.start, f.end, f.label) for f in record.fields if f.label != "other")
    for line in show(Document(record.text, (), spans), styles, width - len(_INDENT)):
        yield Text.assemble(_INDENT, line)
    names = dict.fromkeys(violated.name for violated in record.violations)
    if names:
        yield Text(f"{_INDENT}breaks {', '.join(names)}", "dim")


def _explanation(extractor: Extractor, text: str | Document) -> Iterator[str]:
    """Yield what the rules changed, stretch by stretch, and which of them it was."""
    try:
        found = extractor.explain(text)
    except InfeasibleError as error:
        yield str(error)
        return
    before, after = ([path_of(name) for name in answer.names()] for answer in (found.before, found.after))
    changed = set(found.changed)
    runs = groupby(range(len(found.tokens)), key=lambda t: (t in changed, before[t], after[t]))
    for (differs, old, new), run in runs:
        if differs:
            what = f"{old} → {new}" if old != new else f"{new}, cut otherwise"
            yield f"{what}: {' '.join(found.tokens[t] for t in run)}"
    for effect in found.effects:
        times = f"{effect.before}× without rules, {effect.after}× with them"
        yield f"{effect.name}: broken {times}, at {effect.penalty:.3g} each"
    yield str(found).rpartition("\n\n")[2]
