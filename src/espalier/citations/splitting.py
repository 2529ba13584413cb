"""From raw text to references, each with its place: file, line, characters before it in the line.

    lines    a line that is not blank is a reference; nothing is split or joined
    blocks   the lines between two blank lines are one. A line with the next number (`[2]`, `2.`, `(2)`) or another
             key (`[Knu84]`) begins the next one; so does a line without indent where the first lines have hanging ones
    auto     blocks if the first lines look wrapped, else lines. Where no blank line, number or indent tells blocks
             apart, names after a line that ends a reference begin the next one

What tells that lines are wrapped, in this order:

    numbers  the list begins with a number and has the next one, or has several keys: wrapped if there are lines without
    indents  the first line begins as far left as any, and those further right go on (`seam`): hanging
    seams    two lines in a row are two references or one, and the sum decides: stanzas of whole lines are no blocks.
             Without any blank line joining is a risk: a quarter of the seams must be sure and half of the lines no
             reference by themselves, or all be what one is: names first and never again, and one year

Blocks, and lines under `auto`, may hold several references run together; `citations.borders` says where they are cut,
and how lines are joined. What layout does not say (headings, several works behind one number, dashes for authors) is
for `documents.references`, which is what everybody asks. What is longer than a limit is refused, by its place, and the
rest is read on. Memory is bounded by the first lines and the longest line or block; time is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from typing import Any, NamedTuple, NoReturn

from espalier.citations.borders import begins, cuts, ends, glue, has_year, mark, seam
from espalier.citations.parser import LONGEST
from espalier.errors import FormatError, InputError, nearest
from espalier.text_files import Source, open_lines

__all__ = ["LAYOUTS", "LONGEST_BLOCK", "Reference", "read_references", "split_references"]

LAYOUTS = ("auto", "lines", "blocks")
LONGEST_BLOCK = 1_000_000
"""The longest line or block that is searched for references run together, in characters."""

_HEAD = 400  # lines that the layout is guessed from
_BARE = 0.7  # the confidence in references that only names and years tell from lines that go on

# Breaks that a file's lines may still hold: form feeds of page ends, lone carriage returns, the separators of Unicode.
_BREAKS = re.compile("[\r\f\v\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Reference:
    """One reference, and where it stands.

    text : without white space around it; file, line, offset : where it begins: the file's name, the line from 1, and
    the characters before it in that line; confidence : that it is one whole reference, 1 where nothing was guessed;
    filled : the names that a dash at its beginning stands for, where somebody filled them in; lead : words of a note
    that stood before the work (`Vgl. auch`); counted : what people count in its file, "line", "page" or nothing;
    seams : of each further line the character of the text where it begins, its number, and the characters before it.
    """

    text: str
    file: str = ""
    line: int = 1
    offset: int = 0
    confidence: float = 1.0
    filled: str = ""
    lead: str = ""
    counted: str = "line"
    seams: tuple[tuple[int, int, int], ...] = field(default=(), compare=False, repr=False)

    @property
    def where(self) -> str:
        """Where it begins, in words."""
        return f"line {self.line}"

    def place(self) -> dict[str, Any]:
        """Return where it begins in its file and how sure its borders are, as JSON values."""
        place: dict[str, Any] = {"line": self.line, "offset": self.offset, "confidence": self.confidence}
        return place | ({"filled": self.filled} if self.filled else {})

    def part(self, begin: int, end: int, most: float) -> Reference:
        """Return a part of it as a reference of its own, with a confidence of `most` at most."""
        first, behind = (bisect_left(self.seams, (place,)) for place in (begin + 1, end))
        at, line, offset = self.seams[first - 1] if first else (0, self.line, self.offset)
        inside = tuple((a - begin, line, offset) for a, line, offset in self.seams[first:behind])
        return replace(
            self, text=self.text[begin:end], line=line, offset=offset + begin - at,
            confidence=min(self.confidence, most), seams=inside,
        )  # fmt: skip


class _Piece(NamedTuple):
    """A line without its end and the white space around it, or what stands between two breaks inside a line."""

    line: int
    offset: int
    text: str
    indent: int


class _Shape(NamedTuple):
    """What the first lines of a text look like.

    wrapped : references run over several lines; numbered : numbers or keys begin them; hanging : where they begin, in
    characters, if their other lines are indented further; bare : nothing stands between them but the end of a line.
    """

    wrapped: bool
    numbered: bool = False
    hanging: int | None = None
    bare: bool = False


def read_references(
    source: Source,
    layout: str = "auto",
    *,
    encoding: str = "utf-8",
    refused: list[FormatError] | None = None,
) -> Iterator[Reference]:
    """Yield the references of a file or of an open one, in order; gzip and a byte-order mark are recognised.

    What is too long is an error, or goes to `refused`, and what follows is read on. A line that is not in the encoding
    is an error that names it.
    """
    _check_layout(layout)
    with open_lines(source, encoding, []) as lines:
        lines.refused = refused
        yield from _references(iter(lines), layout, lines.name, refused)


def split_references(text: str, layout: str = "auto", *, refused: list[FormatError] | None = None) -> list[Reference]:
    """Return the references of a text; `refused` as in `read_references`."""
    _check_layout(layout)
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return list(_references(enumerate(lines, 1), layout, "", refused))


def _check_layout(layout: str) -> None:
    if layout not in LAYOUTS:
        raise InputError(f"unknown layout {layout!r}", hint=nearest(layout, LAYOUTS, f"there are {', '.join(LAYOUTS)}"))


def _references(
    lines: Iterator[tuple[int, str]], layout: str, file: str, refused: list[FormatError] | None
) -> Iterator[Reference]:
    pieces = _pieces(lines)
    head, rest = _headed(pieces)
    pieces = chain(head, rest)
    shape = _shape(head)
    if layout == "blocks" or (layout == "auto" and shape.wrapped):
        groups = _blocks(pieces, shape if layout == "auto" else shape._replace(bare=False))
    else:
        groups = (([piece], 1.0) for piece in pieces if piece.text)
    for group, sure in groups:
        for reference in _of_group(group, file, sure, cut=layout != "lines"):
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
        breaks = [found.span() for found in _BREAKS.finditer(line)] if _BREAKS.search(line) else []
        for stop, after in [*breaks, (len(line), len(line))]:
            part = line[start:stop]
            text = part.lstrip()
            indent = len(part) - len(text)
            yield _Piece(number, start + indent, text.rstrip(), indent)
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


def _shape(head: Sequence[_Piece]) -> _Shape:
    """Return the shape of a text, from its first lines."""
    present = [piece for piece in head if piece.text]
    marks = [mark(piece.text) for piece in present]
    if marks[:2] == [None, 1]:  # a heading
        del marks[0]
    inner = [(below, seam(above.text, below.text)) for above, below in pairwise(head) if above.text and below.text]
    hanging = _hanging(present, inner)
    if _is_numbered(marks):
        return _Shape(None in marks, True, hanging)
    if hanging is not None:
        return _Shape(True, hanging=hanging)
    lines, seams = [piece.text for piece in present], [value for _, value in inner]
    if len(seams) < len(lines) - 1:  # there are blank lines between
        return _Shape(sum(seams) > 0)
    return _Shape(True) if _is_one(lines, seams) else _Shape(_is_wrapped(lines, seams), bare=True)


def _is_numbered(marks: Sequence[int | str | None]) -> bool:
    """Does a list begin with a number and have the next one, or with a key and have another?"""
    first = marks[0] if marks else None
    return first + 1 in marks if isinstance(first, int) else first is not None and marks.count(first) > 1


def _hanging(present: Sequence[_Piece], inner: Sequence[tuple[_Piece, int]]) -> int | None:
    """Return where references begin if none begins further left, and lines further right go on, but not the others."""
    first = min((piece.indent for piece in present), default=0)
    further = sum(value for piece, value in inner if piece.indent > first)
    others = sum(value for piece, value in inner if piece.indent == first and value == 2)
    return first if further > others and present[0].indent == first else None


def _is_wrapped(lines: Sequence[str], seams: Sequence[int]) -> bool:
    """Are lines without a blank one surely parts of references, and at most half of them whole?"""
    whole = sum(ends(line) and has_year(line) for line in lines)
    return sum(seams) > 0 and 4 * seams.count(2) >= len(seams) and 2 * whole <= len(lines)


def _is_one(lines: Sequence[str], seams: Sequence[int]) -> bool:
    """Are lines what one reference is?"""
    joined = len(lines) > 1 and min(seams) > 0
    return joined and begins(lines[0]) and sum(map(has_year, lines)) == 1


def _blocks(pieces: Iterable[_Piece], shape: _Shape) -> Iterator[tuple[list[_Piece], float]]:
    """Group the lines of each reference, and say how sure that is; what goes beyond every limit is cut there."""
    group: list[_Piece] = []
    last: int | str | None = None
    size, dated, guessed = 0, False, False
    for piece in pieces:
        number = mark(piece.text)
        follows = number is not None and (
            number == "key" == last
            or (isinstance(last, int) and number == last + 1)
            or (last is None and shape.numbered)
        )
        outdented = shape.hanging is not None and piece.indent <= shape.hanging
        named = shape.bare and dated and ends(group[-1].text) and begins(piece.text)
        if group and (not piece.text or follows or outdented or named or size > LONGEST_BLOCK):
            yield group, _BARE if guessed or named else 1.0
            group, size, dated, guessed = [], 0, False, named
        if piece.text:
            last = last if group else number
            group.append(piece)
            size += len(piece.text)
            dated = dated or has_year(piece.text)
    if group:
        yield group, _BARE if guessed else 1.0


def _of_group(group: list[_Piece], file: str, sure: float, *, cut: bool) -> Iterator[Reference]:
    """Join the lines of a group, cut what is run together, and find the place of each part."""
    text, starts = _joined(group)
    places, right = cuts(text) if cut and len(text) <= LONGEST_BLOCK else ([], 1.0)
    seams = tuple((start, piece.line, piece.offset) for start, piece in zip(starts[1:], group[1:], strict=True))
    whole = Reference(text, file, group[0].line, group[0].offset, min(sure, right), seams=seams)
    for begin, behind in pairwise([0, *places, len(text)]):
        yield whole.part(begin, begin + len(text[begin:behind].rstrip()), right) if places else whole


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
