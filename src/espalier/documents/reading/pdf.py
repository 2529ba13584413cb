"""`read_pdf`: a PDF file to its lines, in reading order.

    characters -> words (`layout.words`) -> pieces (`layout.pieces`) -> columns (`layout.columns`) -> lines

Running heads, page numbers and numbers of lines are found over all pages (`layout.margins`). Heads keep their place,
first and last of their page, with the hint "page"; numbers of lines are left out. Pages are read one at a time: what is
kept of a page are its words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from espalier.documents.layout.columns import reading_order
from espalier.documents.layout.gutters import Gutter, find_gutters
from espalier.documents.layout.margins import PageRows, find_heads, without_line_numbers
from espalier.documents.layout.pieces import LinePiece, joined_words, pieces
from espalier.documents.layout.words import MOST_CHARACTERS, page_words
from espalier.documents.lines import Box, PageSize, PrintedText, TextLine
from espalier.documents.pace import look
from espalier.errors import InputError, MissingExtraError

__all__ = ["MOST_PAGES", "read_pdf"]

MOST_PAGES = 10_000
"""Pages of a file that are read."""

_TOGETHER = 32  # pages whose words are held at once; heads and columns are told by the pages around
_REOPENED = 4  # groups of pages after which the file is opened anew: the library keeps all fonts that it has met


def read_pdf(data: bytes, name: str = "") -> PrintedText:
    """Return the lines of a PDF file, given as bytes.

    Raises InputError if the file is damaged, encrypted, empty or scanned without text, and MissingExtraError if
    pypdfium2 is not installed.
    """
    state = _Reading(name)
    file = _opened(data, name)
    try:
        count = min(len(file), MOST_PAGES)
        if len(file) > MOST_PAGES:
            state.warnings.append(f"only the first {MOST_PAGES} of {len(file)} pages are read")
        groups = -(-count // _TOGETHER)
        for group in range(groups):
            if group and group % _REOPENED == 0:
                file.close()
                file = _opened(data, name)
            state.read(file, range(count * group // groups, count * (group + 1) // groups))
    finally:
        file.close()
    state.complain()
    return PrintedText.of(state.lines, pages=state.sizes, name=name, kind="PDF", warnings=state.warnings)


class _Reading:
    """What is read so far: lines, sizes of pages, warnings, and the numbers of pages that something is wrong with."""

    def __init__(self, name: str) -> None:
        self.called = name or "the PDF file"
        self.lines: list[TextLine] = []
        self.sizes: list[PageSize] = []
        self.warnings: list[str] = []
        self.empty: list[int] = []
        self.broken: list[int] = []
        self.unmapped: list[int] = []
        self.cut: list[int] = []

    def read(self, file: Any, indices: range) -> None:
        """Read some pages that follow each other; of their words, only lines are kept."""
        pages = [self._page(file, index) for index in indices]
        without_line_numbers(pages)
        find_heads(pages)
        gutters = [find_gutters(page.parts) for page in pages]
        for place, page in enumerate(pages):
            known = [gutter for near in gutters[max(place - 3, 0) : place + 4] for gutter in near]
            self.lines += _page_lines(page, indices[place] + 1, known)
            self.sizes.append(page.size)

    def _page(self, file: Any, index: int) -> PageRows:
        """Return the pieces of a page."""
        look()
        page, number = _page(file, index), index + 1
        if page is None:
            self.broken.append(number)
            return PageRows([], PageSize(0.0, 0.0))
        self.empty += [] if page.words else [number]
        self.unmapped += [number] if page.unmapped > 0.3 else []
        self.cut += [number] if page.cut else []
        return PageRows(pieces(page.words), page.size)

    def complain(self) -> None:
        """Raise InputError if there is no text; else say what is wrong with some pages."""
        count = len(self.sizes)
        if len(self.broken) == count:
            raise InputError(f"{self.called} is damaged: no page can be read", hint="get the file again")
        if not self.lines:
            raise InputError(
                f"{self.called} has no text on its {_pages_in_words(count)}: it is probably scanned",
                hint="run a program for text recognition over it first, such as ocrmypdf",
            )
        for numbers, what in (
            (self.empty, "without text"),
            (self.unmapped, "with fonts that do not say which characters they draw: the text may be wrong"),
            (self.cut, f"with more than {MOST_CHARACTERS} characters: the rest is left out"),
            (self.broken, "with damage: left out"),
        ):
            if numbers:
                self.warnings.append(f"{_pages_in_words(len(numbers))} {what}: {_ranges(numbers)}")


def _opened(data: bytes, name: str) -> Any:
    """Return the file as pypdfium2 sees it."""
    try:
        import pypdfium2
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "to read PDF files, the package 'pypdfium2' is needed", hint="run: pip install 'espalier-nlp[documents]'"
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
