"""`read_unclear`: the references of a pasted text in a layout that does not say where they begin.

Where the layout itself says where references begin (numbers that count up without a gap, hanging indents, an empty line
between each two, one complete reference a line) they are cut there, by `citations.splitting`, and nothing is guessed.
Anything else is read by the model of lines: wrapped lines without marks, first-line indents, missing numbers, bullets,
several references in a line, notes. Headings and running heads are no references; they are named as dropped.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from espalier.citations.borders import begins, has_year, mark, seam
from espalier.documents.cutting.entries import with_entries
from espalier.documents.cutting.finding import Findings, findings_of
from espalier.documents.deciding.marks import counting
from espalier.documents.deciding.model import LineModel, LineReading, bundled
from espalier.documents.line_words import NAMED, heading_kind, look, mark_of
from espalier.documents.lines import MOST_LINES, PrintedText
from espalier.documents.reading.plain import printed_lines

__all__ = ["by_lines", "plain_layout", "read_unclear", "too_long"]

FEW = 4
"""Lines of a text that is too short to have a layout."""
LONGEST_LINE = 3000
"""Characters of a line that was left out: where one has more, each line stands by itself, and is judged so."""


_SAME_WORK = re.compile(r"(?:ebd|ebenda|ibid|ibidem|idem|ders|dies|op\. ?cit|loc\. ?cit|a\. ?a\. ?O)\b", re.IGNORECASE)


def read_unclear(text: str, printed: PrintedText | None = None) -> Findings | None:
    """Return the references of a text whose layout does not say where they begin; None for any other text.

    printed : its lines, if somebody has them. None, too, if it has too many lines to be looked at as a whole, if no
    reference is found, or if one may have gone with a line that is left out.
    """
    if printed is None:
        if len(text.splitlines()) >= MOST_LINES:
            return None
        printed = printed_lines(text)
    if plain_layout([line.text for line in printed.lines]):
        return None
    found = by_lines(printed)
    return found if found.references and not too_long(found) else None


def by_lines(printed: PrintedText, model: LineModel | None = None) -> Findings:
    """Return the references of a plain text as the model of lines reads it; entries with marks of a list stay."""
    model = bundled() if model is None else model
    reading = model.read(printed.lines)
    if _is_list(reading):
        reading = model.read(printed.lines, listed=True)
    reading, entries = with_entries(reading)
    return findings_of(printed, reading, model, entries)


def too_long(found: Findings) -> bool:
    """Was a line left out that is too long for a reference? What stands behind it may have gone with it."""
    return any(len(part.text) > LONGEST_LINE for part in found.dropped)


def _is_list(reading: LineReading) -> bool:
    """Is much said to be text that looks like references? What stands above a heading of references does not count."""
    labels = reading.labels
    first = labels.index("heading") + 1 if "heading" in labels else 0
    looks = [look(u.text) for u, label in zip(reading.units[first:], labels[first:], strict=True) if label == "text"]
    prose = sum(one.prose > 1 for one in looks)
    like = sum(one.years > 0 or one.begin in NAMED for one in looks)
    return 20 * len(looks) > len(labels) - first and prose * 4 < len(looks) and like * 3 >= len(looks)


def plain_layout(lines: Sequence[str]) -> str:
    """Return the layout that needs no guessing: "numbered", "hanging", "blocks" or "lines", else nothing."""
    body = [line for line in lines if line.strip() and not heading_kind(line).startswith("references")]
    marks = [mark_of(line)[0] for line in body]
    if len(body) < FEW or _repeated(body):  # a list may have a reference twice
        bulleted = any(mark is not None and mark[0] == "•" for mark in marks[:3])
        return "lines" if len(body) >= FEW and not bulleted and _complete(body) else ""
    if _counts_up(body):
        return "numbered"
    marked = counting(marks)
    if any(marked[:3]):  # numbers that do not count up; a few in a list of whole references were copied with them
        return "lines" if 4 * sum(marked) < len(body) and _complete(body) else ""
    if _hangs(body):
        return "hanging"
    if _blocks(lines):
        return "blocks"
    return "lines" if _complete(body) else ""


def _repeated(lines: Sequence[str]) -> bool:
    """Are there lines that come again and again, or numbers alone: running heads?"""
    faces = Counter(line.strip() for line in lines)
    alone = any(face.isdecimal() and len(face) < 5 for face in faces)
    return alone or any(times > 1 and len(face) > 15 and not begins(face) for face, times in faces.items())


def _counts_up(lines: Sequence[str]) -> bool:
    """Does the text begin with a number, and do all numbers of its style count up without a gap?"""
    first = mark(lines[0])
    if not isinstance(first, int):
        return False
    style, number, last, sizes = mark_of(lines[0])[0], first, 0, []
    for k, line in enumerate(lines[1:], 1):
        here = mark(line)
        if here == number + 1 and style is not None and (mark_of(line)[0] or ("", 0))[0] == style[0]:
            sizes.append(k - last)
            number, last = number + 1, k
        elif isinstance(here, int) and number < here <= number + 3:
            return False
    sizes.append(len(lines) - last)
    return len(sizes) > 2 and max(sizes) <= max(12, 5 * median(sizes))


def _hangs(lines: Sequence[str]) -> bool:
    """Is every line at the left edge or further right by one amount, and do those at the edge begin references?"""
    indents = [len(line) - len(line.lstrip()) for line in lines]
    left = min(indents)
    outer = [line.strip() for line, indent in zip(lines, indents, strict=True) if indent == left]
    inner = [indent for indent in indents if indent > left]
    if indents[0] != left or not inner or len(set(inner)) > 2 or len(outer) < 3:
        return False
    on = sum(line.strip()[0].islower() for line, indent in zip(lines, indents, strict=True) if indent > left)
    named = sum(map(begins, outer)) * 3 >= len(outer)
    if any(line[0].islower() for line in outer):
        return False
    return named or on * 5 >= len(inner) or _dated(lines, indents, left)


def _dated(lines: Sequence[str], indents: Sequence[int], left: int) -> bool:
    """Has nearly every line at the left edge a year, together with the indented lines under it?"""
    entries: list[str] = []
    for line, indent in zip(lines, indents, strict=True):
        if indent == left:
            entries.append(line)
        else:
            entries[-1] += f" {line.strip()}"
    return 10 * sum(map(has_year, entries)) >= 9 * len(entries)


def _blocks(lines: Sequence[str]) -> bool:
    """Is there an empty line between each two references?"""
    blocks = [block for block in re.split(r"\n\s*\n", "\n".join(line.rstrip() for line in lines)) if block.strip()]
    blocks = [block for block in blocks if not heading_kind(block).startswith("references")]
    if len(blocks) < 3:
        return False
    joined = [" ".join(block.split()) for block in blocks]
    dated = sum(map(has_year, joined))
    inside = [seam(a, b) for block in blocks for a, b in pairwise(line.strip() for line in block.split("\n"))]
    lower = sum(block[0].islower() for block in joined)
    return (
        not lower and dated * 10 >= 8 * len(joined) and min(map(len, joined)) > 20 and (not inside or sum(inside) > 0)
    )


def _complete(lines: Sequence[str]) -> bool:
    """Is every line a whole reference?"""
    texts = [line.strip() for line in lines]
    dated = sum(map(has_year, texts))
    on = sum(seam(a, b) > 1 for a, b in pairwise(texts))
    if len({len(line) - len(line.lstrip()) for line in lines}) > 1:
        return False
    long = dated * 20 >= 17 * len(texts) and on * 30 <= len(texts) and median(map(len, texts)) > 55
    return long or (on == 0 and all(map(_is_whole, texts)))


def _is_whole(line: str) -> bool:
    """Does a line begin and end as a reference does, and has it a year, or does it name the work before?"""
    ended = line[-1] in ".)]" or "/" in line.rpartition(" ")[2]
    return ended and not line[0].islower() and (has_year(line) or _SAME_WORK.match(line) is not None)
