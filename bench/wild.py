"""The parser in the wild: Italian footnotes, eleven languages, and one record in seven styles.

    python bench/wild.py --data DIR                                   # the bundled model
    python bench/wild.py --data DIR --rendered FILE --model MODEL     # other rendered references, another model

Three tables, as Markdown:

* LinkedBooks' dev part: F1 of five fields (author, title, publisher, location, date), and of pages and volume beside.
  The set has one label for authors and editors, and one for the titles of a work and of what holds it, so ours are
  put together, too; `in` before a title or a name belongs to no field on either side, nor do marks. Number and year of
  a journal are one field there: a date of ours inside it does not count, right or wrong. Tokens are joined by blanks.
* Rendered references by language (`make rendered`: unseen styles over unseen works), counted as `bench/styles.py` does.
* Lines of JSTOR that somebody rendered in seven styles: are volume, issue, pages and year of the record right? Truth
  comes from the line's own end, by one expression for each style, and counts only where the line in APA agrees.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import espalier as es
from espalier.citations.evaluation import Marks, fields_of
from styles import read_rows, readings, tallies

ROOT = Path(__file__).parents[1]
FIVE = ("author", "title", "publisher", "location", "date")
BESIDE = ("pages", "volume")
OURS = {
    **{"author": "author", "editor": "author", "translator": "author", "title": "title", "container-title": "title"},
    **{"publisher": "publisher", "institution": "publisher", "location": "location", "date": "date"},
    **{"pages": "pages", "volume": "volume", "issue": "volume"},
}
"""What our labels are among theirs, where they are among those that count."""

THEIRS = {
    **{"author": "author", "title": "title", "publisher": "publisher", "publicationplace": "location"},
    **{"year": "date", "date": "date", "volume": "volume", "tomo": "volume", "publicationnumber-year": "volume"},
    **dict.fromkeys(("pagination", "column", "cartulation", "foliation"), "pages"),
}
ANNOUNCED = ("title", "author")
CUES = re.compile(r"(?i)in|nel|nella|nell|dans|:|’|'")
LANGUAGES = ("de", "fr", "es", "it", "pt", "nl", "pl", "ru", "zh", "ja")

Truth = tuple[str, str, str, str]
"""Volume, issue, first page, year; "" where a style does not print it."""

PAGE = r"([\w.]+?)(?:[-–][\w.]+)?"
ENDS = {
    "mla": rf"(?P<v>[\w/-]+)\.(?P<i>[\w/–-]+) \((?P<y>\d{{4}})\): {PAGE}\. Crossref\. Web\.$",
    "acm-sig-proceedings": rf"\. (?P<v>[\w/-]+), (?P<i>[\w/–-]+) \([^()]*?(?P<y>\d{{4}})\), {PAGE}\.$",
    "american-chemical-society": rf" (?P<y>\d{{4}}), (?P<v>[\w/-]+), {PAGE}\.$",
    "apa": rf", (?P<v>[\w/-]+)\((?P<i>[\w/–-]+)\), {PAGE}\. doi:\S+$",
    "chicago-author-date": rf" (?P<v>[\w/-]+) \((?P<i>[\w/–-]+)\)(?: \([^()]*\))?: {PAGE}\. doi:\S+ \S+$",
    "harvard3": rf", (?P<v>[\w/-]+)\((?P<i>[\w/–-]+)\), pp?\.{PAGE}\. Available at: \S+$",
    "ieee": rf", vol\. (?P<v>[\w/-]+), no\. (?P<i>[\w/–-]+), pp?\. {PAGE}, [^,]*?(?P<y>\d{{4}})\.$",
}
"""How a line of each style ends; where the year stands in front, it is found there."""

YEARS = {
    "apa": r" \((\d{4})(?:, [^()]*)?\)\. ",
    "chicago-author-date": r"[.”] (\d{4})\. ",
    "harvard3": r", (\d{4})\. ",
}


def merged(words: Sequence[str], labels: Sequence[str]) -> list[Marks]:
    """Return the fields of a labelling with their labels; `in` before a title or a name belongs to none."""
    tags = list(labels)
    for k, label in enumerate(tags):
        first = k == 0 or labels[k - 1] != label or not tags[k - 1]
        if label in ANNOUNCED and first and CUES.fullmatch(words[k]):
            tags[k] = ""
    return [mark for mark in fields_of(words, tags) if mark[0]]


def their_labels(row: Mapping[str, Any]) -> list[str]:
    """Return the labels of a reference of LinkedBooks that count."""
    return [THEIRS.get(label, "") for label in row["labels"]]


def in_number(row: Mapping[str, Any], mark: Marks) -> bool:
    """Is it a date inside what they call number and year of a journal?"""
    label, start, end = mark
    return label == "date" and set(row["labels"][start:end]) == {"publicationnumber-year"}


def our_labels(words: Sequence[str], record: es.Record) -> list[str]:
    """Return what a record says about tokens that are joined by blanks; a cue word opens a field of its own."""
    labels, place, fields = [], 0, iter(record.fields)
    current = next(fields, None)
    for word in words:
        while current is not None and place >= current.end:
            current = next(fields, None)
        labels.append("" if current is None else OURS.get(current.label, ""))
        if current is not None and place == current.start and CUES.fullmatch(word) and labels[-1] in ANNOUNCED:
            labels[-1] = ""
        place += len(word) + 1
    return labels


Counts = tuple[Counter[str], Counter[str], Counter[str]]
"""Fields that are right, that were said, that are there, by label."""


def footnotes(data: Path, n: int | None = None) -> list[dict[str, Any]]:
    """Return the references of LinkedBooks' dev part."""
    lines = (data / "linkedbooks/normalised/dev.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines[:n]]


def count_footnotes(rows: Sequence[Mapping[str, Any]], parser: es.Parser) -> Counts:
    """Count what a parser makes of references of LinkedBooks."""
    right, said, there = Counter[str](), Counter[str](), Counter[str]()
    for row, record in zip(rows, parser.parse_many(" ".join(row["tokens"]) for row in rows), strict=True):
        words = row["tokens"]
        gold, found = (set(merged(words, one)) for one in (their_labels(row), our_labels(words, record)))
        found = {mark for mark in found if not in_number(row, mark)}
        for counter, marks in ((right, gold & found), (said, found), (there, gold)):
            counter.update(label for label, *_ in marks)
    return right, said, there


def rates(counts: Counts, labels: Sequence[str]) -> tuple[float, float, float, int]:
    """Return precision, recall and F1 of some fields together, in per cent, and how many there are."""
    hits, guesses, real = (sum(counter[label] for label in labels) for counter in counts)
    return 100 * hits / max(guesses, 1), 100 * hits / max(real, 1), 200 * hits / max(guesses + real, 1), real


def linkedbooks_table(rows: Sequence[Mapping[str, Any]], parser: es.Parser) -> Iterator[str]:
    """Yield the table of LinkedBooks' dev part."""
    counts = count_footnotes(rows, parser)
    yield f"| LinkedBooks, {len(rows)} references | precision | recall | F1 | there are |\n|---|---|---|---|---|"
    for name, labels in (("**five fields**", FIVE), *((label, (label,)) for label in (*FIVE, *BESIDE))):
        *several, real = rates(counts, labels)
        yield f"| {name} | {' | '.join(f'{rate:.1f}' for rate in several)} | {real} |"


def language_table(rendered: Path, model: str, n: int | None) -> Iterator[str]:
    """Yield the table of languages over rendered references."""
    rows = [row for row in read_rows(rendered, clean=True) if str(row["locale"])[:2] in LANGUAGES][:n]
    found = tallies(readings(rows, model), lambda one: str(one.row["locale"])[:2])
    yield "\n| language of the style | references | field F1 | whole references |\n|---|---|---|---|"
    yield from (f"| {name} | {found[name].cells()} |" for name in LANGUAGES if name in found)


def truth_of(line: str, style: str) -> Truth | None:
    """Return volume, issue, first page and year of a line; None where its end is none of the style's."""
    end = re.search(ENDS[style], line)
    if end is None:
        return None
    named = end.groupdict()
    year = named.get("y") or next(iter(re.findall(YEARS[style], line[: end.start()])), "")
    page = next(
        value for value, k in zip(end.groups(), range(1, 9), strict=False) if k not in end.re.groupindex.values()
    )
    return (named["v"], named.get("i") or "", page, year) if year else None


def answer_of(record: es.Record, truth: Truth) -> Truth:
    """Return the same values as the record has them; an issue that the line does not print is not asked for."""
    work = record.work
    page = work.pages.first if work.pages is not None else ""
    year = str(work.issued.parts[0][0]) if work.issued is not None and work.issued.parts else ""
    return (work.volume or "", (work.issue or "") if truth[1] else "", page or "", year)


def jstor_lines(data: Path, n: int | None) -> Iterator[tuple[str, str, Truth]]:
    """Yield style, line and truth, evenly spread over the files; only where APA's lines have the same record."""
    texts = {}
    for style in ENDS:
        path = data / "unlabelled_refs/original" / f"jstor_{style}.txt.gz"
        texts[style] = gzip.decompress(path.read_bytes()).decode("utf-8").splitlines() if path.exists() else []
    known = {truth for line in texts["apa"] if (truth := truth_of(line, "apa"))}
    without_issue = {(volume, "", page, year) for volume, _, page, year in known}
    for style, lines in texts.items():
        sure = [(line, truth) for line in lines if (truth := truth_of(line, style)) in known | without_issue and truth]
        step = max(len(sure) // n, 1) if n else 1
        yield from ((style, line, truth) for line, truth in sure[::step][:n])


def jstor_table(lines: Iterable[tuple[str, str, Truth]], parser: es.Parser) -> Iterator[str]:
    """Yield the table of JSTOR's lines."""
    asked = list(lines)
    counts = {style: Counter[str]() for style, *_ in asked}
    for (style, _, truth), record in zip(asked, parser.parse_many(line for _, line, _ in asked), strict=True):
        answer = answer_of(record, truth)
        hits = dict(zip(("volume", "issue", "page", "year"), map(str.__eq__, answer, truth), strict=True))
        counts[style].update(["lines", *(name for name, hit in hits.items() if hit)])
        counts[style]["all"] += answer == truth
    yield "\n| JSTOR in the style | lines | all right | volume | issue | first page | year |\n" + "|---" * 7 + "|"
    for style, count in counts.items():
        shares = (f"{100 * count[name] / count['lines']:.1f}" for name in ("all", "volume", "issue", "page", "year"))
        yield f"| {style} | {count['lines']} | {' | '.join(shares)} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="directory of linkedbooks and unlabelled_refs")
    parser.add_argument("--rendered", type=Path, default=ROOT / "build" / "rendered" / "unseen.jsonl.gz")
    parser.add_argument("--model", default="citations", help="a model file, or the name of one that comes along")
    parser.add_argument("--lines", type=int, default=1000, help="lines of each style of JSTOR")
    parser.add_argument("--quick", action="store_true", help="a few references of each")
    options = parser.parse_args(arguments)
    few, model = (10 if options.quick else None), es.load(options.model)
    print("\n".join(linkedbooks_table(footnotes(options.data, few), model)), flush=True)
    print("\n".join(jstor_table(jstor_lines(options.data, few or options.lines), model)), flush=True)
    if options.rendered.exists():
        print("\n".join(language_table(options.rendered, options.model, few)), flush=True)
    else:
        print(f"\nno {options.rendered.name}: make it with `make rendered`")


if __name__ == "__main__":
    main()
