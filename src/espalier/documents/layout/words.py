"""The words of a PDF page, each with its place and its type.

A word is a run of characters that follow each other in the file without a gap, on one baseline. Blanks are not
characters here: a gap tells words apart, and a blank in the file is kept as a mark of the word after it (`spaced`).

What files do to characters is undone: ligatures are letters again, an accent that is drawn over a letter is part of it,
a character that is drawn twice to look bold is there once. Text that does not run from left to right in most of the
page is turned if it is much (a table on its side), left out if it is little (a stamp in the margin).
"""

from __future__ import annotations

import ctypes
import math
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from espalier.documents.layout.accents import ACCENTS, joined_marks, one_place
from espalier.documents.lines import Box, PageSize

__all__ = ["MOST_CHARACTERS", "PageWords", "PlacedWord", "page_words"]

MOST_CHARACTERS = 100_000
"""Characters of a page that are read; a page of text has 3,000 to 8,000, a map or a drawing may have any number."""

_TURNED = 0.2  # the share of a page's characters that makes text in another direction worth reading
_JOINED = 0.12  # gaps within a word, in parts of the type size; a blank takes 0.2 to 0.3
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}
# PDFium gives hyphens at the ends of lines a code of its own; many fonts call their hyphen a soft one.
_ONE_FOR_ONE = {0x02: "-", 0xFFFE: "-", 0xAD: "-", 0x2010: "-", 0x2011: "-", 0xF0B7: "•", 0xF0A7: "•", 0x2009: " "}


Codes = npt.NDArray[np.uint32]
Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
Int = npt.NDArray[np.int64]


class PlacedWord(NamedTuple):
    """A run of characters. base : its baseline, downwards from the page's top; spaced : a blank stands before it."""

    text: str
    x0: float
    x1: float
    base: float
    size: float
    bold: bool
    italic: bool
    spaced: bool

    @property
    def box(self) -> Box:
        """Where it stands: the type's usual height above the baseline and below it."""
        return Box(self.x0, self.base - 0.75 * self.size, self.x1, self.base + 0.25 * self.size)


@dataclass(slots=True)
class PageWords:
    """The words of a page in the order of the file; unmapped : the share whose font does not say what they mean."""

    words: list[PlacedWord]
    size: PageSize
    unmapped: float = 0.0
    cut: bool = False


class _Characters(NamedTuple):
    """Arrays over the characters of a page: what they are, their advance box and origin, upwards, and their number."""

    codes: Codes
    boxes: Float
    origins: Float
    numbers: Int

    def keep(self, chosen: npt.NDArray[Any]) -> _Characters:
        return _Characters(*(array[chosen] for array in self))


def page_words(page: Any) -> PageWords:
    """Return the words of a page of pypdfium2."""
    import pypdfium2.raw as pdfium

    left, bottom, right, top = page.get_bbox()
    handle = pdfium.FPDFText_LoadPage(page.raw)
    if not handle:
        return PageWords([], PageSize(right - left, top - bottom))
    try:
        count = max(pdfium.FPDFText_CountChars(handle), 0)
        characters = _characters(pdfium, handle, min(count, MOST_CHARACTERS))
        within = (characters.origins >= (left - 2, bottom - 2)) & (characters.origins <= (right + 2, top + 2))
        placed = np.all(within, axis=1) & np.isfinite(characters.boxes).all(axis=1)
        characters = _joined_pairs(characters.keep(np.flatnonzero(placed)))
        types = _types(pdfium, handle)
        words: list[PlacedWord] = []
        size = PageSize(right - left, top - bottom)
        unmapped: list[bool] = []
        for group, angle in _directions(pdfium, handle, characters):
            turned, size = _upright(group, angle, (left, bottom, right, top))
            words += _runs(turned, types, unmapped)
        return PageWords(words, size, sum(unmapped) / max(len(unmapped), 1), count > MOST_CHARACTERS)
    finally:
        pdfium.FPDFText_ClosePage(handle)


def _characters(pdfium: Any, handle: Any, count: int) -> _Characters:
    """Return all characters: one call of the library for each thing that is asked of each, in loops that C runs."""
    address = ctypes.cast(handle, ctypes.c_void_p).value
    boxes, origins = np.zeros((count, 4), np.float32), np.zeros((count, 2))
    box_of, origin_of, code_of = _functions(pdfium)
    at, to = boxes.ctypes.data, origins.ctypes.data
    numbers = range(count)
    deque(map(box_of, repeat(address), numbers, range(at, at + 16 * count, 16)), maxlen=0)
    here, there = range(to, to + 16 * count, 16), range(to + 8, to + 8 + 16 * count, 16)
    deque(map(origin_of, repeat(address), numbers, here, there), maxlen=0)
    codes = np.fromiter(map(code_of, repeat(address), numbers), np.uint32, count)
    # FS_RECTF is left, top, right, bottom.
    return _Characters(codes, boxes.astype(np.float64), origins, np.arange(count))


def _joined_pairs(characters: _Characters) -> _Characters:
    """Return the characters with those outside the basic plane, which the library gives as two halves, in one piece."""
    halves = characters.codes >> 10
    first = np.flatnonzero((halves[:-1] == 0xD800 >> 10) & (halves[1:] == 0xDC00 >> 10))
    if not len(first):
        return characters
    codes = characters.codes.copy()
    codes[first] = 0x10000 + ((codes[first] & 0x3FF) << 10) + (codes[first + 1] & 0x3FF)
    return characters._replace(codes=codes).keep(np.delete(np.arange(len(codes)), first + 1))


@lru_cache(maxsize=1)
def _functions(pdfium: Any) -> tuple[Any, Any, Any]:
    """Return functions of the library that take addresses as numbers: a tenth of the time."""
    integer, address = ctypes.c_int, ctypes.c_void_p
    box = ctypes.CFUNCTYPE(integer, address, integer, address)
    origin = ctypes.CFUNCTYPE(integer, address, integer, address, address)
    code = ctypes.CFUNCTYPE(ctypes.c_uint, address, integer)
    return (
        ctypes.cast(pdfium.FPDFText_GetLooseCharBox, box),
        ctypes.cast(pdfium.FPDFText_GetCharOrigin, origin),
        ctypes.cast(pdfium.FPDFText_GetUnicode, code),
    )


def _directions(pdfium: Any, handle: Any, characters: _Characters) -> Iterator[tuple[_Characters, int]]:
    """Yield the characters of each direction that is worth reading, the commonest first, with its quarter turns."""
    codes, boxes, origins, numbers = characters
    height = np.abs(boxes[:, 1] - boxes[:, 3])
    inked = (codes > 32) & (codes != 0xA0)
    # Upright text begins at the left edge of its box, and most of the box is above its baseline; text that runs down
    # ends at its baseline, and narrow letters upside down hang from it. Only what is odd is asked for its angle.
    turns = np.zeros(len(codes), np.int64)
    odd = (np.abs(boxes[:, 0] - origins[:, 0]) > 0.3 * height + 0.5) | (boxes[:, 2] < boxes[:, 0])
    odd |= boxes[:, [1, 3]].max(axis=1) - origins[:, 1] < 0.4 * height
    odd &= inked
    for place in np.flatnonzero(odd):
        angle = pdfium.FPDFText_GetCharAngle(handle, int(numbers[place]))
        quarters = angle / (math.pi / 2)
        turns[place] = round(quarters) % 4 if abs(quarters - round(quarters)) < 0.12 else -1
    if not odd.any():
        yield characters, 0
        return
    counts = {turn: int((inked & (turns == turn)).sum()) for turn in range(4)}
    # A blank goes with the character before it.
    last = np.maximum.accumulate(np.where(inked, np.arange(len(codes)), 0))
    turns = turns[last]
    for turn in sorted(counts, key=lambda turn: -counts[turn]):
        if counts[turn] and counts[turn] >= _TURNED * inked.sum():
            yield characters.keep(turns == turn), turn


def _upright(
    characters: _Characters, turns: int, edges: tuple[float, float, float, float]
) -> tuple[_Characters, PageSize]:
    """Return characters as they stand when the page is turned so that they are upright; y grows downwards."""
    codes, boxes, origins, numbers = characters
    left, bottom, right, top = edges
    x, y = origins[:, 0], origins[:, 1]
    bx, by = boxes[:, [0, 2]], boxes[:, [1, 3]]
    width, height = right - left, top - bottom
    if turns == 0:
        along, across, edge = x - left, top - y, bx - left
    elif turns == 2:
        along, across, edge = right - x, y - bottom, right - bx
    elif turns == 3:  # PDFium counts angles with the clock: such text runs upwards
        along, across, edge = y - bottom, x - left, by - bottom
    else:
        along, across, edge = top - y, right - x, top - by
    if turns % 2:
        width, height = height, width
    ends = np.stack([edge.min(axis=1), edge.max(axis=1)], axis=1)
    return _Characters(codes, ends, np.stack([along, across], axis=1), numbers), PageSize(width, height)


class _Type(NamedTuple):
    size: float
    bold: bool
    italic: bool
    mapped: bool


def _types(pdfium: Any, handle: Any) -> Callable[[int], _Type]:
    """Return a function that says in what type a character is set; fonts are looked at once."""
    matrix = pdfium.FS_MATRIX()
    fonts: dict[int, tuple[bool, bool]] = {}

    def style(number: int) -> tuple[bool, bool]:
        thing = pdfium.FPDFText_GetTextObject(handle, number)
        font = pdfium.FPDFTextObj_GetFont(thing) if thing else None
        key = ctypes.cast(font, ctypes.c_void_p).value or 0 if font else 0
        if key not in fonts:
            fonts[key] = _style(pdfium, font) if font else (False, False)
        return fonts[key]

    def type_of(number: int) -> _Type:
        size = float(pdfium.FPDFText_GetFontSize(handle, number))
        if pdfium.FPDFText_GetMatrix(handle, number, matrix):
            size *= math.hypot(matrix.c, matrix.d)
        return _Type(size, *style(number), pdfium.FPDFText_HasUnicodeMapError(handle, number) != 1)

    return type_of


def _style(pdfium: Any, font: Any) -> tuple[bool, bool]:
    """Return whether a font is bold and whether it is italic, by its flags and by its name."""
    buffer = ctypes.create_string_buffer(256)
    length = pdfium.FPDFFont_GetBaseFontName(font, buffer, 256)
    name = buffer.raw[: max(min(length, 256) - 1, 0)].decode("utf-8", "replace").lower().partition("+")
    called = name[2] or name[0]
    flags, weight = pdfium.FPDFFont_GetFlags(font), pdfium.FPDFFont_GetWeight(font)
    bold = any(mark in called for mark in ("bold", "black", "heavy", "cmbx", "semibold")) or weight >= 600
    italic = any(mark in called for mark in ("italic", "oblique", "slanted", "cmti", "cmsl")) or bool(flags & 64)
    return bold, italic


def _runs(characters: _Characters, types: Callable[[int], _Type], unmapped: list[bool]) -> list[PlacedWord]:
    """Return the words of characters that are upright."""
    codes, ends, origins, numbers = characters
    ink = np.flatnonzero((codes > 32) & (codes != 0xA0) | (codes == 2))
    ink = ink[~_doubled(codes[ink], ends[ink], origins[ink])]
    if not len(ink):
        return []
    codes[ink], origins[ink], kept = joined_marks(
        codes[ink], ends[ink], origins[ink], lambda k: types(int(numbers[ink[k]])).size
    )
    if not kept.all():  # the library puts blanks around an accent
        dropped = ink[~kept]
        beside = np.concatenate([dropped - 1, dropped + 1]).clip(0, len(codes) - 1)
        dropped = np.union1d(dropped, beside[codes[beside] <= 32])
        rest = characters.keep(np.delete(np.arange(len(codes)), dropped))
        return _runs(rest, types, unmapped)
    kinds: dict[int, _Type] = {}
    starts = _starts(codes[ink], ends[ink], origins[ink], ink, types, numbers, kinds)
    words = []
    lefts = np.minimum.reduceat(ends[ink, 0], starts).tolist()
    rights = np.maximum.reduceat(ends[ink, 1], starts).tolist()
    bases, firsts = origins[ink[starts], 1].tolist(), numbers[ink[starts]].tolist()
    blank = [False, *(np.diff(ink)[starts[1:] - 1] > 1).tolist()]
    letters, bounds = codes[ink].tolist(), [*starts.tolist(), len(ink)]
    for place, number in enumerate(firsts):
        kind = kinds.get(number) or types(number)
        unmapped.append(not kind.mapped)
        text = _text(letters[bounds[place] : bounds[place + 1]])
        if text:
            size = kind.size if 0.5 < kind.size < 1000 else 1.0
            where = (lefts[place], rights[place], bases[place])
            words.append(PlacedWord(text, *where, size, kind.bold, kind.italic, blank[place]))
    return _once(words)


def _doubled(codes: Codes, ends: Float, origins: Float) -> Bool:
    """Return which characters are drawn a second time over the one before, to look bold."""
    again = np.zeros(len(codes), bool)
    if len(codes) > 1:
        width = np.maximum(ends[1:, 1] - ends[1:, 0], 0.1)
        again[1:] = (np.diff(codes.astype(np.int64)) == 0) & (np.abs(np.diff(ends[:, 0])) < 0.3 * width)
        again[1:] &= np.abs(np.diff(origins[:, 1])) < 0.3 * width
        # The letters of a ligature have one place; what is drawn twice stands among others that are.
        exact = again & one_place(ends, origins)
        around = np.pad(again, 2)
        again &= ~exact | around[:-4] | around[4:]
    return again


def _starts(
    codes: Codes,
    ends: Float,
    origins: Float,
    ink: Int,
    types: Callable[[int], _Type],
    numbers: Int,
    kinds: dict[int, _Type],
) -> Int:
    """Return which of the inked characters begin a word."""
    # A rough size first: what leaps farther than a character's own width is another word in any case.
    width = np.maximum(ends[:, 1] - ends[:, 0], 0.1)
    rough = np.maximum(np.median(width) * 2, 1.0)
    gap = ends[1:, 0] - ends[:-1, 1]
    level = np.abs(np.diff(origins[:, 1]))
    broken = np.ones(len(codes), bool)
    apart = np.diff(ink) > 1
    broken[1:] = (gap > 0.6 * rough) | (gap < -0.5 * rough) | (level > 0.12 * rough) | (apart & (gap > 0.02 * rough))
    alone = np.isin(codes, list(ACCENTS)) & (codes > 127)
    broken |= alone
    broken[1:] |= alone[:-1]
    broken &= ~one_place(ends, origins)
    starts = np.flatnonzero(broken)
    # Then the true size of each run decides about the gaps inside it.
    sizes = np.empty(len(codes))
    for first, last in zip(starts, [*starts[1:], len(codes)], strict=False):
        kind = types(int(numbers[ink[first]]))
        kinds[int(numbers[ink[first]])] = kind
        sizes[first:last] = kind.size
    broken[1:] |= gap > _JOINED * sizes[1:]
    return np.flatnonzero(broken)


def _text(codes: list[int]) -> str:
    """Return the text of some characters."""
    parts = [_LIGATURES.get(code) or _ONE_FOR_ONE.get(code) or _character(code) for code in codes]
    text = "".join(parts)
    return text if text.isascii() else unicodedata.normalize("NFC", text)


@lru_cache(maxsize=4096)
def _character(code: int) -> str:
    """Return a character, nothing for one that is neither seen nor a sign."""
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        return ""
    character = chr(code)
    return "" if unicodedata.category(character) in ("Cc", "Cf", "Cn", "Zl", "Zp") else character


def _once(words: list[PlacedWord]) -> list[PlacedWord]:
    """Return the words without those that are drawn again at the same place, or almost."""
    found: list[PlacedWord] = []
    seen: dict[tuple[str, int, int], PlacedWord] = {}
    for word in words:
        column, row = round(word.x0 / 2), round(word.base / 2)
        near = ((word.text, column + dx, row + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1))
        twin = next((seen[key] for key in near if key in seen), None)
        closeness = 0.12 * word.size
        if twin and abs(twin.x0 - word.x0) < closeness and abs(twin.base - word.base) < closeness:
            continue
        seen[word.text, column, row] = word
        found.append(word)
    return found
