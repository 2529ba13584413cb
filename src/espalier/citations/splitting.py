"""From raw text to references, each with its place: file, line, characters before it in the line.

    lines    a line that is not blank is a reference; nothing is split or joined
    blocks   the lines between two blank lines are one. A line with the next number (`[2]`, `2.`, `(2)`) or another
             key (`[Knu84]`) begins the next one; so does a line without indent where the first lines have hanging ones
    auto     blocks if the first lines look wrapped, else lines

Blocks, and lines under `auto`, may hold several references run together; `citations.borders` says where they are cut,
and how lines are joined. What is longer than a limit is refused, by its place, and the rest is read on. Memory is
bounded by the first lines and the longest line or block; time is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from typing import NamedTuple, NoReturn

from espalier.citations.borders import cuts, glue, mark
from espalier.citations.parser import LONGEST
from espalier.errors import FormatError, InputError, did_you_mean
from espalier.io.files import Source, open_lines

__all__ = ["LAYOUTS", "LONGEST_BLOCK", "Reference", "read_references", "split_references"]

LAYOUTS = ("auto", "lines", "blocks")
LONGEST_BLOCK = 1_000_000
"""The longest line or block that is searched for references run together, in characters."""

_HEAD = 400  # lines that the layout is guessed from
_SNIPPET = 12  # lines of a text that may be one pasted reference

# Breaks that a file's lines may still hold: form feeds of page ends, lone carriage returns, the separators of Unicode.
_BREAKS = re.compile("[\r\f\v\x85\u2028\u2029]+")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference, and where it stands.

    text : without white space around it; file, line, offset : where it begins: the file's name, the line from 1, and
    the characters before it in that line; confidence : that it is one whole reference, 1 where nothing was cut.
    """

    text: str
    file: str = ""
    line: int = 1
    offset: int = 0
    confidence: float = 1.0


class _Piece(NamedTuple):
    """A line without its end and the white space around it, or what stands between two breaks inside a line."""

    line: int
    offset: int
    text: str
    indented: bool


def read_references(
    source: Source, layout: str = "auto", *, encoding: str = "utf-8", refused: list[FormatError] | None = None
) -> Iterator[Reference]:
    """Yield the references of a file or of an open one, in order; gzip and a byte-order mark are recognised.

    What is too long is an error, or goes to `refused`, and what follows is read on. A line that is not in the encoding
    is an error that names it.
    """
    _check_layout(layout)
    with open_lines(source, encoding, []) as lines:
        yield from _references(iter(lines), layout, lines.name, refused)


def split_references(text: str, layout: str = "auto", *, refused: list[FormatError] | None = None) -> list[Reference]:
    """Return the references of a text; `refused` as in `read_references`."""
    _check_layout(layout)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return list(_references(enumerate(lines, 1), layout, "", refused))


def _check_layout(layout: str) -> None:
    if layout not in LAYOUTS:
        raise InputError(f"unknown layout {layout!r}{did_you_mean(layout, LAYOUTS)}; there are {', '.join(LAYOUTS)}")


def _references(
    lines: Iterator[tuple[int, str]], layout: str, file: str, refused: list[FormatError] | None
) -> Iterator[Reference]:
    pieces = _pieces(lines)
    head, rest = _headed(pieces)
    pieces = chain(head, rest)
    if layout == "blocks" or (layout == "auto" and _looks_wrapped(head)):
        groups = _blocks(pieces, _hangs(head))
    else:
        groups = ([piece] for piece in pieces if piece.text)
    for group in groups:
        for reference in _of_group(group, file, cut=layout != "lines"):
            if len(reference.text) <= LONGEST:
                yield reference
                continue
            what = f"{len(reference.text):,} characters in a row; at most {LONGEST:,} are read as one reference"
            error = FormatError(f"{what}: put each on a line of its own", path=file, line=reference.line)
            if refused is None:
                raise error
            refused.append(error)


def _pieces(lines: Iterable[tuple[int, str]]) -> Iterator[_Piece]:
    """Yield the lines, cut at the breaks that they hold, and trimmed."""
    for number, line in lines:
        start = 0
        ends = [found.span() for found in _BREAKS.finditer(line)] if _BREAKS.search(line) else []
        for stop, after in [*ends, (len(line), len(line))]:
            part = line[start:stop]
            text = part.lstrip()
            indent = len(part) - len(text)
            yield _Piece(number, start + indent, text.rstrip(), indent > 0)
            start = after


def _headed(pieces: Iterator[_Piece]) -> tuple[list[_Piece], Iterator[_Piece]]:
    """Return the first pieces, and an iterator over the others; an error among the first waits until its turn."""
    head: list[_Piece] = []
    try:
        head.extend(islice(pieces, _HEAD))
    except FormatError as error:
        return head, map(_raise, [error])
    return head, pieces


def _raise(error: FormatError) -> NoReturn:
    raise error


def _looks_wrapped(head: Sequence[_Piece]) -> bool:
    """Do references run over several lines?"""
    present = [piece for piece in head if piece.text]
    if len(present) < 2:
        return False
    marked = [mark(piece.text) is not None for piece in present]
    if marked[0] and sum(marked) > 1:
        return not all(marked)
    if _hangs(head):
        return True
    # Lines that another one follows at once: are they whole references themselves?
    inner = [a for a, b in pairwise(head) if a.text and b.text]
    whole = sum(piece.text[-1] in ".;)]/" and _YEAR.search(piece.text) is not None for piece in inner)
    if len(inner) < len(present) - 1:  # there are blank lines between
        return 2 * whole < len(inner)
    return len(present) <= _SNIPPET and not whole and any(piece.text[0].islower() for piece in present[1:])


def _hangs(head: Sequence[_Piece]) -> bool:
    """Does every reference begin without an indent, and go on with one?"""
    indented = [piece.indented for piece in head if piece.text]
    return len(indented) > 1 and not indented[0] and 3 * sum(indented) >= len(indented)


def _blocks(pieces: Iterable[_Piece], hanging: bool) -> Iterator[list[_Piece]]:
    """Group the lines of each reference; a group that goes beyond every limit is cut there."""
    group: list[_Piece] = []
    last: int | str | None = None
    size = 0
    for piece in pieces:
        number = mark(piece.text)
        follows = number == "key" == last or (isinstance(last, int) and number == last + 1)
        if group and (not piece.text or follows or (hanging and not piece.indented) or size > LONGEST_BLOCK):
            yield group
            group, size = [], 0
        if piece.text:
            last = last if group else number
            group.append(piece)
            size += len(piece.text)
    if group:
        yield group


def _of_group(group: list[_Piece], file: str, *, cut: bool) -> Iterator[Reference]:
    """Join the lines of a group, cut what is run together, and find the place of each part."""
    text, starts = _joined(group)
    places, sure = cuts(text) if cut and len(text) <= LONGEST_BLOCK else ([], 1.0)
    for a, b in pairwise([0, *places, len(text)]):
        k = bisect_right(starts, a) - 1
        yield Reference(text[a:b].rstrip(), file, group[k].line, group[k].offset + a - starts[k], sure)


def _joined(group: list[_Piece]) -> tuple[str, list[int]]:
    """Return the text of a group and where each of its lines begins in it."""
    parts, starts, length = [group[0].text], [0], len(group[0].text)
    for piece in group[1:]:
        left, between = glue(parts[-1], piece.text)
        length += len(left) - len(parts[-1]) + len(between)
        parts[-1:] = [left, between, piece.text]
        starts.append(length)
        length += len(piece.text)
    return "".join(parts), starts
