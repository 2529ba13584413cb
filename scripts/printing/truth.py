"""From a printed paper to labelled lines: the colour of the characters of a line says what it is."""

from __future__ import annotations

import ctypes
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pypdfium2
import pypdfium2.raw as pdfium
from printing.papers import FIRST_WORD, Paper

from espalier.documents.lines import PrintedText, TextLine

__all__ = ["labelled"]


def labelled(paper: Paper, printed: PrintedText, data: bytes) -> dict[str, Any]:
    """Return the lines with their places, and their labels, which are those of the set `refdocs`.

    `refs` has the numbers of the lines of each reference, `texts` its text.
    """
    characters = dict(_characters(data))
    labels: list[str] = []
    lines_of: dict[int, list[int]] = defaultdict(list)
    for number, line in enumerate(printed.lines):
        label, references = _label(paper, _inside(characters[line.page], line))
        labels.append(label)
        for reference in references:
            lines_of[reference].append(number)
    return {
        "layout": paper.layout,
        "starts": "marked",
        "lines": [shown(line) for line in printed.lines],
        "labels": labels,
        "pages": [list(size) for size in printed.pages],
        "refs": [lines_of[number] for number in range(len(paper.texts))],
        "texts": paper.texts,
        "parts": paper.parts,
    }


def shown(line: TextLine) -> dict[str, Any]:
    """Return a line as JSON."""
    return {
        "text": line.text,
        "page": line.page,
        "box": list(line.box or ()),
        "size": line.size,
        "bold": line.bold,
        "italic": line.italic,
        "column": line.column,
        "hint": line.hint,
    }


def _label(paper: Paper, inside: npt.NDArray[np.float64]) -> tuple[str, list[int]]:
    """Return the label of a line, and the references that it has something of."""
    counts = Counter(part for part in inside[:, 2].astype(int).tolist() if part < len(paper.parts))
    references = sorted({paper.parts[part][1] for part in counts if paper.parts[part][0] == "ref"})
    kind = paper.parts[counts.most_common(1)[0][0]][0] if counts else "text"
    if references and kind in ("note", "text"):
        kind = "ref"
    if kind != "ref":
        return kind, []
    return "ref" if inside[:, 3].any() else "ref-cont", references


def _inside(characters: npt.NDArray[np.float64], line: TextLine) -> npt.NDArray[np.float64]:
    """Return the characters of a line."""
    assert line.box is not None
    x0, y0, x1, y1 = line.box
    x, y = characters[:, 0], characters[:, 1]
    return characters[(x0 - 1 <= x) & (x <= x1 + 1) & (y0 <= y) & (y <= y1)]


def _characters(data: bytes) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
    """Yield the number of each page, and of every character that is seen: x, y, its part, whether it begins one."""
    file = pypdfium2.PdfDocument(data)
    integers = (ctypes.c_uint * 4)()
    x, y = ctypes.c_double(), ctypes.c_double()
    pointers = ctypes.byref(x), ctypes.byref(y)
    number = ctypes.POINTER(ctypes.c_uint)
    colours = [ctypes.cast(ctypes.addressof(integers) + 4 * n, number) for n in range(4)]
    for count, page in enumerate(file, 1):
        height = page.get_height()
        text = pdfium.FPDFText_LoadPage(page.raw)
        rows = []
        for index in range(pdfium.FPDFText_CountChars(text)):
            if pdfium.FPDFText_GetUnicode(text, index) <= 32:
                continue
            pdfium.FPDFText_GetFillColor(text, index, *colours)
            pdfium.FPDFText_GetCharOrigin(text, index, *pointers)
            red, green, blue, _ = integers
            part = round(red / 4) * 64 + round(green / 4)
            rows.append((x.value, height - y.value, part, blue > FIRST_WORD // 2))
        yield count, np.array(rows, np.float64).reshape(-1, 4)
        pdfium.FPDFText_ClosePage(text)
        page.close()
    file.close()
