"""`read_pdf`: a PDF file to its lines, in reading order.

    characters -> words (`pdf_words`) -> pieces and columns (`pdf_columns`) -> lines (`pdf_text`)

Running heads, page numbers and numbers of lines are found over all pages (`pdf_margins`). Heads keep their place, first
and last of their page, with the hint "page"; numbers of lines are left out. Pages are read one at a time: what is kept
of a page are its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from espalier.documents.lines import Box, PageSize, PrintedText, TextLine
from espalier.documents.pace import look
from espalier.documents.pdf_columns import Gutter, LinePiece, find_gutter, pieces, reading_order
from espalier.documents.pdf_margins import PageRows, find_heads, without_line_numbers
from espalier.documents.pdf_text import joined_words
from espalier.documents.pdf_words import MOST_CHARACTERS, page_words
from espalier.errors import InputError, MissingExtraError

__all__ = ["MOST_PAGES", "read_pdf"]

MOST_PAGES = 10_000
"""Pages of a file that are read."""


def read_pdf(data: bytes, name: str = "") -> PrintedText:
    """Return the lines of a PDF file, given as bytes.

    Raises InputError if the file is damaged, encrypted, empty or scanned without text, and MissingExtraError if
    pypdfium2 is not installed.
    """
    warnings: list[str] = []
    pages = _pages(data, name, warnings)
    if not any(page.parts for page in pages):
        raise InputError(
            f"{name or 'the PDF file'} has no text on its {_pages_in_words(len(pages))}: it is probably scanned",
            hint="run a program for text recognition over it first, such as ocrmypdf",
        )
    empty = [number for number, page in enumerate(pages, 1) if not page.parts]
    if empty:
        warnings.append(f"{_pages_in_words(len(empty))} without text: {_ranges(empty)}")
    without_line_numbers(pages)
    find_heads(pages)
    gutters = [find_gutter(page.parts) for page in pages]
    lines: list[TextLine] = []
    for number, page in enumerate(pages, 1):
        known = [gutter for gutter in gutters[max(number - 4, 0) : number + 3] if gutter]
        lines += _page_lines(page, number, known)
    sizes = [page.size for page in pages]
    return PrintedText.of(lines, pages=sizes, name=name, kind="PDF", warnings=warnings)


def _pages(data: bytes, name: str, warnings: list[str]) -> list[PageRows]:
    """Return the pieces of every page."""
    file = _opened(data, name)
    found: list[PageRows] = []
    unmapped, cut, broken = [], [], []
    try:
        count = len(file)
        if count > MOST_PAGES:
            warnings.append(f"only the first {MOST_PAGES} of {count} pages are read")
        for number in range(1, min(count, MOST_PAGES) + 1):
            look()
            page = _page(file, number - 1)
            if page is None:
                broken.append(number)
                found.append(PageRows([], PageSize(0.0, 0.0)))
                continue
            found.append(PageRows(pieces(page.words), page.size))
            unmapped += [number] if page.unmapped > 0.3 else []
            cut += [number] if page.cut else []
    finally:
        file.close()
    if len(broken) == len(found):
        raise InputError(f"{name or 'the PDF file'} is damaged: no page can be read", hint="get the file again")
    for numbers, what in (
        (unmapped, "fonts that do not say which characters they draw: the text may be wrong"),
        (cut, f"more than {MOST_CHARACTERS} characters: the rest is left out"),
        (broken, "damage: left out"),
    ):
        if numbers:
            warnings.append(f"{_pages_in_words(len(numbers))} with {what}: {_ranges(numbers)}")
    return found


def _opened(data: bytes, name: str) -> Any:
    """Return the file as pypdfium2 sees it."""
    try:
        import pypdfium2
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "to read PDF files, the package 'pypdfium2' is needed", hint="run: pip install 'espalier[documents]'"
        ) from error
    called = name or "the PDF file"
    try:
        return pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if "password" in str(error).lower():
            raise InputError(
                f"{called} is encrypted", hint="save it without a password first, for example with qpdf --decrypt"
            ) from error
        raise InputError(f"{called} is damaged, or no PDF file", hint="get or print the file again") from error


def _page(file: Any, index: int) -> Any:
    """Return the words of a page, None if it is damaged."""
    import pypdfium2

    try:
        page = file[index]
    except pypdfium2.PdfiumError:
        return None
    try:
        return page_words(page)
    finally:
        page.close()


def _page_lines(page: PageRows, number: int, known: list[Gutter]) -> Iterator[TextLine]:
    """Yield the lines of a page in reading order."""
    for part in page.top:
        yield _line([part], number, None, "page")
    for line in reading_order(page.parts, known):
        yield _line(line.pieces, number, line.column)
    for part in page.bottom:
        yield _line([part], number, None, "page")


def _line(parts: Sequence[LinePiece], number: int, column: int | None, hint: str = "") -> TextLine:
    """Return a line of its pieces."""
    words = sorted((word for part in parts for word in part.words), key=lambda word: word.x0)
    sizes: Counter[float] = Counter()
    bold = italic = letters = 0
    for word in words:
        length = len(word.text)
        sizes[round(word.size, 1)] += length
        bold, italic, letters = bold + word.bold * length, italic + word.italic * length, letters + length
    size = sizes.most_common(1)[0][0]
    main = next(word for word in words if round(word.size, 1) == size)
    box = Box(words[0].x0, main.box.y0, max(word.x1 for word in words), main.box.y1)
    rounded = Box(*(round(edge, 2) for edge in box))
    return TextLine(
        joined_words(words), number, rounded, size, 2 * bold > letters, 2 * italic > letters, column, 0, hint
    )


def _pages_in_words(count: int) -> str:
    return f"{count} page{'s' if count != 1 else ''}"


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers of pages as people write them: 1-3, 7."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs[:20]) + (" ..." if len(runs) > 20 else "")
