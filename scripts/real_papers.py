"""Real papers of the set `excite`, with the references that people found in them: lines, labels, what is exact.

A list of references says what they are, not where. They are found again in the text of the paper by their letters
and digits: as they are, or where their beginning and their end stand near each other. So lines get labels, and whoever
finds references can be told which of them are exact: letters and digits are equal, and a number before them does not
count.
"""

from __future__ import annotations

import gzip
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from espalier.documents.cutting.finding import FoundReference
from espalier.documents.deciding.model import LABELS
from espalier.documents.deciding.units import Unit
from espalier.documents.lines import PrintedText
from espalier.documents.reading.pdf import read_pdf
from espalier.documents.reading.rows import from_rows, to_rows

__all__ = ["Paper", "Row", "exact", "figures", "key", "labelled", "places", "read_papers", "row", "simulated"]

_NUMBER = re.compile(
    r"\s*(?:\[\s*\w{1,6}\s*\]|\(\s*\d{1,3}\s*\)|\d{1,3}\s*[.)\]:](?=\s*\D)|\d{1,3}(?=\s+[^\W\d])|[•·▪*\-–—]+)\s*"
)
_ANCHORS = (30, 20, 14)
"""Letters and digits of the beginning and the end by which a reference is found that differs somewhere inside."""
NEAR = 2
"""Lines from one reference of a run to the next, at most."""
COVERED = 0.9
"""The share of a reference that must have been found, if a perfect cut would make it exact."""
SHORTEST = 20
"""Letters and digits of a reference without its tail, at least."""
_PLAIN = [k for k, label in enumerate(LABELS) if not label.startswith("ref")]


class Paper(NamedTuple):
    """A paper: its name, its group, its lines, and the texts of each of its references that are right."""

    name: str
    group: str
    printed: PrintedText
    wanted: list[tuple[str, ...]]


def read_papers(data: Path, kept: Path | None = None, most: int | None = None) -> Iterator[Paper]:
    """Yield the papers of which there is a PDF file. kept : where their lines are kept, for the next time."""
    path = data / "excite" / "lists" / "dev.jsonl.gz"
    rows = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
    rows = [row for row in rows if (data / "excite" / "pdf" / f"{row['paper']}.pdf").exists()]
    for row in rows[:most]:
        wanted = [(one["text"], *one["alts"]) for one in row["references"]]
        yield Paper(row["paper"], row["group"], _lines(data, row["paper"], kept), wanted)


def _lines(data: Path, name: str, kept: Path | None) -> PrintedText:
    file = None if kept is None else kept / f"{name}.json"
    if file is not None and file.exists():
        return from_rows(json.loads(file.read_bytes()), name)
    printed = read_pdf((data / "excite" / "pdf" / f"{name}.pdf").read_bytes(), name)
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(to_rows(printed))
    return printed


def key(text: str) -> str:
    """Return the letters and digits of a reference, without the number before it."""
    return _folded(_NUMBER.sub("", text, count=1) if _NUMBER.match(text) else text)[0]


def _folded(text: str) -> tuple[str, list[int]]:
    """Return the letters and digits of a text in one case, without accents, and where each stands."""
    letters: list[str] = []
    found: list[int] = []
    for i, c in enumerate(text):
        for d in unicodedata.normalize("NFKD", "" if c == "\u00ad" else c).casefold():
            if d.isalnum():
                letters.append(d)
                found.append(i)
    return "".join(letters), found


def exact(wanted: Sequence[Sequence[str]], found: Sequence[str]) -> int:
    """Return how many of the wanted references were found exactly."""
    left, right = Counter(map(key, found)), 0
    for texts in wanted:
        good = next((k for text in texts if left[k := key(text)]), None)
        if good is not None:
            left[good] -= 1
            right += 1
    return right


def places(paper: Paper) -> list[tuple[int, int] | None]:
    """Return where each reference stands in the text of the paper, None if it is not found."""
    letters, at = _folded(paper.printed.text)
    found: list[tuple[int, int] | None] = []
    last = 0
    for texts in paper.wanted:
        span = next((span for text in texts if (span := _place(letters, key(text), last))), None)
        found.append(None if span is None else (at[span[0]], at[span[1] - 1] + 1))
        last = last if span is None else span[1]
    return found


def _place(letters: str, wanted: str, last: int) -> tuple[int, int] | None:
    """Return where a reference stands: a long one the last time, a short one the next time behind the one before."""
    if len(wanted) < 4:
        return None
    found = [(i, i + len(wanted)) for i in _all(letters, wanted)]
    for n in _ANCHORS if len(wanted) > 40 else ():
        if found:
            break
        within = int(1.35 * len(wanted)) + 150
        ends = [(i, letters.find(wanted[-n:], i + n, i + within)) for i in _all(letters, wanted[:n])]
        found = [(i, j + n) for i, j in ends if j >= 0]
    near = (lambda span: -span[0]) if len(wanted) >= 60 else (lambda span: (span[0] < last, abs(span[0] - last)))
    return min(found, key=near, default=None)


def _all(text: str, part: str) -> Iterator[int]:
    i = text.find(part)
    while i >= 0:
        yield i
        i = text.find(part, i + 1)


def labelled(paper: Paper, units: Sequence[Unit], p: NDArray[np.float64]) -> list[str]:
    """Return the labels of units. p : the probabilities of labels, which say what a line is that is of no reference."""
    spans = [(span, texts) for span, texts in zip(places(paper), paper.wanted, strict=True) if span is not None]
    labels: list[str] = []
    begun: set[int] = set()
    for i, unit in enumerate(units):
        start = paper.printed.lines[unit.line].start
        labels.append(_label(unit, start, spans, labels, LABELS[_PLAIN[int(np.argmax(p[i, _PLAIN]))]], begun))
    return labels


def _label(
    unit: Unit, start: int, spans: Sequence[tuple[tuple[int, int], Any]], before: list[str], other: str, begun: set[int]
) -> str:
    a, b = start + unit.start, start + unit.end
    mine = [(span, texts) for span, texts in spans if span[0] < b - 1 and span[1] > a + 1]
    if not mine:
        return other
    begins = [span[0] for span, _ in mine if a - 3 <= span[0] < b and span[0] not in begun]
    amid = before[-1:] in (["ref"], ["ref-cont"])
    if begins and (begins[0] - a <= max(25, 0.4 * (b - a)) or not amid):
        begun.update(begins)
        return "ref"
    own, _ = _folded(unit.text)
    if not any(own[:12] in k or own[-12:] in k for _, texts in mine for k in map(key, texts)):  # a head between lines
        return other if other == "note" else "page"
    cover = sum(min(b, span[1]) - max(a, span[0]) for span, _ in mine)
    within = cover >= 0.3 * (b - a) and any(label.startswith("ref") for label in before[-6:])
    return "ref-cont" if within else other


# -- what would be if one thing were perfect ---------------------------------------------------------------------------


def simulated(paper: Paper, found: Sequence[FoundReference]) -> Iterator[tuple[str, list[str]]]:
    """Yield what references would be, if one thing were perfect."""
    spans = places(paper)
    kept = [one for run in _runs(found) if 2 * sum(_is_one(one, spans) for one in run) > len(run) for one in run]
    missed = [
        texts[0]
        for texts, span in zip(paper.wanted, spans, strict=True)
        if span is not None and not any(max(span[0], one.start) < min(span[1], one.end) for one in found)
    ]
    yield "as found", [one.text for one in found]
    yield "perfect runs", [one.text for one in kept]
    yield "nothing missed", [*(one.text for one in kept), *missed]
    yield "perfect cuts", _cut(paper, spans, found)
    yield "perfect tails", _without_tails(paper, found)
    yield "runs and cuts", _cut(paper, spans, kept)


def _runs(found: Sequence[FoundReference]) -> list[list[FoundReference]]:
    runs: list[list[FoundReference]] = []
    for one in found:
        if runs and one.line - runs[-1][-1].lines[-1] <= NEAR:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def _is_one(one: FoundReference, spans: Sequence[tuple[int, int] | None]) -> bool:
    """Is what was found mostly a reference, or one of several works of a note?"""
    shared = ((min(b, one.end) - max(a, one.start), min(b - a, one.end - one.start)) for a, b in filter(None, spans))
    return any(both > 0.3 * least for both, least in shared)


def _cut(paper: Paper, spans: Sequence[tuple[int, int] | None], found: Sequence[FoundReference]) -> list[str]:
    texts = []
    for wanted, span in zip(paper.wanted, spans, strict=True):
        if span is not None:
            covered = sum(max(0, min(span[1], one.end) - max(span[0], one.start)) for one in found)
            texts += [wanted[0]] if covered > COVERED * (span[1] - span[0]) else []
    return texts + [one.text for one in found if not _is_one(one, spans)]


def _without_tails(paper: Paper, found: Sequence[FoundReference]) -> list[str]:
    keys = {key(text) for texts in paper.wanted for text in texts}
    texts = []
    for one in found:
        own = key(one.text)
        ends = range(len(own), max(SHORTEST, len(own) // 3), -1)
        texts.append(next((own[:n] for n in ends if own[:n] in keys), one.text))
    return texts


class Row(NamedTuple):
    """A paper in figures: its group, references that people found, that were found, and exact ones."""

    group: str
    wanted: int
    found: int
    exact: int


def row(paper: Paper, texts: Sequence[str]) -> Row:
    """Return the figures of a paper. texts : of the references that were found."""
    return Row(paper.group, len(paper.wanted), len(texts), exact(paper.wanted, texts))


def figures(rows: Sequence[Row]) -> Iterator[tuple[str, float]]:
    """Yield F1 for all papers and for each group, and the share of papers without a fault."""
    for group in ("", *sorted({one.group for one in rows})):
        mine = [one for one in rows if one.group.startswith(group)]
        yield group or "F1", 2 * sum(one.exact for one in mine) / max(sum(one.wanted + one.found for one in mine), 1)
    yield "without a fault", sum(one.wanted == one.found == one.exact for one in rows) / max(len(rows), 1)
