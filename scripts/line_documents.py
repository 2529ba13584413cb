"""Documents with reference lists in many layouts, made from real text and references, each line with its label.

A list takes references of one style, rendered (`make rendered`) or real (`refdocs`); text around it comes from
documents of `refdocs`, and from sentences (`line_documents.toml`). What is varied: marks, wrapping, indents, gaps,
columns, running heads, the heading (none, odd, in other languages), dashes for repeated authors, cover sheets with a
suggested citation, footnotes with several works each, and what follows the list: appendices, tables, adverts of other
works, notes on the authors. A line has a printed place, or spaces and empty lines, or nothing of either.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from espalier.documents.lines import Box, TextLine

__all__ = ["Labelled", "Maker", "Material"]

_TOML = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
_WORDS = _TOML.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
HEADINGS, ODD_HEADINGS, PARTS = _WORDS["headings"], _WORDS["odd_headings"], _WORDS["parts"]
AFTER, ADVERTS, AUTHORS, BIOGRAPHY = _WORDS["after"], _WORDS["adverts"], _WORDS["authors"], _WORDS["biography"]
GERMAN, ENGLISH, PLACES = _WORDS["german"], _WORDS["english"], _WORDS["places"]
LEADS, BETWEEN, HEADS = _WORDS["leads"], _WORDS["between"], _WORDS["heads"]


class Labelled(NamedTuple):
    """Lines of a document, and a label for each; an empty line is `blank`. starts : further ones inside lines."""

    lines: list[TextLine]
    labels: list[str]
    starts: dict[int, list[int]]


class Material(NamedTuple):
    """What documents are made of: lists of references, a style each, and text, as paragraphs of lines with labels."""

    styles: Sequence[Sequence[str]]
    texts: Sequence[Sequence[tuple[str, str]]]


class _Piece(NamedTuple):
    """Something to be printed. kind : its label; hanging, first : indents in ems; gap : white space above, in lines."""

    text: str
    kind: str
    first: float = 0.0
    rest: float = 0.0
    gap: float = 0.0
    starts: tuple[int, ...] = ()
    size: float = 1.0
    wrapped: bool = True


class Maker:
    """Makes documents from material, at random."""

    def __init__(self, material: Material, seed: int = 0) -> None:
        """Begin a series of documents."""
        self.material, self.rng = material, random.Random(seed)

    def one(self) -> Labelled:
        """Return another document."""
        rng = self.rng
        pieces = self._footnoted() if rng.random() < 0.12 else self._listed()
        way = rng.random()
        if way < 0.6:
            return _printed(pieces, rng)
        return _typed(pieces, rng, spaces=way < 0.85)

    # -- what a document has -------------------------------------------------------------------------------------

    def _listed(self) -> list[_Piece]:
        rng = self.rng
        pieces: list[_Piece] = []
        if rng.random() < 0.15:
            pieces += self._cover()
        if rng.random() < 0.85:
            pieces += self._body(rng.randint(1, 14))
        draw = rng.random()
        if draw < 0.82:
            pieces.append(self._heading(rng.choice(HEADINGS if draw < 0.72 else ODD_HEADINGS)))
        pieces += self._endnotes() if rng.random() < 0.04 else self._list()
        draw = rng.random()
        if draw < 0.22:
            pieces += [self._heading(rng.choice(AFTER)), *self._body(rng.randint(1, 10))]
        elif draw < 0.34:
            pieces += [self._heading(rng.choice(ADVERTS)), *self._adverts()]
        elif draw < 0.44:
            pieces += [self._heading(rng.choice(AUTHORS))] * (rng.random() < 0.5) + self._biographies()
        elif draw < 0.52:
            pieces += self._table()
        elif draw < 0.57:
            pieces += self._body(rng.randint(1, 5))
        return pieces

    def _heading(self, text: str) -> _Piece:
        kind = "text" if text in (*AFTER, *ADVERTS, *AUTHORS) else "heading"
        gap, size = self.rng.choice((0.0, 0.8, 1.5)), self.rng.choice((1.0, 1.0, 1.2, 1.4))
        return _Piece(text, kind, gap=gap, size=size)

    def _sentence(self, kinds: Sequence[str]) -> str:
        rng = self.rng
        name = rng.choice(("Müller", "Schmidt", "Esping-Andersen", "Beck", "Weber", "Smith", "Luhmann", "Diewald"))
        return rng.choice(kinds).format(name=name, year=rng.randint(1960, 2019), n=rng.randint(1, 9))

    def _body(self, paragraphs: int) -> list[_Piece]:
        rng, found = self.rng, []
        if rng.random() < 0.4:
            kinds = GERMAN if rng.random() < 0.7 else ENGLISH
            first, gap = rng.choice(((0.0, 0.0), (1.5, 0.0), (0.0, 0.7)))
            for _ in range(paragraphs):
                text = " ".join(self._sentence(kinds) for _ in range(rng.randint(1, 5)))
                found.append(_Piece(text, "text", first=first, gap=gap))
            return found
        source = rng.choice(self.material.texts)
        begin = rng.randrange(max(len(source) - 8 * paragraphs, 1))
        return [_Piece(text, kind, wrapped=False) for text, kind in source[begin : begin + 8 * paragraphs]]

    def _cover(self) -> list[_Piece]:
        rng = self.rng
        reference = rng.choice(rng.choice(self.material.styles))
        word = rng.choice(
            ("Suggested Citation:", "Empfohlene Zitierung / Suggested Citation:", "Zitiervorschlag", "Please cite as:")
        )
        more = rng.choice(
            ("www.ssoar.info", "Nutzungsbedingungen:", "Terms of use:", "Veröffentlichungsversion / Published Version")
        )
        return [
            _Piece(more, "text"),
            _Piece(word, "text", gap=1.0),
            _Piece(reference, "text"),
            _Piece("Arbeitspapier / working paper", "text", gap=1),
        ]

    def _adverts(self) -> list[_Piece]:
        rng = self.rng
        style = rng.choice(self.material.styles)
        mark = rng.choice(("", "Nr. {}: ", "DP {}-2003 ", "Band {}: ", "Heft {} ", "{}/98 "))
        chosen = rng.sample(list(style), min(len(style), rng.randint(4, 15)))
        rest = rng.choice((0.0, 2.0, 4.0))
        return [_Piece(mark.format(len(chosen) - k) + text, "text", rest=rest) for k, text in enumerate(chosen)]

    def _biographies(self) -> list[_Piece]:
        rng = self.rng
        found = []
        for _ in range(rng.randint(1, 3)):
            name, place = rng.choice(("Anna Berg", "Peter Klein", "J. A. Stone")), rng.choice(PLACES)
            found.append(_Piece(rng.choice(BIOGRAPHY).format(name=name, place=place, mail="berg"), "text", gap=0.7))
        return found

    def _table(self) -> list[_Piece]:
        rng = self.rng
        rows = [_Piece(f"Table {rng.randint(1, 9)}. Distribution of variables", "text", gap=1.0)]
        for word in rng.sample(
            ("Age", "Women", "Married", "Income", "Education", "Germany", "France", "N", "Total", "R2", "East", "West"),
            8,
        ):
            rows.append(
                _Piece(
                    " ".join(
                        [word, *(f"{rng.random() * 100:.{rng.choice((0, 1, 2))}f}" for _ in range(rng.randint(2, 6)))]
                    ),
                    "text",
                )
            )
        return rows

    # -- the list ------------------------------------------------------------------------------------------------

    def _list(self) -> list[_Piece]:
        rng = self.rng
        style = rng.choice(self.material.styles)
        texts = rng.sample(list(style), min(len(style), rng.choice((6, 10, 20, 30, 60))))
        mark, ordered = self._mark(), rng.random() < 0.9
        if not mark and ordered:
            texts.sort(key=lambda text: text.casefold())
        if not mark and rng.random() < 0.25:
            texts = self._dashed(texts)
        first, rest, gap = self._indents(bool(mark))
        found: list[_Piece] = []
        number = 1 if rng.random() < 0.9 else rng.randint(2, 60)
        size = rng.choice((1.0, 1.0, 0.9, 0.8))
        if mark[:1] in ("{", "[") and rng.random() < 0.12:
            mark = f"{mark.rstrip()}\n"  # the number has a line of its own
        for text in texts:
            if not mark and rng.random() < 0.006:
                found.append(_Piece(rng.choice(PARTS), "heading", gap=0.7))
            found.append(_Piece(mark.format(number) + text, "ref", first, rest, gap, size=size))
            number += 2 if rng.random() < 0.01 else 1
        return _run_together(found) if rng.random() < 0.04 else found

    def _endnotes(self) -> list[_Piece]:
        """Return notes, one below the other, each with one or more works."""
        rng, number = self.rng, first_note(self.rng)
        style, mark = rng.choice(self.material.styles), rng.choice(("{} ", "{}. ", "[{}] ", "{}"))
        notes = [self._note(style, mark.format(number + k), short=0.12) for k in range(rng.randint(5, 30))]
        first, rest, gap = self._indents(True)
        return [note._replace(first=first, rest=rest, gap=gap, size=1.0) for note in notes]

    def _mark(self) -> str:
        draw = self.rng.random()
        marks = ("[{}] ", "{}. ", "({}) ", "{}) ", "{} ", "• ", "– ", "[{}]\u2003")
        return "" if draw < 0.62 else self.rng.choice(marks)

    def _indents(self, marked: bool) -> tuple[float, float, float]:
        rng = self.rng
        draw = rng.random()
        gap = rng.choice((0.0, 0.0, 0.0, 0.3, 0.5, 1.0))
        if draw < 0.42:
            return 0.0, rng.choice((1.0, 1.5, 2.0, 3.0, 4.0)), gap
        if draw < 0.52:
            return rng.choice((1.0, 2.0)), 0.0, 0.0
        return 0.0, 0.0, gap

    def _dashed(self, texts: Sequence[str]) -> list[str]:
        """Put a dash for some first authors, as lists do for works of one author."""
        dash = self.rng.choice(("———", "——", "---", "–", "Ders.", "Dies.", "_____", "—"))
        found = list(texts)
        for k in range(1, len(found)):
            if self.rng.random() < 0.15 and "," in found[k][:30]:
                found[k] = dash + found[k][found[k].index(",") :]
        return found

    def _footnoted(self) -> list[_Piece]:
        """Return text with notes below it that cite one or more works each, and notes that cite none."""
        rng, found, number = self.rng, [], first_note(self.rng)
        style = self.rng.choice(self.material.styles)
        mark = rng.choice(("{} ", "{}", "{}. ", "{} "))
        for _ in range(rng.randint(2, 6)):
            found += self._body(rng.randint(1, 3))
            for _ in range(rng.randint(1, 5)):
                found.append(self._note(style, mark.format(number)))
                number += 1
        return found

    def _note(self, style: Sequence[str], mark: str, short: float = 0.3) -> _Piece:
        rng = self.rng
        if rng.random() < short:
            name = rng.choice(("Müller", "Weber", "Beck", "Smith"))
            page = rng.randint(2, 300)
            brief = f"Vgl. {name} {rng.randint(1950, 2015)}, S. {page}."
            earlier = (f"Ebd., S. {page}.", f"{name} (Anm. {rng.randint(1, 30)}), S. {page}.")
            words = rng.choice((brief, *earlier, self._sentence(GERMAN), self._sentence(ENGLISH)))
            return _Piece(mark + words, "note", size=0.8)
        works = rng.sample(list(style), min(len(style), rng.choice((1, 1, 2, 3))))
        text, starts = mark + rng.choice(LEADS), []
        for k, work in enumerate(works):
            text += rng.choice(BETWEEN) if k else ""
            starts.append(len(text))
            text += work.rstrip(".")
        return _Piece(text + ".", "ref", size=0.8, starts=tuple(starts[1:]))


def _run_together(pieces: Sequence[_Piece]) -> list[_Piece]:
    """Return references as one line: nothing but a space stands between two."""
    text, starts = "", []
    for piece in pieces:
        if piece.kind == "ref":
            starts.append(len(text))
            text += piece.text.replace("\n", " ") + " "
    return [_Piece(text.rstrip(), "ref", starts=tuple(starts[1:]), wrapped=False)]


def first_note(rng: random.Random) -> int:
    """Return the number of the first note."""
    return 1 if rng.random() < 0.7 else rng.randint(2, 80)


# -- how it is printed ---------------------------------------------------------------------------------------------


def _wrap(piece: _Piece, width: int, rng: random.Random) -> list[tuple[str, int]]:
    """Return the lines of a piece, each with where it begins in its text; words may be broken by hyphens."""
    number, above, text = piece.text.rpartition("\n")
    if not piece.wrapped:
        return [(number, 0)] * bool(above) + [(text, len(number + above))]
    found, line, begin, room = (
        [(number, 0)] * bool(above),
        "",
        len(number + above),
        max(width - int(2 * piece.first), 12),
    )
    position = begin
    for word in text.split(" "):
        if line and len(line) + 1 + len(word) > room:
            left = room - len(line) - 2
            if rng.random() < 0.35 and left >= 3 and len(word) - left >= 3 and word.isalpha():
                found.append((f"{line} {word[:left]}-", begin))
                begin, line, position = position + left, word[left:], position + len(word) + 1
            else:
                found.append((line, begin))
                begin, line, position = position, word, position + len(word) + 1
            room = max(width - int(2 * piece.rest), 12)
            continue
        line = f"{line} {word}" if line else word
        position += len(word) + 1
    found.append((line, begin))
    return found


def _label(piece: _Piece, k: int) -> str:
    return piece.kind if k == 0 or piece.kind != "ref" else "ref-cont"


def _inside(piece: _Piece, lines: Sequence[tuple[str, int]]) -> dict[int, list[int]]:
    """Return where further works begin, by line of the piece."""
    found: dict[int, list[int]] = {}
    for start in piece.starts:
        k = max(k for k, (_, begin) in enumerate(lines) if begin <= start)
        found.setdefault(k, []).append(start - lines[k][1])
    return found


def _typed(pieces: Sequence[_Piece], rng: random.Random, *, spaces: bool) -> Labelled:
    """Return a document without places; spaces : with indents and empty lines."""
    width, found = rng.choice((38, 50, 60, 72, 80, 95, 110, 10_000)), Labelled([], [], {})
    width = 10_000 if width == 10_000 and rng.random() < 0.6 else min(width, 110)
    head, page, left = rng.choice(HEADS), rng.randint(1, 400), rng.randint(25, 60)
    paged = rng.random() < 0.4
    for piece in pieces:
        lines = _wrap(piece, width, rng)
        inside = _inside(piece, lines)
        if spaces and piece.gap >= 0.5 and found.lines:
            found.lines.append(TextLine("", page=1))
            found.labels.append("blank")
        for k, (text, _) in enumerate(lines):
            if paged and left == 0:
                for words in rng.choice(((head, str(page)), (str(page), head), (str(page),), (f"{page} {head}",))):
                    found.lines.append(TextLine(words))
                    found.labels.append("page")
                page, left = page + 1, rng.randint(35, 60)
            left -= 1
            indent = int(2 * (piece.rest if k else piece.first)) if spaces else 0
            if k in inside:
                found.starts[len(found.lines)] = [indent + at for at in inside[k]]
            found.lines.append(TextLine(" " * indent + text))
            found.labels.append(_label(piece, k))
    return found


def _printed(pieces: Sequence[_Piece], rng: random.Random) -> Labelled:
    """Return a document with places: pages of one or two columns."""
    found = Labelled([], [], {})
    columns, em = rng.choice((1, 1, 2)), rng.uniform(8, 12)
    margin, right, top, bottom = rng.uniform(40, 90), rng.uniform(500, 550), rng.uniform(50, 80), rng.uniform(720, 790)
    span = (right - margin - 20 * (columns - 1)) / columns
    advance, ragged, pitch = rng.uniform(0.42, 0.52), rng.random() < 0.3, rng.uniform(1.1, 1.5)
    head, page, column, y = rng.choice(HEADS), 1, 0, top
    hinted, running = rng.random() < 0.5, rng.random() < 0.8

    def put(text: str, label: str, x: float, at: float, size: float, full: bool) -> None:
        width = len(text) * advance * size * rng.uniform(0.95, 1.05)
        x1 = margin + column * (span + 20) + span if full and not ragged else min(x + width, 590.0)
        hint = "page" if label == "page" and hinted and rng.random() < 0.9 else ""
        box = Box(x + rng.uniform(-0.4, 0.4), at, x1, at + size)
        found.lines.append(
            TextLine(text, page=page, box=box, size=size, column=column if columns > 1 else 0, hint=hint)
        )
        found.labels.append(label)

    if running:
        put(head, "page", margin, 30.0, em * 0.8, False)
    for piece in pieces:
        size = em * piece.size
        lines = _wrap(piece, int(span / (advance * size)), rng)
        inside = _inside(piece, lines)
        y += piece.gap * em * pitch if y > top else 0.0
        for k, (text, _) in enumerate(lines):
            if y > bottom:
                column, y = column + 1, top
                if column == columns:
                    if running:
                        put(str(page), "page", 300.0, bottom + 25, em * 0.8, False)
                    page, column = page + 1, 0
                    if running:
                        put(head, "page", margin, 30.0, em * 0.8, False)
            indent = (piece.rest if k else piece.first) * em
            if k in inside:
                found.starts[len(found.lines)] = inside[k]
            put(text, _label(piece, k), margin + column * (span + 20) + indent, y, size, k + 1 < len(lines))
            y += size * pitch
    return found
